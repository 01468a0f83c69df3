"""Operators over plain values and symbols: plain Python where both sides are known, bounds where they are not."""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable
from typing import Any

from tritonlint.source.guards import Choice
from tritonlint.source.objects import (
    Dict,
    EnumMember,
    External,
    Instance,
    List,
    Maybe,
    Raised,
    Set,
    Symbol,
    Tensor,
    TypeValue,
)
from tritonlint.source.sizes import MOST_LONG, too_large, too_long, too_wide
from tritonlint.source.values import DType

Make = Callable[..., Any]  # (key, reason, **bounds) -> Symbol, or the value that is assumed for the key

_BINARY: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
    ast.BitAnd: ("&", operator.and_),
    ast.MatMult: ("@", operator.matmul),
}
_COMPARE: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
_FAMILIAR = frozenset(sys.stdlib_module_names) | {"triton", "torch", "numpy", "builtins"}
_SCALARS = (int, float, str, bool, bytes, complex)
_LIMIT_BITS = 4096  # of an integer, of a shift
_KEY_PARTS, _KEY_DEPTH = 1000, 20  # of a container that is told by what it holds

_PROMOTION = ["i1", "u8", "i8", "i16", "i32", "i64", "fp16", "bf16", "fp32", "fp64"]


class Key(tuple[Any, ...]):
    """What a symbol stands for, made of parts. Equal keys are one object: a key that is made of others over and over
    (`x = x * x`) is compared and hashed at the cost of its last step, not of all that it would say written out."""

    _hash: int

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other


_keys: dict[tuple[Any, ...], Key] = {}
_MAX_KEYS = 200_000


def grow(*parts: Any) -> Key:
    """The key made of these parts, which are keys or plain hashable values."""
    known = _keys.get(parts)
    if known is None:
        if len(_keys) > _MAX_KEYS:
            _keys.clear()  # a key made later is another one; all that is lost is what two uses have in common
        known = Key(parts)
        known._hash = hash(parts)
        _keys[parts] = known
    return known


def forget_keys() -> None:
    """To be called between files that have no keys in common."""
    _keys.clear()


def key_of(value: Any) -> Any:
    """A hashable that stands for the value in a symbol's key. Containers and choices stand for what is in them now: a
    list that is made for one call is gone after it, and the next one may lie at the same address."""
    try:
        return _key_of(value, [_KEY_PARTS], 0)
    except _TooLargeError:
        return ("object", id(value))


class _TooLargeError(Exception):
    pass


def _key_of(value: Any, left: list[int], depth: int) -> Any:
    """`left` is how many parts more may be gone through."""
    if isinstance(value, (Symbol, Tensor)):
        return value.key
    if value is None or isinstance(value, _SCALARS):
        return (type(value).__name__, value)
    if isinstance(value, (DType, External, TypeValue)):
        return value
    if not isinstance(value, (tuple, list, Dict, set, frozenset, Choice, Maybe)):
        return ("object", id(value))
    left[0] -= 1 if isinstance(value, (Choice, Maybe)) else len(value)
    if left[0] < 0 or depth > _KEY_DEPTH:
        raise _TooLargeError

    def inner(part: Any) -> Any:
        return _key_of(part, left, depth + 1)

    if isinstance(value, Dict):
        return grow("dict", *((inner(key), inner(item)) for key, item in value.items()))
    if isinstance(value, (set, frozenset)):
        return grow("set", frozenset(map(inner, value)))
    if isinstance(value, Choice):
        return grow("choice", *((guards, inner(one)) for guards, one in value.alternatives))
    if isinstance(value, Maybe):
        return grow("maybe", value.when, inner(value.value))
    return grow(type(value).__name__, *map(inner, value))


def is_familiar(value: External) -> bool:
    """A module, class or function of a package whose names are known to be that; anything else that is imported from
    a file that cannot be read may be a plain value."""
    return value.dotted.split(".")[0] in _FAMILIAR


def reason_of(value: Any) -> str:
    """Why a value is not known, for the user."""
    if isinstance(value, External):
        return f"{value.dotted} is in a file that cannot be read"
    return getattr(value, "reason", "") or "its parts are not known"


def bounds(value: Any) -> tuple[int | None, int | None]:
    if isinstance(value, Symbol):
        return value.low, value.high
    if isinstance(value, (int, bool)):
        return int(value), int(value)
    return None, None


def power_of_two(value: Any) -> bool:
    if isinstance(value, Symbol):
        return value.power_of_two
    return isinstance(value, int) and value > 0 and value & (value - 1) == 0


def multiple_of(value: Any) -> int:
    if isinstance(value, Symbol):
        return value.multiple_of
    return abs(value) if isinstance(value, int) and not isinstance(value, bool) else 1


def binary(make: Make, op: ast.operator, left: Any, right: Any) -> Any:
    """`left op right`. Raises `Raised` where Python would."""
    sign, function = _BINARY[type(op)]
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _tensors(sign, left, right)
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        return _symbols(make, sign, left, right)
    return _plain(make, sign, function, left, right)


def _plain(make: Make, sign: str, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if isinstance(left, EnumMember) and isinstance(left.value, int):
        left = left.value
    if isinstance(right, EnumMember) and isinstance(right.value, int):
        right = right.value
    if isinstance(left, (External, Instance)) or isinstance(right, (External, Instance)):
        return make(
            grow("op", sign, key_of(left), key_of(right)),
            reason_of(left if isinstance(left, External) else right),
        )
    if not _reasonable(sign, left, right):
        raise Raised("OverflowError", "the value is too large")
    try:
        if isinstance(left, List) and isinstance(right, (list, tuple)) and sign == "+":
            return List([*left, *right])
        if isinstance(left, List) and sign == "*" and isinstance(right, int):
            return List(list(left) * right)
        if isinstance(left, Dict) and isinstance(right, Dict) and sign == "|":
            return Dict({**left, **right}, {**left.origins, **right.origins})
        result = function(left, right)
    except Exception as error:
        raise Raised(type(error).__name__, str(error)) from None
    if type(result) is set:
        return Set(result)
    if type(result) is list:
        return List(result)
    return result


def _reasonable(sign: str, left: Any, right: Any) -> bool:
    if sign == "**" and isinstance(left, int) and isinstance(right, int):
        return abs(right) * max(left.bit_length(), 1) <= _LIMIT_BITS
    if sign == "<<" and isinstance(left, int) and isinstance(right, int):
        return right <= _LIMIT_BITS and left.bit_length() <= _LIMIT_BITS
    if sign == "*":
        for items, count in ((left, right), (right, left)):
            if isinstance(items, (str, bytes, list, tuple)) and isinstance(count, int):
                return len(items) * max(count, 0) <= MOST_LONG
        if isinstance(left, int) and isinstance(right, int):
            return left.bit_length() + right.bit_length() <= _LIMIT_BITS
    if sign == "+" and isinstance(left, (str, bytes, list, tuple)) and isinstance(right, type(left)):
        return len(left) + len(right) <= MOST_LONG
    if sign == "%" and isinstance(left, str):
        return len(left) < 1000 and not too_wide(left, right)
    return True


def _symbols(make: Make, sign: str, left: Any, right: Any) -> Any:
    reason = left.reason if isinstance(left, Symbol) else right.reason
    low, high = _bounds_of(sign, bounds(left), bounds(right))
    multiple = 1
    power = False
    if sign == "*":
        multiple = multiple_of(left) * multiple_of(right)
        power = power_of_two(left) and power_of_two(right)
    elif sign in ("+", "-"):
        multiple = _gcd(multiple_of(left), multiple_of(right))
    elif sign == "//" and power_of_two(left) and power_of_two(right):
        # A quotient of powers of two is one, or 0 where the divisor is larger.
        low_left, _ = bounds(left)
        _, high_right = bounds(right)
        power = low_left is not None and high_right is not None and low_left >= high_right
    kinds = {_kind(left), _kind(right)}
    kind = "float" if "float" in kinds or sign == "/" else "int" if kinds == {"int"} else ""
    key = grow("op", sign, key_of(left), key_of(right))
    return make(key, reason, low=low, high=high, power_of_two=power, multiple_of=max(multiple, 1), kind=kind)


def _kind(value: Any) -> str:
    if isinstance(value, Symbol):
        return value.kind
    if isinstance(value, (bool, int)):
        return "int"
    return "float" if isinstance(value, float) else ""


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def _bounds_of(
    sign: str, left: tuple[int | None, int | None], right: tuple[int | None, int | None]
) -> tuple[int | None, int | None]:
    (a, b), (c, d) = left, right
    if sign == "+":
        return (None if a is None or c is None else a + c), (None if b is None or d is None else b + d)
    if sign == "-":
        return (None if a is None or d is None else a - d), (None if b is None or c is None else b - c)
    nonnegative = a is not None and a >= 0 and c is not None and c >= 0
    if sign == "*" and nonnegative:
        return a * c, (None if b is None or d is None else b * d)  # type: ignore[operator]
    if sign == "//" and a is not None and a >= 0 and c is not None and c > 0:
        return (0 if d is None else a // d), (None if b is None else b // c)
    if sign == "%" and c is not None and c > 0:
        return 0, (None if d is None else d - 1)
    if sign == "&" and nonnegative:
        tops = [top for top in (b, d) if top is not None]
        return 0, min(tops) if tops else None
    return None, None


def _tensors(sign: str, left: Any, right: Any) -> Any:
    tensor = left if isinstance(left, Tensor) else right
    other = right if tensor is left else left
    dtype: Any = tensor.dtype
    if isinstance(other, Tensor):
        dtype = promote(tensor.dtype, other.dtype)
    elif isinstance(other, float) and isinstance(dtype, DType) and dtype.name[0] in "iu":
        dtype = DType("fp32")
    elif not isinstance(other, (int, float, bool)):
        dtype = Symbol(grow("dtype", key_of(other)), "the dtype of an operand is not known", kind="dtype")
    key = grow("op", sign, key_of(left), key_of(right))
    return Tensor(key, dtype, tensor.shape if not isinstance(other, Tensor) else None)


def promote(first: Any, second: Any) -> Any:
    """torch's result dtype of two tensors."""
    if isinstance(first, DType) and isinstance(second, DType):
        if first == second:
            return first
        if {first.name, second.name} == {"fp16", "bf16"}:
            return DType("fp32")
        if first.name in _PROMOTION and second.name in _PROMOTION:
            return max(first, second, key=lambda dtype: _PROMOTION.index(dtype.name))
    elif isinstance(first, Symbol) and isinstance(second, Symbol) and first.key == second.key:
        return first
    return Symbol(grow("promote", key_of(first), key_of(second)), "the dtype is not known", kind="dtype")


def unary(make: Make, op: ast.unaryop, value: Any) -> Any:
    if isinstance(op, ast.Not):
        known = truth(value)
        if known is None:
            return make(grow("not", key_of(value)), _reason(value), low=0, high=1, kind="bool")
        return not known
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Symbol):
        low, high = value.low, value.high
        if isinstance(op, ast.USub):
            low, high = (None if high is None else -high), (None if low is None else -low)
        elif isinstance(op, ast.Invert):
            low = high = None
        multiple = value.multiple_of
        sign = type(op).__name__
        return make(grow("unary", sign, value.key), value.reason, low=low, high=high, multiple_of=multiple)
    try:
        if isinstance(op, ast.USub):
            return -value
        if isinstance(op, ast.UAdd):
            return +value
        return ~value
    except Exception as error:
        raise Raised(type(error).__name__, str(error)) from None


def _reason(value: Any) -> str:
    return value.reason if isinstance(value, Symbol) else "its value is not known"


def truth(value: Any) -> bool | None:
    """bool(value); None where it cannot be told."""
    if isinstance(value, Symbol):
        if (value.low is not None and value.low > 0) or (value.high is not None and value.high < 0):
            return True
        return False if value.low == 0 and value.high == 0 else None
    if isinstance(value, Tensor):
        return None
    if isinstance(value, (List, Set, tuple)):
        if any(not isinstance(item, Maybe) for item in value):
            return True
        return None if value else False
    if isinstance(value, Instance):
        return True if not isinstance(value.cls, str) else None
    if isinstance(value, External):
        return True if is_familiar(value) else None
    try:
        return bool(value)
    except Exception:
        return None


def compare(make: Make, op: ast.cmpop, left: Any, right: Any) -> Any:
    """One comparison: True, False, or a symbol."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        known = _identical(left, right)
        if known is None:
            answer = make(
                grow("cmp", "is", key_of(left), key_of(right)),
                _reason_of(left, right),
                low=0,
                high=1,
                kind="bool",
            )
            return answer if isinstance(op, ast.Is) else unary(make, ast.Not(), answer)
        return known if isinstance(op, ast.Is) else not known
    if isinstance(op, (ast.In, ast.NotIn)):
        known = _contains(left, right)
        if known is None:
            answer = make(
                grow("cmp", "in", key_of(left), key_of(right)),
                _reason_of(left, right),
                low=0,
                high=1,
                kind="bool",
            )
            return answer if isinstance(op, ast.In) else unary(make, ast.Not(), answer)
        return known if isinstance(op, ast.In) else not known
    if isinstance(op, (ast.Eq, ast.NotEq)):
        known = equal(left, right)
        if known is None:
            answer = make(
                grow("cmp", "==", frozenset((key_of(left), key_of(right)))),
                _reason_of(left, right),
                low=0,
                high=1,
                kind="bool",
            )
            return answer if isinstance(op, ast.Eq) else unary(make, ast.Not(), answer)
        return known if isinstance(op, ast.Eq) else not known
    return _order(make, op, left, right)


def _reason_of(left: Any, right: Any) -> str:
    return left.reason if isinstance(left, Symbol) else _reason(right)


def _order(make: Make, op: ast.cmpop, left: Any, right: Any) -> Any:
    sign, function = _COMPARE[type(op)]
    if not isinstance(left, (Symbol, Tensor)) and not isinstance(right, (Symbol, Tensor)):
        if isinstance(left, EnumMember):
            left = left.value
        if isinstance(right, EnumMember):
            right = right.value
        if isinstance(left, (External, Instance)) or isinstance(right, (External, Instance)):
            key = grow("cmp", sign, key_of(left), key_of(right))
            return make(key, "its parts are not known", low=0, high=1, kind="bool")
        if (
            isinstance(left, (tuple, list))
            and isinstance(right, (tuple, list))
            and not _all_plain(left, right)
        ):
            key = grow("cmp", sign, key_of(left), key_of(right))
            return make(key, "its parts are not known", low=0, high=1, kind="bool")
        try:
            return function(left, right)
        except Exception as error:
            raise Raised(type(error).__name__, str(error)) from None
    (a, b), (c, d) = bounds(left), bounds(right)
    if sign in (">", ">="):
        a, b, c, d = c, d, a, b
    strict = sign in ("<", ">")
    if b is not None and c is not None and (b < c or (b == c and not strict)):
        return True
    if a is not None and d is not None and (a > d or (a == d and strict)):
        return False
    # `a > b` and `b < a` are one condition, and `a <= b` is the other outcome of `a > b`.
    low, high = (left, right) if sign in ("<", "<=") else (right, left)
    if strict:
        return make(
            grow("cmp", "<", key_of(low), key_of(high)), _reason_of(left, right), low=0, high=1, kind="bool"
        )
    inner = make(
        grow("cmp", "<", key_of(high), key_of(low)), _reason_of(left, right), low=0, high=1, kind="bool"
    )
    return unary(make, ast.Not(), inner)


def _all_plain(*rows: Any) -> bool:
    return all(isinstance(item, _SCALARS) for row in rows for item in row)


def _identical(left: Any, right: Any) -> bool | None:
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        if isinstance(left, Symbol) and isinstance(right, Symbol):
            return True if left.key == right.key else None
        symbol, other = (left, right) if isinstance(left, Symbol) else (right, left)
        # An unknown number is not None; a tensor handed in may be.
        if other is None and symbol.kind in ("int", "float", "bool", "tensor", "dtype"):
            return False
        return None
    if left is None or right is None:
        return left is right
    if isinstance(left, (bool, int, str, DType, External, TypeValue)):
        return bool(left == right) and type(left) is type(right)
    return left is right


def equal(left: Any, right: Any) -> bool | None:
    """left == right; None where it cannot be told."""
    if isinstance(left, (Symbol, Tensor)) or isinstance(right, (Symbol, Tensor)):
        if isinstance(left, Symbol) and isinstance(right, Symbol) and left.key == right.key:
            return True
        (a, b), (c, d) = bounds(left), bounds(right)
        if (b is not None and c is not None and b < c) or (a is not None and d is not None and a > d):
            return False
        symbol, other = (left, right) if isinstance(left, (Symbol, Tensor)) else (right, left)
        if isinstance(symbol, Symbol):
            if symbol.power_of_two and isinstance(other, int) and not power_of_two(other):
                return False
            if symbol.kind in ("int", "float", "bool") and (other is None or isinstance(other, str)):
                return False
        return None
    if isinstance(left, EnumMember) and isinstance(right, EnumMember):
        return left is right or (left.cls is right.cls and left.name == right.name)
    for a, b in ((left, right), (right, left)):
        if isinstance(a, EnumMember) and not isinstance(b, EnumMember):
            return (
                bool(a.value == b)
                if "IntEnum" in str(a.cls.external_bases()) or isinstance(b, str)
                else False
            )
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)):
        if too_large(left) or too_large(right):
            return None
        if isinstance(left, tuple) is not isinstance(right, tuple) or len(left) != len(right):
            return False if not any(isinstance(item, Maybe) for item in (*left, *right)) else None
        answers = [equal(a, b) for a, b in zip(left, right, strict=False)]
        return False if False in answers else None if None in answers else True
    if isinstance(left, (External, Instance)) or isinstance(right, (External, Instance)):
        if left is right or (isinstance(left, External) and left == right):
            return True
        return False if left is None or right is None else None
    try:
        return bool(left == right)
    except Exception:
        return None


def _contains(item: Any, container: Any) -> bool | None:
    if isinstance(container, (Dict, dict)):
        if isinstance(item, Symbol):
            return None if container else False
        try:
            return item in container
        except TypeError:
            return None
    if isinstance(container, str):
        return item in container if isinstance(item, str) else None
    if too_long(container):
        return item in container if isinstance(container, range) and isinstance(item, int) else None
    if isinstance(container, (list, tuple, set, frozenset, range)):
        unsure = False
        for element in container:
            maybe = isinstance(element, Maybe)
            known = equal(item, element.value if isinstance(element, Maybe) else element)
            if known and not maybe:
                return True
            unsure = unsure or known is None or bool(known and maybe)
        return None if unsure else False
    return None
