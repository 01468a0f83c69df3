"""Reading code does nothing: no code of the user's runs, nothing is fetched, nothing is written but what was asked for.

Python's audit events tell what a whole run does: each file that is opened, each code object that is run, each socket and
each process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.samples import GEMM

ROOT = Path(__file__).parent.parent

# Leaves a trace wherever it is imported or run.
TRAP = "import pathlib\npathlib.Path(__file__ + '.was-run').touch()\n"
TRAPPED = TRAP + GEMM.replace(
    "@triton.jit\ndef gemm",
    "from trap_sizes import CONFIGS\n\n\n@triton.autotune(configs=CONFIGS, key=['M'])\n@triton.jit\ndef gemm",
)
SIZES = (
    TRAP
    + "import triton\nCONFIGS = [triton.Config({'BLOCK_M': 64, 'BLOCK_N': 64, 'BLOCK_K': 64, 'GROUP_M': 8})]\n"
)

WATCHED = """
import json, os, sys
events = []
def hook(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, (str, bytes)) and (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            events.append([event, os.fsdecode(path)])
    elif event == "exec":
        events.append([event, getattr(arguments[0], "co_filename", "")])
    elif event.startswith(("socket.", "subprocess.", "os.exec", "os.system", "os.posix_spawn", "os.fork",
                           "os.remove", "os.rename", "os.mkdir", "os.rmdir", "shutil.", "ctypes.", "urllib.")):
        events.append([event, str(arguments[0]) if arguments else ""])
    elif event == "sqlite3.connect":
        events.append([event, os.fspath(arguments[0])])
sys.addaudithook(hook)
from tritonlint.cli.main import run
status = run(sys.argv[2:])
sys.stdout.flush()
watched, events = list(events), []
with open(sys.argv[1], "w") as out:
    json.dump({"status": status, "events": watched}, out)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "kernels.py").write_text(TRAPPED, encoding="utf-8")
    (folder / "trap_sizes.py").write_text(SIZES, encoding="utf-8")
    (folder / "conftest.py").write_text(TRAP, encoding="utf-8")
    for name in ("setup", "sitecustomize", "triton", "torch"):
        (folder / f"{name}.py").write_text(TRAP + "import triton\n", encoding="utf-8")
    return folder


WRITES = ("open", "os.remove", "os.rename", "os.mkdir", "sqlite3.connect")
COMMANDS = {
    "check": ["check", ".", "--gpu", "a100", "--jobs", "1", "--output-format", "json"],
    "check, output": ["check", ".", "--gpu", "a100", "--jobs", "1", "--output-file", "out.json", "--no-cache"],
    "check, for the GPU here": ["check", ".", "--jobs", "1"],
    "estimate": ["estimate", "kernels.py::gemm", "--gpu", "a100", "--set", "BLOCK_M=64", "--set", "BLOCK_N=64",
                 "--set", "BLOCK_K=64", "--set", "GROUP_M=8"],
    "configs": ["configs", "."],
    "matrix": ["matrix", ".", "--gpu", "a100"],
    "gpus": ["gpus"],
    "rule": ["rule", "TL101"],
    "settings": ["check", ".", "--show-settings"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_reads_and_does_nothing_else(
    name: str, tree: Path, cache_of_its_own: Path, tmp_path: Path
) -> None:
    answer = tmp_path / "events.json"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(str(path) for path in (ROOT, ROOT / "rules", ROOT / "server"))
    done = subprocess.run(
        [
            sys.executable,
            "-P" if sys.version_info >= (3, 11) else "-s",
            "-c",
            WATCHED,
            str(answer),
            *COMMANDS[name],
        ],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert answer.exists(), done.stderr
    told = json.loads(answer.read_text(encoding="utf-8"))
    assert told["status"] in (0, 1), done.stderr
    allowed = {str(tree / "out.json")} if "out" in name else set()
    for event, what in told["events"]:
        place = os.path.abspath(tree / what)
        if event.startswith("ctypes."):  # the library behind nvidia-smi, to see which GPU is here
            assert "nvidia-ml" in what or "nvml" in what or what == "None" or event != "ctypes.dlopen", what
        elif event == "exec":  # of generated code the name is "<string>": the traps tell of that
            assert not (place.startswith(str(tree)) and os.path.exists(place)), f"{what} was run"
        else:
            wanted = place.startswith(str(cache_of_its_own)) or any(place.startswith(one) for one in allowed)
            assert event in WRITES and (wanted or what == os.devnull), f"{event} of {what}"
    left = sorted(path.name for path in tree.rglob("*.was-run"))
    assert left == []


def test_the_trap_works(tree: Path) -> None:
    """The modules above do leave a trace where they are imported."""
    shutil.rmtree(tree / "__pycache__", ignore_errors=True)
    subprocess.run([sys.executable, "-c", "import trap_sizes"], cwd=tree, capture_output=True)
    assert [path.name for path in tree.rglob("*.was-run")] != []
