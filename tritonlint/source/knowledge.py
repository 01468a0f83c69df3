"""The evaluator's values as the other rooms see them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tritonlint.source.guards import Choice
from tritonlint.source.kernels import Kernel
from tritonlint.source.objects import (
    MISSING,
    Descriptor,
    Dict,
    EnumMember,
    External,
    Instance,
    List,
    Set,
    Symbol,
    Tensor,
    TypeValue,
)
from tritonlint.source.sites import ModuleRef
from tritonlint.source.sizes import too_large
from tritonlint.source.symbolic import is_familiar, reason_of
from tritonlint.source.values import Bounded, DType, Knowledge, Known, OneOf, Unknown

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Interpreter

_NOT_PLAIN: Any = object()
_MAX_ONE_OF = 32


def plain(interp: Interpreter, value: Any) -> Any:
    """A value that the other rooms can hold; `_NOT_PLAIN` where it is not exactly known."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, DType)):
        return value
    if isinstance(value, (tuple, List)):
        items = [plain(interp, item) for item in value]
        if any(item is _NOT_PLAIN for item in items):
            return _NOT_PLAIN
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, Dict):
        found = {key: plain(interp, item) for key, item in value.items()}
        return _NOT_PLAIN if any(item is _NOT_PLAIN for item in found.values()) else found
    if isinstance(value, Set):
        return _NOT_PLAIN
    if isinstance(value, EnumMember):
        return plain(interp, value.value)
    if isinstance(value, Kernel):
        from tritonlint.source.kernel_sources import kernel_source

        return kernel_source(interp, value)
    if isinstance(value, External):
        return ModuleRef(value.dotted)
    if isinstance(value, TypeValue):
        return {"int": DType("i32"), "float": DType("fp32"), "bool": DType("i1")}.get(value.name, _NOT_PLAIN)
    if isinstance(value, Instance) and isinstance(value.attributes.get("__items__"), tuple):
        return plain(interp, value.attributes["__items__"])
    return _NOT_PLAIN


def knowledge(interp: Interpreter, value: Any) -> Knowledge:
    """What is known of a value."""
    if isinstance(value, Choice):
        return _choice(interp, value)
    if isinstance(value, Symbol):
        return _symbol(value)
    if isinstance(value, Tensor):
        return Unknown("a tensor")
    if isinstance(value, Descriptor):
        return Unknown("a tensor descriptor")
    if isinstance(value, External) and not is_familiar(value):
        return Unknown(reason_of(value))
    if too_large(value):
        return Unknown("it has too many parts")
    found = plain(interp, value)
    return Unknown("its parts are not known") if found is _NOT_PLAIN else Known(found)


def _symbol(value: Symbol) -> Knowledge:
    if value.kind == "bool":
        return OneOf((False, True))
    if value.kind in ("int", "") and (value.low is not None or value.high is not None or value.power_of_two):
        return Bounded(value.low, value.high, value.power_of_two, value.multiple_of, value.reason)
    if value.multiple_of > 1:
        return Bounded(None, None, False, value.multiple_of, value.reason)
    return Unknown(value.reason)


def _choice(interp: Interpreter, value: Choice) -> Knowledge:
    values = [one for one in value.values if one is not MISSING]
    parts = [knowledge(interp, one) for one in values]
    flat: list[Any] = []
    for part in parts:
        if isinstance(part, Known):
            flat.append(part.value)
        elif isinstance(part, OneOf):
            flat.extend(part.values)
        else:
            break
    else:
        distinct: list[Any] = []
        for one in flat:
            if not any(one is other or (type(one) is type(other) and one == other) for other in distinct):
                distinct.append(one)
        if len(distinct) == 1:
            return Known(distinct[0])
        if len(distinct) <= _MAX_ONE_OF:
            return OneOf(tuple(distinct))
    return _hull(parts)


def _hull(parts: list[Knowledge]) -> Knowledge:
    """Bounds that hold for every part."""
    lows: list[int | None] = []
    highs: list[int | None] = []
    power = True
    multiple = 0
    reason = ""
    for part in parts:
        if isinstance(part, Bounded):
            lows.append(part.low)
            highs.append(part.high)
            power = power and part.power_of_two
            multiple = math.gcd(multiple, part.multiple_of)
            reason = reason or part.reason
            continue
        if isinstance(part, Unknown):
            return part
        values = [part.value] if isinstance(part, Known) else list(part.values)
        if not all(isinstance(one, int) and not isinstance(one, bool) for one in values):
            return Unknown("it is not known which value it has")
        lows.append(min(values))
        highs.append(max(values))
        power = power and all(one > 0 and one & (one - 1) == 0 for one in values)
        for one in values:
            multiple = math.gcd(multiple, one)
    known_lows = [one for one in lows if one is not None]
    known_highs = [one for one in highs if one is not None]
    return Bounded(
        min(known_lows) if len(known_lows) == len(parts) else None,
        max(known_highs) if len(known_highs) == len(parts) else None,
        power,
        max(multiple, 1),
        reason,
    )


def from_knowledge(value: Any) -> Any:
    """A value of a comment as the evaluator's own."""
    if isinstance(value, list):
        return List(from_knowledge(one) for one in value)
    return value


def signature_type(interp: Interpreter, value: Any) -> str | None:
    """A run-time argument's type as in a launch signature; None where the code does not show it."""
    if isinstance(value, Choice):
        found = {signature_type(interp, one) for one in value.values if one is not None}
        return found.pop() if len(found) == 1 else None
    if isinstance(value, Tensor):
        dtype = value.dtype
        if isinstance(dtype, Choice):
            names = {one.name for one in dtype.values if isinstance(one, DType)}
            return f"*{names.pop()}" if len(names) == 1 and len(dtype.values) == 1 else None
        return f"*{dtype.name}" if isinstance(dtype, DType) else None
    if isinstance(value, Descriptor):
        shape = value.block_shape
        if (
            isinstance(value.dtype, DType)
            and shape is not None
            and all(isinstance(one, int) for one in shape)
        ):
            return f"tensordesc<{value.dtype.name}[{','.join(str(one) for one in shape)}]>"
        return None
    if isinstance(value, bool) or (isinstance(value, Symbol) and value.kind == "bool"):
        return "i1"
    if isinstance(value, int):
        return "i32" if -(1 << 31) <= value < 1 << 31 else "i64" if value < 1 << 63 else "u64"
    if isinstance(value, float) or (isinstance(value, Symbol) and value.kind == "float"):
        return "fp32"
    return None
