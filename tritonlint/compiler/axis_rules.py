"""The rules of the axis analysis, one for each kind of operation (the visitors of
lib/Analysis/AxisInfo.cpp)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tritonlint.compiler.releases import Release
from tritonlint.kernel.ir import bits_of

if TYPE_CHECKING:
    from tritonlint.compiler.graph import GOp

LARGEST = 1 << 62  # the divisor of zero


class Info(NamedTuple):
    """By dimension: length of rows that count up by one, divisor of their first elements, length of rows of
    equal elements; and the value, if it is the same everywhere and known."""

    contiguity: tuple[int, ...]
    divisibility: tuple[int, ...]
    constancy: tuple[int, ...]
    value: int | None


Rule = Callable[["GOp", list[Info], Release], "Info | None"]


def pessimistic(rank: int) -> Info:
    """Nothing is known."""
    ones = (1,) * rank
    return Info(ones, ones, ones, None)


def divisor_of(value: int) -> int:
    """The largest power of two that divides a number."""
    return LARGEST if value == 0 else min(value & -value, LARGEST)


def _times(first: int, second: int) -> int:
    return min(first * second, LARGEST)


def _shape(op: GOp) -> tuple[int, ...]:
    return op.results[0].shape or (1,)


def _all_equal(op: GOp, value: int) -> Info:
    shape = _shape(op)
    rank = len(shape)
    return Info((1,) * rank, (divisor_of(value),) * rank, shape, value)


def _folded(op: GOp, a: Info, b: Info, value: int, release: Release) -> Info:
    if release.axis_constants_fill_shape:
        return _all_equal(op, value)
    rank = len(a.contiguity)
    return Info((1,) * rank, (divisor_of(value),) * rank, tuple(map(max, a.constancy, b.constancy)), value)


def _gcd_constancy(a: Info, b: Info) -> tuple[int, ...]:
    return tuple(map(math.gcd, a.constancy, b.constancy))


def _cast(op: GOp, known: list[Info], release: Release) -> Info | None:
    return known[0]


def _bitcast(op: GOp, known: list[Info], release: Release) -> Info | None:
    source = op.operands[0].type.element
    info = known[0]
    if not source.startswith("*") or not release.axis_clamps:
        return info
    target = op.results[0].type.element
    from_bytes = max(1, bits_of(source[1:]) // 8)
    to_bytes = max(1, bits_of(target[1:]) // 8)
    if from_bytes == to_bytes:
        return info
    divisibility = tuple(
        math.gcd(d, from_bytes) if c > 1 else d
        for c, d in zip(info.contiguity, info.divisibility, strict=True)
    )
    return Info((1,) * len(info.contiguity), divisibility, info.constancy, info.value)


def _make_range(op: GOp, known: list[Info], release: Release) -> Info | None:
    start, end = int(op.attrs.get("start", 0)), int(op.attrs.get("end", 1))
    return Info((end - start,), (divisor_of(start),), (1,), None)


def _constant(op: GOp, known: list[Info], release: Release) -> Info | None:
    value = op.attrs.get("value")
    if not isinstance(value, int):
        return None
    return _all_equal(op, int(value))


def _poison(op: GOp, known: list[Info], release: Release) -> Info | None:
    most = (LARGEST,) * len(_shape(op))
    return Info(most, most, most, None)


def _add_contiguity(a: Info, b: Info, subtract: bool, release: Release) -> list[int]:
    forward = list(map(math.gcd, a.contiguity, b.constancy))
    if subtract and release.axis_subtraction_descends:
        return forward
    return list(map(max, map(math.gcd, a.constancy, b.contiguity), forward))


def _add(op: GOp, known: list[Info], release: Release) -> Info | None:
    a, b = known[0], known[1]
    subtract = op.name == "arith.subi"
    element = 1
    if op.name == "tt.addptr":
        element = max(1, bits_of(op.operands[0].type.element[1:]) // 8)
    if a.value is not None and b.value is not None:
        value = a.value - b.value if subtract else a.value + b.value * element
        return _folded(op, a, b, value, release)
    contiguity = _add_contiguity(a, b, subtract, release)
    divisibility = []
    for dim, length in enumerate(contiguity):
        first, second = a.divisibility[dim], _times(b.divisibility[dim], element)
        divisor = math.gcd(first, second)
        if release.axis_clamps_sums:
            runs = (a.contiguity[dim], b.contiguity[dim])
            if runs[0] > 1 and runs[1] > 1:
                # Both count up: the sums go up by two, or the differences stay.
                if not (subtract and runs[0] == runs[1]):
                    divisor = 2 if first % 2 == 0 and second % 2 == 0 else 1
            elif runs[0] > 1 or runs[1] > 1:
                # A row of the result may start inside a row of an operand.
                divisor = math.gcd(divisor, _times(length, element))
        divisibility.append(divisor)
    return Info(tuple(contiguity), tuple(divisibility), _gcd_constancy(a, b), None)


def _multiply(op: GOp, known: list[Info], release: Release) -> Info | None:
    a, b = known[0], known[1]
    if a.value is not None and b.value is not None:
        return _folded(op, a, b, a.value * b.value, release)
    if release.axis_constants_fill_shape and (a.value == 0 or b.value == 0):
        return _all_equal(op, 0)
    contiguity, divisibility = [], []
    for dim in range(len(a.contiguity)):
        left = a.contiguity[dim] if b.value == 1 else 1
        right = b.contiguity[dim] if a.value == 1 else 1
        contiguity.append(max(left, right))
        # A row that counts up is divisible at its start only.
        first, second = a.divisibility[dim], b.divisibility[dim]
        if release.axis_drops_divisor_of_runs:
            if a.contiguity[dim] > 1 and b.value != 1:
                first = 1
            if b.contiguity[dim] > 1 and a.value != 1:
                second = 1
        divisibility.append(_times(first, second))
    return Info(tuple(contiguity), tuple(divisibility), _gcd_constancy(a, b), None)


def _counts_up(info: Info, shape: tuple[int, ...], dim: int) -> bool:
    return info.contiguity[dim] == shape[dim]


def _is_equal(info: Info, shape: tuple[int, ...], dim: int) -> bool:
    return info.constancy[dim] == shape[dim]


def _run(a: Info, b: Info, dim: int) -> int:
    return math.gcd(a.contiguity[dim], a.divisibility[dim], b.divisibility[dim])


def _quotient(first: int, second: int) -> int:
    """Division as the machine does it: towards zero."""
    result = abs(first) // abs(second)
    return result if (first < 0) == (second < 0) else -result


def _divide(op: GOp, known: list[Info], release: Release) -> Info | None:
    a, b = known[0], known[1]
    if a.value is not None and b.value:
        return _folded(op, a, b, _quotient(a.value, b.value), release)
    shape = op.results[0].shape
    contiguity, divisibility, constancy = [], [], []
    for dim in range(len(a.contiguity)):
        contiguity.append(a.contiguity[dim] if b.value == 1 else 1)
        equal = math.gcd(a.constancy[dim], b.constancy[dim])
        if shape and _counts_up(a, shape, dim) and _is_equal(b, shape, dim):
            equal = max(equal, _run(a, b, dim))
        constancy.append(equal)
        divisor = 1
        if a.value == 0 or b.value == 1:
            divisor = a.divisibility[dim]
        elif (
            release.axis_divides_divisors
            and b.value is not None
            and b.value != 0
            and abs(b.value) & (abs(b.value) - 1) == 0
            and a.contiguity[dim] == 1
        ):
            divisor = max(1, a.divisibility[dim] // abs(b.value))
        divisibility.append(divisor)
    return Info(tuple(contiguity), tuple(divisibility), tuple(constancy), None)


def _remainder(op: GOp, known: list[Info], release: Release) -> Info | None:
    a, b = known[0], known[1]
    if a.value is not None and b.value:
        return _folded(op, a, b, a.value - b.value * _quotient(a.value, b.value), release)
    if b.value == 1:
        return _folded(op, a, b, 0, release)
    shape = op.results[0].shape
    contiguity, divisibility = [], []
    for dim in range(len(a.contiguity)):
        length = 1
        if shape and _counts_up(a, shape, dim) and _is_equal(b, shape, dim):
            length = _run(a, b, dim)
        contiguity.append(length)
        divisor = math.gcd(a.divisibility[dim], b.divisibility[dim])
        if release.axis_remainder_needs_constant and b.constancy[dim] <= 1:
            divisor = 1
        divisibility.append(divisor)
    return Info(tuple(contiguity), tuple(divisibility), _gcd_constancy(a, b), None)


def _splat(op: GOp, known: list[Info], release: Release) -> Info | None:
    shape = op.results[0].shape
    rank = len(shape)
    return Info((1,) * rank, (known[0].divisibility[0],) * rank, shape, known[0].value)


def _load(op: GOp, known: list[Info], release: Release) -> Info | None:
    if not release.axis_loads_keep_constancy:
        return None
    pointer = known[0]
    constancy = pointer.constancy
    if len(known) > 1:
        constancy = tuple(map(math.gcd, constancy, known[1].constancy))
    ones = (1,) * len(constancy)
    return Info(ones, ones, constancy, None)


def _expand_dims(op: GOp, known: list[Info], release: Release) -> Info | None:
    info = known[0]
    axis = int(op.attrs.get("axis", 0))
    divisor = 1
    if release.axis_expands_divisibility:
        if info.value is not None:
            divisor = divisor_of(info.value)
        else:
            divisor = math.gcd(
                *(1 if c > 1 else d for c, d in zip(info.contiguity, info.divisibility, strict=True))
            )

    def insert(values: tuple[int, ...], value: int) -> tuple[int, ...]:
        return (*values[:axis], value, *values[axis:])

    return Info(
        insert(info.contiguity, 1), insert(info.divisibility, divisor), insert(info.constancy, 1), info.value
    )


def _broadcast(op: GOp, known: list[Info], release: Release) -> Info | None:
    info = known[0]
    before, after = op.operands[0].shape, op.results[0].shape
    if len(before) != len(after):
        return None
    contiguity = tuple(1 if size == 1 else c for size, c in zip(before, info.contiguity, strict=True))
    constancy = tuple(
        new if size == 1 else c for size, new, c in zip(before, after, info.constancy, strict=True)
    )
    return Info(contiguity, info.divisibility, constancy, info.value)


def _transpose(op: GOp, known: list[Info], release: Release) -> Info | None:
    if not release.axis_follows_views:
        return None
    info = known[0]
    order = op.attrs.get("order") or tuple(reversed(range(len(info.contiguity))))
    return Info(
        tuple(info.contiguity[d] for d in order),
        tuple(info.divisibility[d] for d in order),
        tuple(info.constancy[d] for d in order),
        info.value,
    )


def _suffix_products(shape: tuple[int, ...]) -> list[int]:
    """The distance of neighbours along each dimension, row-major, and the whole size in front."""
    products = [1]
    for size in reversed(shape):
        products.append(products[-1] * size)
    products.reverse()
    return products


def _reshape(op: GOp, known: list[Info], release: Release) -> Info | None:
    if not release.axis_follows_reshape or op.attrs.get("allow_reorder"):
        return None
    info = known[0]
    before, after = op.operands[0].shape, op.results[0].shape
    rank = len(after)
    if info.value is not None:
        return _all_equal(op, info.value)
    source, target = _suffix_products(before), _suffix_products(after)
    overall = max((d for c, d in zip(info.contiguity, info.divisibility, strict=True) if c == 1), default=1)
    contiguity, divisibility, constancy = [1] * rank, [overall] * rank, [1] * rank
    for dim in range(rank):
        stride = target[dim + 1]
        at = next((d for d in range(len(before)) if source[d + 1] <= stride < source[d]), 0)
        inner, run = source[at + 1], info.contiguity[at]
        if run > 1:
            # A row survives only where the new dimension starts at the old one's lowest step.
            if stride == inner:
                contiguity[dim] = min(run, after[dim])
                divisor = info.divisibility[at]
                if contiguity[dim] != run:
                    divisor = min(divisor, contiguity[dim])
                divisibility[dim] = max(overall, divisor)
            continue
        end = inner * info.constancy[at]
        if stride > end:
            continue
        equal = min(after[dim], end // stride)
        left = after[dim] // equal
        outer = at - 1
        while info.constancy[at] == before[at] and outer >= 0 and left > 1:
            piece = min(before[outer], left)
            same = min(info.constancy[outer], piece)
            equal *= same
            if same < piece:
                break
            left //= piece
            outer -= 1
        constancy[dim] = equal
    return Info(tuple(contiguity), tuple(divisibility), tuple(constancy), None)


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
    "ult": lambda a, b: a & _UNSIGNED < b & _UNSIGNED,
    "ule": lambda a, b: a & _UNSIGNED <= b & _UNSIGNED,
    "ugt": lambda a, b: a & _UNSIGNED > b & _UNSIGNED,
    "uge": lambda a, b: a & _UNSIGNED >= b & _UNSIGNED,
}
_UNSIGNED = (1 << 64) - 1


def _compare(op: GOp, known: list[Info], release: Release) -> Info | None:
    shape = op.results[0].shape
    if not shape:
        return None
    a, b = known[0], known[1]
    predicate = str(op.attrs.get("predicate", ""))
    rank = len(shape)
    if a.value is not None and b.value is not None and predicate in _COMPARE:
        value = int(_COMPARE[predicate](a.value, b.value))
        constancy = shape if release.axis_constants_fill_shape else a.constancy
        return Info((1,) * rank, (1,) * rank, constancy, value)
    equal = list(_gcd_constancy(a, b))
    for dim in range(rank):
        # Against a number, a row that counts up changes its answer at a multiple only.
        if predicate[1:] in ("gt", "le") and _is_equal(a, shape, dim):
            equal[dim] = max(
                equal[dim], math.gcd(b.contiguity[dim], a.divisibility[dim], b.divisibility[dim])
            )
        elif predicate[1:] in ("lt", "ge") and _is_equal(b, shape, dim):
            equal[dim] = max(equal[dim], _run(a, b, dim))
    return Info((1,) * rank, (1,) * rank, tuple(equal), None)


def joined_divisor(a: Info, b: Info, dim: int, release: Release) -> int:
    """The divisor of rows that may come from either (getDivisibilityFromContiguity). Rows without an end are those of
    poison."""
    divisor = math.gcd(a.divisibility[dim], b.divisibility[dim])
    if not release.axis_joins_by_contiguity:
        return min(a.divisibility[dim], b.divisibility[dim])
    runs = (a.contiguity[dim], b.contiguity[dim])
    if runs[0] == runs[1] or LARGEST in runs:
        return divisor
    return math.gcd(divisor, *runs)


def _select(op: GOp, known: list[Info], release: Release) -> Info | None:
    condition, a, b = known
    if condition.value is not None:
        return b if condition.value == 0 else a
    rank = len(a.contiguity)
    contiguity, divisibility, constancy = [], [], []
    by_element = bool(op.operands[0].shape)
    for dim in range(rank):
        equal = math.gcd(a.constancy[dim], b.constancy[dim])
        run = math.gcd(a.contiguity[dim], b.contiguity[dim])
        if not by_element:
            divisor = joined_divisor(a, b, dim, release)
        else:
            mask = condition.constancy[dim]
            equal, run = math.gcd(equal, mask), math.gcd(run, mask)
            if release.axis_joins_by_contiguity:
                divisor = joined_divisor(a, b, dim, release)
                if release.axis_clamps:
                    divisor = math.gcd(divisor, run)
            elif run == a.contiguity[dim] == b.contiguity[dim]:
                divisor = math.gcd(a.divisibility[dim], b.divisibility[dim])
            else:
                divisor = min(math.gcd(a.divisibility[dim], run), math.gcd(b.divisibility[dim], run))
        contiguity.append(run)
        divisibility.append(divisor)
        constancy.append(equal)
    value = a.value if a.value == b.value else None
    if value is not None and release.axis_constants_fill_shape:
        constancy = list(_shape(op))
    return Info(tuple(contiguity), tuple(divisibility), tuple(constancy), value)


def _logical(op: GOp, known: list[Info], release: Release) -> Info | None:
    a, b = known[0], known[1]
    if a.value is not None and b.value is not None:
        if op.name == "arith.andi":
            value = a.value & b.value
        elif op.name == "arith.ori":
            value = a.value | b.value
        else:
            value = a.value ^ b.value
        return _folded(op, a, b, value, release)
    ones = (1,) * len(a.contiguity)
    return Info(ones, ones, _gcd_constancy(a, b), None)


def _shift_left(op: GOp, known: list[Info], release: Release) -> Info | None:
    a, b = known[0], known[1]
    if a.value is not None and b.value is not None and 0 <= b.value < 64:
        return _folded(op, a, b, a.value << b.value, release)
    contiguity = a.contiguity if b.value == 0 else (1,) * len(a.contiguity)
    shift = b.value if b.value is not None and 0 <= b.value < 62 else 0
    divisibility = tuple(
        _times(1 if c > 1 and shift else d, 1 << shift)
        for c, d in zip(a.contiguity, a.divisibility, strict=True)
    )
    return Info(contiguity, divisibility, _gcd_constancy(a, b), None)


def _shift_right(op: GOp, known: list[Info], release: Release) -> Info | None:
    a, b = known[0], known[1]
    if a.value is not None and b.value is not None and 0 <= b.value < 64:
        return _folded(op, a, b, a.value >> b.value, release)
    contiguity = a.contiguity if b.value == 0 else (1,) * len(a.contiguity)
    if b.value is None or not 0 <= b.value < 62:
        return Info(contiguity, (1,) * len(a.contiguity), _gcd_constancy(a, b), None)
    shift = b.value
    divisibility = tuple(
        max(1, (1 if c > 1 and shift else d) >> shift)
        for c, d in zip(a.contiguity, a.divisibility, strict=True)
    )
    return Info(contiguity, divisibility, _gcd_constancy(a, b), None)


def _max_min(op: GOp, known: list[Info], release: Release) -> Info | None:
    a, b = known[0], known[1]
    if a.value is not None and b.value is not None:
        value = max(a.value, b.value) if "max" in op.name else min(a.value, b.value)
        if release.axis_constants_fill_shape:
            return _all_equal(op, value)
        ones = (1,) * len(a.contiguity)
        return Info(ones, ones, ones, value)
    divisibility = tuple(joined_divisor(a, b, dim, release) for dim in range(len(a.contiguity)))
    return Info(tuple(map(math.gcd, a.contiguity, b.contiguity)), divisibility, _gcd_constancy(a, b), None)


RULES: dict[str, Rule] = {
    "arith.extsi": _cast,
    "arith.extui": _cast,
    "arith.trunci": _cast,
    "ttg.convert_layout": _cast,
    "tt.bitcast": _bitcast,
    "tt.make_range": _make_range,
    "arith.constant": _constant,
    "ub.poison": _poison,
    "tt.addptr": _add,
    "arith.addi": _add,
    "arith.subi": _add,
    "arith.muli": _multiply,
    "arith.divsi": _divide,
    "arith.divui": _divide,
    "arith.remsi": _remainder,
    "arith.remui": _remainder,
    "tt.splat": _splat,
    "tt.load": _load,
    "tt.expand_dims": _expand_dims,
    "tt.broadcast": _broadcast,
    "tt.trans": _transpose,
    "tt.reshape": _reshape,
    "arith.cmpi": _compare,
    "arith.select": _select,
    "arith.andi": _logical,
    "arith.ori": _logical,
    "arith.xori": _logical,
    "arith.shli": _shift_left,
    "arith.shrui": _shift_right,
    "arith.shrsi": _shift_right,
    "arith.maxsi": _max_min,
    "arith.maxui": _max_min,
    "arith.minsi": _max_min,
    "arith.minui": _max_min,
}
