"""Methods of containers, text and numbers; attributes and items of what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonlint.source import answers, symbolic, tensors
from tritonlint.source.guards import Choice, choose, guard, lift
from tritonlint.source.objects import (
    MISSING,
    Dict,
    List,
    Maybe,
    Method,
    Raised,
    Set,
    Symbol,
    Tensor,
    TypeValue,
)
from tritonlint.source.sizes import MOST_LONG, too_long, too_wide

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Arguments, Interpreter

_TEXT = frozenset({
    "lower", "upper", "strip", "lstrip", "rstrip", "split", "rsplit", "startswith", "endswith", "replace", "join",
    "format", "removeprefix", "removesuffix", "title", "capitalize", "count", "find", "isdigit", "partition",
    "rpartition", "splitlines", "casefold", "index", "isnumeric", "isalpha", "isalnum",
})  # fmt: skip


def unknown_attribute(interp: Interpreter, base: Symbol | Tensor, name: str) -> Any:
    """An attribute of a tensor or of an unknown value."""
    found = tensors.attribute_of(interp, base, name)
    if found is not MISSING:
        return found
    return Method(base, name)


def settle(interp: Interpreter, value: Any) -> Any:
    """An attribute of an unknown value that was not called after all."""
    if isinstance(value, Method) and isinstance(value.receiver, (Symbol, Tensor)):
        receiver = value.receiver
        key = symbolic.grow("attr", symbolic.key_of(receiver), value.name)
        reason = getattr(receiver, "reason", "") or f".{value.name} of a tensor is not known"
        return interp.symbol(key, reason)
    return value


def unknown_item(interp: Interpreter, base: Any, index: Any) -> Any:
    if isinstance(base, Symbol) and base.kind == "shape" and isinstance(index, int):
        key = base.key
        if isinstance(key, symbolic.Key) and len(key) == 2 and key[0] in ("shape", "strides"):
            word = "dim" if key[0] == "shape" else "stride"
            return interp.symbol(
                symbolic.grow(word, key[1], symbolic.key_of(index)), base.reason, low=0, kind="int"
            )
    if isinstance(base, Tensor):
        where = str(index) if isinstance(index, slice) else symbolic.key_of(index)
        return Tensor(symbolic.grow("item", base.key, where), base.dtype)
    reason = getattr(base, "reason", "an item of it is not known")
    at = str(index) if isinstance(index, slice) else symbolic.key_of(index)
    return interp.symbol(symbolic.grow("item", symbolic.key_of(base), at), reason)


def call_method(interp: Interpreter, method: Method, arguments: Arguments) -> Any:
    receiver, name = method.receiver, method.name
    if isinstance(receiver, (Symbol, Tensor)):
        return _unknown(interp, receiver, name, arguments)
    if isinstance(receiver, List):
        return _list(interp, receiver, name, arguments)
    if isinstance(receiver, Dict):
        return _dict(interp, receiver, name, arguments)
    if isinstance(receiver, Set):
        return _set(interp, receiver, name, arguments)
    if isinstance(receiver, (str, bytes)):
        return lift(lambda *row: _text(interp, receiver, name, row, arguments), *arguments.positional)
    if isinstance(receiver, (tuple, range)) and name in ("index", "count") and arguments.positional:
        if too_long(receiver) and not isinstance(arguments.positional[0], int):
            return _not_known(interp, receiver, name, arguments)
        try:
            return getattr(receiver, name)(arguments.positional[0])
        except ValueError as error:
            raise Raised("ValueError", str(error)) from None
    if isinstance(receiver, int) and name == "bit_length":
        return receiver.bit_length()
    if isinstance(receiver, float) and name == "is_integer":
        return receiver.is_integer()
    if isinstance(receiver, TypeValue) and receiver.name == "dict" and name == "fromkeys":
        items = arguments.positional[0]
        value = arguments.positional[1] if len(arguments.positional) > 1 else None
        if isinstance(items, (list, tuple)):
            return Dict({key: value for key in items if not isinstance(key, (Symbol, Choice, Maybe))})
    return _not_known(interp, receiver, name, arguments)


def _not_known(interp: Interpreter, receiver: Any, name: str, arguments: Arguments) -> Any:
    from tritonlint.source.calls import call_key

    return interp.symbol(
        call_key(("method", symbolic.key_of(receiver), name), arguments),
        f"what .{name}() returns is not known",
    )


def _unknown(interp: Interpreter, receiver: Symbol | Tensor, name: str, arguments: Arguments) -> Any:
    found = lift(lambda *row: _tensor_row(interp, receiver, name, row, arguments), *arguments.positional)
    if found is not MISSING:
        return found
    if not arguments.positional and not arguments.keywords:
        decided = answers.predicate(interp.platform, name)
        if decided is not None:
            return decided
    decided = answers.capability_question(interp.platform, name, arguments.positional)
    if decided is not None:
        return decided
    from tritonlint.source.calls import call_key

    key = call_key(("method", symbolic.key_of(receiver), name), arguments)
    reason = getattr(receiver, "reason", None) or f"what .{name}() returns is not known"
    if isinstance(receiver, Tensor):
        return interp.symbol(key, f"what .{name}() of a tensor returns is not known")
    return interp.symbol(key, reason)


def _tensor_row(
    interp: Interpreter, receiver: Any, name: str, row: tuple[Any, ...], arguments: Arguments
) -> Any:
    from tritonlint.source.interpreter import Arguments as New

    return tensors.call_tensor(interp, receiver, name, New(list(row), arguments.keywords, arguments.node))


def extend_list(interp: Interpreter, target: List, value: Any) -> None:
    """target += value"""
    from tritonlint.source.access import iterate

    interp.journal.touch(target)
    for guards, one in value.alternatives if isinstance(value, Choice) else ((None, value),):
        items = iterate(interp, one)
        if items is None:
            target.append(
                interp.symbol(
                    ("more", id(target), len(target)), getattr(one, "reason", "more items, not known")
                )
            )
            continue
        if guards is None:
            target.extend(items)
        else:
            target.extend(_under(item, guards) for item in items)


def _under(item: Any, guards: Any) -> Maybe:
    if isinstance(item, Maybe):
        return Maybe(tuple(one | guards for one in item.when), item.value)
    return Maybe((guards,), item)


def _list(interp: Interpreter, target: List, name: str, arguments: Arguments) -> Any:
    values = arguments.positional
    if name in ("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"):
        interp.journal.touch(target)
    if name == "append":
        target.append(values[0])
        return None
    if name == "extend":
        extend_list(interp, target, values[0])
        return None
    if name == "insert" and isinstance(values[0], int):
        target.insert(values[0], values[1])
        return None
    if name == "copy":
        return List(target, target.origin)
    if name == "clear":
        target.clear()
        return None
    if name == "pop":
        index = values[0] if values else -1
        if not isinstance(index, int) or not target:
            raise Raised("IndexError", "pop from an empty list")
        try:
            return target.pop(index)
        except IndexError as error:
            raise Raised("IndexError", str(error)) from None
    if name == "remove":
        for place, item in enumerate(target):
            if symbolic.equal(item, values[0]):
                del target[place]
                return None
        raise Raised("ValueError", "it is not in the list")
    if name == "reverse":
        target.reverse()
        return None
    if name == "sort":
        from tritonlint.source.builtin_calls import ordered
        from tritonlint.source.interpreter import Arguments as New

        result = ordered(interp, New([target], arguments.keywords))
        if isinstance(result, List):
            target[:] = result
        return None
    if name in ("index", "count"):
        places = [place for place, item in enumerate(target) if symbolic.equal(item, values[0])]
        if name == "count":
            return len(places)
        if not places:
            raise Raised("ValueError", "it is not in the list")
        return places[0]
    return _not_known(interp, target, name, arguments)


def _dict(interp: Interpreter, target: Dict, name: str, arguments: Arguments) -> Any:
    from tritonlint.source.access import without_missing

    values = arguments.positional
    if name in ("update", "pop", "setdefault", "clear", "popitem"):
        interp.journal.touch(target)
    if name == "get":
        return lift(lambda key: _get(interp, target, key, values[1] if len(values) > 1 else None), values[0])
    if name == "items":
        return List((key, without_missing(value)) for key, value in target.items())
    if name == "keys":
        return List(target)
    if name == "values":
        return List(without_missing(value) for value in target.values())
    if name == "copy":
        return Dict(target, target.origins)
    if name == "update":
        for value in values:
            if isinstance(value, Choice):
                known = [(g, one) for g, one in value.alternatives if isinstance(one, Dict)]
                for key in {key: None for _, one in known for key in one}:
                    old = target.get(key, MISSING)
                    target[key] = choose([(g, one.get(key, old)) for g, one in known])
            elif isinstance(value, Dict):
                target.update(value)
                target.origins.update(value.origins)
        target.update(arguments.keywords)
        target.origins.update(arguments.keyword_origins)
        return None
    if name == "pop":
        if isinstance(values[0], (Symbol, Choice)):
            return _not_known(interp, target, name, arguments)
        if values[0] in target:
            return without_missing(target.pop(values[0]))
        if len(values) > 1:
            return values[1]
        raise Raised("KeyError", str(values[0]))
    if name == "setdefault":
        if isinstance(values[0], (Symbol, Choice)):
            return _not_known(interp, target, name, arguments)
        return target.setdefault(values[0], values[1] if len(values) > 1 else None)
    if name == "clear":
        target.clear()
        return None
    return _not_known(interp, target, name, arguments)


def _get(interp: Interpreter, target: Dict, key: Any, default: Any) -> Any:
    if isinstance(key, (Symbol, Tensor)):
        found = [
            (guard(("pick", symbolic.key_of(key)), number), value)
            for number, value in enumerate(list(target.values())[:32])
        ]
        return choose([*found, (guard(("pick", symbolic.key_of(key)), len(found)), default)])
    try:
        value = target.get(key, MISSING)
    except TypeError as error:
        raise Raised("TypeError", str(error)) from None
    if isinstance(value, Choice):
        return choose([(guards, default if one is MISSING else one) for guards, one in value.alternatives])
    return default if value is MISSING else value


def _set(interp: Interpreter, target: Set, name: str, arguments: Arguments) -> Any:
    from tritonlint.source.builtin_calls import items_of

    values = arguments.positional
    if name in ("add", "discard", "remove", "update", "clear"):
        interp.journal.touch(target)
    if name == "add":
        if not isinstance(values[0], (Symbol, Choice)):
            target.add(values[0])
        return None
    if name in ("discard", "remove"):
        target.discard(values[0])
        return None
    rows = [items_of(interp, value) for value in values]
    if any(row is None for row in rows):
        return _not_known(interp, target, name, arguments)
    known = [row for row in rows if row is not None]
    if name == "update":
        target.update(*known)
        return None
    if name in (
        "union",
        "intersection",
        "difference",
        "issubset",
        "issuperset",
        "symmetric_difference",
        "copy",
        "isdisjoint",
    ):
        result = getattr(set(target), name)(*known)
        return Set(result) if isinstance(result, set) else result
    return _not_known(interp, target, name, arguments)


def _grows(receiver: str | bytes, name: str, row: list[Any], values: list[Any]) -> bool:
    """Would a method's text become too long?"""
    longest = max((len(one) for one in values if isinstance(one, (str, bytes))), default=0)
    if name == "join":
        return (len(receiver) + longest) * len(values) > MOST_LONG
    if not isinstance(receiver, str):
        return name == "replace" and len(receiver) * longest > MOST_LONG
    if name == "format":
        return receiver.count("{") * longest > MOST_LONG or too_wide(receiver, values)
    if name == "replace" and row and isinstance(row[0], str):
        return receiver.count(row[0]) * longest > MOST_LONG
    return False


def _text(
    interp: Interpreter, receiver: str | bytes, name: str, row: tuple[Any, ...], arguments: Arguments
) -> Any:
    if name not in _TEXT:
        return _not_known(interp, receiver, name, arguments)
    plain = [list(one) if isinstance(one, List) else one for one in row]
    flat = [one for value in plain for one in (value if isinstance(value, (list, tuple)) else [value])]
    named = list(arguments.keywords.values())
    if (
        not all(isinstance(one, (str, int, float, bytes, type(None))) for one in (*flat, *named))
        or len(receiver) > 10_000
        or _grows(receiver, name, plain, [*flat, *named])
    ):
        return _not_known(interp, receiver, name, arguments)
    try:
        result = getattr(receiver, name)(*plain, **arguments.keywords)
    except Exception as error:
        raise Raised(type(error).__name__, str(error)) from None
    return List(result) if isinstance(result, list) else result
