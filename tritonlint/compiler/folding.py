"""Folds single operations: to one of their operands, or to a constant.

The folders of MLIR's arith dialect and of Triton's own dialect, as far as they occur in kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tritonlint.compiler.graph import GOp, GValue

Number = int | float | bool


def constant(value: GValue) -> Number | None:
    """The number that a constant holds everywhere; None for anything else."""
    op = value.op
    if op is not None and op.name == "arith.constant":
        number = op.attrs["value"]
        if isinstance(number, (int, float)):
            return number
    return None


def wrapped(number: int, bits: int) -> int:
    """The number as a signed integer of this many bits."""
    if bits <= 1:
        return number & 1
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


def fold(op: GOp) -> GValue | Number | None:
    """What the single result of the operation is equal to: an operand, or a number; None if neither is
    known."""
    folder = _FOLDERS.get(op.name)
    return None if folder is None else folder(op)


def _same_type(a: GValue, b: GValue) -> bool:
    return a.type == b.type and a.encoding == b.encoding


def _integers(op: GOp) -> tuple[int | None, int | None]:
    a, b = constant(op.operands[0]), constant(op.operands[1])
    return (
        int(a) if isinstance(a, int) else None,
        int(b) if isinstance(b, int) else None,
    )


def _unsigned(number: int, bits: int) -> int:
    return number & ((1 << bits) - 1)


def _trunc_div(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _integer(op: GOp) -> GValue | Number | None:
    a, b = _integers(op)
    x, y = op.operands[0], op.operands[1]
    bits = op.results[0].type.bits
    name = op.name[6:]
    if a is not None and b is not None:
        number = _compute(name, a, b, bits)
        return None if number is None else wrapped(number, bits)
    if name in ("addi", "subi", "ori", "xori", "shli", "shrsi", "shrui") and b == 0:
        return x
    if name in ("addi", "ori", "xori") and a == 0:
        return y
    if name in ("muli", "divsi", "divui", "ceildivsi", "ceildivui", "floordivsi") and b == 1:
        return x
    if name == "muli":
        if a == 1:
            return y
        return 0 if a == 0 or b == 0 else None
    if name in ("remsi", "remui") and b in (1, -1):
        return 0
    if name in ("subi", "xori") and x is y:
        return 0
    if name in ("andi", "ori", "maxsi", "maxui", "minsi", "minui") and x is y:
        return x
    ones = 1 if bits == 1 else -1
    if name == "andi":
        if a == 0 or b == 0:
            return 0
        if b == ones:
            return x
        return y if a == ones else None
    if name == "ori" and (a == ones or b == ones):
        return ones
    if name in ("divsi", "divui", "remsi", "remui") and a == 0:
        return 0
    return None


def _compute(name: str, a: int, b: int, bits: int) -> int | None:
    if name == "addi":
        return a + b
    if name == "subi":
        return a - b
    if name == "muli":
        return a * b
    if name in ("andi", "ori", "xori"):
        return {"andi": a & b, "ori": a | b, "xori": a ^ b}[name]
    if name in ("maxsi", "minsi"):
        return max(a, b) if name == "maxsi" else min(a, b)
    if name in ("maxui", "minui"):
        pick = max if name == "maxui" else min
        return pick(_unsigned(a, bits), _unsigned(b, bits))
    if name == "shli":
        return a << b if 0 <= b < bits else None
    if name == "shrsi":
        return a >> b if 0 <= b < bits else None
    if name == "shrui":
        return _unsigned(a, bits) >> b if 0 <= b < bits else None
    if b == 0:
        return None
    if name == "divsi":
        return _trunc_div(a, b)
    if name == "remsi":
        return a - b * _trunc_div(a, b)
    if name == "divui":
        return _unsigned(a, bits) // _unsigned(b, bits)
    if name == "remui":
        return _unsigned(a, bits) % _unsigned(b, bits)
    if name == "floordivsi":
        return a // b
    if name in ("ceildivsi", "ceildivui"):
        return -(-a // b)
    return None


def _float(op: GOp) -> GValue | Number | None:
    a, b = constant(op.operands[0]), constant(op.operands[1])
    name = op.name[6:]
    x, y = op.operands[0], op.operands[1]
    if a is not None and b is not None:
        return _compute_float(name, float(a), float(b))
    if b is not None:
        number = float(b)
        negative_zero = number == 0 and math.copysign(1, number) < 0
        if name == "addf" and negative_zero:
            return x
        if name == "subf" and number == 0 and not negative_zero:
            return x
        if name in ("mulf", "divf") and number == 1:
            return x
    if name in ("maximumf", "minimumf", "maxnumf", "minnumf") and x is y:
        return x
    return None


def _compute_float(name: str, a: float, b: float) -> float | None:
    try:
        if name == "addf":
            return a + b
        if name == "subf":
            return a - b
        if name == "mulf":
            return a * b
        if name == "divf":
            return a / b if b else None
        if name in ("maximumf", "maxnumf"):
            return max(a, b)
        if name in ("minimumf", "minnumf"):
            return min(a, b)
    except OverflowError:
        return None
    return None


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
}
_UNSIGNED = {"ult": "slt", "ule": "sle", "ugt": "sgt", "uge": "sge"}


def _compare(op: GOp) -> GValue | Number | None:
    a, b = _integers(op)
    predicate = op.attrs["predicate"]
    if a is not None and b is not None:
        if predicate in _UNSIGNED:
            bits = op.operands[0].type.bits
            a, b = _unsigned(a, bits), _unsigned(b, bits)
            predicate = _UNSIGNED[predicate]
        test = _COMPARE.get(predicate)
        return None if test is None else test(a, b)
    if op.operands[0] is op.operands[1]:
        return predicate in ("eq", "sle", "sge", "ule", "uge")
    # A comparison of an i1 with what keeps it as it is.
    if op.operands[0].type.element == "i1" and (
        (predicate == "ne" and b == 0) or (predicate == "eq" and b is not None and b & 1 == 1)
    ):
        return op.operands[0]
    return None


def _select(op: GOp) -> GValue | Number | None:
    condition, yes, no = op.operands
    if yes is no:
        return yes
    number = constant(condition)
    if number is not None:
        return yes if number else no
    if op.results[0].type.element == "i1" and condition.type == op.results[0].type:
        a, b = constant(yes), constant(no)
        if a is not None and b is not None and bool(a) and not b:
            return condition
    return None


def _cast(op: GOp) -> GValue | Number | None:
    source, result = op.operands[0], op.results[0]
    number = constant(source)
    name = op.name
    if number is None:
        inner = source.op
        if name == "arith.trunci" and inner is not None and inner.name in ("arith.extsi", "arith.extui"):
            origin = inner.operands[0]
            return origin if _same_type(origin, result) else None
        if name == "arith.truncf" and inner is not None and inner.name == "arith.extf":
            origin = inner.operands[0]
            return origin if _same_type(origin, result) else None
        return None
    if name in ("arith.extf", "arith.truncf"):
        return float(number)
    if name in ("arith.sitofp", "arith.uitofp"):
        if name == "arith.uitofp":
            number = _unsigned(int(number), source.type.bits)
        return float(number)
    if name in ("arith.fptosi", "arith.fptoui"):
        return int(number) if math.isfinite(number) else None
    if name == "arith.extui":
        return _unsigned(int(number), source.type.bits)
    if name == "arith.extsi" and source.type.bits == 1:
        return -int(number)
    return wrapped(int(number), result.type.bits)


def _constant_view(op: GOp) -> GValue | Number | None:
    """Splat, broadcast, expand_dims, reshape, trans of a constant; one that changes nothing."""
    source, result = op.operands[0], op.results[0]
    number = constant(source)
    if number is not None and op.name != "ttg.convert_layout":
        return number
    if _same_type(source, result):
        if op.name == "tt.broadcast" or op.name == "tt.bitcast":
            return source
        if op.name == "tt.reshape" and not op.attrs.get("allow_reorder"):
            return source
        if op.name == "tt.trans" and tuple(op.attrs["order"]) == tuple(range(len(op.attrs["order"]))):
            return source
    return None


def _fp_to_fp(op: GOp) -> GValue | Number | None:
    if op.attrs.get("never_folds"):
        return None
    source, result = op.operands[0], op.results[0]
    if _same_type(source, result):
        return source
    return 0.0 if constant(source) == 0 else None


def _bitcast(op: GOp) -> GValue | Number | None:
    return op.operands[0] if _same_type(op.operands[0], op.results[0]) else None


def _addptr(op: GOp) -> GValue | Number | None:
    return op.operands[0] if constant(op.operands[1]) == 0 else None


def _make_range(op: GOp) -> GValue | Number | None:
    start = int(op.attrs["start"])
    return start if start + 1 == op.attrs["end"] else None


_FOLDERS: dict[str, Callable[[GOp], GValue | Number | None]] = {
    **{
        f"arith.{name}": _integer
        for name in (
            "addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "andi", "ori", "xori", "shli",
            "shrsi", "shrui", "maxsi", "minsi", "maxui", "minui", "floordivsi", "ceildivsi", "ceildivui",
        )
    },
    **{
        f"arith.{name}": _float
        for name in ("addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf")
    },
    **{
        f"arith.{name}": _cast
        for name in ("extf", "truncf", "extsi", "extui", "trunci", "sitofp", "uitofp", "fptosi", "fptoui")
    },
    "arith.cmpi": _compare,
    "arith.select": _select,
    "tt.splat": _constant_view,
    "tt.broadcast": _constant_view,
    "tt.expand_dims": _constant_view,
    "tt.reshape": _constant_view,
    "tt.trans": _constant_view,
    "tt.fp_to_fp": _fp_to_fp,
    "tt.bitcast": _bitcast,
    "tt.addptr": _addptr,
    "tt.make_range": _make_range,
}  # fmt: skip

FOLDED = frozenset(_FOLDERS)
"""Names of the operations that may fold."""
