"""Blocked encodings by the rules of Triton's own builders (BlockedEncodingAttr,
getDefaultBlockedEncoding)."""

from __future__ import annotations

from functools import lru_cache

from tritonlint.compiler.encodings import Blocked, CtaLayout, cta_layout, shape_per_cta

Shape = tuple[int, ...]


def _clamp(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


@lru_cache(maxsize=8192)
def blocked(
    shape: Shape, size_per_thread: Shape, order: Shape, warps: int, lanes: int, cta: CtaLayout | None = None
) -> Blocked:
    """Lanes and warps laid out along the fastest dimension first, the rest along the slowest one."""
    rank = len(size_per_thread)
    part = shape_per_cta(shape, cta)
    threads_per_warp = [0] * rank
    warps_per_cta = [0] * rank
    left_lanes, left_threads, left_warps = lanes, warps * lanes, warps
    used_lanes = used_warps = 1
    for dim in order[:-1]:
        threads = _clamp(left_threads, 1, max(1, part[dim] // size_per_thread[dim]))
        threads_per_warp[dim] = _clamp(threads, 1, left_lanes)
        warps_per_cta[dim] = _clamp(threads // threads_per_warp[dim], 1, left_warps)
        left_warps //= warps_per_cta[dim]
        left_lanes //= threads_per_warp[dim]
        left_threads //= threads
        used_lanes *= threads_per_warp[dim]
        used_warps *= warps_per_cta[dim]
    threads_per_warp[order[-1]] = lanes // used_lanes
    warps_per_cta[order[-1]] = warps // used_warps
    return Blocked(size_per_thread, tuple(threads_per_warp), tuple(warps_per_cta), order, cta)


@lru_cache(maxsize=4096)
def blocked_in_cluster(
    shape: Shape, size_per_thread: Shape, order: Shape, warps: int, lanes: int, ctas: int
) -> Blocked:
    """As `blocked`, the cluster's CTAs laid out along the slowest dimension first."""
    if ctas == 1:
        return blocked(shape, size_per_thread, order, warps, lanes)
    rank = len(size_per_thread)
    per_cga = [1] * rank
    left = ctas
    for dim in reversed(order):
        per_cga[dim] = _clamp(left, 1, max(1, shape[dim] // size_per_thread[dim]))
        left //= per_cga[dim]
    split = tuple(per_cga)
    per_cga[rank - 1] *= left
    cta = cta_layout(tuple(per_cga), split, order)
    return blocked(shape, size_per_thread, order, warps, lanes, cta)


def default_blocked(shape: Shape, warps: int, lanes: int, ctas: int) -> Blocked:
    """The encoding that a tensor of unknown use starts with: one element a thread, row-major."""
    rank = len(shape)
    return blocked_in_cluster(shape, (1,) * rank, tuple(range(rank - 1, -1, -1)), warps, lanes, ctas)
