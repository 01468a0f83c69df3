"""Rates of dots, and the roofline of a launch."""

from __future__ import annotations

import pytest

from tritonlint.gpu.profile import find_gpu
from tritonlint.model.roofline import gemm_work, roofline
from tritonlint.model.time import dot_rate, launch_time
from tritonlint.model.waves import waves


@pytest.mark.parametrize(
    ("gpu", "operand", "tensor_cores", "rate"),
    [
        ("h100", "fp16", True, 989.4e12),
        ("h100", "fp32", True, 494.7e12),
        ("h100", "fp16", False, 66.9e12),
        ("h100", "fp64", True, 66.9e12),
        ("h100", "fp64", False, 33.5e12),
        ("h100", "fp8e4nv", True, 1978.9e12),
        ("a100", "fp8e5", True, 312e12),
        ("h100", "i8", True, 1978.9e12),
        ("sm_90", "fp16", True, None),
        ("v100", "bf16", True, None),
    ],
)
def test_rates(gpu: str, operand: str, tensor_cores: bool, rate: float | None) -> None:
    """By operand type; fp8 as fp16 where there are no cores for it; None where no source says."""
    assert dot_rate(find_gpu(gpu), operand, tensor_cores=tensor_cores) == rate


def test_ieee_fp32() -> None:
    """Without tf32 the ordinary units do it."""
    assert dot_rate(find_gpu("h100"), "fp32", tensor_cores=True, tf32=False) == 66.9e12


def test_the_tail_lengthens_compute_only() -> None:
    """1,024 tiles on 132 multiprocessors: the busiest does 8 of them, 3% more than its share."""
    work = gemm_work(4096, 4096, 4096, 128, 128)
    gpu = find_gpu("h100")
    without = launch_time(gpu, flops=work.flops, bytes_dram=work.bytes_min, peak_flops=1e15)
    grid = waves(1024, 132, 1)
    found = launch_time(gpu, flops=work.flops, bytes_dram=work.bytes_min, peak_flops=1e15, waves=grid)
    assert found is not None and without is not None
    assert found.compute_ms == pytest.approx(without.compute_ms * 132 * 8 / 1024)
    assert (found.memory_ms, found.intensity) == (without.memory_ms, without.intensity)


def test_unknown_numbers_give_no_time() -> None:
    """A plain target has no bandwidth, a type without a rate no peak."""
    assert launch_time(find_gpu("sm_90"), flops=1, bytes_dram=1, peak_flops=1e15) is None
    assert launch_time(find_gpu("h100"), flops=1, bytes_dram=1, peak_flops=None) is None


def test_bounds() -> None:
    """The largest of the three; of equals the launch, then memory."""

    def bound(flops: int, moved: int) -> str:
        return roofline(flops, moved, peak_flops=1e12, bytes_per_s=1e11, launch_floor_us=5).bound

    assert bound(10**9, 10) == "compute"
    assert bound(10**7, 10**9) == "memory"
    assert bound(10, 10) == "launch"
    assert bound(10**9, 10**8) == "memory"
    assert bound(0, 0) == "launch"
