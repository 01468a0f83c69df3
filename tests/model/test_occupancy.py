"""Programs per multiprocessor."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonlint.gpu.names import PROFILES, TARGETS
from tritonlint.gpu.profile import find_gpu
from tritonlint.model.occupancy import (
    least,
    next_cta,
    occupancy,
    registers_for_ctas,
    shared_bytes_for_ctas,
    waves_per_simd,
)

DATA = Path(__file__).parents[1] / "data"
EVERY = st.sampled_from([*PROFILES, *TARGETS])


def test_every_launch_of_a_real_h200() -> None:
    """What the driver's occupancy calculator answered for 334 launches."""
    gpu = find_gpu("h200")
    rows = list(csv.DictReader((DATA / "h200_occupancy.csv").open()))
    assert len(rows) == 334
    for row in rows:
        found = occupancy(
            gpu,
            warps=int(row["warps"]),
            shared_bytes=int(row["shared_bytes"]),
            registers=int(row["registers"]),
        )
        assert found.ctas_per_sm == int(row["ctas_per_sm"]), row


def test_limits_and_limiter() -> None:
    """One of each, on an H100: 128 registers in 8 warps fill a multiprocessor twice."""
    found = occupancy(find_gpu("h100"), warps=8, shared_bytes=98_304, registers=128)
    assert found.limits == {
        "threads": 8, "registers": 2, "shared memory": 2, "blocks": 32, "tensor memory": None,
    }  # fmt: skip
    assert (found.ctas_per_sm, found.limiter, found.occupancy) == (2, "registers", 0.25)
    assert found.steps[-1].startswith("limiter: registers, 2 CTAs/SM, occupancy 16 of 64 warps = 25.0%")


def test_registers_are_given_inside_sub_partitions() -> None:
    """168 registers: 12 warps fit, not the 12.19 of plain division; 3 programs of 4 warps."""
    assert occupancy(find_gpu("h100"), warps=4, shared_bytes=0, registers=168).limits["registers"] == 3
    # 65536 / 7168 = 9.1 warps, but 2 in each of 4 sub-partitions.
    assert occupancy(find_gpu("h100"), warps=1, shared_bytes=0, registers=224).limits["registers"] == 8


def test_the_reserved_kilobyte_counts() -> None:
    """100 KB hold two programs of 49 KB, not two of 50 KB, on sm_86; Turing reserves nothing."""
    shared = find_gpu("sm_86")
    assert occupancy(shared, warps=4, shared_bytes=49 * 1024, registers=32).limits["shared memory"] == 2
    assert occupancy(shared, warps=4, shared_bytes=50 * 1024, registers=32).limits["shared memory"] == 1
    assert occupancy(find_gpu("t4"), warps=4, shared_bytes=32768, registers=32).limits["shared memory"] == 2


@pytest.mark.parametrize(
    ("warps", "shared_bytes", "registers", "limiter"),
    [(64, 0, 32, "threads"), (4, 232_449, 32, "shared memory"), (4, 0, 300, "registers")],
)
def test_what_cannot_run_has_no_program(warps: int, shared_bytes: int, registers: int, limiter: str) -> None:
    """Too many threads, too much shared memory, too many registers."""
    found = occupancy(find_gpu("h100"), warps=warps, shared_bytes=shared_bytes, registers=registers)
    assert (found.ctas_per_sm, found.occupancy) == (0, 0.0)
    assert found.limits[limiter] == 0


def test_tensor_memory() -> None:
    """512 columns on sm_100; a program that takes none is not limited, one that takes more does not run."""
    gpu = find_gpu("b200")
    launch = {"warps": 4, "shared_bytes": 1024, "registers": 64}
    assert occupancy(gpu, **launch, tensor_memory_columns=256).limits["tensor memory"] == 2
    assert occupancy(gpu, **launch, tensor_memory_columns=512).limiter == "tensor memory"
    assert occupancy(gpu, **launch).limits["tensor memory"] is None
    assert occupancy(gpu, **launch, tensor_memory_columns=1024).ctas_per_sm == 0


def test_unknown_registers_set_no_limit() -> None:
    """The limiter is then the least of what is known."""
    found = occupancy(find_gpu("h100"), warps=4, shared_bytes=98_304, registers=None)
    assert (found.limits["registers"], found.limiter) == (None, "shared memory")


def test_ties_go_to_the_first_name() -> None:
    """In the alphabet, whatever the order of the limits."""
    assert least({"threads": 2, "shared memory": 2, "registers": 2}) == (2, "registers")
    assert least({"registers": None, "blocks": None}) == (0, "blocks")


@pytest.mark.parametrize(
    ("arch", "registers", "waves"),
    [
        ("gfx90a", 1, 8), ("gfx90a", 64, 8), ("gfx90a", 65, 7), ("gfx90a", 128, 4), ("gfx90a", 129, 3),
        ("gfx942", 256, 2), ("gfx942", 257, 1), ("gfx942", 512, 1), ("gfx950", 168, 3),
        ("gfx1100", 96, 16), ("gfx1100", 97, 12), ("gfx1100", 256, 5), ("gfx1201", 168, 9),
        ("gfx1102", 116, 8), ("gfx1102", 256, 4),
        ("gfx1250", 20, 16), ("gfx1250", 68, 12), ("gfx1250", 261, 3), ("gfx1250", 521, 1),
    ],
)  # fmt: skip
def test_amd_waves(arch: str, registers: int, waves: int) -> None:
    """Waves of a SIMD as LLVM's Occupancy line has them."""
    assert waves_per_simd(find_gpu(arch), registers) == waves


def test_amd_waves_of_compiled_kernels() -> None:
    """What LLVM printed for kernels that Triton 3.2 to 3.9 compiled."""
    rows = list(csv.DictReader((DATA / "amd_occupancy.csv").open()))
    assert len(rows) > 50
    for row in rows:
        assert waves_per_simd(find_gpu(row["arch"]), int(row["registers"])) == int(row["waves"]), row


def test_amd_workgroups() -> None:
    """MI300X: 4 waves of 128 registers fit four times, LDS of 32 KB twice; one wave needs no barrier."""
    gpu = find_gpu("mi300x")
    found = occupancy(gpu, warps=4, shared_bytes=32768, registers=128)
    assert (found.limits["registers"], found.limits["shared memory"]) == (4, 2)
    assert (found.ctas_per_sm, found.limiter) == (2, "shared memory")
    assert occupancy(gpu, warps=2, shared_bytes=0, registers=16).limiter == "blocks"
    assert occupancy(gpu, warps=1, shared_bytes=0, registers=16).ctas_per_sm == 32
    assert occupancy(gpu, warps=32, shared_bytes=0, registers=16).ctas_per_sm == 0  # 2,048 threads
    assert occupancy(gpu, warps=4, shared_bytes=65_537, registers=16).limits["shared memory"] == 0


def test_rdna_workgroup_may_take_half_of_the_lds() -> None:
    """A workgroup processor has 128 KB, one workgroup at most 64 KB."""
    gpu = find_gpu("rx7900xtx")
    assert occupancy(gpu, warps=4, shared_bytes=65_536, registers=64).limits["shared memory"] == 2
    assert occupancy(gpu, warps=4, shared_bytes=66_000, registers=64).limits["shared memory"] == 0


@given(EVERY, st.integers(1, 32), st.integers(0, 240_000), st.integers(0, 300), st.integers(0, 600))
def test_more_of_anything_never_gives_more_programs(
    name: str, warps: int, shared_bytes: int, registers: int, columns: int
) -> None:
    """Monotone in each resource, and the steps are always there."""
    gpu = find_gpu(name)

    def ctas(more_warps: int = 0, more_bytes: int = 0, more_registers: int = 0) -> int:
        found = occupancy(
            gpu,
            warps=warps + more_warps,
            shared_bytes=shared_bytes + more_bytes,
            registers=registers + more_registers,
            tensor_memory_columns=columns,
        )
        assert found.steps
        assert 0 <= found.occupancy <= 1
        return found.ctas_per_sm

    assert ctas(more_bytes=777) <= ctas()
    assert ctas(more_registers=5) <= ctas()
    assert ctas(more_warps=4) <= ctas()


@given(EVERY, st.integers(1, 16), st.integers(1, 8))
def test_thresholds_are_the_largest_that_fit(name: str, warps: int, ctas: int) -> None:
    """One more register, or one more byte, and a program less fits."""
    gpu = find_gpu(name)
    registers = registers_for_ctas(gpu, warps, ctas)

    def by(count: int | None = None, size: int = 0) -> int:
        found = occupancy(gpu, warps=warps, shared_bytes=size, registers=count).limits
        limit = found["registers" if count is not None else "shared memory"]
        return 10**9 if limit is None else limit

    if registers:
        assert by(count=registers) >= ctas
    if registers < gpu.registers_per_thread_max:
        assert by(count=registers + 1) < ctas
    size = shared_bytes_for_ctas(gpu, ctas)
    assert size == 0 or by(size=size) >= ctas
    assert by(size=size + 1) < ctas or size + 1 > gpu.shared_bytes_per_cta


def test_what_one_more_program_takes() -> None:
    """122 registers and 98,304 B with 8 warps on an H200: registers and shared memory both stand at 2."""
    h200 = find_gpu("h200")
    both = occupancy(h200, warps=8, shared_bytes=98_304, registers=122)
    assert next_cta(both, (104, 128)) == (
        "3 CTAs/SM at 80 registers or fewer; now 104 to 128, and at 76,800 B of shared memory or less; now 98,304 B"
    )
    threads = occupancy(h200, warps=32, shared_bytes=0, registers=32)
    assert next_cta(threads) == ""
    one = occupancy(h200, warps=4, shared_bytes=0, registers=172)
    assert next_cta(one) == "3 CTAs/SM at 168 registers or fewer; now 172"
