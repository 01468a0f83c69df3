"""The pass optimize-thread-locality: encodings of reshapes, gathers and reductions that let threads work
alone.

lib/Dialect/TritonGPU/Transforms/OptimizeThreadLocality.cpp.
"""

from __future__ import annotations

import math

from tritonlint.compiler.blocked import blocked_in_cluster
from tritonlint.compiler.convert_cleanup import erase_dead
from tritonlint.compiler.encodings import Blocked, Distributed, Slice, cta_of
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.inference import cta_insert, infer_dst, is_expensive_view, reshaped
from tritonlint.compiler.layout_properties import (
    elements_per_thread_by_dim,
    order_of,
    thread_order_of,
    warp_order_of,
)
from tritonlint.compiler.releases import Release

_NEUTRAL = {
    "arith.addf": -0.0,
    "arith.mulf": 1.0,
    "arith.maximumf": -math.inf,
    "arith.maxnumf": -math.inf,
    "arith.minimumf": math.inf,
    "arith.minnumf": math.inf,
}


def optimize_thread_locality(graph: Graph, release: Release) -> None:
    """Rewrite reshapes, gathers and accumulated reductions, in place."""
    for op in list(graph.walk()):
        if op.name == "tt.reshape":
            _reshape(op, graph)
        elif op.name == "tt.gather" and not op.attrs.get("efficient_layout"):
            _gather(op, graph)
    for op in [op for op in graph.walk_post() if op.name == "tt.reduce" and _accumulates_in_loop(op)]:
        _reduce_after_loop(op, release)
    erase_dead(graph)


def _convert_result(op: GOp, encoding: Distributed) -> None:
    """Give the result another encoding, its users a conversion to the old one."""
    result = op.results[0]
    users = list(result.uses)
    back = GOp("ttg.convert_layout", [result], [result.like(result.encoding)], line=op.line, path=op.path)
    back.insert_after(op)
    result.replace_uses_if(back.result, lambda user: user in users)
    result.encoding = encoding


def _reshape(op: GOp, graph: Graph) -> None:
    if not op.attrs.get("allow_reorder"):
        return
    axes = {user.attrs["axis"] for user in op.results[0].uses if user.name == "tt.reduce"}
    if len(axes) != 1:
        return
    axis = axes.pop()
    result = op.results[0]
    encoding = result.encoding
    if (
        isinstance(encoding, Blocked)
        and encoding.threads_per_warp[axis] == 1
        and encoding.warps_per_cta[axis] == 1
        and (encoding.cta_layout is None or all(not basis[axis] for basis in encoding.cta_layout.bases))
    ):
        return
    shape = result.shape
    order = (*(dim for dim in order_of(encoding, shape) if dim != axis), axis)
    new = blocked_in_cluster(
        shape, (1,) * len(shape), order, graph.num_warps, graph.threads_per_warp, graph.num_ctas
    )
    source = op.operands[0]
    if new == encoding or is_expensive_view(source.shape, source.encoding, shape, new):
        return
    op.attrs["efficient_layout"] = True
    _convert_result(op, new)


def _gather(op: GOp, graph: Graph) -> None:
    """All of a column that is gathered from in one warp, so that shuffles do (setOptimizedGatherLayout)."""
    source, index = op.operands
    rank = len(source.shape)
    if rank == 1:
        return
    axis = op.attrs["axis"]
    lanes_of, warps_of = [0] * rank, [0] * rank
    order = [axis]
    lanes_of[axis] = min(source.shape[axis], graph.threads_per_warp)
    lanes = graph.threads_per_warp // lanes_of[axis]
    for dim in thread_order_of(source.encoding, source.shape):
        if dim != axis:
            order.append(dim)
            lanes_of[dim] = min(source.shape[dim], lanes)
            lanes //= lanes_of[dim]
    warps_of[axis] = 1
    warps = graph.num_warps
    for dim in warp_order_of(source.encoding, source.shape):
        if dim != axis:
            warps_of[dim] = min(max(source.shape[dim] // lanes_of[dim], 1), warps)
            warps //= warps_of[dim]
    sizes = [1] * rank
    sizes[axis] = max(source.shape[axis], index.shape[axis]) // lanes_of[axis]
    lanes_of[axis] *= lanes
    warps_of[axis] *= warps
    new = Blocked(tuple(sizes), tuple(lanes_of), tuple(warps_of), tuple(order), cta_of(source.encoding))
    for position in (0, 1):
        value = op.operands[position]
        convert = GOp("ttg.convert_layout", [value], [value.like(new)], line=op.line, path=op.path)
        convert.insert_before(op)
        op.set_operand(position, convert.result)
    op.attrs["efficient_layout"] = True
    _convert_result(op, new)


def _combining_op(op: GOp) -> GOp | None:
    return op.body.ops[0] if len(op.body.ops) == 2 else None


def _accumulates_in_loop(op: GOp) -> bool:
    """A row-wise reduction of loaded data whose result is only added up over a loop."""
    combining = _combining_op(op)
    source = op.operands[0]
    rank = len(source.shape)
    if combining is None or combining.name not in _NEUTRAL:
        return False
    if not isinstance(source.encoding, Blocked) or rank < 2 or op.attrs["axis"] != rank - 1:
        return False
    if any(operand.op is None or operand.op.name != "tt.load" for operand in op.operands):
        return False
    if elements_per_thread_by_dim(source.encoding, source.shape)[rank - 1] == 1:
        return False
    if len(op.results) != 1 or not op.results[0].has_one_use:
        return False
    update = next(iter(op.results[0].uses))
    if len(update.results) != 1 or len(update.operands) != 2 or not update.results[0].has_one_use:
        return False
    terminator = next(iter(update.results[0].uses))
    loop = terminator.parent
    if terminator.name != "scf.yield" or loop is None or loop.name != "scf.for":
        return False
    if op.block is not loop.body:
        return False
    place = terminator.operands.index(update.results[0])
    init = loop.operands[place + 3].op
    if init is None or init.name != "arith.constant":
        return False
    other = update.operands[0] if update.operands[1] is op.results[0] else update.operands[1]
    return other is loop.body.args[place + 1] and loop.results[place].has_one_use


def _append(values: tuple[int, ...], value: int) -> tuple[int, ...]:
    return (*values, value)


def _reduce_after_loop(op: GOp, release: Release) -> None:
    """Each thread adds up its own elements in the loop; threads are only combined after it."""
    source = op.operands[0]
    blocked = source.encoding
    assert isinstance(blocked, Blocked)
    shape = source.shape
    rank = len(shape)
    axis = rank - 1
    mine = elements_per_thread_by_dim(blocked, shape)[axis]
    view_shape = (*shape[:-1], shape[-1] // mine, mine)
    sizes = list(_append(blocked.size_per_thread, blocked.size_per_thread[axis]))
    sizes[axis] = 1
    encoding = Blocked(
        tuple(sizes),
        _append(blocked.threads_per_warp, 1),
        _append(blocked.warps_per_cta, 1),
        (rank, *blocked.order),
        cta_insert(blocked.cta_layout, rank),
    )
    update = next(iter(op.results[0].uses))
    loop = op.parent
    assert loop is not None
    terminator = loop.body.terminator
    place = terminator.operands.index(update.results[0])
    old_init = loop.operands[place + 3]
    old_result = loop.results[place]
    user = next(iter(old_result.uses))
    combining = _combining_op(op)
    assert combining is not None and old_init.op is not None
    accumulated = GValue(old_init.type.with_shape(view_shape[:-1]), Slice(rank, encoding))
    init = GOp("arith.constant", (), [accumulated], {"value": _NEUTRAL[combining.name]})
    init.insert_after(old_init.op)
    loop.add_operand(init.result)
    carried = loop.body.add_arg(accumulated.like(accumulated.encoding))
    total = loop.add_result(accumulated.like(accumulated.encoding))

    view = _local_view(op, source, view_shape, encoding, release)
    inner = op.clone({source: view})
    inner.attrs["axis"] = rank
    inner.results[0].type = old_init.type.with_shape(view_shape[:-1])
    inner.results[0].encoding = Slice(rank, encoding)
    inner.insert_after(op)
    new_update = update.clone({update.operands[0]: carried, update.operands[1]: inner.results[0]})
    new_update.results[0].type = accumulated.type
    new_update.results[0].encoding = accumulated.encoding
    new_update.insert_after(inner)
    terminator.set_operand(place, loop.body.args[place + 1])
    terminator.add_operand(new_update.results[0])

    last = op.clone({source: total})
    last.results[0].encoding = infer_dst(last, total.encoding)
    last.insert_after(loop)
    convert = GOp(
        "ttg.convert_layout",
        [last.results[0]],
        [old_result.like(old_result.encoding)],
        line=op.line,
        path=op.path,
    )
    convert.insert_after(last)
    final = update.clone({update.operands[0]: old_init, update.operands[1]: convert.result})
    final.results[0].encoding = old_init.encoding
    final.insert_after(convert)
    for position, operand in enumerate(user.operands):
        if operand is old_result:
            user.set_operand(position, final.results[0])


def _local_view(
    op: GOp, source: GValue, view_shape: tuple[int, ...], encoding: Blocked, release: Release
) -> GValue:
    """The tensor with the elements of one thread in a dimension of their own, nothing moving."""
    if not release.locality_keeps_order:
        attrs = {"allow_reorder": True, "efficient_layout": True}
        value = GValue(source.type.with_shape(view_shape), encoding)
        view = GOp("tt.reshape", [source], [value], attrs, line=op.line, path=op.path)
        return view.insert_before(op).result
    shape = source.shape
    rank = len(shape)
    blocked = source.encoding
    size = min(blocked.size_per_thread[rank - 1], view_shape[-1])
    factors = (*shape[:-1], view_shape[-1] // size, view_shape[rank - 1], size)
    first = GValue(source.type.with_shape(factors), reshaped(shape, blocked, factors, None, False))
    factored = GOp("tt.reshape", [source], [first], {"allow_reorder": False})
    order = (*range(rank - 1), rank, rank - 1, rank + 1)
    swapped = GValue(first.type.with_shape(tuple(factors[dim] for dim in order)))
    trans = GOp("tt.trans", [first], [swapped], {"order": order})
    swapped.encoding = infer_dst(trans, first.encoding)
    flat = GValue(
        first.type.with_shape(view_shape), reshaped(swapped.shape, swapped.encoding, view_shape, None, False)
    )
    view = GOp("tt.reshape", [swapped], [flat], {"allow_reorder": False, "efficient_layout": True})
    convert = GOp("ttg.convert_layout", [flat], [flat.like(encoding)])
    for new in (factored, trans, view, convert):
        new.line, new.path = op.line, op.path
        new.insert_before(op)
    return convert.result
