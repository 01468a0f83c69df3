"""Software pipelining of a kernel's loops: which ones, with what schedule, and their rewriting.

The steps and their order are those of Triton's passes: latencies and schedules of all loops first, then the
loads become asynchronous, then the loops are expanded, then stores through descriptors.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tritonlint.compiler.graph import GOp, Graph
from tritonlint.compiler.pipeline_dot_chain import pipeline_dot_chain
from tritonlint.compiler.pipeline_expand import expand
from tritonlint.compiler.pipeline_latency import can_pipeline, load_latencies, num_stages_of
from tritonlint.compiler.pipeline_levels import can_pipeline_levels, pipeline_levels, pipeline_outer
from tritonlint.compiler.pipeline_loads import LOADS, TCGEN05, Axis
from tritonlint.compiler.pipeline_lower import lower_loads
from tritonlint.compiler.pipeline_schedule import Schedule, schedule_loop
from tritonlint.compiler.pipeline_tcgen05 import lower_mmas, mma_latencies
from tritonlint.compiler.pipeline_waits import combine_waits
from tritonlint.compiler.pipeline_wgmma import launch_async
from tritonlint.compiler.releases import Release
from tritonlint.compiler.tma import pipeline_stores

_BARRIERS = frozenset({"gpu.barrier", "ttg.barrier", "tt.debug_barrier"})
_PRINTS = frozenset({"tt.print", "tt.assert"})


@dataclass(slots=True)
class LoadChoice:
    """What became of one load of a loop: `buffers` is 0 where it is not pipelined."""

    line: int
    path: str
    shape: tuple[int, ...]
    element: str
    buffers: int
    why_not: str


@dataclass(slots=True)
class PipelineReport:
    """What the pipeliner decided."""

    loads: list[LoadChoice] = field(default_factory=list)
    stopped_by: str = ""  # a print, assert or barrier in a loop that would have been pipelined
    carried: list[int] = field(default_factory=list)  # lines of loads whose carried values are not followed


def loops_of(graph: Graph) -> list[GOp]:
    """The for loops, inner ones first."""
    return [op for op in graph.walk_post() if op.name == "scf.for"]


def what_stops(loop: GOp, release: Release) -> str:
    """The operation that keeps a loop from being pipelined, in the words of the source; "" if none does."""
    for op in loop.walk():
        if op.name in _BARRIERS:
            return "a barrier"
        if release.print_stops_pipelining and op.name in _PRINTS:
            return "a device_print" if op.name == "tt.print" else "a device_assert"
    return ""


def pipeline_latencies(graph: Graph, release: Release, num_stages: int, axis: Axis) -> PipelineReport:
    """Pipeline the loops of the graph in place (3.3 and newer)."""
    report = PipelineReport()
    planned: list[tuple[GOp, Schedule]] = []
    waits: dict[GOp, int] = {}
    for loop in loops_of(graph):
        stages = num_stages_of(loop, num_stages)
        loads = [op for op in loop.body.ops if op.name in LOADS]
        if loop.attrs.get("partitioned"):
            continue
        if not can_pipeline(loop) or stages <= 1:
            why = "num_stages is 1" if stages <= 1 else "only innermost loops are pipelined"
            _note(report, loads, {}, why)
            continue
        latency, reasons = load_latencies(loop, stages, axis, release)
        waits.update(mma_latencies(loop, latency, release))
        if latency:
            stopped = what_stops(loop, release)
            if stopped:
                report.stopped_by = report.stopped_by or stopped
                _note(report, loads, {}, f"{stopped} in the loop stops pipelining")
                continue
        schedule = schedule_loop(loop, latency, share_cluster=release.carried_share_cluster)
        if not schedule.at:
            _note(report, loads, reasons, "no dot uses it")
            continue
        planned.append((loop, schedule))
        _note(report, [op for op in loads if op not in latency], reasons, "no dot uses it")
    for loop, schedule in planned:
        lower_mmas(loop, schedule, waits, release, graph.num_ctas)
        for entry in lower_loads(
            loop, schedule, axis, release, graph.num_warps, graph.num_ctas, graph.threads_per_warp
        ):
            alloc = entry.alloc
            assert alloc is not None
            shape = alloc.result.shape[1:]
            report.loads.append(
                LoadChoice(alloc.line, alloc.path, shape, alloc.result.type.element, entry.buffers, "")
            )
    for loop, schedule in planned:
        order = [(op, stage) for op, stage, _ in schedule.in_order(loop.body)]
        expand(loop, order, peel=release.peels_tcgen05_epilogue and _waits_last(schedule))
    return report


def pipeline(graph: Graph, release: Release, num_stages: int, axis: Axis) -> PipelineReport:
    """Pipeline the loops of the graph in place, and move the staging tiles of descriptor stores."""
    if release.pipeliner == "latencies":
        report = pipeline_latencies(graph, release, num_stages, axis)
    else:
        report = _pipeline_before_latencies(graph, release, num_stages, axis)
    if release.wgmma_waits:
        launch_async(graph, release, num_stages)
    combine_waits(graph)
    if release.pipeliner in ("latencies", "levels"):
        pipeline_stores(graph, release, num_stages)
    return report


def _pipeline_before_latencies(graph: Graph, release: Release, num_stages: int, axis: Axis) -> PipelineReport:
    report = PipelineReport()
    outer_loops: dict[GOp, None] = {}
    for loop in loops_of(graph):
        stages = num_stages_of(loop, num_stages) if release.pipeliner == "levels" else num_stages
        loads = [op for op in loop.body.ops if op.name in LOADS]
        notes = {
            op: LoadChoice(op.line, op.path, op.result.shape, op.result.type.element, 0, "no dot uses it")
            for op in loads
        }
        report.loads.extend(notes.values())
        all_stages = release.pipeliner == "all_stages"
        if stages <= 1 or not (all_stages or can_pipeline_levels(loop)):
            for note in notes.values():
                note.why_not = "num_stages is 1" if stages <= 1 else "only innermost loops are pipelined"
            continue
        outer = loop.parent
        if release.pipeliner == "levels":
            machine = (graph.num_warps, graph.threads_per_warp, graph.num_ctas)
            result = pipeline_levels(loop, stages, axis, release, machine)
        else:
            result = pipeline_dot_chain(loop, stages, axis, all_stages=all_stages)
        for op, note in notes.items():
            if op in result.buffers:
                note.buffers, note.why_not = result.buffers[op], ""
            elif op in result.reasons:
                note.why_not = result.reasons[op]
        if (
            release.pipeliner == "levels"
            and result.loop is not None
            and outer is not None
            and outer.name == "scf.for"
            and num_stages_of(outer, num_stages) > 1
        ):
            outer_loops[outer] = None
    for outer in outer_loops:
        pipeline_outer(outer)
    return report


def _waits_last(schedule: Schedule) -> bool:
    """Whether a product on tensor memory is in the loop and something is waited for in the last stage."""
    return any(op.name in TCGEN05 for op in schedule.at) and any(
        op.name == "ttng.wait_barrier" and stage == schedule.stages - 1
        for op, (stage, _) in schedule.at.items()
    )


def _note(report: PipelineReport, loads: list[GOp], reasons: dict[GOp, str], default: str) -> None:
    for op in loads:
        result = op.result
        why = reasons.get(op, default)
        report.loads.append(LoadChoice(op.line, op.path, result.shape, result.type.element, 0, why))
