"""Which thread holds which element when a tensor goes between registers and tensor memory (tcgen05.ld and
.st).

lib/Dialect/TritonNvidiaGPU/IR/Dialect.cpp and tensorMemoryToLinearLayout of LinearLayoutConversions.cpp:
tensor memory has 128 rows (lanes) and columns of 32 bits; four neighbouring warps read 32 rows each, more
warps share the columns.
"""

from __future__ import annotations

from functools import lru_cache

from tritonlint.compiler.encodings import CtaLayout, Linear, TensorMemory, shape_per_cta
from tritonlint.compiler.linear import LinearLayout, log2, pack

Shape = tuple[int, ...]
Basis = tuple[int, int]  # a step along the two dimensions of the tensor

_ZERO: Basis = (0, 0)


def _steps(size: int, dim: int, start: int = 1) -> list[Basis]:
    return [((start << bit), 0) if dim == 0 else (0, start << bit) for bit in range(log2(size))]


@lru_cache(maxsize=1024)
def memory_map(
    shape: Shape, encoding: TensorMemory, cta: CtaLayout | None = None
) -> tuple[list[Basis], list[Basis]]:
    """The steps that each bit of a row number and of a column number makes in the tensor of one CTA
    (`shape`)."""
    rows_total, columns_total = shape_per_cta(shape, cta)
    block_m = encoding.block_m
    block_n = min(encoding.block_n, columns_total)
    columns: list[Basis] = [_ZERO] * log2(encoding.col_stride)
    if encoding.fp4_padded:
        columns.append(_ZERO)
    columns += _steps(block_n, 1)
    m, n = block_m, block_n
    if block_m == 64 and not encoding.two_ctas:
        rows = _steps(16, 0)
        if rows_total > block_m:
            rows.append((64, 0))
            m = 128
        elif columns_total > block_n:
            rows.append((0, block_n))
            n = 2 * block_n
        else:
            rows.append(_ZERO)
        rows += [(16, 0), (32, 0)]
    else:
        rows = _steps(block_m, 0)
        if block_m == 64:
            rows.append(columns.pop())
    columns += _steps(rows_total // m, 0, m)
    columns += _steps(columns_total // n, 1, n)
    return rows, columns


def _distribute(
    rows: list[Basis], columns: list[Basis], warps: int, bits: int
) -> tuple[list[Basis], list[Basis], list[Basis]] | None:
    """Register, lane and warp steps for the 32x32b access."""
    if bits != 32:
        return _distribute_narrow(rows, columns, warps, bits)
    half_rows = rows[4] == _ZERO  # rows 16 to 31 hold nothing: those lanes read other columns
    lane = rows[:5]
    left = list(columns)
    to_tile = warps // 4
    tiled = min(1 << len(left), to_tile)
    broadcast = to_tile // tiled
    registers = left[: len(left) - log2(tiled)]
    of_warps = left[len(registers) :]
    if half_rows and registers:
        lane = [*lane[:4], registers.pop()]
    warp = [rows[5], rows[6], *of_warps, *([_ZERO] * log2(broadcast))]
    return registers, lane, warp


def _distribute_narrow(
    rows: list[Basis], columns: list[Basis], warps: int, bits: int
) -> tuple[list[Basis], list[Basis], list[Basis]] | None:
    """Elements of less than 32 bits: neighbours in a row are packed, or a column holds one of them."""
    packed = 0
    while packed < log2(32 // bits) and packed < len(columns) and columns[packed] == (0, 1 << packed):
        packed += 1

    def shrink(bases: list[Basis], by: int) -> list[Basis]:
        return [(a, b >> by) for a, b in bases]

    def grow(bases: list[Basis], by: int) -> list[Basis]:
        return [(a, b << by) for a, b in bases]

    if packed:
        inner = _distribute(shrink(rows, packed), shrink(columns[packed:], packed), warps, bits << packed)
        if inner is None:
            return None
        registers, lane, warp = (grow(bases, packed) for bases in inner)
        return [(0, 1 << bit) for bit in range(packed)] + registers, lane, warp
    padding = log2(32 // bits)
    if columns[:padding] == [_ZERO] * padding:
        if bits == 16 and columns[padding : padding + 1] == [(0, 1)]:
            inner = _distribute(shrink(rows, 1), shrink(columns[padding + 1 :], 1), warps, 32)
            if inner is None:
                return None
            registers, lane, warp = (grow(bases, 1) for bases in inner)
            return [(0, 1), *registers], lane, warp
        return _distribute(rows, columns[padding:], warps, 32)
    if not columns:
        return _distribute(rows, columns, warps, 32)
    return None


def _linear(
    shape: Shape, registers: list[Basis], lane: list[Basis], warp: list[Basis], cta: CtaLayout | None
) -> Linear:
    part = shape_per_cta(shape, cta)
    block: list[tuple[int, ...]] = []
    if cta is not None:
        block = [tuple(b * p for b, p in zip(basis, part, strict=True)) for basis in cta.bases]
    layout = LinearLayout(
        shape,
        tuple(pack(b, shape) for b in registers),
        tuple(pack(b, shape) for b in lane),
        tuple(pack(b, shape) for b in warp),
        tuple(pack(b, shape) for b in block),
    )
    return Linear(layout)


@lru_cache(maxsize=1024)
def default_layout(
    shape: Shape, encoding: TensorMemory, bits: int, warps: int, cta: CtaLayout | None = None
) -> Linear | None:
    """The encoding in registers of a load from tensor memory (getDefaultLayoutForTmemLdSt)."""
    rows, columns = memory_map(shape, encoding, cta)
    parts = _distribute(rows, columns, warps, bits)
    return None if parts is None else _linear(shape, *parts, cta)


@lru_cache(maxsize=1024)
def row_layout(
    shape: Shape, encoding: TensorMemory, bits: int, warps: int, cta: CtaLayout | None = None
) -> Linear | None:
    """With 8 warps: as the default, each row inside one warp, where that can be had by exchanging a lane and
    a warp (getTmemLoadLayoutSplitLongM)."""
    if warps != 8:
        return None
    rows, columns = memory_map(shape, encoding, cta)
    parts = _distribute(rows, columns, warps, bits)
    if parts is None:
        return None
    registers, lane, warp = parts
    for dim in (0, 1):
        first, second, third = (basis[dim] == 0 for basis in warp[:3])
        last_lane = lane[4][dim] == 0
        if last_lane != third and first == second == last_lane:
            lane, warp = [*lane[:4], warp[2]], [warp[0], warp[1], lane[4], *warp[3:]]
            return _linear(shape, registers, lane, warp, cta)
    return None
