"""The grid of a candidate, as numbers."""

from __future__ import annotations

import math

from tritonlint.compiler.folding import wrapped
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
    return math.prod(grid)


def taken(axis: int) -> bool:
    """Whether the launcher takes this number as an axis: an `int` of C. It raises OverflowError for any other."""
    return -(2**31) <= axis < 2**31


def launcher_counts(grid: tuple[int, ...]) -> int:
    """The product that the launcher looks at, of `int`s of C: it wraps around at 2^31."""
    return wrapped(math.prod(grid), 32)


def runs_nothing(grid: tuple[int, ...], vendor: str, triton: tuple[int, int]) -> bool:
    """Whether the launcher returns without a launch and without an error. It asks for a product above zero; AMD's for
    one other than zero since 3.6."""
    if not all(taken(axis) for axis in grid):
        return False
    counted = launcher_counts(grid)
    return counted == 0 or (counted < 0 and not (vendor == "amd" and triton >= (3, 6)))


def clusters(candidate: Candidate) -> int:
    """CTAs that one program becomes."""
    return known_int(candidate.num_ctas) or 1
