"""Real Emacs with eglot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cache import missing, program
from tests.server.samples import EMOJI, WARPS

pytestmark = pytest.mark.editor

SCRIPT = Path(__file__).resolve().parent / "eglot.el"


def test_eglot(tmp_path: Path) -> None:
    """The findings at their places, also behind an emoji, and a fix that is applied."""
    emacs = program("emacs")
    asked = "(progn (package-initialize) (kill-emacs (if (require 'eglot nil t) 0 1)))"
    if subprocess.run([emacs, "--no-init-file", "--batch", "--eval", asked], capture_output=True).returncode:
        missing("eglot for Emacs")
    workspace = tmp_path / "work space"
    workspace.mkdir()
    (workspace / "tritonlint.toml").write_text('gpus = ["rtx4090"]\ntriton = "3.9"\n')
    (workspace / "warps.py").write_text(WARPS)
    (workspace / "emoji.py").write_text(EMOJI, encoding="utf-8")
    server = json.dumps([sys.executable, "-m", "tritonlint", "server"])
    # Not -Q, which hides the packages of the system.
    done = subprocess.run(
        [emacs, "--no-init-file", "--batch", "-l", str(SCRIPT)],
        env={**os.environ, "WORKSPACE": str(workspace), "SERVER": server, "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=400,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, done.stdout + done.stderr
    seen = json.loads(lines[-1])
    for name in ("warps", "emoji"):
        (found,) = [one for one in seen[name] if "TL204" in one["text"]]
        assert found["line"] == 7
        assert (
            found["source"].startswith(("triton.Config", "num_warps=3", "3")) and "🚀" not in found["source"]
        )
    assert seen["titles"][0].startswith("num_warps=")
    assert seen["titles"][-1] == "Ignore TL204 on this line"
    assert not seen["left"]
