"""Traces a kernel that is given as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from tritonlint.compiler.target import Target
from tritonlint.kernel import ir
from tritonlint.kernel.trace import ArgumentSpec, trace
from tritonlint.source import parse_file, plans, read
from tritonlint.source.sites import KernelSource, Platform

HEAD = "import triton\nimport triton.language as tl\n"


def kernels_of(text: str, arch: str = "sm_90", release: tuple[int, int] = (3, 9)) -> dict[str, KernelSource]:
    """Every kernel of a file with this text; `import triton` and `tl` stand before it."""
    module = parse_file(read("kernels.py", HEAD + textwrap.dedent(text)))
    return {plan.kernel.name: plan.kernel for plan in plans(module, Platform(arch, release))}


def traced(
    text: str,
    types: dict[str, str],
    constants: dict[str, Any] | None = None,
    *,
    kernel: str = "kernel",
    arch: str = "sm_90",
    release: tuple[int, int] = (3, 9),
    **more: Any,
) -> ir.Trace:
    """The trace of one kernel of the text."""
    arguments = {name: ArgumentSpec(spelled, True) for name, spelled in types.items()}
    source = kernels_of(text, arch, release)[kernel]
    return trace(source, arguments, constants or {}, target=Target(arch), release=release, **more)


def walk(block: ir.Block) -> Iterator[ir.Op]:
    for op in block.ops:
        yield op
        for inner in op.blocks:
            yield from walk(inner)


def names(trace_: ir.Trace) -> list[str]:
    """The operations in order, constants left out."""
    return [op.name for op in walk(trace_.function.body) if op.name != "arith.constant"]


def only(trace_: ir.Trace, name: str) -> ir.Op:
    """The one operation of that name."""
    found = [op for op in walk(trace_.function.body) if op.name == name]
    assert len(found) == 1, names(trace_)
    return found[0]
