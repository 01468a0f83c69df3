"""Evaluates the integer part of a trace for many programs at once: trip counts, and where tiles begin.

Every tensor stands for its first element, so that an address is one number a program. A value is a number
(the same in all programs), a list (one number a program), an Address, or None for not known. Sizes that
nobody gives get large made-up numbers: whether two addresses are equal can still be told, while nothing may
be decided on them; such values are `made_up`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tritonlint.kernel.ir import Op, Value

Number = int | list[int]

SAME = frozenset(
    {
        "tt.splat", "tt.expand_dims", "tt.broadcast", "tt.reshape", "tt.trans", "arith.extsi", "arith.extui",
        "arith.trunci", "arith.index_cast", "arith.index_castui", "tt.bitcast",
    }
)  # fmt: skip


def _divide(left: int, right: int) -> int:
    """Division as the hardware does it: towards zero."""
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


def _remainder(left: int, right: int) -> int:
    return left - right * _divide(left, right)


# Distinct inputs stay distinct under these, so that made-up numbers may pass.
LINEAR: Mapping[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add, "arith.subi": operator.sub, "arith.muli": operator.mul,
}  # fmt: skip
OTHER: Mapping[str, Callable[[int, int], int]] = {
    "arith.divsi": _divide, "arith.divui": _divide, "arith.remsi": _remainder, "arith.remui": _remainder,
    "arith.ceildivsi": lambda a, b: -(-a // b), "arith.floordivsi": operator.floordiv,
    "arith.minsi": min, "arith.maxsi": max, "arith.minui": min, "arith.maxui": max,
    "arith.andi": operator.and_, "arith.ori": operator.or_, "arith.xori": operator.xor,
    "arith.shli": lambda a, b: a << (b & 63), "arith.shrsi": lambda a, b: a >> (b & 63),
    "arith.shrui": lambda a, b: a >> (b & 63),
}  # fmt: skip
COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "slt": operator.lt, "sle": operator.le, "sgt": operator.gt,
    "sge": operator.ge, "ult": operator.lt, "ule": operator.le, "ugt": operator.gt, "uge": operator.ge,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Address:
    """A place in what an argument points to: offset in elements (or in tiles' first coordinates, for a
    descriptor)."""

    argument: str
    offset: Number | tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a value. `made_up`: good for telling addresses apart, for nothing else."""

    value: Number | Address
    made_up: bool = False


class Scalars:
    """The environment: values of a trace for `programs` program ids. Not a value that raises: None."""

    def __init__(self, program_ids: Sequence[Sequence[int]], grid: Sequence[int]) -> None:
        self._ids = [list(axis) for axis in program_ids]
        self._grid = list(grid)
        self._values: dict[int, Known | None] = {}

    def set(self, value: Value, known: Known | None) -> None:
        self._values[id(value)] = known

    def get(self, value: Value) -> Known | None:
        return self._values.get(id(value))

    def number(self, value: Value) -> Number | None:
        """The number where it is really known."""
        known = self.get(value)
        if known is None or known.made_up or isinstance(known.value, Address):
            return None
        return known.value

    def run(self, op: Op) -> None:
        """Evaluates one operation without blocks."""
        if len(op.results) == 1:
            try:
                self.set(op.results[0], self._result(op))
            except (ZeroDivisionError, OverflowError, ValueError, TypeError, MemoryError):
                self.set(op.results[0], None)

    def _result(self, op: Op) -> Known | None:
        name = op.name
        if name == "arith.constant":
            value = op.attrs.get("value")
            return Known(int(value)) if isinstance(value, (int, bool)) else None
        if name == "tt.get_program_id":
            return Known(self._ids[int(op.attrs.get("axis", 0))])
        if name == "tt.get_num_programs":
            return Known(self._grid[int(op.attrs.get("axis", 0))])
        if name == "tt.make_range":
            return Known(int(op.attrs["start"]))
        operands = [self.get(operand) for operand in op.operands]
        if name in SAME:
            return operands[0]
        if name == "tt.addptr":
            return self._moved(operands[0], operands[1])
        if name == "arith.select":
            return self._selected(operands)
        if name in ("tt.make_tensor_descriptor", "tt.make_tensor_ptr"):
            base = operands[0]
            if base is None or not isinstance(base.value, Address):
                return None
            return Known(Address(base.value.argument, None), base.made_up)
        if len(operands) != 2 or operands[0] is None or operands[1] is None:
            return None
        left, right = operands
        assert left is not None and right is not None
        if isinstance(left.value, Address) or isinstance(right.value, Address):
            return None
        made_up = left.made_up or right.made_up
        if name in LINEAR:
            return Known(both(LINEAR[name], left.value, right.value), made_up)
        if made_up:
            return None
        if name in OTHER:
            return Known(both(OTHER[name], left.value, right.value))
        if name == "arith.cmpi":
            compare = COMPARE.get(str(op.attrs.get("predicate")))
            if compare is not None:
                return Known(both(lambda a, b: int(compare(a, b)), left.value, right.value))
        return None

    @staticmethod
    def _moved(pointer: Known | None, by: Known | None) -> Known | None:
        if pointer is None or not isinstance(pointer.value, Address):
            return None
        offset = pointer.value.offset
        if by is None or isinstance(by.value, Address) or offset is None or isinstance(offset, tuple):
            return Known(Address(pointer.value.argument, None))
        moved = both(operator.add, offset, by.value)
        return Known(Address(pointer.value.argument, moved), pointer.made_up or by.made_up)

    @staticmethod
    def _selected(operands: Sequence[Known | None]) -> Known | None:
        condition = operands[0]
        if condition is None or condition.made_up or not isinstance(condition.value, int):
            return None
        return operands[1] if condition.value else operands[2]


def both(function: Callable[[int, int], int], left: Number, right: Number) -> Number:
    """A function of two numbers, program by program where they differ."""
    if isinstance(left, list):
        if isinstance(right, list):
            return [function(a, b) for a, b in zip(left, right, strict=True)]
        return [function(a, right) for a in left]
    if isinstance(right, list):
        return [function(left, b) for b in right]
    return function(left, right)
