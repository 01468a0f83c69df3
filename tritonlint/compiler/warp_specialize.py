"""Automatic warp specialization (tl.range(warp_specialize=True)): where it happens, and what it takes.

When the compiler leaves a loop alone (WarpSpecialization.cpp of third_party/nvidia/hopper), and the warps that
partitions add. What loops that are split need in memory is in warp_partitions.py; of others there is an
estimate: tcgen05 targets and sm_120 give every load num_stages buffers.
"""

from __future__ import annotations

from tritonlint.compiler.graph import GOp, Graph
from tritonlint.compiler.pipeline_latency import num_stages_of
from tritonlint.compiler.pipeline_schedule import is_outer
from tritonlint.compiler.releases import Release
from tritonlint.compiler.target import Target
from tritonlint.compiler.warp_partitions import PARTITION_WARPS, split_loop

_HOPPER_WARPS = 4  # only blocks of one warp group are split
_HOPPER_ADDED = 8


def specialized_loops(graph: Graph, target: Target, release: Release, num_stages: int) -> list[GOp]:
    """The loops that the compiler splits among warps, of a graph right before the pipeliner."""
    if not target.is_nvidia or not release.warp_specialization:
        return []
    loops = [op for op in graph.walk() if op.name == "scf.for" and op.attrs.get("warp_specialize")]
    loops = [op for op in loops if num_stages_of(op, num_stages) > 1]
    if not release.specializes_nests:
        loops = [op for op in loops if not is_outer(op)]
    if not loops:
        return []
    if 80 <= target.capability < 100 and (graph.num_warps != _HOPPER_WARPS or _has_else(graph)):
        return []
    return loops


def _has_else(graph: Graph) -> bool:
    """Whether a branch has something in its else part; one with results always has."""
    return any(
        op.name == "scf.if"
        and (bool(op.results) or any(inner.name != "scf.yield" for inner in op.blocks[1].ops))
        for op in graph.walk()
    )


def split_loops(
    loops: list[GOp], graph: Graph, target: Target, release: Release, num_stages: int
) -> list[GOp]:
    """Split the loops among warps, in place; those are left of which that is not modelled to the byte."""
    if not loops or target.capability < 100:
        return loops
    left = [loop for loop in loops if not split_loop(loop, graph, release, num_stages)]
    widen_rings(left, target, num_stages)
    return left


def widen_rings(loops: list[GOp], target: Target, num_stages: int) -> None:
    """Let the loads of specialized loops have one buffer for each stage, in place."""
    if not loops or target.capability < 100:
        return
    for loop in loops:
        loop.attrs["num_stages"] = num_stages_of(loop, num_stages) + 1


def added_warps(loops: list[GOp], target: Target) -> int:
    """Warps that partitions add to those of the launch."""
    if not loops:
        return 0
    return _HOPPER_ADDED if 90 <= target.capability < 100 else PARTITION_WARPS
