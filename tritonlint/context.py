"""What a rule is given: one plan with its estimates on each GPU, computed on first use and kept.

`FileWork` is one file's way from bytes to plans; its contexts share what tracing and compiling one set of
values gave, so that configs which differ in num_warps trace once, and GPUs for which the same is asked and answered
read, trace and compile once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tritonlint.compiler.target import Target
from tritonlint.disk import Stamp, stamp
from tritonlint.finding import Severity
from tritonlint.gpu.profile import GpuProfile
from tritonlint.launch_model import OPTION_NAMES, Launch, Model, known_options
from tritonlint.lint import FileStats
from tritonlint.quick import quick
from tritonlint.rule import EstimateOf
from tritonlint.settings import Settings, SettingsError
from tritonlint.source import parse_file, read
from tritonlint.source.comments import Suppression
from tritonlint.source.further_reading import read_further
from tritonlint.source.hooks import hooks_from
from tritonlint.source.module import Module
from tritonlint.source.problem import Problem
from tritonlint.source.project import Project
from tritonlint.source.reading import Reading, read_plans
from tritonlint.source.shared_platform import SharedPlatform
from tritonlint.source.sites import Candidate, KernelSource, LaunchPlan
from tritonlint.source.values import Known
from tritonlint.targets import Targets, named_gpu, platform

if TYPE_CHECKING:
    from tritonlint.trace_store import TraceStore

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class Lookups:
    """Names of a kernel may be looked up long after its file was read; this says what that asks, and keeps nothing
    else of the file."""

    platforms: tuple[SharedPlatform, ...]
    project: Project
    hook_files: Mapping[str, Stamp]

    @property
    def differs(self) -> bool:
        """As `FileWork.differs`."""
        return any(shared.differs for shared in self.platforms)

    @property
    def looked_at(self) -> dict[str, Stamp]:
        """The other files that were asked for so far, as they were then."""
        return {**self.hook_files, **self.project.looked_at}


class FileWork:
    """One file, read and parsed, with the plans that it holds on each GPU. Nothing here raises for bad
    input."""

    def __init__(
        self,
        path: str,
        data: bytes | str | Module,
        settings: Settings,
        targets: Targets,
        store: TraceStore | None = None,
        *,
        apart: bool = False,
        runs: frozenset[int] | None = None,
        least: Severity = "info",
    ) -> None:
        """`data` is the file's content, or the file parsed. `apart`: every GPU gets a reading of its own, see
        `differs`. `runs`: the first lines of the statements that are run for what they launch; None: all. What weighs
        less than `least` is not looked for."""
        self.path = path
        self.settings = settings
        self.targets = targets
        self.module = data if isinstance(data, Module) else parse_file(read(path, data), keep=True)
        self._project = Project(path)
        self._hooks = hooks_from(settings.config_functions, settings.root or ".")
        self._hook_files = {path: stamp(path) for path in self._hooks.files.values() if path is not None}
        self.model = Model(targets.triton, settings.default_types, self.module.lines, path, store)
        if settings.facts:
            from tritonlint.attached_facts import AttachedFacts
            from tritonlint.fact_paths import fact_book

            book = fact_book(settings)
            self.model.facts = AttachedFacts(book, targets.triton, self.launches_of, self.model.trace)
        self._apart = apart
        self._runs = runs
        self.least = least
        self._readings: list[tuple[SharedPlatform, Reading, dict[PlanKey, LaunchPlan]]] = []
        self._plans: dict[str, dict[PlanKey, LaunchPlan]] = {}
        self._contexts: tuple[PlanContext, ...] | None = None
        self._problems: list[Problem] = []

    def launches_of(self, kernel: KernelSource, gpu: GpuProfile) -> Iterator[Launch]:
        """All that the file launches of a kernel on a GPU, where the options are known."""
        for plan in self.plans_on(gpu).values():
            if (plan.kernel.path, plan.kernel.span) != (kernel.path, kernel.span):
                continue
            for candidate in plan.candidates:
                options, _ = known_options(candidate)
                if options is not None:
                    yield self.model.launch(plan, candidate, options)

    @property
    def text(self) -> str:
        return self.module.text

    @property
    def source(self) -> str:
        """The text as rules see it: it parses."""
        return self.module.sound

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Whether a line of code of the file matches."""
        return any(
            pattern.search(line) for line in self.module.lines.lines if not line.lstrip().startswith("#")
        )

    @property
    def problems(self) -> Sequence[Problem]:
        """What went wrong while the file was read, and comments that say nothing."""
        return (*self.module.problems, *self._problems)

    @property
    def looked_at(self) -> dict[str, Stamp]:
        """The other files that were asked for so far, as they were then."""
        return self.lookups.looked_at

    @property
    def lookups(self) -> Lookups:
        """What is left of the file for those who look names up in it, once its plans are known."""
        return Lookups(tuple(shared for shared, _, _ in self._readings), self._project, self._hook_files)

    @property
    def suppressions(self) -> Sequence[Suppression]:
        return self.module.comments.suppressions

    def contexts(self) -> Sequence[PlanContext]:
        """One for each plan that is there on any of the GPUs, in the order of the file."""
        if self._contexts is None:
            self._contexts = tuple(self._make())
        return self._contexts

    def plans_on(self, gpu: GpuProfile) -> dict[PlanKey, LaunchPlan]:
        if gpu.name not in self._plans:
            self._plans[gpu.name] = self._read(gpu)
        return self._plans[gpu.name]

    def names_for(self, there: Callable[[int], bool]) -> frozenset[str]:
        """The module-level names of the file that what stands on some lines hangs on, on any GPU."""
        readers = [found.reader for _, found, _ in self._readings if found.reader is not None]
        return frozenset().union(*(reader.names_for(there) for reader in readers))

    def release(self) -> None:
        """Lets go of what refers to itself in circles, so that most of it goes without a collection. Nothing that was
        made on the way is of use to anybody after it."""
        for _, found, _ in self._readings:
            if found.reader is not None:
                found.reader.release()
        self._readings.clear()
        self._plans.clear()
        self._contexts = ()
        self.model.release()

    @property
    def differs(self) -> bool:
        """Whether names looked up after the reading mean something else on one of the GPUs that shared it: then all
        is to be done again, `apart`."""
        return self.lookups.differs

    def _read(self, gpu: GpuProfile) -> dict[PlanKey, LaunchPlan]:
        asks = platform(gpu, self.targets.triton)
        further = None
        if not self._apart:
            for shared, _, plans in self._readings:
                if shared.admits(asks):
                    return plans
            if self._readings:
                further = read_further(self._readings[0][1], asks)
        if further is not None:
            shared, found = further
        else:
            shared = SharedPlatform(asks)
            found = read_plans(self.module, shared, self._project, hooks=self._hooks, runs=self._runs)
        plans = {plan_key(plan): plan for plan in found.plans}
        self._readings.append((shared, found, plans))
        self._problems += [problem for problem in found.problems if problem not in self._problems]
        return plans

    def _make(self) -> Iterator[PlanContext]:
        found: dict[PlanKey, LaunchPlan] = {}
        gpus = self.targets.gpus
        for gpu in gpus:
            for key, plan in self.plans_on(gpu).items():
                found.setdefault(key, plan)
        for key, plan in sorted(found.items(), key=lambda item: item[0]):
            own = self._own_gpus(plan)
            there = tuple(gpu for gpu in own or gpus if key in self.plans_on(gpu))
            if there:
                yield PlanContext(self, key, there, bool(own) or self.targets.chosen, self.least)

    def _own_gpus(self, plan: LaunchPlan) -> tuple[GpuProfile, ...]:
        """The GPUs that a comment at the site names (`assume gpu=h100`)."""
        given = plan.assumed.get("gpu")
        names = given if isinstance(given, (list, tuple)) else [given] if given else []
        found: list[GpuProfile] = []
        for name in names:
            with suppress(SettingsError):  # `assumption_problems` says so
                found.append(named_gpu(str(name), self.targets.own))
        return tuple(found)

    @property
    def assumption_problems(self) -> Sequence[Problem]:
        """Assumptions in the file's comments that cannot be meant so."""
        assumptions = self.module.comments.assumptions
        if not assumptions:
            return ()
        from tritonlint.assumption_checks import assumption_problems

        broken = any(problem.kind == "syntax" for problem in self.module.problems)
        parameters = [one.name for context in self.contexts() for one in context.plan.kernel.parameters]
        statements = None if broken else self.module.statements
        return assumption_problems(assumptions, self.path, self.targets.own, statements, parameters)

    def stats(self) -> FileStats:
        contexts = self.contexts()
        kernels = {(context.plan.kernel.path, context.plan.kernel.span) for context in contexts}
        configs = {
            (config.path, config.span, tuple(sorted(map(str, config.kwargs.items()))), config.num_stages,
             config.num_warps)
            for context in contexts
            if context.plan.tuning is not None
            for config in context.plan.tuning.configs
        }  # fmt: skip
        launches = sum(context.plan.launch is not None for context in contexts)
        facts = bool(self.settings.facts)
        known = [of.estimate for context in contexts for of in context.computed if facts and of.known]
        return FileStats(
            True,
            len(kernels),
            launches,
            len(configs),
            facts=sum(estimate.rung != "estimated" for estimate in known),
            contradicted=sum(bool(estimate.contradicted) for estimate in known),
        )


PlanKey = tuple[int, int, str, int, int]


def plan_key(plan: LaunchPlan) -> PlanKey:
    """What makes a plan the same on two GPUs: its kernel and its launch. Sorts in the order of the file."""
    launch = plan.launch.span if plan.launch is not None else None
    kernel = plan.kernel.span
    return (
        kernel.line,
        kernel.column,
        plan.kernel.path + "::" + plan.kernel.name,
        launch.line if launch else 0,
        launch.column if launch else 0,
    )


@quick
@dataclass(frozen=True, slots=True)
class _Tried:
    """A candidate with changes, as a key."""

    candidate: int
    gpu: str
    changes: tuple[tuple[str, str], ...]
    types: tuple[tuple[str, str], ...]


class PlanSource(Protocol):
    """What a PlanContext is made of: a FileWork, or a part of one."""

    path: str
    targets: Targets
    model: Model

    @property
    def source(self) -> str: ...

    def says(self, pattern: re.Pattern[str]) -> bool: ...

    def plans_on(self, gpu: GpuProfile) -> Mapping[PlanKey, LaunchPlan]: ...


class PlanContext:
    """rule.Context for one plan."""

    def __init__(
        self,
        work: PlanSource,
        key: PlanKey,
        gpus: tuple[GpuProfile, ...],
        gpus_chosen: bool,
        least: Severity = "info",
    ) -> None:
        self._work = work
        self.key = key
        self._gpus = gpus
        self._gpus_chosen = gpus_chosen
        self.least: Severity = least
        self._estimates: dict[str, tuple[EstimateOf, ...]] = {}
        self._changed: dict[_Tried, tuple[Candidate, Candidate]] = {}
        self._retries: dict[_Tried, tuple[Candidate, EstimateOf]] = {}
        self._once: dict[Hashable, Any] = {}

    @property
    def path(self) -> str:
        return self._work.path

    @property
    def source(self) -> str:
        return self._work.source

    def says(self, pattern: re.Pattern[str]) -> bool:
        return self._work.says(pattern)

    @property
    def plan(self) -> LaunchPlan:
        return self.plan_on(self._gpus[0])

    @property
    def gpus(self) -> Sequence[GpuProfile]:
        return self._gpus

    @property
    def gpus_chosen(self) -> bool:
        return self._gpus_chosen

    @property
    def triton(self) -> tuple[int, int]:
        return self._work.targets.triton

    def target(self, gpu: GpuProfile) -> Target:
        return Target(gpu.arch)

    def plan_on(self, gpu: GpuProfile) -> LaunchPlan:
        return self._work.plans_on(gpu)[self.key]

    def estimates(self, gpu: GpuProfile) -> Sequence[EstimateOf]:
        if gpu.name not in self._estimates:
            plan = self.plan_on(gpu)
            model = self._work.model
            self._estimates[gpu.name] = tuple(model.estimate(plan, one, gpu) for one in plan.candidates)
        return self._estimates[gpu.name]

    @property
    def computed(self) -> Iterator[EstimateOf]:
        """The estimates that were asked for so far."""
        return (of for estimates in self._estimates.values() for of in estimates)

    def retry(
        self, of: EstimateOf, changes: Mapping[str, Any], types: Mapping[str, str] | None = None
    ) -> EstimateOf:
        types = types or {}
        shown = tuple(sorted((name, repr(value)) for name, value in changes.items()))
        tried = _Tried(id(of.candidate), of.gpu.name, shown, tuple(sorted(types.items())))
        if tried not in self._retries:
            everywhere = replace(tried, gpu="")
            if everywhere not in self._changed:
                changed = changed_candidate(of.candidate, changes)
                if types:
                    changed = replace(changed, types={**changed.types, **types})
                self._changed[everywhere] = (of.candidate, changed)
            changed = self._changed[everywhere][1]
            answer = self._work.model.estimate(self.plan_on(of.gpu), changed, of.gpu)
            self._retries[tried] = (of.candidate, answer)  # the candidate is kept: its id is the key
        return self._retries[tried][1]

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        if key not in self._once:
            self._once[key] = make()
        made: Made = self._once[key]
        return made


def changed_candidate(candidate: Candidate, changes: Mapping[str, Any]) -> Candidate:
    """The candidate with other constants or options. The grid is dropped where a constant changed, since it
    may have counted in it."""
    options: dict[str, Any] = {name: Known(value) for name, value in changes.items() if name in OPTION_NAMES}
    constants = {name: Known(value) for name, value in changes.items() if name in candidate.constants}
    extra = {
        name: Known(value)
        for name, value in changes.items()
        if name not in OPTION_NAMES and name not in candidate.constants
    }
    return replace(
        candidate,
        **options,
        constants={**candidate.constants, **constants},
        extra={**candidate.extra, **extra},
        grid=None if constants else candidate.grid,
    )
