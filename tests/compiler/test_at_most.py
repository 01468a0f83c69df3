"""Bounds from the trace alone, against what real releases said."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compiler.test_compile import MECHANISMS, ROWS, launched, name_of
from tritonlint.compiler.at_most import AtMost, at_most
from tritonlint.compiler.compile import compiled, shared_at_most
from tritonlint.compiler.options import Options
from tritonlint.compiler.releases import newest
from tritonlint.compiler.target import Target
from tritonlint.kernel.trace import ArgumentSpec, trace
from tritonlint.source import parse_file, plans
from tritonlint.source.sites import Platform
from tritonlint.source.text import SourceFile


def bound(row: dict[str, Any]) -> AtMost | None:
    return at_most(*launched(row))


@pytest.mark.parametrize("row", [*ROWS, *MECHANISMS], ids=name_of)
def test_no_release_takes_more_than_the_bound(row: dict[str, Any]) -> None:
    """Shared and tensor memory of real compiles are never above it."""
    most = bound(row)
    if most is not None:
        assert row["shared"] <= most.shared_bytes
        assert (row.get("tmem") or 0) <= most.tensor_memory_columns


@pytest.mark.parametrize("row", [*ROWS[::3], *MECHANISMS], ids=name_of)
def test_no_release_takes_more_than_the_closer_bound(row: dict[str, Any]) -> None:
    """The same for the bound from the graph with its layouts."""
    arguments = launched(row)
    if at_most(*arguments) is not None:
        closer = shared_at_most(*arguments)
        assert closer is not None
        assert row["shared"] <= closer


def test_most_rows_have_a_bound() -> None:
    """Nearly all kernels of the releases that it is made for."""
    newer = [row for row in ROWS if tuple(map(int, row["v"].split(".")[:2])) >= (3, 5)]
    assert sum(bound(row) is not None for row in newer) > len(newer) * 0.8


SCALE = """
import triton
import triton.language as tl


@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
"""


@pytest.mark.parametrize(("block", "suffice"), [(1024, True), (16384, False)])
def test_registers_suffice_for_few_elements_a_thread(block: int, suffice: bool) -> None:
    """A kernel without a dot is bounded by all its values; with many elements a thread nothing is said."""
    (plan,) = plans(parse_file(SourceFile("scale.py", SCALE)), Platform("sm_80", (3, 9)))
    arguments = {"x": ArgumentSpec("*fp32", True), "n": ArgumentSpec("i32", True)}
    target, release = Target("sm_80"), newest()
    traced = trace(plan.kernel, arguments, {"BLOCK": block}, target=target, release=release.version)
    most = at_most(traced, Options(), target, release)
    assert most is not None
    assert most.registers_suffice is suffice
    assert compiled(traced, Options(), target, release).shared_bytes <= most.shared_bytes
