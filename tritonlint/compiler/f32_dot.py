"""The pass f32-dot-tc: fp32 products with more precision than one tensor-core product gives, as several of
them.

lib/Dialect/TritonGPU/Transforms/F32DotTC.cpp: tf32x3 splits each operand into a tf32 part and a rest, bf16x3
and bf16x6 into two or three bf16 parts.
"""

from __future__ import annotations

from typing import Any

from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.releases import Release


def split_f32_dots(graph: Graph, release: Release, tf32: bool) -> None:
    """Rewrite the dots that ask for it; `tf32` says whether the target has tf32 products."""
    for op in list(graph.walk()):
        if op.name != "tt.dot" or op.block is None:
            continue
        if any(value.type.element != "fp32" for value in op.operands[:2]):
            continue
        precision = op.attrs.get("input_precision")
        if precision == "tf32x3" and tf32:
            _Splitter(op).tf32()
        elif precision in ("bf16x3", "bf16x6") and release.bf16_splits:
            _Splitter(op).bf16(2 if precision == "bf16x3" else 3)


class _Splitter:
    def __init__(self, op: GOp) -> None:
        self.op = op
        self.result = op.results[0]

    def make(
        self, name: str, operands: list[GValue], like: GValue, element: str = "", **attrs: Any
    ) -> GValue:
        value = GValue(like.type.with_element(element or like.type.element), like.encoding)
        new = GOp(name, operands, [value], attrs, line=self.op.line, path=self.op.path)
        return new.insert_before(self.op).result

    def dot(self, a: GValue, b: GValue, c: GValue, precision: str) -> GValue:
        attrs = {"input_precision": precision}
        if precision == "tf32":
            attrs["max_num_imprecise_acc"] = self.op.attrs.get("max_num_imprecise_acc", 0)
        return self.make("tt.dot", [a, b, c], self.result, **attrs)

    def zero(self) -> GValue:
        return self.make("arith.constant", [], self.result, value=0.0)

    def without_nans(self, value: GValue) -> GValue:
        nans = self.make("arith.cmpf", [value, value], value, "i1", predicate="uno")
        return self.make("arith.select", [nans, self.zero(), value], value)

    def finish(self, value: GValue) -> None:
        total = self.make("arith.addf", [value, self.op.operands[2]], self.result)
        self.op.replace_with([total])

    def tf32(self) -> None:
        parts = []
        for value in self.op.operands[:2]:
            big = self.make(
                "tt.elementwise_inline_asm", [value], value, pure=True, packed_element=1, constraints="=r,r"
            )
            parts.append((big, self.make("arith.subf", [value, big], value)))
        (a_big, a_small), (b_big, b_small) = parts
        small = self.dot(a_small, b_big, self.zero(), "tf32")
        small = self.dot(a_big, b_small, small, "tf32")
        self.finish(self.dot(a_big, b_big, self.without_nans(small), "tf32"))

    def parts(self, value: GValue, count: int) -> list[GValue]:
        parts: list[GValue] = []
        for place in range(count):
            part = self.make("arith.truncf", [value], value, "bf16")
            if place != count - 1:
                back = self.make("arith.extf", [part], value)
                value = self.make("arith.subf", [value, back], value)
            parts.append(part)
        return parts

    def bf16(self, count: int) -> None:
        a = self.parts(self.op.operands[0], count)
        b = self.parts(self.op.operands[1], count)
        total = self.zero()
        if count == 3:
            for i, j in ((1, 1), (2, 0), (0, 2)):
                total = self.dot(a[i], b[j], total, "ieee")
        for i, j in ((1, 0), (0, 1)):
            total = self.dot(a[i], b[j], total, "ieee")
        self.finish(self.dot(a[0], b[0], self.without_nans(total), "ieee"))
