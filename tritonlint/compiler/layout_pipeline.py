"""The order of the layout passes, from TTIR to right before the software pipeliner, and after it (NVIDIA).

make_ttir and make_ttgir of third_party/nvidia/backend/compiler.py. Passes that change nothing the model reads
are left out: inlining (the tracer inlines), the allocation of barriers that later passes own.
"""

from __future__ import annotations

from collections.abc import Callable

from tritonlint.compiler.accelerate_matmul import accelerate_matmul
from tritonlint.compiler.canonicalize import canonicalize
from tritonlint.compiler.cluster_layouts import assign_cluster_layouts
from tritonlint.compiler.coalesce_pass import coalesce
from tritonlint.compiler.combine import combine, reorder_broadcast
from tritonlint.compiler.cse import cse, loop_aware_cse
from tritonlint.compiler.descriptor_layouts import assign_descriptor_layouts
from tritonlint.compiler.dot_operands import optimize_dot_operands
from tritonlint.compiler.encodings import Blocked
from tritonlint.compiler.f32_dot import split_f32_dots
from tritonlint.compiler.graph import GOp, Graph
from tritonlint.compiler.interleave_tmem import interleave_tmem
from tritonlint.compiler.licm import hoist_invariants
from tritonlint.compiler.optimize_tmem import optimize_tmem_layouts
from tritonlint.compiler.options import Options
from tritonlint.compiler.pipeline_loads import multiplies
from tritonlint.compiler.prefetch import sink_prefetched_dots
from tritonlint.compiler.reduce_duplication import reduce_data_duplication
from tritonlint.compiler.releases import Release
from tritonlint.compiler.remove_conversions import remove_conversions
from tritonlint.compiler.reorder import reorder_instructions
from tritonlint.compiler.target import Target
from tritonlint.compiler.thread_locality import optimize_thread_locality
from tritonlint.compiler.tma import lower_descriptors
from tritonlint.compiler.to_ttgir import to_ttgir
from tritonlint.compiler.unroll import unroll_loops


def clean_ttir(graph: Graph, target: Target, release: Release) -> None:
    """The TTIR passes, in place: what a traced kernel is before layouts are assigned."""
    if not release.folds_float_conversions:
        for op in graph.all_ops():
            if op.name == "tt.fp_to_fp":
                op.attrs["never_folds"] = True
    if release.views_are_blocked:
        for op in graph.all_ops():
            if op.name in ("tt.reshape", "tt.join", "tt.split", "tt.trans"):
                op.attrs["blocked_only"] = True
    if release.cat_keeps_elements:
        for op in graph.all_ops():
            if op.name == "tt.cat":
                op.attrs["keeps_elements"] = True
    if release.reshapes_expand_slices:
        for op in graph.all_ops():
            if op.name == "tt.reshape":
                op.attrs["expands_slices"] = True
    canonicalize(graph)
    combine(graph)
    if release.reorders_broadcasts:
        reorder_broadcast(graph)
    cse(graph, release.tells_memories_apart)
    if release.hoists_invariants_of_ttir == "everywhere" or target.is_amd:
        hoist_invariants(graph, loads=release.hoists_loads)
    unroll_loops(graph)


def layout_passes(
    graph: Graph,
    options: Options,
    target: Target,
    release: Release,
    analyze: Callable[[Graph], Callable[[GOp], Blocked]],
) -> None:
    """Assign encodings to cleaned TTIR up to right before the software pipeliner, in place. `analyze` looks
    at the addresses of a graph and gives the function that picks the coalesced encoding of an access."""
    to_ttgir(graph, options.num_warps, target.warp_size, options.num_ctas)
    coalesce(graph, analyze(graph), release)
    assigned_passes(graph, target, release)


def assigned_passes(graph: Graph, target: Target, release: Release) -> None:
    """The part of `layout_passes` after loads and stores have their encodings."""
    before_tensor_cores(graph, target, release)
    from_tensor_cores(graph, target, release)


def before_tensor_cores(graph: Graph, target: Target, release: Release) -> None:
    """The first half of `assigned_passes`, in which targets hardly differ."""
    graph.attrs["keeps_tmem_conversions"] = not release.folds_into_tmem_stores
    split_f32_dots(graph, release, target.capability >= 80)
    assign_cluster_layouts(graph)
    if release.cluster_layouts_first:
        remove_conversions(graph, release)
    remove_conversions(graph, release)
    optimize_thread_locality(graph, release)


def from_tensor_cores(graph: Graph, target: Target, release: Release) -> None:
    """The second half of `assigned_passes`, from the choice of instructions for dots."""
    accelerate_matmul(graph, target, release)
    remove_conversions(graph, release)
    canonicalize(graph)
    optimize_dot_operands(graph, release)
    assign_descriptor_layouts(graph)
    loop_aware_cse(graph, release.tells_memories_apart)


def before_pipeliner(graph: Graph, target: Target, release: Release) -> None:
    """What runs between the fusing of loops and the assignment of latencies, in place."""
    settled = canonicalize(graph)
    if hoist_invariants(graph, loads=release.hoists_loads) or not settled:
        canonicalize(graph)


def late_passes(graph: Graph, options: Options, target: Target, release: Release) -> None:
    """What follows the software pipeliner, up to the allocation of shared memory, in place."""
    dots = multiplies(graph)
    settled = canonicalize(graph)
    if loop_aware_cse(graph, release.tells_memories_apart) or not settled:
        canonicalize(graph)
    if release.prefetches_on == "everywhere" or (
        release.prefetches_on == "ampere" and dots and target.capability // 10 == 8
    ):
        sink_prefetched_dots(graph)
    optimize_dot_operands(graph, release)
    if dots and target.capability >= 100:
        optimize_tmem_layouts(graph, release)
    if release.lowers_tma_before_layouts:
        lower_descriptors(graph, release)
    remove_conversions(graph, release)
    if dots and target.capability >= 100 and release.sinks_tmem_loads:
        interleave_tmem(graph)
    reduce_data_duplication(graph, target, release)
    reorder_instructions(graph, release)
    if loop_aware_cse(graph, release.tells_memories_apart):
        cse(graph, release.tells_memories_apart)
    canonicalize(graph)
