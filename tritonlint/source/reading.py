"""The way through this room: a parsed file and a platform to launch plans."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tritonlint.source.assumptions import Assumptions
from tritonlint.source.collecting import collection_paused
from tritonlint.source.definitions import may_be_kernel
from tritonlint.source.dtypes import DTYPES
from tritonlint.source.hooks import Hooks
from tritonlint.source.interpreter import SITE_STEPS, Interpreter, Name
from tritonlint.source.kernels import Kernel
from tritonlint.source.knowledge import from_knowledge
from tritonlint.source.launches import Launch, Runner
from tritonlint.source.module import Module
from tritonlint.source.nodes import statements_in, walk
from tritonlint.source.objects import MISSING, OutOfBudget, Raised, Symbol, Tensor
from tritonlint.source.plan import Planner
from tritonlint.source.problem import Problem
from tritonlint.source.project import Project
from tritonlint.source.shared_platform import SharedPlatform
from tritonlint.source.sites import LaunchPlan, Platform
from tritonlint.source.symbolic import grow, key_of
from tritonlint.source.values import DType

_RECURSION = 6000  # Python frames: nested code is walked recursively, as deep as `ast` itself allows


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file launches on one platform, and what could not be read."""

    plans: tuple[LaunchPlan, ...]
    problems: tuple[Problem, ...] = ()
    unreached: tuple[
        LaunchPlan, ...
    ] = ()  # launches that the platform or a default rules out, where asked for
    reader: Reader | None = field(
        default=None, repr=False, compare=False
    )  # for a reading that rests on this one


def read_plans(
    module: Module,
    platform: Platform,
    project: Project | None = None,
    unreached: bool = False,
    hooks: Hooks | None = None,
    runs: frozenset[int] | None = None,
) -> Reading:
    """Every kernel of the file with everything that reaches it; with `unreached` also the launches that cannot be
    reached on this platform (behind `if not is_hip(): return`). With `runs` only the top-level statements that begin on
    these lines are run for what they launch. Never raises."""
    if module.file.kind == "tuned":
        from tritonlint.source.tuned import read_tuned
        from tritonlint.source.tuned_plans import tuned_plans

        tuned = module.once("tuned", lambda module: read_tuned(module.file))
        return Reading(tuned_plans(tuned, platform), tuned.problems) if tuned is not None else Reading(())
    if not module.statements or not _of_interest(module):
        return Reading(())
    with deep_recursion(), collection_paused():
        return Reader(module, platform, project, hooks, runs).read(unreached)


def _of_interest(module: Module) -> bool:
    """Whether a file that says "triton" can hold a kernel, a config or a launch."""
    text = module.text
    return "jit" in text or "Config" in text or "](" in text or "autotune" in text or ".run(" in text


@contextmanager
def deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    if before < _RECURSION:
        sys.setrecursionlimit(_RECURSION)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def may_hold_kernel(statement: ast.stmt) -> bool:
    """Whether a top-level statement may make a kernel."""
    if isinstance(statement, ast.FunctionDef):
        return bool(statement.decorator_list) and may_be_kernel(statement)
    if isinstance(statement, (ast.ClassDef, ast.If, ast.Try, ast.With, ast.For)):
        return any(
            isinstance(inner, ast.FunctionDef) and inner.decorator_list and may_be_kernel(inner)
            for inner in statements_in(statement)
        )
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        text = ast.dump(statement.value.func)
        return any(word in text for word in ("jit", "autotune", "heuristics"))
    return False


Site = tuple[int, Any]  # the launching call, the kernel with its decorators


class Reader:
    """One reading. What it found on the way is kept for readings that rest on it: `runs` are the launches of each
    function that launches, `plans` those of each place."""

    def __init__(
        self,
        module: Module,
        platform: Platform,
        project: Project | None,
        hooks: Hooks | None,
        wanted: frozenset[int] | None = None,
    ) -> None:
        self.module = module
        self.wanted = wanted  # first lines of statements that are run; None: all
        self.interp = Interpreter(module, platform, project, hooks)
        self.assumptions = Assumptions(module)
        self.planner = Planner(self.interp, self.assumptions)
        self.problems: list[Problem] = []
        self.runner = Runner(self.interp, self._host_names)
        self.runs: list[list[Launch]] = []
        self.changed: list[Iterable[Any]] = []  # in place, by each of these
        self.plans: dict[Site, LaunchPlan | None] = {}
        self.unlaunched: list[LaunchPlan | None] = []  # plans of kernels that nothing launches
        self.reached: set[Any] = set()  # kernels that are launched
        self.asked: dict[int, set[Name]] = {}  # the names that were looked up for what stands on a line
        self._running: int | None = None
        self.interp.watched = set()
        if isinstance(platform, SharedPlatform):
            platform.asked_by(self._asks)

    def release(self) -> None:
        """Lets go of what it holds; see `FileWork.release`."""
        self.interp.release()
        self.runner.release()
        if isinstance(self.interp.platform, SharedPlatform):
            self.interp.platform.asked_by(lambda: None)
        self.plans.clear()
        self.unlaunched.clear()
        self.runs.clear()
        self.changed.clear()

    def _asks(self) -> int | None:
        """The number of the function that is being run; None for what is evaluated once, for all that ask for it."""
        return self._running if self.interp.launches is not None else None

    def read(self, unreached: bool) -> Reading:
        kernels = self._kernels()
        self.runs = [self.run(number) for number in range(len(self.runner.found))]
        self.report_over_budget()
        plans = self._plans(kernels, [launch for launches in self.runs for launch in launches])
        ruled_out = self._unreached(self.runner) if unreached else []
        return Reading(tuple(plans), tuple(self.problems), tuple(ruled_out), self)

    def run(self, number: int) -> list[Launch]:
        """What the function of that number launches."""
        entry = self.runner.found[number]
        line = self.module.statements[entry.number].lineno
        if self.wanted is not None and line not in self.wanted:
            self.changed.append(())
            return []
        self._running = number
        self.interp.journal.changed = {}
        self.interp.watched = self.asked.setdefault(line, set())
        try:
            return self._launched(self.runner, entry)
        finally:
            self.changed.append(self.interp.journal.changed.values())
            self._running = self.interp.journal.changed = None
            self.interp.watched = set()

    def report_over_budget(self) -> None:
        for entry in self.runner.over_budget:
            span = self.module.span(entry.node)
            name = f"{entry.name}()" if entry.name else "this statement"
            self.problems.append(
                Problem(
                    "unresolved",
                    f"{name} takes too many steps to evaluate; its launches are not all known",
                    self.module.path,
                    self.module.lines.line_span(span.line),
                )
            )

    def _unreached(self, runner: Runner) -> list[LaunchPlan]:
        """Launches of branches that are decided against."""
        reached = {id(launch.node) for launches in self.runs for launch in launches}
        open_ = {key for key in runner.launch_ids if key not in reached}
        found: list[Launch] = []
        self.interp.permissive = True
        try:
            for entry in runner.found:
                if any(id(node) in open_ for node in walk(entry.node)):
                    found.extend(launch for launch in runner.run(entry) if id(launch.node) in open_)
        finally:
            self.interp.permissive = False
        return [plan for plan in self._plans([], found) if plan.launch is not None]

    def _host_names(self, node: ast.AST) -> dict[str, Any]:
        """Values that a comment on a host function assumes for its names."""
        return {
            name: from_knowledge(value)
            for name, value in self.assumptions.of(node).items()
            if not isinstance(value, str)
        }

    # -- kernels

    def _kernels(self) -> list[Kernel]:
        """Module-level kernels, also those in classes and conditions, in the order of the file."""
        interp = self.interp
        main = interp.main
        for number, statement in enumerate(self.module.statements):
            if not may_hold_kernel(statement):
                continue
            interp.steps = SITE_STEPS
            try:
                main.settle(number)
            except (OutOfBudget, RecursionError):
                self._over_budget(statement)
        bound = [value for value in main.values() if isinstance(value, Kernel)]
        return [kernel for kernel in bound if kernel.environment is main]

    def _over_budget(self, statement: ast.stmt) -> None:
        name = getattr(statement, "name", None)
        self.problems.append(
            Problem(
                "unresolved",
                "the configs take too many steps to evaluate",
                self.module.path,
                self.module.lines.line_span(statement.lineno),
                name,
            )
        )

    # -- launches

    def _launched(self, runner: Runner, entry: Any) -> list[Launch]:
        """The launches of one function; again with what comments assume of their kernels' arguments."""
        interp = self.interp
        interp.bindings = {}
        found = runner.run(entry)
        if not self.module.comments.assumptions:
            return found
        result: list[Launch] = []
        runs: dict[Any, list[Launch]] = {}
        for launch in found:
            if launch.environment is not interp.main:
                continue
            bindings = self._bindings(launch)
            if not bindings:
                result.append(launch)
                continue
            mark = tuple(sorted((repr(key), repr(value)) for key, value in bindings.items()))
            if mark not in runs:
                interp.bindings = bindings
                runs[mark] = runner.run(entry)
                interp.bindings = {}
            same = [
                one for one in runs[mark] if one.node is launch.node and one.kernel.node is launch.kernel.node
            ]
            result.extend(one for one in same if one not in result)
            if not same:
                result.append(launch)
        return result

    def _bindings(self, launch: Launch) -> dict[Any, Any]:
        assumed = self.planner.assumed(launch.kernel, launch)
        if not assumed:
            return {}
        names = launch.kernel.parameter_names
        given = dict(zip(names, launch.arguments.positional, strict=False))
        given.update({name: value for name, value in launch.arguments.keywords.items() if name in names})
        bindings: dict[Any, Any] = {}
        for name, value in given.items():
            wanted = assumed.get(name, MISSING)
            if wanted is MISSING:
                continue
            if isinstance(value, Symbol) and not isinstance(wanted, str):
                bindings[value.key] = from_knowledge(wanted)
            elif isinstance(value, (Symbol, Tensor)) and isinstance(wanted, str):
                pointee = wanted.removeprefix("*")
                if wanted.startswith("*") and pointee in DTYPES.values():
                    bindings[grow("dtype", key_of(value))] = DType(pointee)
        return bindings

    # -- plans

    def by_site(self, launches: Iterable[Launch]) -> dict[Site, list[Launch]]:
        """The launches of the file by their place and kernel."""
        sites: dict[Site, list[Launch]] = {}
        for launch in launches:
            if launch.environment is self.interp.main:
                sites.setdefault((id(launch.node), _identity(launch.kernel)), []).append(launch)
        return sites

    def plan_of(self, group: list[Launch]) -> LaunchPlan | None:
        """The plan of the launches at one place."""
        kernel = group[0].kernel
        return self._guarded(lambda: self.planner.launched(kernel, group), kernel)

    def _plans(self, kernels: list[Kernel], launches: list[Launch]) -> list[LaunchPlan]:
        sites = self.by_site(launches)
        self.plans = {site: self.plan_of(group) for site, group in sites.items()}
        self.reached = {kernel for _, kernel in sites}
        # A kernel that another decorator was put on top of is not launched bare, unless the file does so.
        every = {_identity(kernel): kernel for kernel in [*kernels, *self.interp.made]}
        inner = {(key[0], key[1][:depth]) for key in [*every, *self.reached] for depth in range(len(key[1]))}
        self.unlaunched = [
            self._guarded(lambda kernel=kernel: self.planner.plain(kernel), kernel)
            for key, kernel in every.items()
            if key not in self.reached and key not in inner
        ]
        plans = [*self.plans.values(), *self.unlaunched]
        return sorted((plan for plan in plans if plan is not None), key=place)

    def names_for(self, there: Callable[[int], bool]) -> set[str]:
        """The names of this file that what stands on some lines (of functions that were run, of plans) hangs on."""
        main = self.interp.main
        found: set[str] = set()
        stack = [name for line, names in self.asked.items() if there(line) for name in names]
        for number, names in main.asked.items():
            if there(self.module.statements[number].lineno):
                stack.extend(names)
        while stack:
            path, name = stack.pop()
            if path == main.module.path and name not in found:
                found.add(name)
                for number in main.index.get(name, ()):
                    stack.extend(main.asked.get(number, ()))
        return found

    def _guarded(self, make: Callable[..., LaunchPlan], kernel: Kernel) -> LaunchPlan | None:
        self.interp.steps = SITE_STEPS
        names = self.interp.watched = set[Name]()
        try:
            plan = make()
            self.asked.setdefault(place(plan)[0], set()).update(names)
            return plan
        except (Raised, OutOfBudget, RecursionError):
            self.asked.setdefault(kernel.node.lineno, set()).update(names)
            self.problems.append(
                Problem(
                    "unresolved",
                    f"what reaches {kernel.name} takes too many steps to evaluate",
                    self.module.path,
                    self.module.lines.line_span(kernel.node.lineno),
                    kernel.name,
                )
            )
            return None


def place(plan: LaunchPlan) -> tuple[int, int]:
    """Where a plan stands in the file."""
    if plan.launch is not None:
        return (plan.launch.span.line, plan.launch.span.column)
    return (plan.kernel.span.line, 0)


def _identity(kernel: Kernel) -> tuple[int, tuple[int, ...]]:
    """The same for the same `def` under the same decorators."""
    return id(kernel.node), tuple(id(layer.node) for layer in kernel.layers)
