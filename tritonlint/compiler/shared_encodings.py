"""How many bytes of shared memory a buffer takes, and where it may start.

Explicit allocations of lib/Analysis/Allocation.cpp: the part of one CTA, all buffers of a pipelined load
together, with the padding that some encodings put between elements.
"""

from __future__ import annotations

import math

from tritonlint.compiler.encodings import (
    CtaLayout,
    NvmmaShared,
    PaddedShared,
    Shared,
    SharedLinear,
    shape_per_cta,
)
from tritonlint.compiler.releases import Release

Shape = tuple[int, ...]


def _padded(elements: int, encoding: PaddedShared) -> int:
    """Elements with the padding between them; none after the last."""
    total = elements
    for interval, pad in encoding.interval_pads:
        total += elements // interval * pad
        if elements % interval == 0:
            total -= pad
    return total


def allocation_bytes(shape: Shape, encoding: Shared, element_bits: int) -> int:
    """Bytes of a buffer. `shape` is that of the whole cluster, with the number of buffers in front if there
    are several."""
    cta: CtaLayout | None = encoding.cta_layout
    part = shape_per_cta(shape, cta)
    elements = math.prod(part)
    if isinstance(encoding, NvmmaShared) and encoding.fp4_padded:
        elements *= 2  # each group of eight packed bytes is followed by as many unused ones
    elif isinstance(encoding, PaddedShared):
        elements = _padded(elements, encoding)
    return elements * element_bits // 8


def allocation_alignment(shape: Shape, encoding: Shared, element_bits: int, release: Release) -> int:
    """Alignment of a buffer in bytes."""
    if release.allocation_alignment == "none":
        return 1
    if release.allocation_alignment == "by_size":
        # Swizzled reads count phases from the address, so larger buffers start on a whole pattern.
        return 1024 if allocation_bytes(shape, encoding, element_bits) > 256 else 8
    if isinstance(encoding, NvmmaShared):
        if release.nvmma_alignment_by_swizzle:
            return 128 * {32: 2, 64: 4, 128: 8}.get(encoding.swizzling_byte_width, 1)
        return 1024
    if isinstance(encoding, SharedLinear):
        return encoding.alignment
    return 16
