"""The commands that a client may run, by name."""

from __future__ import annotations

SET_TARGET = "tritonlint.setTarget"  # GPU names as arguments; none: the settings decide again
CHOOSE_TARGET = "tritonlint.chooseTarget"  # asks the user
RESTART = "tritonlint.restartWorker"
REPORT = "tritonlint.report"  # the URI of a document

# GPUs that are offered first: one of each kind that many people have.
COMMON = ("h100", "a100", "rtx4090", "b200", "mi300x", "l4")
