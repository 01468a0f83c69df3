"""Unrolls the loops that ask for it: tl.range(loop_unroll_factor=).

lib/Dialect/Triton/Transforms/LoopUnroll.cpp. The iterations that are left over stay a loop of their own,
which is not pipelined.
"""

from __future__ import annotations

from tritonlint.compiler.graph import GBlock, GOp, Graph, GValue
from tritonlint.compiler.loop_cleanup import constant_of

_MOST = 64
"""Factors above this are left alone: the copies would make the model slow."""


def unroll_loops(graph: Graph) -> None:
    """Unroll in place, inner loops first."""
    for op in graph.all_ops_post():
        factor = op.attrs.get("loop_unroll_factor", 1) if op.name == "scf.for" else 1
        if factor > 1:
            del op.attrs["loop_unroll_factor"]
            if factor <= _MOST:
                _unroll(op, factor)


def _arith(name: str, left: GValue, right: GValue, before: GOp) -> GValue:
    op = GOp(name, [left, right], [GValue(left.type)], line=before.line, path=before.path)
    return op.insert_before(before).result


def _constant(value: int, like: GValue, before: GOp) -> GValue:
    op = GOp("arith.constant", [], [GValue(like.type)], {"value": value}, line=before.line, path=before.path)
    return op.insert_before(before).result


def _unroll(loop: GOp, factor: int) -> None:
    lower, upper, step = loop.operands[:3]
    numbers = [constant_of(value) for value in (lower, upper, step)]
    if None not in numbers:
        first, last, stride = (int(number or 0) for number in numbers)
        if stride <= 0:
            return
        trips = max(-(-(last - first) // stride), 0)
        if trips == 0:
            return
        main_end = first + (trips - trips % factor) * stride
        main_upper = _constant(main_end, upper, loop)
        rest = main_end < last
        main_step = _constant(stride * factor, step, loop)
    else:
        span = _arith("arith.subi", upper, lower, loop)
        trips_value = _arith("arith.ceildivui", span, step, loop)
        count = _constant(factor, step, loop)
        left = _arith("arith.remsi", trips_value, count, loop)
        whole = _arith("arith.subi", trips_value, left, loop)
        main_upper = _arith("arith.addi", lower, _arith("arith.muli", whole, step, loop), loop)
        main_step = _arith("arith.muli", step, count, loop)
        rest = True
    if rest:
        _keep_rest(loop, main_upper)
    loop.set_operand(1, main_upper)
    _repeat_body(loop, step, factor)
    loop.set_operand(2, main_step)


def _keep_rest(loop: GOp, start: GValue) -> None:
    """A loop behind the unrolled one for the iterations that are left over."""
    rest = loop.clone()
    rest.insert_after(loop)
    rest.attrs["num_stages"] = 1
    for old, new in zip(loop.results, rest.results, strict=True):
        old.replace_all_uses(new)
    rest.set_operands([start, *rest.operands[1:3], *loop.results])


def _repeat_body(loop: GOp, step: GValue, factor: int) -> None:
    body: GBlock = loop.body
    last = body.terminator
    ops = body.ops[:-1]
    carried = list(last.operands)
    for copy in range(1, factor):
        offset = _arith("arith.muli", step, _constant(copy, step, last), last)
        mapping = {body.args[0]: _arith("arith.addi", body.args[0], offset, last)}
        mapping.update(zip(body.args[1:], carried, strict=True))
        for op in ops:
            op.clone(mapping).insert_before(last)
        carried = [mapping.get(value, value) for value in last.operands]
    last.set_operands(carried)
