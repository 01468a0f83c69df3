"""From a candidate of a plan to its estimate on a GPU: trace, compile, count. Keeps what candidates share.

The tracer and the compiler model are imported when something is traced: `configs` needs neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tritonlint.arguments import Arguments, arguments_of
from tritonlint.compiler.asked import AskedMemo
from tritonlint.compiler.compiled import Compiled
from tritonlint.compiler.options import Options
from tritonlint.compiler.releases import release
from tritonlint.compiler.target import Target
from tritonlint.estimate_record import Estimate
from tritonlint.estimating import build
from tritonlint.gpu.profile import GpuProfile
from tritonlint.kernel.ir import READ_OPTIONS, Trace
from tritonlint.quick import quick
from tritonlint.rule import EstimateOf, Later
from tritonlint.source.sites import Candidate, KernelSource, LaunchPlan, LaunchSite
from tritonlint.source.text import Lines
from tritonlint.source.values import DType, Known, Unknown
from tritonlint.trace_store import TraceStore

if TYPE_CHECKING:
    from tritonlint.attached_facts import AttachedFacts
    from tritonlint.compiler.at_most import AtMost
    from tritonlint.facts.record import Fact
    from tritonlint.work import LaunchWork

Bound = TypeVar("Bound")
_PLAIN = frozenset((int, bool, str, type(None)))  # equal where they look alike; floats are not (0.0 and -0.0)
_KEPT = 8192  # traces, and answers of the compiler, of one file
OPTION_NAMES = ("num_warps", "num_stages", "num_ctas", "maxnreg")
ModelName = Literal["compiler", "textbook"]


@quick
@dataclass(frozen=True, slots=True)
class Launch:
    """One launch, all compile-time values known: what the model is asked."""

    kernel: KernelSource
    constants: Mapping[str, Any]
    arguments: Arguments
    options: Options
    grid: tuple[int, ...] | None
    assumptions: tuple[str, ...] = ()


class Model:
    """Estimates for one Triton release. `default_types` are those of the settings; `lines` are those of the
    linted file at `path`, in which the arguments of launches stand. `store` keeps traces beyond this model."""

    def __init__(
        self,
        triton: tuple[int, int],
        default_types: Mapping[str, str],
        lines: Lines | None = None,
        path: str = "",
        store: TraceStore | None = None,
    ) -> None:
        self.triton = triton
        self._defaults = default_types
        self._lines = lines or Lines()
        self._traces: AskedMemo[Trace] = AskedMemo(_KEPT)
        self._compiled: AskedMemo[Compiled] = AskedMemo(_KEPT)
        self._launches: dict[tuple[int, int], Launch] = {}
        self._arguments: dict[Any, Arguments] = {}
        self._traced_as: dict[int, tuple[Any, ...]] = {}  # by the id of arguments of `_arguments`
        self._given: dict[int, tuple[dict[str, str], dict[str, str]]] = {}  # by the id of a site
        self._estimates: dict[Any, Estimate] = {}
        self._closest: AskedMemo[tuple[int | None]] = AskedMemo(_KEPT)
        self._works: dict[Any, LaunchWork | None] = {}
        self._bounds: AskedMemo[tuple[AtMost | None]] = AskedMemo(_KEPT)
        self._kept: list[Any] = []  # objects whose ids are in keys
        self._path = path
        # Two readings of one file have kernels of their own, which are the same kernels where their names mean the same.
        self._store = store or TraceStore()
        self._own_store = store is None
        self.facts: AttachedFacts | None = None

    def release(self) -> None:
        """Lets go of what it holds; see `FileWork.release`."""
        self._launches.clear()
        self._kept.clear()
        self._arguments.clear()
        self._traced_as.clear()
        self._given.clear()
        if self._own_store:
            self._store.release()

    # --- one launch

    def trace(self, launch: Launch, target: Target) -> Trace:
        """The trace; shared by launches that differ in nothing that the front end sees."""
        known = self._traced_as.get(id(launch.arguments)) or _traced_as(
            launch.kernel, launch.constants, launch.arguments
        )
        extra = launch.options.extra
        key = (*known, _frozen({name: extra[name] for name in extra.keys() & READ_OPTIONS}))

        def make(view: Target) -> Trace:
            self._kept.append(launch.kernel)
            return self._store.trace(
                (key[1:], self.triton),
                launch.kernel,
                self._path,
                self._lines.text_of,
                view,
                lambda kernel, asked: self._trace(launch, kernel, asked),
            )

        return self._traces.get(key, target, make)

    def _trace(self, launch: Launch, kernel: KernelSource, target: Target) -> Trace:
        from tritonlint.kernel.trace import trace as trace_kernel

        return trace_kernel(
            kernel,
            launch.arguments.specs,
            {**launch.constants, **launch.arguments.constants},
            target=target,
            release=self.triton,
            options=launch.options.extra,
        )

    def compiled(self, trace: Trace, options: Options, target: Target, model: ModelName) -> Compiled:
        """The compiler's answer, or the textbook's for the same dots."""
        key = (id(trace), _options_key(options), model)

        def make(view: Target) -> Compiled:
            from tritonlint.compiler.compile import compiled as compile_trace

            def made(asked: Target) -> Compiled:
                return compile_trace(trace, options, asked, release(*self.triton), self._store.passed)

            self._kept.append(trace)
            answer = self._store.answer(trace, ("compiled", key[1]), view, made)
            if model == "textbook":
                from tritonlint.compiler.textbook import compiled as by_the_book

                answer = by_the_book(answer.dots, options, view)
            return answer

        return self._compiled.get(key, target, make)

    def estimate_launch(
        self, launch: Launch, gpu: GpuProfile, model: ModelName = "compiler", fact: Fact | None = None
    ) -> tuple[Trace, Estimate | None, tuple[str, ...]]:
        """(trace, estimate, why there is none). Where a `fact` is known, its numbers take the place of estimates."""
        trace = self.trace(launch, Target(gpu.arch))
        if trace.errors:
            return trace, None, _refused(trace)
        return trace, self._estimate(launch, trace, gpu, model, fact), ()

    def _estimate(
        self, launch: Launch, trace: Trace, gpu: GpuProfile, model: ModelName, fact: Fact | None
    ) -> Estimate:
        answer = self.compiled(trace, launch.options, Target(gpu.arch), model)
        work = None if launch.grid is None else self._work(launch, launch.grid, trace, answer)
        if fact is not None:
            return self._with_fact(launch, gpu, model, answer, work, fact)
        return self._estimate_of(launch, trace, gpu, model, answer, work)

    def _taken(self, launch: Launch, trace: Trace, gpu: GpuProfile) -> Estimate:
        """The estimate for no grid: what the launch takes of a multiprocessor."""
        answer = self.compiled(trace, launch.options, Target(gpu.arch), "compiler")
        return self._estimate_of(replace(launch, grid=None), trace, gpu, "compiler", answer, None)

    def _estimate_of(
        self,
        launch: Launch,
        trace: Trace,
        gpu: GpuProfile,
        model: ModelName,
        answer: Compiled,
        work: LaunchWork | None,
    ) -> Estimate:
        assumptions = tuple(
            dict.fromkeys((*launch.assumptions, *launch.arguments.assumptions, *trace.assumptions))
        )
        # Launches of one list, or of one tuned file, are often the same for several sizes.
        key = (
            id(answer), id(work), _options_key(launch.options), gpu.name, launch.grid, assumptions, model,
        )  # fmt: skip
        if key not in self._estimates:
            self._kept.append((answer, work))
            self._estimates[key] = self._build(launch, gpu, model, answer, work, assumptions)
        return self._estimates[key]

    def _build(
        self,
        launch: Launch,
        gpu: GpuProfile,
        model: ModelName,
        answer: Compiled,
        work: LaunchWork | None,
        assumptions: tuple[str, ...],
    ) -> Estimate:
        return build(
            answer,
            launch.options,
            gpu,
            self.triton,
            grid=launch.grid,
            work=work,
            assumptions=assumptions,
            model=model,
        )

    def _with_fact(
        self,
        launch: Launch,
        gpu: GpuProfile,
        model: ModelName,
        answer: Compiled,
        work: LaunchWork | None,
        fact: Fact,
    ) -> Estimate:
        """It was compiled or measured, so nothing is assumed any more."""
        from tritonlint.attached_facts import on_facts

        answer, contradicted = on_facts(answer, fact.numbers)
        estimate = self._build(launch, gpu, model, answer, work, ())
        steps = (
            *estimate.steps,
            f"{fact.rung}: {fact.origin}",
            *(f"not so: {text}" for text in contradicted),
        )
        return replace(estimate, rung=fact.rung, origin=fact.origin, contradicted=contradicted, steps=steps)

    def _work(
        self, launch: Launch, grid: tuple[int, ...], trace: Trace, answer: Compiled
    ) -> LaunchWork | None:
        """What the launch computes and moves."""
        from tritonlint.work import measure

        values = launch.arguments.values
        tensor_cores = answer.tensor_cores != "none"
        key = ("work", grid, _frozen(values), tensor_cores)

        def make() -> LaunchWork | None:
            return measure(trace, grid, values, tensor_cores=tensor_cores)

        if (id(trace), key) not in self._works:
            self._kept.append(trace)
            self._works[id(trace), key] = self._store.derived(trace, key, make)
        return self._works[id(trace), key]

    # --- a candidate of a plan

    def estimate(self, plan: LaunchPlan, candidate: Candidate, gpu: GpuProfile) -> EstimateOf:
        """What one candidate costs on a GPU. Never raises for what stands in the source."""
        options, unknown = known_options(candidate)
        if options is None:
            return EstimateOf(candidate, gpu, self.triton, Options(), None, None, unknown)
        launch = self.launch(plan, candidate, options)
        fact = self.facts.of(launch, gpu) if self.facts is not None else None
        trace = self.trace(launch, Target(gpu.arch))
        if trace.errors:
            assumed = launch.arguments.assumptions
            return EstimateOf(candidate, gpu, self.triton, options, trace, None, _refused(trace), assumed)
        answer = Later(lambda: self._estimate(launch, trace, gpu, "compiler", fact))
        if fact is not None:
            of = EstimateOf(candidate, gpu, self.triton, options, trace, answer)
        else:
            of = EstimateOf(
                candidate,
                gpu,
                self.triton,
                options,
                trace,
                answer,
                bound=Later(lambda: self._at_most(trace, options, gpu)),
                closer=Later(lambda: self._closer(trace, options, gpu)),
                bare=Later(lambda: self._taken(launch, trace, gpu)),
            )
        missing = unknown_constants(plan.kernel, candidate) if trace.gaps else ()
        if missing and (of.surely_fits or of.taken.fits):
            # A part of the kernel hangs on a value that nobody tells: only a refusal would be sure.
            return EstimateOf(candidate, gpu, self.triton, options, None, None, missing)
        return of

    def _at_most(self, trace: Trace, options: Options, gpu: GpuProfile) -> AtMost | None:
        from tritonlint.compiler.at_most import at_most

        if options.num_warps * gpu.warp_size > gpu.threads_per_cta_max:
            return None

        def bound(view: Target) -> tuple[AtMost | None]:
            return (at_most(trace, options, view, release(*self.triton)),)

        return self._bound(self._bounds, "at most", trace, options, gpu, bound)

    def _closer(self, trace: Trace, options: Options, gpu: GpuProfile) -> int | None:
        from tritonlint.compiler.compile import shared_at_most

        def bound(view: Target) -> tuple[int | None]:
            return (shared_at_most(trace, options, view, release(*self.triton), self._store.passed),)

        return self._bound(self._closest, "closer", trace, options, gpu, bound)

    def _bound(
        self,
        kept: AskedMemo[tuple[Bound]],
        name: str,
        trace: Trace,
        options: Options,
        gpu: GpuProfile,
        bound: Callable[[Target], tuple[Bound]],
    ) -> Bound:
        """Worked out once for this file, and once for all whose traces are kept in the same store."""
        key = (id(trace), _options_key(options))

        def make(view: Target) -> tuple[Bound]:
            self._kept.append(trace)
            return self._store.answer(trace, (name, key[1]), view, bound)

        return kept.get(key, Target(gpu.arch), make)[0]

    def launch(self, plan: LaunchPlan, candidate: Candidate, options: Options) -> Launch:
        """The candidate as a launch; `options` are its own."""
        key = (id(plan), id(candidate))
        if key not in self._launches:
            self._kept.append((plan, candidate))
            self._launches[key] = self._launch(plan, candidate, options)
        return self._launches[key]

    def _launch(self, plan: LaunchPlan, candidate: Candidate, options: Options) -> Launch:
        kernel = plan.kernel
        constants = {
            name: knowledge.value if isinstance(knowledge, Known) else knowledge
            for name, knowledge in candidate.constants.items()
        }
        site = plan.launch
        texts, told = self._given_at(site) if site is not None else ({}, {})
        types = {**told, **candidate.types}
        key = (id(kernel), id(site), _frozen(constants), _frozen(types), _frozen(candidate.values))
        arguments = self._arguments.get(key)
        if arguments is None:
            self._kept.append((kernel, site))
            arguments = self._arguments[key] = arguments_of(
                kernel,
                constants=constants,
                types=types,
                values=candidate.values,
                defaults=self._defaults,
                launch=site,
                launch_texts=texts,
            )
            self._traced_as[id(arguments)] = _traced_as(kernel, constants, arguments)
        return Launch(kernel, constants, arguments, options, known_grid(candidate), candidate.assumptions)

    def _given_at(self, site: LaunchSite) -> tuple[dict[str, str], dict[str, str]]:
        """The texts of the arguments of a launch, and the types that the source shows."""
        if id(site) not in self._given:
            self._kept.append(site)
            given = site.arguments.items()
            texts = {name: self._lines.text_of(argument.span) for name, argument in given}
            types = {name: argument.tensor_type for name, argument in given if argument.tensor_type}
            self._given[id(site)] = texts, types
        return self._given[id(site)]


def _traced_as(kernel: KernelSource, constants: Mapping[str, Any], arguments: Arguments) -> tuple[Any, ...]:
    """All that a trace hangs on, but for the options."""
    return (
        id(kernel),
        _frozen(constants),
        _frozen(arguments.constants),
        tuple(sorted((name, spec.type, spec.divisible) for name, spec in arguments.specs.items())),
    )


def _refused(trace: Trace) -> tuple[str, ...]:
    """Why there is no estimate: what the front end says."""
    return tuple(f"line {error.line}: {error.message}" for error in trace.errors)


def known_options(candidate: Candidate) -> tuple[Options | None, tuple[str, ...]]:
    """The launch options where all are known, else why not."""
    values: dict[str, Any] = {}
    unknown: list[str] = []
    for name in OPTION_NAMES:
        knowledge = getattr(candidate, name)
        if isinstance(knowledge, Known):
            values[name] = knowledge.value
        else:
            unknown.append(f"{name}: {why_unknown(knowledge)}")
    for name, value in values.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole and not (name == "maxnreg" and value is None):
            unknown.append(f"{name} is {value!r}, not a whole number")
    warps = values.get("num_warps", 4)
    if not unknown and (warps < 1 or warps & (warps - 1)):
        unknown.append(f"num_warps is {warps}, not a power of two")
    if unknown:
        return None, tuple(unknown)
    extra = {name: value.value for name, value in candidate.extra.items() if isinstance(value, Known)}
    return Options(**values, extra=extra), ()


def unknown_constants(kernel: KernelSource, candidate: Candidate) -> tuple[str, ...]:
    """The compile-time values that are not known, each with why."""
    unknown = {
        name: why_unknown(value)
        for name, value in candidate.constants.items()
        if not isinstance(value, Known)
    }
    for parameter in kernel.parameters:
        if parameter.constexpr and parameter.default is None and parameter.name not in candidate.constants:
            unknown[parameter.name] = "nobody gives it in this file"
    return tuple(f"{name}: {reason}" for name, reason in unknown.items())


def why_unknown(knowledge: Any) -> str:
    """In words for the user."""
    values = getattr(knowledge, "values", None)
    if values is not None:
        return f"one of {', '.join(map(str, values[:4]))}{', ...' if len(values) > 4 else ''}"
    return getattr(knowledge, "reason", "") or "not known"


def known_grid(candidate: Candidate) -> tuple[int, ...] | None:
    """The grid where every entry is a known number."""
    if candidate.grid is None or candidate.grid_problem:
        return None
    sizes: list[int] = []
    for entry in candidate.grid:
        if not isinstance(entry, Known) or isinstance(entry.value, bool) or not isinstance(entry.value, int):
            return None
        sizes.append(entry.value)
    return tuple(sizes) if 1 <= len(sizes) <= 3 else None


def _options_key(options: Options) -> tuple[Any, ...]:
    return (
        options.num_warps,
        options.num_stages,
        options.num_ctas,
        options.maxnreg,
        _frozen(options.extra) if options.extra else (),
    )


def _frozen(values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """A mapping as a key. Equal numbers of different kinds (1, True, 1.0) stay apart."""
    return tuple(sorted((name, _key(value)) for name, value in values.items()))


def _key(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind is Known:
        return kind, _key(value.value)
    if kind is Unknown:
        return kind, value.reason
    if kind is DType:
        return f"dtype {value.name}"
    return f"{type(value).__name__} {value!r}"
