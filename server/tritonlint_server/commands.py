"""The commands that a client may run, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile

SET_TARGET = "tritonlint.setTarget"  # GPU names as arguments; none: the settings decide again
CHOOSE_TARGET = "tritonlint.chooseTarget"  # asks the user
GPUS = "tritonlint.gpus"  # answers with name and detail of each GPU, for a list of the client's own
RESTART = "tritonlint.restartWorker"
REPORT = "tritonlint.report"  # the URI of a document

# Those of them that are offered first: one of each kind that many people have.
COMMON = ("h100", "a100", "rtx4090", "b200", "mi300x", "l4")


def own_gpus(paths: Iterable[str]) -> dict[str, GpuProfile]:
    """The GPUs that the settings for some files and folders describe. Settings that cannot be used have none."""
    from tritonlint.settings import Resolver, SettingsError
    from tritonlint.targets import own_profiles

    found: dict[str, GpuProfile] = {}
    for path in paths:
        try:
            found.update(own_profiles(Resolver({}).for_path(Path(path))))
        except SettingsError:
            continue
    return found


def gpu_list(own: Mapping[str, GpuProfile]) -> list[dict[str, str]]:
    """Every GPU and target, the user's own and the common ones first, with what tells them apart."""
    from tritonlint.gpu.names import PROFILES, TARGETS
    from tritonlint.gpu.profile import find_gpu

    names = dict.fromkeys((*own, *COMMON, *PROFILES, *TARGETS))
    found: list[dict[str, str]] = []
    for name in names:
        gpu = find_gpu(name, own)
        parts = [gpu.arch] if gpu.arch != name else []
        if gpu.multiprocessors is not None:
            parts.append(f"{gpu.multiprocessors} {'CUs' if gpu.arch.startswith('gfx') else 'SMs'}")
        parts.append(f"{gpu.shared_bytes_per_cta // 1024} KB of shared memory per CTA")
        found.append({"name": name, "detail": ", ".join(parts)})
    return found
