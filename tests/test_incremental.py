"""A file linted edit by edit says what it says when it is linted whole."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.samples import GEMM, HEAD
from tritonlint.context import PlanContext
from tritonlint.finding import Finding
from tritonlint.incremental import EditedFile
from tritonlint.lint import FileResult, lint_source
from tritonlint.settings import Settings
from tritonlint.source.pieces import NotInPiecesError
from tritonlint.targets import Targets, choose

SOURCE = (
    GEMM.replace(
        "@triton.jit",
        "@triton.autotune([triton.Config({'BLOCK_M': 256, 'BLOCK_N': 256, 'BLOCK_K': 64, 'GROUP_M': 8}, num_stages=4),\n"
        "                  triton.Config({'BLOCK_M': 64, 'BLOCK_N': 64, 'BLOCK_K': 32, 'GROUP_M': 8})], key=['M'])\n"
        "@triton.jit",
    )
    + """

@triton.jit
def twice(x):
    return x + x


@triton.jit
def add(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, twice(tl.load(x_ptr + offs)))


BLOCK = 1000


def launch(x):
    n = x.numel()
    # tritonlint: ignore-next-line[TL204] on purpose
    add[(triton.cdiv(n, 128),)](x, n, BLOCK=BLOCK, num_warps=3)
    return n


def gemm_of(a, b, c):
    M, N, K = 1024, 1024, 1024
    gemm[lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)](
        a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1))


def outer(x):
    launch(x)
"""
)
SNIPPETS = (
    "(", ")", "\n", "#", '"', "0", "2", "x", " ", ":", "\n\n", "# tritonlint: ignore[TL101]", "num_warps=3, ",
    "\n# tritonlint: assume M=64\n", "BLOCK", "tl.", "@triton.jit\n", "\ndef f(a):\n    launch(a)\n", '"""',
    "; n = 2", "; y = n", "\n    y = n + 1", "import os; ",
)  # fmt: skip


def targets() -> Targets:
    return choose(Settings(), Path("."), ["a100", "rtx4090"], "3.9")


def edited_file(path: str = "k.py") -> EditedFile:
    return EditedFile(path, Settings(), targets(), "possible", observed)


def observed(context: PlanContext) -> Any:
    return context.plan.kernel.name


def told(result: FileResult) -> tuple[Any, ...]:
    def plain(findings: list[Finding]) -> list[Finding]:
        return [replace(finding, estimate=None) for finding in findings]

    return (
        plain(list(result.findings)),
        plain([one.finding for one in result.suppressed]),
        [problem.message for problem in result.problems],
    )


def whole(text: str, path: str = "k.py") -> tuple[Any, ...]:
    return told(lint_source(path, text, Settings(), targets=targets(), certainty="possible"))


def edit_by_edit(file: EditedFile, text: str) -> tuple[Any, ...]:
    linted = file.lint(text)
    assert linted is not None
    return told(linted.result)


EDITS = {
    "a kernel's body": ("return x + x", "return x * 3"),
    "a kernel's head": ("def add(x_ptr, n,", "def add(x_ptr, n, m,"),
    "a config": ("'BLOCK_M': 64", "'BLOCK_M': 48"),
    "a constant": ("BLOCK = 1000", "BLOCK = 1024"),
    "lines above": ("import torch", "\n\n\nimport torch"),
    "a launch": ("num_warps=3", "num_warps=4"),
    "a syntax error in a kernel": ("tl.store(x_ptr", "tl.store((x_ptr"),
    "a syntax error in a host function": ("launch(x)\n", "launch(x\n"),
    "an open string": ("BLOCK = 1000", 'BLOCK = """1000'),
    "a suppression more": ("num_warps=3)", "num_warps=3)  # tritonlint: ignore[TL204]"),
    "an assumption": ("def outer(x)", "# tritonlint: assume gpu=t4\ndef outer(x)"),
    "a caller that gives a value": ("    launch(x)\n", "    global BLOCK\n    BLOCK = 64\n    launch(x)\n"),
    "another kernel under the name": ("def outer", "add = gemm\n\n\ndef outer"),
    "no launch any more": ("    add[(triton", "    print[(triton"),
    "everything": (SOURCE, HEAD),
}


def test_the_sample_has_findings() -> None:
    findings, suppressed, problems = whole(SOURCE)
    assert len(findings) > 2 and suppressed and not problems


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_and_its_undoing_say_what_the_whole_says(edit: str) -> None:
    old, new = EDITS[edit]
    assert old in SOURCE
    file = edited_file()
    for text in (SOURCE, SOURCE.replace(old, new), SOURCE, SOURCE.replace(old, new)):
        assert edit_by_edit(file, text) == whole(text)


def test_only_what_an_edit_reaches_is_looked_at_again() -> None:
    looked: list[str] = []
    file = EditedFile(
        "k.py", Settings(), targets(), "possible", lambda context: looked.append(context.plan.kernel.name)
    )
    file.lint(SOURCE)
    assert {"gemm", "add", "twice"} == set(looked)
    looked.clear()
    file.lint("\n" + SOURCE.replace("    M, N, K = 1024", "    M, N, K = 2048"))
    assert looked == ["gemm"]
    looked.clear()
    file.lint("\n\n" + SOURCE.replace("return x + x", "return x * 2"))
    assert set(looked) == {"twice", "add"}  # gemm's launch is what it was at first


def test_another_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    text = SOURCE.replace("BLOCK = 1000", "from sizes import BLOCK")
    sizes = tmp_path / "sizes.py"
    sizes.write_text("BLOCK = 1000\n")
    file = edited_file(str(path))
    before = edit_by_edit(file, text)
    sizes.write_text("BLOCK = 2048  # more\n")
    after = edit_by_edit(file, text)
    assert before != after and after == whole(text, str(path))


def test_a_cancelled_lint_says_nothing_and_spoils_nothing() -> None:
    file = edited_file()
    assert file.lint(SOURCE, lambda: True) is None
    assert edit_by_edit(file, SOURCE) == whole(SOURCE)


@pytest.mark.parametrize("seed", range(4))
def test_random_edits_say_what_the_whole_says(seed: int) -> None:
    chosen = random.Random(seed)
    file, text = edited_file(), SOURCE
    for step in range(24):
        at = chosen.randrange(len(text) + 1)
        text = text[:at] + chosen.choice(SNIPPETS) + text[at + chosen.choice([0, 0, 0, 1, 4]) :]
        if step % 6 == 5:
            text = SOURCE
        try:
            linted = file.lint(text)
        except NotInPiecesError:
            continue
        assert linted is not None
        if step % 3 == 0:
            assert told(linted.result) == whole(text)


def test_a_helper_that_no_launch_asks_for_leaves_the_plans_alone() -> None:
    """Told by the names that were looked up, not by those that stand in the text."""
    source = SOURCE.replace(
        "def gemm_of(a, b, c):\n", "def check(x):\n    assert x\n\n\ndef gemm_of(a, b, c):\n    check(a)\n"
    )
    file = edited_file()
    file.lint(source)

    before = {*file.readings}
    for new in ("    assert x, 'no x'", "    n = 3; assert x"):
        text = source.replace("    assert x", new)
        assert edit_by_edit(file, text) == whole(text)
    assert {*file.readings} == before
    asked = source.replace("    check(a)\n", "    a = check(a)\n")
    for text in (asked, asked.replace("    assert x", "    return None")):
        assert edit_by_edit(file, text) == whole(text)
        assert not {*file.readings} <= before
        before = {*file.readings}


def test_what_was_read_before_is_given_up() -> None:
    """Of a kernel that is read anew nothing is kept but its place, and of all readings a few for each group."""
    file = edited_file()
    file.lint(SOURCE)
    groups = len({*file.readings})
    for number in range(12):
        file.lint(
            SOURCE.replace("def gemm_of(a, b, c):\n", f"def gemm_of(a, b, c):\n    n = [{number}, len(a)]\n")
        )
    kept = [*file.readings]
    assert len(kept) <= 4 * groups
    own = [on.kernel for reading in kept for plan in reading.plans for on in plan.on.values() if plan.kernel]
    assert own and not any(kernel.node.body for kernel in own)
