"""What must not change a finding: spelling, layout, encoding, place, and the way a file is linted.

Each test changes the shipped examples in a way that means the same to Triton, and compares what is said of them.
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tritonlint.finding import Finding
from tritonlint.lint import lint_source
from tritonlint.lint_many import lint_paths
from tritonlint.settings import Resolver, Settings

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
GPUS = ("rtx4090", "h100")

Said = list[tuple[Any, ...]]


def linted(path: str, source: str | bytes, *gpus: str) -> tuple[Finding, ...]:
    result = lint_source(path, source, Settings(), gpus=gpus or GPUS, triton="3.9", certainty="possible")
    assert result.problems == ()
    return result.findings


def said(findings: tuple[Finding, ...], names: Callable[[str], str] = str) -> Said:
    """Everything of a finding but its place."""
    found = [
        (
            one.code,
            one.severity,
            one.certainty,
            names(one.message),
            names(one.kernel or ""),
            one.gpus,
            names(repr(sorted((one.config or {}).items()))),
            tuple(names(text) for text in one.assumptions),
            names(one.help or ""),
            tuple((names(fix.title), fix.safe) for fix in one.fixes),
        )
        for one in findings
    ]
    return sorted(found, key=repr)


@pytest.fixture(scope="module")
def originals() -> dict[str, Said]:
    return {path.name: said(linted(path.name, path.read_text(encoding="utf-8"))) for path in EXAMPLES}


def reformatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "60", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def commented(text: str) -> str:
    return "# -*- coding: utf-8 -*-\n# \u00e9\u00e8 \U0001f600\n" + text + "\n# the end\n"


def with_tabs(text: str) -> str:
    return re.sub(r"(?m)^( {4})+", lambda match: "\t" * (len(match[0]) // 4), text)


def aliased(text: str) -> str:
    """Triton and its language under other names."""
    text = re.sub(
        r"\btl\b", "lang", text.replace("import triton.language as tl", "from triton import language as lang")
    )
    return re.sub(r"(?<![\w.\"])triton(?=\.)", "T", text.replace("import triton\n", "import triton as T\n"))


def surrounded(text: str) -> str:
    """Statements that have nothing to do with it, before and after."""
    head, rest = text.split("import triton\n", 1)
    other = "@dataclasses.dataclass\nclass Unrelated:\n    x: int = 1\n"
    return f"{head}import triton\nimport dataclasses\n{rest}\n\n{other}"


def reordered(text: str) -> str:
    """Functions that nothing decorates moved above everything that is not an import: their bodies run later."""
    lines = text.splitlines(keepends=True)
    body = ast.parse(text).body
    starts = [
        min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]) - 1 for node in body
    ]
    for number, start in enumerate(starts):
        while number and start and lines[start - 1].startswith(("#", "\n")):  # with the comments above it
            start -= 1
        starts[number] = start if number else 0
    parts: list[tuple[int, str]] = []
    for number, (node, start, end) in enumerate(zip(body, starts, [*starts[1:], len(lines)], strict=True)):
        plain = isinstance(node, ast.FunctionDef) and not node.decorator_list
        imports = isinstance(node, (ast.Import, ast.ImportFrom)) or number == 0
        parts.append((0 if imports else 1 if plain else 2, "".join(lines[start:end])))
    assert [rank for rank, _ in parts] != sorted(rank for rank, _ in parts)
    return "\n".join(part for _, part in sorted(parts, key=lambda one: one[0]))


CHANGES: dict[str, Callable[[str], str | bytes]] = {
    "reformatted": reformatted,
    "comments and an emoji": commented,
    "tabs": with_tabs,
    "aliases": aliased,
    "unrelated statements": surrounded,
    "another order": reordered,
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "CR": lambda text: text.replace("\n", "\r").encode(),
    "latin-1": lambda text: ("# -*- coding: latin-1 -*-\n# \u00e9\n" + text).encode("latin-1"),
}


SETS = """import torch
import triton
import triton.language as tl
TYPES = {torch.float16, torch.bfloat16, torch.float8_e4m3fnuz, torch.float8_e4m3fn}
BLOCKS = {"small": 64, "middle": 256, "large": 1 << 21}
@triton.jit
def convert(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i).to(y.dtype.element_ty))
def converted(x, dtype, size):
    assert dtype in TYPES and size in {"small", "middle", "large"}
    y = torch.empty_like(x, dtype=dtype)
    convert[(64,)](x, y, BLOCK=BLOCKS[size])
    for name in {"small", "large"}:
        convert[(8,)](x, y, BLOCK=BLOCKS[name])
"""


def test_the_order_in_which_python_keeps_sets_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "sets.py").write_text(SETS)
    command = [
        sys.executable,
        "-m",
        "tritonlint",
        "check",
        "sets.py",
        "--no-cache",
        "--gpu",
        "h100",
        "--gpu",
        "a100",
    ]
    command += ["--severity", "info", "--certainty", "possible", "--output-format", "json"]
    outputs = {
        subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=False,
        ).stdout
        for seed in "0123"
    }
    assert len(outputs) == 1
    assert b"tensor-too-large" in outputs.pop()


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_is_said_whatever_the_text_looks_like(path: Path, change: str, originals: dict[str, Said]) -> None:
    changed = CHANGES[change](path.read_text(encoding="utf-8"))
    assert said(linted(path.name, changed)) == originals[path.name]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_names_do_not_matter(path: Path, originals: dict[str, Said]) -> None:
    """Local variables of kernels under names with letters from elsewhere."""
    text = path.read_text(encoding="utf-8")
    kernels = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    locals_: set[str] = set()
    for kernel in kernels:
        parameters = {argument.arg for argument in kernel.args.args}
        stored = {
            node.id
            for node in ast.walk(kernel)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and len(node.id) > 2
        }
        locals_ |= stored - parameters
    used = {argument.arg for kernel in kernels for argument in kernel.args.args}
    used |= {node.arg for node in ast.walk(ast.parse(text)) if isinstance(node, ast.keyword) and node.arg}
    assert locals_ - used
    for name in sorted(locals_ - used):
        text = re.sub(rf"(?<![\w.]){name}(?!\w)", f"{name}_\u00e4", text)
    plain = [tuple(part.replace("_\u00e4", "") if isinstance(part, str) else part for part in one)
             for one in said(linted(path.name, text))]  # fmt: skip
    assert sorted(plain, key=repr) == originals[path.name]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_names_of_kernels_and_parameters_do_not_matter(path: Path, originals: dict[str, Said]) -> None:
    """Everything that a kernel is called, and takes, under another name, also in dicts of configs and in grids."""
    text = path.read_text(encoding="utf-8")
    kernels = [
        node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.decorator_list
    ]
    names = {kernel.name for kernel in kernels}
    names |= {argument.arg for kernel in kernels for argument in kernel.args.args}
    assert len(names) > 3
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){name}(?!\w)", f"{name}_zz", text)
    ast.parse(text)
    renamed = said(linted(path.name, text), lambda words: words.replace("_zz", ""))
    assert renamed == originals[path.name]


def test_a_list_may_live_in_another_file(tmp_path: Path, originals: dict[str, Said]) -> None:
    """The kernel moved into a module of its own, with everything that launches it left behind."""
    text = (ROOT / "examples" / "gemm.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    kernel = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list)
    start = kernel.decorator_list[0].lineno
    before, own, after = lines[: start - 1], lines[start - 1 : kernel.end_lineno], lines[kernel.end_lineno :]
    (tmp_path / "kernels.py").write_text("import triton\nimport triton.language as tl\n\n" + "".join(own))
    (tmp_path / "host.py").write_text(
        "".join(before) + f"from kernels import {kernel.name}\n" + "".join(after)
    )
    paths = [str(tmp_path / name) for name in ("host.py", "kernels.py")]
    report = lint_paths(paths, Resolver(), gpus=list(GPUS), triton="3.9", certainty="possible", jobs=1)
    codes = sorted(one[0] for one in originals["gemm.py"] if one[0] != "TL902")
    assert sorted({one.code for one in report.findings} - {"TL902"}) == sorted(set(codes))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_gpus_together_say_what_each_says(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    together = {(one.code, one.span, gpu) for one in linted(path.name, source) for gpu in one.gpus or ("",)}
    each = {
        (one.code, one.span, gpu)
        for name in GPUS
        for one in linted(path.name, source, name)
        for gpu in one.gpus or ("",)
    }
    assert together == each


def test_every_way_to_lint_agrees(tmp_path: Path) -> None:
    """Cold, warm, in parallel, and from standard input."""
    arguments = ["--gpu", "rtx4090", "--triton", "3.9", "--severity", "info", "--output-format", "json"]

    def run(*more: str, stdin: bytes | None = None) -> list[Any]:
        command = [sys.executable, "-m", "tritonlint", *more, *arguments]
        done = subprocess.run(command, cwd=ROOT, input=stdin, capture_output=True, env={**os.environ})
        found: list[Any] = json.loads(done.stdout)["findings"]
        return found

    cold = run("examples", "--no-cache", "--jobs", "1")
    assert cold
    assert run("examples") == cold
    assert run("examples") == cold  # from the cache
    assert run("examples", "--no-cache", "--jobs", "2") == cold
    alone = [one for path in EXAMPLES
             for one in run("-", "--stdin-filename", f"examples/{path.name}", stdin=path.read_bytes())]  # fmt: skip
    assert alone == [one for one in cold if Path(one["path"]).parent == Path("examples")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_more_shared_memory_fits_no_less(path: Path) -> None:
    def unfit(kilobytes: int) -> set[Any]:
        own = {"roomy": {"base": "rtx4090", "shared_bytes_per_cta": kilobytes * 1024,
                         "shared_bytes_per_sm": (kilobytes + 1) * 1024}}  # fmt: skip
        settings = Settings(profiles=own)
        result = lint_source(
            path.name, path.read_bytes(), settings, gpus=["roomy"], triton="3.9", certainty="possible"
        )
        return {(one.span, repr(one.config)) for one in result.findings if one.code in ("TL101", "TL104")}

    sizes = [unfit(kilobytes) for kilobytes in (48, 99, 163, 227, 1000)]
    assert all(larger <= smaller for smaller, larger in itertools.pairwise(sizes))
    assert sizes[-1] == set()
