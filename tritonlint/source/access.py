"""Attributes, items, iteration and assignment of the evaluator's values."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tritonlint.source import externals, methods, symbolic
from tritonlint.source.guards import NO_GUARDS, Choice, choose, guard
from tritonlint.source.kernels import ConfigValue, Kernel, LaunchProxy
from tritonlint.source.objects import (
    MISSING,
    Class,
    Descriptor,
    Dict,
    EnumMember,
    External,
    Function,
    Instance,
    List,
    Maybe,
    Method,
    ModuleValue,
    Origin,
    Partial,
    Raised,
    Set,
    Symbol,
    Tensor,
    TypeValue,
)
from tritonlint.source.sizes import MOST_ITEMS, MOST_LONG, length_of_range, too_long
from tritonlint.source.values import DType

if TYPE_CHECKING:
    from tritonlint.source.environment import Frame
    from tritonlint.source.interpreter import Interpreter


def attribute(interp: Interpreter, base: Any, name: str, node: ast.AST | None = None) -> Any:
    """base.name for one plain value."""
    if isinstance(base, External):
        return externals.attribute(interp, base, name)
    if isinstance(base, (Symbol, Tensor)):
        return methods.unknown_attribute(interp, base, name)
    if isinstance(base, ModuleValue):
        return module_attribute(interp, base, name)
    if isinstance(base, Instance):
        return _instance(interp, base, name)
    if isinstance(base, Class):
        return _class(interp, base, name)
    if isinstance(base, EnumMember):
        return _member(interp, base, name)
    if isinstance(base, Kernel):
        return _kernel(interp, base, name)
    if isinstance(base, ConfigValue):
        return base.attribute(name)
    if isinstance(base, (List, Dict, Set, str, tuple, bytes, frozenset, range)):
        return Method(base, name)
    if isinstance(base, (int, float)):
        if name in ("real", "numerator"):
            return base
        return Method(base, name)
    if isinstance(base, Function):
        if name == "__name__":
            return base.name
        return interp.symbol(("attr", id(base), name), f"{name} of a function is not known")
    if isinstance(base, Partial):
        return {"func": base.function, "args": base.arguments}.get(name)
    if isinstance(base, Descriptor):
        return base.block_shape if name == "block_shape" else base.dtype if name == "dtype" else None
    if isinstance(base, TypeValue) and name == "__name__":
        return base.name
    if isinstance(base, (TypeValue, slice)):
        return Method(base, name)
    if base is None:
        raise Raised("AttributeError", f"None has no {name}")
    key = symbolic.grow("attr", symbolic.key_of(base), name)
    return interp.symbol(key, f"{name} is not known")


def module_attribute(interp: Interpreter, base: ModuleValue, name: str) -> Any:
    environment = base.environment
    value = environment.lookup_late(name)
    if value is not MISSING:
        return value
    path = interp.project.submodule(environment.module.path, name)
    inner = interp.environment_of(path) if path else None
    if inner is not None:
        return ModuleValue(inner)
    return interp.symbol(("module", environment.module.path, name), f"{name} is not defined in the module")


def _instance(interp: Interpreter, base: Instance, name: str) -> Any:
    found = base.attributes.get(name, MISSING)
    if found is not MISSING:
        return found
    if name == "__class__":
        return base.cls
    if isinstance(base.cls, Class):
        value = base.cls.find(name)
        if value is not MISSING:
            return _bind(interp, value, base, base.cls)
    return interp.symbol(("attr", id(base), name), f"self.{name} is not known")


def _bind(interp: Interpreter, value: Any, instance: Any, cls: Class) -> Any:
    if not isinstance(value, Function) or value.kind == "static":
        return value
    receiver = cls if value.kind == "class" else instance
    bound = Function(
        value.name,
        value.node,
        value.environment,
        value.closure,
        value.owner,
        receiver,
        value.kind,
        None,
        value.decorators,
    )
    if value.kind == "property":
        from tritonlint.source.calls import call_function
        from tritonlint.source.interpreter import Arguments

        return call_function(interp, bound, Arguments([], {}))
    return bound


def _class(interp: Interpreter, base: Class, name: str) -> Any:
    value = base.find(name)
    if value is not MISSING:
        if isinstance(value, Function) and value.kind == "class":
            return _bind(interp, value, None, base)
        return value
    if name == "__name__":
        return base.name
    if name == "__members__" and base.is_enum:
        return Dict({key: one for key, one in base.attributes.items() if isinstance(one, EnumMember)})
    return interp.symbol(("attr", id(base), name), f"{base.name}.{name} is not known")


def _member(interp: Interpreter, base: EnumMember, name: str) -> Any:
    if name in ("value", "_value_"):
        return base.value
    if name == "name":
        return base.name
    value = base.cls.find(name)
    if value is not MISSING:
        return _bind(interp, value, base, base.cls)
    if isinstance(base.value, str):
        return Method(base.value, name)
    raise Raised("AttributeError", name)


def _kernel(interp: Interpreter, base: Kernel, name: str) -> Any:
    if name == "arg_names":
        return List(base.parameter_names)
    if name in ("run", "warmup"):
        return LaunchProxy(base, MISSING, None, name)
    if name == "fn":
        # Of the innermost, the Python function: loops that unwrap a kernel end there.
        return base.inner() if base.layers else Function(base.name, base.node, base.environment, base.closure)
    if name == "configs":
        return base.configs()
    if name == "__name__":
        return base.name
    return interp.symbol(("attr", id(base), name), f"{name} of the kernel {base.name} is not known")


def item(interp: Interpreter, base: Any, index: Any, node: ast.Subscript, frame: Frame) -> Any:
    """base[index] for plain values."""
    if isinstance(base, Kernel):
        return LaunchProxy(base, index, node.slice, "subscript")
    if isinstance(base, Dict):
        return _dict_item(interp, base, index)
    if isinstance(base, (Symbol, Tensor)):
        return methods.unknown_item(interp, base, index)
    if isinstance(base, (list, tuple, str, bytes, range)):
        return _sequence_item(interp, base, index)
    if isinstance(base, External):
        return externals.item(interp, base, index)
    if isinstance(base, Class):
        if base.is_enum and isinstance(index, str):
            if not isinstance(base.attributes.get(index), EnumMember):
                raise Raised("KeyError", index)
            return base.attributes[index]
        return base
    if isinstance(base, Instance) and isinstance(base.cls, Class):
        method = base.cls.find("__getitem__")
        if isinstance(method, Function):
            from tritonlint.source.calls import call_function
            from tritonlint.source.interpreter import Arguments

            bound = _bind(interp, method, base, base.cls)
            return call_function(interp, bound, Arguments([index], {}))
        if isinstance(base.attributes.get("__items__"), tuple) and isinstance(index, int):
            return base.attributes["__items__"][index]
    if isinstance(base, TypeValue):
        return base
    key = symbolic.grow("item", symbolic.key_of(base), symbolic.key_of(index))
    return interp.symbol(key, "an item of it is not known")


def _dict_item(interp: Interpreter, base: Dict, index: Any) -> Any:
    if isinstance(index, (Symbol, Tensor)):
        if not base:
            raise Raised("KeyError", "the dict is empty")
        pairs = list(base.items())[:64]
        return choose(
            [(guard(("pick", symbolic.key_of(index)), number), v) for number, (_, v) in enumerate(pairs)]
        )
    try:
        value = base.get(index, MISSING)
    except TypeError as error:
        raise Raised("TypeError", str(error)) from None
    if value is MISSING:
        if base.default_factory is not None:
            from tritonlint.source.calls import call
            from tritonlint.source.interpreter import Arguments

            value = call(interp, base.default_factory, Arguments([], {}))
            interp.journal.touch(base)
            base[index] = value
            return value
        raise Raised("KeyError", str(index))
    return without_missing(value)


def without_missing(value: Any) -> Any:
    """A value that is there under some conditions only, taken where it is there."""
    if isinstance(value, Choice):
        left = [(guards, one) for guards, one in value.alternatives if one is not MISSING]
        if len(left) != len(value.alternatives):
            return choose(left)
    return value


def _sequence_item(interp: Interpreter, base: Any, index: Any) -> Any:
    if isinstance(index, (bool, int)):
        if isinstance(base, list) and any(isinstance(one, Maybe) for one in base):
            plain = [one.value if isinstance(one, Maybe) else one for one in base]
            when = [one.when[0] if isinstance(one, Maybe) else NO_GUARDS for one in base]
            return choose(list(zip(when, plain, strict=False)))
        try:
            return base[index]
        except IndexError as error:
            raise Raised("IndexError", str(error)) from None
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        if all(part is None or isinstance(part, int) for part in parts):
            try:
                found = base[index]
            except ValueError as error:
                raise Raised("ValueError", str(error)) from None
            return List(found) if isinstance(base, list) else found
        return interp.symbol(
            symbolic.grow("slice", symbolic.key_of(base), *map(symbolic.key_of, parts)),
            "the bounds of a slice are not known",
        )
    if isinstance(index, Symbol):
        items = list(base[:64])
        if items and not isinstance(base, (str, bytes)):
            if index.low is not None and index.high is not None and 0 <= index.low <= index.high < len(items):
                items = items[index.low : index.high + 1]
            found = [(guard(("pick", index.key), number), one) for number, one in enumerate(items)]
            return choose([(guards, one.value if isinstance(one, Maybe) else one) for guards, one in found])
        return interp.symbol(symbolic.grow("item", symbolic.key_of(tuple(base)), index.key), index.reason)
    if isinstance(index, EnumMember) and isinstance(index.value, int):
        return _sequence_item(interp, base, index.value)
    raise Raised("TypeError", "an index that is no number")


def not_iterated(value: Any) -> str:
    """Why `iterate` gives nothing for a value."""
    if too_long(value):
        count = length_of_range(value) if isinstance(value, range) else len(value)
        return f"it runs over {count:,} items, and no more than {MOST_ITEMS:,} are followed"
    return "what it runs over is not known"


def in_order(items: Iterable[Any]) -> list[Any]:
    """The items of a set in an order that is the same in every run; Python's own hangs on the hashes of texts."""
    return sorted(items, key=_rank)


def _rank(item: Any) -> tuple[Any, ...]:
    if isinstance(item, (int, float)):
        return (0, item)
    if isinstance(item, EnumMember):
        return (1, item.name)
    plain = isinstance(item, (str, bytes, tuple, frozenset, DType, External, TypeValue))
    return (2, type(item).__name__, repr(item) if plain else "")


def iterate(interp: Interpreter, value: Any) -> list[Any] | None:
    """The items that a loop over the value sees (some may be Maybe); None where they are not known."""
    if isinstance(value, (list, tuple, range, set, frozenset)):
        if too_long(value):
            return None
        interp.charge(len(value))
        return in_order(value) if isinstance(value, (set, frozenset)) else list(value)
    if isinstance(value, Dict):
        return list(value)
    if isinstance(value, str):
        return list(value)
    if isinstance(value, Class) and value.is_enum:
        return [one for one in value.attributes.values() if isinstance(one, EnumMember)]
    if isinstance(value, Instance) and isinstance(value.attributes.get("__items__"), tuple):
        return list(value.attributes["__items__"])
    return None


def operate(interp: Interpreter, op: ast.operator, left: Any, right: Any) -> Any:
    """A binary operator on two plain values."""
    if isinstance(left, (Function, Class, Kernel, ConfigValue)) or isinstance(
        right, (Function, Class, Kernel)
    ):
        key = symbolic.grow("op", type(op).__name__, symbolic.key_of(left), symbolic.key_of(right))
        return interp.symbol(key, "its parts are not known")
    interp.charge(_items(left) + _items(right))
    return symbolic.binary(interp.symbol, op, left, right)


def _items(value: Any) -> int:
    return len(value) if isinstance(value, (list, tuple, str, bytes)) else 0


def compare(interp: Interpreter, op: ast.cmpop, left: Any, right: Any) -> Any:
    """A comparison of two plain values."""
    interp.charge(_items(left) + _items(right))
    return symbolic.compare(interp.symbol, op, externals.comparable(left), externals.comparable(right))


def assign_target(interp: Interpreter, target: ast.expr, value: Any, frame: Frame) -> None:
    if isinstance(target, ast.Name):
        if frame.assumed and isinstance(value, Symbol) and target.id in frame.assumed:
            value = frame.assumed[target.id]
        frame.env[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(interp, target, value, frame)
    elif isinstance(target, ast.Subscript):
        base = interp.evaluate(target.value, frame)
        index = interp.evaluate(target.slice, frame)
        for one in base.alternatives if isinstance(base, Choice) else ((NO_GUARDS, base),):
            _store_item(interp, one[1], index, value, target, frame)
    elif isinstance(target, ast.Attribute):
        base = interp.evaluate(target.value, frame)
        for _, one in base.alternatives if isinstance(base, Choice) else ((NO_GUARDS, base),):
            if isinstance(one, Instance):
                interp.journal.touch(one)
                one.attributes[target.attr] = value
            elif isinstance(one, Class):
                interp.journal.note(one)
                one.attributes[target.attr] = value
            elif isinstance(one, ConfigValue):
                interp.journal.note(one)
                one.set(target.attr, value)
    elif isinstance(target, ast.Starred):
        assign_target(interp, target.value, value, frame)


def _store_item(
    interp: Interpreter, base: Any, index: Any, value: Any, target: ast.Subscript, frame: Frame
) -> None:
    if not isinstance(base, (Dict, List)):
        return
    interp.journal.touch(base)
    if isinstance(base, Dict):
        if isinstance(index, (Symbol, Choice, Tensor)):
            return
        try:
            base[index] = value
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None
        if isinstance(index, str):
            module = frame.environment.module
            base.origins[index] = Origin(module.path, module.span(target))
    elif isinstance(index, (int, slice)):
        if isinstance(index, slice) and len(base) + _items(value) > MOST_LONG:
            raise Raised("MemoryError", "the list is too long")
        try:
            base[index] = value
        except (IndexError, TypeError, ValueError) as error:
            raise Raised(type(error).__name__, str(error)) from None


def _unpack(interp: Interpreter, target: ast.Tuple | ast.List, value: Any, frame: Frame) -> None:
    if isinstance(value, Choice):
        rows = [(guards, _row(interp, target, one)) for guards, one in value.alternatives]
        for place, part in enumerate(target.elts):
            assign_target(interp, part, choose([(guards, row[place]) for guards, row in rows]), frame)
        return
    for part, one in zip(target.elts, _row(interp, target, value), strict=False):
        assign_target(interp, part, one, frame)


def _row(interp: Interpreter, target: ast.Tuple | ast.List, value: Any) -> list[Any]:
    """One value for each target of an unpacking."""
    count = len(target.elts)
    star = next((place for place, part in enumerate(target.elts) if isinstance(part, ast.Starred)), None)
    items = iterate(interp, value)
    if items is not None and not any(isinstance(one, Maybe) for one in items):
        if star is None:
            if len(items) != count:
                raise Raised("ValueError", "unpacking a different number of values")
            return items
        after = count - star - 1
        if len(items) < count - 1:
            raise Raised("ValueError", "not enough values to unpack")
        end = len(items) - after
        return [*items[:star], List(items[star:end]), *items[end:]]
    if star is not None:
        source = symbolic.key_of(value)
        return [
            interp.symbol(
                symbolic.grow("unpack", id(part), source),
                "the rest of an unpacked value is not known"
                if isinstance(part, ast.Starred)
                else "it comes from an unpacked value",
            )
            for part in target.elts
        ]
    return [methods.unknown_item(interp, value, place) for place in range(count)]
