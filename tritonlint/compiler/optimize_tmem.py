"""The pass optimize-tmem-layouts: loads of tensor memory that a reduction or a split follows.

lib/Dialect/TritonNvidiaGPU/Transforms/OptimizeTMemLayouts.cpp. The patterns that pick other access shapes for
values that come from or go to shared memory unvectorized are left out: rows that the model meets are
vectorized.
"""

from __future__ import annotations

from tritonlint.compiler.convert_cleanup import erase_dead
from tritonlint.compiler.encodings import TensorMemory
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.ops import is_elementwise
from tritonlint.compiler.releases import Release
from tritonlint.compiler.tmem_layouts import default_layout, row_layout
from tritonlint.kernel import ir


def optimize_tmem_layouts(graph: Graph, release: Release) -> None:
    """Rewrite loads and stores of tensor memory, in place."""
    for _ in range(4):
        changed = False
        for op in graph.all_ops():
            if op.block is None:
                continue
            if op.name == "tt.split":
                changed |= _split_load(op, graph)
            elif op.name == "ttng.tmem_store" and release.splits_joined_tmem_stores:
                changed |= _joined_store(op, graph)
        if not changed:
            break
    erase_dead(graph)
    if graph.num_warps == 8:
        for op in graph.all_ops():
            if op.name == "ttng.tmem_load":
                _rows_in_warps(op, graph)


def _without_converts(value: GValue) -> GOp | None:
    while value.op is not None and value.op.name == "ttg.convert_layout":
        value = value.op.operands[0]
    return value.op


def _half(memory: GValue, columns: int) -> GValue:
    shape = (memory.shape[0], columns)
    return GValue(
        memory.type.with_shape(shape),
        memory.encoding,
        memory="tensor",
        mutable=memory.mutable,
        alloc_shape=memory.alloc_shape or memory.shape,
    )


def _subslice(memory: GValue, offset: int, columns: int, before: GOp) -> GValue:
    new = GOp("ttng.tmem_subslice", [memory], [_half(memory, columns)], {"offset": offset})
    new.line, new.path = before.line, before.path
    return new.insert_before(before).result


def _splits_columns(trans: GOp | None) -> GOp | None:
    """The reshape in front of a transpose that brings two halves of the columns side by side."""
    if trans is None or trans.name != "tt.trans" or tuple(trans.attrs["order"]) != (0, 2, 1):
        return None
    reshape = trans.operands[0].op
    return reshape if reshape is not None and reshape.name == "tt.reshape" else None


def _split_load(op: GOp, graph: Graph) -> bool:
    reshape = _splits_columns(_without_converts(op.operands[0]))
    if reshape is None:
        return False
    load = _without_converts(reshape.operands[0])
    if load is None or load.name != "ttng.tmem_load":
        return False
    memory = load.operands[0]
    shape = reshape.results[0].shape
    if shape[0] != load.results[0].shape[0] or memory.shape[0] != 128 or shape[2] < 8:
        return False
    columns = shape[2]
    halves: list[GValue] = []
    for place in (0, 1):
        part = _subslice(memory, place * columns, columns, load)
        layout = default_layout(part.shape, part.encoding, part.type.bits, graph.num_warps)
        if layout is None:
            return False
        result = op.results[place]
        new = GOp("ttng.tmem_load", [part], [result.like(layout)], {"has_token": False})
        back = GOp("ttg.convert_layout", [new.result], [result.like(result.encoding)])
        for made in (new, back):
            made.line, made.path = load.line, load.path
            made.insert_before(load)
        halves.append(back.result)
    op.replace_with(halves)
    return True


def _joined_store(op: GOp, graph: Graph) -> bool:
    value = op.operands[-2]
    reshape = _without_converts(value)
    if reshape is None or reshape.name != "tt.reshape":
        return False
    trans = reshape.operands[0].op
    if trans is None or trans.name != "tt.trans" or tuple(trans.attrs["order"]) != (0, 2, 1):
        return False
    join = trans.operands[0].op
    memory = op.operands[0]
    shape = reshape.operands[0].shape
    if join is None or join.name != "tt.join" or reshape.results[0].shape[0] != shape[0]:
        return False
    if memory.shape[0] != 128 or shape[2] < 8:
        return False
    predicate = GOp("arith.constant", (), [GValue(ir.Type("i1"))], {"value": True}).insert_before(op)
    for place, half in enumerate(join.operands):
        part = _subslice(memory, place * shape[2], shape[2], op)
        layout = default_layout(part.shape, part.encoding, part.type.bits, graph.num_warps)
        if layout is None:
            return False
        convert = GOp("ttg.convert_layout", [half], [half.like(layout)], line=op.line, path=op.path)
        convert.insert_before(op)
        attrs = {"has_token": False}
        store = GOp("ttng.tmem_store", [part, convert.result, predicate.result], (), attrs, line=op.line)
        store.insert_before(op)
    op.replace_with([])
    return True


def _reduced_along_rows(load: GOp) -> bool:
    """Whether elementwise work on the load ends in a reduction over its columns."""
    found = False
    seen: set[GOp] = set()
    queue = list(load.results[0].uses)
    while queue:
        op = queue.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.name == "tt.reduce":
            found = op.attrs["axis"] == 1
        elif op.name == "ttg.convert_layout" or is_elementwise(op):
            for result in op.results:
                queue.extend(result.uses)
    return found


def _rows_in_warps(load: GOp, graph: Graph) -> None:
    memory, result = load.operands[0], load.results[0]
    if not isinstance(memory.encoding, TensorMemory) or not _reduced_along_rows(load):
        return
    layout = row_layout(memory.shape, memory.encoding, memory.type.bits, graph.num_warps)
    if layout is None or layout == result.encoding:
        return
    back = GOp("ttg.convert_layout", [result], [result.like(result.encoding)], line=load.line, path=load.path)
    back.insert_after(load)
    result.encoding = layout
    result.replace_uses_if(back.result, lambda user: user is not back)
