"""What the passes ask of a layout: order, contiguity, threads and warps along each dimension, elements per
thread.

As the LinearEncodingTrait of Triton's TritonGPU dialect: the answers are read from the bases, so they hold
for every encoding, and count a thread or warp only along dimensions where it holds different elements.
"""

from __future__ import annotations

from functools import lru_cache

from tritonlint.compiler.encodings import (
    Blocked,
    Distributed,
    DotOperand,
    Linear,
    NvidiaMma,
    Shared,
    Slice,
    cta_of,
    shape_per_cta,
)
from tritonlint.compiler.linear import Bases, LinearLayout, dim_offsets, free_masks, log2
from tritonlint.compiler.to_linear import dot_operand_order, matrix_order, to_linear

Shape = tuple[int, ...]


@lru_cache(maxsize=16384)
def _dim_of_bit(shape: Shape) -> tuple[int, ...]:
    dims: list[int] = []
    for dim, size in enumerate(shape):
        dims.extend([dim] * log2(size))
    return tuple(dims)


def bases_per_dim(bases: Bases, shape: Shape) -> tuple[int, ...]:
    """How many different places the bases reach along each dimension; copies do not count."""
    counts = [1] * len(shape)
    dims = _dim_of_bit(shape)
    for basis in bases:
        if basis:
            counts[dims[(basis & -basis).bit_length() - 1]] *= 2
    return tuple(counts)


def order_per_dim(bases: Bases, shape: Shape, default: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions in the order in which the bases first step along them, the rest as in `default`."""
    order: list[int] = []
    dims = _dim_of_bit(shape)
    for basis in bases:
        if basis:
            dim = dims[(basis & -basis).bit_length() - 1]
            if dim not in order:
                order.append(dim)
    order.extend(dim for dim in default if dim not in order)
    return tuple(order)


def register_order(layout: LinearLayout) -> tuple[int, ...]:
    """Fastest dimension first, of one thread's registers (getOrder)."""
    return order_per_dim(layout.register, layout.shape, tuple(reversed(range(layout.rank))))


@lru_cache(maxsize=65536)
def order_of(encoding: Distributed, shape: Shape) -> tuple[int, ...]:
    """Fastest dimension first (getOrder of the linear layout)."""
    return register_order(to_linear(encoding, shape))


@lru_cache(maxsize=65536)
def thread_order_of(encoding: Distributed, shape: Shape) -> tuple[int, ...]:
    """Fastest dimension first, of a warp's lanes."""
    layout = to_linear(encoding, shape)
    return order_per_dim(layout.lane, layout.shape, register_order(layout))


@lru_cache(maxsize=65536)
def warp_order_of(encoding: Distributed, shape: Shape) -> tuple[int, ...]:
    """Fastest dimension first, of a CTA's warps."""
    layout = to_linear(encoding, shape)
    return order_per_dim(layout.warp, layout.shape, register_order(layout))


@lru_cache(maxsize=65536)
def threads_per_warp_of(encoding: Distributed, shape: Shape) -> tuple[int, ...]:
    """Lanes with different elements along each dimension."""
    layout = to_linear(encoding, shape)
    return bases_per_dim(layout.lane, layout.shape)


@lru_cache(maxsize=65536)
def warps_per_cta_of(encoding: Distributed, shape: Shape) -> tuple[int, ...]:
    """Warps with different elements along each dimension."""
    layout = to_linear(encoding, shape)
    return bases_per_dim(layout.warp, layout.shape)


@lru_cache(maxsize=65536)
def contig_per_thread_of(encoding: Distributed, shape: Shape) -> tuple[int, ...]:
    """Neighbouring elements in one thread along each dimension (getContigPerThread)."""
    return contig_per_thread(to_linear(encoding, shape))


def contig_per_thread(layout: LinearLayout) -> tuple[int, ...]:
    """Neighbouring elements in one thread along each dimension: the lowest registers, dimension by dimension
    in the layout's order, as long as each steps exactly past what is contiguous so far."""
    offsets = dim_offsets(layout.shape)
    contig = [1] * layout.rank
    at = 0
    registers = layout.register
    for dim in register_order(layout):
        size = layout.shape[dim]
        while contig[dim] < size and at < len(registers) and registers[at] == contig[dim] << offsets[dim]:
            contig[dim] *= 2
            at += 1
    return tuple(contig)


@lru_cache(maxsize=65536)
def elements_per_thread(encoding: Distributed, shape: Shape) -> int:
    """Elements that one thread holds, copies included (getTotalElemsPerThread)."""
    return 1 << len(to_linear(encoding, shape).register)


@lru_cache(maxsize=65536)
def elements_per_thread_by_dim(encoding: Distributed, shape: Shape) -> tuple[int, ...]:
    """Elements of one thread along each dimension, copies counted with the dimension before them."""
    layout = to_linear(encoding, shape)
    counts = [1] * layout.rank
    dims = _dim_of_bit(layout.shape)
    last = 0
    for basis in layout.register:
        if basis:
            last = dims[(basis & -basis).bit_length() - 1]
        counts[last] *= 2
    return tuple(counts)


@lru_cache(maxsize=65536)
def distinct_by_dim(encoding: Distributed, shape: Shape) -> tuple[int, ...]:
    """Elements of one thread along each dimension, without copies."""
    layout = to_linear(encoding, shape)
    counts = [1] * layout.rank
    dims = _dim_of_bit(layout.shape)
    for basis in layout.register:
        if basis:
            counts[dims[(basis & -basis).bit_length() - 1]] *= 2
    return tuple(counts)


def has_broadcast(encoding: Distributed, shape: Shape) -> bool:
    """Whether two threads or registers hold the same element."""
    return any(free_masks(to_linear(encoding, shape)))


@lru_cache(maxsize=65536)
def order_for_memory(encoding: Distributed, shape: Shape) -> tuple[int, ...]:
    """The order in which a tensor is best laid out in memory: that of the registers, or that of the lanes
    where one thread holds a single element along the lanes' fastest dimension (getOrderForMemory)."""
    order = order_of(encoding, shape)
    threads = thread_order_of(encoding, shape)
    if order == threads:
        return order
    return threads if elements_per_thread_by_dim(encoding, shape)[threads[0]] == 1 else order


def cta_shape_of(encoding: Distributed | Shared, shape: Shape) -> Shape:
    """The part of the shape that one CTA of the cluster holds."""
    return shape_per_cta(shape, cta_of(encoding))


def rep_order_of(encoding: Distributed) -> tuple[int, ...]:
    """The order in which tiles of the encoding repeat over a larger tensor."""
    if isinstance(encoding, Blocked):
        return encoding.order
    if isinstance(encoding, Slice):
        dim = encoding.dim
        return tuple(d - (d > dim) for d in rep_order_of(encoding.parent) if d != dim)
    if isinstance(encoding, Linear):
        return register_order(encoding.layout)
    if isinstance(encoding, DotOperand):
        if isinstance(encoding.parent, Blocked):
            return encoding.parent.order
        return dot_operand_order(encoding.op_idx, len(rep_order_of(encoding.parent)), k_contiguous=True)
    return matrix_order(len(encoding.warps_per_cta), row_major=True)


def is_mma(encoding: object, version: int | None = None) -> bool:
    """Whether an encoding is an NVIDIA tensor-core accumulator (of that version)."""
    return isinstance(encoding, NvidiaMma) and (version is None or encoding.version == version)
