"""What the pipeliner asks of a load: can it be asynchronous, and in which shared encoding does it land.

The width of an asynchronous copy is what one thread moves at once: at least 4 bytes, else the load is not
pipelined through shared memory (canBeConvertedToAsyncLoad, getCopyVecBytes in PipeliningUtility.cpp).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Protocol

from tritonlint.compiler.encodings import (
    Blocked,
    CtaLayout,
    Distributed,
    DotOperand,
    NvidiaMma,
    NvmmaShared,
    Shared,
    SharedLinear,
    SwizzledShared,
    cta_of,
    shape_per_cta,
)
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.layout_properties import (
    contig_per_thread_of,
    order_for_memory,
    order_of,
    thread_order_of,
)
from tritonlint.compiler.linear import dim_offsets, log2
from tritonlint.compiler.releases import Release
from tritonlint.compiler.to_linear import to_linear
from tritonlint.kernel.ir import bits_of

Shape = tuple[int, ...]

TMA_LOADS = frozenset({"tt.descriptor_load", "tt.descriptor_gather"})
LOADS = frozenset({"tt.load"}) | TMA_LOADS
TCGEN05 = frozenset({"ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled"})
DOTS = frozenset({"tt.dot", "tt.dot_scaled", "ttng.warp_group_dot"}) | TCGEN05
VIEWS = frozenset(
    {
        "ttg.memdesc_trans",
        "ttg.memdesc_index",
        "ttg.memdesc_subslice",
        "ttg.memdesc_subview",
        "ttg.memdesc_reshape",
        "ttg.memdesc_reinterpret",
    }
)


class Axis(Protocol):
    """What the pipeliner needs of the axis analysis."""

    def contiguity(self, pointer: GValue) -> int:
        """Elements that a thread may access at once through a tensor of pointers."""

    def mask_alignment(self, mask: GValue) -> int:
        """Elements in a row that a mask treats alike."""

    def coalesced_layout(self, op: GOp) -> Blocked:
        """The layout in which a load would be coalesced best."""


def multiplies(graph: Graph) -> bool:
    """Whether there is a dot in any form. Where there is none, a pass that only concerns tensor cores need not ask what
    the target has, so that more targets share the rest."""
    return any(op.name in DOTS for op in graph.all_ops())


def is_zero_constant(value: GValue) -> bool:
    """A constant, or a splat of one, that is zero."""
    op = value.op
    if op is None:
        return False
    if op.name == "arith.constant":
        number = op.attrs.get("value")
        return isinstance(number, (int, float)) and number == 0
    return op.name == "tt.splat" and is_zero_constant(op.operands[0])


def load_mask(op: GOp) -> GValue | None:
    """The mask of a tt.load, if it has one."""
    return op.operands[1] if op.attrs.get("has_mask", len(op.operands) > 1) else None


def load_other(op: GOp) -> GValue | None:
    """What a tt.load gives where the mask is off, if that is said."""
    return op.operands[2] if op.attrs.get("has_other", len(op.operands) > 2) else None


def needs_select(op: GOp) -> bool:
    """Whether masked elements of the load must become something else than zero: an asynchronous copy only
    fills in zeros, so the load then goes through registers."""
    if op.name != "tt.load":
        return False
    other = load_other(op)
    return other is not None and not is_zero_constant(other)


def viewed_memory(value: GValue) -> GValue:
    """The whole allocation that a view of memory is of."""
    while value.op is not None and value.op.name in VIEWS:
        value = value.op.operands[0]
    return value


def alloc_users(value: GValue) -> list[GOp]:
    """The local allocations that a loaded tensor is put in."""
    return [user for user in value.uses if user.name == "ttg.local_alloc"]


def async_width_bits(op: GOp, axis: Axis) -> int:
    """Bits that one thread of a tt.load moves at once, as far as addresses and mask allow."""
    pointer = op.operands[0]
    element_bits = bits_of(op.result.type.element)
    if not pointer.is_tensor:
        return element_bits
    vector = axis.contiguity(pointer)
    mask = load_mask(op)
    if mask is not None and mask.is_tensor:
        vector = min(vector, axis.mask_alignment(mask))
    return vector * element_bits


@lru_cache(maxsize=16384)
def offset_bits(encoding: Shared, shape: Shape) -> tuple[int, ...] | None:
    """For each bit of an element's position (dimension 0 lowest), the bits of its offset in elements; None
    for an encoding without such a form. The shape is what one CTA holds."""
    rank = len(shape)
    if isinstance(encoding, SharedLinear) or (isinstance(encoding, SwizzledShared) and rank == 0):
        return None
    if isinstance(encoding, NvmmaShared):
        if rank < 2:
            order: Shape = tuple(reversed(range(rank)))
        elif encoding.transposed:
            order = (rank - 2, rank - 1, *reversed(range(rank - 2)))
        else:
            order = tuple(reversed(range(rank)))
        width = encoding.swizzling_byte_width
        vector = 128 // encoding.element_bits
        phases = {32: 2, 64: 4, 128: 8}.get(width, 1)
        per_phase = {32: 4, 64: 2, 128: 1}.get(width, 1)
        tile = 8 * max(16, width) // encoding.element_bits
    elif isinstance(encoding, SwizzledShared):
        order, vector = encoding.order, encoding.vec
        phases, per_phase = encoding.max_phase, encoding.per_phase
        tile = shape[order[0]]
    else:
        return None
    bits: list[list[int]] = [[0] * log2(size) for size in shape]
    inner = order[0]
    width_bits = min(log2(tile), log2(shape[inner]))
    for bit in range(width_bits):
        bits[inner][bit] = 1 << bit
    at = width_bits
    for place, dim in enumerate(order[1:]):
        for bit in range(log2(shape[dim])):
            offset = 1 << at
            at += 1
            if place == 0 and per_phase <= 1 << bit < per_phase * phases:
                offset ^= ((1 << bit) // per_phase * vector) & ((1 << width_bits) - 1)
            bits[dim][bit] = offset
    for bit in range(width_bits, log2(shape[inner])):
        bits[inner][bit] = 1 << at
        at += 1
    return tuple(offset for row in bits for offset in row)


@lru_cache(maxsize=16384)
def copy_vector_elements(register: Distributed, shared: Shared, shape: Shape) -> int:
    """Elements that are neighbours both in one thread and in memory (getNumConsecutiveInOut of the layout
    that leads from registers to offsets)."""
    part = shape_per_cta(shape, cta_of(shared))
    bits = offset_bits(shared, part)
    if bits is None:
        return 1
    layout = to_linear(_without_cta(register), part)

    def offset(basis: int) -> int:
        found = 0
        while basis:
            lowest = basis & -basis
            basis ^= lowest
            found ^= bits[lowest.bit_length() - 1]
        return found

    registers = [offset(basis) for basis in layout.register]
    run = 0
    while run < len(registers) and registers[run] == 1 << run:
        run += 1
    others = 0
    for value in registers[run:]:
        others |= value
    for basis in (*layout.lane, *layout.warp):
        others |= offset(basis)
    if others:
        run = min(run, (others & -others).bit_length() - 1)
    return 1 << run


def _without_cta(encoding: Distributed) -> Distributed:
    """The encoding of one CTA's part."""
    return replace(encoding, cta_layout=None) if isinstance(encoding, Blocked) else encoding


def copy_vector_bytes(register: Distributed, shared: Shared, shape: Shape, element: str) -> int:
    """Bytes of one asynchronous copy instruction between these layouts."""
    return copy_vector_elements(register, shared, shape) * bits_of(element) // 8


def swizzled_for_operand(
    operand: DotOperand, shape: Shape, order: Shape, cta: CtaLayout | None, bits: int
) -> SwizzledShared:
    """The swizzled encoding from which an operand of mma.sync is read without bank conflicts; the plain one
    for an operand without a tensor core."""
    if not isinstance(operand.parent, NvidiaMma):
        return SwizzledShared(1, 1, 1, order, cta)
    return _swizzled(operand.op_idx, operand.k_width, shape, order, cta, bits)


def _swizzled(
    op_idx: int, k_width: int, shape: Shape, order: Shape, cta: CtaLayout | None, bits: int
) -> SwizzledShared:
    depth = shape_per_cta(shape, cta)[order[0]]
    per_phase = max(1024 // (bits * depth), 1)
    stride = 4 if bits == 64 else 8
    vector = 4 * k_width
    k_dim = len(order) - 1 if op_idx == 0 else len(order) - 2
    if order[0] != k_dim:
        vector, stride = stride, vector
    phases = max(min(stride, 1024 // (vector * bits)), 1)
    return SwizzledShared(vector, per_phase, max(phases // per_phase, 1), order, cta)


def operand_encoding(value: GValue, release: Release) -> tuple[SwizzledShared | None, bool]:
    """The shared encoding that suits all users of a tensor or descriptor where all of them read dot operands,
    and whether their wishes contradict (getSharedEncIfAllUsersAreDotEnc)."""
    found: SwizzledShared | None = None
    for user in value.uses:
        if len(user.results) != 1:
            return None, False
        result = user.result
        if result.memory:
            if not isinstance(result.encoding, SwizzledShared):
                return None, False
            wanted: SwizzledShared | None = result.encoding
            inner, incompatible = operand_encoding(result, release)
            if inner is None:
                return None, incompatible
        else:
            if user.name not in ("ttg.local_load", "ttg.convert_layout"):
                return None, False
            wanted = _wanted_by(value, result, release)
            if wanted is None:
                return None, False
        if found is not None and found != wanted:
            return None, True
        found = wanted
    return found, False


def _wanted_by(value: GValue, result: GValue, release: Release) -> SwizzledShared | None:
    encoding = result.encoding
    if isinstance(encoding, DotOperand):
        order = memory_order(value)
        return swizzled_for_operand(
            encoding, value.shape, order, cta_of(encoding), bits_of(value.type.element)
        )
    if not release.operands_by_lanes:
        return None
    return _like_operand(encoding, result.shape, cta_of(value.encoding), bits_of(value.type.element))


@lru_cache(maxsize=4096)
def _like_operand(
    encoding: Distributed, shape: Shape, cta: CtaLayout | None, bits: int
) -> SwizzledShared | None:
    """The swizzled encoding for a layout whose lanes lie as in a tile of mma.sync (swizzleDotOperandLike):
    registers and four lanes along one dimension, eight lanes along the other."""
    order = thread_order_of(encoding, shape)
    if len(order) < 2:
        return None
    last, second = len(order) - 1, len(order) - 2
    rest = tuple(reversed(range(second)))
    if order == (last, second, *rest):
        op_idx = 0
    elif order == (second, last, *rest):
        op_idx = 1
    else:
        return None
    width = contig_per_thread_of(encoding, shape)[order[0]]
    layout = to_linear(encoding, shape)
    offsets = dim_offsets(layout.shape)
    inner, outer = offsets[order[0]], offsets[order[1]]
    registers = tuple(1 << (inner + bit) for bit in range(log2(width)))
    lanes = tuple(1 << (inner + log2(width) + bit) for bit in range(2)) + tuple(
        1 << (outer + bit) for bit in range(3)
    )
    if layout.register[: len(registers)] != registers or layout.lane[:5] != lanes:
        return None
    tile = sum(registers) | sum(lanes)
    left = (*layout.register[len(registers) :], *layout.lane[5:], *layout.warp, *layout.block)
    if any(basis & tile for basis in left):
        return None
    return _swizzled(op_idx, width, shape, order, cta, bits)


def memory_order(value: GValue) -> Shape:
    """Fastest dimension first, of a tensor or a memory descriptor."""
    encoding = value.encoding
    if value.memory:
        if isinstance(encoding, SwizzledShared):
            return encoding.order
        rank = len(value.shape)
        if isinstance(encoding, NvmmaShared) and encoding.transposed and rank >= 2:
            return (rank - 2, rank - 1, *reversed(range(rank - 2)))
        return tuple(reversed(range(rank)))
    return order_for_memory(encoding, value.shape)


def nvmma_default(shape: Shape, order: Shape, element: str, cta: CtaLayout | None) -> NvmmaShared:
    """The encoding that TMA, wgmma and tcgen05 share for a tile: the widest swizzle that the contiguous
    dimension allows."""
    bits = bits_of(element)
    part = shape_per_cta(shape, cta)
    contiguous = part[order[0]] * bits // 8
    if len(shape) < 2 or _flat_rows(part, order) < 8:
        swizzle = 0
    elif contiguous >= 128 and contiguous % 128 == 0:
        swizzle = 128
    elif contiguous >= 64 and contiguous % 64 == 0:
        swizzle = 64
    elif contiguous >= 32 and contiguous % 32 == 0:
        swizzle = 32
    else:
        swizzle = 0
    transposed = len(order) > 1 and order[0] == len(shape) - 2
    return NvmmaShared(swizzle, transposed, bits, cta_layout=cta)


def _flat_rows(shape: Shape, order: Shape) -> int:
    rows = 1
    for dim in order[1:]:
        rows *= shape[dim]
    return rows


def descriptor_encoding(op: GOp) -> Shared:
    """The encoding in which a descriptor's tile lies in shared memory: the descriptor's own where the layout
    passes gave it one, else the default of its tile."""
    descriptor = op.operands[0]
    if isinstance(descriptor.encoding, (NvmmaShared, SwizzledShared)):
        return descriptor.encoding
    tile = op.results[0] if op.results else op.operands[1]
    order = order_of(tile.encoding, tile.shape)
    return nvmma_default(tile.shape, order, tile.type.element, cta_of(tile.encoding))


def shared_encoding(op: GOp, release: Release) -> Shared:
    """The encoding of the buffers of a pipelined load (getSharedEncoding)."""
    result = op.result
    if op.name in TMA_LOADS:
        return descriptor_encoding(op)
    allocs = alloc_users(result)
    if allocs:  # a value's users are met from the newest on
        return allocs[-1].result.encoding  # type: ignore[no-any-return]
    wanted, _ = operand_encoding(result, release)
    if wanted is not None:
        return wanted
    return SwizzledShared(1, 1, 1, order_of(result.encoding, result.shape), cta_of(result.encoding))


def must_load_to_registers(op: GOp) -> bool:
    """Whether something other than one local allocation in the buffers' own encoding reads the load."""
    if needs_select(op) or not op.result.has_one_use:
        return True
    user = next(iter(op.result.uses))
    if user.name != "ttg.local_alloc":
        return True
    if op.name in TMA_LOADS:
        return bool(descriptor_encoding(op) != user.result.encoding)
    return False


def non_view_users(value: GValue) -> list[GOp]:
    """The users of a memory descriptor, views followed to theirs."""
    found: list[GOp] = []
    for user in value.uses:
        if user.name in VIEWS:
            found.extend(non_view_users(user.result))
        else:
            found.append(user)
    return found
