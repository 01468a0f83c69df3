"""Scaled dots (microscaling formats): native where the target has them, else spelled out as a plain dot.

The scaled parts of AccelerateMatmul.cpp, and DecomposeScaledBlocked.cpp.
"""

from __future__ import annotations

from tritonlint.compiler.graph import GOp, Graph
from tritonlint.compiler.releases import Release


def lower_scaled_dots(graph: Graph, capability: int, release: Release) -> None:
    """Rewrite every dot_scaled, in place."""
    for op in [op for op in graph.walk() if op.name == "tt.dot_scaled"]:
        pass
