"""The grid of a candidate, as numbers."""

from __future__ import annotations

from tritonlint.source.sites import Candidate
from tritonlint.source.values import Bounded
from tritonlint_rules.support.drafts import known_int


def known_grid(candidate: Candidate) -> tuple[int, ...] | None:
    """Every axis, where all are exactly known."""
    if candidate.grid is None:
        return None
    axes = [known_int(axis) for axis in candidate.grid[:3]]
    return tuple(axis for axis in axes if axis is not None) if None not in axes else None


def least(candidate: Candidate, axis: int) -> int | None:
    """The least that one axis can be."""
    if candidate.grid is None or axis >= len(candidate.grid):
        return None
    knowledge = candidate.grid[axis]
    return knowledge.low if isinstance(knowledge, Bounded) else known_int(knowledge)


def programs(candidate: Candidate) -> int | None:
    grid = known_grid(candidate)
    if not grid:
        return None
    total = 1
    for axis in grid:
        total *= axis
    return total


def clusters(candidate: Candidate) -> int:
    """CTAs that one program becomes."""
    return known_int(candidate.num_ctas) or 1
