"""Scratch of reductions and scans of freshly loaded tiles, measured with all releases (4 warps, sm_80)."""

from __future__ import annotations

import pytest

from tritonlint.compiler.blocked import blocked
from tritonlint.compiler.encodings import Blocked
from tritonlint.compiler.releases import release
from tritonlint.compiler.scratch import histogram_scratch, reduce_scratch, scan_scratch
from tritonlint.compiler.target import Target

SM80 = Target("sm_80")


def _loaded(shape: tuple[int, ...], warps: int = 4) -> Blocked:
    rank = len(shape)
    sizes = (1,) * (rank - 1) + (4,)
    return blocked(shape, sizes, tuple(reversed(range(rank))), warps, 32)


@pytest.mark.parametrize(
    ("version", "four", "eight"), [((2, 1), 512, 1024), ((2, 2), 16, 32), ((3, 9), 16, 32)]
)
def test_row_sum(version: tuple[int, int], four: int, eight: int) -> None:
    for warps, wanted in ((4, four), (8, eight)):
        encoding = _loaded((1024,), warps)
        assert reduce_scratch(encoding, (1024,), 0, ("fp32",), SM80, release(*version)) == wanted


@pytest.mark.parametrize(("version", "wanted"), [((2, 1), 1024), ((2, 2), 512), ((3, 7), 512), ((3, 8), 256)])
def test_argmax_of_rows(version: tuple[int, int], wanted: int) -> None:
    encoding = _loaded((16, 1024))
    assert reduce_scratch(encoding, (16, 1024), 1, ("fp32", "i32"), SM80, release(*version)) == wanted


@pytest.mark.parametrize(("version", "wanted"), [((2, 1), 2048), ((2, 2), 512), ((3, 9), 512)])
def test_sum_of_columns(version: tuple[int, int], wanted: int) -> None:
    assert reduce_scratch(_loaded((128, 32)), (128, 32), 0, ("fp32",), SM80, release(*version)) == wanted


@pytest.mark.parametrize("version", [(2, 1), (2, 2), (3, 2), (3, 9)])
def test_cumulative_sums(version: tuple[int, int]) -> None:
    shape = (32, 256)
    assert scan_scratch(_loaded(shape), shape, 0, ("fp32",), release(*version)) == 32768
    assert scan_scratch(_loaded(shape), shape, 1, ("fp32",), release(*version)) == 256


def test_histogram_has_a_bin_for_each_lane() -> None:
    assert histogram_scratch(128, "i32", SM80) == 512
    assert histogram_scratch(16, "i32", SM80) == 128
    assert histogram_scratch(16, "i32", Target("gfx942")) == 256
