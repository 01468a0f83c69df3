"""FLOPs and bytes of a launch, counted on the trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.samples import ADD, GEMM, HEAD, kernel
from tritonlint.arguments import arguments_of
from tritonlint.compiler.target import Target
from tritonlint.gpu.profile import find_gpu
from tritonlint.kernel.trace import trace
from tritonlint.model.waves import waves
from tritonlint.source.values import Known
from tritonlint.work import LaunchWork, measure

GEMM_TILES = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8}


def work(
    source: str,
    name: str,
    constants: Mapping[str, Any],
    grid: tuple[int, ...],
    values: Mapping[str, int] | None = None,
    types: Mapping[str, str] | None = None,
    sample: int | None = None,
) -> LaunchWork:
    target = Target("sm_86")
    arguments = arguments_of(
        kernel(source, name),
        constants=constants,
        types=types or {},
        values={key: Known(value) for key, value in (values or {}).items()},
        defaults={},
    )
    traced = trace(
        kernel(source, name),
        arguments.specs,
        {**constants, **arguments.constants},
        target=target,
        release=(3, 9),
    )
    assert traced.complete, traced.gaps
    found = measure(traced, grid, arguments.values, tensor_cores=False, sample=sample)
    assert found is not None
    return found


def test_a_large_product() -> None:
    """4096^3 in tiles of 128x128: 2 M N K FLOPs, each matrix once, and every program its own strips."""
    found = work(GEMM, "gemm", GEMM_TILES, (1024,), {"M": 4096, "N": 4096, "K": 4096})
    assert found.flops == 137_438_953_472
    assert found.bytes_min == 100_663_296
    assert found.bytes_tiled == 2_181_038_080
    assert found.operand == "fp16"


def test_the_l2_lies_between_the_least_and_the_most() -> None:
    found = work(GEMM, "gemm", GEMM_TILES, (1024,), {"M": 4096, "N": 4096, "K": 4096})
    small, large = find_gpu("rtx3070"), find_gpu("h200")
    by_gpu = [found.dram_bytes(gpu, waves(1024, gpu.multiprocessors or 1, 1)) for gpu in (small, large)]
    assert by_gpu[0] is not None and by_gpu[1] is not None
    assert (found.bytes_tiled or 0) > by_gpu[0] > by_gpu[1] >= (found.bytes_min or 0)


def test_grouped_programs_share_more() -> None:
    sizes = {"M": 8192, "N": 8192, "K": 8192}
    plain = work(GEMM, "gemm", {**GEMM_TILES, "GROUP_M": 1}, (4096,), sizes)
    grouped = work(GEMM, "gemm", GEMM_TILES, (4096,), sizes)
    gpu = find_gpu("rtx3070")
    wave = waves(4096, 46, 1)
    assert (grouped.dram_bytes(gpu, wave) or 0) < (plain.dram_bytes(gpu, wave) or 0)


def test_an_elementwise_kernel_moves_everything_once() -> None:
    types = dict.fromkeys(("x_ptr", "y_ptr", "out_ptr"), "*fp16")
    found = work(ADD, "add", {"BLOCK": 1024}, (16384,), {"n": 1 << 24}, types)
    assert found.flops == 1 << 24
    assert found.bytes_min == found.bytes_tiled == 3 * 2 * (1 << 24)
    assert found.operand is None


def test_more_programs_than_are_gone_through_one_by_one() -> None:
    found = work(ADD, "add", {"BLOCK": 64}, (1 << 20,), {"n": 1 << 26})
    assert found.bytes_min == found.bytes_tiled == 3 * 4 * (1 << 26)


def test_unknown_strides_still_tell_tiles_apart() -> None:
    """The strides are unknown, and yet rows of A are shared by all programs of a tile row."""
    found = work(GEMM, "gemm", GEMM_TILES, (64,), {"M": 1024, "N": 1024, "K": 512})
    assert found.bytes_min == 3 * 1024 * 1024 * 2 - 2 * 1024 * 512 * 2


def test_an_unknown_trip_count_leaves_the_work_unknown() -> None:
    found = work(GEMM, "gemm", GEMM_TILES, (64,), {"M": 1024, "N": 1024})
    assert found.flops is None and found.bytes_min is None and found.bytes_tiled is None
    assert any("how often the loop runs" in step for step in found.steps)


def test_data_that_decides_leaves_the_work_unknown() -> None:
    source = HEAD + (
        "@triton.jit\ndef k(x, y, B: tl.constexpr):\n"
        "    o = tl.arange(0, B)\n    n = tl.load(x)\n"
        "    if n > 0:\n        tl.store(y + o, o)\n"
    )
    found = work(source, "k", {"B": 64}, (4,), types={"x": "*i32", "y": "*i32"})
    assert found.flops is None


def test_programs_that_loop_differently_are_summed() -> None:
    """Program p goes round p times."""
    source = HEAD + (
        "@triton.jit\ndef k(x, y, B: tl.constexpr):\n"
        "    o = tl.arange(0, B)\n"
        "    for i in range(0, tl.program_id(0)):\n        tl.store(y + i * B + o, 1.0)\n"
    )
    found = work(source, "k", {"B": 64}, (5,), types={"y": "*fp32", "x": "i32"})
    assert found.bytes_tiled == (0 + 1 + 2 + 3 + 4) * 64 * 4
    assert found.bytes_min == 4 * 64 * 4  # the longest run holds the others


@pytest.mark.parametrize("grid", [(0,), (0, 4)])
def test_an_empty_grid_has_no_work(grid: tuple[int, ...]) -> None:
    target = Target("sm_86")
    arguments = arguments_of(kernel(ADD, "add"), constants={"BLOCK": 64}, types={}, values={}, defaults={})
    traced = trace(kernel(ADD, "add"), arguments.specs, {"BLOCK": 64}, target=target, release=(3, 9))
    assert measure(traced, grid, {}, tensor_cores=False) is None


def test_a_sample_stands_for_all() -> None:
    """The first programs, as many times over: quick, and the same where all are alike."""
    source = HEAD + (
        "@triton.jit\ndef k(x, y, B: tl.constexpr):\n"
        "    o = tl.program_id(0) * B + tl.arange(0, B)\n    tl.store(y + o, tl.load(x + o))\n"
    )
    whole = work(source, "k", {"B": 64}, (4096,), types={"x": "*fp32", "y": "*fp32"})
    part = work(source, "k", {"B": 64}, (4096,), types={"x": "*fp32", "y": "*fp32"}, sample=128)
    assert (part.bytes_tiled, part.bytes_min, part.counted) == (whole.bytes_tiled, whole.bytes_min, 128)


LOSS = (
    HEAD
    + """
@triton.jit
def loss(x, labels, out, n, BLOCK: tl.constexpr, ALL: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels + row)
    if ALL:
        label = label + tl.arange(0, BLOCK)
    columns = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + row * n + columns, mask=columns < n))
    picked = tl.sum(tl.load(x + row * n + label), 0) if ALL else tl.load(x + row * n + label)
    tl.store(out + row, total - picked)
"""
)


@pytest.mark.parametrize("whole", [False, True])
def test_little_that_only_the_data_place_is_counted_each_time(whole: bool) -> None:
    """4 bytes beside a row of 4 KiB are; a second row of unknown place may be the first one, or not."""
    types = {"x": "*fp32", "labels": "*i32", "out": "*fp32"}
    found = work(LOSS, "loss", {"BLOCK": 1024, "ALL": whole}, (64,), {"n": 1024}, types)
    assert found.bytes_tiled == 64 * (2 * 4096 + 8 if whole else 4096 + 12)
    assert found.bytes_min == (None if whole else 64 * (4096 + 12))
    a100 = find_gpu("a100")
    assert a100 is not None
    assert found.dram_bytes(a100, waves(64, 108, 1)) == found.bytes_min
    said = [step for step in found.steps if "only the data tell" in step or "begin" in step]
    kind = "not counted: line 15: where the tiles begin" if whole else "counted each time: 256"
    assert len(said) == 1 and kind in said[0]


def _rows(body: str) -> str:
    return HEAD + f"@triton.jit\ndef k(x, y, n, low, B: tl.constexpr):\n    row = tl.program_id(0)\n{body}"


ONE_ROW = (
    "    o = tl.arange(0, B)\n    i = {mask}\n"
    "    tl.store(y + row * n + o, tl.load(x + row * n + o, mask=i), mask=i)\n"
)


@pytest.mark.parametrize(
    ("mask", "passed"),
    [
        ("o < n", 1100),
        ("n > o", 1100),
        ("o <= n", 1101),
        ("(o >= low) & (o < n)", 800),
        ("(o < n) & (o < low) & (o < n)", 300),
        ("(row < 4) & (o < row * 512)", (512 + 1024 + 1536) / 8),
        ("2 * o < n", 550),
        ("o * 2 + 1 >= n", 2048 - 550),
        ("row < 4", 1024),  # four programs of eight
        ("(o % 2 == 0) | (o < n)", 2048),  # not seen
        ("(o % 1000) < n", 2048),
    ],
)
def test_what_a_mask_cuts_off_is_not_moved(mask: str, passed: float) -> None:
    source = _rows(ONE_ROW.format(mask=mask))
    types = {"x": "*fp32", "y": "*fp32"}
    found = work(source, "k", {"B": 2048}, (8,), {"n": 1100, "low": 300}, types)
    assert [access.share for access in found.accesses] == pytest.approx([passed / 2048] * 2)
    assert found.bytes_min == pytest.approx(2 * 8 * 4 * passed, abs=8)
    assert found.bytes_tiled == pytest.approx(2 * 8 * 4 * passed, abs=8)


@pytest.mark.parametrize("moved", ["o = start + tl.arange(0, B)", "o = tl.arange(0, B) + start"])
def test_the_last_round_of_a_loop_is_cut_off(moved: str) -> None:
    body = f"    for start in range(0, n, B):\n        {moved}\n        tl.store(y + row * n + o, 1.0, mask=o < n)\n"
    found = work(_rows(body), "k", {"B": 512}, (8,), {"n": 1100}, {"x": "*fp32", "y": "*fp32"})
    assert found.bytes_min == found.bytes_tiled == 8 * 1100 * 4


def test_offsets_that_a_loop_carries_are_cut_off_too() -> None:
    body = (
        "    o = tl.arange(0, B)\n    for _ in range(0, tl.cdiv(n, B)):\n"
        "        tl.store(y + row * n + o, 1.0, mask=o < n)\n        o += B\n"
    )
    found = work(_rows(body), "k", {"B": 512}, (8,), {"n": 1100}, {"x": "*fp32", "y": "*fp32"})
    assert found.bytes_tiled == 8 * 1100 * 4


def test_offsets_that_grow_otherwise_after_a_round_are_cut_in_the_first_alone() -> None:
    body = (
        "    o = tl.arange(0, B)\n    for _ in range(0, 4):\n"
        "        tl.store(y + row * n + o, 1.0, mask=o < n)\n        o = o * 2\n"
    )
    found = work(_rows(body), "k", {"B": 512}, (8,), {"n": 300}, {"x": "*fp32", "y": "*fp32"})
    assert found.bytes_tiled == 8 * 4 * (300 + 3 * 512)


def test_edges_of_a_product() -> None:
    """Rows and columns of C past its end are not written, the rest of K is not read."""
    sizes = {"M": 1000, "N": 520, "K": 1000}
    found = work(GEMM, "gemm", GEMM_TILES, (40,), sizes)
    stored = next(access for access in found.accesses if access.store)
    loaded = next(access for access in found.accesses if not access.store)
    assert stored.share == pytest.approx(1000 / 1024 * 520 / 640)
    assert loaded.share == pytest.approx(1000 / 1024)
    assert found.flops == 40 * 16 * 2 * 128 * 128 * 64  # tiles are whole


TWICE = """\
    s = tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        s += tl.load(x + row * n + start + tl.arange(0, B))
    t = tl.sum(s)
    for start in range(0, n, B):
        o = row * n + start + tl.arange(0, B)
        tl.store(y + o, tl.load(x + o) - t)
"""


def test_rows_read_twice_come_twice_where_a_wave_of_them_does_not_fit_the_cache() -> None:
    """A wave of 108 rows of 64 KiB fits the 40 MiB of an a100 beside what it writes, one of 16 times as many does not."""
    a100 = find_gpu("a100")
    found = work(_rows(TWICE), "k", {"B": 1024}, (3456,), {"n": 16384}, {"x": "*fp32", "y": "*fp32"})
    rows = 3456 * 16384 * 4
    few, many = (found.dram_bytes(a100, waves(3456, 108, ctas)) for ctas in (1, 16))
    assert few == found.bytes_min == 2 * rows
    assert many is not None and 2.5 * rows < many <= 3 * rows


def test_a_persistent_copy_moves_everything_once() -> None:
    """A program goes from tile to tile over rows of tiles; the whole matrix is read and written."""
    body = """\
    columns = tl.cdiv(n, B)
    for t in range(row, tl.cdiv(low, B) * columns, 12):
        r = t // columns * B + tl.arange(0, B)
        c = t % columns * B + tl.arange(0, B)
        inside = (r[:, None] < low) & (c[None, :] < n)
        at = r[:, None] * n + c[None, :]
        tl.store(y + at, tl.load(x + at, mask=inside), mask=inside)
"""
    types = {"x": "*fp32", "y": "*fp32"}
    whole = work(_rows(body), "k", {"B": 64}, (12,), {"n": 1024, "low": 2048}, types)
    assert whole.bytes_tiled == 2 * 4 * 1024 * 2048
    cut = work(_rows(body), "k", {"B": 64}, (12,), {"n": 1000, "low": 2048}, types)
    assert cut.bytes_tiled == pytest.approx(2 * 4 * 1000 * 2048, rel=0.03)


@pytest.mark.parametrize(("condition", "times"), [("i == 0", 1), ("i > 0", 7), ("i >= 0", 8)])
def test_what_a_branch_does_in_some_rounds_is_counted_for_them(condition: str, times: int) -> None:
    body = (
        "    o = row * 8 * B + tl.arange(0, B)\n    for i in range(8):\n"
        f"        if {condition}:\n            tl.store(x + o + i * B, 1.0)\n"
        "        tl.store(y + o + i * B, 2.0)\n"
    )
    found = work(_rows(body), "k", {"B": 64}, (4,), {"n": 8}, {"x": "*fp32", "y": "*fp32"})
    assert found.bytes_tiled == 4 * 64 * 4 * (times + 8)


def test_a_loop_whose_length_hangs_on_the_one_around_is_not_counted() -> None:
    body = (
        "    for i in range(8):\n        for j in range(i + 1):\n"
        "            tl.store(y + (row * 8 + j) * B + tl.arange(0, B), 2.0)\n"
    )
    found = work(_rows(body), "k", {"B": 64}, (4,), {"n": 8}, {"x": "*fp32", "y": "*fp32"})
    assert found.bytes_tiled is None and found.flops is None
    assert any("from round to round" in step for step in found.steps)


@pytest.mark.parametrize("outer", ["range(0, 5)", "range(4, -1, -1)", "range(5, -1, -1)"])
def test_tiles_past_the_end_in_some_rounds_of_the_outer_loop(outer: str) -> None:
    body = (
        f"    for i in {outer}:\n        for j in range(0, 4):\n"
        "            r = i * B + tl.arange(0, B)\n            c = j * B + tl.arange(0, B)\n"
        "            inside = (r[:, None] < low) & (c[None, :] < n)\n"
        "            tl.store(y + r[:, None] * n + c[None, :], 1.0, mask=inside)\n"
    )
    found = work(_rows(body), "k", {"B": 16}, (1,), {"n": 50, "low": 40}, {"x": "*fp32", "y": "*fp32"})
    assert found.bytes_tiled == 40 * 50 * 4
