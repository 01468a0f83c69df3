"""Python's own functions and types, and what of the standard library shows up in config lists."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonlint.source import symbolic
from tritonlint.source.guards import ANYWHERE, Choice, Guards, lift
from tritonlint.source.objects import (
    MISSING,
    Class,
    Dict,
    EnumMember,
    External,
    Function,
    Instance,
    List,
    Maybe,
    Partial,
    Raised,
    Set,
    Symbol,
    Tensor,
    TypeValue,
)
from tritonlint.source.sizes import too_large
from tritonlint.source.values import DType

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Arguments, Interpreter

_TYPES = ("int", "float", "str", "bool", "list", "tuple", "dict", "set", "frozenset", "object", "type", "range", "slice",
          "complex", "bytes")  # fmt: skip
_FUNCTIONS = (
    "abs", "all", "any", "callable", "enumerate", "filter", "getattr", "hasattr", "id", "isinstance", "issubclass",
    "iter", "len", "map", "max", "min", "next", "pow", "print", "repr", "reversed", "round", "setattr", "sorted", "sum",
    "zip", "divmod", "hash", "format", "hex", "bin", "ord", "chr",
)  # fmt: skip
_EXCEPTIONS = ("Exception", "ValueError", "KeyError", "TypeError", "RuntimeError", "ImportError", "NotImplementedError",
               "AssertionError", "AttributeError", "IndexError", "ModuleNotFoundError", "OSError")  # fmt: skip

BUILTINS: dict[str, Any] = {name: TypeValue(name) for name in _TYPES}
BUILTINS.update({name: External(f"builtins.{name}") for name in (*_FUNCTIONS, *_EXCEPTIONS)})
BUILTINS["property"] = External("builtins.property")
BUILTINS["staticmethod"] = External("builtins.staticmethod")
BUILTINS["classmethod"] = External("builtins.classmethod")

MAX_PRODUCT = 20_000


def unknown(interp: Interpreter, arguments: Arguments, reason: str, **bounds: Any) -> Any:
    from tritonlint.source.calls import call_key

    function = arguments.node.func if arguments.node is not None else None
    name = ast.dump(function) if function is not None else reason
    return interp.symbol(call_key(name, arguments), reason, **bounds)


def items_of(interp: Interpreter, value: Any) -> list[Any] | None:
    """Plain items, or None where the value is not known or some items are there under conditions only."""
    from tritonlint.source.access import iterate

    items = iterate(interp, value)
    if items is None or any(isinstance(item, Maybe) for item in items):
        return None
    return items


def construct(interp: Interpreter, name: str, arguments: Arguments) -> Any:
    """int(...), list(...), ..."""
    values = arguments.positional
    if name == "dict":
        return _dict(interp, arguments)
    if not values:
        empty: dict[str, Callable[[], Any]] = {
            "list": List, "tuple": tuple, "set": Set, "int": int, "float": float, "str": str, "bool": bool,
            "frozenset": frozenset, "object": lambda: Instance("object"),
        }  # fmt: skip
        maker = empty.get(name)
        if maker is None:
            raise Raised("TypeError", f"{name}() wants an argument")
        return maker()
    if name == "range":
        return lift(lambda *row: _range(interp, row, arguments), *values)
    if name == "slice":
        return slice(
            *([None, values[0], None] if len(values) == 1 else [*values[:3], *([None] * (3 - len(values)))])
        )
    if name == "type":
        return _type(interp, values[0])
    return lift(lambda one: _convert(interp, name, one, arguments), values[0])


def _dict(interp: Interpreter, arguments: Arguments) -> Any:
    result = Dict()
    if arguments.positional:
        first = arguments.positional[0]
        if isinstance(first, Dict):
            result = Dict(first, first.origins)
        else:
            pairs = items_of(interp, first)
            if pairs is None:
                return unknown(interp, arguments, "what the dict is made of is not known")
            for pair in pairs:
                row = items_of(interp, pair)
                if row is None or len(row) != 2 or isinstance(row[0], (Symbol, Choice)):
                    return unknown(interp, arguments, "a key of the dict is not known")
                result[row[0]] = row[1]
    if arguments.incomplete:
        return unknown(interp, arguments, "an unpacked dict is not known")
    result.update(arguments.keywords)
    result.origins.update(arguments.keyword_origins)
    return result


def _range(interp: Interpreter, row: tuple[Any, ...], arguments: Arguments) -> Any:
    row = tuple(one.value if isinstance(one, EnumMember) else one for one in row)
    if all(isinstance(one, int) for one in row):
        try:
            return range(*row)
        except (ValueError, TypeError) as error:
            raise Raised(type(error).__name__, str(error)) from None
    stop = row[1] if len(row) > 1 else row[0]
    start = row[0] if len(row) > 1 else 0
    low, _ = symbolic.bounds(start)
    _, high = symbolic.bounds(stop)
    symbol = unknown(interp, arguments, "how far a range goes is not known", kind="range")
    if isinstance(symbol, Symbol):
        symbol.low, symbol.high = low, None if high is None else high - 1
    return symbol


def element_of(interp: Interpreter, source: Any, node: ast.AST) -> Any:
    """One item of an iterable that is not known."""
    key = ("element", id(node))
    if isinstance(source, Symbol) and source.kind == "range":
        return interp.symbol(key, "it runs over a range", low=source.low, high=source.high, kind="int")
    return interp.symbol(key, getattr(source, "reason", "what the loop runs over is not known"))


def _type(interp: Interpreter, value: Any) -> Any:
    if isinstance(value, Instance):
        return value.cls
    if isinstance(value, (Symbol, Choice)):
        return interp.symbol(symbolic.grow("type", symbolic.key_of(value)), "the type is not known")
    names: dict[Any, str] = {List: "list", Dict: "dict", Set: "set"}
    return TypeValue(names.get(type(value), type(value).__name__))


def _convert(interp: Interpreter, name: str, value: Any, arguments: Arguments) -> Any:
    if name in ("list", "tuple", "set", "frozenset"):
        from tritonlint.source.access import iterate

        items = iterate(interp, value)
        if items is None:
            if isinstance(value, (Symbol, Tensor)):
                return interp.symbol(
                    symbolic.grow("call", name, value.key), getattr(value, "reason", "it is not known")
                )
            return unknown(interp, arguments, "what it is made of is not known")
        if name == "list":
            return List(items)
        if any(isinstance(item, Maybe) for item in items):
            return List(items)
        try:
            return tuple(items) if name == "tuple" else Set(items) if name == "set" else frozenset(items)
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None
    if isinstance(value, (Symbol, Tensor)):
        if name == "int" and isinstance(value, Symbol):
            if value.kind == "int":
                return value
            key = symbolic.grow("int", value.key)
            return interp.symbol(
                key, value.reason, value.low, value.high, value.power_of_two, value.multiple_of, "int"
            )
        if name == "bool":
            known = symbolic.truth(value)
            if known is not None:
                return known
            if isinstance(value, Symbol) and value.kind == "bool":
                return value
            return interp.symbol(
                symbolic.grow("bool", value.key), "it is not known", low=0, high=1, kind="bool"
            )
        key = symbolic.grow("call", name, value.key)
        return interp.symbol(
            key, getattr(value, "reason", "it is not known"), kind=name if name in ("float", "str") else ""
        )
    if name == "bool":
        known = symbolic.truth(value)
        return known if known is not None else unknown(interp, arguments, "it is not known", kind="bool")
    if isinstance(value, EnumMember) and name in ("int", "str", "float"):
        value = (
            value.value if name != "str" or isinstance(value.value, str) else f"{value.cls.name}.{value.name}"
        )
    if name == "str" and isinstance(value, DType):
        return interp.symbol(("str", value), "the text of a dtype", kind="str")
    if name == "str" and value is not None and not isinstance(value, (int, float, str, bool, tuple)):
        return unknown(interp, arguments, "its text is not known", kind="str")
    if too_large(value):
        return unknown(interp, arguments, "it has too many parts")
    if not isinstance(value, (int, float, str, bool, bytes)) and name in ("int", "float"):
        return unknown(interp, arguments, "the number is not known", kind=name)
    if isinstance(value, str) and len(value) > 200 and name in ("int", "float"):
        raise Raised("ValueError", "not a number")
    try:
        if name == "int":
            base = arguments.positional[1] if len(arguments.positional) > 1 else None
            return int(value, base) if isinstance(base, int) and isinstance(value, str) else int(value)
        makers: dict[str, Callable[[Any], Any]] = {
            "float": float,
            "str": str,
            "object": lambda _: Instance("object"),
        }
        return makers[name](value)
    except (ValueError, TypeError, OverflowError) as error:
        raise Raised(type(error).__name__, str(error)) from None
    except KeyError:
        return unknown(interp, arguments, "it is not known")


# -- functions of `builtins`, `itertools`, `math`, `functools`, `operator`


def minimum(interp: Interpreter, arguments: Arguments, low: bool) -> Any:
    values = arguments.positional
    key = arguments.keywords.get("key")
    if len(values) == 1:
        items = items_of(interp, values[0])
        if items is None:
            return unknown(
                interp, arguments, getattr(values[0], "reason", "what it is taken of is not known")
            )
        if not items:
            if "default" in arguments.keywords:
                return arguments.keywords["default"]
            raise Raised("ValueError", "min() or max() of nothing")
        values = items
    if key is not None:
        from tritonlint.source.calls import call
        from tritonlint.source.interpreter import Arguments as New

        keys = [call(interp, key, New([value], {})) for value in values]
        if all(isinstance(one, (int, float, str, tuple)) for one in keys):
            place = (min if low else max)(range(len(values)), key=lambda at: keys[at])
            return values[place]
        return unknown(interp, arguments, "which one it is is not known")
    return lift(lambda *row: _extreme(interp, list(row), low), *values)


def _extreme(interp: Interpreter, row: list[Any], low: bool) -> Any:
    row = [one.value if isinstance(one, EnumMember) else one for one in row]
    known = [one for one in row if not isinstance(one, (Symbol, Tensor))]
    open_ = [one for one in row if isinstance(one, Symbol)]
    if any(isinstance(one, Tensor) for one in row):
        return interp.symbol(symbolic.grow("extreme", low, symbolic.key_of(row)), "it is taken of a tensor")
    try:
        best = (min if low else max)(known) if known else None
    except TypeError as error:
        raise Raised("TypeError", str(error)) from None
    if not open_:
        return best
    if isinstance(best, int):
        # `min(n, 64)` is 64 where n is never less.
        left = []
        for one in open_:
            bottom, top = one.low, one.high
            beaten = (bottom is not None and bottom >= best) if low else (top is not None and top <= best)
            if not beaten:
                left.append(one)
        open_ = left
        if not open_:
            return best
    every = [*open_, *([best] if best is not None else [])]
    if len(every) == 1:
        return every[0]
    lows = [symbolic.bounds(one)[0] for one in every]
    highs = [symbolic.bounds(one)[1] for one in every]
    known_lows = [one for one in lows if one is not None]
    known_highs = [one for one in highs if one is not None]
    if low:
        bottom = min(known_lows) if len(known_lows) == len(every) else None
        top = min(known_highs) if known_highs else None
    else:
        bottom = max(known_lows) if known_lows else None
        top = max(known_highs) if len(known_highs) == len(every) else None
    multiple = 0
    for one in every:
        multiple = math.gcd(multiple, symbolic.multiple_of(one))
    key = symbolic.grow("min" if low else "max", frozenset(map(symbolic.key_of, every)))
    whole = all(isinstance(one, int) or (isinstance(one, Symbol) and one.kind == "int") for one in every)
    kind = "int" if whole else ""
    power = all(symbolic.power_of_two(one) for one in every)
    return interp.symbol(key, open_[0].reason, bottom, top, power, max(multiple, 1), kind)


def length(interp: Interpreter, value: Any) -> Any:
    if isinstance(value, (List, tuple, list)):
        sure = sum(not isinstance(item, Maybe) for item in value)
        if sure == len(value):
            return len(value)
        return interp.symbol(
            symbolic.grow("len", symbolic.key_of(value)),
            "how long a list is hangs on conditions",
            sure,
            len(value),
            kind="int",
        )
    if isinstance(value, (Dict, Set, str, bytes, range, frozenset)):
        try:
            return len(value)
        except OverflowError as error:
            raise Raised("OverflowError", str(error)) from None
    if isinstance(value, Class) and value.is_enum:
        return sum(isinstance(one, EnumMember) for one in value.attributes.values())
    if isinstance(value, Tensor) and value.shape:
        return value.shape[0]
    if isinstance(value, (Symbol, Tensor)):
        return interp.symbol(
            symbolic.grow("len", value.key), getattr(value, "reason", "len() is not known"), low=0, kind="int"
        )
    return interp.symbol(
        symbolic.grow("len", symbolic.key_of(value)), "len() is not known", low=0, kind="int"
    )


def total(interp: Interpreter, arguments: Arguments) -> Any:
    items = items_of(interp, arguments.positional[0])
    if items is None:
        return unknown(interp, arguments, "what is summed is not known")
    result = arguments.positional[1] if len(arguments.positional) > 1 else arguments.keywords.get("start", 0)
    for item in items:
        result = lift(lambda a, b: symbolic.binary(interp.symbol, ast.Add(), a, b), result, item)
    return result


def quantified(interp: Interpreter, value: Any, every: bool) -> Any:
    items = items_of(interp, value)
    if items is None:
        return interp.symbol(
            symbolic.grow("any", every, symbolic.key_of(value)),
            "what is asked of all is not known",
            low=0,
            high=1,
            kind="bool",
        )
    undecided = None
    for item in items:
        known = [symbolic.truth(one) for one in (item.values if isinstance(item, Choice) else [item])]
        if all(one is (not every) for one in known):
            return not every
        if not all(one is every for one in known):
            undecided = item
    if undecided is None:
        return every
    key = symbolic.grow("all" if every else "any", *(symbolic.key_of(item) for item in items))
    return interp.symbol(key, getattr(undecided, "reason", "it is not known"), low=0, high=1, kind="bool")


def product(interp: Interpreter, arguments: Arguments) -> Any:
    repeat = arguments.keywords.get("repeat", 1)
    pools: list[list[Any]] = []
    for value in arguments.positional:
        if isinstance(value, Choice):
            merged: list[Any] = []
            for guards, one in value.alternatives:
                inner = items_of(interp, one)
                if inner is None:
                    return unknown(interp, arguments, "a factor of product() is not known")
                merged.extend(Maybe((guards,), item) for item in inner)
            pools.append(merged)
            continue
        from tritonlint.source.access import iterate, not_iterated

        items = iterate(interp, value)
        if items is None:
            why = not_iterated(value) if isinstance(value, range) else "a factor of product() is not known"
            return unknown(interp, arguments, why)
        pools.append(items)
    if not isinstance(repeat, int) or not 0 <= repeat <= 8:
        return unknown(interp, arguments, "how often product() repeats is not known")
    pools = pools * repeat
    if math.prod(len(pool) for pool in pools) > MAX_PRODUCT:
        return unknown(interp, arguments, "the product is too large")
    result = List()
    for row in itertools.product(*pools):
        when: tuple[Guards, ...] = ANYWHERE
        for one in row:
            if isinstance(one, Maybe):
                when = tuple(a | b for a in when for b in one.when)[:16]
        plain = tuple(one.value if isinstance(one, Maybe) else one for one in row)
        result.append(plain if when is ANYWHERE else Maybe(when, plain))
    return result


def zipped(interp: Interpreter, arguments: Arguments) -> Any:
    rows = [items_of(interp, value) for value in arguments.positional]
    if any(row is None for row in rows):
        return unknown(interp, arguments, "what is zipped is not known")
    return List(tuple(row) for row in zip(*(row for row in rows if row is not None), strict=False))


def mapped(interp: Interpreter, arguments: Arguments) -> Any:
    from tritonlint.source.calls import call
    from tritonlint.source.interpreter import Arguments as New

    rows = [items_of(interp, value) for value in arguments.positional[1:]]
    if any(row is None for row in rows):
        return unknown(interp, arguments, "what is mapped is not known")
    function = arguments.positional[0]
    return List(
        call(interp, function, New(list(row), {}))
        for row in zip(*(row for row in rows if row is not None), strict=False)
    )


def filtered(interp: Interpreter, arguments: Arguments) -> Any:
    from tritonlint.source.access import iterate
    from tritonlint.source.calls import call
    from tritonlint.source.expressions import conditions
    from tritonlint.source.interpreter import Arguments as New

    function, source = arguments.positional[:2]
    items = iterate(interp, source)
    if items is None:
        return unknown(interp, arguments, "what is filtered is not known")
    result = List()
    for item in items:
        plain = item.value if isinstance(item, Maybe) else item
        test = plain if function is None else call(interp, function, New([plain], {}))
        trues, falses = conditions(interp, test)
        if trues:
            when = tuple(trues) if falses else None
            if isinstance(item, Maybe):
                when = item.when if when is None else tuple(a | b for a in item.when for b in when)[:64]
            result.append(plain if when is None else Maybe(when, plain))
    return result


def ordered(interp: Interpreter, arguments: Arguments) -> Any:
    from tritonlint.source.calls import call
    from tritonlint.source.interpreter import Arguments as New

    items = items_of(interp, arguments.positional[0])
    if items is None:
        return unknown(interp, arguments, "what is sorted is not known")
    key = arguments.keywords.get("key")
    keys = items if key is None else [call(interp, key, New([item], {})) for item in items]
    if any(isinstance(one, (Symbol, Choice)) for one in keys):
        return List(items)
    keys = [tuple(one) if isinstance(one, List) else one for one in keys]
    try:
        places = sorted(
            range(len(items)), key=lambda at: keys[at], reverse=bool(arguments.keywords.get("reverse"))
        )
    except TypeError as error:
        raise Raised("TypeError", str(error)) from None
    return List(items[at] for at in places)


def is_instance(interp: Interpreter, value: Any, kinds: Any) -> Any:
    from tritonlint.source.kernels import Kernel

    wanted = kinds if isinstance(kinds, tuple) else (kinds,)
    unsure = False
    for kind in wanted:
        answer = _is_a(value, kind, Kernel)
        if answer:
            return True
        unsure = unsure or answer is None
    if unsure:
        key = symbolic.grow("isinstance", symbolic.key_of(value), symbolic.key_of(tuple(wanted)))
        return interp.symbol(key, "the type is not known", low=0, high=1, kind="bool")
    return False


def _is_a(value: Any, kind: Any, kernel: type) -> bool | None:
    if isinstance(kind, External):
        name = kind.dotted.rpartition(".")[2]
        if isinstance(value, kernel):
            layers = value.layers  # type: ignore[attr-defined]
            if name == "JITFunction":
                return not layers
            if name in ("Autotuner", "Heuristics"):
                return bool(layers) and layers[-1].kind == {"Autotuner": "autotune"}.get(name, "heuristics")
        if name == "Tensor":
            return True if isinstance(value, Tensor) else None if isinstance(value, Symbol) else False
        return None
    if isinstance(value, (Symbol, Tensor)):
        if isinstance(kind, TypeValue) and isinstance(value, Tensor):
            return False
        if (
            isinstance(kind, TypeValue)
            and isinstance(value, Symbol)
            and value.kind in ("int", "bool", "float", "str")
        ):
            return kind.name == value.kind or (kind.name == "int" and value.kind == "bool")
        return None
    if isinstance(kind, TypeValue):
        types: dict[str, Any] = {
            "int": int, "float": float, "str": str, "bool": bool, "list": list, "tuple": tuple, "dict": dict,
            "set": set, "frozenset": frozenset, "object": object, "bytes": bytes, "range": range,
        }  # fmt: skip
        return isinstance(value, types[kind.name]) if kind.name in types else None
    if isinstance(kind, Class):
        cls = value.cls if isinstance(value, (Instance, EnumMember)) else None
        return _inherits(cls, kind) if isinstance(cls, Class) else False
    return None


def _inherits(cls: Class, wanted: Class) -> bool:
    return cls is wanted or any(isinstance(base, Class) and _inherits(base, wanted) for base in cls.bases)


def get_attribute(interp: Interpreter, arguments: Arguments) -> Any:
    from tritonlint.source.access import attribute

    values = arguments.positional
    if len(values) < 2 or not isinstance(values[1], str):
        return unknown(interp, arguments, "which attribute it is is not known")
    name = values[1]

    def one(base: Any) -> Any:
        if len(values) > 2:
            if isinstance(base, Instance) and name not in base.attributes:
                found = base.cls.find(name) if isinstance(base.cls, Class) else MISSING
                if found is MISSING:
                    return values[2]
            if isinstance(base, Class) and base.find(name) is MISSING:
                return values[2]
            if isinstance(base, (int, float, str, List, Dict)) or base is None:
                return values[2]
        return attribute(interp, base, name)

    return lift(one, values[0])


def has_attribute(interp: Interpreter, base: Any, name: Any) -> Any:
    from tritonlint.source.answers import has_attribute as known

    if isinstance(base, Instance) and isinstance(base.cls, Class) and not base.cls.external_bases():
        return name in base.attributes or base.cls.find(name) is not MISSING
    if isinstance(base, (Function, int, float, str, List, Dict)) or base is None:
        return False
    answer = known(interp.platform, base.dotted, name) if isinstance(base, External) else None
    if answer is not None:
        return answer
    key = symbolic.grow("hasattr", symbolic.key_of(base), name)
    return interp.symbol(key, f"whether it has {name} is not known", low=0, high=1, kind="bool")


def reduced(interp: Interpreter, arguments: Arguments) -> Any:
    from tritonlint.source.calls import call
    from tritonlint.source.interpreter import Arguments as New

    values = arguments.positional
    items = items_of(interp, values[1])
    if items is None:
        return unknown(interp, arguments, "what is reduced is not known")
    rest = list(items)
    if len(values) > 2:
        result = values[2]
    elif rest:
        result = rest.pop(0)
    else:
        raise Raised("TypeError", "reduce() of nothing")
    for item in rest:
        result = call(interp, values[0], New([result, item], {}))
    return result


def simple(interp: Interpreter, name: str, arguments: Arguments) -> Any:
    """Functions of plain numbers: abs, round, math.*, operator.*; None where it is none of these."""
    function = _SIMPLE.get(name)
    if function is None:
        return None

    def apply(*row: Any) -> Any:
        if any(isinstance(one, (Symbol, Tensor, Instance, External)) for one in row):
            return _simple_bounds(interp, name, row, arguments)
        if name in ("math.pow", "math.factorial", "math.comb", "math.perm", "builtins.pow") and not _small(
            row
        ):
            raise Raised("OverflowError", "the value is too large")
        try:
            return function(*row)
        except Exception as error:
            raise Raised(type(error).__name__, str(error)) from None

    return (lift(apply, *arguments.positional),)


def _small(row: tuple[Any, ...]) -> bool:
    return all(not isinstance(one, int) or abs(one) <= 1000 for one in row)


def _simple_bounds(interp: Interpreter, name: str, row: tuple[Any, ...], arguments: Arguments) -> Any:
    reason = next((one.reason for one in row if isinstance(one, Symbol)), "it is not known")
    if len(row) == 1 and isinstance(row[0], Symbol):
        one = row[0]
        if name in ("math.ceil", "math.floor", "builtins.round"):
            key = symbolic.grow(name, one.key)
            return interp.symbol(key, reason, one.low, one.high, kind="int")
        if name == "builtins.abs" and one.low is not None and one.low >= 0:
            return one
        if name == "math.log2":
            return interp.symbol(symbolic.grow(name, one.key), reason, kind="float")
    key = symbolic.grow(name, *(symbolic.key_of(one) for one in row))
    return interp.symbol(key, reason)


_SIMPLE: dict[str, Callable[..., Any]] = {
    **{
        f"math.{name}": getattr(math, name)
        for name in ("ceil", "floor", "log2", "log", "log10", "sqrt", "gcd", "pow", "exp", "isqrt", "fabs", "trunc",
                     "cos", "sin", "tan", "tanh", "isnan", "isinf", "factorial", "comb")
    },
    "math.lcm": math.lcm,
    "builtins.abs": abs,
    "builtins.round": round,
    "builtins.pow": pow,
    "builtins.divmod": divmod,
    "builtins.hex": hex,
    "builtins.bin": bin,
    "builtins.ord": ord,
    "builtins.chr": chr,
    "operator.mul": lambda a, b: a * b if _small((a, b)) or isinstance(a, (int, float)) else None,
    "operator.add": lambda a, b: a + b,
    "operator.sub": lambda a, b: a - b,
    "operator.floordiv": lambda a, b: a // b,
}  # fmt: skip


def partial(arguments: Arguments) -> Partial:
    return Partial(
        arguments.positional[0],
        tuple(arguments.positional[1:]),
        dict(arguments.keywords),
        dict(arguments.keyword_origins),
    )
