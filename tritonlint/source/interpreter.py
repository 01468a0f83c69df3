"""The evaluator: reads Python as Python would run it, with unknown values where it cannot know, and never runs it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tritonlint.source import expressions, statements
from tritonlint.source.environment import Environment, Frame
from tritonlint.source.guards import ANYWHERE, Guards, Path, extend
from tritonlint.source.hooks import Hooks
from tritonlint.source.journal import Journal
from tritonlint.source.module import Module
from tritonlint.source.objects import MISSING, Class, Origin, OutOfBudget, Raised, Symbol
from tritonlint.source.project import Project
from tritonlint.source.sites import Platform

Made = TypeVar("Made")
SITE_STEPS = 60_000  # expression nodes that one site may evaluate: about 100 ms
ITEMS_PER_STEP = 16  # of a sequence or characters of a text, in one go
ALL_STEPS = 500_000  # of all module-level statements, of the file and of what it imports
MAX_DEPTH = 40  # calls inside calls


Name = tuple[str, str]  # of a module: its file, the name


@dataclass(slots=True)
class Arguments:
    """The arguments of one call, with where they stand."""

    positional: list[Any]
    keywords: dict[str, Any]
    node: ast.Call | None = None
    positional_nodes: list[ast.expr | None] = field(default_factory=list)
    keyword_origins: dict[str, Origin] = field(default_factory=dict)
    incomplete: bool = False  # a splat that is not known: more arguments may be there
    open_ended: bool = (
        False  # the same by position: nothing is known of what stands behind the last of `positional`
    )
    unplaced: list[Any] = field(
        default_factory=list
    )  # splats that are not known, and what follows one by position


class Interpreter:
    """Evaluates one linted file (and what it imports) for one platform."""

    def __init__(
        self, module: Module, platform: Platform, project: Project | None = None, hooks: Hooks | None = None
    ) -> None:
        self.module = module
        self.platform = platform
        self.project = project or Project(module.path)
        self.hooks = hooks or Hooks()
        self.path: Path = ANYWHERE
        self.journal = Journal()
        self.steps = SITE_STEPS
        self.reserve = ALL_STEPS
        self.depth = 0
        self.bindings: dict[Any, Any] = {}  # symbol key -> the value that a comment assumes
        self.launches: list[Any] | None = None  # records of launches, where they are looked for
        self.entry = ""  # the function that launches are looked for in
        self.slicer: Any = None
        self.permissive = False  # branches that are decided against are looked at too
        self.watched: set[Name] | None = (
            None  # module-level names that are looked up, where somebody wants to know
        )
        self._memo_names: dict[Any, frozenset[Name]] = {}
        self.ran: set[int] = set()  # ids of the functions that ran since launches are looked for
        self.environments: dict[str, Environment] = {}
        self.main = Environment(self, module)
        self.environments[module.path] = self.main
        self.memo: dict[Any, Any] = {}
        self.described: dict[
            tuple[int, int], str
        ] = {}  # a guard and its outcome -> what is assumed with it, in words
        self.keep: list[Any] = []
        self.made: list[Any] = []  # kernels that the linted file defined, in order
        # What functions see, and the classes that they stand in: both hold the functions as well.
        self.closures: list[Frame] = []
        self.classes: list[Class] = []

    def release(self) -> None:
        """Lets go of what it holds; see `FileWork.release`."""
        for environment in self.environments.values():
            environment.release()
        for frame in self.closures:
            frame.release()
        for made in self.classes:
            made.attributes.clear()
        self.closures.clear()
        self.classes.clear()
        self.environments.clear()
        self.memo.clear()
        self.made.clear()
        self.keep.clear()

    # -- values

    def symbol(
        self,
        key: Any,
        reason: str,
        low: int | None = None,
        high: int | None = None,
        power_of_two: bool = False,
        multiple_of: int = 1,
        kind: str = "",
    ) -> Any:
        """A symbol, or the value that is assumed for it."""
        if self.bindings:
            bound = self.bindings.get(key, self)
            if bound is not self:
                return bound
        if low is not None and low == high and kind in ("int", "bool"):
            return low if kind == "int" else bool(low)
        return Symbol(key, reason, low, high, power_of_two, multiple_of, kind)

    def remembered(self, key: Any) -> Any:
        """What was put down under a key, MISSING where nothing was; the names that it hangs on count as looked up."""
        if key not in self.memo:
            return MISSING
        if self.watched is not None:
            self.watched |= self._memo_names.get(key, frozenset())
        return self.memo[key]

    def once(
        self, key: Any, make: Callable[[], Made], keep: Callable[[Made], bool] = lambda made: True
    ) -> Made:
        """What `make` gives, made once for each key; only what `keep` agrees to is put down."""
        found = self.remembered(key)
        if found is MISSING:
            outer = self.watched
            self.watched = None if outer is None else set()
            try:
                found = make()
                if keep(found):
                    self.memo[key] = found
                    self._memo_names[key] = frozenset(self.watched or ())
            finally:
                if outer is not None:
                    outer |= self.watched or set()
                self.watched = outer
        made: Made = found
        return made

    # -- running

    def allowance(self) -> int:
        """Steps for one module-level statement."""
        return max(min(SITE_STEPS, self.reserve), 0)

    def charge(self, items: int) -> None:
        """Steps for going through so many items. Raises OutOfBudget."""
        self.steps -= items // ITEMS_PER_STEP
        if self.steps < 0:
            raise OutOfBudget

    def evaluate(self, node: ast.expr, frame: Frame) -> Any:
        self.steps -= 1
        if self.steps < 0:
            raise OutOfBudget
        evaluator = expressions.EVALUATORS.get(type(node))
        if evaluator is None:
            return self.symbol(("node", id(node)), "this kind of expression is not read")
        return evaluator(self, node, frame)

    def execute(self, body: Sequence[ast.stmt], frame: Frame) -> str:
        return statements.execute(self, body, frame)

    def run_top_level(self, statement: ast.stmt, frame: Frame) -> Raised | None:
        """One module-level statement. What raises, or costs too much, leaves its names unbound; what it raises."""
        saved = self.launches
        self.launches = None
        try:
            statements.execute(self, [statement], frame)
        except Raised as error:
            return error
        finally:
            self.launches = saved
        return None

    def under(self, conditions: Sequence[Guards]) -> Path:
        return extend(self.path, conditions)

    # -- modules

    def import_name(self, environment: Environment, node: ast.ImportFrom, name: str) -> Any:
        """What `from X import name` binds."""
        from tritonlint.source.definitions import imported

        path, self.path = self.path, ANYWHERE
        launches, self.launches = self.launches, None
        try:
            return imported(self, environment, node, name)
        except Raised:
            return self.symbol(("import", id(node), name), f"{name} cannot be imported")
        finally:
            self.path, self.launches = path, launches

    def environment_of(self, path: str) -> Environment | None:
        """The environment of a file, read on first use."""
        if path not in self.environments:
            module = self.project.read(path)
            if module is None:
                return None
            self.environments[path] = Environment(self, module)
        return self.environments[path]

    def import_module(self, environment: Environment, node: ast.ImportFrom) -> Environment | None:
        """The environment of `from X import ...`; None where X is not read."""
        if node.level:
            path = self.project.relative(environment.module.path, node.level, node.module or "")
        else:
            path = self.project.locate(node.module or "")
        return self.environment_of(path) if path else None
