"""What a program issues: bank conflicts, copies across the order of a tile, products that nobody waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonlint.compiler.bank_conflicts import shared_access
from tritonlint.compiler.encodings import Blocked, NvmmaShared, SwizzledShared
from tritonlint.compiler.instructions import Section
from tritonlint.estimate import Estimator, job_of

GEMM = """import triton
import triton.language as tl

@triton.jit
def gemm(a, b, c, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * sa + (i + k)[None, :])
        y = tl.load(b + (i + k)[:, None] * sb + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * sc + n[None, :], acc)
"""


def blocked(per_thread: int, lanes: tuple[int, int]) -> Blocked:
    return Blocked((1, per_thread), lanes, (4, 1), (1, 0))


def test_rows_of_a_swizzled_tile_have_no_conflicts() -> None:
    """16-byte accesses along the rows: four passes for a warp's 512 bytes."""
    shared = NvmmaShared(128, False, 16)
    assert shared_access(blocked(8, (4, 8)), (64, 64), shared, 16) == (4.0, 16.0)


@pytest.mark.parametrize(
    ("lanes", "width", "conflict"), [((8, 4), 64, 4), ((4, 8), 128, 8), ((2, 16), 256, 16)]
)
def test_across_the_order_lanes_meet_on_one_bank(lanes: tuple[int, int], width: int, conflict: int) -> None:
    """Bytes stored along the other dimension, one at a time; lanes 16 rows apart meet on one bank, whatever the
    swizzle, since it repeats every 8 rows. On an H200 such products are 3 to 8 times slower."""
    shared = NvmmaShared(64, True, 8)
    accesses, passes = shared_access(blocked(16, lanes), (64, width), shared, 8)
    assert accesses == 64 * width / 128
    assert passes == accesses * conflict


def test_unswizzled_columns_conflict() -> None:
    """Lanes one below the other in rows of 128 bytes: a pass for each, 16 bytes at a time."""
    plain = SwizzledShared(1, 1, 1, (1, 0))
    assert shared_access(Blocked((1, 1), (32, 1), (4, 1), (1, 0)), (128, 32), plain, 32) == (8.0, 256.0)


def sections(tmp_path: Path, of: str, out: str = "fp32", stages: int = 3) -> tuple[Section, ...]:
    path = tmp_path / "gemm.py"
    path.write_text(GEMM)
    types = {"a": f"*{of}", "b": f"*{of}", "c": f"*{out}"}
    job = {
        "file": str(path), "kernel": "gemm", "gpu": "h200", "triton": "3.6", "num_warps": 4, "num_stages": stages,
        "constants": {"BM": 64, "BN": 64, "BK": 64}, "types": {**types, **dict.fromkeys(("K", "sa", "sb", "sc"), "i32")},
    }  # fmt: skip
    estimate = Estimator().estimate(job_of(job))
    assert estimate.compiled is not None
    return estimate.compiled.sections


def test_a_pipelined_product(tmp_path: Path) -> None:
    """Both tiles come by asynchronous copies of 16 bytes; nothing in the turn needs the product."""
    _, loop = sections(tmp_path, "fp16")
    assert (loop.copies, loop.copied_bytes, loop.loads, loop.load_waits) == (8.0, 16384.0, 0, 0)
    (product,) = loop.products
    assert (product.kind, product.m, product.n, product.k, product.deferred) == ("wgmma", 64, 64, 64, True)


def test_without_stages_the_program_waits_for_loads(tmp_path: Path) -> None:
    """For each of them, since each goes through registers to shared memory."""
    _, loop = sections(tmp_path, "fp16", stages=1)
    assert (loop.copies, loop.loads, loop.load_waits) == (0, 8.0, 2)


def test_copies_across_the_order_are_narrow(tmp_path: Path) -> None:
    """tf32 operands must be contiguous along K: B comes element by element."""
    _, loop = sections(tmp_path, "fp32")
    assert loop.copies == 64 * 64 / 128 / 4 + 64 * 64 / 128
    assert loop.copy_passes > 2 * loop.copied_bytes / 128


@pytest.mark.parametrize(
    ("lanes", "width", "passes"), [((4, 8), 32, 8), ((2, 16), 64, 16), ((1, 32), 128, 16)]
)
def test_copies_of_words_go_by_half_warps(lanes: tuple[int, int], width: int, passes: int) -> None:
    """fp32 rows into a tile that wgmma reads along K: lanes beside each other meet on the chunks that the swizzle leaves.
    On an H200 products of 64 columns take the time of 16 passes a copy, as many as those of 128 columns; of 32, half."""
    shared = NvmmaShared(128, True, 32)
    accesses, counted = shared_access(blocked(4, lanes), (32, width), shared, 32, copied=True)
    assert counted == accesses * passes
