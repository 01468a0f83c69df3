"""Bytes from memory with reuse through the L2."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tritonlint.gpu.profile import find_gpu
from tritonlint.model.l2 import TileOrder, cache_bytes, gemm_dram_bytes
from tritonlint.model.roofline import gemm_work

PANEL = 128 * 4096 * 2  # of a 128-wide tile, K = 4096, fp16


def test_covered_rectangles() -> None:
    """64 programs: one row after the other, in groups of 8 rows, or by columns of 32."""
    assert TileOrder(32, 32, 1).covered(64) == (2, 32)
    assert TileOrder(32, 32, 8).covered(64) == (8, 8)
    assert TileOrder(32, 32, 8).covered(46) == (8, 6)
    assert TileOrder(32, 32, 32).covered(64) == (32, 2)
    assert TileOrder(32, 32, 99).covered(64) == (32, 2)
    assert TileOrder(32, 32, 8).covered(5) == (5, 1)
    assert TileOrder(32, 32, 8).covered(10_000) == (32, 32)


def dram(group: int, concurrent: int, l2_bytes: int | None) -> int:
    return gemm_dram_bytes(
        TileOrder(32, 32, group),
        row_panel_bytes=PANEL,
        column_panel_bytes=PANEL,
        output_bytes=4096 * 4096 * 2,
        concurrent=concurrent,
        l2_bytes=l2_bytes,
    ).bytes_dram


def test_grouping_saves_bytes() -> None:
    """With an L2 too small to keep panels from wave to wave, a squarer wave moves less."""
    assert dram(8, 46, 2**22) < dram(1, 46, 2**22) < gemm_work(4096, 4096, 4096, 128, 128).bytes_tiled


def test_each_wave_fetches_its_panels() -> None:
    """22 waves of 8 + 6 panels and one of 8 + 2, on an RTX 3070."""
    assert dram(8, 46, 2**22) == (22 * 14 + 8 + 2) * PANEL + 4096 * 4096 * 2


def test_a_cache_that_holds_everything() -> None:
    """Each matrix once."""
    assert dram(8, 132, 2**30) == gemm_work(4096, 4096, 4096, 128, 128).bytes_min


def test_one_program_at_a_time_without_a_cache_reads_all_tiles() -> None:
    """The tiled bytes."""
    assert dram(8, 1, None) == gemm_work(4096, 4096, 4096, 128, 128).bytes_tiled


def test_which_cache() -> None:
    """AMD's L2 belongs to one die; all share the Infinity Cache."""
    assert cache_bytes(find_gpu("mi300x")) == 256 * 2**20
    assert cache_bytes(find_gpu("h100")) == 50 * 2**20
    assert cache_bytes(find_gpu("sm_90")) is None


@given(
    st.integers(1, 200), st.integers(1, 200), st.integers(1, 64), st.integers(0, 2000), st.integers(1, 10**6),
    st.integers(1, 10**6), st.integers(0, 10**9),
)  # fmt: skip
def test_between_once_and_every_tile(
    rows: int, columns: int, group: int, concurrent: int, row_panel: int, column_panel: int, l2_bytes: int
) -> None:
    """Never fewer bytes than each matrix once, never more than every program's own panels."""
    found = gemm_dram_bytes(
        TileOrder(rows, columns, group),
        row_panel_bytes=row_panel,
        column_panel_bytes=column_panel,
        output_bytes=0,
        concurrent=concurrent,
        l2_bytes=l2_bytes,
    ).bytes_dram
    assert rows * row_panel + columns * column_panel <= found <= rows * columns * (row_panel + column_panel)
