"""Folds of single operations: what MLIR's arith and math dialects simplify, on scalars and splats alike."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonlint.kernel.graph import Val, type_of
from tritonlint.kernel.ir import Type, bits_of

if TYPE_CHECKING:
    from tritonlint.kernel.builder import Builder

Attrs = dict[str, Any] | None
Fold = Callable[["Builder", tuple[Val, ...], Type, Attrs], Val | None]

COMMUTATIVE = frozenset(
    {
        "arith.addi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.addf", "arith.mulf",
        "arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui", "arith.minnumf", "arith.maxnumf",
        "arith.minimumf", "arith.maximumf",
    }
)  # fmt: skip


def round_to(element: str, value: float) -> float:
    """The nearest value of a float type (of fp8 types and infinities: the value itself)."""
    if not math.isfinite(value):
        return value
    try:
        if element == "fp32":
            return float(struct.unpack("<f", struct.pack("<f", value))[0])
        if element == "fp16":
            return float(struct.unpack("<e", struct.pack("<e", value))[0])
        if element == "bf16":
            bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
            bits += 0x7FFF + ((bits >> 16) & 1)
            return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0])
    except (OverflowError, struct.error):
        return math.copysign(math.inf, value)
    return value


def _unsigned(value: int, type_: Type) -> int:
    return value & ((1 << bits_of(type_.element)) - 1)


def _inner(value: Val, name: str) -> tuple[Val, ...] | None:
    node = value.node
    return node.operands if node is not None and node.name == name else None


# --- integers ---------------------------------------------------------------------------------------------------


def _undone(x: Val, y: Val, name: str) -> Val | None:
    """What `x` was before the constant `y` was taken from it, or added to it, by the operation of this name."""
    inner = _inner(x, name)
    return inner[0] if inner is not None and inner[1].const == y.const else None


def _addi(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    x, y = o
    if y.const is not None:
        if x.const is not None:
            return b.constant(x.const + y.const, t)
        if y.const == 0:
            return x
        if t.shape is not None:  # what follows are patterns of MLIR that only take scalars
            return _undone(x, y, "arith.subi")
        inner = _inner(x, "arith.addi")
        if inner is not None and inner[1].const is not None:
            return b.op("arith.addi", (inner[0], b.constant(inner[1].const + y.const, t)), t)
        inner = _inner(x, "arith.subi")
        if inner is not None:
            if inner[1].const is not None:
                return b.op("arith.addi", (inner[0], b.constant(y.const - inner[1].const, t)), t)
            if inner[0].const is not None:
                return b.op("arith.subi", (b.constant(inner[0].const + y.const, t), inner[1]), t)
        return None
    inner = _inner(x, "arith.subi")
    if inner is not None and inner[1] is y:
        return inner[0]
    inner = _inner(y, "arith.subi")
    if inner is not None and inner[1] is x:
        return inner[0]
    for value, other in ((y, x), (x, y)):
        inner = _inner(value, "arith.muli")
        if inner is not None and inner[1].const == -1:
            return b.op("arith.subi", (other, inner[0]), t)
    return None


def _subi(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    x, y = o
    if x is y:
        return b.constant(0, t)
    if y.const is not None:
        if x.const is not None:
            return b.constant(x.const - y.const, t)
        if y.const == 0:
            return x
        if t.shape is not None:
            return _undone(x, y, "arith.addi")
        inner = _inner(x, "arith.addi")
        if inner is not None and inner[1].const is not None:
            return b.op("arith.addi", (inner[0], b.constant(inner[1].const - y.const, t)), t)
        inner = _inner(x, "arith.subi")
        if inner is not None:
            if inner[1].const is not None:
                return b.op("arith.subi", (inner[0], b.constant(inner[1].const + y.const, t)), t)
            if inner[0].const is not None:
                return b.op("arith.subi", (b.constant(inner[0].const - y.const, t), inner[1]), t)
        return None
    inner = _inner(x, "arith.addi")
    if inner is not None:
        if inner[1] is y:
            return inner[0]
        if inner[0] is y:
            return inner[1]
    inner = _inner(y, "arith.subi")
    if inner is not None and inner[0] is x and b.release >= (3, 8):
        return inner[1]
    inner = _inner(x, "arith.subi")
    if inner is not None and inner[0] is y:
        return b.op("arith.subi", (b.constant(0, t), inner[1]), t)
    if x.const is not None and t.shape is None:
        inner = _inner(y, "arith.addi")
        if inner is not None and inner[1].const is not None:
            return b.op("arith.subi", (b.constant(x.const - inner[1].const, t), inner[0]), t)
        inner = _inner(y, "arith.subi")
        if inner is not None:
            if inner[1].const is not None:
                return b.op("arith.subi", (b.constant(x.const + inner[1].const, t), inner[0]), t)
            if inner[0].const is not None:
                return b.op("arith.addi", (inner[1], b.constant(x.const - inner[0].const, t)), t)
    return None


def _muli(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    x, y = o
    if y.const is None:
        return None
    if x.const is not None:
        return b.constant(x.const * y.const, t)
    if y.const == 0:
        return y
    if y.const == 1:
        return x
    inner = _inner(x, "arith.muli") if t.shape is None else None
    if inner is not None and inner[1].const is not None:
        return b.op("arith.muli", (inner[0], b.constant(inner[1].const * y.const, t)), t)
    return None


def _divide(signed: bool, remainder: bool) -> Fold:
    def fold(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
        x, y = o
        if y.const is None:
            return None
        if y.const == 1:
            return b.constant(0, t) if remainder else x
        if x.const is None or y.const == 0:
            return None
        p, q = (x.const, y.const) if signed else (_unsigned(x.const, t), _unsigned(y.const, t))
        quotient = abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        return b.constant(p - quotient * q if remainder else quotient, t)

    return fold


def _andi(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    x, y = o
    if x is y:
        return x
    if y.const is None:
        return None
    if y.const == 0:
        return y
    if y.const == (1 if t.element == "i1" else -1):
        return x
    if x.const is not None:
        return b.constant(x.const & y.const, t)
    inner = _inner(x, "arith.andi") if t.shape is None and b.release >= (3, 8) else None
    if inner is not None and inner[1].const is not None:
        return b.op("arith.andi", (inner[0], b.constant(inner[1].const & y.const, t)), t)
    return None


def _ori(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    x, y = o
    if x is y:
        return x
    if y.const is None:
        return None
    if y.const == 0:
        return x
    if y.const == (1 if t.element == "i1" else -1):
        return y
    return None if x.const is None else b.constant(x.const | y.const, t)


_INVERTED = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle",
    "ult": "uge", "uge": "ult", "ule": "ugt", "ugt": "ule",
}  # fmt: skip
_SWAPPED = {
    "eq": "eq", "ne": "ne", "slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle",
    "ult": "ugt", "ugt": "ult", "ule": "uge", "uge": "ule",
}  # fmt: skip


def _xori(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    x, y = o
    if x is y:
        return b.constant(0, t)
    for value, other in ((x, y), (y, x)):
        inner = _inner(value, "arith.xori")
        if inner is not None:
            if inner[1] is other:
                return inner[0]
            if inner[0] is other:
                return inner[1]
    if y.const is None:
        return None
    if y.const == 0:
        return x
    if x.const is not None:
        return b.constant(x.const ^ y.const, t)
    if t.element == "i1" and y.const == 1 and t.shape is None:
        inner = _inner(x, "arith.cmpi")
        if inner is not None:
            assert x.node is not None
            return b.op("arith.cmpi", inner, t, {"predicate": _INVERTED[x.node.attrs["predicate"]]})
    return None


def _shift(kind: str) -> Fold:
    def fold(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
        x, y = o
        if y.const is None:
            return None
        if y.const == 0:
            return x
        if x.const is None or not 0 <= y.const < bits_of(t.element):
            return None
        if kind == "shli":
            return b.constant(x.const << y.const, t)
        return b.constant((x.const if kind == "shrsi" else _unsigned(x.const, t)) >> y.const, t)

    return fold


def _integer_extreme(kind: str) -> Fold:
    def fold(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
        x, y = o
        if x is y:
            return x
        if x.const is None or y.const is None:
            return None
        p, q = (x.const, y.const) if kind.endswith("si") else (_unsigned(x.const, t), _unsigned(y.const, t))
        return x if (p <= q) == kind.startswith("min") else y

    return fold


def _cmpi(b: Builder, o: tuple[Val, ...], t: Type, attrs: Attrs) -> Val | None:
    x, y = o
    predicate: str = (attrs or {})["predicate"]
    if x is y:
        return b.constant(int(predicate in ("eq", "sle", "sge", "ule", "uge")), t)
    if x.const is not None:
        if y.const is None:
            return b.op("arith.cmpi", (y, x), t, {"predicate": _SWAPPED[predicate]})
        p, q = x.const, y.const
        if predicate[0] == "u" or x.type.element == "i1":
            p, q = _unsigned(p, x.type), _unsigned(q, y.type)
            if predicate[0] == "s":
                p, q = -p, -q
        return b.constant(
            int(_COMPARE[predicate.lstrip("su") if predicate not in ("eq", "ne") else predicate](p, q)), t
        )
    if y.const is not None:
        if x.type.element == "i1" and predicate in ("eq", "ne"):
            if (predicate == "ne") == (y.const == 0):
                return x
            return None
        if predicate == "ne" and y.const == 0 and t.shape is None:
            for name in ("arith.extsi", "arith.extui"):
                inner = _inner(x, name)
                if inner is not None and inner[0].type.element == "i1":
                    return inner[0]
    return None


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda p, q: bool(p == q),
    "ne": lambda p, q: bool(p != q),
    "lt": lambda p, q: bool(p < q),
    "le": lambda p, q: bool(p <= q),
    "gt": lambda p, q: bool(p > q),
    "ge": lambda p, q: bool(p >= q),
}


# --- floats -----------------------------------------------------------------------------------------------------


def _float_binary(kind: str) -> Fold:
    def fold(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
        x, y = o
        p, q = x.const, y.const
        if q is None:
            return None
        if p is None:
            if kind == "addf" and q == 0 and math.copysign(1.0, q) < 0:
                return x
            if kind == "subf" and q == 0 and math.copysign(1.0, q) > 0:
                return x
            return x if kind in ("mulf", "divf") and q == 1 else None
        try:
            value = (
                p + q if kind == "addf" else p - q if kind == "subf" else p * q if kind == "mulf" else p / q
            )
        except (ZeroDivisionError, OverflowError):
            if kind != "divf" or q != 0 or p != p:
                return None
            sign = math.copysign(1.0, p) * math.copysign(1.0, q)
            value = math.nan if p == 0 else math.copysign(math.inf, sign)
        return b.constant(round_to(t.element, value), t)

    return fold


def _float_extreme(kind: str) -> Fold:
    def fold(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
        x, y = o
        if x is y:
            return x
        if y.const is None:
            return None
        if x.const is None:
            neutral = -math.inf if kind.startswith("max") else math.inf
            return x if y.const == neutral else None
        if x.const != x.const or y.const != y.const:
            return None
        return x if (x.const <= y.const) == kind.startswith("min") else y

    return fold


def _negf(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    if o[0].const is not None:
        return b.constant(-o[0].const, t)
    inner = _inner(o[0], "arith.negf")
    return None if inner is None else inner[0]


def _cmpf(b: Builder, o: tuple[Val, ...], t: Type, attrs: Attrs) -> Val | None:
    x, y = o
    if x.const is None or y.const is None:
        return None
    predicate: str = (attrs or {})["predicate"]
    if x.const != x.const or y.const != y.const:
        return b.constant(int(predicate[0] == "u"), t)
    return b.constant(int(_COMPARE[predicate[1:]](x.const, y.const)), t)


def _math(function: Callable[[float], float]) -> Fold:
    def fold(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
        if o[0].const is None:
            return None
        try:
            return b.constant(round_to(t.element, function(o[0].const)), t)
        except (ValueError, OverflowError, ZeroDivisionError):
            return None

    return fold


# --- conversions and the rest -----------------------------------------------------------------------------------


def _extend(name: str) -> Fold:
    def fold(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
        x = o[0]
        if x.const is not None:
            if name == "arith.extui":
                return b.constant(_unsigned(x.const, x.type), t)
            return b.constant(-x.const if x.type.element == "i1" else x.const, t)
        inner = _inner(x, "arith.extui")
        if inner is not None:
            return b.op("arith.extui", inner, t)
        inner = _inner(x, name)
        return None if inner is None else b.op(name, inner, t)

    return fold


def _trunci(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    x = o[0]
    if x.const is not None:
        return b.constant(x.const, t)
    for name in ("arith.extsi", "arith.extui"):
        inner = _inner(x, name)
        if inner is not None:
            bits, wanted = bits_of(inner[0].type.element), bits_of(t.element)
            if bits == wanted:
                return inner[0]
            return b.op("arith.trunci" if bits > wanted else name, inner, t)
    inner = _inner(x, "arith.shrsi")
    if inner is not None and inner[1].const == bits_of(x.type.element) - bits_of(t.element):
        return b.op("arith.trunci", (b.op("arith.shrui", inner, x.type),), t)
    inner = _inner(x, "arith.trunci")
    return None if inner is None else b.op("arith.trunci", inner, t)


def _truncf(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    if o[0].const is not None:
        value = round_to(t.element, o[0].const)
        return (
            b.constant(value, t) if value == o[0].const or value != value else None
        )  # only where nothing is lost
    inner = _inner(o[0], "arith.extf") if b.release >= (3, 4) else None
    return inner[0] if inner is not None and inner[0].type == t else None


def _extf(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    return None if o[0].const is None else b.constant(o[0].const, t)


def _to_float(signed: bool) -> Fold:
    def fold(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
        x = o[0]
        if x.const is None:
            return None
        value = x.const if signed else _unsigned(x.const, x.type)
        return b.constant(
            round_to(t.element, float(-value if signed and x.type.element == "i1" else value)), t
        )

    return fold


def _to_int(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    x = o[0].const
    if x is None or not math.isfinite(x) or abs(x) >= 2 ** (bits_of(t.element) - 1):
        return None
    return b.constant(int(x), t)


def _fp_to_fp(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    if o[0].type == t:
        return o[0]
    return b.constant(o[0].const, t) if o[0].const == 0 and b.release >= (3, 3) else None


def _bitcast(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    return o[0] if o[0].type == t and b.release >= (3, 8) else None


def _select(b: Builder, o: tuple[Val, ...], t: Type, _: Attrs) -> Val | None:
    condition, x, y = o
    if x is y:
        return x
    if condition.const is not None:
        return x if condition.const else y
    if t.element == "i1" and x.const is not None and y.const is not None and condition.type == t:
        return condition if x.const else b.op("arith.xori", (condition, b.constant(1, t)), t)
    inner = _inner(condition, "arith.xori") if condition.type.shape is None else None
    if inner is not None and inner[1].const == 1:
        return b.op("arith.select", (inner[0], y, x), t)
    inner = _inner(x, "arith.select")
    if inner is not None and inner[0] is condition:
        return b.op("arith.select", (condition, inner[1], y), t)
    inner = _inner(y, "arith.select")
    if inner is not None and inner[0] is condition:
        return b.op("arith.select", (condition, x, inner[2]), t)
    inner = _inner(condition, "arith.cmpi")
    if inner is not None and {inner[0], inner[1]} == {x, y}:
        assert condition.node is not None
        predicate = condition.node.attrs["predicate"]
        if predicate == "eq":
            return y
        if predicate == "ne":
            return x
        if b.release >= (3, 9) and predicate not in ("eq", "ne"):
            larger = (predicate[1] == "g") == (inner[0] is x)
            return b.op(f"arith.{'max' if larger else 'min'}{predicate[0]}i", inner, t)
    return None


def _addptr(b: Builder, o: tuple[Val, ...], t: Type, attrs: Attrs) -> Val | None:
    pointer, offset = o
    if offset.const == 0 and b.release >= (3, 3):
        return pointer
    # Triton combines additions to pointers before it moves broadcasts, so the form without the move counts here.
    inner = b.unmoved.get(pointer) or _inner(pointer, "tt.addptr")
    if not b.combining or inner is None or inner[1].type != offset.type:
        return None
    first, second = _constant_of(inner[1]), _constant_of(offset)
    bits = bits_of(offset.type.element)
    if bits != 64 and (
        first is None or second is None or not -(1 << (bits - 1)) <= first + second < 1 << (bits - 1)
    ):
        return None
    return b.op("tt.addptr", (inner[0], b.op("arith.addi", (inner[1], offset), offset.type)), t, attrs)


def _constant_of(value: Val) -> int | None:
    if value.const is None and value.node is not None and value.node.name == "tt.splat":
        value = value.node.operands[0]
    return None if value.const is None else int(value.const)


FOLDS: dict[str, Fold] = {
    "arith.addi": _addi,
    "arith.subi": _subi,
    "arith.muli": _muli,
    "arith.divsi": _divide(True, False),
    "arith.divui": _divide(False, False),
    "arith.remsi": _divide(True, True),
    "arith.remui": _divide(False, True),
    "arith.andi": _andi,
    "arith.ori": _ori,
    "arith.xori": _xori,
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.negf": _negf,
    "arith.extsi": _extend("arith.extsi"),
    "arith.extui": _extend("arith.extui"),
    "arith.trunci": _trunci,
    "arith.truncf": _truncf,
    "arith.extf": _extf,
    "arith.sitofp": _to_float(True),
    "arith.uitofp": _to_float(False),
    "arith.fptosi": _to_int,
    "arith.fptoui": _to_int,
    "arith.select": _select,
    "tt.fp_to_fp": _fp_to_fp,
    "tt.bitcast": _bitcast,
    "tt.addptr": _addptr,
    "math.exp": _math(math.exp),
    "math.exp2": _math(lambda x: 2.0**x),
    "math.log": _math(math.log),
    "math.log2": _math(math.log2),
    "math.sqrt": _math(math.sqrt),
    "math.absf": _math(abs),
    "math.floor": _math(math.floor),
    "math.ceil": _math(math.ceil),
}
FOLDS.update({f"arith.{k}": _shift(k) for k in ("shli", "shrsi", "shrui")})
FOLDS.update({f"arith.{k}": _integer_extreme(k) for k in ("minsi", "maxsi", "minui", "maxui")})
FOLDS.update({f"arith.{k}": _float_binary(k) for k in ("addf", "subf", "mulf", "divf")})
FOLDS.update({f"arith.{k}": _float_extreme(k) for k in ("minnumf", "maxnumf", "minimumf", "maximumf")})

__all__ = ["COMMUTATIVE", "FOLDS", "round_to", "type_of"]
