"""Bytes from memory when programs share tiles through the L2 cache.

The mechanism. Programs that run at the same time walk along K together, so a row panel of A or a column
panel of B that several of them need comes from memory once. A wave of P programs with consecutive numbers
covers R tile rows and C tile columns, and moves R panels of A and C panels of B instead of P of each.
Grouped ordering (GROUP_SIZE_M rows before the next column) makes the covered rectangle nearly square, which
makes R + C small.

From one wave to the next a panel stays only if everything touched in between fits the cache. So there are
three cases: the row panels of a group and all of B fit (everything comes once); the panels of one wave fit
(A comes once, B once per band of rows); or each wave fetches its panels anew.

The cache is taken as one pool with least-recently-used replacement. On AMD that is the Infinity Cache,
since an L2 belongs to one die only.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritonlint.gpu.profile import GpuProfile


@dataclass(frozen=True, slots=True)
class TileOrder:
    """How program numbers run over a grid of `rows` x `columns` tiles: down `group` rows, then to the next
    column, and on to the next band of rows. 1 is row by row, `rows` is column by column."""

    rows: int
    columns: int
    group: int = 1

    @property
    def band(self) -> int:
        """Rows that a band really has."""
        return max(1, min(self.group, self.rows))

    def covered(self, programs: int) -> tuple[int, int]:
        """(rows, columns) of tiles that consecutive programs cover, from the start of a band."""
        band = self.band
        in_band = band * self.columns
        if programs >= in_band:
            return min(self.rows, band * -(-programs // in_band)), self.columns
        return min(band, programs), min(self.columns, -(-programs // band))


@dataclass(frozen=True, slots=True)
class DramTraffic:
    bytes_dram: int
    steps: tuple[str, ...]


def cache_bytes(gpu: GpuProfile) -> int | None:
    """The cache in front of memory that all multiprocessors share."""
    return gpu.last_level_cache_bytes or gpu.l2_bytes


def gemm_dram_bytes(
    order: TileOrder,
    *,
    row_panel_bytes: int,
    column_panel_bytes: int,
    output_bytes: int,
    concurrent: int,
    l2_bytes: int | None,
) -> DramTraffic:
    """Bytes from and to memory of a product: one row panel is tile_m x K of A, one column panel K x tile_n
    of B.

    `concurrent` programs run at a time. `l2_bytes` None: no reuse between waves is counted, only inside a
    wave.
    """
    tiles = order.rows * order.columns
    at_a_time = max(1, min(concurrent, tiles))
    rows, columns = order.covered(at_a_time)
    a_once, b_once = order.rows * row_panel_bytes, order.columns * column_panel_bytes
    wave = rows * row_panel_bytes + columns * column_panel_bytes
    cache = l2_bytes or 0
    all_b = order.band * row_panel_bytes + b_once
    if all_b <= cache:
        inputs = a_once + b_once
        how = f"a band of A and all of B, {all_b:,} B, fit the L2: each comes once"
    elif wave <= cache:
        bands = -(-order.rows // rows)
        inputs = a_once + bands * b_once
        how = f"the panels of a wave, {wave:,} B, fit the L2: A comes once, B {bands} times"
    else:
        full, rest = divmod(tiles, at_a_time)
        inputs = full * wave
        if rest:
            last_rows, last_columns = order.covered(rest)
            inputs += last_rows * row_panel_bytes + last_columns * column_panel_bytes
        how = f"each of {full + bool(rest)} waves fetches {rows} row and {columns} column panels, {wave:,} B"
    # A launch reads each matrix at least once, and no program reads more than its own panels.
    inputs = min(max(inputs, a_once + b_once), tiles * (row_panel_bytes + column_panel_bytes))
    total = inputs + output_bytes
    return DramTraffic(total, (f"L2: {how}; with the output {total:,} B from memory",))
