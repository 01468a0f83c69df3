"""One launch on one GPU: from a job to its estimate. The sibling of lint.py.

Estimator().estimate(job_of({"file": "gemm.py", "kernel": "gemm", "gpu": "h100", ...}))
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tritonlint.arguments import arguments_of
from tritonlint.compiler.compiled import Compiled
from tritonlint.compiler.options import Options
from tritonlint.compiler.releases import release
from tritonlint.compiler.target import Target
from tritonlint.context import FileWork
from tritonlint.disk import read_regular
from tritonlint.estimate_record import Estimate, TimePart, WavesPart
from tritonlint.gpu.profile import GpuProfile
from tritonlint.jobs import FIELDS, Job, JobError, job_of
from tritonlint.kernel.ir import Trace
from tritonlint.launch_model import Launch, known_grid, known_options
from tritonlint.settings import Resolver, SettingsError, near
from tritonlint.source.notebook import in_cells
from tritonlint.source.sites import Candidate, LaunchPlan
from tritonlint.source.values import DType, Known
from tritonlint.targets import Targets, choose

__all__ = ["Estimate", "Estimator", "Job", "JobError", "TimePart", "WavesPart", "job_of"]

_KEPT_FILES = 64
_KEPT_TARGETS = 4096


class Estimator:
    """Estimates jobs; keeps the files that it has read, so that many jobs of one file read it once."""

    def __init__(self, resolver: Resolver | None = None) -> None:
        self._resolver = resolver or Resolver()
        self._targets: dict[tuple[str, str, str | None], Targets] = {}
        self._works: dict[tuple[str, tuple[int, int]], FileWork] = {}
        self._apart: set[str] = set()  # files whose GPUs cannot share a reading

    def estimate(self, job: Job) -> Estimate:
        """The estimate of a job. Raises JobError (one sentence) where there is none, SettingsError for
        settings."""
        targets = self._choose(job)
        work = self._work(job, targets)
        why, estimate = self._estimate(work, targets, job)
        if work.differs:
            self._apart.add(job.file)
            self._works.clear()
            why, estimate = self._estimate(self._work(job, targets), targets, job)
        cells = work.module.file.cells
        if estimate is None:
            raise JobError(in_cells("; ".join(why) or "the kernel cannot be traced", cells))
        steps = tuple(in_cells(step, cells) for step in estimate.steps) if cells else estimate.steps
        notes = tuple(
            f"{name}: no field of a job{near(name, FIELDS)}; passed over" for name in job.unknown_fields
        )
        return replace(estimate, steps=(*steps, *notes)) if cells or notes else estimate

    def compile(self, job: Job) -> tuple[Launch, Trace, Compiled]:
        """A job's launch, its trace, and what the compiler makes of it. Raises JobError."""
        targets = self._choose(job)
        work = self._work(job, targets)
        launch = self._launch(work, targets, job)
        target = Target(targets.gpus[0].arch)
        trace = work.model.trace(launch, target)
        return launch, trace, work.model.compiled(trace, launch.options, target, job.model)

    def _estimate(
        self, work: FileWork, targets: Targets, job: Job
    ) -> tuple[tuple[str, ...], Estimate | None]:
        launch = self._launch(work, targets, job)
        trace, estimate, why = work.model.estimate_launch(launch, targets.gpus[0], job.model)
        _check_kinds(job, trace)
        return why, estimate

    def _choose(self, job: Job) -> Targets:
        """The GPU and the release of a job. Raises JobError."""
        if "\0" in job.file:
            raise JobError(f"{job.file!r}: cannot be read: no path has a null character")
        key = (job.file, job.gpu, job.triton)
        if key not in self._targets:
            settings = self._resolver.for_path(Path(job.file))
            try:
                chosen = choose(settings, Path(job.file).absolute().parent, [job.gpu], job.triton)
            except SettingsError as error:
                raise JobError(str(error)) from None
            if len(self._targets) >= _KEPT_TARGETS:
                self._targets.clear()
            self._targets[key] = chosen
        return self._targets[key]

    def _work(self, job: Job, targets: Targets) -> FileWork:
        """The file of a job, read for its release. Raises JobError."""
        key = (job.file, targets.triton)
        if key not in self._works:
            settings = self._resolver.for_path(Path(job.file))
            try:
                data = read_regular(job.file)
            except OSError as error:
                raise JobError(f"{job.file}: cannot be read: {error.strerror or error}") from None
            if len(self._works) >= _KEPT_FILES:
                self._works.clear()
            self._works[key] = FileWork(job.file, data, settings, targets, apart=job.file in self._apart)
        return self._works[key]

    def constexprs(self, job: Job) -> frozenset[str]:
        """The compile-time parameters of the job's kernel. Raises JobError."""
        targets = self._choose(job)
        kernel = _plan(self._work(job, targets), targets.gpus[0], job.kernel).kernel
        return frozenset(parameter.name for parameter in kernel.parameters if parameter.constexpr)

    def _launch(self, work: FileWork, targets: Targets, job: Job) -> Launch:
        """What the job asks, filled up: from the first config or launch of the kernel where it names no
        constant, else with the defaults of the release."""
        gpu = targets.gpus[0]
        plan = _plan(work, gpu, job.kernel)
        matched = _matching(plan, job.constants)
        first = matched or (plan.candidates[0] if plan.candidates else None)
        parameters = {parameter.name: parameter for parameter in plan.kernel.parameters}
        given = job.constants
        named = (*given, *job.types, *job.values, *sorted(job.divisible_by_16 or ()))
        unknown = [name for name in named if name not in parameters]
        if unknown:
            raise JobError(f"{plan.kernel.name} has no parameter {unknown[0]}{near(unknown[0], parameters)}")
        constants: dict[str, Any] = dict(given)
        assumptions: list[str] = []
        wanted = [name for name, one in parameters.items() if one.constexpr and name not in given]
        for name in wanted:
            knowledge = first.constants.get(name) if first is not None else None
            knowledge = knowledge if isinstance(knowledge, Known) else parameters[name].default
            if isinstance(knowledge, Known):
                constants[name] = knowledge.value
                if not isinstance(parameters[name].default, Known) or parameters[name].default != knowledge:
                    assumptions.append(f"{name} is {knowledge.value} (from the first config or launch)")
        missing = [name for name in wanted if name not in constants]
        if missing:
            raise JobError(f"constants: {', '.join(missing)} not given")
        filled = not job.constants and first is not None
        # A job that leaves out what the source tells means the launch that is there: its sizes and its grid.
        there = matched if job.unit_strides and not job.values else None
        options = _options(job, first if filled else None, gpu, targets)
        arguments = arguments_of(
            plan.kernel,
            constants=constants,
            types={**(first.types if first is not None else {}), **job.types},
            values={
                **(there.values if there is not None else {}),
                **{name: Known(value) for name, value in job.values.items()},
            },
            defaults=work.settings.default_types,
            divisible=job.divisible_by_16,
            unit_strides=job.unit_strides,
        )
        grid = job.grid or (known_grid(there) if there is not None else None)
        return Launch(plan.kernel, constants, arguments, options, grid, tuple(assumptions))


def _matching(plan: LaunchPlan, constants: Mapping[str, Any]) -> Candidate | None:
    """The first candidate with these constants, if any."""
    for candidate in plan.candidates:
        own = candidate.constants
        if all(name in own and own[name] == Known(value) for name, value in constants.items()):
            return candidate
    return None


def _plan(work: FileWork, gpu: GpuProfile, kernel: str) -> LaunchPlan:
    """The plan of a kernel: of several, the first with a candidate whose constants are all known."""
    plans = list(work.plans_on(gpu).values())
    own = [plan for plan in plans if plan.kernel.name == kernel]
    if not own:
        names = list(dict.fromkeys(plan.kernel.name for plan in plans))
        known = near(kernel, names) or (f"; it has {', '.join(names[:8])}" if names else "")
        problems = "; ".join(problem.message for problem in work.problems[:1])
        raise JobError(f"{work.path} has no kernel {kernel}{known}" + (f" ({problems})" if problems else ""))

    def complete(plan: LaunchPlan) -> bool:
        return bool(plan.candidates) and all(
            isinstance(value, Known) for value in plan.candidates[0].constants.values()
        )

    return next((plan for plan in own if complete(plan)), own[0])


def _options(job: Job, first: Candidate | None, gpu: GpuProfile, targets: Targets) -> Options:
    """The launch options: the job's, then those of the first config, then the defaults of the release."""
    row = release(*targets.triton)
    stages = row.nvidia_num_stages if gpu.vendor == "nvidia" else row.amd_num_stages
    base = Options(num_stages=stages)
    if first is not None:
        base = known_options(first)[0] or base
    options = Options(
        num_warps=base.num_warps if job.num_warps is None else job.num_warps,
        num_stages=base.num_stages if job.num_stages is None else job.num_stages,
        num_ctas=base.num_ctas if job.num_ctas is None else job.num_ctas,
        maxnreg=base.maxnreg if job.maxnreg is None else job.maxnreg,
        extra=base.extra,
    )
    if options.num_warps < 1 or options.num_warps & (options.num_warps - 1):
        raise JobError(f"num_warps: a power of two is needed, not {options.num_warps}")
    if options.num_stages < 0:
        raise JobError(f"num_stages: 0 or more is needed, not {options.num_stages}")
    if options.num_ctas < 1:
        raise JobError(f"num_ctas: 1 or more is needed, not {options.num_ctas}")
    if options.num_ctas & (options.num_ctas - 1) and targets.triton >= (3, 0):  # earlier ones compile it
        raise JobError(f"num_ctas: a power of two is needed, not {options.num_ctas}")
    if options.maxnreg is not None and options.maxnreg < 1:
        raise JobError(f"maxnreg: 1 or more is needed, not {options.maxnreg}")
    return options


def _check_kinds(job: Job, trace: Trace) -> None:
    """Raises JobError where the kernel needs a number and the job gives text, a dtype, a list or None. Kinds are not
    declared: what stops the trace at a line that names the constant tells."""
    for name, value in job.constants.items():
        if not (value is None or isinstance(value, str | DType | tuple)):
            continue
        shown = value.name if isinstance(value, DType) else repr(value)
        given = re.escape(repr(value))
        blamed = re.compile(rf"\b{type(value).__name__}\b|not {given}|{given} where a type is needed")
        for gap in trace.gaps:
            if blamed.search(gap.reason) and re.search(rf"\b{re.escape(name)}\b", gap.construct):
                raise JobError(f"{name}: {shown} is of the wrong kind for line {gap.line}: {gap.construct}")


def estimate_line(estimator: Estimator, line: str) -> dict[str, Any]:
    """One line of `estimate --batch`: a job as JSON in, its estimate or {"error": why} out. Never raises."""
    import json

    if not line.strip():
        return {"error": "an empty line is no job"}
    try:
        data = json.loads(line)
    except ValueError as error:
        return {"error": f"not JSON: {error}"}
    except RecursionError:
        return {"error": "the job is nested too deeply"}
    try:
        return estimator.estimate(job_of(data)).to_json()
    except (JobError, SettingsError) as error:
        return {"error": str(error)}
    except RecursionError:
        return {"error": "the job is nested too deeply"}
    except Exception as error:
        return {"error": f"internal error: {type(error).__name__}: {error}"}
