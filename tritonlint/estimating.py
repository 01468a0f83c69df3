"""Puts an estimate together: what the compiler makes of a launch, what the GPU does with that, and each step
of the arithmetic in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from tritonlint.compiler.compiled import Compiled
from tritonlint.compiler.options import Options
from tritonlint.estimate_record import WAITS, Estimate, TimePart, WavesPart
from tritonlint.finding import Certainty

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile
    from tritonlint.model.roofline import Roofline
    from tritonlint.work import LaunchWork


def build(
    compiled: Compiled,
    options: Options,
    gpu: GpuProfile,
    triton: tuple[int, int],
    *,
    grid: tuple[int, ...] | None,
    work: LaunchWork | None,
    assumptions: Sequence[str] = (),
    model: Literal["compiler", "textbook"] = "compiler",
) -> Estimate:
    """The estimate of one launch. `grid` is None where it is not known; `work` where nothing is known of what
    a program computes and moves."""
    from tritonlint.model.clusters import refused_clusters
    from tritonlint.model.occupancy import next_cta, occupancy, plain_occupancy
    from tritonlint.model.waves import waves as count_waves

    steps = _compiler_steps(compiled, options, gpu, triton, model)
    if model == "textbook":
        taken = plain_occupancy(
            gpu, warps=compiled.warps, shared_bytes=compiled.shared_bytes, registers=compiled.registers
        )
    else:
        taken = occupancy(
            gpu,
            warps=compiled.warps,
            shared_bytes=compiled.shared_bytes,
            registers=compiled.registers,
            tensor_memory_columns=compiled.tensor_memory_columns,
        )
    steps += taken.steps
    near = ""
    if model == "compiler" and compiled.registers_low is not None and compiled.registers_high is not None:
        near = next_cta(taken, (compiled.registers_low, compiled.registers_high))
        steps += [f"near: {near}"] if near else []
    why_not = textbook_refusals(compiled, gpu) if model == "textbook" else refusals(compiled, gpu)
    clusters = refused_clusters(gpu, options.num_ctas, triton)
    sure = clusters is None or clusters[1] == "proven" or bool(why_not)
    why_not += [f"num_ctas={options.num_ctas}: {clusters[0]}"] if clusters is not None else []
    steps += [f"does not fit: {reason}" for reason in why_not]
    programs = _programs(grid)
    filled = None
    if programs is not None and gpu.multiprocessors is not None:
        filled = count_waves(programs, gpu.multiprocessors, taken.ctas_per_sm, options.num_ctas)
    if grid is None:
        steps.append("waves: the grid is not known")
    elif filled is not None:
        steps += filled.steps
    elif gpu.multiprocessors is None:
        steps.append(f"waves: {gpu.name} is a target, not a GPU: the number of multiprocessors is not known")
    time = bound = dram = None
    if work is not None:
        steps += work.steps
        roof = work.textbook_time(gpu) if model == "textbook" else work.time_on(gpu, filled)
        if model == "textbook" and roof is not None and work.bytes_min is not None and gpu.dram_bytes_per_s:
            best = work.bytes_min / gpu.dram_bytes_per_s * 1e3
            steps.append(f"memory, if every byte came once: {best:.4g} ms; without any reuse:")
        dram = work.bytes_tiled if model == "textbook" else work.dram_bytes(gpu, filled)
        if dram is not None and model == "compiler":
            steps.append(f"bytes from and to memory, with what the L2 keeps: {dram:,}")
        if roof is not None:
            bound = roof.bound
            time, more = _time(roof, compiled, options, gpu, work, model)
            # What waits most of the time is bound by none of the roofs.
            steps += roof.steps_of(bound if time.largest != WAITS else None)
            steps += more
    return Estimate(
        shared_bytes=compiled.shared_bytes,
        shared_exact=compiled.shared_exact,
        shared_lower_bound=compiled.shared_lower_bound,
        tensor_memory_columns=compiled.tensor_memory_columns,
        registers=compiled.registers,
        registers_low=compiled.registers_low,
        registers_high=compiled.registers_high,
        spills=compiled.spills,
        threads=compiled.warps * gpu.warp_size,
        warps=compiled.warps,
        tensor_cores=compiled.tensor_cores,
        ctas_per_sm=taken.ctas_per_sm,
        occupancy=taken.occupancy,
        limiter=taken.limiter,
        limits=dict(taken.limits),
        fits=not why_not,
        why_not=tuple(why_not),
        waves=None
        if filled is None
        else WavesPart(filled.programs, filled.per_wave, filled.full, filled.last, filled.efficiency),
        flops=work.flops if work else None,
        bytes_min=work.bytes_min if work else None,
        bytes_tiled=work.bytes_tiled if work else None,
        bytes_dram=dram,
        time_ms=time,
        bound=bound,
        certainty=_certainty(compiled, bool(why_not), bool(assumptions) or not sure),
        assumptions=tuple(assumptions),
        steps=tuple(steps),
        gpu=gpu.name,
        triton=triton,
        model=model,
        compiled=compiled,
        near=near,
    )


def _time(
    roof: Roofline, compiled: Compiled, options: Options, gpu: GpuProfile, work: LaunchWork, model: str
) -> tuple[TimePart, tuple[str, ...]]:
    """The roofs, and the predicted time where a model applies, with its steps."""
    if model == "textbook":
        return TimePart(roof.compute_ms, roof.memory_ms, roof.launch_ms, roof.total_ms), ()
    from tritonlint.launch_time import predicted

    timing = predicted(compiled, options, gpu, work)
    if timing is None:
        return TimePart(roof.compute_ms, roof.memory_ms, roof.launch_ms, None), ()
    part = TimePart(
        roof.compute_ms,
        roof.memory_ms,
        roof.launch_ms,
        timing.total_ms,
        timing.low_ms,
        timing.high_ms,
        timing.largest,
        timing.parts[timing.largest],
    )
    return part, timing.steps


def refusals(compiled: Compiled, gpu: GpuProfile) -> list[str]:
    """Why the driver refuses the launch for sure, one sentence for each resource; empty where it may run."""
    reasons: list[str] = []
    limit = gpu.shared_bytes_per_cta
    if compiled.shared_exact and compiled.shared_bytes > limit:
        reasons.append(f"shared memory: {compiled.shared_bytes:,} B exceed {limit:,} B")
    elif compiled.shared_lower_bound > limit:
        reasons.append(f"shared memory: at least {compiled.shared_lower_bound:,} B exceed {limit:,} B")
    threads = compiled.warps * gpu.warp_size
    if threads > gpu.threads_per_cta_max:
        reasons.append(f"threads: {threads:,} exceed {gpu.threads_per_cta_max:,}")
    columns = compiled.tensor_memory_columns
    if gpu.tensor_memory_columns and columns > gpu.tensor_memory_columns and compiled.shared_exact:
        reasons.append(f"tensor memory: {columns:,} columns exceed {gpu.tensor_memory_columns:,}")
    return reasons


def textbook_refusals(compiled: Compiled, gpu: GpuProfile) -> list[str]:
    """The same by the textbook's numbers: what they would mean if they were the compiler's."""
    reasons: list[str] = []
    if compiled.shared_bytes > gpu.shared_bytes_per_cta:
        reasons.append(f"shared memory: {compiled.shared_bytes:,} B exceed {gpu.shared_bytes_per_cta:,} B")
    threads = compiled.warps * gpu.warp_size
    if threads > gpu.threads_per_cta_max:
        reasons.append(f"threads: {threads:,} exceed {gpu.threads_per_cta_max:,}")
    if compiled.registers is not None and compiled.registers > gpu.registers_per_thread_max:
        reasons.append(f"registers: {compiled.registers} per thread exceed {gpu.registers_per_thread_max}")
    return reasons


def _programs(grid: tuple[int, ...] | None) -> int | None:
    if grid is None:
        return None
    total = 1
    for size in grid:
        total *= size
    return total


def _certainty(compiled: Compiled, refused: bool, assumed: bool) -> Certainty:
    """That of `fits`: a refusal is sure, given what is assumed; that nothing stops it, only if all
    is known."""
    if not compiled.shared_exact and not refused:
        return "possible"
    return "likely" if assumed else "proven"


def _compiler_steps(
    compiled: Compiled, options: Options, gpu: GpuProfile, triton: tuple[int, int], model: str
) -> list[str]:
    major, minor = triton
    first = f"{model}: Triton {major}.{minor} for {gpu.arch}, {options.num_warps} warps, "
    first += f"{options.num_stages} stages"
    steps = [first + (f", {options.num_ctas} CTAs" if options.num_ctas != 1 else "")]
    for dot in compiled.dots:
        shape = f"{dot.m} x {dot.n} x {dot.k}" + (f", batch {dot.batch}" if dot.batch > 1 else "")
        by = dot.tensor_cores if dot.tensor_cores != "none" else "no tensor cores"
        why = f" ({dot.why})" if dot.why else ""
        steps.append(f"dot, line {dot.line}: {shape} of {dot.a_type} and {dot.b_type}: {by}{why}")
    for load in compiled.loads:
        if load.in_loop and (load.buffers or load.why_not):
            shape = "x".join(str(size) for size in load.shape) or "scalar"
            buffers = f"{load.buffers} buffers" if load.buffers else f"not pipelined: {load.why_not}"
            steps.append(f"load, line {load.line}: {shape} of {load.element}: {buffers}")
    for part in compiled.parts:
        peak = "" if part.live_at_peak else ", not live at the peak"
        place = f", line {part.line}" if part.line else ""
        steps.append(f"shared memory{place}: {part.label}: {part.shared_bytes:,} B{peak}")
    if compiled.shared_exact:
        sure = "exact"
    elif compiled.shared_lower_bound:
        sure = f"estimated, at least {compiled.shared_lower_bound:,} B"
    else:
        sure = "estimated"
    steps.append(f"shared memory in all: {compiled.shared_bytes:,} B ({sure})")
    steps += [f"not exact: {reason}" for reason in compiled.reasons]
    if compiled.pipelining_off:
        steps.append(f"pipelining is off: {compiled.pipelining_off}")
    if compiled.tensor_memory_columns:
        steps.append(f"tensor memory: {compiled.tensor_memory_columns:,} columns")
    if compiled.registers is not None:
        spread = f", {compiled.registers_low} to {compiled.registers_high}"
        spills = {"no": "", "likely": "; spills likely", "certain": "; spills for certain"}[compiled.spills]
        steps.append(f"registers: about {compiled.registers} per thread{spread}{spills}")
    return steps
