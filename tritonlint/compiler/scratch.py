"""Scratch of single operations other than layout conversions: reduce, scan, histogram, gather, atomics,
descriptors.

As defaultAllocationAnalysisScratchSizeFn of lib/Analysis/Allocation.cpp and the lowering helpers of
lib/Analysis/Utility.cpp, by release. Sizes are bytes of shared memory that are live at the operation only.
"""

from __future__ import annotations

import math
from functools import lru_cache

from tritonlint.compiler.encodings import Blocked, Distributed, Slice
from tritonlint.compiler.layout_properties import (
    bases_per_dim,
    contig_per_thread,
    cta_shape_of,
    threads_per_warp_of,
    warps_per_cta_of,
)
from tritonlint.compiler.linear import (
    LANE,
    REGISTER,
    WARP,
    LinearLayout,
    dim_mask,
    dim_offsets,
    free_masks,
    log2,
)
from tritonlint.compiler.releases import Release
from tritonlint.compiler.swizzle import swizzled_elements
from tritonlint.compiler.target import Target
from tritonlint.compiler.to_linear import to_linear
from tritonlint.kernel.ir import bits_of

Shape = tuple[int, ...]

DESCRIPTOR_BYTES = 128  # a descriptor made in the kernel is built in shared memory


def _bytes(element: str) -> int:
    return -(-bits_of(element) // 8)


# --- Reduction ---


@lru_cache(maxsize=16384)
def reduce_scratch(
    encoding: Distributed,
    shape: Shape,
    axis: int,
    elements: tuple[str, ...],
    arch: Target,
    release: Release,
) -> int:
    """Bytes of a reduction along `axis`; `elements` are the operands' types (argmax has two)."""
    if release.reduce_scratch == "by_axis_kind":
        return _reduce_by_axis_kind(encoding, shape, axis, elements)
    if release.reduce_scratch == "per_warp":
        warps = warps_per_cta_of(encoding, shape)[axis]
        if warps == 1:
            return 0
        return math.prod(shape) // shape[axis] * warps * sum(map(_bytes, elements))
    most = 0
    layout = _within_warp(to_linear(encoding, shape), axis)
    while layout.shape[axis] != 1:
        gathered = _across_warps(layout, axis)
        total = 0
        for element in elements:
            bits = max(8, bits_of(element))
            total += swizzled_elements(layout, gathered, bits, arch, release, generic=True) * bits // 8
        most = max(most, total)
        layout = _without_axis(gathered, axis, LANE)
    return most


def _reduce_by_axis_kind(encoding: Distributed, shape: Shape, axis: int, elements: tuple[str, ...]) -> int:
    """Triton 2.1: the fastest axis is reduced by shuffles and then across warps, any other in shared
    memory."""
    per_element = sum(bits_of(element) // 8 for element in elements)
    parent, parent_axis = encoding, axis
    while isinstance(parent, Slice):
        parent_axis += parent_axis >= parent.dim
        parent = parent.parent
    order = parent.order if isinstance(parent, Blocked) else tuple(reversed(range(8)))
    fastest = order[0] if isinstance(parent, Blocked) else 1
    lanes, warps = threads_per_warp_of(encoding, shape)[axis], warps_per_cta_of(encoding, shape)[axis]
    rest = math.prod(shape) // shape[axis]
    if parent_axis != fastest:
        return rest * min(shape[axis], lanes * warps) * per_element
    layout = to_linear(encoding, shape)
    declared = _declared_warps(encoding, axis)
    if declared == 1:
        return 0
    # Unlike later releases, the warps along the axis are counted with those that hold copies.
    along = min(shape[axis] // lanes, declared)
    threads = 1 << (len(layout.warp) + len(layout.lane))
    return max(rest * along, threads) * per_element


def _declared_warps(encoding: Distributed, axis: int) -> int:
    """Warps along an axis as the encoding says, whatever the shape. A slice adds those of the lost dimension
    to the next one."""
    if isinstance(encoding, Slice):
        return _sliced_warps(encoding)[axis]
    warps: tuple[int, ...] = getattr(encoding, "warps_per_cta", ())
    return warps[axis] if axis < len(warps) else 1


def _sliced_warps(encoding: Slice) -> list[int]:
    parent = encoding.parent
    warps = (
        _sliced_warps(parent) if isinstance(parent, Slice) else list(getattr(parent, "warps_per_cta", (1, 1)))
    )
    lost = warps.pop(encoding.dim)
    warps[encoding.dim if encoding.dim < len(warps) else encoding.dim - 1] *= lost
    return warps


def _without_axis(layout: LinearLayout, axis: int, dropped: int | None) -> LinearLayout:
    """The layout after reducing inside the registers or lanes: bases of that input lose their part along the
    axis, and the bases that are left along it are numbered anew from the lowest
    (zeroBasesAlongDimAndReorder)."""
    offset = dim_offsets(layout.shape)[axis]
    mask = dim_mask(layout.shape, axis)
    bits = log2(layout.shape[axis])
    rest_mask = (1 << offset) - 1
    inputs = [
        [basis & ~mask if which == dropped else basis for basis in bases]
        for which, bases in enumerate(layout.inputs)
    ]
    left = sum(1 for bases in inputs for basis in bases if basis & mask)
    step = 0
    renumbered: list[tuple[int, ...]] = []
    for bases in inputs:
        row = []
        for basis in bases:
            position = (basis & rest_mask) | ((basis >> (offset + bits)) << (offset + left))
            if basis & mask:
                position |= 1 << (offset + step)
                step += 1
            row.append(position)
        renumbered.append(tuple(row))
    shape = tuple(1 << left if dim == axis else size for dim, size in enumerate(layout.shape))
    return LinearLayout(shape, *renumbered)


def _within_warp(layout: LinearLayout, axis: int) -> LinearLayout:
    """What is left after each warp has reduced its registers and lanes."""
    layout = layout.without_broadcast_registers()
    mask = dim_mask(layout.shape, axis)
    front = sorted(layout.register, key=lambda basis: not basis & mask)
    layout = LinearLayout(layout.shape, tuple(front), layout.lane, layout.warp, layout.block)
    layout = _without_axis(layout, axis, REGISTER).without_broadcast_registers()
    return _without_axis(layout, axis, LANE)


def _across_warps(layout: LinearLayout, axis: int) -> LinearLayout:
    """The layout in which what the warps hold along the axis lies in lanes, to be reduced there
    (getInterLayout)."""
    mask = dim_mask(layout.shape, axis)
    lane, warp, block = list(layout.lane), list(layout.warp), list(layout.block)
    warps = [i for i, basis in enumerate(warp) if basis & mask]
    blocks = [i for i, basis in enumerate(block) if basis & mask]
    idle = [i for i, basis in enumerate(lane) if not basis]
    available = idle if len(idle) >= len(warps) + len(blocks) else list(range(len(lane)))
    with_blocks = len(warps) + len(blocks) <= len(available)
    for index in warps:
        if not available:
            break
        at = available.pop(0)
        lane[at], warp[index] = warp[index], lane[at]
    for index in blocks if with_blocks else ():
        if not available:
            break
        at = available.pop(0)
        lane[at], block[index] = block[index], lane[at]
    return LinearLayout(layout.shape, layout.register, tuple(lane), tuple(warp), tuple(block))


# --- Scan ---


@lru_cache(maxsize=16384)
def scan_scratch(
    encoding: Distributed, shape: Shape, axis: int, elements: tuple[str, ...], release: Release
) -> int:
    """Bytes of a scan along `axis`."""
    if release.linear_scan:
        if not isinstance(encoding, Blocked):
            return 0  # not supported: the lowering fails
        layout = to_linear(encoding, shape)
        if release.scan_drops_copies:
            layout = layout.without_broadcast_registers()
        contig = contig_per_thread(layout)
        lanes = bases_per_dim(layout.lane, layout.shape)
        warps = bases_per_dim(layout.warp, layout.shape)
        total_warps = math.prod(warps)
        total_lanes = math.prod(lanes)
        axis_lanes = lanes[axis]
    elif isinstance(encoding, Blocked):
        contig, lanes, warps = encoding.size_per_thread, encoding.threads_per_warp, encoding.warps_per_cta
        total_warps, total_lanes = math.prod(warps), math.prod(lanes)
        axis_lanes = threads_per_warp_of(encoding, shape)[axis]
    else:
        return 0
    if release.scan_free_in_one_warp and warps_per_cta_of(encoding, shape)[axis] == 1:
        return 0
    blocks = [-(-size // (c * t * w)) for size, c, t, w in zip(shape, contig, lanes, warps, strict=True)]
    off_axis = math.prod(c for dim, c in enumerate(contig) if dim != axis)
    per_warp = total_lanes // axis_lanes * off_axis
    if release.scan_free_in_one_warp:
        per_element = sum(map(_bytes, elements))
    else:
        per_element = bits_of(elements[0]) // 8
    return per_element * total_warps * per_warp * math.prod(blocks)


# --- Others ---


def histogram_scratch(bins: int, element: str, arch: Target) -> int:
    """Bytes of a histogram with that many bins; `element` is the result's type."""
    return max(bins, arch.warp_size) * max(8, bits_of(element)) // 8


@lru_cache(maxsize=4096)
def gather_scratch(
    source: Distributed,
    source_shape: Shape,
    indices: Distributed,
    indices_shape: Shape,
    axis: int,
    element: str,
) -> int:
    """Bytes of a gather: nothing if each warp holds all that its indices may name, else the whole source."""
    if _gather_is_warp_local(to_linear(source, source_shape), to_linear(indices, indices_shape), axis):
        return 0
    return math.prod(source_shape) * _bytes(element)


def _gather_is_warp_local(source: LinearLayout, indices: LinearLayout, axis: int) -> bool:
    def parts(layout: LinearLayout, bases: tuple[int, ...]) -> list[tuple[int, int]]:
        """Each basis along the axis, and along the other dimensions (numbered as if the axis were not
        there)."""
        offset, bits = dim_offsets(layout.shape)[axis], log2(layout.shape[axis])
        low = (1 << offset) - 1
        return [
            (
                (basis >> offset) & ((1 << bits) - 1),
                (basis & low) | ((basis >> (offset + bits)) << offset),
            )
            for basis in bases
        ]

    outer_source = parts(source, source.warp + source.block)
    outer_indices = parts(indices, indices.warp + indices.block)
    if any(along for along, _ in outer_source + outer_indices):
        return False
    if [rest for _, rest in outer_source] != [rest for _, rest in outer_indices]:
        return False
    lanes_source, lanes_indices = parts(source, source.lane), parts(indices, indices.lane)
    return [rest for _, rest in lanes_source] == [rest for _, rest in lanes_indices]


def atomic_scratch(
    encoding: Distributed | None,
    shape: Shape,
    element: str,
    result_used: bool,
    num_warps: int,
    release: Release,
) -> int:
    """Bytes of an atomic operation on elements of that type; `encoding` None and shape () for a scalar."""
    if not result_used and not (encoding is None and release.atomic_scalar_always):
        return 0
    size = max(8, bits_of(element)) // 8
    if encoding is None:
        return 0 if release.atomic_shuffles and num_warps == 1 else size
    if not release.atomic_tensor:
        return 0
    copies = free_masks(to_linear(encoding, shape))
    if not any(copies[WARP:] if release.atomic_shuffles else copies):
        return 0
    return math.prod(cta_shape_of(encoding, shape)) * size
