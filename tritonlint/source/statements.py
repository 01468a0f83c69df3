"""Statements. `execute` says how a body ended: "next", or "return", "raise", "break", "continue" if no path goes on."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tritonlint.source import access, definitions, symbolic
from tritonlint.source.environment import Loop
from tritonlint.source.expressions import conditions
from tritonlint.source.guards import (
    ANYWHERE,
    MAX_PATH,
    NO_GUARDS,
    Choice,
    Guards,
    Path,
    choose,
    extend,
    guard,
    opposite,
    same,
)
from tritonlint.source.nodes import walk
from tritonlint.source.objects import MISSING, EnumMember, External, List, Maybe, OutOfBudget, Raised, Symbol
from tritonlint.source.values import DType

if TYPE_CHECKING:
    from tritonlint.source.environment import Frame
    from tritonlint.source.interpreter import Interpreter

MAX_WHILE = 256  # runs of one decided `while`


def execute(interp: Interpreter, body: Sequence[ast.stmt], frame: Frame) -> str:
    relevant = frame.relevant
    for statement in body:
        if relevant is not None and id(statement) not in relevant and not _steers(statement, relevant):
            if isinstance(statement, ast.Return):
                frame.returns.append((interp.path, None))
                return "return"
            continue
        interp.steps -= 1
        if interp.steps < 0:
            raise OutOfBudget
        handler = HANDLERS.get(type(statement))
        if handler is None:
            continue
        if frame.lenient and not frame.trying:
            status = _leniently(interp, handler, statement, frame)
        else:
            status = handler(interp, statement, frame)
        if status != "next":
            return status
    return "next"


def _leniently(
    interp: Interpreter, handler: Callable[[Any, Any, Any], str], statement: ast.stmt, frame: Frame
) -> str:
    """A statement of a function that launches. That it raises is more likely our not knowing a value than a program
    that never gets to its launch: what it would bind is unknown then, and reading goes on."""
    try:
        return handler(interp, statement, frame)
    except Raised as error:
        if isinstance(statement, (ast.Raise, ast.Assert)) or error.kind == "explicit":
            raise
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
            targets = [statement.target]
        elif not isinstance(statement, ast.Expr):
            raise
        for target in targets:
            for node in walk(target):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    frame.env[node.id] = interp.symbol(
                        ("failed", id(node)), f"{node.id} could not be evaluated"
                    )
        return "next"


def _steers(statement: ast.stmt, relevant: set[int]) -> bool:
    """A statement that computes nothing for a launch, yet says which paths reach it."""
    if isinstance(statement, (ast.Raise, ast.Break, ast.Continue, ast.Assert)):
        return True
    if isinstance(statement, ast.If):
        return any(_leaves(inner) for inner in (*statement.body, *statement.orelse))
    return False


def _leaves(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Raise, ast.Return, ast.Break, ast.Continue)):
        return True
    if isinstance(statement, ast.If):
        return any(_leaves(inner) for inner in (*statement.body, *statement.orelse))
    return False


def expression(interp: Interpreter, node: ast.Expr, frame: Frame) -> str:
    if not isinstance(node.value, ast.Constant):
        interp.evaluate(node.value, frame)
    return "next"


def assign(interp: Interpreter, node: ast.Assign, frame: Frame) -> str:
    value = interp.evaluate(node.value, frame)
    for target in node.targets:
        access.assign_target(interp, target, value, frame)
    return "next"


def annotated(interp: Interpreter, node: ast.AnnAssign, frame: Frame) -> str:
    if node.value is not None:
        value = interp.evaluate(node.value, frame)
        access.assign_target(interp, node.target, value, frame)
    return "next"


def augmented(interp: Interpreter, node: ast.AugAssign, frame: Frame) -> str:
    target = node.target
    current = interp.evaluate(_loaded(target), frame)
    value = interp.evaluate(node.value, frame)
    if isinstance(current, List) and isinstance(node.op, ast.Add):
        from tritonlint.source.methods import extend_list

        extend_list(interp, current, value)
        return "next"
    result = _lifted(interp, node.op, current, value)
    access.assign_target(interp, target, result, frame)
    return "next"


def _lifted(interp: Interpreter, op: ast.operator, left: Any, right: Any) -> Any:
    from tritonlint.source.guards import lift

    return lift(lambda a, b: access.operate(interp, op, a, b), left, right)


def _loaded(target: ast.expr) -> ast.expr:
    """The target read as an expression."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target


def if_(interp: Interpreter, node: ast.If, frame: Frame) -> str:
    test = interp.evaluate(node.test, frame)
    trues, falses = conditions(interp, test)
    if interp.permissive and frame.lenient and not (trues and falses):
        # What this platform or a default rules out is looked at as well.
        ruled = ("ruled", id(node))
        trues, falses = [guard(ruled, True)], [guard(ruled, False)]
    if not falses:
        return execute(interp, node.body, frame)
    if not trues:
        return execute(interp, node.orelse, frame)
    return fork(
        interp,
        frame,
        trues,
        lambda: _refined(interp, node.test, True, node.body, frame),
        falses,
        lambda: _refined(interp, node.test, False, node.orelse, frame),
    )


def _refined(interp: Interpreter, test: ast.expr, holds: bool, body: list[ast.stmt], frame: Frame) -> str:
    _refine(interp, test, frame, holds)
    return execute(interp, body, frame)


def fork(
    interp: Interpreter,
    frame: Frame,
    first_when: Sequence[Guards],
    first: Callable[[], str],
    second_when: Sequence[Guards],
    second: Callable[[], str],
) -> str:
    """Runs both branches of an undecided condition from the same state and merges what they leave behind."""
    path = interp.path
    before = dict(frame.env)
    results: list[tuple[str, dict[str, Any], dict[int, Any], Path]] = []
    for when, branch in ((first_when, first), (second_when, second)):
        frame.env = dict(before)
        interp.path = interp.under(when) or path
        interp.journal.mark()
        try:
            status = branch()
        except Raised:
            status = "raise"
        finally:
            changes = interp.journal.rollback()
            after, interp.path = interp.path, path
        results.append((status, frame.env, changes, after))
    (one, one_env, one_changes, one_path), (two, two_env, two_changes, two_path) = results
    if one == "raise" and two == "raise":
        frame.env = before
        return "raise"
    if one == "raise":
        return _go_on(interp, frame, two, two_env, two_changes, two_path)
    if two == "raise":
        return _go_on(interp, frame, one, one_env, one_changes, one_path)
    interp.journal.merge(one_changes, tuple(first_when), two_changes, tuple(second_when))
    if one == "next" and two == "next":
        frame.env = merge_environments(interp, frame, [(one_path, one_env), (two_path, two_env)])
        return "next"
    for status, env, here in ((one, one_env, one_path), (two, two_env, two_path)):
        if status == "break" and frame.loops:
            frame.loops[-1].breaks.append((here, env))
        elif status == "continue" and frame.loops:
            frame.loops[-1].continues.append((here, env))
    if one == "next":
        frame.env, interp.path = one_env, one_path
        return "next"
    if two == "next":
        frame.env, interp.path = two_env, two_path
        return "next"
    frame.env = one_env
    return one if one == two and one == "return" else "stopped"


def _go_on(
    interp: Interpreter, frame: Frame, status: str, env: dict[str, Any], changes: dict[int, Any], path: Path
) -> str:
    """The other branch raises: this one is what happens."""
    interp.journal.keep(changes)
    frame.env, interp.path = env, path
    return status


def merge_environments(
    interp: Interpreter, frame: Frame, ends: list[tuple[Path, dict[str, Any]]]
) -> dict[str, Any]:
    """One set of names out of several, each value under the path on which it holds."""
    if len(ends) == 1:
        return ends[0][1]
    result: dict[str, Any] = {}
    names = {name: None for _, env in ends for name in env}
    for name in names:
        found = [(path, env.get(name, MISSING)) for path, env in ends]
        first = found[0][1]
        if all(value is first or same(value, first) for _, value in found[1:]):
            result[name] = first
            continue
        alternatives: list[tuple[Guards, Any]] = []
        interp.steps -= len(found)
        for path, value in found:
            if value is MISSING:
                value = frame.parent.lookup(name) if frame.parent else frame.environment.lookup(name)
                if value is MISSING:
                    continue
            alternatives.extend((guards, value) for guards in path)
            interp.steps -= len(path)
        if alternatives:
            result[name] = choose(alternatives)
    return result


def _refine(interp: Interpreter, test: ast.expr, frame: Frame, holds: bool) -> None:
    """What a condition that holds says about a plain name: `if x is None`, `assert n in (16, 32)`, `n <= 1024`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        _refine(interp, test.operand, frame, not holds)
        return
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is holds:
            for part in test.values:
                _refine(interp, part, frame, holds)
        return
    if not isinstance(test, ast.Compare):
        return
    left = test.left
    if len(test.ops) == 2 and holds:  # 1 <= n <= 1024
        middle = test.comparators[0]
        _refine(interp, ast.Compare(left, [test.ops[0]], [middle]), frame, True)
        _refine(interp, ast.Compare(middle, [test.ops[1]], [test.comparators[1]]), frame, True)
        return
    if len(test.ops) != 1:
        return
    op, right = test.ops[0], test.comparators[0]
    for name_node, other_node, sign in ((left, right, op), (right, left, _mirrored(op))):
        if isinstance(name_node, ast.Name) and sign is not None:
            current = frame.lookup(name_node.id)
            if isinstance(current, Symbol):
                other = interp.evaluate(other_node, frame)
                narrowed = _narrowed(interp, current, sign, other, holds)
                if narrowed is not current:
                    frame.env[name_node.id] = narrowed
            return


def _mirrored(op: ast.cmpop) -> ast.cmpop | None:
    if isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
        return op
    for one, other in ((ast.Lt, ast.Gt), (ast.LtE, ast.GtE)):
        if isinstance(op, one):
            return other()
        if isinstance(op, other):
            return one()
    return None


def _narrowed(interp: Interpreter, symbol: Symbol, op: ast.cmpop, other: Any, holds: bool) -> Any:
    equality = (isinstance(op, (ast.Eq, ast.Is)) and holds) or (
        isinstance(op, (ast.NotEq, ast.IsNot)) and not holds
    )
    if equality and (other is None or isinstance(other, (int, str, float, bool)) or _is_plain(other)):
        return other
    inside = (isinstance(op, ast.In) and holds) or (isinstance(op, ast.NotIn) and not holds)
    if inside and isinstance(other, (list, tuple, set, dict)) and 0 < len(other) <= 16:
        items = access.in_order(other) if isinstance(other, set) else list(other)
        if all(isinstance(item, (int, str, bool)) or _is_plain(item) for item in items):
            return choose([(guard(("pick", symbol.key), number), item) for number, item in enumerate(items)])
    if isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) and isinstance(other, int):
        upper = isinstance(op, (ast.Lt, ast.LtE)) is holds
        strict = isinstance(op, (ast.Lt, ast.Gt)) is holds
        low, high = symbol.low, symbol.high
        if upper:
            limit = other - 1 if strict else other
            high = limit if high is None else min(high, limit)
        else:
            limit = other + 1 if strict else other
            low = limit if low is None else max(low, limit)
        return Symbol(
            symbol.key, symbol.reason, low, high, symbol.power_of_two, symbol.multiple_of, symbol.kind
        )
    return symbol


def _is_plain(value: Any) -> bool:
    return isinstance(value, (DType, EnumMember, External))


def assert_(interp: Interpreter, node: ast.Assert, frame: Frame) -> str:
    try:
        trues, falses = conditions(interp, interp.evaluate(node.test, frame))
    except Raised:
        return "next"
    if trues and falses:
        interp.path = interp.under(trues) or interp.path
        with contextlib.suppress(Raised):
            _refine(interp, node.test, frame, True)
    return "next"  # a failing assertion is the program's own message, not a reason to stop reading


def for_(interp: Interpreter, node: ast.For, frame: Frame) -> str:
    source = interp.evaluate(node.iter, frame)
    if isinstance(source, Choice):
        several: list[Any] = []
        items: list[Any] | None = several
        for guards, one in source.alternatives:
            inner = access.iterate(interp, one)
            if inner is None:
                items = None
                break
            several.extend(Maybe((guards,), item) for item in inner)
    else:
        items = access.iterate(interp, source)
    if items is None:
        return _some_times(interp, node, node.body, frame, lambda: _bind_unknown(interp, node, source, frame))
    loop = Loop()
    frame.loops.append(loop)
    path = interp.path
    ended = "next"
    try:
        for item in items:
            if isinstance(item, Maybe):
                if not interp.under(item.when):
                    continue
                value = item.value

                def run(value: Any = value) -> str:
                    access.assign_target(interp, node.target, value, frame)
                    status = execute(interp, node.body, frame)
                    return "next" if status == "continue" else status

                ended = _maybe(interp, frame, item.when, run)
            else:
                access.assign_target(interp, node.target, item, frame)
                ended = execute(interp, node.body, frame)
            ended = _end_of_run(interp, frame, loop, ended)
            if ended in ("break", "return", "raise", "stopped"):
                break
    finally:
        frame.loops.pop()
    if (ended == "return" or ended == "raise") and not loop.breaks:
        return ended
    if ended in ("stopped", "return", "raise") and loop.breaks:
        frame.env = merge_environments(interp, frame, loop.breaks)
        interp.path = path
        return "next"
    if ended == "stopped":
        return "return"
    if loop.breaks:
        here = interp.path
        frame.env = merge_environments(interp, frame, [*loop.breaks, (here, frame.env)])
    interp.path = _after(path, frame, interp)
    if ended != "break" and node.orelse:
        return execute(interp, node.orelse, frame)
    return "next"


def _after(path: Path, frame: Frame, interp: Interpreter) -> Path:
    """After a loop: where it could only break, all is as before; where it returned on some path, the rest goes on."""
    return interp.path if frame.returns else path


def _maybe(interp: Interpreter, frame: Frame, when: tuple[Guards, ...], run: Callable[[], str]) -> str:
    """A run of a body that happens under a condition only."""
    path = interp.path
    before = dict(frame.env)
    interp.path = interp.under(when)
    interp.journal.mark()
    try:
        status = run()
    except Raised:
        status = "raise"
    finally:
        changes = interp.journal.rollback()
        here, interp.path = interp.path, path
    otherwise = _negated(when)
    if status != "raise":
        interp.journal.merge(changes, when, {}, otherwise)
    after, frame.env = frame.env, before
    if status == "next":
        frame.env = merge_environments(
            interp, frame, [(here, after), (extend(path, otherwise) or path, before)]
        )
    return "next"


def _negated(when: tuple[Guards, ...]) -> tuple[Guards, ...]:
    """Guards under which none of `when` holds, where that is one condition; else nothing is claimed."""
    other = opposite(when[0]) if len(when) == 1 else None
    return (other if other is not None else NO_GUARDS,)


def _end_of_run(interp: Interpreter, frame: Frame, loop: Loop, ended: str) -> str:
    """Joins the paths that went on to the next run of the body."""
    if loop.continues:
        ends = list(loop.continues)
        loop.continues.clear()
        if ended in ("next", "continue"):
            ends.append((interp.path, frame.env))
        frame.env = merge_environments(interp, frame, ends)
        interp.path = tuple({guards: None for path, _ in ends for guards in path})
        if len(interp.path) > MAX_PATH:
            interp.path = ANYWHERE
        return "next"
    return "next" if ended == "continue" else ended


def _some_times(
    interp: Interpreter,
    node: ast.For | ast.While | ast.AsyncFor,
    body: list[ast.stmt],
    frame: Frame,
    bind: Callable[[], None],
) -> str:
    """A loop whose number of runs is not known: the body is read once, with what it changes step by step unknown."""
    from tritonlint.source.definitions import stepped_names

    runs = ("loop", id(node), interp.depth)
    frame.loops.append(Loop())

    def run() -> str:
        for name in stepped_names(body):
            current = frame.lookup(name)
            if not isinstance(current, (List, dict, set)) and current is not MISSING:
                frame.env[name] = _stepped(interp, node, name, current)
        bind()
        status = execute(interp, body, frame)
        return status if status in ("return", "raise") else "next"

    try:
        return fork(interp, frame, [guard(runs, True)], run, [guard(runs, False)], lambda: "next")
    finally:
        frame.loops.pop()
        if frame.yields is not None and any(
            isinstance(child, (ast.Yield, ast.YieldFrom)) for statement in body for child in walk(statement)
        ):
            frame.yields = None


def _stepped(interp: Interpreter, node: ast.AST, name: str, current: Any) -> Any:
    kind = "int" if isinstance(current, int) or getattr(current, "kind", "") == "int" else ""
    return interp.symbol(("stepped", id(node), name), f"{name} changes in a loop", kind=kind)


def _bind_unknown(interp: Interpreter, node: ast.For, source: Any, frame: Frame) -> None:
    from tritonlint.source.builtin_calls import element_of

    access.assign_target(interp, node.target, element_of(interp, source, node), frame)


def while_(interp: Interpreter, node: ast.While, frame: Frame) -> str:
    loop = Loop()
    frame.loops.append(loop)
    try:
        for _ in range(MAX_WHILE):
            trues, falses = conditions(interp, interp.evaluate(node.test, frame))
            if not trues:
                return "next"
            if falses:
                break
            ended = _end_of_run(interp, frame, loop, execute(interp, node.body, frame))
            if ended == "break":
                return "next"
            if ended in ("return", "raise"):
                return ended
            if loop.breaks or ended == "stopped":
                frame.env = merge_environments(interp, frame, [*loop.breaks, (interp.path, frame.env)])
                break
        else:
            return "next"
    finally:
        frame.loops.pop()
    return _some_times(interp, node, node.body, frame, lambda: None)


def return_(interp: Interpreter, node: ast.Return, frame: Frame) -> str:
    value = interp.evaluate(node.value, frame) if node.value is not None else None
    frame.returns.append((interp.path, value))
    return "return"


def raise_(interp: Interpreter, node: ast.Raise, frame: Frame) -> str:
    kind = ""
    if node.exc is not None:
        target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        kind = target.id if isinstance(target, ast.Name) else "Exception"
    raise Raised(kind or "Exception")


def try_(interp: Interpreter, node: Any, frame: Frame) -> str:
    frame.trying += 1
    try:
        try:
            status = execute(interp, node.body, frame)
        finally:
            frame.trying -= 1
        if status == "next" and node.orelse:
            status = execute(interp, node.orelse, frame)
    except Raised as error:
        status = "raise"
        for handler in node.handlers:
            if _catches(handler, error.kind):
                if handler.name:
                    frame.env[handler.name] = interp.symbol(("error", id(handler)), "an exception")
                status = execute(interp, handler.body, frame)
                break
        else:
            if node.finalbody:
                execute(interp, node.finalbody, frame)
            raise
    if node.finalbody:
        last = execute(interp, node.finalbody, frame)
        status = last if last != "next" else status
    return status


def _catches(handler: ast.ExceptHandler, kind: str) -> bool:
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    families = {
        "KeyError": "LookupError",
        "IndexError": "LookupError",
        "ModuleNotFoundError": "ImportError",
        "ZeroDivisionError": "ArithmeticError",
        "OverflowError": "ArithmeticError",
        "NotImplementedError": "RuntimeError",
    }
    for one in types:
        name = one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "")
        if name in (kind, "Exception", "BaseException") or families.get(kind) == name:
            return True
    return False


def with_(interp: Interpreter, node: ast.With | ast.AsyncWith, frame: Frame) -> str:
    for item in node.items:
        try:
            value = interp.evaluate(item.context_expr, frame)
        except Raised:
            value = None
        if item.optional_vars is not None:
            access.assign_target(interp, item.optional_vars, value, frame)
    return execute(interp, node.body, frame)


def match_(interp: Interpreter, node: Any, frame: Frame) -> str:
    subject = interp.evaluate(node.subject, frame)
    return _cases(interp, list(node.cases), subject, frame)


def _cases(interp: Interpreter, cases: list[Any], subject: Any, frame: Frame) -> str:
    if not cases:
        return "next"
    case, rest = cases[0], cases[1:]
    answer = _matches(interp, case.pattern, subject, frame)
    if case.guard is not None and answer is not False:
        guard = interp.evaluate(case.guard, frame)
        answer = guard if answer is True else answer
    trues, falses = conditions(interp, answer)
    if not falses:
        return execute(interp, case.body, frame)
    if not trues:
        return _cases(interp, rest, subject, frame)
    return fork(
        interp,
        frame,
        trues,
        lambda: execute(interp, case.body, frame),
        falses,
        lambda: _cases(interp, rest, subject, frame),
    )


def _matches(interp: Interpreter, pattern: Any, subject: Any, frame: Frame) -> Any:
    kind = type(pattern).__name__
    if kind == "MatchValue":
        from tritonlint.source.guards import lift

        value = interp.evaluate(pattern.value, frame)
        return lift(lambda a, b: access.compare(interp, ast.Eq(), a, b), subject, value)
    if kind == "MatchSingleton":
        return symbolic.compare(interp.symbol, ast.Is(), subject, pattern.value)
    if kind == "MatchAs" and pattern.pattern is None:
        if pattern.name:
            frame.env[pattern.name] = subject
        return True
    if kind == "MatchOr":
        answers = [_matches(interp, one, subject, frame) for one in pattern.patterns]
        if any(answer is True for answer in answers):
            return True
        left = [answer for answer in answers if answer is not False]
        return (
            left[0]
            if len(left) == 1
            else (False if not left else interp.symbol(("match", id(pattern)), "a pattern"))
        )
    return interp.symbol(("match", id(pattern)), "this pattern is not read", low=0, high=1, kind="bool")


def delete(interp: Interpreter, node: ast.Delete, frame: Frame) -> str:
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.env.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            base = interp.evaluate(target.value, frame)
            index = interp.evaluate(target.slice, frame)
            if isinstance(base, (dict, list)) and not isinstance(index, (Choice, Symbol)):
                interp.journal.touch(base)
                try:
                    del base[index]
                except Exception as error:
                    raise Raised(type(error).__name__, str(error)) from None
    return "next"


def loop_exit(kind: str) -> Callable[[Any, Any, Any], str]:
    return lambda interp, node, frame: kind


def nothing(interp: Interpreter, node: ast.stmt, frame: Frame) -> str:
    return "next"


HANDLERS: dict[type, Callable[[Any, Any, Any], str]] = {
    ast.Expr: expression,
    ast.Assign: assign,
    ast.AnnAssign: annotated,
    ast.AugAssign: augmented,
    ast.If: if_,
    ast.For: for_,
    ast.AsyncFor: for_,
    ast.While: while_,
    ast.Return: return_,
    ast.Raise: raise_,
    ast.Try: try_,
    ast.With: with_,
    ast.AsyncWith: with_,
    ast.Assert: assert_,
    ast.Delete: delete,
    ast.Break: loop_exit("break"),
    ast.Continue: loop_exit("continue"),
    ast.Pass: nothing,
    ast.FunctionDef: definitions.function,
    ast.AsyncFunctionDef: definitions.function,
    ast.ClassDef: definitions.class_,
    ast.Import: definitions.import_,
    ast.ImportFrom: definitions.import_from,
}
if hasattr(ast, "Match"):
    HANDLERS[ast.Match] = match_
if hasattr(ast, "TryStar"):
    HANDLERS[ast.TryStar] = try_
