"""`tritonlint verify` from outside, with a real Triton, on good files and on bad ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cache import triton_release
from tests.cli.running import Done, tritonlint
from tests.samples import ADD, HEAD

pytestmark = pytest.mark.oracle

RUN = "\n\ndef run(x, y, out):\n    add[(4,)](x, y, out, 4096, BLOCK=128)\n"
GOOD = ADD + RUN


def verify(folder: Path, *arguments: str, release: str = "3.9.0") -> Done:
    """One run, with that Triton in front of what is installed."""
    path = os.pathsep.join(filter(None, [str(triton_release(release)), os.environ.get("PYTHONPATH")]))
    return tritonlint(
        "verify", "--output-format", "json", "--jobs", "2", *arguments,
        cwd=folder,
        env={"PYTHONPATH": path, "TRITONLINT_CACHE_DIR": str(folder / ".cache")},
    )  # fmt: skip


def rows(done: Done) -> dict[str, dict[str, Any]]:
    """The rows by file name, of which each has one."""
    assert done.out, done.err
    return {Path(row["path"]).name: row for row in done.json["rows"]}


def test_numbers_of_the_compiler_on_every_kind_of_target(tmp_path: Path) -> None:
    """Shared memory, registers and CTAs beside the estimates; a second run compiles nothing."""
    (tmp_path / "add.py").write_text(GOOD, encoding="utf-8")
    targets = ("--gpu", "h100", "--gpu", "b200", "--gpu", "mi300x")
    done = verify(tmp_path, ".", *targets)
    assert done.status == 0, done.err
    found = {row["gpu"]: row for row in done.json["rows"]}
    assert set(found) == {"h100", "b200", "mi300x"}
    for row in found.values():
        assert row["state"] in ("equal", "off")
        assert row["compiled"]["shared_bytes"] == 0
        assert row["compiled"]["registers"] > 0
        assert row["compiled"]["spills"] == 0
        assert row["compiled"]["ctas_per_sm"] > 0
        assert row["job"]["aligned"] == ["n", "out_ptr", "x_ptr", "y_ptr"]
    again = verify(tmp_path, ".", *targets)
    assert again.json["summary"]["compiled_now"] == 0
    assert again.json["summary"]["compiled_before"] == 3
    assert [row["compiled"] for row in again.json["rows"]] == [row["compiled"] for row in done.json["rows"]]


BAD = {
    "fails.py": ("raise ValueError('not today')\n", "import", "ValueError: not today"),
    "needs.py": (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('size')\nparser.parse_args()\n",
        "import",
        "required: size",
    ),
    "exits.py": ("import sys\nsys.exit()\n", "import", "calls exit (status 0)"),
    "ends.py": ("import os\nos._exit(7)\n", "import", "ended the process (status 7)"),
    "dies.py": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "import", "signal 11"),
    "hangs.py": ("import time\nwhile True: time.sleep(1)\n", "import", "more than 20 s"),
    "missing.py": ("import no_such_module\n", "import", "No module named 'no_such_module'"),
    "prints.py": ("print('x' * 20_000_000)\n", "", ""),
    "reads.py": ("input()\n", "import", "EOFError"),
    "prints_on.py": ("while True: print('x' * 1000)\n", "import", "more than 20 s"),
    "forks.py": ("import os\nos.fork()\n", "", ""),
    "threads.py": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(4321,)).start()\n",
        "",
        "",
    ),
    "closes.py": ("import os\nos.closerange(0, 256)\n", "import", "ended the process"),
    "ends_group.py": ("import os\nos.killpg(0, 9)\n", "import", "signal 9"),
    "forgets.py": ("import os\nos.environ.clear()\nos.chdir('/')\n", "", ""),
    "grows.py": ("kept = bytearray(6 << 30)\n", "import", "MemoryError"),
    "spawns.py": (
        "import subprocess\nsubprocess.Popen(['sleep', '4321'], start_new_session=True)\n"
        "subprocess.Popen(['sleep', '4321'])\n",
        "",
        "",
    ),
}


def test_bad_modules_cost_their_own_rows_only(tmp_path: Path) -> None:
    for name, (text, _, _) in BAD.items():
        (tmp_path / name).write_text(text + GOOD, encoding="utf-8")
    (tmp_path / "good.py").write_text(GOOD, encoding="utf-8")
    done = verify(tmp_path, ".", "--gpu", "a100", "--time-limit", "20", "--memory-limit", "4096")
    assert done.status == 1, done.err
    found = rows(done)
    assert found["good.py"]["compiled"]["registers"] > 0
    for name, (_, kind, reason) in BAD.items():
        row = found[name]
        assert row["kind"] == kind, (name, row["reason"])
        assert reason in row["reason"], (name, row["reason"])
    assert not [line for line in _processes() if "sleep\0004321" in line]


def _processes() -> list[str]:
    lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(place.read_text(errors="replace"))
        except OSError:  # it ended meanwhile
            continue
    return lines


KERNELS = {
    "fails_in_ptxas.py": (
        "    x = tl.load(x_ptr + tl.arange(0, BLOCK))\n"
        "    x = tl.inline_asm_elementwise('add.u32 $0, $1;', '=r,r', [x], tl.float32, is_pure=True, pack=1)\n"
        "    tl.store(x_ptr + tl.arange(0, BLOCK), x)\n",
        "assembly",
        "ptxas, line ",
    ),
    "rejected.py": (
        "    x = tl.load(x_ptr + tl.arange(0, BLOCK))\n    tl.store(x_ptr, x.no_such_method())\n",
        "rejected",
        "no_such_method",
    ),
    "assembly.py": (
        "    x = tl.load(x_ptr + tl.arange(0, BLOCK))\n"
        "    x = tl.inline_asm_elementwise('nosuch.b32 $0, $1;', '=r,r', [x], tl.float32, is_pure=True, pack=1)\n"
        "    tl.store(x_ptr + tl.arange(0, BLOCK), x)\n",
        "assembly",
        "'nosuch'",
    ),
    "slow.py": ("    spin()\n    tl.store(x_ptr, n)\n", "time", "no answer in 20 s"),
    "dies.py": ("    die()\n    tl.store(x_ptr, n)\n", "crashed", "the compiler died (signal 6)"),
    "grows.py": ("    grow()\n    tl.store(x_ptr, n)\n", "memory", "more than 512 MB"),
}
HELPERS = """\
from triton.language.core import builtin
import os, time


@builtin
def spin(_semantic=None):
    time.sleep(60)


@builtin
def die(_semantic=None):
    os.abort()


@builtin
def grow(_semantic=None):
    kept = bytearray(3 << 30)


"""


def test_a_compiler_that_fails_costs_one_row(tmp_path: Path) -> None:
    for name, (body, _, _) in KERNELS.items():
        text = HEAD + HELPERS + "@triton.jit\ndef kernel(x_ptr, n, BLOCK: tl.constexpr):\n" + body
        text += "\n\ndef run(x):\n    kernel[(4,)](x, 4096, BLOCK=128)\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "good.py").write_text(GOOD, encoding="utf-8")
    done = verify(tmp_path, ".", "--gpu", "a100", "--time-limit", "20", "--memory-limit", "512")
    assert done.status == 1
    found = rows(done)
    for name, (_, kind, reason) in KERNELS.items():
        assert (found[name]["kind"], reason in found[name]["reason"]) == (kind, True), found[name]["reason"]
        assert tempfile.gettempdir() + os.sep not in found[name]["reason"]
    assert found["good.py"]["compiled"]["registers"] > 0


def test_a_target_that_the_release_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text(GOOD, encoding="utf-8")
    done = verify(tmp_path, ".", "--gpu", "sm_121", "--gpu", "h100", release="3.4.0")
    found = {row["arch"]: row for row in done.json["rows"]}
    assert found["sm_121"]["kind"] == "target"
    assert found["sm_121"]["reason"].startswith("this release cannot compile for sm_121: ")
    assert found["sm_90"]["compiled"] is not None


def test_no_triton_is_a_row_each_with_the_reason(tmp_path: Path) -> None:
    """An interpreter without packages."""
    (tmp_path / "add.py").write_text(GOOD, encoding="utf-8")
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    done = verify(tmp_path, "add.py", "--gpu", "a100", "--python", str(bare))
    assert done.status == 2
    assert rows(done)["add.py"]["kind"] == "no-triton"
    assert "No module named 'triton'" in done.err
    assert len(done.err.splitlines()) == 1
    told = tritonlint("verify", "add.py", "--gpu", "a100", "--python", str(tmp_path / "none"), cwd=tmp_path)
    assert (told.status, told.out) == (2, "1 could be compiled, none is\n")
    assert told.err == f"error: {tmp_path / 'none'} cannot be run: No such file or directory\n"


def test_a_triton_that_is_too_old(tmp_path: Path) -> None:
    """It is named, though it cannot even be imported without torch."""
    (tmp_path / "add.py").write_text(GOOD, encoding="utf-8")
    done = verify(tmp_path, "add.py", "--gpu", "a100", release="2.2.0")
    assert done.status == 2
    assert (rows(done)["add.py"]["kind"], "Triton 2.2.0 is too old" in done.err) == ("no-triton", True)


def test_the_oldest_interface(tmp_path: Path) -> None:
    """3.0: what it knows is compiled, a newer target is a row with the reason."""
    (tmp_path / "add.py").write_text(GOOD, encoding="utf-8")
    done = verify(tmp_path, "add.py", "--gpu", "h100", "--gpu", "mi300x", "--gpu", "b200", release="3.0.0")
    found = {row["gpu"]: row for row in done.json["rows"]}
    assert found["h100"]["compiled"]["registers"] > 0 and found["mi300x"]["compiled"]["registers"] > 0
    assert (found["b200"]["kind"], "sm_100" in found["b200"]["reason"]) == ("target", True)


def test_names_that_no_kernel_has(tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text(GOOD, encoding="utf-8")
    for option, text, said in (
        ("--set", "BLOKC=64", "--set BLOKC: no launched kernel has such a constant; did you mean BLOCK?"),
        ("--set", "BLOCK_*=64", "--set BLOCK_*: no launched kernel has such a constant; did you mean BLOCK?"),
        ("--type", "y_prt=*fp16", "--type y_prt: no launched kernel has such a run-time argument; did you mean y_ptr"),
    ):  # fmt: skip
        done = verify(tmp_path, "add.py", "--gpu", "a100", option, text)
        assert (done.status, said in done.err) == (2, True), done.err


def test_kernels_of_a_notebook(tmp_path: Path) -> None:
    """Its cells are run; one that fails costs what needs it, and is named by its number."""
    two = "@triton.jit\ndef two(x_ptr, BLOCK: tl.constexpr):\n    tl.store(x_ptr + tl.arange(0, BLOCK), WIDTH)\n"
    cells = [
        "%matplotlib inline\n!pip install nothing",
        ADD,
        "import no_such_module\nWIDTH = no_such_module.WIDTH",
        two,
        "x = torch.empty(4096, device='cuda')\nadd[(4,)](x, x, x, 4096, BLOCK=128)\ntwo[(1,)](x, BLOCK=64)",
        "raise SystemExit",
    ]
    book = [{"cell_type": "markdown", "source": "# add"}]
    book += [{"cell_type": "code", "source": text} for text in cells]
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": book, "metadata": {}}), encoding="utf-8")
    done = verify(tmp_path, "book.ipynb", "--gpu", "a100")
    found = {row["kernel"]: row for row in done.json["rows"]}
    assert found["add"]["compiled"]["registers"] > 0
    assert (found["add"]["path"], found["add"]["line"]) == ("book.ipynb:cell 6", 2)
    assert found["two"]["kind"] == "import"
    said = "a cell fails: ModuleNotFoundError: No module named 'no_such_module' (cell 4, line 1); then: "
    assert found["two"]["reason"].startswith(said)
    assert "WIDTH is not defined" in found["two"]["reason"]


def test_a_stopped_run_goes_on_from_there(tmp_path: Path) -> None:
    configs = "".join(f"    add[(4,)](x, y, out, 4096, BLOCK={128 << n})\n" for n in range(6))
    (tmp_path / "add.py").write_text(ADD + "\n\ndef run(x, y, out):\n" + configs, encoding="utf-8")
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(triton_release("3.9.0")), os.environ.get("PYTHONPATH", "")]),
        "TRITONLINT_CACHE_DIR": str(tmp_path / ".cache"),
    }
    command = [sys.executable, "-m", "tritonlint", "verify", ".", "--gpu", "a100", "--jobs", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL)
    database = tmp_path / ".cache" / "verify.sqlite3"
    while process.poll() is None and not _kept(database):
        time.sleep(0.05)
    compiling = [pid for pid, parent in _parents().items() if parent == process.pid]
    process.kill()
    process.wait()
    while compiling and not set(compiling).isdisjoint(_parents()):
        time.sleep(0.05)
    done = verify(tmp_path, ".", "--gpu", "a100")
    summary = done.json["summary"]
    assert summary["compiled_before"] >= 1
    assert summary["compiled_before"] + summary["compiled_now"] == 6


def _parents() -> dict[int, int]:
    """The parent of each process that lives."""
    found = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = place.read_text(errors="replace").rpartition(")")[2].split()[:2]
        except OSError:  # it ended meanwhile
            continue
        if state != "Z":
            found[int(place.parent.name)] = int(parent)
    return found


def _kept(database: Path) -> int:
    import sqlite3
    from contextlib import closing

    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
            return int(opened.execute("SELECT count(*) FROM compiled").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_the_cubin_reader_says_what_cuobjdump_says(tmp_path: Path) -> None:
    """Registers and stack of kernels that do and do not spill, by the tool of the same wheel."""
    root = triton_release("3.9.0")
    code = (
        "import json, os, re, subprocess, sys, tempfile\n"
        f"sys.path[:0] = [{str(Path(__file__).parents[2] / 'benchmarks')!r}]\n"
        "os.environ['TRITON_CACHE_DIR'] = tempfile.mkdtemp()\n"
        "import gpu_kernels, triton\n"
        "from triton.compiler import ASTSource\n"
        "from triton.backends.compiler import GPUTarget\n"
        "from tritonlint.facts.cubin import read_cubin\n"
        f"tool = {str(root)!r} + '/triton/backends/nvidia/bin/cuobjdump'\n"
        "f = gpu_kernels.softmax\n"
        "for arch, block, warps, most in ((80, 1024, 4, None), (90, 16384, 1, 64), (100, 2048, 8, None)):\n"
        "    types = {n: 'constexpr' if n == 'BLOCK' else '*fp16' if n in 'xy' else 'i32' for n in f.arg_names}\n"
        "    options = {'num_warps': warps, **({'maxnreg': most} if most else {})}\n"
        "    source = ASTSource(f, types, {'BLOCK': block}, {})\n"
        "    made = triton.compile(source, target=GPUTarget('cuda', arch, 32), options=options)\n"
        "    with tempfile.NamedTemporaryFile(suffix='.cubin') as file:\n"
        "        file.write(made.asm['cubin']); file.flush()\n"
        "        shown = subprocess.run([tool, '--dump-resource-usage', file.name], capture_output=True, text=True)\n"
        "    told = re.search(r'REG:(\\d+) STACK:(\\d+)', shown.stdout)\n"
        "    mine = read_cubin(made.asm['cubin'], 'softmax')\n"
        "    print(json.dumps([[int(told[1]), int(told[2]) // 4], [mine.registers, mine.spills]]))\n"
    )
    path = os.pathsep.join([str(root), str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "TRITON_DEFAULT_FP_FUSION": "1"},
    )  # fmt: skip
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == 3, done.stderr
    assert all(told == mine for told, mine in found)
    assert any(spills for _, (_, spills) in found)


def test_packages_are_imported_as_such(tmp_path: Path) -> None:
    """Relative imports; an `__init__` that needs more than the kernels do; a package below a folder without one."""
    for folder, init in (("plain", ""), ("heavy", "import no_such_module\n"), ("outer/inner", None)):
        place = tmp_path / folder
        place.mkdir(parents=True)
        if init is not None:
            (place / "__init__.py").write_text(init, encoding="utf-8")
        (place / "sizes.py").write_text("BLOCK = 128\n", encoding="utf-8")
        source = "outer.inner.sizes" if init is None else ".sizes"
        text = GOOD.replace("import torch\n", f"import torch\nfrom {source} import BLOCK\n")
        (place / f"in_{folder.split('/')[0]}.py").write_text(
            text.replace("BLOCK=128", "BLOCK=BLOCK"), encoding="utf-8"
        )
    done = verify(tmp_path, ".", "--gpu", "a100")
    found = rows(done)
    assert {name: row["reason"] for name, row in found.items()} == {
        "in_plain.py": "",
        "in_heavy.py": "",
        "in_outer.py": "",
    }


def test_a_vendored_package_below_one_that_refuses(tmp_path: Path) -> None:
    """Its files ask for it by its own name, as they would where it is installed; what is missing still is named."""
    inner = tmp_path / "refuses" / "vendored" / "own" / "ops"
    inner.mkdir(parents=True)
    for place in (inner, inner.parent, inner.parent.parent):
        (place / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "refuses" / "__init__.py").write_text('raise ImportError("install more")\n', encoding="utf-8")
    (inner / "sizes.py").write_text("BLOCK = 128\n", encoding="utf-8")
    text = GOOD.replace("import torch\n", "import torch\nfrom own.ops.sizes import BLOCK\n")
    (inner / "works.py").write_text(text, encoding="utf-8")
    (inner / "fails.py").write_text(text.replace("own.ops.sizes", "no_such_module"), encoding="utf-8")
    found = rows(verify(tmp_path, ".", "--gpu", "a100"))
    assert found["works.py"]["reason"] == ""
    said = found["fails.py"]["reason"]
    assert "install more" in said and "No module named 'no_such_module'" in said


ASKS = """\
import torch
import triton
import torch.nn.functional as F
from torch.autograd import Function

CAPABILITY, SMS, VENDOR, TARGET = {expected}
assert torch.cuda.is_available()
assert torch.cuda.get_device_capability() == CAPABILITY, torch.cuda.get_device_capability()
properties = torch.cuda.get_device_properties(0)
assert properties.multi_processor_count == SMS
assert bool(torch.version.hip) == (VENDOR == "hip")
active = triton.runtime.driver.active
assert active.utils.get_device_properties(0)["multiprocessor_count"] == SMS
assert (active.get_current_target().backend, active.get_current_target().arch) == (VENDOR, TARGET)


class Layer(torch.nn.Module):
    def forward(self, x: torch.Tensor | None) -> torch.Tensor:
        return F.relu(x)


class Step(Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x):
        return x


@torch.compile
@torch.no_grad()
def outer(x):
    return x


"""


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [("a100", ((8, 0), 108, "cuda", 80)), ("mi300x", ((9, 4), 304, "hip", "gfx942"))],
)
def test_modules_are_told_of_the_gpu_that_is_asked_for(tmp_path: Path, gpu: str, expected: Any) -> None:
    """Through torch, or what stands in for it, and through Triton's own driver."""
    text = ASKS.format(expected=repr(expected)) + GOOD
    (tmp_path / "asks.py").write_text(text, encoding="utf-8")
    done = verify(tmp_path, ".", "--gpu", gpu)
    row = rows(done)["asks.py"]
    assert (row["reason"], done.status) == ("", 0)
    assert row["compiled"]["registers"] > 0


def test_a_real_cache_folder_of_triton_is_read(tmp_path: Path) -> None:
    """The entry of one of two configs holds for that one, with the numbers of verify."""
    launches = "    add[(4,)](x, y, out, 4096, BLOCK=128)\n    add[(4,)](x, y, out, 4096, BLOCK=512)\n"
    (tmp_path / "add.py").write_text(
        ADD.replace("import torch\n", "") + "\n\ndef run(x, y, out):\n" + launches, encoding="utf-8"
    )
    code = (
        "import add, triton\n"
        "from triton.compiler import ASTSource\n"
        "from triton.backends.compiler import GPUTarget\n"
        "names = add.add.arg_names\n"
        "types = dict(zip(names, ['*fp32'] * 3 + ['i32', 'constexpr']))\n"
        "hints = {(i,): [['tt.divisibility', 16]] for i in range(4)}\n"
        "source = ASTSource(add.add, types, {'BLOCK': 512}, hints)\n"
        "triton.compile(source, target=GPUTarget('cuda', 90, 32))\n"
    )
    env = {
        **os.environ,
        "PYTHONPATH": str(triton_release("3.9.0")),
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
        "TRITON_DEFAULT_FP_FUSION": "1",
    }
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, check=True)
    arguments = ("add.py", "--gpu", "h100", "--facts", "cache", "--output-format", "json")
    done = tritonlint("check", "--triton", "3.9", *arguments, cwd=tmp_path)
    assert (done.json["summary"]["facts"], done.json["summary"]["contradicted"]) == (1, 0)
    off = tritonlint("calibrate", "--triton", "3.9", *arguments, cwd=tmp_path)
    assert off.json["summary"]["rows"] == 1
    assert off.json["summary"]["shared memory"] == {"known": 1, "equal": 1}
    verified = {
        row["config"]["BLOCK"]: row for row in verify(tmp_path, "add.py", "--gpu", "h100").json["rows"]
    }
    assert verified[512]["compiled"]["registers"] > 0


def test_calibrate_says_what_it_could_not_compile(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD, encoding="utf-8")
    (tmp_path / "fails.py").write_text("raise ValueError('not today')\n" + GOOD, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(triton_release("3.9.0")), os.environ.get("PYTHONPATH")]))
    done = tritonlint(
        "calibrate", ".", "--gpu", "a100", cwd=tmp_path,
        env={"PYTHONPATH": path, "TRITONLINT_CACHE_DIR": str(tmp_path / ".cache")},
    )  # fmt: skip
    assert (
        "1 row compared, 1 launch without a fact.\n  1: the module cannot be imported: ValueError" in done.out
    )
