"""Linear layouts of AMD's matrix instructions: MFMA (CDNA, wave of 64) and WMMA (RDNA, wave of 32)."""

from __future__ import annotations

from tritonlint.compiler.encodings import AmdMfma, AmdWmma, Distributed, DotOperand, cta_of
from tritonlint.compiler.linear import LinearLayout
from tritonlint.compiler.to_linear import Dealer, dot_operand_order, matrix_order


def amd_to_linear(encoding: Distributed, shape: tuple[int, ...]) -> LinearLayout:
    """The layout of an accumulator."""
    if isinstance(encoding, AmdMfma):
        return _mfma(encoding, shape)
    assert isinstance(encoding, AmdWmma)
    return _wmma(encoding, shape)


def _ones(tiles: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return tiles or (1,) * rank


def _mfma(encoding: AmdMfma, shape: tuple[int, ...]) -> LinearLayout:
    rank = len(shape)
    m, n = rank - 2, rank - 1
    rows, columns = encoding.instr_shape[0], encoding.instr_shape[1]
    tiles = _ones(encoding.tiles_per_warp, rank)
    warps = encoding.warps_per_cta
    height = 1 if encoding.element_bits == 64 else 4
    repeats = (rows * columns) // (64 * height)
    # Each lane holds `height` neighbours along one dimension; lanes fill the other one first. A transposed
    # result swaps the two, so that it can be the operand of the next product.
    held, other, wide = (n, m, rows) if encoding.is_transposed else (m, n, columns)
    dealer = Dealer(shape, encoding.cta_layout)
    dealer.deal(dealer.register, held, height)
    dealer.deal(dealer.lane, other, wide)
    dealer.deal(dealer.lane, held, 64 // wide)
    dealer.deal(dealer.register, held, max(1, repeats))
    # The tiles of a warp follow along N over the whole tensor before they go on along M.
    dealer.deal(dealer.register, n, tiles[n])
    dealer.deal(dealer.warp, n, warps[n])
    dealer.deal(dealer.register, n, max(1, shape[n] // (columns * warps[n] * tiles[n])))
    dealer.deal(dealer.register, m, tiles[m])
    dealer.deal(dealer.warp, m, warps[m])
    if rank == 3:
        dealer.deal(dealer.warp, 0, warps[0])
    return dealer.finish(matrix_order(rank, row_major=True))


def _deal_wmma_tile(dealer: Dealer, encoding: AmdWmma, rank: int) -> None:
    across, down = (rank - 2, rank - 1) if encoding.is_transposed else (rank - 1, rank - 2)
    if encoding.version == 1:
        # Registers step over two rows: the lanes of the upper half hold the rows between.
        for bit in (1, 2, 3):
            dealer.place(dealer.register, down, bit)
        dealer.deal(dealer.lane, across, 16)
        dealer.place(dealer.lane, down, 0)
        dealer.skip(down, 16)
        return
    dealer.deal(dealer.register, down, 8)
    dealer.deal(dealer.lane, across, 16)
    dealer.deal(dealer.lane, down, 2)
    if encoding.instr_shape[:2] == (32, 16):
        dealer.deal(dealer.register, down, 2)


def _deal_wmma_warps(dealer: Dealer, encoding: AmdWmma, rank: int, k_dim: int | None) -> None:
    tiles = _ones(encoding.tiles_per_warp, rank)
    for dim in matrix_order(rank, row_major=True):
        if dim == k_dim:
            dealer.copies(dealer.warp, encoding.warps_per_cta[dim])
        else:
            dealer.deal(dealer.register, dim, tiles[dim])
            dealer.deal(dealer.warp, dim, encoding.warps_per_cta[dim])


def _wmma(encoding: AmdWmma, shape: tuple[int, ...]) -> LinearLayout:
    rank = len(shape)
    dealer = Dealer(shape, encoding.cta_layout)
    _deal_wmma_tile(dealer, encoding, rank)
    _deal_wmma_warps(dealer, encoding, rank, None)
    return dealer.finish(matrix_order(rank, row_major=True))


def amd_operand_to_linear(encoding: DotOperand, shape: tuple[int, ...]) -> LinearLayout:
    """The layout of operand A or B of a matrix instruction."""
    parent = encoding.parent
    rank = len(shape)
    k_dim, other = (rank - 1, rank - 2) if encoding.op_idx == 0 else (rank - 2, rank - 1)
    order = dot_operand_order(encoding.op_idx, rank, k_contiguous=True)
    dealer = Dealer(shape, cta_of(encoding))
    if isinstance(parent, AmdMfma):
        wide = parent.instr_shape[0 if encoding.op_idx == 0 else 1]
        tiles = _ones(parent.tiles_per_warp, rank)
        dealer.deal(dealer.register, k_dim, max(1, encoding.k_width))
        dealer.deal(dealer.lane, other, wide)
        dealer.deal(dealer.lane, k_dim, 64 // wide)
        depth = 64 // wide * max(1, encoding.k_width)
        # The 64-wide operand of a 4 x 64 instruction is repeated along K.
        if parent.instr_shape[:2] == ((64, 4) if encoding.op_idx == 0 else (4, 64)):
            dealer.deal(dealer.register, k_dim, 16)
            depth *= 16
        if shape[k_dim] > depth:
            dealer.deal(dealer.register, k_dim, shape[k_dim] // depth)
        dealer.deal(dealer.register, other, tiles[other])
        for dim in matrix_order(rank, row_major=True):
            if dim == k_dim:
                dealer.copies(dealer.warp, parent.warps_per_cta[dim])
            else:
                dealer.deal(dealer.warp, dim, parent.warps_per_cta[dim])
        return dealer.finish(order)
    assert isinstance(parent, AmdWmma)
    dealer.deal(dealer.register, k_dim, max(1, encoding.k_width))
    dealer.deal(dealer.lane, other, 16)
    if parent.version == 1:
        dealer.copies(dealer.lane, 2)
    else:
        dealer.deal(dealer.lane, k_dim, 2)
    # The first generation holds the whole depth in either half of the wave.
    repeats = parent.instr_shape[2] // (2 * max(1, encoding.k_width)) if len(parent.instr_shape) > 2 else 1
    dealer.deal(dealer.register, k_dim, max(1, repeats))
    if parent.instr_shape[:2] == (32, 16) and (encoding.op_idx == 0) != parent.is_transposed:
        dealer.deal(dealer.register, other, 2)
    _deal_wmma_warps(dealer, parent, rank, k_dim)
    return dealer.finish(order)
