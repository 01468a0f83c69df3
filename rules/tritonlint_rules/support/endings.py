"""Up to where the tiles of a kernel's programs are stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tritonlint.kernel.ir import Function, Op, Value
from tritonlint_rules.support.memory import operations

_AXES = {"x": 0, "y": 1, "z": 2}
_VIEWS = ("tt.splat", "tt.broadcast", "tt.expand_dims", "arith.extsi")


def ends(function: Function) -> Iterator[tuple[int, int, int | str]]:
    """For each store behind a mask `pid * TILE + arange(0, TILE) < size`: the axis of the program's number, the
    tile, and the size, a number or the name of an argument. Nothing else is added to such an index, so that the
    programs of one axis together reach as far as their number times the tile."""
    made = {result: op for op in operations(function.body) for result in op.results}
    arguments = set(function.body.args)
    found: dict[tuple[int, int, int | str], None] = {}
    for op in operations(function.body):
        if op.name == "tt.store" and len(op.operands) > 2:
            for compared in _compared(made.get(op.operands[2]), made):
                place = _place(made.get(_seen(compared.operands[0], made)), made)
                size = _size(compared.operands[1], made, arguments)
                if place is not None and size is not None:
                    found[place[0], place[1], size] = None
    yield from found


def _compared(op: Op | None, made: Mapping[Value, Op]) -> Iterator[Op]:
    """The comparisons that a mask is made of, all of which have to hold."""
    if op is None:
        return
    if op.name == "arith.cmpi" and op.attrs.get("predicate") in ("slt", "ult"):
        yield op
    elif op.name in ("arith.andi", *_VIEWS):
        for operand in op.operands:
            yield from _compared(made.get(operand), made)


def _seen(value: Value, made: Mapping[Value, Op]) -> Value:
    op = made.get(value)
    while op is not None and op.name in _VIEWS:
        value = op.operands[0]
        op = made.get(value)
    return value


def _place(op: Op | None, made: Mapping[Value, Op]) -> tuple[int, int] | None:
    if op is None or op.name != "arith.addi":
        return None
    sides = [made.get(_seen(operand, made)) for operand in op.operands]
    for start, inner in (sides, sides[::-1]):
        if start is None or inner is None or start.name != "arith.muli" or inner.name != "tt.make_range":
            continue
        tile = inner.attrs.get("end")
        factors = [made.get(operand) for operand in start.operands]
        numbers = [one for one in factors if one is not None and one.name == "tt.get_program_id"]
        constants = [
            one.attrs.get("value") for one in factors if one is not None and one.name == "arith.constant"
        ]
        if (
            len(numbers) == 1
            and isinstance(tile, int)
            and constants == [tile]
            and inner.attrs.get("start") == 0
        ):
            axis = numbers[0].attrs.get("axis")
            return (axis if isinstance(axis, int) else _AXES.get(str(axis), 0)), tile
    return None


def _size(value: Value, made: Mapping[Value, Op], arguments: set[Value]) -> int | str | None:
    seen = _seen(value, made)
    if seen in arguments:
        return seen.name
    op = made.get(seen)
    number = op.attrs.get("value") if op is not None and op.name == "arith.constant" else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None
