"""The pass optimize-dot-operands on NVIDIA: transposes and reshapes of operands become views of shared
memory.

lib/Dialect/TritonGPU/Transforms/OptimizeDotOperands.cpp.
"""

from __future__ import annotations

from collections.abc import Callable

from tritonlint.compiler.convert_cleanup import clean_converts
from tritonlint.compiler.encodings import DotOperand, NvidiaMma, NvmmaShared, SharedLinear, cta_of
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.inference import cta_permute, inverse_permutation
from tritonlint.compiler.layout_properties import order_for_memory
from tritonlint.compiler.linear import LinearLayout, dim_offsets, log2, reshape, transpose
from tritonlint.compiler.pipeline_loads import offset_bits, swizzled_for_operand
from tritonlint.compiler.releases import Release

_MMA = frozenset({"ttng.warp_group_dot", "ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled"})


def optimize_dot_operands(graph: Graph, release: Release) -> None:
    """Rewrite what feeds the dots, in place."""
    for _ in range(8):
        changed = False
        for op in list(graph.walk()):
            if op.block is None:
                continue
            pattern = _PATTERNS.get(op.name)
            if pattern is not None and pattern(op, release):
                changed = True
        clean_converts(graph)
        if not changed:
            return


def _convert(op: GOp, release: Release) -> bool:
    if _swizzle_transposed_operand(op, release):
        return True
    return release.operand_hoisting == "stepwise" and _above_elementwise(op)


def _above_elementwise(op: GOp) -> bool:
    """convert(f(x)) to a dot operand becomes f(convert(x)) where that leads up to a load (up to 3.2)."""
    result = op.results[0]
    source = op.operands[0].op
    if not isinstance(result.encoding, DotOperand) or source is None or not source.operands:
        return False
    if len(source.results) != 1 or not all(operand.is_tensor for operand in source.operands):
        return False
    if not _lets_conversions_pass(source) or source.name in _NOT_IN_OPERANDS:
        return False
    found_load = False
    for before in _made_from_in_block(op):
        if before.name == "tt.load":
            found_load = True
        elif found_load and not _lets_conversions_pass(before):
            return False
    if not found_load:
        return False
    operands = []
    for operand in source.operands:
        value = GValue(operand.type, result.encoding)
        convert = GOp("ttg.convert_layout", [operand], [value], line=op.line, path=op.path)
        operands.append(convert.insert_before(op).result)
    copy = source.clone().insert_before(op)
    copy.set_operands(operands)
    copy.results[0].encoding = result.encoding
    op.replace_with(copy.results)
    return True


_NOT_IN_OPERANDS = frozenset({"arith.trunci", "arith.truncf", "arith.select"})


def _lets_conversions_pass(op: GOp) -> bool:
    if op.name == "tt.elementwise_inline_asm":
        return bool(op.attrs.get("pure")) and len(op.operands) == 1 and len(op.results) == 1
    return op.name in ("tt.fp_to_fp", "tt.bitcast") or op.name.startswith("arith.")


def _made_from_in_block(op: GOp) -> list[GOp]:
    """What an operation depends on in its own block, operands before their users."""
    found: dict[GOp, None] = {}
    stack: list[tuple[GOp, int]] = [(op, 0)]
    active = {op}
    while stack:
        current, position = stack.pop()
        if position < len(current.operands):
            stack.append((current, position + 1))
            before = current.operands[position].op
            if before is not None and before.block is op.block and before not in active:
                active.add(before)
                stack.append((before, 0))
        elif current is not op:
            found[current] = None
    return list(found)


def _swizzle_transposed_operand(op: GOp, release: Release) -> bool:
    """convert(trans(x)) to a dot operand goes through memory that is read transposed."""
    result = op.results[0]
    encoding = result.encoding
    if not isinstance(encoding, DotOperand) or not result.has_one_use:
        return False
    if next(iter(result.uses)).name != "tt.dot":
        return False
    trans = op.operands[0].op
    if trans is None or trans.name != "tt.trans" or tuple(trans.attrs["order"]) != (1, 0):
        return False
    source = trans.operands[0]
    if source.op is not None and source.op.name == "ttg.convert_layout":
        source = source.op.operands[0]
    shared = swizzled_for_operand(
        # The memory holds the transpose: it is laid out as for the other operand.
        DotOperand(1 - encoding.op_idx, encoding.parent, encoding.k_width),
        source.shape,
        order_for_memory(source.encoding, source.shape),
        cta_permute(cta_of(source.encoding), (1, 0)),
        source.type.bits,
    )
    alloc = GOp("ttg.local_alloc", [trans.operands[0]], [GValue(source.type, shared, memory="shared")])
    view = transposed_view(alloc.result, (1, 0))
    load = GOp("ttg.local_load", [view.result], [result.like(encoding)])
    for new in (alloc, view, load):
        new.line, new.path = trans.line, trans.path
        new.insert_before(trans)
    op.set_operand(0, load.result)
    return True


def transposed_view(memory: GValue, order: tuple[int, ...]) -> GOp:
    """A detached ttg.memdesc_trans of a memory descriptor."""
    shape = tuple(memory.shape[dim] for dim in order)
    value = GValue(memory.type.with_shape(shape), memory.encoding, memory="shared", mutable=memory.mutable)
    value.encoding = transposed_memory(memory.encoding, memory.shape, order)
    return GOp("ttg.memdesc_trans", [memory], [value], {"order": order})


def transposed_memory(encoding: object, shape: tuple[int, ...], order: tuple[int, ...]) -> object:
    """The encoding of a transposed view of shared memory; None where there is no name for it."""
    from dataclasses import replace

    from tritonlint.compiler.encodings import SwizzledShared

    if order == tuple(range(len(order))):
        return encoding
    if isinstance(encoding, SwizzledShared):
        inverse = inverse_permutation(order)
        return replace(
            encoding,
            order=tuple(inverse[dim] for dim in encoding.order),
            cta_layout=cta_permute(encoding.cta_layout, order),
        )
    if isinstance(encoding, NvmmaShared) and order == (1, 0):
        return replace(
            encoding,
            transposed=not encoding.transposed,
            cta_layout=cta_permute(encoding.cta_layout, order),
        )
    if isinstance(encoding, SharedLinear):
        moved = transpose(LinearLayout(shape, encoding.offset, (), ()), order)
        return SharedLinear(moved.shape, moved.register, encoding.alignment)
    return None


def reshaped_memory(encoding: object, shape: tuple[int, ...], new_shape: tuple[int, ...]) -> object:
    """The encoding of a reshaped view of shared memory; None where there is no name for it."""
    if isinstance(encoding, SharedLinear):
        moved = reshape(LinearLayout(shape, encoding.offset, (), ()), new_shape)
        return SharedLinear(new_shape, moved.register, encoding.alignment)
    if not isinstance(encoding, NvmmaShared) or encoding.cta_layout is not None:
        return None
    inner = 0 if encoding.transposed else -1
    before, after = offset_bits(encoding, shape), offset_bits(encoding, new_shape)
    if shape[inner] != new_shape[inner] or before is None or after is None:
        return None
    positions = tuple(1 << bit for bit in range(len(before)))
    places = reshape(LinearLayout(shape, positions, (), ()), new_shape).register
    same = all(after[place.bit_length() - 1] == before[bit] for bit, place in enumerate(places))
    return encoding if same else None


def _only_user(value: GValue) -> GOp | None:
    return next(iter(value.uses)) if value.has_one_use else None


def _alloc(op: GOp, release: Release) -> bool:
    return _fuse_transpose(op) or _reshape_in_memory(op)


def _fuse_transpose(op: GOp) -> bool:
    """Memory made of a transpose, for wgmma or tcgen05, becomes a transposed view of memory."""
    if not op.operands:
        return False
    result = op.results[0]
    user = _only_user(result)
    if user is None or user.name not in _MMA or not isinstance(result.encoding, NvmmaShared):
        return False
    trans = op.operands[0].op
    if trans is None or trans.name != "tt.trans" or tuple(trans.attrs["order"]) != (1, 0):
        return False
    source = trans.operands[0]
    inner = transposed_memory(result.encoding, source.shape, (1, 0))
    return _view_of_new_memory(op, source, inner, "ttg.memdesc_trans", {"order": (1, 0)})


def _reshape_in_memory(op: GOp) -> bool:
    if not op.operands:
        return False
    reshape = op.operands[0].op
    if reshape is None or reshape.name != "tt.reshape":
        return False
    source, result = reshape.operands[0], op.results[0]
    inner = reshaped_memory(result.encoding, result.shape, source.shape)
    if not isinstance(inner, NvmmaShared):
        return False
    return _view_of_new_memory(op, source, inner, "ttg.memdesc_reshape", {})


def _view_of_new_memory(op: GOp, source: GValue, inner: object, name: str, attrs: dict[str, object]) -> bool:
    result = op.results[0]
    alloc = GOp("ttg.local_alloc", [source], [GValue(source.type, inner, memory="shared")])
    view = GOp(name, [alloc.result], [GValue(result.type, result.encoding, memory="shared")], attrs)
    for new in (alloc, view):
        new.line, new.path = op.line, op.path
        new.insert_before(op)
    op.replace_with(view.results)
    return True


def _mma(op: GOp, release: Release) -> bool:
    if not release.views_to_shared_linear:
        return False
    places = [0, 1]
    if op.name == "ttng.tc_gen5_mma_scaled":
        places += [len(op.operands) - 4, len(op.operands) - 3]
    done = [_replay_views_in_memory(op.operands[place]) for place in places]
    return any(done)


def _replay_views_in_memory(operand: GValue) -> bool:
    """Reshapes and transposes of a tensor that goes to memory given by bases become views of that memory."""
    if not operand.memory or not isinstance(operand.encoding, SharedLinear):
        return False
    value = operand
    while value.op is not None and value.op.name in ("ttg.memdesc_reshape", "ttg.memdesc_trans"):
        value = value.op.operands[0]
    alloc = value.op
    if alloc is None or alloc.name != "ttg.local_alloc" or not alloc.operands:
        return False
    base = alloc.operands[0]
    encoding: object = value.encoding
    steps: list[GOp] = []
    while base.op is not None and base.op.name in ("tt.reshape", "tt.trans"):
        step = base.op
        source, result = step.operands[0], step.results[0]
        if step.name == "tt.reshape":
            encoding = reshaped_memory(encoding, result.shape, source.shape)
        else:
            encoding = transposed_memory(
                encoding, result.shape, inverse_permutation(tuple(step.attrs["order"]))
            )
        if encoding is None:
            return False
        steps.append(step)
        base = source
    if not steps:
        return False
    tile = _tile_in_order(base, encoding) if steps[-1].name == "tt.reshape" else None
    new = GOp("ttg.local_alloc", [base], [GValue(base.type, tile or encoding, memory="shared")])
    new.line, new.path = alloc.line, alloc.path
    new.insert_before(alloc)
    memory = new.result
    for step in reversed(steps):
        result = step.results[0]
        if step.name == "tt.reshape":
            of_memory = encoding if memory is new.result else memory.encoding
            view_encoding = reshaped_memory(of_memory, memory.shape, result.shape)
            view = GOp("ttg.memdesc_reshape", [memory], [GValue(result.type, view_encoding, memory="shared")])
        else:
            view = transposed_view(memory, tuple(step.attrs["order"]))
        view.line, view.path = step.line, step.path
        view.insert_before(alloc)
        memory = view.result
    memory.encoding = value.encoding
    alloc.replace_with([memory])
    return True


def _tile_in_order(value: GValue, encoding: object) -> NvmmaShared | None:
    """What memory that a descriptor's tile fills in order, each element after the one before, is called."""
    load = value.op
    if load is None or load.name != "tt.descriptor_load" or not isinstance(encoding, SharedLinear):
        return None
    rows = reversed(range(len(value.shape)))
    offsets = dim_offsets(value.shape)
    in_order = [1 << (offsets[dim] + bit) for dim in rows for bit in range(log2(value.shape[dim]))]
    return NvmmaShared(0, False, value.type.bits) if list(encoding.offset) == in_order else None


def _wgmma(op: GOp, release: Release) -> bool:
    if release.wgmma_left_in_registers:
        return _mma(op, release)
    return _take_left_operand(op)


def _take_left_operand(op: GOp) -> bool:
    """Up to 3.2: operand A that is the result of another wgmma leaves memory, if it fits as it lies."""
    alloc = op.operands[0].op
    if alloc is None or alloc.name != "ttg.local_alloc" or not alloc.operands:
        return False
    source = alloc.operands[0]
    encoding = source.encoding
    if not isinstance(encoding, NvidiaMma) or encoding.version != 3 or encoding.warps_per_cta[1] != 1:
        return False
    if source.type.bits not in (8, 16):
        return False
    operand = DotOperand(0, encoding, 32 // source.type.bits)
    convert = GOp("ttg.convert_layout", [source], [source.like(operand)], line=op.line, path=op.path)
    convert.insert_before(op)
    op.set_operand(0, convert.result)
    return True


_PATTERNS: dict[str, Callable[[GOp, Release], bool]] = {
    "ttg.convert_layout": _convert,
    "ttg.local_alloc": _alloc,
    "ttng.warp_group_dot": _wgmma,
    "ttng.tc_gen5_mma": _mma,
    "ttng.tc_gen5_mma_scaled": _mma,
}
