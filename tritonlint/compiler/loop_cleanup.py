"""Simplifies loops and conditionals: the canonicalization patterns of the scf dialect that change what a
kernel holds."""

from __future__ import annotations

from tritonlint.compiler.graph import GBlock, GOp, Graph, GValue, defined_inside
from tritonlint.compiler.ops import is_removable

_ROUNDS = 16
_STRUCTURE = frozenset({"scf.for", "scf.if", "scf.while", "scf.yield", "scf.condition"})


def erase_dead_carried(graph: Graph) -> None:
    """Drop values that loops carry only for themselves, and all that only they need
    (runDeadIterArgElimination)."""
    loops = [op for op in graph.all_ops() if op.name == "scf.for"]
    if all(result.uses for op in loops for result in op.results):
        return
    live = _live_values(graph)
    for op in loops:
        if op.block is None or op.name != "scf.for":
            continue
        for place in range(len(op.results) - 1, -1, -1):
            arg, result = op.body.args[place + 1], op.results[place]
            if arg not in live and result not in live and not result.uses:
                op.body.terminator.remove_operand(place)
                # Its uses are dead too and go with the next clean-up; until then they read the initial value.
                arg.replace_all_uses(op.operands[place + 3])
                op.remove_operand(place + 3)
                op.body.remove_arg(place + 1)
                op.remove_result(place)


def _live_values(graph: Graph) -> set[GValue]:
    live: set[GValue] = set()
    live_ops: set[GOp] = set()
    queue: list[GValue] = []

    def mark(value: GValue) -> None:
        if value not in live:
            live.add(value)
            queue.append(value)

    def mark_op(op: GOp) -> None:
        """The operation runs for its effect: what decides whether it runs is live too."""
        around: GOp | None = op
        while around is not None and around not in live_ops and around.name != "tt.func":
            live_ops.add(around)
            mark_all(around)
            around = around.parent

    def mark_all(op: GOp) -> None:
        if op.name == "scf.for":
            for operand in op.operands[:3]:
                mark(operand)
        elif op.name == "scf.if":
            mark(op.operands[0])
        elif op.name == "scf.while":
            for operand in op.operands:
                mark(operand)
            for block in op.blocks:
                for operand in block.terminator.operands:
                    mark(operand)
        else:
            for operand in op.operands:
                mark(operand)
            for inner in op.walk() if op.blocks else ():
                for operand in inner.operands:
                    mark(operand)

    for op in graph.all_ops():
        if op.name not in _STRUCTURE and not is_removable(op):
            mark_op(op)
    while queue:
        value = queue.pop()
        op_or_none = value.op
        if op_or_none is None:
            block = value.block
            parent = block.parent if block is not None else None
            if block is None or parent is None:
                continue
            if parent.name == "scf.for" and value.index:
                mark(parent.operands[value.index + 2])
                mark(block.terminator.operands[value.index - 1])
            mark_op(parent)
            continue
        op = op_or_none
        mark_op(op)
        if op.name == "scf.for":
            mark(op.operands[value.index + 3])
            mark(op.body.terminator.operands[value.index])
        elif op.name == "scf.if":
            for block in op.blocks:
                if block.ops:
                    mark(block.terminator.operands[value.index])
    return live


def clean_control_flow(graph: Graph) -> bool:
    """Apply the patterns for loops and conditionals until none fits; whether any did."""
    any_change = False
    for _ in range(_ROUNDS):
        changed = False
        for op in graph.all_ops_post():
            if op.name != "scf.for" and op.name != "scf.if":
                continue
            if op.block is None:
                continue
            if op.results and not any(result.uses for result in op.results) and is_removable(op):
                op.erase()
                changed = True
            elif op.name == "scf.for":
                changed |= _for(op)
            else:
                changed |= _if(op)
        if not changed:
            return any_change
        any_change = True
    return any_change


def clean_loops(graph: Graph) -> bool:
    """Apply only the patterns for counted loops until none fits; whether any did."""
    any_change = False
    for _ in range(_ROUNDS):
        changed = False
        for op in graph.all_ops_post():
            if op.name == "scf.for" and op.block is not None:
                changed |= _for(op)
        if not changed:
            return any_change
        any_change = True
    return any_change


def constant_of(value: GValue) -> int | None:
    """The integer that a value is known to be, if it is."""
    op = value.op
    if op is not None and op.name == "arith.constant":
        number = op.attrs["value"]
        if isinstance(number, (int, bool)):
            return int(number)
    return None


def _inline(block: GBlock, before: GOp, args: list[GValue]) -> list[GValue]:
    """Move the operations of a block in front of another operation; the values that it yields."""
    for arg, value in zip(block.args, args, strict=True):
        arg.replace_all_uses(value)
    terminator = block.terminator
    for op in list(block.ops):
        if op is not terminator:
            op.detach().insert_before(before)
    return list(terminator.operands)


def _for(op: GOp) -> bool:
    lower, upper, step = (constant_of(value) for value in op.operands[:3])
    if op.operands[0] is op.operands[1] or (lower is not None and upper is not None and lower >= upper):
        op.replace_with(op.operands[3:])
        return True
    if lower is not None and upper is not None and step is not None and step > 0 and lower + step >= upper:
        values = _inline(op.body, op, [op.operands[0], *op.operands[3:]])
        op.replace_with(values)
        return True
    if not op.body.ops or op.body.terminator.name != "scf.yield":
        return False
    return _drop_carried(op)


def _drop_carried(op: GOp) -> bool:
    """Carried values that never change, that nothing reads, or that another one equals
    (ForOpIterArgsFolder)."""
    changed = False
    terminator = op.body.terminator
    same: dict[tuple[GValue, GValue], int] = {}
    place = 0
    while place < len(op.results):
        arg, result = op.body.args[place + 1], op.results[place]
        init, yielded = op.operands[place + 3], terminator.operands[place]
        replace_arg: GValue | None = None
        replace_result: GValue | None = None
        if yielded is arg or yielded is init or (not arg.uses and not result.uses):
            replace_arg = replace_result = init
        else:
            other = same.setdefault((init, yielded), place)
            if other != place:
                replace_arg, replace_result = op.body.args[other + 1], op.results[other]
        if replace_arg is None or replace_result is None:
            place += 1
            continue
        arg.replace_all_uses(replace_arg)
        result.replace_all_uses(replace_result)
        terminator.remove_operand(place)
        op.remove_operand(place + 3)
        op.body.remove_arg(place + 1)
        op.remove_result(place)
        same.clear()
        place = 0
        changed = True
    return changed


def _if(op: GOp) -> bool:
    condition = constant_of(op.operands[0])
    then_block, else_block = op.blocks
    if condition is not None:
        block = then_block if condition else else_block
        values = _inline(block, op, []) if block.ops else []
        op.replace_with(values)
        return True
    changed = False
    for place in range(len(op.results) - 1, -1, -1):
        result = op.results[place]
        if not result.uses:
            for block in op.blocks:
                block.terminator.remove_operand(place)
            op.remove_result(place)
            changed = True
            continue
        values = [block.terminator.operands[place] for block in op.blocks]
        if any(defined_inside(value, op) for value in values):
            continue
        if values[0] is values[1]:
            result.replace_all_uses(values[0])
        else:
            select = GOp(
                "arith.select",
                [op.operands[0], *values],
                [result.like(result.encoding)],
                line=op.line,
                path=op.path,
            )
            select.insert_before(op)
            result.replace_all_uses(select.result)
        changed = True
    if else_block.ops and len(else_block.ops) == 1 and not op.results:
        else_block.terminator.erase()
        changed = True
    return changed
