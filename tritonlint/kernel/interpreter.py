"""Statements of a kernel: assignments, control flow, calls of jit functions.

Follows Triton's code generator: what an assignment makes of a compile-time value, which names a loop or a branch
carries, and what becomes of early returns.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.analysis import assigned_names, contains_return, line_of, targets_of, text_of
from tritonlint.kernel.carry import Slots, differing, flatten, rebuild, same_kind
from tritonlint.kernel.expressions import Expressions, describe, operate
from tritonlint.kernel.graph import Region, Val
from tritonlint.kernel.hints import hint_first_values
from tritonlint.kernel.language import CONSTEXPR
from tritonlint.kernel.loops import loop_attributes
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.scope import NONE, from_scope
from tritonlint.kernel.values import (
    Builtin,
    LoopRange,
    Opaque,
    OutOfSteps,
    Refused,
    Tensor,
    Untraceable,
    is_dynamic,
)
from tritonlint.source.sites import KernelSource

if TYPE_CHECKING:
    from tritonlint.source.sites import Scope

MAX_DEPTH = 40  # of calls inside each other
_MISSING: Any = object()


class Stop(Exception):
    """Tracing ends here: the front end refused the kernel."""


class Interpreter(Expressions):
    """Runs the body of one function. `result` is what it returned; `kernel` is true for the outermost one."""

    def __init__(
        self, m: Machine, env: dict[str, Any], scope: Scope, path: str, kernel: bool, depth: int
    ) -> None:
        super().__init__(m, env, scope)
        self.path = path
        self.kernel = kernel
        self.depth = depth
        self.result: Any = None
        self.loops = 0
        # The statements after each enclosing `if` that is decided while compiling; None for an unrolled loop.
        self.follow: list[list[ast.stmt] | None] = []
        self.branched = False  # it has more than one basic block
        self.pending: set[str] = set()  # names announced by `x: tl.constexpr`
        self.order: dict[
            str, int
        ] = {}  # names assigned in the current region, in the order of their first assignment

    # --- statements ----------------------------------------------------------------------------------------------

    def run(self, statements: list[ast.stmt]) -> bool:
        """Whether a return was met (what follows it is dead)."""
        for i, statement in enumerate(statements):
            self.m.spend()
            self.m.b.line = statement.lineno
            handler = _STATEMENTS.get(type(statement))
            if isinstance(statement, ast.If):
                self.follow.append(statements[i + 1 :])
                outcome = self.branch(statement)
                self.follow.pop()
                if outcome:
                    return True
                continue
            try:
                if handler is None:
                    raise Untraceable(f"the statement {type(statement).__name__}")
                if handler(self, statement):
                    return True
            except (Stop, OutOfSteps):
                raise
            except Exception as error:
                self.failed(statement, error)
        return False

    def failed(self, statement: ast.stmt, error: Exception) -> None:
        """A statement that could not be traced: its names become opaque, and the trace goes on."""
        reason = self.reason_of(statement, error)
        for name in targets_of(statement):
            self.env[name] = Opaque(reason)
        if isinstance(statement, (ast.For, ast.While, ast.With)):
            for name in assigned_names(statement.body, statement):
                self.env[name] = Opaque(reason)

    def reason_of(self, node: ast.AST, error: Exception) -> str:
        """Note what went wrong; the reason. A refusal ends the trace, unless something was unknown before."""
        m = self.m
        line = m.b.line or line_of(node)
        if isinstance(error, Refused) and not m.gaps:
            m.error(error, line, self.path)
            raise Stop from None
        if isinstance(error, Untraceable):
            reason = error.reason
        elif isinstance(error, Refused):
            reason = error.message
        elif isinstance(error, RecursionError):
            reason = "it is nested too deeply"
        else:
            reason = f"{type(error).__name__}: {error}"
        m.gap(line, text_of(node), reason, self.path)
        return reason

    def assign(self, node: ast.Assign) -> bool:
        if len(node.targets) != 1:
            raise Untraceable("an assignment to several targets at once")
        self.put(node.targets[0], self.visit(node.value))
        return False

    def put(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            name = target.id
            self.order.setdefault(name, len(self.order))
            if name in self.pending:
                self.pending.discard(name)
                self.env[name] = value
                return
            value = self.sanitize(value)
            if isinstance(value, Tensor) and not value.h.name:
                value.h.name = name
            self.env[name] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, Opaque):
                for part in target.elts:
                    self.put(part, value)
                return
            if not isinstance(value, tuple):
                raise Untraceable(f"cannot unpack a {type(value).__name__}")
            if len(value) != len(target.elts):
                raise Refused("type", f"{len(value)} values for {len(target.elts)} names")
            for part, item in zip(target.elts, value, strict=False):
                self.put(part, item)
        else:
            raise Untraceable(f"an assignment to {text_of(target)}")

    def annotated(self, node: ast.AnnAssign) -> bool:
        constexpr = self.is_constexpr(node.annotation)
        if not isinstance(node.target, ast.Name):
            raise Untraceable(f"an assignment to {text_of(node.target)}")
        if node.value is None:
            if constexpr:
                self.pending.add(node.target.id)
            return False
        value = self.visit(node.value)
        if constexpr:
            self.env[node.target.id] = value
        else:
            self.put(node.target, value)
        return False

    def is_constexpr(self, annotation: ast.expr) -> bool:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            return annotation.value.endswith("constexpr")
        try:
            return self.visit(annotation) is CONSTEXPR
        except Untraceable:
            return text_of(annotation).endswith("constexpr")

    def augmented(self, node: ast.AugAssign) -> bool:
        if not isinstance(node.target, ast.Name):
            raise Untraceable(f"an assignment to {text_of(node.target)}")
        current = self.name(node.target)
        self.put(node.target, operate(self.m, type(node.op), current, self.visit(node.value)))
        return False

    def expression(self, node: ast.Expr) -> bool:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)
        return False

    def returned(self, node: ast.Return) -> bool:
        value = None if node.value is None else self.visit(node.value)
        self.result = self.decayed(value)
        return True

    def decayed(self, value: Any) -> Any:
        """Up to 3.6 a returned compile-time number becomes a run-time constant."""
        if self.m.release >= (3, 7) or self.kernel:
            return value
        if isinstance(value, tuple):
            return tuple([self.decayed(v) for v in value])
        return s.to_tensor(self.m, value) if isinstance(value, (int, float)) else value

    def asserted(self, node: ast.Assert) -> bool:
        if self.m.options.get("debug"):
            test = self.visit(node.test)
            if isinstance(test, Tensor):
                self.m.b.emit("tt.assert", (test.h,), ())
        return False

    def nothing(self, node: ast.stmt) -> bool:
        return False

    def with_block(self, node: ast.With) -> bool:
        raise Untraceable("a with statement")

    # --- if ------------------------------------------------------------------------------------------------------

    def branch(self, node: ast.If) -> bool:
        """Whether the function has returned, in this or in what follows."""
        m = self.m
        try:
            test = self.visit(node.test)
            if isinstance(test, Tensor):
                if test.shape:
                    if test.numel != 1:
                        raise Refused(
                            "type",
                            "the condition of an `if` is a tensor with more than one value",
                            shape=test.shape,
                        )
                    from tritonlint.kernel.shaping import item

                    test = item(m, test)
                test = s.cast(m, test, d.INT1)
            elif not isinstance(test, Opaque):
                return self.run(node.body if test else node.orelse)
            else:
                raise Untraceable(f"the condition is not known: {test.reason}")
        except (Stop, OutOfSteps):
            raise
        except Exception as error:
            self.reason_of(node.test, error)
            test = Tensor(m.b.poison(s.element_type(d.INT1, ())), d.INT1)
        if test.h.const is not None:
            return self.run(node.body if test.h.const else node.orelse)
        try:
            if contains_return(node):
                if self.loops:
                    raise Refused("unsupported", "a `return` inside a loop, under a run-time condition")
                return self.early_return(test, node)
            self.both(test, node)
        except (Stop, OutOfSteps):
            raise
        except Exception as error:
            reason = self.reason_of(node, error)
            for name in assigned_names(node.body + node.orelse, node):
                self.env[name] = Opaque(reason)
        return False

    def side(self, body: list[ast.stmt], env: dict[str, Any]) -> tuple[Region, dict[str, Any], bool]:
        """Run one branch in its own region."""
        b = self.m.b
        region = b.enter()
        self.env = dict(env)
        order, self.order = self.order, {}
        follow, self.follow = self.follow, []
        try:
            returned = self.run(body)
        finally:
            self.order = order
            self.follow = follow
            while b.region is not region:
                b.leave()
            b.leave()
        return region, self.env, returned

    def both(self, test: Tensor, node: ast.If) -> None:
        before = self.env
        try:
            then, then_env, _ = self.side(node.body, before)
            other, other_env, _ = self.side(node.orelse, before)
        finally:
            self.env = before
        slots = self.merged(before, then_env, other_env)
        results = self.finish_if(test, then, other, slots.left, slots.right)
        self.env = dict(before)
        self.env.update(slots.rebuilt(results))
        for name, _ in slots.likes:
            self.order.setdefault(name, len(self.order))

    def merged(self, before: dict[str, Any], then: dict[str, Any], other: dict[str, Any]) -> Slots:
        """The names that come out of two branches, with their value on either side."""
        slots = Slots()
        for name, value in before.items():
            x, y = then.get(name, value), other.get(name, value)
            if x is y:
                if x is not value:  # both the same opaque or compile-time value
                    slots.plain[name] = x
                continue
            if isinstance(x, Opaque) or isinstance(y, Opaque) or isinstance(value, Opaque):
                slots.plain[name] = x if isinstance(x, Opaque) else y if isinstance(y, Opaque) else value
                if isinstance(value, Opaque) and same_kind(x, y):
                    slots.add(name, x, y)
                continue
            if not is_dynamic(value) and not isinstance(value, tuple):
                if is_dynamic(x) and is_dynamic(y) and same_kind(x, y):
                    slots.add(name, x, y)
                continue
            if flatten(x) == flatten(y):
                slots.plain[name] = x
                continue
            for changed, which in ((x, "then"), (y, "else")):
                if not same_kind(changed, value):
                    raise Refused(
                        differing(changed, value),
                        f"`{name}` is {describe(value)} before the `if`, "
                        f"but the {which} block makes it {describe(changed)}",
                        name=name,
                    )
            slots.add(name, x, y)
        for name in sorted(then.keys() & other.keys()):
            if name in before or name in slots.plain:
                continue
            x, y = then[name], other[name]
            if isinstance(x, Opaque) or isinstance(y, Opaque):
                slots.plain[name] = x if isinstance(x, Opaque) else y
            elif is_dynamic(x) or isinstance(x, tuple):
                if not same_kind(x, y):
                    raise Refused(
                        differing(x, y),
                        f"`{name}` is {describe(x)} in the then block and {describe(y)} in the else block",
                        name=name,
                    )
                slots.add(name, x, y)
            elif x is y or x == y:
                slots.plain[name] = x
        return slots

    def early_return(self, test: Tensor, node: ast.If) -> bool:
        """An `if` with a `return` in it.

        Where one branch ends the kernel, what follows is simply what is done otherwise. Else what follows the
        statement is taken into both branches, and their ends are joined.
        """
        m = self.m
        b = m.b
        before = self.env
        then, _, then_returned = self.side(node.body, before)
        then_result = self.result
        if self.kernel and then_returned:
            self.env = before
            self.close_return(test, then, True)
            return self.run(node.orelse)
        if self.kernel:
            other, _, other_returned = self.side(node.orelse, before)
            if other_returned:
                self.close_return(test, other, False)
                self.env = dict(before)
                return self.run(node.body)
        self.env = before
        if self.kernel and not then_returned:
            self.join(test, node, before)
            return False
        if None in self.follow:
            raise Untraceable("a `return` in an unrolled loop, under a run-time condition")
        rest = [statement for part in reversed(self.follow) if part is not None for statement in part]
        if not then_returned:
            then, _, _ = self.side([*node.body, *rest], before)
            then_result = self.result
        self.result = None
        other, _, _ = self.side([*node.orelse, *rest], before)
        other_result = self.result
        self.env = before
        slots = Slots()
        if then_result is None or other_result is None:
            self.result = None
        else:
            then_result, other_result = self.common(then, then_result, other, other_result)
        if then_result is None or other_result is None:
            pass
        elif not same_kind(then_result, other_result):
            raise Refused(
                differing(then_result, other_result),
                f"the returns differ in type: {describe(then_result)} and {describe(other_result)}",
            )
        else:
            slots.add("", then_result, other_result)
        for region, values in ((then, slots.left), (other, slots.right)):
            kept, b.region = b.region, region
            b.emit("tt.return" if self.kernel else "cf.br", tuple(values), ())
            b.region = kept
        made = b.emit("cf.cond_br", (test.h,), tuple([v.type for v in slots.left]))
        made.blocks = (then, other)
        b.close(made)
        self.branched = True
        if slots.left:
            self.result = slots.rebuilt(list(made.results))[""]
        return True

    def join(self, test: Tensor, node: ast.If, before: dict[str, Any]) -> None:
        """A branch of the kernel that only returns in some cases: the two sides meet after the `if`."""
        b = self.m.b
        then, then_env, _ = self.side(node.body, before)
        other, other_env, _ = self.side(node.orelse, before)
        self.env = before
        slots = self.merged(before, then_env, other_env)
        for region, values in ((then, slots.left), (other, slots.right)):
            kept, b.region = b.region, region
            b.emit("cf.br", tuple(values), ())
            b.region = kept
        made = b.emit("cf.cond_br", (test.h,), tuple([v.type for v in slots.left]))
        made.blocks = (then, other)
        b.close(made)
        self.env = dict(before)
        self.env.update(slots.rebuilt(list(made.results)))

    def common(self, then: Region, x: Any, other: Region, y: Any) -> tuple[Any, Any]:
        """Two returned values; compile-time numbers that differ become run-time ones."""
        if isinstance(x, tuple) and isinstance(y, tuple) and len(x) == len(y):
            pairs = [self.common(then, p, other, q) for p, q in zip(x, y, strict=False)]
            return tuple([p for p, _ in pairs]), tuple([q for _, q in pairs])
        if isinstance(x, (int, float)) and isinstance(y, (int, float)) and type(x) is type(y) and x == y:
            return x, y
        if isinstance(x, (int, float)):
            x = s.to_tensor(self.m, x)
        if isinstance(y, (int, float)):
            y = s.to_tensor(self.m, y)
        return x, y

    def close_return(self, test: Tensor, region: Region, when: bool) -> None:
        """A branch of the kernel that ends it: what follows is only reached otherwise."""
        b = self.m.b
        kept, b.region = b.region, region
        b.emit("tt.return", (), ())
        b.region = kept
        node = b.emit("cf.cond_br", (test.h,), (), {"returns_when": when})
        node.blocks = (region,)
        b.close(node)

    # --- loops ---------------------------------------------------------------------------------------------------

    def for_loop(self, node: ast.For) -> bool:
        iterator = self.visit(node.iter)
        if isinstance(iterator, Opaque):
            raise Untraceable(f"the loop over {text_of(node.iter)}: {iterator.reason}")
        if isinstance(iterator, tuple):
            return self.unrolled(node, iterator)
        if not isinstance(iterator, LoopRange):
            raise Untraceable(f"a loop over {text_of(node.iter)}")
        if not isinstance(node.target, ast.Name):
            raise Untraceable(f"the loop variable {text_of(node.target)}")
        if iterator.static:
            return self.unrolled(node, range(iterator.start, iterator.stop, iterator.step))
        self.counted(node, node.target.id, iterator)
        return False

    def unrolled(self, node: ast.For, items: Any) -> bool:
        self.follow.append(None)
        try:
            for item in items:
                self.m.spend()
                self.bind(node.target, item)
                if self.run(node.body):
                    return True
        finally:
            self.follow.pop()
        return False

    def counted(self, node: ast.For, target: str, loop: LoopRange) -> None:
        m = self.m
        start, stop, step = loop.start, loop.stop, loop.step
        backwards = isinstance(step, int) and step < 0
        if backwards:
            start, stop, step = stop, start, -step
        bounds = [s.to_tensor(m, v) for v in (start, stop, step)]
        for x in bounds:
            if not x.dt.is_int or x.shape:
                raise Refused(
                    "type", f"the bounds and step of a loop must be integer scalars, not {describe(x)}"
                )
        dt = d.promote_integers(d.promote_integers(bounds[0].dt, bounds[1].dt), bounds[2].dt)
        low, high, by = (s.loop_bound(m, x, dt) for x in bounds)
        attrs = loop_attributes(loop.options)
        if step == 0 and type(step) is int:
            raise Refused("type", "the step of a loop is zero")
        if by.h.const is not None and by.h.const <= 0:
            raise Untraceable(f"a loop with a step of {by.h.const}")
        if low.h.const is not None and high.h.const is not None and by.h.const is not None:
            trips = -(-(high.h.const - low.h.const) // by.h.const)
            if trips <= 1:
                if trips == 1:
                    first = high if backwards else low
                    iv = s.add(m, s.sub(m, high, low), low) if backwards else first
                    self.once(node, target, iv)
                return
        self.iterate(node, target, dt, (low, high, by), backwards, attrs)

    def once(self, node: ast.For, target: str, iv: Tensor) -> None:
        """A loop of one trip: its body, in place."""
        before = set(self.env)
        self.env[target] = iv
        self.loops += 1
        try:
            self.run(node.body)
        finally:
            self.loops -= 1
        for name in set(self.env) - before - {target}:
            del self.env[name]

    def carried(self, node: ast.For | ast.While, skip: str) -> list[Slot]:
        """The values that a loop may change: of each name that the body assigns and that has one before it."""
        names = assigned_names(node.body, node)
        slots: list[Slot] = []
        for name, value in self.env.items():
            if name in names and name != skip and (is_dynamic(value) or isinstance(value, tuple)):
                slots.extend((name, i) for i in range(len(flatten(value))))
        return slots

    def iterate(
        self,
        node: ast.For,
        target: str,
        dt: d.DType,
        bounds: tuple[Tensor, ...],
        backwards: bool,
        attrs: dict[str, Any],
    ) -> None:
        m, b = self.m, self.m.b
        before = self.env
        slots = self.carried(node, target)
        while True:
            mark = m.mark()
            iv = Val(bounds[0].h.type, name=target)
            region, env = self.loop_region(slots, before, iv)
            index = Tensor(iv, dt)
            env[target] = s.add(m, s.sub(m, bounds[1], index), bounds[0]) if backwards else index
            start = dict(env)
            after, order = self.body(node, region, env)
            kept = self.really_carried(slots, before, start, after, order)
            if kept == slots:
                break
            slots = kept
            m.rewind(mark)
        inits = initial(slots, before)
        hint_first_values(m, region.args[1:], inits)
        b.region, outer = region, b.region
        b.emit("scf.yield", initial(slots, after), ())
        b.region = outer
        made = b.emit("scf.for", (*[x.h for x in bounds], *inits), tuple([v.type for v in inits]), attrs)
        made.blocks = (region,)
        made.line = node.lineno
        b.close(made)
        self.leave_loop(slots, before, after, made.results, target)

    def loop_region(
        self, slots: list[Slot], before: dict[str, Any], iv: Val | None = None
    ) -> tuple[Region, dict[str, Any]]:
        """A new region with an argument for each slot, and the names as its body sees them."""
        region = self.m.b.enter()
        if iv is not None:
            region.args.append(iv)
        env = dict(before)
        values: dict[str, list[Val]] = {}
        for name, i in slots:
            parts = values.get(name)
            if parts is None:
                parts = values[name] = flatten(before[name])
            parts[i] = Val(parts[i].type, name=name)
            region.args.append(parts[i])
        for name, parts in values.items():
            env[name] = rebuild(before[name], iter(parts))
        return region, env

    def body(
        self, node: ast.For | ast.While, region: Region, env: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, int]]:
        """Run a loop's body in its region: the names after it, and the order in which it assigned them."""
        b, before = self.m.b, self.env
        self.env = env
        self.loops += 1
        outer_order, self.order = self.order, {}
        follow, self.follow = self.follow, []
        try:
            self.run(node.body)
            return self.env, self.order
        finally:
            self.loops -= 1
            self.order = outer_order
            self.follow = follow
            self.env = before
            while b.region is not region:
                b.leave()
            b.leave()

    def leave_loop(
        self,
        slots: list[Slot],
        before: dict[str, Any],
        after: dict[str, Any],
        results: tuple[Val, ...],
        target: str,
    ) -> None:
        self.env = dict(before)
        values: dict[str, list[Val]] = {}
        for (name, i), result in zip(slots, results, strict=False):
            values.setdefault(name, flatten(before[name]))[i] = result
        for name, parts in values.items():
            self.env[name] = rebuild(before[name], iter(parts))
            self.order.setdefault(name, len(self.order))
        for name, value in after.items():
            if isinstance(value, Opaque) and name in before and name not in values:
                self.env[name] = value
        if target:
            self.env[target] = (
                Opaque("the loop variable after its loop") if target not in before else before[target]
            )

    def really_carried(
        self,
        slots: list[Slot],
        before: dict[str, Any],
        start: dict[str, Any],
        after: dict[str, Any],
        order: dict[str, int],
    ) -> list[Slot]:
        """Those of the slots whose value changes in the body."""
        kept: list[Slot] = []
        parts: dict[str, tuple[list[Val], list[Val], list[Val]] | None] = {}
        for name, i in slots:
            if name not in parts:
                parts[name] = self._ends(name, before[name], start[name], after.get(name, _MISSING))
            found = parts[name]
            if found is None:
                continue
            initial_, first, last = found
            if last[i] is not first[i] and last[i] is not initial_[i]:
                kept.append((name, i))
        if self.m.release < (3, 5):  # names are carried in the order in which the body first assigns them
            kept.sort(key=lambda slot: (order.get(slot[0], 0), slot[1]))
        return kept

    def _ends(
        self, name: str, value: Any, first: Any, last: Any
    ) -> tuple[list[Val], list[Val], list[Val]] | None:
        """A name's values before the loop, at the start and at the end of its body; None where it has no end."""
        if last is _MISSING or isinstance(last, Opaque):
            return None
        if not same_kind(value, last):
            raise Refused(
                differing(value, last),
                f"the loop-carried variable {name} is {describe(value)} before the loop, "
                f"but {describe(last)} at its end",
                name=name,
            )
        return flatten(value), flatten(first), flatten(last)

    def while_loop(self, node: ast.While) -> bool:
        m, b = self.m, self.m.b
        before = self.env
        slots = self.carried(node, "")
        while True:
            mark = m.mark()
            condition, self.env = self.loop_region(slots, before)
            try:
                test = self.visit(node.test)
                if isinstance(test, Opaque):
                    raise Untraceable(f"the condition is not known: {test.reason}")
                test = s.cast(m, s.to_tensor(m, test), d.INT1)
            finally:
                self.env = before
                while b.region is not condition:
                    b.leave()
                b.leave()
            if test.h.const == 0:
                return False
            region, env = self.loop_region(slots, before)
            start = dict(env)
            after, order = self.body(node, region, env)
            kept = self.really_carried(slots, before, start, after, order)
            if kept == slots:
                break
            slots = kept
            m.rewind(mark)
        inits = initial(slots, before)
        hint_first_values(m, region.args, inits)
        outer = b.region
        b.region = condition
        b.emit("scf.condition", (test.h, *condition.args), ())
        b.region = region
        b.emit("scf.yield", initial(slots, after), ())
        b.region = outer
        made = b.emit("scf.while", inits, tuple([v.type for v in inits]))
        made.blocks = (condition, region)
        made.line = node.lineno
        b.close(made)
        self.leave_loop(slots, before, after, made.results, "")
        return False


Slot = tuple[str, int]
"""A value that a loop carries: a name, and which of the graph values that it is made of."""


def initial(slots: list[Slot], names: dict[str, Any]) -> tuple[Val, ...]:
    """The graph values of the slots."""
    parts: dict[str, list[Val]] = {}
    found = []
    for name, i in slots:
        if name not in parts:
            parts[name] = flatten(names[name])
        found.append(parts[name][i])
    return tuple(found)


_STATEMENTS: dict[type, Callable[[Interpreter, Any], bool]] = {
    ast.Assign: Interpreter.assign,
    ast.AnnAssign: Interpreter.annotated,
    ast.AugAssign: Interpreter.augmented,
    ast.Expr: Interpreter.expression,
    ast.Return: Interpreter.returned,
    ast.Assert: Interpreter.asserted,
    ast.For: Interpreter.for_loop,
    ast.While: Interpreter.while_loop,
    ast.With: Interpreter.with_block,
    ast.Pass: Interpreter.nothing,
    ast.Global: Interpreter.nothing,
    ast.Import: Interpreter.nothing,
    ast.ImportFrom: Interpreter.nothing,
}


# --- calls -----------------------------------------------------------------------------------------------------------


def bind_arguments(
    source: KernelSource, args: list[Any], kwargs: dict[str, Any], evaluator: Expressions
) -> dict[str, Any]:
    """The names of a function's parameters with their values, defaults filled in."""
    parameters = source.node.args
    positional = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    env: dict[str, Any] = {}
    if len(args) > len(positional) and parameters.vararg is None:
        raise Refused("type", f"{source.name} takes {len(positional)} arguments, {len(args)} are given")
    env.update(zip(positional, args, strict=False))
    if parameters.vararg is not None:
        env[parameters.vararg.arg] = tuple(args[len(positional) :])
    names = {*positional, *(a.arg for a in parameters.kwonlyargs)}
    for name, value in kwargs.items():
        if name not in names:
            raise Refused("type", f"{source.name} has no parameter {name}", name=name)
        if name in env:
            raise Refused("type", f"{source.name} is given {name} twice", name=name)
        env[name] = value
    defaults: dict[str, ast.expr] = dict(
        zip(positional[len(positional) - len(parameters.defaults) :], parameters.defaults, strict=False)
    )
    defaults.update(
        (a.arg, v)
        for a, v in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=False)
        if v is not None
    )
    for name in (*positional, *(a.arg for a in parameters.kwonlyargs)):
        if name in env:
            continue
        if name not in defaults:
            raise Refused("type", f"{source.name} needs the argument {name}", name=name)
        env[name] = default_value(source, name, defaults[name], evaluator)
    return env


def default_value(source: KernelSource, name: str, node: ast.expr, evaluator: Expressions) -> Any:
    for parameter in source.parameters:
        if parameter.name == name and parameter.default is not None:
            found = from_scope(parameter.default, name)
            if not isinstance(found, Opaque):
                return None if found is NONE else found
    return evaluator.visit(node)


def caller(m: Machine, depth: int = 0) -> Callable[..., Any]:
    """`m.call`: inline a jit function."""

    def call(source: KernelSource, args: list[Any], kwargs: dict[str, Any]) -> Any:
        nonlocal depth
        if depth >= MAX_DEPTH:
            raise Untraceable(f"{source.name} calls itself too deeply")
        m.spend(5)
        b = m.b
        line, path = b.line, b.path
        evaluator = Interpreter(m, {}, source.scope, source.path, False, depth)
        evaluator.env = bind_arguments(source, args, kwargs, evaluator)
        depth += 1
        if source.path != m.path:
            b.path = source.path
        elif path:
            b.path = ""
        try:
            if source.noinline or (
                b.region.parent is not None and has_early_return(source) and branches(m, source, evaluator)
            ):
                return call_noinline(m, source, evaluator)
            evaluator.run(source.node.body)
        finally:
            depth -= 1
            b.line, b.path = line, path
        return evaluator.result

    return call


def has_early_return(source: KernelSource) -> bool:
    """Whether a `return` stands in some `if`, so that the function may have several basic blocks."""
    return any(isinstance(n, (ast.If, ast.For, ast.While)) and contains_return(n) for n in source.node.body)


def branches(m: Machine, source: KernelSource, evaluator: Interpreter) -> bool:
    """Whether the function, with these arguments, has several basic blocks: it is then not inlined into a loop or an
    `if`, whose bodies are one block."""
    b = m.b
    env = evaluator.env
    region = b.enter()
    mark = m.mark()
    trial = Interpreter(m, dict(env), source.scope, source.path, False, evaluator.depth)
    try:
        trial.run(source.node.body)
    finally:
        while b.region is not region:
            b.leave()
        b.leave()
        m.rewind(mark)
    return trial.branched


def call_noinline(m: Machine, source: KernelSource, evaluator: Interpreter) -> Any:
    """A function that stays one: tt.call, with the traced function as attribute."""
    b = m.b
    given = {name: value for name, value in evaluator.env.items() if is_dynamic(value)}
    outer_region, outer_constants = b.region, b.constants
    b.region, b.constants = Region(None), {}
    inner = b.region
    env = dict(evaluator.env)
    for name, value in given.items():
        args = [Val(v.type, name=name) for v in flatten(value)]
        inner.args.extend(args)
        env[name] = rebuild(value, iter(args))
    evaluator.env = env
    try:
        evaluator.run(source.node.body)
        result = evaluator.result
        handles = flatten(result) if result is not None else []
        b.emit("tt.return", tuple(handles), ())
    finally:
        b.region, b.constants = outer_region, outer_constants
    operands = tuple([v for value in given.values() for v in flatten(value)])
    node = b.emit("tt.call", operands, tuple([v.type for v in handles]), {"callee": source.name})
    node.blocks = (inner,)
    return None if result is None else rebuild(result, iter(node.results))


__all__ = ["Builtin", "Interpreter", "Stop", "bind_arguments", "caller"]
