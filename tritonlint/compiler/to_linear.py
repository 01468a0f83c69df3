"""From an encoding and a shape to the linear layout, as lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp.

A layout is built by dealing out the index bits of each dimension from the lowest up, in the order in which
the encoding fills registers, lanes and warps; what is then left of a dimension goes to registers, and bits
past its end are copies.
"""

from __future__ import annotations

from functools import lru_cache

from tritonlint.compiler.encodings import (
    AmdMfma,
    AmdWmma,
    Blocked,
    CtaLayout,
    Distributed,
    DotOperand,
    Linear,
    NvidiaMma,
    Slice,
    cta_of,
)
from tritonlint.compiler.linear import LinearLayout, dim_offsets, drop_dim, log2, resize_dims

Order = tuple[int, ...]


def matrix_order(rank: int, row_major: bool) -> Order:
    """Fastest dimension first, of a batch of matrices."""
    if rank < 2:
        return (0,) * rank
    order = list(reversed(range(rank)))
    if not row_major:
        order[0], order[1] = order[1], order[0]
    return tuple(order)


def dot_operand_order(op_idx: int, rank: int, k_contiguous: bool) -> Order:
    """Fastest dimension first, of operand A (0) or B (1)."""
    return matrix_order(rank, bool(op_idx) != k_contiguous)


class Dealer:
    """Deals the index bits of a tensor's dimensions to registers, lanes and warps."""

    __slots__ = ("_bits", "_cta_bases", "_next", "_offsets", "lane", "register", "shape", "warp")

    def __init__(self, shape: tuple[int, ...], cta: CtaLayout | None) -> None:
        self.shape = shape
        self._offsets = dim_offsets(shape)
        self._next = [0] * len(shape)
        self._bits = [log2(size) for size in shape]  # index bits that one CTA holds
        self._cta_bases: list[int] = []
        self.register: list[int] = []
        self.lane: list[int] = []
        self.warp: list[int] = []
        if cta is not None:
            # Bases past the end of the tensor are copies; the others cut the CTA's part.
            kept = [tuple(v if v < s else 0 for v, s in zip(b, shape, strict=True)) for b in cta.bases]
            for dim in range(len(shape)):
                largest = max((basis[dim] for basis in kept), default=0)
                self._bits[dim] -= largest.bit_length()
            for basis in kept:
                position = 0
                for dim, value in enumerate(basis):
                    position |= value << (self._offsets[dim] + self._bits[dim])
                self._cta_bases.append(position)

    def deal(self, where: list[int], dim: int, count: int) -> None:
        """Give the next log2(count) bits of a dimension to `where`."""
        bits, offset, at = self._bits[dim], self._offsets[dim], self._next[dim]
        end = at + log2(count)
        where.extend(1 << (offset + bit) if bit < bits else 0 for bit in range(at, end))
        self._next[dim] = end

    def deal_all(self, where: list[int], counts: tuple[int, ...], order: Order) -> None:
        """Deal along every dimension, the fastest first."""
        for dim in order:
            self.deal(where, dim, counts[dim])

    def place(self, where: list[int], dim: int, bit: int) -> None:
        """Give one chosen bit of a dimension to `where`, out of order; `skip` passes over such bits."""
        where.append(1 << (self._offsets[dim] + bit) if bit < self._bits[dim] else 0)

    def skip(self, dim: int, count: int) -> None:
        """Go on after the next log2(count) bits of a dimension, which `place` has given."""
        self._next[dim] += log2(count)

    def copies(self, where: list[int], count: int) -> None:
        """Give log2(count) bits that step nowhere."""
        where.extend([0] * log2(count))

    def finish(self, order: Order) -> LinearLayout:
        """What is left of each dimension goes to registers, in `order`."""
        for dim in order:
            left = self._bits[dim] - self._next[dim]
            if left > 0:
                self.deal(self.register, dim, 1 << left)
        return LinearLayout(
            self.shape, tuple(self.register), tuple(self.lane), tuple(self.warp), tuple(self._cta_bases)
        )


@lru_cache(maxsize=65536)
def to_linear(encoding: Distributed, shape: tuple[int, ...]) -> LinearLayout:
    """The linear layout of a tensor of this shape in this encoding.

    `shape` is that of the whole cluster's tensor, powers of two. Raises nothing on a fitting rank.
    """
    if isinstance(encoding, Blocked):
        return _blocked(encoding, shape)
    if isinstance(encoding, Slice):
        dim = encoding.dim
        parent = to_linear(encoding.parent, (*shape[:dim], 1, *shape[dim:]))
        return drop_dim(parent, dim).without_broadcast_registers()
    if isinstance(encoding, NvidiaMma):
        return _nvidia_mma(encoding, shape)
    if isinstance(encoding, Linear):
        return _linear(encoding, shape)
    if isinstance(encoding, DotOperand):
        return _dot_operand(encoding, shape)
    from tritonlint.compiler.to_linear_amd import amd_to_linear

    return amd_to_linear(encoding, shape)


def _blocked(encoding: Blocked, shape: tuple[int, ...]) -> LinearLayout:
    dealer = Dealer(shape, encoding.cta_layout)
    dealer.deal_all(dealer.register, encoding.size_per_thread, encoding.order)
    dealer.deal_all(dealer.lane, encoding.threads_per_warp, encoding.order)
    dealer.deal_all(dealer.warp, encoding.warps_per_cta, encoding.order)
    return dealer.finish(encoding.order)


def _linear(encoding: Linear, shape: tuple[int, ...]) -> LinearLayout:
    from tritonlint.compiler.layout_properties import register_order

    layout = encoding.layout
    if layout.shape == shape:
        return layout
    return resize_dims(layout, shape, register_order(layout), keep_broadcast_registers=False)


def _deal_mma_tile(dealer: Dealer, rows: int, columns: int, k_width: int, order: Order) -> None:
    """The tile of mma.sync that accumulators and operands are made of: along the inner dimension `k_width`
    registers and 4 lanes, along the outer one 8 lanes and rows / 8 registers, then the rest of the inner one
    in registers."""
    inner, outer = order[0], order[1]
    dealer.deal(dealer.register, inner, k_width)
    dealer.deal(dealer.lane, inner, 4)
    dealer.deal(dealer.lane, outer, 8)
    dealer.deal(dealer.register, outer, max(1, rows // 8))
    dealer.deal(dealer.register, inner, max(1, columns // (k_width * 4)))


def _nvidia_mma(encoding: NvidiaMma, shape: tuple[int, ...]) -> LinearLayout:
    rank = len(shape)
    dealer = Dealer(shape, encoding.cta_layout)
    if encoding.version >= 3:
        rows, columns = encoding.instr_shape[0], encoding.instr_shape[1]
    else:
        rows, columns = encoding.instr_shape[-2], encoding.instr_shape[-1]
    order = matrix_order(rank, row_major=True)
    _deal_mma_tile(dealer, rows, columns, 2, order)
    warp_order = matrix_order(rank, row_major=encoding.version < 3)
    dealer.deal_all(dealer.warp, encoding.warps_per_cta, warp_order)
    return dealer.finish(order)


def _deal_warps_of_operand(
    dealer: Dealer, where: list[int], counts: tuple[int, ...], order: Order, k_dim: int
) -> None:
    """Threads of the result that lie along the result's other dimension hold copies of the operand."""
    for dim in order:
        if dim == k_dim:
            dealer.copies(where, counts[dim])
        else:
            dealer.deal(where, dim, counts[dim])


def _dot_operand(encoding: DotOperand, shape: tuple[int, ...]) -> LinearLayout:
    parent = encoding.parent
    rank = len(shape)
    k_dim = rank - 1 if encoding.op_idx == 0 else rank - 2
    if isinstance(parent, (AmdMfma, AmdWmma)):
        from tritonlint.compiler.to_linear_amd import amd_operand_to_linear

        return amd_operand_to_linear(encoding, shape)
    dealer = Dealer(shape, cta_of(encoding))
    if isinstance(parent, NvidiaMma):
        instr_rows = parent.instr_shape[0] if parent.version >= 3 else parent.instr_shape[-2]
        # The double-precision instruction (8 rows) has half of the usual depth.
        depth = encoding.k_width * (4 if instr_rows == 8 else 8)
        order = dot_operand_order(encoding.op_idx, rank, k_contiguous=True)
        _deal_mma_tile(dealer, instr_rows if encoding.op_idx == 0 else 8, depth, encoding.k_width, order)
        warp_order = matrix_order(rank, row_major=parent.version < 3)
        _deal_warps_of_operand(dealer, dealer.warp, parent.warps_per_cta, warp_order, k_dim)
        return dealer.finish(order)
    if isinstance(parent, Blocked):
        # Without a tensor core each thread holds the whole depth.
        per_thread = list(parent.size_per_thread)
        per_thread[k_dim] = shape[k_dim]
        dealer.deal_all(dealer.register, tuple(per_thread), parent.order)
        _deal_warps_of_operand(dealer, dealer.lane, parent.threads_per_warp, parent.order, k_dim)
        _deal_warps_of_operand(dealer, dealer.warp, parent.warps_per_cta, parent.order, k_dim)
        return dealer.finish(parent.order)
    # An operand of a linear or sliced result: no release lowers it; hold it as the parent does.
    return to_linear(parent, shape)
