"""Expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonlint.source import access, calls, methods, symbolic
from tritonlint.source.answers import OTHER_DEVICES
from tritonlint.source.guards import NO_GUARDS, Choice, Guards, agree, choose, guard, lift, narrow
from tritonlint.source.objects import (
    MISSING,
    Dict,
    Function,
    List,
    Maybe,
    Origin,
    Raised,
    Set,
    Symbol,
    Tensor,
)
from tritonlint.source.sizes import MOST_LONG, too_large, too_wide

if TYPE_CHECKING:
    from tritonlint.source.environment import Frame
    from tritonlint.source.interpreter import Interpreter

Conditions = tuple[list[Guards], list[Guards]]


def constant(interp: Interpreter, node: ast.Constant, frame: Frame) -> Any:
    return node.value


def name(interp: Interpreter, node: ast.Name, frame: Frame) -> Any:
    value = frame.lookup(node.id)
    if value is MISSING:
        why = frame.environment.why_unbound(node.id)
        if why is not None:
            return interp.symbol(("name", node.id), f"the statement that binds {node.id} {why}")
        return calls.builtin(interp, node.id)
    return narrow(value, interp.path)


def attribute(interp: Interpreter, node: ast.Attribute, frame: Frame) -> Any:
    return narrow(lift(lambda one: methods.settle(interp, one), member(interp, node, frame)), interp.path)


def member(interp: Interpreter, node: ast.Attribute, frame: Frame) -> Any:
    """`base.name` as the function of a call: a method of an unknown value stays one."""
    base = interp.evaluate(node.value, frame)
    return lift(lambda one: access.attribute(interp, one, node.attr, node), base)


def subscript(interp: Interpreter, node: ast.Subscript, frame: Frame) -> Any:
    base = interp.evaluate(node.value, frame)
    index = interp.evaluate(node.slice, frame)
    value = lift(lambda one, at: access.item(interp, one, at, node, frame), base, index)
    return narrow(value, interp.path)


def slice_(interp: Interpreter, node: ast.Slice, frame: Frame) -> Any:
    parts = [
        None if part is None else interp.evaluate(part, frame) for part in (node.lower, node.upper, node.step)
    ]
    return lift(lambda *row: slice(*row), *parts)


def tuple_(interp: Interpreter, node: ast.Tuple, frame: Frame) -> Any:
    items = elements(interp, node.elts, frame)
    if items is None:
        return interp.symbol(("node", id(node)), "an unpacked part is not known")
    if too_large(items):
        return interp.symbol(("node", id(node)), "it has too many parts")
    if any(isinstance(item, Maybe) for item in items):
        return List(items)
    return tuple(items)


def list_(interp: Interpreter, node: ast.List, frame: Frame) -> Any:
    items = elements(interp, node.elts, frame)
    if items is None:
        return interp.symbol(("node", id(node)), "an unpacked part is not known")
    if too_large(items):
        return interp.symbol(("node", id(node)), "it has too many parts")
    return List(items, origin(frame, node))


def set_(interp: Interpreter, node: ast.Set, frame: Frame) -> Any:
    items = elements(interp, node.elts, frame)
    if items is None or any(isinstance(item, (Maybe, Choice)) for item in items):
        return interp.symbol(("node", id(node)), "a part of the set is not known")
    try:
        return Set(items)
    except TypeError as error:
        raise Raised("TypeError", str(error)) from None


def elements(interp: Interpreter, nodes: list[ast.expr], frame: Frame) -> list[Any] | None:
    """The items of a display with stars unpacked; None where one is not known."""
    items: list[Any] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            items.append(interp.evaluate(node, frame))
            continue
        value = interp.evaluate(node.value, frame)
        if isinstance(value, Choice):
            for guards, one in value.alternatives:
                inner = access.iterate(interp, one)
                if inner is None:
                    return None
                items.extend(Maybe((guards,), item) for item in inner)
            continue
        inner = access.iterate(interp, value)
        if inner is None:
            return None
        items.extend(inner)
    return items


def dict_(interp: Interpreter, node: ast.Dict, frame: Frame) -> Any:
    result = Dict()
    path = frame.environment.module
    for key_node, value_node in zip(node.keys, node.values, strict=False):
        if key_node is None:
            splat = interp.evaluate(value_node, frame)
            if isinstance(splat, Choice):
                known = [(g, v) for g, v in splat.alternatives if isinstance(v, Dict)]
                if len(known) != len(splat.alternatives):
                    return interp.symbol(("node", id(node)), "an unpacked dict is not known")
                for key in {key: None for _, v in known for key in v}:
                    result[key] = choose([(g, v.get(key, result.get(key, MISSING))) for g, v in known])
                    result.origins.update({k: o for _, v in known for k, o in v.origins.items()})
                continue
            if not isinstance(splat, Dict):
                return interp.symbol(("node", id(node)), "an unpacked dict is not known")
            result.update(splat)
            result.origins.update(splat.origins)
            continue
        key = interp.evaluate(key_node, frame)
        value = interp.evaluate(value_node, frame)
        if isinstance(key, (Choice, Symbol, Tensor)):
            return interp.symbol(("node", id(node)), "a key of the dict is not known")
        try:
            result[key] = value
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None
        if isinstance(key, str):
            result.origins[key] = Origin(path.path, path.span(value_node))
    return result


def joined_string(interp: Interpreter, node: ast.JoinedStr, frame: Frame) -> Any:
    parts = [interp.evaluate(part, frame) for part in node.values]

    def join(*row: Any) -> Any:
        if all(isinstance(part, str) for part in row) and sum(map(len, row)) <= MOST_LONG:
            return "".join(row)
        return interp.symbol(
            symbolic.grow("join", *map(symbolic.key_of, row)), "a part of the text is not known", kind="str"
        )

    return lift(join, *parts)


def formatted(interp: Interpreter, node: ast.FormattedValue, frame: Frame) -> Any:
    value = interp.evaluate(node.value, frame)
    spec = interp.evaluate(node.format_spec, frame) if node.format_spec is not None else ""

    def render(one: Any, how: Any) -> Any:
        if (
            not isinstance(one, (int, float, str, bool, type(None)))
            or not isinstance(how, str)
            or len(how) > 20
            or too_wide(how)
        ):
            return interp.symbol(
                symbolic.grow("format", symbolic.key_of(one)), "a part of the text is not known"
            )
        try:
            if node.conversion == ord("r"):
                return format(repr(one), how)
            return format(str(one) if node.conversion == ord("s") else one, how)
        except (ValueError, TypeError, OverflowError) as error:
            raise Raised(type(error).__name__, str(error)) from None

    return lift(render, value, spec)


def binary(interp: Interpreter, node: ast.BinOp, frame: Frame) -> Any:
    left = interp.evaluate(node.left, frame)
    right = interp.evaluate(node.right, frame)
    return lift(lambda a, b: access.operate(interp, node.op, a, b), left, right)


def unary(interp: Interpreter, node: ast.UnaryOp, frame: Frame) -> Any:
    value = interp.evaluate(node.operand, frame)
    return lift(lambda one: symbolic.unary(interp.symbol, node.op, one), value)


def compare(interp: Interpreter, node: ast.Compare, frame: Frame) -> Any:
    left = interp.evaluate(node.left, frame)
    answer: Any = True
    for op, right_node in zip(node.ops, node.comparators, strict=False):
        right = interp.evaluate(right_node, frame)
        if isinstance(right, str) and right in OTHER_DEVICES and _is_device_type(node.left):
            # What is launched runs on a GPU that is looked at.
            left = left if isinstance(left, str) else "cuda"
        one = lift(lambda a, b, op=op: access.compare(interp, op, a, b), left, right)
        answer = one if answer is True else lift(lambda a, b: _both(interp, a, b), answer, one)
        if answer is False:
            return False
        left = right
    return answer


def _is_device_type(node: ast.expr) -> bool:
    """`x.device.type`, `device.type`."""
    if not isinstance(node, ast.Attribute) or node.attr != "type":
        return False
    base = node.value
    return (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")) == "device"


def _both(interp: Interpreter, first: Any, second: Any) -> Any:
    known = symbolic.truth(first)
    if known is False:
        return first
    if known is True:
        return second
    if symbolic.truth(second) is False:
        return False
    if symbolic.truth(second) is True and isinstance(second, bool):
        return first
    key = symbolic.grow("and", symbolic.key_of(first), symbolic.key_of(second))
    return interp.symbol(key, getattr(first, "reason", "it is not known"), low=0, high=1, kind="bool")


def boolean(interp: Interpreter, node: ast.BoolOp, frame: Frame) -> Any:
    """`and`, `or` with short circuits: the parts behind an undecided one are evaluated under its condition."""
    is_and = isinstance(node.op, ast.And)
    result = interp.evaluate(node.values[0], frame)
    for part in node.values[1:]:
        trues, falses = conditions(interp, result)
        going = trues if is_and else falses
        if not going:
            return result
        stopping = falses if is_and else trues
        if not stopping:
            result = interp.evaluate(part, frame)
            continue
        path = interp.path
        interp.path = interp.under(going) or path
        try:
            value = interp.evaluate(part, frame)
        except Raised:
            continue
        finally:
            interp.path = path
        result = lift(lambda a, b: _shortcut(interp, is_and, a, b), result, value)
    return result


def _shortcut(interp: Interpreter, is_and: bool, first: Any, second: Any) -> Any:
    known = symbolic.truth(first)
    if known is not None:
        return second if known is is_and else first
    right = symbolic.truth(second)
    if right is (not is_and) and isinstance(second, bool):
        return second
    if isinstance(second, (Symbol, bool)):
        if right is is_and and isinstance(second, bool) and _is_bool(first):
            return first
        key = symbolic.grow("and" if is_and else "or", symbolic.key_of(first), symbolic.key_of(second))
        if _is_bool(first) and (_is_bool(second) or isinstance(second, bool)):
            return interp.symbol(key, getattr(first, "reason", "it is not known"), low=0, high=1, kind="bool")
    key, flipped = guard_key(first)
    yes, no = guard(key, not flipped), guard(key, flipped)
    return choose([(yes, second if is_and else first), (no, first if is_and else second)])


def _is_bool(value: Any) -> bool:
    return isinstance(value, Symbol) and value.kind == "bool"


def conditions(interp: Interpreter, test: Any) -> Conditions:
    """The guards under which a value is true, and those under which it is false."""
    trues: list[Guards] = []
    falses: list[Guards] = []
    alternatives = test.alternatives if isinstance(test, Choice) else ((NO_GUARDS, test),)
    for guards, value in alternatives:
        if value is MISSING:
            continue
        known = symbolic.truth(value)
        if known is not None:
            (trues if known else falses).append(guards)
            continue
        key, flipped = guard_key(value)
        for branch in (True, False):
            one = guard(key, branch is not flipped)
            if agree(guards, one):
                (trues if branch else falses).append(guards | one)
    possible = [one for one in trues if any(agree(one, here) for here in interp.path)]
    otherwise = [one for one in falses if any(agree(one, here) for here in interp.path)]
    if not possible and not otherwise:
        return trues, falses
    return possible, otherwise


def guard_key(value: Any) -> tuple[Any, bool]:
    """The condition that a value's truth hangs on, and whether it is the other way round ("not x" hangs on x)."""
    key = symbolic.key_of(value)
    flipped = False
    while isinstance(key, symbolic.Key) and len(key) == 2 and key[0] == "not":
        key, flipped = key[1], not flipped
    return key, flipped


def conditional(interp: Interpreter, node: ast.IfExp, frame: Frame) -> Any:
    test = interp.evaluate(node.test, frame)
    trues, falses = conditions(interp, test)
    if not falses:
        return interp.evaluate(node.body, frame)
    if not trues:
        return interp.evaluate(node.orelse, frame)
    path = interp.path
    found: list[tuple[Guards, Any]] = []
    for guards, branch in ((trues, node.body), (falses, node.orelse)):
        interp.path = interp.under(guards) or path
        try:
            value = interp.evaluate(branch, frame)
        except Raised:
            continue
        finally:
            interp.path = path
        found.extend((guard, value) for guard in guards)
    if not found:
        raise Raised("Exception", "both branches raise")
    return choose(found)


def comprehension(interp: Interpreter, node: Any, frame: Frame) -> Any:
    """List, set and generator comprehensions; a generator is read at once."""
    from tritonlint.source.environment import Frame as NewFrame

    inner = NewFrame(frame.environment, frame, frame.name)
    inner.function = frame.function
    inner.spread = node
    outcome = List()

    def leaf() -> None:
        outcome.append(interp.evaluate(node.elt, inner))

    unread = _generators(interp, node.generators, 0, inner, outcome, leaf)
    if unread is not None:
        return interp.symbol(("node", id(node)), unread)
    if isinstance(node, ast.SetComp):
        if any(isinstance(item, (Maybe, Choice)) for item in outcome):
            return interp.symbol(("node", id(node)), "a part of the set is not known")
        try:
            return Set(outcome)
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None
    return outcome


def dict_comprehension(interp: Interpreter, node: ast.DictComp, frame: Frame) -> Any:
    from tritonlint.source.environment import Frame as NewFrame

    inner = NewFrame(frame.environment, frame, frame.name)
    inner.function = frame.function
    inner.spread = node
    pairs = List()

    def leaf() -> None:
        pairs.append((interp.evaluate(node.key, inner), interp.evaluate(node.value, inner)))

    unread = _generators(interp, node.generators, 0, inner, pairs, leaf)
    if unread is not None:
        return interp.symbol(("node", id(node)), unread)
    result = Dict()
    where = origin(frame, node)
    for pair in pairs:
        when = None
        if isinstance(pair, Maybe):
            when, pair = pair.when, pair.value
        key, value = pair
        if isinstance(key, (Choice, Symbol, Tensor)):
            return interp.symbol(("node", id(node)), "a key of the dict is not known")
        try:
            before = result.get(key, MISSING)
            result[key] = (
                value if when is None else choose([*((g, value) for g in when), (NO_GUARDS, before)])
            )
        except TypeError as error:
            raise Raised("TypeError", str(error)) from None
        if isinstance(key, str):
            result.origins[key] = where
    return result


def _generators(
    interp: Interpreter,
    generators: list[ast.comprehension],
    depth: int,
    frame: Frame,
    outcome: List,
    leaf: Callable[[], None],
) -> str | None:
    """Goes through the items of one generator and those within it; why it cannot, or None."""
    if depth == len(generators):
        leaf()
        return None
    generator = generators[depth]
    source = interp.evaluate(generator.iter, frame)
    rows: list[tuple[tuple[Guards, ...] | None, Any]] = []
    for guards, one in source.alternatives if isinstance(source, Choice) else ((None, source),):
        items = access.iterate(interp, one)
        if items is None:
            return access.not_iterated(one)
        for item in items:
            when: tuple[Guards, ...] | None = (guards,) if guards is not None else None
            if isinstance(item, Maybe):
                when = item.when if when is None else tuple(a | b for a in item.when for b in when)
                item = item.value
            rows.append((when, item))
    for when, item in rows:
        path = interp.path
        if when is not None:
            interp.path = interp.under(when)
            if not interp.path:
                interp.path = path
                continue
        try:
            access.assign_target(interp, generator.target, item, frame)
            unread = _filtered(interp, generators, depth, frame, outcome, leaf, when)
            if unread is not None:
                return unread
        finally:
            interp.path = path
    return None


def _filtered(
    interp: Interpreter,
    generators: list[ast.comprehension],
    depth: int,
    frame: Frame,
    outcome: List,
    leaf: Callable[[], None],
    when: tuple[Guards, ...] | None,
) -> str | None:
    """The rest of a comprehension for one item: filters, then the inner generators; as `_generators`."""
    conditional = when
    for test in generators[depth].ifs:
        trues, falses = conditions(interp, interp.evaluate(test, frame))
        if not trues:
            return None
        if falses:
            conditional = (
                tuple(trues) if conditional is None else tuple(a | b for a in conditional for b in trues)[:64]
            )
            interp.path = interp.under(trues) or interp.path
    start = len(outcome)
    unread = _generators(interp, generators, depth + 1, frame, outcome, leaf)
    if unread is not None:
        return unread
    if conditional is not None:
        for place in range(start, len(outcome)):
            item = outcome[place]
            if isinstance(item, Maybe):
                outcome[place] = Maybe(tuple(a | b for a in item.when for b in conditional)[:64], item.value)
            else:
                outcome[place] = Maybe(conditional, item)
    return None


def lambda_(interp: Interpreter, node: ast.Lambda, frame: Frame) -> Any:
    interp.closures.append(frame)
    function = Function("<lambda>", node, frame.environment, frame)
    # A comprehension's or loop's variable is read when the lambda is called; that is Python's rule too.
    return function


def call(interp: Interpreter, node: ast.Call, frame: Frame) -> Any:
    return narrow(calls.evaluate_call(interp, node, frame), interp.path)


def named(interp: Interpreter, node: ast.NamedExpr, frame: Frame) -> Any:
    value = interp.evaluate(node.value, frame)
    access.assign_target(interp, node.target, value, frame)
    return value


def yield_(interp: Interpreter, node: ast.Yield, frame: Frame) -> Any:
    value = interp.evaluate(node.value, frame) if node.value is not None else None
    if frame.yields is not None:
        frame.yields.append(value)
    return None


def yield_from(interp: Interpreter, node: ast.YieldFrom, frame: Frame) -> Any:
    items = access.iterate(interp, interp.evaluate(node.value, frame))
    if frame.yields is not None:
        if items is None:
            frame.yields = None  # so many that nobody knows
        else:
            frame.yields.extend(items)
    return None


def awaited(interp: Interpreter, node: ast.Await, frame: Frame) -> Any:
    return interp.evaluate(node.value, frame)


def starred(interp: Interpreter, node: ast.Starred, frame: Frame) -> Any:
    return interp.evaluate(node.value, frame)


def origin(frame: Frame, node: ast.AST) -> Origin:
    module = frame.environment.module
    return Origin(module.path, module.span(node))


EVALUATORS: dict[type, Callable[[Any, Any, Any], Any]] = {
    ast.Constant: constant,
    ast.Name: name,
    ast.Attribute: attribute,
    ast.Subscript: subscript,
    ast.Slice: slice_,
    ast.Tuple: tuple_,
    ast.List: list_,
    ast.Set: set_,
    ast.Dict: dict_,
    ast.JoinedStr: joined_string,
    ast.FormattedValue: formatted,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.Compare: compare,
    ast.BoolOp: boolean,
    ast.IfExp: conditional,
    ast.ListComp: comprehension,
    ast.SetComp: comprehension,
    ast.GeneratorExp: comprehension,
    ast.DictComp: dict_comprehension,
    ast.Lambda: lambda_,
    ast.Call: call,
    ast.NamedExpr: named,
    ast.Yield: yield_,
    ast.YieldFrom: yield_from,
    ast.Await: awaited,
    ast.Starred: starred,
}
