"""Assumptions that cannot be meant so are said where they stand, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.samples import HEAD
from tritonlint.context import PlanContext
from tritonlint.incremental import EditedFile
from tritonlint.lint import lint_source
from tritonlint.settings import Settings
from tritonlint.targets import choose

SOURCE = (
    HEAD
    + """\

@triton.jit
def k(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)


# tritonlint: assume COMMENT
def run(x, size):
    k[(size,)](x, 3, BLOCK=64)
    k[(2,)](x, 3, BLOCK=64)
"""
)


@pytest.mark.parametrize(
    ("comment", "column", "said"),
    [
        ("gpu=h1000, n=4", 22, "unknown GPU 'h1000'; near: h100"),
        ("n=4, gpu=[h100, h1000]", 27, "unknown GPU 'h1000'"),
        ("sise=4", 22, "nothing here is called sise; did you mean size?"),
        ("n==4", 3, "wants NAME=VALUE pairs, not `n==4`"),
        ("x_ptr=*fp17", 22, "type of x_ptr: "),
        ("size=64, n=1, x_ptr=*fp16, BLOCK=64, gpu=[h100, sm_90], x.stride=4", 0, ""),
    ],
)
@pytest.mark.parametrize("place", ["at a function", "for the file"])
def test_a_comment_is_told_apart(comment: str, column: int, said: str, place: str) -> None:
    source = SOURCE.replace("COMMENT", comment)
    if place == "for the file":
        source = f"# tritonlint: assume {comment}\n" + SOURCE.replace("# tritonlint: assume COMMENT\n", "")
    targets = choose(Settings(), Path("."), ["a100"], "3.9")
    found = [
        one
        for one in lint_source("k.py", source, Settings(), targets=targets).findings
        if one.code == "TL904"
    ]
    edited = EditedFile("k.py", Settings(), targets, "likely", seen).lint(source)
    assert edited is not None
    assert [one for one in edited.result.findings if one.code == "TL904"] == found
    if not said:
        assert not found
        return
    (finding,) = found
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "tritonlint" in text)
    assert said in finding.message
    assert (finding.span.line, finding.span.column) == (line, 1 if column == 3 else column)


def test_names_are_not_missed_while_a_file_is_half_typed() -> None:
    source = SOURCE.replace("COMMENT", "size=64").replace("def run(x, size):", "def run(x, size:")
    targets = choose(Settings(), Path("."), ["a100"], "3.9")
    assert "TL904" not in [
        one.code for one in lint_source("k.py", source, Settings(), targets=targets).findings
    ]


def seen(context: PlanContext) -> None:
    """Nothing is kept of the plans."""
