"""Scratch of a layout conversion through padded shared memory: Triton up to 3.4, and AMD's fallback up to
3.6.

One round trip moves the larger of the two layouts' tiles (what a layout covers before it repeats), with the
fastest dimension of the target lengthened by a vector so that rows start in different banks
(getScratchConfigForCvt in lib/Analysis/Allocation.cpp). What counts as tile, order and contiguity changed
from release to release.
"""

from __future__ import annotations

import math

from tritonlint.compiler.encodings import (
    AmdMfma,
    AmdWmma,
    Blocked,
    Distributed,
    DotOperand,
    Linear,
    NvidiaMma,
    Slice,
    cta_of,
    rank_of,
    shape_per_cta,
)
from tritonlint.compiler.layout_properties import (
    bases_per_dim,
    contig_per_thread,
    order_of,
    register_order,
)
from tritonlint.compiler.linear import LinearLayout, dim_offsets
from tritonlint.compiler.releases import Release
from tritonlint.compiler.to_linear import dot_operand_order, matrix_order, to_linear

Shape = tuple[int, ...]


def size_per_thread(layout: LinearLayout, split: Shape) -> Shape:
    """Elements of one thread along each dimension before the layout repeats: the highest registers are taken
    for repetitions as long as they fill dimensions from the top (LinearEncodingAttr::getSizePerThread)."""
    offsets = dim_offsets(layout.shape)
    left = [size // parts for size, parts in zip(layout.shape, split, strict=True)]
    registers = list(layout.register)
    seen: list[int] = []
    while registers and registers[-1]:
        basis = registers[-1]
        dim = max(d for d in range(layout.rank) if offsets[d] < basis.bit_length())
        while layout.shape[dim] == 1:
            dim -= 1
        if dim not in seen:
            seen.append(dim)
        if dim != seen[-1] or 2 * (basis >> offsets[dim]) != left[dim]:
            break
        left[dim] //= 2
        registers.pop()
    return bases_per_dim(tuple(registers), layout.shape)


def linear_tile(encoding: Distributed, shape: Shape) -> Shape:
    """What the linear layout covers before it repeats (LinearEncodingAttr::getShapePerCTATile)."""
    layout = to_linear(encoding, shape)
    cta = cta_of(encoding)
    split = cta.split if cta else (1,) * len(shape)
    sizes = size_per_thread(layout, split)
    lanes = bases_per_dim(layout.lane, layout.shape)
    warps = bases_per_dim(layout.warp, layout.shape)
    return tuple(s * t * w for s, t, w in zip(sizes, lanes, warps, strict=True))


def _tile(encoding: Distributed, shape: Shape, release: Release) -> Shape:
    """What the encoding covers before it repeats (getShapePerCTATile)."""
    if release.padded_tile == "linear" or isinstance(encoding, Linear):
        return linear_tile(encoding, shape)
    if isinstance(encoding, Blocked):
        return tuple(
            s * t * w
            for s, t, w in zip(
                encoding.size_per_thread, encoding.threads_per_warp, encoding.warps_per_cta, strict=True
            )
        )
    if isinstance(encoding, Slice):
        dim = encoding.dim
        tile = _tile(encoding.parent, (*shape[:dim], 1, *shape[dim:]), release)
        return tile[:dim] + tile[dim + 1 :]
    if isinstance(encoding, DotOperand):
        return _operand_tile(encoding, shape, release)
    warps = list(encoding.warps_per_cta)
    if isinstance(encoding, NvidiaMma):
        if encoding.version == 1:
            return shape
        warps[-2] *= 16
        warps[-1] *= encoding.instr_shape[1] if encoding.version >= 3 else 8
    else:
        warps[-2] *= encoding.instr_shape[0]
        warps[-1] *= encoding.instr_shape[1]
    return tuple(warps)


def _operand_tile(encoding: DotOperand, shape: Shape, release: Release) -> Shape:
    parent = encoding.parent
    k_dim = len(shape) - 1 if encoding.op_idx == 0 else len(shape) - 2
    tile = list(_tile(parent, shape, release))
    if isinstance(parent, NvidiaMma):
        tile[k_dim] = encoding.k_width * 8 if encoding.k_width else 16
    elif isinstance(parent, AmdMfma):
        tile[k_dim] = 32
    elif isinstance(parent, AmdWmma):
        tile[k_dim] = shape[k_dim]
    return tuple(tile)


def _own_order(encoding: Distributed, release: Release) -> Shape:
    """getOrder (getThreadOrder in 3.2) before orders were read from the linear layout."""
    if isinstance(encoding, Blocked):
        return encoding.order
    if isinstance(encoding, Slice):
        dim = encoding.dim
        return tuple(d - (d > dim) for d in _own_order(encoding.parent, release) if d != dim)
    if isinstance(encoding, DotOperand):
        rank = rank_of(encoding)
        if release.padded_order == "threads":
            return dot_operand_order(encoding.op_idx, rank, k_contiguous=True)
        return matrix_order(rank, row_major=True)
    if isinstance(encoding, Linear):
        return register_order(encoding.layout)
    rank = rank_of(encoding)
    if isinstance(encoding, (AmdMfma, AmdWmma)):
        return matrix_order(rank, row_major=not encoding.is_transposed)
    return matrix_order(rank, row_major=True)


def _own_contiguity(encoding: Distributed, shape: Shape, release: Release) -> Shape:
    """getUniqueContigPerThread (getContigPerThread in 2.1) before contiguity was read from the linear
    layout."""
    if isinstance(encoding, Slice):
        dim = encoding.dim
        parent = _own_contiguity(encoding.parent, (*shape[:dim], 1, *shape[dim:]), release)
        # 2.1 forgot to drop the dimension, and looks into the parent's list with the slice's dimension.
        return parent if not release.padded_unique_contiguity else parent[:dim] + parent[dim + 1 :]
    rank = rank_of(encoding)
    contig = [1] * rank
    if isinstance(encoding, Blocked):
        contig = list(encoding.size_per_thread)
    elif isinstance(encoding, NvidiaMma):
        contig[-1] = 2
    elif isinstance(encoding, AmdMfma):
        contig[-1 if encoding.is_transposed else -2] = 4
    elif isinstance(encoding, AmdWmma):
        if encoding.version == 2:
            contig[-2] = 8
    elif isinstance(encoding, DotOperand):
        contig[rank - 1 if encoding.op_idx == 0 else rank - 2] = max(1, encoding.k_width)
    elif isinstance(encoding, Linear):
        contig = list(contig_per_thread(encoding.layout))
    if release.padded_unique_contiguity:
        contig = [min(c, s) for c, s in zip(contig, shape, strict=True)]
    return tuple(contig)


def vector_lengths(
    source: Distributed, target: Distributed, shape: Shape, release: Release
) -> tuple[int, int, int]:
    """Elements that one thread writes and reads at once, and the dimension that is padded."""
    rank = len(shape)
    if release.padded_order == "registers":
        source_layout, target_layout = to_linear(source, shape), to_linear(target, shape)
        source_order, target_order = order_of(source, shape), order_of(target, shape)
        from_source = contig_per_thread(source_layout)[source_order[0]]
        from_target = contig_per_thread(target_layout)[target_order[0]]
    else:
        source_order, target_order = _own_order(source, release), _own_order(target, release)
        if release.padded_order == "other_side":
            # An accumulator or operand has no order of its own: the other side's holds.
            if isinstance(source, (NvidiaMma, DotOperand)):
                source_order = _own_order(target, release)
            if isinstance(target, (NvidiaMma, DotOperand)):
                target_order = _own_order(source, release)
        from_source = _own_contiguity(source, shape, release)[source_order[0]]
        from_target = _own_contiguity(target, shape, release)[target_order[0]]
    padded = target_order[0]
    if release.padded_order == "other_side":
        padded = rank - 1
        if isinstance(target, Blocked):
            padded = target.order[0]
        elif not release.padded_inner_is_last:
            padded = 1
    if release.padded_inner_is_last:
        inner = rank - 1
        write = from_source if target_order[0] == inner == source_order[0] else 1
        read = from_target if target_order[0] == inner else 1
        if isinstance(source, NvidiaMma) and isinstance(target, Blocked):
            # From an accumulator, reading back in vectors pays even across a transposition.
            read = from_target
    else:
        # The first releases took dimension 0 for the slow one.
        write = from_source if target_order[0] != 0 and source_order[0] != 0 else 1
        read = from_target if target_order[0] != 0 else 1
    return write, read, padded


def padded_elements(
    source: Distributed, target: Distributed, shape: Shape, element_bits: int, release: Release
) -> int:
    """Elements of scratch of a conversion that goes through padded shared memory; `element_bits` as in the
    type (1 for i1, 64 for a pointer)."""
    source_cta, target_cta = cta_of(source), cta_of(target)
    source_shape, target_shape = shape_per_cta(shape, source_cta), shape_per_cta(shape, target_cta)
    if source_cta != target_cta:
        # Through the shared memory of other CTAs: the CTA's whole part in one round.
        rounds = list(source_shape)
    else:
        tiles = zip(
            source_shape,
            _tile(source, shape, release),
            target_shape,
            _tile(target, shape, release),
            strict=True,
        )
        rounds = [max(min(a, s), min(b, t)) for a, s, b, t in tiles]
    if len(shape) <= 1:
        return math.prod(rounds)
    write, read, dim = vector_lengths(source, target, shape, release)
    if release.padded_clamped:
        widest = max(1, 128 // max(1, element_bits))
        write, read = min(write, rounds[dim], widest), min(read, rounds[dim], widest)
    if release.padded_skips_unit_dims and math.prod(rounds) == rounds[dim]:
        return math.prod(rounds)
    rounds[dim] += max(write, read)
    return math.prod(rounds)
