"""The pass optimize-accumulator-init on tensor memory: zeros are not stored, the product is told not to add.

lib/Dialect/TritonGPU/Transforms/OptimizeAccumulatorInit.cpp. A loop that clears its accumulator carries a
flag instead, which lets the pipeliner give it two accumulators.
"""

from __future__ import annotations

from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.ops import constant_value
from tritonlint.compiler.pipeline_build import add_carried
from tritonlint.compiler.pipeline_loads import TCGEN05
from tritonlint.kernel import ir

_BOOL = ir.Type("i1")
_ACCUMULATOR, _TOKEN, _USE = 2, 3, -2


def optimize_accumulator_init(graph: Graph) -> None:
    """Rewrite the products of loops, in place."""
    for mma in [op for op in graph.walk() if op.name in TCGEN05]:
        loop = mma.parent
        if loop is not None and loop.name == "scf.for":
            _rewrite(mma, loop)
    for alloc in [op for op in graph.walk() if op.name == "ttng.tmem_alloc" and op.operands]:
        _drop_unused_source(alloc)


def _is_zero(value: GValue) -> bool:
    number = constant_value(value)
    return number is not None and number == 0


def _flag(number: bool, before: GOp) -> GValue:
    op = GOp("arith.constant", (), [GValue(_BOOL)], {"value": number}, line=before.line, path=before.path)
    return op.insert_before(before).result


def _rewrite(mma: GOp, loop: GOp) -> None:
    alloc = mma.operands[_ACCUMULATOR].op
    if alloc is None or alloc.name != "ttng.tmem_alloc" or alloc.block is not mma.block or not alloc.operands:
        return
    load = next((user for user in alloc.results[0].uses if user.name == "ttng.tmem_load"), None)
    if load is None or load.block is not mma.block or not _reaches(mma, alloc):
        return
    start = alloc.operands[0]
    use = len(mma.operands) + _USE
    if _is_zero(start):
        mma.set_operand(use, _flag(False, mma))
        return
    value = start
    starts_at_zero = False
    if value.block is loop.body:
        starts_at_zero = _is_zero(loop.operands[value.index + 2])
        value = loop.body.terminator.operands[value.index - 1]
    clearing = _clearing(value)
    if clearing is None and not starts_at_zero:
        return
    if constant_value(mma.operands[use]) in (None, False):
        return
    _, (carried,) = add_carried(loop, [_flag(not starts_at_zero, loop)])
    end = loop.body.terminator
    last = len(end.operands) - 1
    if clearing is None:
        mma.set_operand(use, carried)
        end.set_operand(last, _flag(True, end))
        return
    op, then_is_zero, condition, other = clearing
    place = op.ancestor_in(loop.body)
    if place is None:
        return
    before_mma = loop.body.ops.index(place) < loop.body.ops.index(mma)
    previous = carried if before_mma else _flag(True, place)
    zero = _flag(False, place)
    pair = (zero, previous) if then_is_zero else (previous, zero)
    choice = GOp("arith.select", (condition, *pair), [GValue(_BOOL)], line=mma.line, path=mma.path)
    choice.insert_before(place)
    mma.set_operand(use, choice.result if before_mma else carried)
    end.set_operand(last, _flag(True, end) if before_mma else choice.result)
    if op.name == "arith.select":
        op.replace_with([other])
    else:
        block = op.blocks[0 if then_is_zero else 1]
        block.terminator.set_operand(value.index, other)


def _reaches(mma: GOp, alloc: GOp) -> bool:
    """What the allocation starts with reaches the product; only reads may stand between."""
    token = mma.operands[_TOKEN]
    while token is not alloc.results[1]:
        load = token.op
        if load is None or load.name != "ttng.tmem_load" or load.operands[0] is not alloc.results[0]:
            return False
        if len(load.operands) < 2:
            return False
        token = load.operands[1]
    return True


def _clearing(value: GValue) -> tuple[GOp, bool, GValue, GValue] | None:
    """The select or branch that clears the accumulator: the operation, whether its first side is zero, its
    condition, and the other side."""
    op = value.op
    if op is None:
        return None
    if op.name == "arith.select" and not op.operands[0].is_tensor:
        condition, first, second = op.operands
        if _is_zero(first):
            return op, True, condition, second
        return (op, False, condition, first) if _is_zero(second) else None
    if op.name == "scf.if":
        first, second = (block.terminator.operands[value.index] for block in op.blocks)
        if not (_is_zero(first) or _is_zero(second)):
            return None
        inside = (first.owner_block(), second.owner_block())
        if any(block in op.blocks for block in inside):
            return None
        return op, _is_zero(first), op.operands[0], second if _is_zero(first) else first
    return None


def _drop_unused_source(alloc: GOp) -> None:
    users = alloc.results[0].users()
    mma = next((user for user in reversed(users) if user.name in TCGEN05), None)
    load = next((user for user in reversed(users) if user.name == "ttng.tmem_load"), None)
    others = [user for user in users if user.name not in TCGEN05 and user.name != "ttng.tmem_load"]
    if mma is None or others or len(users) > 2:
        return
    if load is not None and (load.block is not mma.block or mma.block is None):
        return
    if load is not None and mma.block is not None:
        ops = mma.block.ops
        if ops.index(mma) > ops.index(load):
            return
    if constant_value(mma.operands[len(mma.operands) + _USE]) in (0, False) and _is_constant(mma):
        alloc.remove_operand(0)


def _is_constant(mma: GOp) -> bool:
    return constant_value(mma.operands[len(mma.operands) + _USE]) is not None
