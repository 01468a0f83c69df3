"""The pass remove-layout-conversions (lib/Dialect/TritonGPU/Transforms/RemoveLayoutConversions.cpp)."""

from __future__ import annotations

from functools import partial

from tritonlint.compiler.convert_cleanup import clean_converts
from tritonlint.compiler.graph import Graph
from tritonlint.compiler.hoist_conversions import hoist_conversions
from tritonlint.compiler.layout_propagation import propagate_layouts
from tritonlint.compiler.loop_cleanup import clean_control_flow, erase_dead_carried
from tritonlint.compiler.releases import Release
from tritonlint.compiler.rematerialize import Rematerialization

_ROUNDS = 16


def remove_conversions(graph: Graph, release: Release, disable_splitting: bool = False) -> None:
    """Spread encodings from anchors, repeat work instead of converting, and move the conversions that
    stay."""
    if not any(op.name == "ttg.convert_layout" for op in graph.all_ops()):
        # Without conversions every value has the one encoding that its anchor gives it.
        erase_dead_carried(graph)
        clean_converts(graph)
        clean_control_flow(graph)
        return
    propagate_layouts(graph, release)
    clean_converts(graph)
    for _ in range(_ROUNDS):
        pass_ = Rematerialization(graph, release)
        changed = pass_.run_over_converts(partial(pass_.rematerialize, disable_splitting=disable_splitting))
        if changed:
            clean_converts(graph)
        if not changed or not release.remat_until_stable:
            break
    hoist_conversions(graph, release, disable_splitting)
    erase_dead_carried(graph)
    clean_converts(graph)
    clean_control_flow(graph)
