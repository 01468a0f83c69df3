"""No command but `verify` imports or runs anything of the user's: a module that would leave a trace, under each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import tritonlint
from tests.samples import ADD, HEAD
from tritonlint.cli.main import COMMANDS

TRACE = "import pathlib\npathlib.Path(__file__).with_name('trace').write_text('it ran')\n"
TUNED = TRACE + ADD.replace(
    "@triton.jit",
    "@triton.autotune(configs=[triton.Config({'BLOCK': 128}), triton.Config({'BLOCK': 128})], key=['m'])\n@triton.jit",
)
USER = (
    HEAD
    + TRACE
    + "import tuned\nfrom helper import add\n\n\ndef run(x):\n    add[(1,)](x, x, x, 9, BLOCK=64)\n"
)
ARGUMENTS: dict[str, list[list[str]]] = {
    "check": [
        ["check", "."], ["."], ["check", ".", "--fix"], ["check", ".", "--jobs", "2"], ["check", ".", "--diff"],
        ["check", "user.py", "--output-format", "sarif"], ["check", ".", "--show-settings"],
        ["check", ".", "--write-baseline", "baseline.json"],
    ],
    "cache": [["cache"]],
    "configs": [["configs", "."]],
    "estimate": [["estimate", "tuned.py::add", "--gpu", "h100"], ["estimate", "--batch", "jobs.jsonl"]],
    "gpus": [["gpus"], ["gpus", "--detect"]],
    "init": [["init", "new"]],
    "matrix": [["matrix", "."]],
    "rule": [["rule"], ["rule", "TL101"]],
    "schema": [["schema", "settings"], ["schema", "report"]],
    "server": [["server"]],
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Modules that leave a trace, also under names that tools like to import by themselves."""
    for name in ("helper", "conftest", "sitecustomize", "setup"):
        (tmp_path / f"{name}.py").write_text(TRACE + ADD, encoding="utf-8")
    (tmp_path / "tuned.py").write_text(TUNED, encoding="utf-8")
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        "[tool.tritonlint]\nconfig-functions = ['helper.add']\n", encoding="utf-8"
    )
    job = {"file": "tuned.py", "kernel": "add", "gpu": "h100"}
    (tmp_path / "new").mkdir()
    (tmp_path / "jobs.jsonl").write_text(json.dumps(job) + "\n", encoding="utf-8")
    return tmp_path


def test_every_command_is_here() -> None:
    assert set(ARGUMENTS) | {"verify", "calibrate"} >= set(COMMANDS)


@pytest.mark.parametrize("arguments", [one for all_of in ARGUMENTS.values() for one in all_of], ids=" ".join)
def test_nothing_of_the_users_runs(project: Path, arguments: list[str]) -> None:
    done = tritonlint(*arguments, cwd=project, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert done.status in (0, 1), done.err
    assert not list(project.rglob("trace"))


def test_the_trace_is_left_where_a_module_is_imported(project: Path) -> None:
    """The module would tell."""
    import subprocess
    import sys

    subprocess.run([sys.executable, "helper.py"], cwd=project, capture_output=True, check=False)
    assert (project / "trace").exists()
