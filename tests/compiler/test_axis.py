"""The axis analysis on small graphs, and the encodings that follow from it."""

from __future__ import annotations

from typing import Any

import pytest

from tritonlint.compiler.axis import AxisInfo
from tritonlint.compiler.coalesce import Coalescing
from tritonlint.compiler.encodings import Blocked
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.releases import release
from tritonlint.compiler.target import Target
from tritonlint.compiler.to_ttgir import to_ttgir
from tritonlint.kernel.ir import Type


class Builder:
    """Writes a graph operation by operation; the pointer and the integer argument are divisible by 16."""

    def __init__(self, element: str = "fp16") -> None:
        self.pointer, self.stride = GValue(Type("*" + element)), GValue(Type("i32"))
        func = GOp("tt.func")
        self.block = func.add_block([self.pointer, self.stride])
        self.graph = Graph(func)
        self.graph.divisibility = {0: 16, 1: 16}

    def op(self, name: str, operands: list[GValue], type: Type, **attrs: Any) -> GValue:
        result = GValue(type)
        GOp(name, operands, [result], attrs).append_to(self.block)
        return result

    def numbers(self, size: int) -> GValue:
        return self.op("tt.make_range", [], Type("i32", (size,)), start=0, end=size)

    def constant(self, value: int, shape: tuple[int, ...] | None = None) -> GValue:
        return self.op("arith.constant", [], Type("i32", shape), value=value)

    def splat(self, value: GValue, shape: tuple[int, ...]) -> GValue:
        return self.op("tt.splat", [value], Type(value.type.element, shape))

    def load(self, offsets: GValue) -> GOp:
        shape = offsets.shape
        base = self.splat(self.pointer, shape)
        pointers = self.op("tt.addptr", [base, offsets], base.type)
        element = self.pointer.type.element[1:]
        loaded = self.op("tt.load", [pointers], Type(element, shape), has_mask=False)
        assert loaded.op is not None
        return loaded.op

    def rows(self, m: int, n: int) -> GValue:
        """m x n row-major offsets with the argument as the stride."""
        down = self.op("tt.expand_dims", [self.numbers(m)], Type("i32", (m, 1)), axis=1)
        down = self.op("arith.muli", [down, self.splat(self.stride, (m, 1))], down.type)
        across = self.op("tt.expand_dims", [self.numbers(n)], Type("i32", (1, n)), axis=0)
        full = Type("i32", (m, n))
        return self.op(
            "arith.addi",
            [self.op("tt.broadcast", [down], full), self.op("tt.broadcast", [across], full)],
            full,
        )


def test_a_range_counts_up() -> None:
    b = Builder()
    numbers = b.numbers(64)
    info = AxisInfo(b.graph).info(numbers)
    assert (info.contiguity, info.constancy) == ((64,), (1,))


def test_row_major_addresses() -> None:
    b = Builder()
    op = b.load(b.rows(32, 64))
    info = AxisInfo(b.graph).info(op.operands[0])
    assert info.contiguity == (1, 64)
    assert info.divisibility[1] == 16


@pytest.mark.parametrize(("element", "vector"), [("fp16", 8), ("fp32", 4), ("i8", 16)])
def test_a_thread_takes_16_bytes(element: str, vector: int) -> None:
    b = Builder(element)
    op = b.load(b.rows(128, 64))
    to_ttgir(b.graph, 4, 32, 1)
    found = Coalescing(b.graph, Target("sm_80"), release(3, 9)).coalesced_layout(op)
    assert found.size_per_thread == (1, vector)
    assert found.order == (1, 0)


def test_few_elements_are_shared_by_all_threads() -> None:
    b = Builder()
    op = b.load(b.numbers(128))
    to_ttgir(b.graph, 4, 32, 1)
    found = Coalescing(b.graph, Target("sm_80"), release(3, 9)).coalesced_layout(op)
    assert found == Blocked((1,), (32,), (4,), (0,))


@pytest.mark.parametrize(("version", "order"), [((3, 6), (0, 1)), ((3, 7), (1, 0))])
def test_gathered_rows_take_an_order_by_release(version: tuple[int, int], order: tuple[int, int]) -> None:
    """Where no dimension is contiguous, the first one was the fastest up to 3.6."""
    b = Builder()
    offsets = b.rows(32, 64)
    scaled = b.op("arith.muli", [offsets, b.constant(3, (32, 64))], offsets.type)
    op = b.load(scaled)
    to_ttgir(b.graph, 4, 32, 1)
    found = Coalescing(b.graph, Target("sm_80"), release(*version)).coalesced_layout(op)
    assert found.order == order


def test_a_hint_overrides_what_is_known() -> None:
    b = Builder()
    product = b.op("arith.muli", [b.numbers(64), b.constant(3, (64,))], Type("i32", (64,)))
    assert product.op is not None
    product.op.attrs["tt.contiguity"] = (64,)
    product.op.attrs["tt.divisibility"] = (64,)
    info = AxisInfo(b.graph).info(product)
    assert (info.contiguity, info.divisibility) == ((64,), (64,))


def test_a_bad_hint_is_ignored() -> None:
    b = Builder()
    numbers = b.numbers(64)
    assert numbers.op is not None
    numbers.op.attrs["tt.contiguity"] = (64, 64)
    assert AxisInfo(b.graph).info(numbers).contiguity == (64,)


def test_a_mask_is_alike_along_multiples() -> None:
    """Offsets below a number divisible by 16 are masked in blocks of 16."""
    b = Builder()
    numbers = b.numbers(64)
    mask = b.op("arith.cmpi", [numbers, b.splat(b.stride, (64,))], Type("i1", (64,)), predicate="slt")
    assert AxisInfo(b.graph).info(mask).constancy == (16,)


def _loop(b: Builder, start: GValue, step: GValue) -> GValue:
    """A pointer that steps through a loop; gives its value inside."""
    low, high, one = b.constant(0), b.constant(10), b.constant(1)
    inside = GValue(start.type)
    loop = GOp("scf.for", [low, high, one, start], [GValue(start.type)])
    block = loop.add_block([GValue(Type("i32")), inside])
    moved = GValue(start.type)
    GOp("tt.addptr", [inside, step], [moved]).append_to(block)
    GOp("scf.yield", [moved]).append_to(block)
    loop.append_to(b.block)
    return inside


def test_a_loop_keeps_what_each_step_keeps() -> None:
    b = Builder()
    start = b.load(b.numbers(64)).operands[0]
    inside = _loop(b, start, b.constant(64, (64,)))
    info = AxisInfo(b.graph).info(inside)
    assert (info.contiguity, info.divisibility) == ((64,), (16,))


def test_a_loop_loses_what_a_step_loses() -> None:
    b = Builder()
    start = b.load(b.numbers(64)).operands[0]
    inside = _loop(b, start, b.constant(3, (64,)))
    assert AxisInfo(b.graph).info(inside).divisibility == (2,)
