"""The textbook model gives the numbers of the teaching material: an RTX 3070 with a peak of 40 TFLOP/s, 448
GB/s and a launch floor of 5 us, and a 4096 x 4096 x 4096 product of fp16 operands."""

from __future__ import annotations

import pytest

from tritonlint.compiler import textbook
from tritonlint.compiler.compiled import DotFact
from tritonlint.compiler.options import Options
from tritonlint.compiler.target import Target
from tritonlint.gpu.profile import find_gpu
from tritonlint.model.l2 import TileOrder, cache_bytes, gemm_dram_bytes
from tritonlint.model.occupancy import Occupancy, plain_occupancy
from tritonlint.model.roofline import Roofline, gemm_work, roofline, streaming_work
from tritonlint.model.waves import waves

GPU = find_gpu("rtx3070")
WORK = gemm_work(4096, 4096, 4096, 128, 128)


def fitted(m: int, n: int, k: int, stages: int, warps: int = 4) -> Occupancy:
    return plain_occupancy(
        GPU,
        warps=warps,
        shared_bytes=textbook.shared_bytes(m, n, k, stages),
        registers=textbook.registers(m, n, warps * 32),
    )


def on_rtx3070(flops: int, bytes_moved: int) -> Roofline:
    assert GPU.textbook_flops and GPU.dram_bytes_per_s
    return roofline(
        flops,
        bytes_moved,
        peak_flops=GPU.textbook_flops,
        bytes_per_s=GPU.dram_bytes_per_s,
        launch_floor_us=GPU.launch_floor_us,
    )


def test_the_gpu() -> None:
    """The numbers that the material starts from."""
    assert (GPU.textbook_flops, GPU.dram_bytes_per_s, GPU.launch_floor_us) == (40e12, 448e9, 5.0)
    assert GPU.multiprocessors == 46


def test_work_of_the_product() -> None:
    """FLOPs, least bytes, bytes of 128 x 128 tiles, and how they compare."""
    assert WORK.flops == 137_438_953_472
    assert WORK.bytes_min == 100_663_296
    assert WORK.bytes_tiled == 2_181_038_080
    assert round(WORK.bytes_tiled / WORK.bytes_min, 1) == 21.7
    least, tiled = on_rtx3070(WORK.flops, WORK.bytes_min), on_rtx3070(WORK.flops, WORK.bytes_tiled)
    assert (round(least.intensity), round(tiled.intensity)) == (1365, 63)
    assert round(least.balance) == 89


def test_128x128x64_with_3_stages() -> None:
    """98,304 B cap it at one program, and the last of 23 waves is 12 of 46."""
    assert textbook.shared_bytes(128, 128, 64, 3) == 98_304
    assert textbook.registers(128, 128, 128) == 168
    found = fitted(128, 128, 64, 3)
    assert found.limits == {
        "threads": 12, "registers": 3, "shared memory": 1, "blocks": 16, "tensor memory": None,
    }  # fmt: skip
    assert (found.limiter, found.ctas_per_sm) == ("shared memory", 1)
    grid = waves(1024, 46, found.ctas_per_sm)
    assert grid is not None
    assert (grid.programs, grid.per_wave, grid.total) == (1024, 46, 23)
    assert grid.full == 22
    assert grid.last == 12 / 46
    assert f"{grid.last:.0%}" == "26%"
    assert f"{grid.efficiency:.1%}" == "96.8%"


def test_two_stages_change_nothing() -> None:
    """65,536 B: still one program."""
    assert textbook.shared_bytes(128, 128, 64, 2) == 65_536
    assert fitted(128, 128, 64, 2).ctas_per_sm == 1


def test_half_the_depth_gives_two_programs() -> None:
    """BLOCK_K 32: 49,152 B, 12 waves, but a worse tail."""
    assert textbook.shared_bytes(128, 128, 32, 3) == 49_152
    assert fitted(128, 128, 32, 3).ctas_per_sm == 2
    grid = waves(1024, 46, 2)
    assert grid is not None
    assert (grid.total, f"{grid.last:.0%}", f"{grid.efficiency:.1%}") == (12, "13%", "92.8%")
    assert grid.last == 12 / 92


def test_128x256x64_exceeds_99_kb() -> None:
    """147,456 B do not fit."""
    assert textbook.shared_bytes(128, 256, 64, 3) == 147_456
    assert GPU.shared_bytes_per_cta == 99 * 1024
    found = fitted(128, 256, 64, 3, warps=8)
    assert found.ctas_per_sm == 0
    assert found.limits["shared memory"] == 0


def test_256x256_exceeds_the_registers() -> None:
    """4 warps: 552 registers, over 255."""
    assert textbook.registers(256, 256, 128) == 552
    assert fitted(256, 256, 32, 2).limits["registers"] == 0


def test_a_tie_goes_to_the_first_name() -> None:
    """256 x 128 x 32 with 8 warps: shared memory and registers both allow one program."""
    assert textbook.shared_bytes(256, 128, 32, 3) == 73_728
    found = fitted(256, 128, 32, 3, warps=8)
    assert (found.limits["shared memory"], found.limits["registers"], found.limits["threads"]) == (1, 1, 6)
    assert found.limiter == "registers"


def test_times() -> None:
    """Compute 3.44 ms; memory 0.22 ms at the least bytes, 4.87 ms at tiled bytes."""
    least, tiled = on_rtx3070(WORK.flops, WORK.bytes_min), on_rtx3070(WORK.flops, WORK.bytes_tiled)
    assert round(least.compute_ms, 2) == 3.44
    assert round(least.memory_ms, 2) == 0.22
    assert round(tiled.memory_ms, 2) == 4.87


def test_memory_bound_without_the_l2_and_compute_bound_with_it() -> None:
    """Programs of one wave share panels through the L2, grouped or row by row."""
    assert on_rtx3070(WORK.flops, WORK.bytes_tiled).bound == "memory"
    for group in (1, 8):
        traffic = gemm_dram_bytes(
            TileOrder(32, 32, group),
            row_panel_bytes=128 * 4096 * 2,
            column_panel_bytes=128 * 4096 * 2,
            output_bytes=4096 * 4096 * 2,
            concurrent=46,
            l2_bytes=cache_bytes(GPU),
        )
        assert WORK.bytes_min < traffic.bytes_dram < WORK.bytes_tiled
        assert on_rtx3070(WORK.flops, traffic.bytes_dram).bound == "compute"


def test_add_is_memory_bound() -> None:
    """2^24 fp16 elements: 225 us of memory, 0.4 us of compute."""
    work = streaming_work(2**24, 2 * 2 * 2**24, 2 * 2**24)
    found = on_rtx3070(work.flops, work.bytes_min)
    assert round(found.memory_ms * 1e3) == 225
    assert round(found.compute_ms * 1e3, 1) == 0.4
    assert found.bound == "memory"


def test_a_small_product_is_launch_bound() -> None:
    """64^3: 0.013 us of compute, 0.05 us of memory, below the floor of 5 us."""
    work = gemm_work(64, 64, 64, 64, 64)
    found = on_rtx3070(work.flops, work.bytes_min)
    assert round(found.compute_ms * 1e3, 3) == 0.013
    assert round(found.memory_ms * 1e3, 2) == 0.05
    assert found.total_ms == 0.005
    assert found.bound == "launch"


def test_a100_with_half_its_warps() -> None:
    """32 of 64 warps: 50%."""
    found = plain_occupancy(find_gpu("a100"), warps=8, shared_bytes=40 * 1024, registers=64)
    assert found.ctas_per_sm * 8 == 32
    assert found.occupancy == 0.5


def dot(m: int, n: int, k: int, element: str = "fp16", line: int = 1) -> DotFact:
    return DotFact(line, m, n, k, 1, element, element, "fp32", "mma_v2", True)


def test_the_record_of_a_kernel() -> None:
    """The same numbers as a compiled record; of several dots the one with the largest buffers counts."""
    options = Options(num_warps=4, num_stages=3)
    answer = textbook.compiled([dot(128, 128, 16), dot(128, 128, 64, line=7)], options, Target("sm_86"))
    assert (answer.shared_bytes, answer.registers, answer.spills) == (98_304, 168, "no")
    assert answer.parts[0].line == 7
    assert not answer.shared_exact
    assert textbook.compiled([dot(256, 256, 32)], options, Target("sm_86")).spills == "certain"
    assert textbook.compiled([dot(128, 128, 64, "fp8e4nv")], options, Target("sm_90")).shared_bytes == 49_152


def test_a_kernel_without_a_dot() -> None:
    """The textbook says nothing about its registers."""
    answer = textbook.compiled([], Options(), Target("sm_86"))
    assert (answer.shared_bytes, answer.registers, answer.parts) == (0, None, ())


@pytest.mark.parametrize("arch", ["sm_86", "gfx942"])
def test_threads_follow_the_warp_size(arch: str) -> None:
    """The accumulator is spread over 32 or 64 lanes a warp."""
    answer = textbook.compiled([dot(128, 128, 64)], Options(num_warps=4), Target(arch))
    assert answer.registers == (168 if arch == "sm_86" else 104)
