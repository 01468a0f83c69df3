"""A nest of two loops becomes one where the source asks for it: tl.range(flatten=True), FuseNestedLoops.cpp.

What stands before the inner loop runs under a condition at the start of each round of the inner loop, what
follows it under one at the end. The nest is copied for the case that the inner loop never runs.
"""

from __future__ import annotations

import re

from tritonlint.compiler.graph import GOp, Graph, GValue, defined_inside
from tritonlint.compiler.ops import is_pure, only_reads
from tritonlint.compiler.pipeline_loads import DOTS
from tritonlint.kernel import ir

_BOOL = ir.Type("i1")


def fuse_loops(graph: Graph) -> None:
    """Flatten the nests that ask for it, in place."""
    for outer in [op for op in graph.walk() if op.name == "scf.for" and op.attrs.get("flatten")]:
        if outer.block is None or any(op.name == "scf.for" for op in outer.ancestors()):
            continue
        loops = [op for op in outer.walk() if op.name == "scf.for"]
        if len(loops) != 1 or loops[0].block is not outer.body:
            continue
        inner = loops[0]
        _hoist_invariant(outer)
        _sink_to_epilogue(outer, inner)
        if _speculate(outer, inner):
            _fuse(outer, inner)


def _hoist_invariant(loop: GOp) -> None:
    """Pure operations of the body that do not depend on the loop move before it."""
    for op in list(loop.body.ops[:-1]):
        if not op.blocks and is_pure(op) and not any(defined_inside(value, loop) for value in op.operands):
            op.move_before(loop)


def _sink_to_epilogue(outer: GOp, inner: GOp) -> None:
    """What only the part behind the inner loop needs moves there."""
    ops = outer.body.ops
    at = ops.index(inner)
    after = set(ops[at + 1 :])
    sunk: set[GOp] = set()
    for op in reversed(ops[:at]):
        if not is_pure(op) or op.name in DOTS:
            continue
        users = [user for result in op.results for user in result.uses]
        if all(user.ancestor_in(outer.body) in after or user in sunk for user in users):
            sunk.add(op)
    rest = [op for op in ops[:at] if op not in sunk]
    outer.body.ops[:] = [*rest, inner, *(op for op in ops[:at] if op in sunk), *ops[at + 1 :]]


def _is_scalar(value: GValue) -> bool:
    return value.type.shape is None


def _speculate(outer: GOp, inner: GOp) -> bool:
    """Copy the nest without the inner loop, for the case that it is empty. False where the inner bounds
    change from round to round: then the nest stays."""
    hoisted: list[GOp] = []
    queue = list(inner.operands[:3])
    seen: set[GOp] = set()
    while queue:
        value = queue.pop(0)
        if not defined_inside(value, outer):
            continue
        op = value.op
        if op is None:
            return False
        if op in seen:
            continue
        if not (is_pure(op) or only_reads(op)) or not all(map(_is_scalar, (*op.operands, *op.results))):
            return False
        seen.add(op)
        hoisted.append(op)
        queue.extend(op.operands)
    for op in [op for op in outer.body.ops if op in seen]:
        op.move_before(outer)
    condition = GOp(
        "arith.cmpi",
        inner.operands[:2],
        [GValue(_BOOL)],
        {"predicate": "eq"},
        line=outer.line,
        path=outer.path,
    )
    condition.insert_before(outer)
    guard = GOp(
        "scf.if",
        (condition.result,),
        [GValue(result.type, result.encoding) for result in outer.results],
        line=outer.line,
        path=outer.path,
    )
    then, other = guard.add_block(), guard.add_block()
    mapping: dict[GValue, GValue] = {}
    copy = outer.clone(mapping)
    copy.attrs.pop("warp_specialize", None)
    copy.attrs.pop("flatten", None)
    copy.append_to(then)
    GOp("scf.yield", copy.results).append_to(then)
    for op in list(copy.body.ops):
        if op.name == "scf.for":
            op.replace_with(op.operands[3:])
    guard.insert_before(outer)
    for old, new in zip(outer.results, guard.results, strict=True):
        old.replace_all_uses(new)
    outer.detach()
    outer.append_to(other)
    GOp("scf.yield", outer.results).append_to(other)
    return True


def _outputs(ops: list[GOp], outer: GOp) -> list[GValue]:
    """Results that something behind these operations uses."""
    own = set(ops)
    return [
        result
        for op in ops
        for result in op.results
        if any(user.ancestor_in(outer.body) not in own for user in result.uses)
    ]


def _fresh(value: GValue) -> GValue:
    return GValue(value.type, value.encoding, memory=value.memory, mutable=value.mutable, name=value.name)


def _fuse(outer: GOp, inner: GOp) -> None:
    block = outer.body
    at = block.ops.index(inner)
    prologue, epilogue = block.ops[:at], block.ops[at + 1 : -1]
    outer_yield = block.terminator
    before = _outputs(prologue, outer)
    after = _outputs(epilogue, outer)
    index_type = outer.body.args[0].type

    def scalar(name: str, *operands: GValue, into: list[GOp], element: ir.Type = index_type) -> GValue:
        attrs = {"predicate": "eq"} if name == "arith.cmpi" else None
        op = GOp(name, operands, [GValue(element)], attrs, line=outer.line, path=outer.path)
        into.append(op)
        return op.result

    head: list[GOp] = []
    zero_op = GOp("arith.constant", (), [GValue(index_type)], {"value": 0})
    one_op = GOp("arith.constant", (), [GValue(index_type)], {"value": 1})
    head += (zero_op, one_op)
    zero, one = zero_op.result, one_op.result
    length = scalar("arith.subi", inner.operands[1], inner.operands[0], into=head)
    total = scalar("arith.muli", outer.operands[1], length, into=head)
    start = scalar("arith.subi", outer.operands[0], outer.operands[2], into=head)

    # What the fused loop carries: round of the inner loop, outer index, the outer loop's values, inner index,
    # the inner loop's values, what the prologue hands on.
    kept = [not defined_inside(init, outer) for init in inner.operands[3:]]
    inits = [zero, start, *outer.operands[3:], zero]
    for init, outside, result in zip(inner.operands[3:], kept, inner.results, strict=True):
        inits.append(init if outside else _placeholder(result, head))
    inits += [_placeholder(value, head) for value in before]
    fused = GOp(
        "scf.for",
        (zero, total, one, *inits),
        [_fresh(value) for value in inits],
        dict(outer.attrs),
        line=outer.line,
        path=outer.path,
    )
    fused.attrs.pop("flatten", None)
    if inner.attrs.get("warp_specialize"):
        fused.attrs["warp_specialize"] = inner.attrs["warp_specialize"]
    if inner.attrs.get("disallow_acc_multi_buffer"):
        fused.attrs["disallow_acc_multi_buffer"] = True
    stages = [loop.attrs["num_stages"] for loop in (outer, inner) if loop.attrs.get("num_stages") is not None]
    if stages:
        fused.attrs["num_stages"] = max(1, *stages)
    body = fused.add_block([GValue(index_type), *(_fresh(value) for value in inits)])
    args = body.args[1:]
    n_outer, n_inner = len(outer.results), len(inner.results)
    round_arg, i_arg = args[0], args[1]
    outer_args = args[2 : 2 + n_outer]
    j_arg = args[2 + n_outer]
    inner_args = args[3 + n_outer : 3 + n_outer + n_inner]
    logue_args = args[3 + n_outer + n_inner :]
    for old, new in zip(outer.body.args[1:], outer_args, strict=True):
        old.replace_all_uses(new)

    ops: list[GOp] = []
    is_first = scalar("arith.cmpi", round_arg, zero, into=ops, element=_BOOL)
    moving = [position for position, outside in enumerate(kept) if not outside]
    first_results = [
        GValue(index_type),
        *(_fresh(value) for value in before),
        *(_fresh(inner.results[position]) for position in moving),
        GValue(index_type),
    ]
    first_if = GOp("scf.if", (is_first,), first_results, line=inner.line, path=inner.path)
    then = first_if.add_block()
    i_op = GOp("arith.addi", (i_arg, outer.operands[2]), [GValue(index_type)])
    then.ops = [i_op, *prologue]
    for op in then.ops:
        op.block = then
    then_ops = set(prologue)
    _replace_inside(outer.body.args[0], i_op.result, then_ops, outer.body.ops)
    GOp(
        "scf.yield",
        (inner.operands[0], *before, *(inner.operands[3 + position] for position in moving), i_op.result),
    ).append_to(then)
    other = first_if.add_block()
    GOp("scf.yield", (j_arg, *logue_args, *(inner_args[position] for position in moving), i_arg)).append_to(
        other
    )
    ops.append(first_if)
    j, i = first_results[0], first_results[-1]
    outs = first_results[1 : 1 + len(before)]
    started = dict(zip(moving, first_results[1 + len(before) : -1], strict=True))
    inside = _all_ops(first_if)
    for old, new in zip(before, outs, strict=True):
        old.replace_uses_if(new, lambda user: user not in inside)
    outer.body.args[0].replace_all_uses(i)
    inner.body.args[0].replace_all_uses(j)
    for position, arg in enumerate(inner.body.args[1:]):
        arg.replace_all_uses(started.get(position, inner_args[position]))
    inner_yield = inner.body.terminator
    ops += inner.body.ops[:-1]
    next_j = scalar("arith.addi", j, inner.operands[2], into=ops)
    yielded = list(inner_yield.operands)
    for old, new in zip(inner.results, yielded, strict=True):
        old.replace_all_uses(new)

    last_round = scalar("arith.subi", length, one, into=ops)
    is_last = scalar("arith.cmpi", round_arg, last_round, into=ops, element=_BOOL)
    held = [
        outer_args[position]
        for value in after
        for position, operand in enumerate(outer_yield.operands)
        if operand is value
    ][: len(after)]
    outside_places = [position for position, outside in enumerate(kept) if outside]
    last_results = [_fresh(value) for value in after] + [
        _fresh(inner.results[position]) for position in outside_places
    ]
    last_if = GOp("scf.if", (is_last,), last_results, line=inner.line, path=inner.path)
    then = last_if.add_block()
    then.ops = list(epilogue)
    for op in then.ops:
        op.block = then
    GOp("scf.yield", (*after, *(inner.operands[3 + position] for position in outside_places))).append_to(then)
    other = last_if.add_block()
    GOp("scf.yield", (*held, *(yielded[position] for position in outside_places))).append_to(other)
    ops.append(last_if)
    inside = _all_ops(last_if)
    for old, new in zip(after, last_results, strict=False):
        old.replace_uses_if(new, lambda user: user not in inside)
    for position, value in zip(outside_places, last_results[len(after) :], strict=True):
        yielded[position] = value
    next_round = scalar("arith.addi", round_arg, one, into=ops)
    rolled = scalar("arith.select", is_last, zero, next_round, into=ops)
    ops.append(GOp("scf.yield", (rolled, i, *outer_yield.operands, next_j, *yielded, *outs)))
    body.ops = ops
    for op in ops:
        op.block = body
    home = outer.block
    assert home is not None
    place = home.ops.index(outer)
    home.ops[place:place] = [*head, fused]
    for op in (*head, fused):
        op.block = home
    # The operations of both bodies have moved; what is left of the old loops goes without them.
    inner_yield.set_operands(())
    outer_yield.set_operands(())
    inner.body.ops = [inner_yield]
    block.ops = [inner, outer_yield]
    for old, new in zip(outer.results, fused.results[2 : 2 + n_outer], strict=True):
        old.replace_all_uses(new)
    outer.erase()


def _placeholder(value: GValue, into: list[GOp]) -> GValue:
    """What the loop carries before it has a value: a zero for numbers, else poison (createPoisonOrZero)."""
    numbers = not value.memory and re.fullmatch(r"(i|u|fp|bf)\d.*", value.type.element)
    if numbers:
        zero = 0.0 if value.type.element.startswith(("fp", "bf")) else 0
        op = GOp("arith.constant", (), [_fresh(value)], {"value": zero})
    else:
        op = GOp("ub.poison", (), [_fresh(value)])
    into.append(op)
    return op.result


def _all_ops(op: GOp) -> set[GOp]:
    return {op, *op.walk()}


def _replace_inside(old: GValue, new: GValue, roots: set[GOp], _: list[GOp]) -> None:
    """Replace the uses of a value by some operations and what they hold."""
    inside = set(roots)
    for op in roots:
        inside.update(op.walk())
    old.replace_uses_if(new, lambda user: user in inside)
