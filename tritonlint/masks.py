"""What share of a tile a mask lets through: bytes that are masked out are not moved.

Seen are masks that cut a tile along its axes, `start + arange < n`, alone or joined by `&`; what else a mask says counts
as letting everything through. The first element of each tensor is known from `scalars`; here is how it grows along the
axes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat

from tritonlint.kernel.ir import Op, Value
from tritonlint.scalars import Number, Scalars, both

_SAME = frozenset(
    {"tt.broadcast", "arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui"}
)
_BELOW = {"slt": 0, "ult": 0, "sle": 1, "ule": 1}  # left of the limit; so many more
_ABOVE = {"sgt": 0, "ugt": 0, "sge": 1, "uge": 1}
_UNIFORM = -1  # axis of a bound that holds for a whole tile


@dataclass(frozen=True, slots=True)
class Bound:
    """Along an axis of `size` elements as many pass as `left` says: all from `size` on, none at 0 or below. They are the
    first ones, or the last."""

    axis: int
    size: int
    left: Number
    last: bool = False


def share_of(bounds: Sequence[Bound]) -> float:
    """The share of elements that pass all bounds, on average over programs."""
    return _mean([(bound.left, 0, bound.size) for bound in bounds], 1)


def even(rounds: Sequence[Sequence[Bound]]) -> bool:
    """Whether bounds move by the same step from each round to the next, as far as two rounds or more tell."""
    lefts = [[bound.left for bound in bounds] for bounds in rounds]
    if any(len(one) != len(lefts[0]) for one in lefts):
        return False
    steps = [
        [both(lambda a, b: b - a, one, then) for one, then in zip(before, after, strict=True)]
        for before, after in pairwise(lefts)
    ]
    return all(step == steps[0] for step in steps)


def share_of_rounds(rounds: Sequence[Sequence[Bound]], times: Number) -> float:
    """The same over the `times` rounds of a loop, of which the bounds of the first two are given."""
    moving = [
        (one.left, both(lambda a, b: b - a, one.left, then.left), one.size)
        for one, then in zip(rounds[0], rounds[1], strict=True)
    ]
    return _mean(moving, times)


def share_of_some(shares: Sequence[float], times: Number) -> float:
    """The mean share where that of the first rounds is known and stands for all, by programs that go so often round."""
    passed = asked = 0.0
    for number, share in enumerate(shares):
        there = both(lambda count, at: int(count > at), times, number)
        weight = sum(there) if isinstance(there, list) else there
        passed += weight * share
        asked += weight
    return passed / asked if asked else 1.0


def _mean(bounds: Sequence[tuple[Number, Number, int]], times: Number) -> float:
    """The share of elements that pass on average over programs and their rounds; each bound has the elements left in the
    first round, and how many more in each later one."""
    parts = [times, *(part for left, step, _ in bounds for part in (left, step))]
    if isinstance(times, int) and not any(isinstance(part, list) for part in parts):
        parts[0] = [times]
    columns = [part if isinstance(part, list) else repeat(part) for part in parts]
    passed = asked = 0.0
    for (turns, *moving), count in Counter(zip(*columns, strict=False)).items():
        if turns > 0:
            shares = (
                _passed(moving[2 * at], moving[2 * at + 1], turns, size) / (turns * size)
                for at, (_, _, size) in enumerate(bounds)
            )
            passed += count * turns * math.prod(shares)
            asked += count * turns
    return passed / asked if asked else 1.0


def _passed(left: int, step: int, rounds: int, size: int) -> int:
    """Elements of all rounds: sum of `left + i * step`, each at least 0 and at most `size`."""
    if step > 0:  # the same from the last round to the first
        left, step = left + (rounds - 1) * step, -step
    if step == 0:
        return rounds * min(max(left, 0), size)
    whole = min(max((left - size) // -step + 1, 0), rounds) if left >= size else 0
    some = min(max(-(left // step), 0), rounds)  # rounds in which any are left
    partly = max(0, some - whole)
    return whole * size + partly * left + step * (whole + some - 1) * partly // 2


class Masks:
    """Bounds of masks, with the numbers that `scalars` holds at the time."""

    def __init__(self, scalars: Scalars) -> None:
        self._scalars = scalars
        self._made: dict[int, Op] = {}
        self._carried: dict[int, Value | None] = {}
        self._steps: dict[int, tuple[int, ...] | None] = {}

    def see(self, op: Op) -> None:
        """Notes what made a value."""
        for result in op.results:
            self._made[id(result)] = op

    def enter(self, arguments: Sequence[Value], before: Sequence[Value]) -> None:
        """A round begins. The values that a loop carries grow along their axes as those that it begins with."""
        self._steps.clear()  # numbers that they are made of may change
        for argument, value in zip(arguments, before, strict=False):
            self._carried[id(argument)] = value

    def again(self, arguments: Sequence[Value], after: Sequence[Value]) -> None:
        """The next round begins. Where the last one leaves them growing otherwise, nothing is known."""
        for argument, value in zip(arguments, after, strict=False):
            if argument.type.shape and self.steps(argument) != self.steps(value):
                self._carried[id(argument)] = None
        self._steps.clear()

    def steps(self, value: Value) -> tuple[int, ...] | None:
        """By how much the value grows from one element to the next, for each axis; None where not evenly."""
        shape = value.type.shape
        if not shape:
            return ()
        if id(value) not in self._steps:
            self._steps[id(value)] = None  # while it is worked out
            self._steps[id(value)] = self._worked_out(value, len(shape))
        return self._steps[id(value)]

    def _worked_out(self, value: Value, rank: int) -> tuple[int, ...] | None:
        op = self._made.get(id(value))
        if op is None:
            before = self._carried.get(id(value))
            return None if before is None else self.steps(before)
        if op.name == "tt.make_range":
            return (1,)
        if op.name in ("tt.splat", "arith.constant"):
            return (0,) * rank
        if op.name in _SAME:
            return self.steps(op.operands[0])
        if op.name == "tt.expand_dims":
            inner = self.steps(op.operands[0])
            axis = int(op.attrs["axis"])
            return None if inner is None else (*inner[:axis], 0, *inner[axis:])
        if op.name in ("arith.addi", "arith.subi", "arith.muli"):
            left, right = map(self.steps, op.operands)
            if left is None or right is None:
                return None
            if op.name == "arith.muli":
                return self._scaled(op, left, right)
            sign = 1 if op.name == "arith.addi" else -1
            return tuple(a + sign * b for a, b in zip(left, right, strict=True))
        return None

    def _scaled(self, op: Op, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...] | None:
        for steps, other, factor in ((left, right, op.operands[1]), (right, left, op.operands[0])):
            number = self._scalars.number(factor)
            if not any(other) and isinstance(number, int):
                return tuple(step * number for step in steps)
        return None

    def bounds(self, mask: Value) -> tuple[Bound, ...]:
        """What the mask cuts off, as far as it is seen."""
        op = self._made.get(id(mask))
        if op is None:
            return ()
        if op.name in ("tt.broadcast", "tt.splat"):
            return self.bounds(op.operands[0])
        if op.name == "tt.expand_dims":
            at = int(op.attrs["axis"])
            return tuple(
                replace(bound, axis=bound.axis + 1) if bound.axis >= at else bound
                for bound in self.bounds(op.operands[0])
            )
        if op.name == "arith.andi":
            found: dict[int, Bound] = {}
            for bound in (bound for operand in op.operands for bound in self.bounds(operand)):
                there = found.get(bound.axis)
                found[bound.axis] = bound if there is None else _joined(there, bound)
            return tuple(found.values())
        if op.name == "arith.cmpi":
            return self._compared(op)
        return ()

    def _compared(self, op: Op) -> tuple[Bound, ...]:
        low, high = op.operands
        predicate = str(op.attrs.get("predicate"))
        if predicate in _ABOVE:
            low, high = high, low
        also = {**_BELOW, **_ABOVE}.get(predicate)
        down, up = self.steps(low), self.steps(high)
        first, limit = self._scalars.number(low), self._scalars.number(high)
        if also is None or down is None or up is None or first is None or limit is None:
            return ()
        # Elements pass that are so far below the limit: more than 0.
        left = both(lambda a, b: b - a + also, first, limit)
        shape = op.results[0].type.shape or ()
        grows = [(axis, by - of) for axis, (of, by) in enumerate(zip(down, up, strict=True)) if by != of]
        if not grows:
            return (Bound(_UNIFORM, 1, left),)
        if len(grows) > 1:
            return ()
        axis, step = grows[0]
        size = shape[axis]
        if step < 0:
            return (Bound(axis, size, both(lambda a, b: -(-a // b), left, -step)),)
        # The first ones are cut off: the last ones, counted from the end, pass.
        last = both(lambda a, b: a + b, left, step * (size - 1))
        return (Bound(axis, size, both(lambda a, b: -(-a // b), last, step), last=True),)


def _joined(one: Bound, other: Bound) -> Bound:
    """What passes two bounds of one axis."""
    if one.last == other.last:
        return replace(one, left=both(min, one.left, other.left))
    size = one.size
    inside = both(lambda a, b: min(a, size) + min(b, size) - size, one.left, other.left)
    return replace(one, left=inside, last=False)
