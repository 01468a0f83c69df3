"""A module's names, evaluated only when asked for, yet in the order of its statements.

Names are rebound (`configs = [...]` several times in a file, each for the kernel below it), so a name is asked for at
a point in time: the number of the top-level statement that is being evaluated. Function bodies run later than the
module and see its last bindings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritonlint.source.global_names import globals_set, set_by_functions
from tritonlint.source.guards import ANYWHERE, Choice, Path
from tritonlint.source.module import Module
from tritonlint.source.nodes import walk
from tritonlint.source.objects import MISSING, Dict, Function, Instance, List, OutOfBudget, Set

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Interpreter

LAST = 1 << 30  # the time after all statements


class Frame:
    """The local names of one run of a function, of a class body, or of one top-level statement."""

    __slots__ = (
        "assumed", "decorators", "env", "environment", "function", "lenient", "loops", "name", "parent", "relevant",
        "returns", "spread", "trying", "yields",
    )  # fmt: skip

    def __init__(self, environment: Environment, parent: Frame | None = None, name: str = "") -> None:
        self.env: dict[str, Any] = {}
        self.environment = environment
        self.parent = parent
        self.name = name
        self.function: Function | None = None
        self.returns: list[tuple[Path, Any]] = []
        self.loops: list[Loop] = []
        self.yields: List | None = None
        self.spread: ast.AST | None = None  # the comprehension in hand
        self.assumed: dict[str, Any] = {}  # from a comment on the function
        self.decorators: tuple[
            ast.expr, ...
        ] = ()  # those in hand: a call of one of these is no call for configs
        self.lenient = False  # what raises is passed over
        self.trying = 0  # `try` statements around
        self.relevant: set[int] | None = None  # the statements to evaluate, where not all

    def release(self) -> None:
        """Lets go of what it holds; see `FileWork.release`."""
        self.env = {}
        self.returns = []
        self.function = None

    def lookup(self, name: str) -> Any:
        frame: Frame | None = self
        while frame is not None:
            found = frame.env.get(name, MISSING)
            if found is not MISSING:
                return found
            frame = frame.parent
        environment = self.environment
        late = environment.now == LAST and name in environment.set_later and not self._sets(name)
        return environment.lookup_late(name) if late else environment.lookup(name)

    def _sets(self, name: str) -> bool:
        """Whether this is a run of a function that sets the name itself: it sees its own."""
        frame: Frame | None = self
        while frame is not None:
            if frame.function is not None and name in globals_set(frame.function.node):
                return True
            frame = frame.parent
        return False


def _is_data(value: Any) -> bool:
    if isinstance(value, Choice):
        return any(_is_data(one) for one in value.values)
    return value is None or isinstance(value, (bool, int, float, str, tuple, List, Dict, Set))


class Loop:
    """How the runs of a loop's body ended under conditions that are not decided."""

    __slots__ = ("breaks", "continues")

    def __init__(self) -> None:
        self.breaks: list[tuple[Path, dict[str, Any]]] = []
        self.continues: list[tuple[Path, dict[str, Any]]] = []


@dataclass(frozen=True, slots=True, eq=False)
class Bindings:
    """Which top-level statements bind or change which names."""

    index: dict[str, list[int]]
    stars: list[int]  # statements with `from x import *`


def bindings_of(module: Module) -> Bindings:
    """Of one module; worked out once."""
    return module.once("bindings", _bindings_of)


def _bindings_of(module: Module) -> Bindings:
    return bindings_among(module.statements)


def bindings_among(statements: Iterable[ast.stmt | str]) -> Bindings:
    """Of statements in order; a name stands for a function or class of that name."""
    index: dict[str, list[int]] = {}
    stars: list[int] = []
    for number, statement in enumerate(statements):
        if isinstance(statement, str):
            index.setdefault(statement, []).append(number)
            continue
        names: dict[str, bool] = {}
        names_of(statement, names, True)
        for name in names:
            index.setdefault(name, []).append(number)
        if isinstance(statement, (ast.ImportFrom, ast.Try, ast.If)):
            inside = [statement] if isinstance(statement, ast.ImportFrom) else walk(statement)
            if any(isinstance(inner, ast.ImportFrom) and inner.names[0].name == "*" for inner in inside):
                stars.append(number)
    return Bindings(index, stars)


SET_LATER = "set later"  # under this name a module keeps the names that its functions set


def _set_later(module: Module) -> frozenset[str]:
    if "global" not in module.text:
        return frozenset()
    places = ((one.lineno, one.end_lineno or one.lineno) for one in module.statements)
    return set_by_functions(module.lines.lines, module.statements, places)


class Environment:
    def __init__(self, interpreter: Interpreter, module: Module) -> None:
        self.interpreter = interpreter
        self.module = module
        self.now = LAST
        bindings = bindings_of(module)
        self.index, self.stars = bindings.index, bindings.stars
        self.set_later = module.once(SET_LATER, _set_later)
        self._values: dict[str, dict[int, Any]] = {}
        self._state: dict[int, str] = {}  # statement -> "running", "done"
        self._running: dict[int, Frame] = {}
        self._later: dict[str, Any] = {}
        self._exhausted: set[int] = set()  # statements that cost too much
        self._failed: dict[int, str] = {}  # statements that bind nothing, and why
        self.asked: dict[int, set[tuple[str, str]]] = {}  # the names that a statement looked up

    def release(self) -> None:
        """Lets go of what it holds; see `FileWork.release`."""
        self._values.clear()
        self._later.clear()
        del self.interpreter

    def lookup(self, name: str) -> Any:
        """The value of a module-level name at the present time; MISSING where nothing binds it."""
        now = self.now
        if now == LAST and name in self._later:
            if self.interpreter.watched is not None:
                self.interpreter.watched.add((self.module.path, name))
            return self._later[name]
        value = self._at(name, now)
        if now == LAST and self._state_is_settled():
            self._later[name] = value
        return value

    def lookup_late(self, name: str) -> Any:
        """The value that functions see, and other modules: not known where functions of the module set it."""
        value = self.lookup(name)
        if name not in self.set_later or not _is_data(value):
            return value
        why = f"functions of its module set {name}"
        return self.interpreter.symbol(("global", self.module.path, name), why)

    def _state_is_settled(self) -> bool:
        return "running" not in self._state.values()

    def _at(self, name: str, now: int) -> Any:
        if self.interpreter.watched is not None:
            self.interpreter.watched.add((self.module.path, name))
        numbers = self.index.get(name)
        if numbers is None:
            return self._from_star(name, now)
        for number in reversed(numbers):
            if number == now and number in self._running:
                # A function that the running statement defined asks for a name that this statement bound.
                value = self._running[number].env.get(name, MISSING)
                if value is not MISSING:
                    return value
            if number >= now:
                continue
            statement = self.module.statements[number]
            if isinstance(statement, ast.ImportFrom):
                # One name of `from x import a, b, c` must not cost the evaluation of the others.
                return self._imported(name, number, statement)
            if not self._run(number):
                continue
            value = self._values.get(name, {}).get(number, MISSING)
            if value is not MISSING:
                return value
        return self._from_star(name, now)

    def _imported(self, name: str, number: int, statement: ast.ImportFrom) -> Any:
        own = self._values.setdefault(name, {})
        if number not in own:
            own[number] = MISSING  # while it is looked for: a circle of imports ends here
            alias = next(one for one in statement.names if (one.asname or one.name) == name)
            own[number] = self.interpreter.import_name(self, statement, alias.name)
        return own[number]

    def _from_star(self, name: str, now: int) -> Any:
        if name.startswith("__"):
            return MISSING
        for number in reversed(self.stars):
            if number >= now:
                continue
            for node in walk(self.module.statements[number]):
                if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                    source = self.interpreter.import_module(self, node)
                    if source is not None and source is not self:
                        value = source.lookup_late(name)
                        if value is not MISSING:
                            return value
        return MISSING

    def settle(self, number: int) -> None:
        """Evaluates a top-level statement for what it defines. Raises OutOfBudget where it costs too much."""
        self._run(number)
        if number in self._exhausted:
            raise OutOfBudget

    def why_unbound(self, name: str) -> str | None:
        """What came of the statements that bind a name, where they failed: "raises KeyError: 'a'"."""
        numbers = self.index.get(name, ())
        return next((self._failed[number] for number in numbers if number in self._failed), None)

    def values_of(self, name: str) -> list[Any]:
        """All values that evaluated statements bound to a name."""
        return list(self._values.get(name, {}).values())

    def values(self) -> list[Any]:
        """All values that evaluated statements bound, in the order of the statements."""
        pairs = [(number, value) for own in self._values.values() for number, value in own.items()]
        return [value for _, value in sorted(pairs, key=lambda pair: pair[0])]

    def _run(self, number: int) -> bool:
        """Evaluates one top-level statement unless it was; False where it is running (a circle)."""
        state = self._state.get(number)
        if state is not None:
            return state == "done"
        self._state[number] = "running"
        statement = self.module.statements[number]
        frame = self._running[number] = Frame(self)
        outer_now, self.now = self.now, number
        interpreter = self.interpreter
        outer_path, interpreter.path = interpreter.path, ANYWHERE
        # What a module does once is not charged to the site that happens to ask first.
        outer_steps, interpreter.steps = interpreter.steps, interpreter.allowance()
        granted = interpreter.steps
        outer_watched = interpreter.watched
        if outer_watched is not None:
            interpreter.watched = self.asked[number] = set()
        try:
            self._carry(statement, frame, number)
            raised = interpreter.run_top_level(statement, frame)
            if raised is not None:
                self._failed[number] = f"raises {raised}"
        except OutOfBudget:
            self._exhausted.add(number)
            self._failed[number] = "takes too many steps to evaluate"
        finally:
            self.now = outer_now
            interpreter.watched = outer_watched
            interpreter.path = outer_path
            interpreter.reserve -= granted - max(interpreter.steps, 0)
            interpreter.steps = outer_steps
            self._state[number] = "done"
            del self._running[number]
        for name, value in frame.env.items():
            self._values.setdefault(name, {})[number] = value
        return True

    def _carry(self, statement: ast.stmt, frame: Frame, number: int) -> None:
        """Containers that the statement changes in place are copied first, so that a look at an earlier time still
        sees the earlier content."""
        names: dict[str, bool] = {}
        names_of(statement, names, True)
        for name, full in names.items():
            if not full and self.index[name][0] < number:
                value = self._at(name, number)
                if value is not MISSING:
                    frame.env[name] = copy_container(value)


def copy_container(value: Any) -> Any:
    if isinstance(value, List):
        return List(value, value.origin)
    if isinstance(value, Dict):
        copied = Dict({key: copy_container(inner) for key, inner in value.items()}, value.origins)
        copied.default_factory = value.default_factory
        return copied
    if isinstance(value, Set):
        return Set(value)
    if isinstance(value, Instance):
        return Instance(value.cls, value.attributes.copy())
    return value


CHANGING = frozenset(
    {
        "append",
        "extend",
        "insert",
        "remove",
        "pop",
        "clear",
        "update",
        "add",
        "discard",
        "setdefault",
        "sort",
        "reverse",
    }
)


def names_of(node: ast.AST, names: dict[str, bool], full: bool) -> None:
    """Names that a statement binds (True: whatever happens) or changes in place (False)."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        _add(names, node.name, full)
        return
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            if alias.name != "*":
                name = alias.asname or (
                    alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name
                )
                # `import a.b` after `import a` must not hide what `a` is.
                _add(names, name, full)
        return
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete)):
        targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target]
        for target in targets:
            _targets(target, names, full and not isinstance(node, (ast.AugAssign, ast.Delete)))
        return
    if isinstance(node, ast.Expr):
        _calls(node.value, names)
        return
    if isinstance(node, (ast.For, ast.AsyncFor)):
        _targets(node.target, names, False)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if item.optional_vars is not None:
                _targets(item.optional_vars, names, full)
        for child in node.body:
            names_of(child, names, full)
        return
    elif isinstance(node, ast.If):
        _branches([node.body, node.orelse], names, full)
        return
    elif isinstance(node, ast.Try):
        _branches([[*node.body, *node.orelse], *(handler.body for handler in node.handlers)], names, full)
        for child in node.finalbody:
            names_of(child, names, full)
        return
    for part in ast.iter_child_nodes(node):
        if isinstance(part, (ast.stmt, ast.ExceptHandler)):
            names_of(part, names, False)
        elif type(part).__name__ == "match_case":
            inner: Any = part
            for statement in inner.body:
                names_of(statement, names, False)


def _branches(branches: list[list[ast.stmt]], names: dict[str, bool], full: bool) -> None:
    """A name is bound whatever happens when every branch binds it."""
    found: list[dict[str, bool]] = []
    for body in branches:
        own: dict[str, bool] = {}
        for child in body:
            names_of(child, own, True)
        found.append(own)
    for name in {name: None for own in found for name in own}:
        everywhere = full and all(own.get(name, False) for own in found)
        _add(names, name, everywhere)


def _targets(target: ast.AST, names: dict[str, bool], full: bool) -> None:
    if isinstance(target, ast.Name):
        _add(names, target.id, full)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            _targets(element, names, full)
    elif isinstance(target, ast.Starred):
        _targets(target.value, names, full)
    elif isinstance(target, (ast.Subscript, ast.Attribute)):
        base: ast.AST = target
        while isinstance(base, (ast.Subscript, ast.Attribute)):
            base = base.value
        if isinstance(base, ast.Name):
            _add(names, base.id, False)


def _calls(node: ast.expr, names: dict[str, bool]) -> None:
    """The receiver of a statement like `name.append(...)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
        base: ast.AST = node.func.value
        while isinstance(base, (ast.Subscript, ast.Attribute)):
            base = base.value
        if isinstance(base, ast.Name):
            _add(names, base.id, False)


def _add(names: dict[str, bool], name: str, full: bool) -> None:
    names[name] = names.get(name, False) or full
