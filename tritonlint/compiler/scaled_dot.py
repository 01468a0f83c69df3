"""Scaled dots (microscaling formats): native where the target has them, else spelled out as a plain dot.

The scaled parts of AccelerateMatmul.cpp, and DecomposeScaledBlocked.cpp.
"""

from __future__ import annotations

from tritonlint.compiler.graph import Graph
from tritonlint.compiler.releases import Release


def lower_scaled_dots(graph: Graph, capability: int, release: Release) -> None:
    """Rewrite every dot_scaled, in place."""


def decompose_scaled_dots(graph: Graph, release: Release) -> None:
    """Spell out every dot_scaled, in place."""
