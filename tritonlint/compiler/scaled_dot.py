"""Scaled dots (microscaling formats) that have no instruction of their own: spelled out as a plain dot.

lib/Dialect/TritonGPU/Transforms/DecomposeScaledBlocked.cpp: both operands become fp16 or bf16, are multiplied
by their scales and turned into NaN where the scale is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tritonlint.compiler.blocked import default_blocked
from tritonlint.compiler.encodings import Distributed, DotOperand, Linear, SharedLinear, Slice
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.inference import fp4_unpacked, reshaped, transposed
from tritonlint.compiler.linear import log2, pack
from tritonlint.compiler.releases import Release
from tritonlint.compiler.to_linear import Dealer
from tritonlint.kernel import ir

_FP8 = frozenset({"e4m3", "e5m2"})
_NAN_SCALE = 0xFF
_BF16_MANTISSA, _FP32_MANTISSA = 7, 23


def is_native(
    attrs: Mapping[str, Any], shape: tuple[int, ...], num_warps: int, capability: int, release: Release
) -> bool:
    """Whether tensor cores execute the scaled dot with a result of `shape` as such."""
    if not (attrs.get("has_a_scale", True) and attrs.get("has_b_scale", True)):
        return False
    if 100 <= capability < 120:
        return num_warps in (4, 8) and shape[-2] >= 128 and shape[-1] >= 16
    if release.scaled_mma_v2 and 120 <= capability < 130:
        types = {attrs["a_type"], attrs["b_type"]}
        packed = attrs.get("lhs_k_pack", True) and attrs.get("rhs_k_pack", True)
        return types <= _FP8 or (types == {"e2m1"} and packed)
    return False


def spell_out_scaled_dots(graph: Graph, capability: int, release: Release) -> None:
    """Replace the scaled dots that are not native by what they compute, in place."""
    dots = [op for op in graph.all_ops_post() if op.name == "tt.dot_scaled"]
    for op in dots:
        if _has(op, "b") and not _has(op, "a"):
            op = _swap_sides(op)
        if not is_native(op.attrs, op.results[0].shape, graph.num_warps, capability, release):
            _SpellOut(op, graph, release).run()


def scale_layout(shape: tuple[int, ...], op_idx: int, warps_per_cta: tuple[int, ...]) -> Linear:
    """The encoding in which mma.sync of sm_120 takes the scales [rows, groups] of an operand: each thread
    holds all groups of its rows (getSM120DotScaledScaleLayout)."""
    dealer = Dealer(shape, None)
    dealer.deal(dealer.register, 1, shape[1])
    if op_idx == 0:
        dealer.place(dealer.lane, 0, 3)
        dealer.copies(dealer.lane, 2)
    else:
        dealer.copies(dealer.lane, 4)
    dealer.deal(dealer.lane, 0, 8)
    if op_idx == 0:
        dealer.skip(0, 2)
        dealer.copies(dealer.warp, warps_per_cta[1])
        dealer.deal(dealer.warp, 0, warps_per_cta[0])
    else:
        dealer.deal(dealer.warp, 0, warps_per_cta[1])
        dealer.copies(dealer.warp, warps_per_cta[0])
    return Linear(dealer.finish((1, 0)))


def tensor_memory_scales(shape: tuple[int, ...], num_warps: int) -> Linear:
    """The encoding from which scales [rows, groups] go to tensor memory: each warp holds all of them, four
    groups of a row in one thread (getScaleTMEMStoreLinearLayout)."""
    rows, groups = (log2(size) for size in shape)
    dealer = Dealer(shape, None)
    for bit in (0, 1):
        dealer.place(dealer.register, 1, bit)
    for bit in range(5, rows):
        dealer.place(dealer.register, 0, bit)
    for bit in range(2, groups):
        dealer.place(dealer.register, 1, bit)
    for bit in range(5):
        dealer.place(dealer.lane, 0, bit)
    dealer.copies(dealer.warp, num_warps)
    for dim, size in enumerate(shape):
        dealer.skip(dim, size)
    return Linear(dealer.finish((1, 0)))


def packed_scales_memory(shape: tuple[int, ...]) -> SharedLinear:
    """The order in which scales are copied from shared to tensor memory (tcgen05.cp): for 128 rows and 4 groups 32
    lines of 16 bytes, each with 4 rows."""
    rows, groups = (log2(size) for size in shape)
    steps = [(0, 1), (0, 2), (32, 0), (64, 0), *((1 << bit, 0) for bit in range(5))]
    steps += [(0, 1 << bit) for bit in range(2, groups)] + [(1 << bit, 0) for bit in range(7, rows)]
    return SharedLinear(shape, tuple(pack(step, shape) for step in steps), 128)


def _has(op: GOp, side: str) -> bool:
    return bool(op.attrs.get(f"has_{side}_scale", True))


def _swap_sides(op: GOp) -> GOp:
    """a b + c is computed as the transpose of b^T a^T + c^T, so that the side with scales, which is worked on
    in registers, is the left one."""
    order = (1, 0)

    def flipped(value: GValue) -> GValue:
        encoding = transposed(value.encoding, value.shape, order)
        type_ = value.type.with_shape((value.shape[1], value.shape[0]))
        made = GOp(
            "tt.trans", [value], [GValue(type_, encoding)], {"order": order}, line=op.line, path=op.path
        )
        return made.insert_before(op).results[0]

    a, b, c, scale = op.operands
    operands = [flipped(b), flipped(a), flipped(c), scale]
    attrs = {
        **op.attrs,
        "a_type": op.attrs["b_type"],
        "b_type": op.attrs["a_type"],
        "has_a_scale": True,
        "has_b_scale": False,
        "lhs_k_pack": True,
        "rhs_k_pack": True,
    }
    result = operands[2].like(operands[2].encoding)
    dot = GOp("tt.dot_scaled", operands, [result], attrs, line=op.line, path=op.path).insert_before(op)
    op.replace_with([flipped(result)])
    return dot


@dataclass(slots=True)
class _SpellOut:
    op: GOp
    graph: Graph
    release: Release

    def run(self) -> None:
        op = self.op
        compute = "fp16" if "fp16" in (op.attrs["a_type"], op.attrs["b_type"]) else "bf16"
        operands = [self._as_operand(self._scaled(index, compute), index) for index in (0, 1)]
        result = op.results[0]
        dot = self._emit("tt.dot", [*operands, op.operands[2]], result.type, result.encoding)
        op.replace_with([self._emit("ttg.convert_layout", [dot], result.type, result.encoding)])

    def _emit(
        self, name: str, operands: list[GValue], type_: ir.Type, encoding: Any, **attrs: object
    ) -> GValue:
        made = GOp(name, operands, [GValue(type_, encoding)], attrs, line=self.op.line, path=self.op.path)
        return made.insert_before(self.op).results[0]

    def _as_operand(self, value: GValue, index: int) -> GValue:
        encoding = DotOperand(index, self.op.results[0].encoding, 0)
        return self._emit("ttg.convert_layout", [value], value.type, encoding)

    def _scale(self, index: int) -> GValue | None:
        if not _has(self.op, "ab"[index]):
            return None
        return self.op.operands[4 if index == 1 and _has(self.op, "a") else 3]

    def _scaled(self, index: int, compute: str) -> GValue:
        """An operand in the type of the product, scale included."""
        attrs = self.op.attrs
        value = self.op.operands[index]
        rank = len(value.shape)
        depth = rank - 1 if index == 0 else rank - 2
        if attrs["a_type" if index == 0 else "b_type"] == "e2m1":
            packed = attrs.get("lhs_k_pack" if index == 0 else "rhs_k_pack", True)
            axis = depth if packed else 2 * rank - 3 - depth
            shape = tuple(size * 2 if dim == axis else size for dim, size in enumerate(value.shape))
            encoding = fp4_unpacked(value.shape, axis, value.encoding, True)
            value = self._emit("ttg.fp4_to_fp", [value], ir.Type(compute, shape), encoding, axis=axis)
        elif value.type.element != compute:
            value = self._emit("tt.fp_to_fp", [value], value.type.with_element(compute), value.encoding)
        scale = self._scale(index)
        if scale is None:
            return value
        if index == 1:
            order = (*range(rank - 2), rank - 1, rank - 2)
            encoding = transposed(scale.encoding, scale.shape, order)
            type_ = scale.type.with_shape(tuple(scale.shape[dim] for dim in order))
            scale = self._emit("tt.trans", [scale], type_, encoding, order=order)
        spread = self._spread(self._number(scale, compute), depth, value)
        product = self._emit("arith.mulf", [value, spread], value.type, value.encoding)
        if attrs.get("fast_math") or not self.release.scales_masked_by_nan:
            return product
        is_nan = self._is_nan(scale, compute)
        mask = self._spread(is_nan, depth, value)
        nan = self._emit("arith.constant", [], value.type, value.encoding, value=float("nan"))
        return self._emit("arith.select", [mask, nan, product], value.type, value.encoding)

    def _number(self, scale: GValue, compute: str) -> GValue:
        """A scale as a number: its 8 bits are the exponent of a float."""
        if not scale.type.element.startswith("i"):
            return self._emit("tt.fp_to_fp", [scale], scale.type.with_element(compute), scale.encoding)
        wide, mantissa = ("fp32", _FP32_MANTISSA) if compute == "fp16" else ("bf16", _BF16_MANTISSA)
        bits = scale.type.with_element("i32" if wide == "fp32" else "i16")
        extended = self._emit("arith.extui", [scale], bits, scale.encoding)
        shift = self._emit("arith.constant", [], bits, scale.encoding, value=mantissa)
        shifted = self._emit("arith.shli", [extended, shift], bits, scale.encoding)
        number = self._emit("tt.bitcast", [shifted], scale.type.with_element(wide), scale.encoding)
        if wide != compute:
            number = self._emit("arith.truncf", [number], number.type.with_element(compute), scale.encoding)
        return number

    def _is_nan(self, scale: GValue, compute: str) -> GValue:
        type_ = scale.type.with_element("i1")
        if not scale.type.element.startswith("i"):
            number = self._number(scale, compute)
            return self._emit("arith.cmpf", [number, number], type_, scale.encoding, predicate="uno")
        nan = self._emit("arith.constant", [], scale.type, scale.encoding, value=_NAN_SCALE)
        return self._emit("arith.cmpi", [scale, nan], type_, scale.encoding, predicate="eq")

    def _spread(self, scale: GValue, depth: int, like: GValue) -> GValue:
        """Repeat each scale along the depth for its group of elements, in the encoding of `like`."""
        if not self.release.scales_converted_first:
            return self._spread_then_convert(scale, depth, like)
        factor = like.shape[depth] // scale.shape[depth]
        thin = (*scale.shape[: depth + 1], 1, *scale.shape[depth + 1 :])
        wide = (*scale.shape[: depth + 1], factor, *scale.shape[depth + 1 :])
        inner: Distributed | None = reshaped(like.shape, like.encoding, wide, None, False)
        assert inner is not None
        outer = reshaped(thin, inner, scale.shape, None, False)
        # Fewer elements are converted before they are repeated.
        value = self._emit("ttg.convert_layout", [scale], scale.type, outer)
        value = self._emit(
            "tt.reshape",
            [value],
            scale.type.with_shape(thin),
            inner,
            allow_reorder=False,
            efficient_layout=True,
        )
        value = self._emit("tt.broadcast", [value], scale.type.with_shape(wide), inner)
        return self._emit(
            "tt.reshape", [value], scale.type.with_shape(like.shape), like.encoding, allow_reorder=False
        )

    def _spread_then_convert(self, scale: GValue, depth: int, like: GValue) -> GValue:
        """As `_spread`, up to 3.7."""
        rank = len(scale.shape)
        factor = like.shape[depth] // scale.shape[depth]
        machine = (self.graph.num_warps, self.graph.threads_per_warp, self.graph.num_ctas)
        parent = default_blocked((*scale.shape, 1), *machine)
        value = self._emit("ttg.convert_layout", [scale], scale.type, Slice(rank, parent))
        type_ = scale.type.with_shape((*scale.shape, 1))
        value = self._emit("tt.expand_dims", [value], type_, parent, axis=rank)
        value = self._emit("tt.broadcast", [value], scale.type.with_shape((*scale.shape, factor)), parent)
        order = (*range(depth + 1), rank, *range(depth + 1, rank))
        encoding = transposed(parent, value.shape, order)
        type_ = scale.type.with_shape(tuple(value.shape[dim] for dim in order))
        value = self._emit("tt.trans", [value], type_, encoding, order=order)
        encoding = reshaped(value.shape, value.encoding, like.shape, None, False)
        value = self._emit(
            "tt.reshape", [value], scale.type.with_shape(like.shape), encoding, allow_reorder=False
        )
        return self._emit("ttg.convert_layout", [value], value.type, like.encoding)
