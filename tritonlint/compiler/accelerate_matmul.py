"""The pass accelerate-matmul on NVIDIA: each dot gets the tensor cores that its target has.

lib/Dialect/TritonGPU/Transforms/AccelerateMatmul.cpp. mma.sync (version 2) takes operands from registers,
wgmma (3) takes B, and A if it comes straight from memory, from shared memory, tcgen05 (5) takes both from
there and keeps the accumulator in tensor memory. What none supports stays a blocked dot, that is, FMA.
"""

from __future__ import annotations

from tritonlint.compiler.convert_cleanup import erase_dead
from tritonlint.compiler.encodings import (
    CtaLayout,
    Distributed,
    DotOperand,
    NvidiaMma,
    NvmmaShared,
    TensorMemory,
    TensorMemoryScales,
    cta_of,
    shape_per_cta,
)
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.layout_properties import order_for_memory, order_of
from tritonlint.compiler.mma_shapes import (
    instruction_shape,
    pick_mma,
    shape_of_cta,
    warps_of_mma_v2,
    warps_of_wgmma,
)
from tritonlint.compiler.ops import VIEWS, is_elementwise, is_pure
from tritonlint.compiler.releases import Release
from tritonlint.compiler.scaled_dot import (
    packed_scales_memory,
    scale_layout,
    spell_out_scaled_dots,
    tensor_memory_scales,
)
from tritonlint.compiler.slices import backward_slice
from tritonlint.compiler.target import Target
from tritonlint.compiler.tmem_layouts import default_layout
from tritonlint.kernel import ir

DESCRIPTOR_LOADS = frozenset({"tt.descriptor_load", "tt.descriptor_gather"})
_FAST_FP64 = frozenset({80, 90, 100, 103, 110})


def accelerate_matmul(graph: Graph, target: Target, release: Release) -> None:
    """Rewrite every dot, in place."""
    capability = target.capability
    spell_out_scaled_dots(graph, capability, release)
    # The last dot first: chained ones take over its warps.
    for op in reversed([op for op in graph.walk_post() if op.name == "tt.dot"]):
        if op.block is not None and not isinstance(op.results[0].encoding, NvidiaMma):
            accelerate_dot(op, graph, capability, release)
    scaled = [op for op in graph.walk_post() if op.name == "tt.dot_scaled"]
    for op in scaled:
        if 120 <= capability < 130:
            _to_scaled_mma(op, graph, release)
        elif 100 <= capability < 120:
            _to_scaled_tcgen05(op, graph, release)
    erase_dead(graph)
    _promote_operands(graph, capability)


def accelerate_dot(op: GOp, graph: Graph, capability: int, release: Release) -> None:
    """One dot in a blocked encoding."""
    if capability < 70 or (capability < 80 and release.fma_before_ampere):
        op.attrs["why"] = f"compute capability {capability / 10:.1f}"
        return
    types = {value.type.element for value in (op.operands[0], op.operands[1], op.results[0])}
    if "fp64" in types and not (release.fp64_mma and capability in _FAST_FP64):
        op.attrs["why"] = "fp64 operands"
        return
    version, why = pick_mma(capability, op, graph.num_warps, release)
    if why:
        op.attrs["why"] = why
    if version == 5:
        _to_tcgen05(op, graph, release)
    elif version in (2, 3):
        _to_mma(op, graph, version, capability, release)


def insert_convert(value: GValue, encoding: Distributed, before: GOp) -> GValue:
    """A conversion of the value right before an operation."""
    new = GOp("ttg.convert_layout", [value], [value.like(encoding)], line=before.line, path=before.path)
    new.insert_before(before)
    return new.result


def dot_operand(value: GValue, op_idx: int, bits: int, parent: NvidiaMma, before: GOp) -> GValue:
    """The value as an operand in registers; `bits` of the narrowest type on its way decide the width along
    K."""
    return insert_convert(value, DotOperand(op_idx, parent, max(32 // bits, 1)), before)


def mma_encoding(op: GOp, graph: Graph, version: int, release: Release) -> NvidiaMma:
    result = op.results[0]
    a = op.operands[0]
    shape = shape_of_cta(result)
    instruction = instruction_shape(version, shape, a.type.element, a.type.bits, graph.num_warps)
    if version == 2:
        warps = warps_of_mma_v2(op, shape, graph.num_warps, release)
    else:
        warps = warps_of_wgmma(op, shape, graph.num_warps, instruction)
    return NvidiaMma(version, warps, instruction, 0, cta_of(result.encoding))


def _to_mma(op: GOp, graph: Graph, version: int, capability: int, release: Release) -> None:
    a, b, c = op.operands
    result = op.results[0]
    encoding = mma_encoding(op, graph, version, release)
    accumulator = insert_convert(c, encoding, op)
    attrs = dict(op.attrs)
    fresh = result.like(encoding)
    if version == 3:
        any_order = a.type.element in ("fp16", "bf16")
        if not release.wgmma_left_in_registers or comes_from_load(a):
            a = shared_operand(a, 0, any_order)
        else:
            a = dot_operand(a, 0, a.type.bits, encoding, op)
        b = shared_operand(b, 1, any_order)
        new = GOp("ttng.warp_group_dot", [a, b, accumulator], [fresh], attrs, line=op.line, path=op.path)
    else:
        bits = min(loaded_bits(a, release), loaded_bits(b, release))
        a = dot_operand(a, 0, bits, encoding, op)
        b = dot_operand(b, 1, bits, encoding, op)
        new = GOp("tt.dot", [a, b, accumulator], [fresh], attrs, line=op.line, path=op.path)
    new.insert_before(op)
    op.replace_with([insert_convert(fresh, result.encoding, op)])


def _to_scaled_mma(op: GOp, graph: Graph, release: Release) -> None:
    """Scaled operands on mma.sync, both with scales."""
    a, b, c, a_scale, b_scale = op.operands
    result = op.results[0]
    if len(result.shape) != 2:
        return
    encoding = mma_encoding(op, graph, 2, release)
    bits = min(a.type.bits, b.type.bits)
    operands = [
        dot_operand(a, 0, bits, encoding, op),
        dot_operand(b, 1, bits, encoding, op),
        insert_convert(c, encoding, op),
    ]
    for index, scale in enumerate((a_scale, b_scale)):
        operands.append(insert_convert(scale, scale_layout(scale.shape, index, encoding.warps_per_cta), op))
    fresh = result.like(encoding)
    new = GOp("tt.dot_scaled", operands, [fresh], dict(op.attrs), line=op.line, path=op.path)
    new.insert_before(op)
    op.replace_with([insert_convert(fresh, result.encoding, op)])


def _to_tcgen05(op: GOp, graph: Graph, release: Release) -> None:
    a, b, c = op.operands
    precision = op.attrs.get("input_precision")
    if min(loaded_bits(a, release), loaded_bits(b, release)) >= 32 and precision != "tf32":
        op.attrs["why"] = f"fp32 operands with input precision {precision}"
        return
    any_order = a.type.element != "fp32"
    result = op.results[0]
    instruction = instruction_shape(5, shape_of_cta(result), a.type.element, a.type.bits, graph.num_warps)
    a = shared_operand(a, 0, any_order)
    b = shared_operand(b, 1, any_order)
    memory = tensor_memory(result, instruction[0], instruction[1])
    true = _true(op)
    store_in_tensor_memory(op, graph, c, memory, "ttng.tc_gen5_mma", [a, b], [true, true])


def _to_scaled_tcgen05(op: GOp, graph: Graph, release: Release) -> None:
    """Operands in shared memory, accumulator and scales in tensor memory (ScaledBlockedToMMAv5)."""
    a, b, c, a_scale, b_scale = op.operands
    a_packed, b_packed = op.attrs["a_type"] == "e2m1", op.attrs["b_type"] == "e2m1"
    mixed = a_packed != b_packed
    a = shared_operand(a, 0, not a_packed, a_packed and mixed, not op.attrs.get("lhs_k_pack", True))
    b = shared_operand(b, 1, not b_packed, b_packed and mixed, not op.attrs.get("rhs_k_pack", True))
    result = op.results[0]
    memory = tensor_memory(result, 128, min(256, shape_of_cta(result)[1]))
    true = _true(op)
    in_memory = [release.views_to_shared_linear and are_packed_scales(scale) for scale in (a_scale, b_scale)]
    scales = [
        _scales_in_memory(scale) if packed else _scales_in_tensor_memory(scale, graph.num_warps, op)
        for scale, packed in zip((a_scale, b_scale), in_memory, strict=True)
    ]
    store_in_tensor_memory(op, graph, c, memory, "ttng.tc_gen5_mma_scaled", [a, b], [*scales, true, true])


def are_packed_scales(scale: GValue) -> bool:
    """Whether scales are loaded in the order in which they are copied to tensor memory, and only brought to
    [rows, groups] by views."""
    rows, groups = scale.shape
    views = (
        ("tt.reshape", scale.shape),
        ("tt.trans", None),
        ("tt.reshape", (rows // 128, groups // 4, 32, 4, 4)),
    )
    value = scale
    for name, shape in views:
        op = through_converts(value).op
        if op is None or op.name != name or (shape is not None and op.results[0].shape != shape):
            return False
        if name == "tt.trans" and tuple(op.attrs["order"]) != (0, 3, 2, 1, 4):
            return False
        value = op.operands[0]
    source = through_converts(value).op
    return source is not None and source.name in ("tt.load", "tt.descriptor_load")


def _scales_in_memory(scale: GValue) -> GValue:
    value = through_converts(scale)
    buffer = GValue(value.type, packed_scales_memory(value.shape), memory="shared")
    assert value.op is not None
    alloc = GOp("ttg.local_alloc", [value], [buffer], {}, line=value.op.line, path=value.op.path)
    return alloc.insert_after(value.op).result


def _scales_in_tensor_memory(scale: GValue, num_warps: int, before: GOp) -> GValue:
    converted = insert_convert(scale, tensor_memory_scales(scale.shape, num_warps), before)
    buffer = GValue(scale.type, TensorMemoryScales(), memory="tensor")
    alloc = GOp("ttng.tmem_alloc", [converted], [buffer], {"has_token": False})
    alloc.line, alloc.path = before.line, before.path
    return alloc.insert_before(before).result


def tensor_memory(result: GValue, block_m: int, block_n: int) -> TensorMemory:
    """The encoding of an accumulator in tensor memory."""
    cta = cta_of(result.encoding)
    split = cta.split if cta is not None else (1, 1)
    stride = 32 // result.type.bits
    return TensorMemory(block_m, block_n, stride, False, False, split[-2], split[-1])


def _true(op: GOp) -> GValue:
    new = GOp("arith.constant", (), [GValue(ir.Type("i1"))], {"value": True}, line=op.line, path=op.path)
    new.insert_before(op)
    return new.result


def store_in_tensor_memory(
    op: GOp,
    graph: Graph,
    accumulator: GValue,
    memory: TensorMemory,
    name: str,
    before_accumulator: list[GValue],
    after_accumulator: list[GValue],
    attrs: dict[str, object] | None = None,
) -> None:
    """Replace a dot by: accumulator to tensor memory, the product on it, and a load back."""
    result = op.results[0]
    cta = cta_of(result.encoding)
    layout = default_layout(result.shape, memory, result.type.bits, graph.num_warps, cta)
    if layout is None:
        return
    token = ir.Type("token")
    source = insert_convert(accumulator, layout, op)
    buffer = GValue(result.type, memory, memory="tensor", mutable=True)
    alloc = GOp("ttng.tmem_alloc", [source], [buffer, GValue(token)], {"has_token": True})
    mma = GOp(
        name,
        [*before_accumulator, buffer, alloc.results[1], *after_accumulator],
        [GValue(token)],
        {**op.attrs, "has_token": True, **(attrs or {})},
    )
    load = GOp(
        "ttng.tmem_load",
        [buffer, mma.results[0]],
        [result.like(layout), GValue(token)],
        {"has_token": True},
    )
    for new in (alloc, mma, load):
        new.line, new.path = op.line, op.path
        new.insert_before(op)
    op.replace_with([insert_convert(load.results[0], result.encoding, op)])


def nvmma_shared(
    shape: tuple[int, ...],
    order: tuple[int, ...],
    bits: int,
    cta: CtaLayout | None,
    fp4_padded: bool = False,
) -> NvmmaShared:
    """The shared encoding with the widest swizzle that the rows allow."""
    part = shape_per_cta(shape, cta)
    row_bytes = part[order[0]] * (2 if fp4_padded else 1) * bits // 8
    width = next((w for w in (128, 64, 32) if row_bytes >= w and row_bytes % w == 0), 0)
    rows = 1
    for dim in order[1:]:
        rows *= part[dim]
    if len(part) < 2 or rows < 8:
        width = 0
    return NvmmaShared(width, len(order) > 1 and order[0] == 0, bits, fp4_padded, cta)


def through_converts(value: GValue) -> GValue:
    while value.op is not None and value.op.name == "ttg.convert_layout":
        value = value.op.operands[0]
    return value


def shared_operand(
    value: GValue, op_idx: int, any_order: bool, fp4_padded: bool = False, swap_order: bool = False
) -> GValue:
    """The value put in shared memory, as wgmma and tcgen05 read it; K fastest unless any order will do."""
    value = through_converts(value)
    order = order_for_memory(value.encoding, value.shape)
    if not any_order:
        order = (0, 1) if op_idx == 1 else (1, 0)
        if swap_order:
            order = (order[1], order[0])
    encoding = nvmma_shared(value.shape, order, value.type.bits, cta_of(value.encoding), fp4_padded)
    alloc = GOp("ttg.local_alloc", [value], [GValue(value.type, encoding, memory="shared")])
    if value.op is not None:
        alloc.line, alloc.path = value.op.line, value.op.path
        alloc.insert_after(value.op)
    else:
        assert value.block is not None
        alloc.prepend_to(value.block)
    return alloc.result


def comes_from_load(value: GValue) -> bool:
    """Whether a value is read from memory as it is (or is carried by a loop)."""
    while value.op is not None and value.op.name in ("ttg.convert_layout", "tt.trans"):
        value = value.op.operands[0]
    return value.op is None or value.op.name == "tt.load" or value.op.name in DESCRIPTOR_LOADS


def _on_the_way(op: GOp) -> bool:
    if op.name in ("ttg.fp4_to_fp", "tt.load", "tt.broadcast", "ttg.convert_layout") or op.name in VIEWS:
        return True
    return op.name in DESCRIPTOR_LOADS or (is_elementwise(op) and is_pure(op))


def loaded_bits(value: GValue, release: Release) -> int:
    """Bits of the narrowest element that an operand is loaded as, before it is converted
    (computeOrigBitWidth)."""
    if release.casts_tell_loaded_bits:
        return _bits_before_casts(value)
    found = backward_slice(value, _on_the_way, through_block_arguments=False)
    if any(op.name == "ttg.fp4_to_fp" for op in found):
        return 4
    bits = value.type.bits
    for op in found:
        if (op.name == "tt.load" or op.name in DESCRIPTOR_LOADS) and op.results[0].is_tensor:
            bits = min(bits, op.results[0].type.bits)
    if release.join_widens_k and any(_joins_halves(op, bits, release) for op in found):
        bits //= 2
    return bits


def _bits_before_casts(value: GValue) -> int:
    """The bits of an operand before its casts, but not wider: the first of the chain that changes them counts."""
    bits = value.type.bits
    chain: list[GValue] = []
    op = value.op
    while op is not None and _is_cast(op):
        value = op.operands[0]
        if value.is_tensor:
            chain.append(value)
        op = value.op
    for before in reversed(chain):
        if before.type.bits != bits:
            return min(bits, before.type.bits)
    return bits


def _is_cast(op: GOp) -> bool:
    if len(op.operands) != 1:
        return False
    names = ("tt.fp_to_fp", "tt.bitcast", "ttg.convert_layout", "tt.elementwise_inline_asm")
    return op.name in names or op.name.startswith("arith.")


def _joins_halves(op: GOp, bits: int, release: Release) -> bool:
    if op.name != "tt.join":
        return False
    if not release.join_checks_packing:
        return True
    result = op.results[0]
    rank = len(result.shape)
    order = order_of(result.encoding, result.shape)
    return rank >= 2 and result.type.bits == bits * 2 and order[:2] == (rank - 1, rank - 2)


def _promote_operands(graph: Graph, capability: int) -> None:
    """Operand types that the chosen path cannot take are widened (decomposeMixedModeDotOp)."""
    for op in graph.walk():
        if op.name != "tt.dot":
            continue
        a, result = op.operands[0], op.results[0]
        if isinstance(result.encoding, NvidiaMma):
            if a.type.element not in ("fp8e4nv", "fp8e5") or result.encoding.version == 3:
                continue
            if capability == 89 or 120 <= capability < 130:
                continue
            wide = "fp16"
        else:
            if a.type.element == result.type.element:
                continue
            wide = result.type.element
        for position in (0, 1):
            value = op.operands[position]
            name = "tt.fp_to_fp" if value.type.bits == 8 else "arith.extf"
            new = GOp(
                name,
                [value],
                [GValue(value.type.with_element(wide), value.encoding)],
                line=op.line,
                path=op.path,
            )
            new.insert_before(op)
            op.set_operand(position, new.result)
