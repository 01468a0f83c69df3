"""Expressions of a kernel, evaluated as Triton's code generator does it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.analysis import text_of
from tritonlint.kernel.attributes import attribute
from tritonlint.kernel.carry import differing
from tritonlint.kernel.graph import type_of
from tritonlint.kernel.helpers import run_helper
from tritonlint.kernel.language import GLOBALS, resolve
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.scope import NONE, from_scope
from tritonlint.kernel.values import (
    Bound,
    Builtin,
    Descriptor,
    Module,
    Opaque,
    Record,
    Refused,
    Slice,
    Tensor,
    Untraceable,
    is_dynamic,
)
from tritonlint.source.sites import KernelSource

if TYPE_CHECKING:
    from tritonlint.source.sites import Scope

_POWER_LIMIT = 4096  # bits of a compile-time integer


def _power(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int) and y > 0 and x.bit_length() * y > _POWER_LIMIT:
        raise Untraceable("the power is too large to work out")
    return x**y


def _shift_left(x: Any, y: Any) -> Any:
    if isinstance(y, int) and y > _POWER_LIMIT:
        raise Untraceable("the shift is too large to work out")
    return x << y


def _times(x: Any, y: Any) -> Any:
    for sequence, count in ((x, y), (y, x)):
        if isinstance(sequence, (str, tuple)) and isinstance(count, int) and len(sequence) * count > 100_000:
            raise Untraceable("the repetition is too long to work out")
    return x * y


_PLAIN: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _times,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.LShift: _shift_left,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda x, y: x in y,
    ast.NotIn: lambda x, y: x not in y,
}
_TYPED: dict[type, Callable[[Machine, Any, Any], Any]] = {
    ast.Add: s.add,
    ast.Sub: s.sub,
    ast.Mult: s.mul,
    ast.Div: s.truediv,
    ast.FloorDiv: s.floordiv,
    ast.Mod: s.mod,
    ast.LShift: lambda m, x, y: s.bitwise(m, "shli", x, y),
    ast.RShift: s.shift_right,
    ast.BitAnd: lambda m, x, y: s.bitwise(m, "andi", x, y),
    ast.BitOr: lambda m, x, y: s.bitwise(m, "ori", x, y),
    ast.BitXor: lambda m, x, y: s.bitwise(m, "xori", x, y),
    ast.Eq: lambda m, x, y: s.compare(m, "eq", x, y),
    ast.NotEq: lambda m, x, y: s.compare(m, "ne", x, y),
    ast.Lt: lambda m, x, y: s.compare(m, "lt", x, y),
    ast.LtE: lambda m, x, y: s.compare(m, "le", x, y),
    ast.Gt: lambda m, x, y: s.compare(m, "gt", x, y),
    ast.GtE: lambda m, x, y: s.compare(m, "ge", x, y),
}


def operate(m: Machine, op: type, x: Any, y: Any) -> Any:
    """`x op y` on values of either time."""
    if isinstance(x, Opaque):
        return x
    if isinstance(y, Opaque):
        return y
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        typed = _TYPED.get(op)
        if typed is None:
            raise Refused("type", f"the operator {op.__name__} is not there for tensors")
        return typed(m, x, y)
    plain = _PLAIN.get(op)
    if plain is None:
        raise Untraceable(f"the operator {op.__name__}")
    result = plain(x, y)
    if result is NotImplemented:
        raise Untraceable(f"{op.__name__} of a {type(x).__name__} and a {type(y).__name__}")
    return result


class Expressions:
    """Evaluates the expressions of one function body: `env` are its names so far, `scope` those around it."""

    m: Machine
    env: dict[str, Any]
    scope: Scope

    def __init__(self, m: Machine, env: dict[str, Any], scope: Scope) -> None:
        self.m = m
        self.env = env
        self.scope = scope

    def visit(self, node: ast.expr) -> Any:
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise Untraceable(f"the construct {type(node).__name__}")
        return handler(self, node)

    def known_truth(self, value: Any, what: ast.expr) -> bool:
        """The truth of a compile-time condition."""
        if isinstance(value, Opaque):
            raise Untraceable(f"the condition {text_of(what)} is not known: {value.reason}")
        return bool(value)

    # --- names and constants -----------------------------------------------------------------------------------

    def name(self, node: ast.Name) -> Any:
        value = self.env.get(node.id, _ABSENT)
        if value is not _ABSENT:
            return value
        return self.global_name(node.id)

    def global_name(self, name: str) -> Any:
        found = from_scope(self.scope.lookup(name), name)
        if found is not None:
            return None if found is NONE else found
        value = GLOBALS.get(name, _ABSENT)
        if value is not _ABSENT:
            return value
        raise Untraceable(f"{name} is not defined here")

    def constant(self, node: ast.Constant) -> Any:
        return node.value

    def sequence(self, node: ast.Tuple | ast.List) -> Any:
        values: list[Any] = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                inner = self.visit(item.value)
                if not isinstance(inner, tuple):
                    raise Untraceable(f"*{text_of(item.value)} is no tuple")
                values.extend(inner)
            else:
                values.append(self.visit(item))
        return tuple(values)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Any:
        if len(node.generators) != 1:
            raise Untraceable("nested comprehensions")
        generator = node.generators[0]
        items = self.visit(generator.iter)
        if not isinstance(items, tuple):
            raise Untraceable(f"a comprehension over {text_of(generator.iter)}")
        results = []
        for item in items:
            self.m.spend()
            self.bind(generator.target, item)
            if all(self.known_truth(self.visit(test), test) for test in generator.ifs):
                results.append(self.visit(node.elt))
        return tuple(results)

    def bind(self, target: ast.expr, value: Any) -> None:
        """Bind names to a value as it is."""
        if isinstance(target, ast.Name):
            self.env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, Opaque):
                for part in target.elts:
                    self.bind(part, value)
                return
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                raise Untraceable(f"cannot unpack into {text_of(target)}")
            for part, item in zip(target.elts, value, strict=False):
                self.bind(part, item)
        else:
            raise Untraceable(f"an assignment to {text_of(target)}")

    def joined_string(self, node: ast.JoinedStr) -> Any:
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
            elif isinstance(part, ast.FormattedValue):
                value = self.visit(part.value)
                parts.append("?" if is_dynamic(value) or isinstance(value, Opaque) else str(value))
        return "".join(parts)

    def dictionary(self, node: ast.Dict) -> Any:
        made = {}
        for key, value in zip(node.keys, node.values, strict=False):
            if key is None:
                raise Untraceable("** in a dict")
            made[self.visit(key)] = self.visit(value)
        return made

    # --- operators ---------------------------------------------------------------------------------------------

    def binary(self, node: ast.BinOp) -> Any:
        x = self.visit(node.left)
        y = self.visit(node.right)
        return operate(self.m, type(node.op), x, y)

    def unary(self, node: ast.UnaryOp) -> Any:
        value = self.visit(node.operand)
        op = type(node.op)
        if isinstance(value, Opaque):
            return value
        if isinstance(value, Tensor):
            if op is ast.USub:
                return s.minus(self.m, value)
            if op is ast.Invert:
                return s.invert(self.m, value)
            if op is ast.Not:
                return s.logical_not(self.m, value)
            return value
        if op is ast.Not:
            return not value
        if op is ast.USub:
            return -value
        return ~value if op is ast.Invert else +value

    def boolean(self, node: ast.BoolOp) -> Any:
        op = "andi" if isinstance(node.op, ast.And) else "ori"
        return self.fold_boolean(op, (self.visit(value) for value in node.values))

    def fold_boolean(self, op: str, values: Any) -> Any:
        """`and` and `or`: compile-time values short-circuit, run-time ones are combined from the right."""
        dynamic: list[Any] = []
        unknown: Opaque | None = None
        last: Any = None
        for value in values:
            last = value
            if isinstance(value, Opaque):
                unknown = value
            elif isinstance(value, Tensor):
                dynamic.append(value)
            elif bool(value) == (op == "ori"):
                return value
        if unknown is not None:
            return unknown
        if not dynamic:
            return last
        while len(dynamic) >= 2:
            right, left = dynamic.pop(), dynamic.pop()
            dynamic.append(s.logical(self.m, op, left, right))
        return dynamic[0]

    def comparison(self, node: ast.Compare) -> Any:
        if len(node.ops) == 1:
            return self.compare(type(node.ops[0]), self.visit(node.left), self.visit(node.comparators[0]))
        if self.m.release < (3, 9):
            raise Refused("unsupported", "chained comparisons need Triton 3.9", since="3.9")
        return self.fold_boolean("andi", self._chain(node))

    def _chain(self, node: ast.Compare) -> Any:
        left = self.visit(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=False):
            right = self.visit(comparator)
            yield self.compare(type(op), left, right)
            left = right

    def compare(self, op: type, x: Any, y: Any) -> Any:
        if op is ast.Is or op is ast.IsNot:
            if isinstance(x, Opaque):
                return x
            if isinstance(y, Opaque):
                return y
            same = x is y or (type(x) is type(y) and isinstance(x, (int, float, str)) and x == y)
            return same == (op is ast.Is)
        if (
            op in (ast.Eq, ast.NotEq)
            and (x is None or y is None)
            and not isinstance(x, Opaque)
            and not isinstance(y, Opaque)
        ):
            return (x is y) == (op is ast.Eq)
        return operate(self.m, op, x, y)

    def conditional(self, node: ast.IfExp) -> Any:
        test = self.visit(node.test)
        m = self.m
        if not isinstance(test, Tensor):
            return self.visit(node.body if self.known_truth(test, node.test) else node.orelse)
        test = s.cast(m, test, d.INT1)
        if test.h.const is not None and not test.shape:
            chosen = self.visit(node.body if test.h.const else node.orelse)
            return chosen if is_dynamic(chosen) or chosen is None else s.to_tensor(m, chosen)
        b = m.b
        b.enter()
        x = self.visit(node.body)
        then = b.leave()
        b.enter()
        y = self.visit(node.orelse)
        other = b.leave()
        if x is None and y is None:
            self.finish_if(test, then, other, [], [])
            return None
        x, y = s.to_tensor(m, x), s.to_tensor(m, y)
        if x.dt is not y.dt or x.shape != y.shape:
            raise Refused(
                differing(x, y),
                f"the two sides of the conditional differ in type: {describe(x)} and {describe(y)}",
            )
        result = self.finish_if(test, then, other, [x.h], [y.h])[0]
        return Tensor(result, x.dt, x.shape)

    def finish_if(
        self, test: Tensor, then: Any, other: Any, yields: list[Any], other_yields: list[Any]
    ) -> list[Any]:
        """Append an scf.if of two filled regions; its results."""
        b = self.m.b
        for region, values in ((then, yields), (other, other_yields)):
            b.region, kept = region, b.region
            b.emit("scf.yield", tuple(values), ())
            b.region = kept
        node = b.emit("scf.if", (test.h,), tuple([v.type for v in yields]))
        node.blocks = (then, other)
        b.close(node)
        return list(node.results)

    # --- access ------------------------------------------------------------------------------------------------

    def attribute(self, node: ast.Attribute) -> Any:
        owner = self.visit(node.value)
        if isinstance(owner, Module):
            found = resolve(f"{owner.dotted}.{node.attr}", self.m.release)
            return found if found is not None else Opaque(f"{owner.dotted}.{node.attr} is not known")
        if isinstance(owner, Opaque):
            return self._foreign(node, owner)
        return attribute(self.m, owner, node.attr)

    def _foreign(self, node: ast.Attribute, owner: Opaque) -> Any:
        """An attribute of a module of the user's package."""
        dotted: list[str] = [node.attr]
        inner = node.value
        while isinstance(inner, ast.Attribute):
            dotted.append(inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name) or inner.id in self.env:
            return owner
        base = self.scope.lookup(inner.id)
        for name in reversed(dotted):
            if base is None:
                return owner
            base = self.scope.attribute(base, name)
        found = from_scope(base, text_of(node))
        return owner if found is None else None if found is NONE else found

    def subscript(self, node: ast.Subscript) -> Any:
        owner = self.visit(node.value)
        index = self.visit(node.slice)
        if isinstance(owner, Tensor):
            return index_tensor(self.m, owner, index)
        if isinstance(owner, Opaque):
            return owner
        if isinstance(owner, (Builtin, Module)):
            raise Untraceable(f"{text_of(node)}")
        if isinstance(index, Slice):
            return owner[slice(plain(index.start), plain(index.stop), plain(index.step))]
        if isinstance(index, Tensor):
            raise Untraceable("a tuple indexed by a run-time value")
        if isinstance(index, Opaque):
            return index
        return owner[index]

    def slice(self, node: ast.Slice) -> Any:
        return Slice(
            self.visit(node.lower) if node.lower else None,
            self.visit(node.upper) if node.upper else None,
            self.visit(node.step) if node.step else None,
        )

    def named(self, node: ast.NamedExpr) -> Any:
        value = self.sanitize(self.visit(node.value))
        self.env[node.target.id] = value
        return value

    def sanitize(self, value: Any) -> Any:
        """What a plain assignment makes of a value: a compile-time number becomes a run-time constant."""
        if isinstance(value, tuple):
            if type(value) is Record:
                return Record.of(tuple([self.sanitize(v) for v in value]), value.fields)
            return tuple([self.sanitize(v) for v in value])
        if isinstance(value, (int, float)):
            return s.to_tensor(self.m, value)
        return value

    # --- calls -------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Any:
        function = self.visit(node.func)
        m = self.m
        m.spend()
        # Unlike Python, the front end comes to keywords first.
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Untraceable("a ** argument")
            kwargs[keyword.arg] = self.visit(keyword.value)
        args: list[Any] = []
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                inner = self.visit(arg.value)
                if not isinstance(inner, tuple):
                    raise Untraceable(f"*{text_of(arg.value)} is no tuple")
                args.extend(inner)
            else:
                args.append(self.visit(arg))
        m.b.line = node.lineno
        return self.apply(function, args, kwargs, node)

    def apply(self, function: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        m = self.m
        if isinstance(function, Bound):
            args.insert(0, function.owner)
            function = function.function
        if isinstance(function, Builtin):
            try:
                return function.call(m, *args, **kwargs)
            except TypeError as error:
                if "argument" in str(error):
                    raise Untraceable(f"{function.name}: {error}") from None
                raise
        if isinstance(function, KernelSource):
            if function.kind == "constexpr_function":
                return run_helper(m, function, args, kwargs)
            return m.call(function, args, kwargs)
        if isinstance(function, Opaque):
            raise Untraceable(f"the call of {text_of(getattr(node, 'func', node))}: {function.reason}")
        if isinstance(function, d.DType):
            raise Untraceable(f"{function.name}(...)")
        if callable(function):
            if any(is_dynamic(a) or isinstance(a, Opaque) for a in (*args, *kwargs.values())):
                raise Untraceable(f"{text_of(getattr(node, 'func', node))} of run-time values")
            return function(*args, **kwargs)
        raise Untraceable(f"{text_of(getattr(node, 'func', node))} is not callable")


def plain(value: Any) -> Any:
    if isinstance(value, (Tensor, Opaque)):
        raise Untraceable("a run-time value in a slice")
    return value


def index_tensor(m: Machine, value: Tensor, index: Any) -> Tensor:
    """`x[:, None]` and the like."""
    items = index if isinstance(index, tuple) else (index,)
    used = 0
    rank = len(value.shape)
    refused = "shape" if rank else "type"  # an argument whose type is not known may be a tuple
    for axis, item in enumerate(items):
        if item is None:
            value = s.expand_dims(m, value, axis)
        elif isinstance(item, Slice) and item.start is None and item.stop is None and item.step is None:
            used += 1
            if used > rank:
                raise Refused(refused, f"too many indices for a tensor of rank {rank}")
        elif isinstance(item, Opaque):
            raise Untraceable(item.reason)
        else:
            raise Refused(refused, "a tensor can only be indexed with None and `:`")
    return value


def describe(value: Any) -> str:
    """The type of a value, in the words of the real messages."""
    if isinstance(value, Tensor):
        return f"{value.dt.name}{list(value.shape)}" if value.shape else value.dt.name
    if isinstance(value, Descriptor):
        return f"tensor_descriptor<{value.dt.name}{list(value.block)}>"
    return type(value).__name__


_ABSENT: Any = object()

_HANDLERS: dict[type, Callable[[Expressions, Any], Any]] = {
    ast.Name: Expressions.name,
    ast.Constant: Expressions.constant,
    ast.Tuple: Expressions.sequence,
    ast.List: Expressions.sequence,
    ast.ListComp: Expressions.comprehension,
    ast.GeneratorExp: Expressions.comprehension,
    ast.JoinedStr: Expressions.joined_string,
    ast.Dict: Expressions.dictionary,
    ast.BinOp: Expressions.binary,
    ast.UnaryOp: Expressions.unary,
    ast.BoolOp: Expressions.boolean,
    ast.Compare: Expressions.comparison,
    ast.IfExp: Expressions.conditional,
    ast.Attribute: Expressions.attribute,
    ast.Subscript: Expressions.subscript,
    ast.Slice: Expressions.slice,
    ast.NamedExpr: Expressions.named,
    ast.Call: Expressions.call,
}

__all__ = ["NONE", "Expressions", "describe", "index_tensor", "operate", "type_of"]
