"""The passes from TTIR to the code whose shared memory is allocated, in the order of each backend's
compiler.py.

What happens before the pipeliner depends on the kernel, its constants, the target and the warps, but not on
num_stages; `compile.py` keeps it for the configs that differ in num_stages only.
"""

from __future__ import annotations

from tritonlint.compiler.accumulator_init import optimize_accumulator_init
from tritonlint.compiler.amd_layouts import (
    hint_dots,
    hoist_operand_conversions,
    optimize_epilogue,
    sink_conversions,
)
from tritonlint.compiler.amd_matmul import accelerate_matmul_amd
from tritonlint.compiler.amd_pipeline import pipeline_amd
from tritonlint.compiler.canonicalize import canonicalize
from tritonlint.compiler.coalesce import Coalescing
from tritonlint.compiler.coalesce_pass import coalesce
from tritonlint.compiler.cse import cse
from tritonlint.compiler.dot_operands import optimize_dot_operands
from tritonlint.compiler.f32_dot import split_f32_dots
from tritonlint.compiler.facts import DotChoices, dot_choices
from tritonlint.compiler.fuse_loops import fuse_loops
from tritonlint.compiler.graph import Graph
from tritonlint.compiler.in_thread_transpose import transpose_in_threads
from tritonlint.compiler.layout_pipeline import (
    before_pipeliner,
    before_tensor_cores,
    from_tensor_cores,
    late_passes,
)
from tritonlint.compiler.licm import hoist_invariants
from tritonlint.compiler.lower_mma import lower_mma
from tritonlint.compiler.options import Options
from tritonlint.compiler.pipeline import PipelineReport, pipeline
from tritonlint.compiler.pipeline_loads import Axis, multiplies
from tritonlint.compiler.reduce_duplication import reduce_data_duplication
from tritonlint.compiler.releases import Release
from tritonlint.compiler.remove_conversions import remove_conversions
from tritonlint.compiler.target import Target
from tritonlint.compiler.tensor_memory import hoist_accumulators, promote_left_operands
from tritonlint.compiler.thread_locality import optimize_thread_locality
from tritonlint.compiler.tma import lower_descriptors
from tritonlint.compiler.to_ttgir import to_ttgir
from tritonlint.compiler.trans_memory import transpose_in_memory


def _has_tensor_memory(graph: Graph, target: Target) -> bool:
    return multiplies(graph) and target.capability >= 100


def first_layouts(graph: Graph, options: Options, target: Target, release: Release) -> None:
    """From TTIR to the graph in which tensor cores are chosen, in place. Few questions about the target are asked up to
    there, so that most targets share it."""
    to_ttgir(graph, options.num_warps, target.warp_size, options.num_ctas)
    coalesce(graph, Coalescing(graph, target, release).coalesced_layout, release)
    if not target.is_amd:
        before_tensor_cores(graph, target, release)
        return
    if release.amd_splits_f32:
        split_f32_dots(graph, release, tf32=True)
    remove_conversions(graph, release)
    optimize_thread_locality(graph, release)


def final_layouts(graph: Graph, options: Options, target: Target, release: Release) -> DotChoices:
    """From what `first_layouts` made to the graph that the pipeliner meets, in place; what executes each dot."""
    if target.is_amd:
        return _amd_layouts(graph, options, target, release)
    from_tensor_cores(graph, target, release)
    choices = dot_choices(graph)
    if release.pipeliner == "latencies" and target.capability >= 80:
        fuse_loops(graph)
    before_pipeliner(graph, target, release)
    if _has_tensor_memory(graph, target):
        optimize_accumulator_init(graph)
        hoist_accumulators(graph, release)
        if release.tcgen05_left_in_tmem:
            promote_left_operands(graph, release)
    return choices


def _amd_layouts(graph: Graph, options: Options, target: Target, release: Release) -> DotChoices:
    accelerate_matmul_amd(graph, options, target, release)
    choices = dot_choices(graph)
    remove_conversions(graph, release)
    optimize_epilogue(graph)
    if not release.amd_splits_f32:
        optimize_dot_operands(graph, release)
    if release.amd_hoists_conversions:
        hoist_operand_conversions(graph)
    if release.amd_sinks_conversions:
        sink_conversions(graph)
    if release.amd_fuses_loops:
        fuse_loops(graph)
        canonicalize(graph)
        hoist_invariants(graph, loads=release.hoists_loads)
        canonicalize(graph)
    return choices


def pipeline_and_finish(
    graph: Graph, axis: Coalescing, options: Options, target: Target, release: Release
) -> PipelineReport:
    """The pipeliner and everything after it, in place; `axis` is what is known of the graph's addresses."""
    if target.is_amd:
        return _amd_memory(graph, options, target, release, axis)
    report = PipelineReport()
    if target.capability >= 80:
        report = pipeline(graph, release, options.num_stages, axis)
        if _has_tensor_memory(graph, target) and release.hoists_accumulators_twice:
            hoist_accumulators(graph, release, after_pipelining=True)
    late_passes(graph, options, target, release)
    if not release.lowers_tma_before_layouts:
        lower_descriptors(graph, release)
        canonicalize(graph)
    if _has_tensor_memory(graph, target):
        lower_mma(graph)
    if release.transposes_in_memory:
        transpose_in_memory(graph)
    return report


def _amd_memory(
    graph: Graph, options: Options, target: Target, release: Release, axis: Axis
) -> PipelineReport:
    report = pipeline_amd(graph, release, target, options.num_stages, axis)
    canonicalize(graph)
    if release.amd_hints_dots:
        hint_dots(graph)
    if not release.amd_splits_f32:
        optimize_dot_operands(graph, release)
    remove_conversions(graph, release)
    reduce_data_duplication(graph, target, release)
    if target.arch.startswith(release.amd_transposes_in_threads):
        transpose_in_threads(graph, options.num_warps, target.warp_size)
        remove_conversions(graph, release)
    if not release.amd_sinks_conversions:
        sink_conversions(graph)
    canonicalize(graph)
    cse(graph, release.tells_memories_apart)
    return report


def pointer_facts(graph: Graph, target: Target, release: Release) -> Coalescing:
    """What is known of the pointers of a graph with layouts."""
    return Coalescing(graph, target, release)
