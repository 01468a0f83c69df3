"""The time of a launch: each mechanism moves it the way it should."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tritonlint.compiler.instructions import Product, Section
from tritonlint.gpu.profile import find_gpu
from tritonlint.model.timing import Busy, Launch, Turns, applies, busy, constants, launch_time, turns_of, wave

H200 = find_gpu("h200")
DOT = Product("wgmma", 128, 256, 64, 16, "fp16", 256, 8, 1, False, True)
LOOP = Section(
    9, "", 0, copies=12.0, copied_bytes=49152.0, copy_passes=384.0, global_passes=48.0, products=(DOT,)
)
OUTSIDE = Section(0, "", -1, stores=16.0, stored_bytes=65536.0)


def gemm(ctas: int = 1, buffers: int = 3, programs: int = 512, **other: float) -> Launch:
    turns = (Turns(OUTSIDE, 1, 1, 0), Turns(LOOP, 64, 64, buffers))
    return Launch(programs, ctas, 8, turns, 1e8, other.get("spilled", 0.0))


def total(launch: Launch) -> float:
    timing = launch_time(launch, H200)
    assert timing is not None
    return timing.total_ms


def test_a_product_of_4096_cubed_takes_about_what_it_takes() -> None:
    """Measured: 0.191 ms with this tile, 3 stages, 8 warps."""
    timing = launch_time(gemm(), H200)
    assert timing is not None
    assert timing.low_ms < 0.191 < timing.high_ms
    assert timing.parts["tensor cores"] == pytest.approx(2 * 4096**3 / (989.4e12 * constants().tensor) * 1e3)


def test_each_mechanism() -> None:
    """Fewer buffers, spills, more bytes and a nearly empty last wave all cost time."""
    base = total(gemm())
    assert total(gemm(buffers=2)) > base
    assert total(gemm(spilled=100)) > 1.5 * base
    assert total(replace(gemm(), bytes_dram=1e9)) > base
    assert total(gemm(programs=133)) > 1.5 * total(gemm(programs=132))


def test_programs_share_a_multiprocessor() -> None:
    """Chains overlap until a unit is full; then the time grows with the programs."""
    one = Busy(10, 0, 0, 0, 0, 0, 100)
    took = [wave(one, programs, constants()) for programs in (1, 2, 16, 32)]
    assert took[0] == 100
    assert took[1] < 105
    assert took[2] >= 160
    assert took[3] == pytest.approx(2 * took[2], rel=0.3)


def test_uneven_programs_even_out() -> None:
    """Programs of 1 to 127 turns take as long as as many of the mean, and the end of the longest."""
    loop = Turns(LOOP, 64, 127, 3)
    uneven = replace(gemm(programs=13_200), turns=(Turns(OUTSIDE, 1, 1, 0), loop))
    assert total(gemm(programs=13_200)) < total(uneven) < 1.05 * total(gemm(programs=13_200))


def test_one_wave_takes_as_long_as_its_longest_program() -> None:
    """512 tiles on 132 persistent programs: four turns for most, three for some. Measured, 256x128x64, 8 warps: 0.22 ms;
    a launch of programs that all have four takes as long."""
    outside = Turns(OUTSIDE, 1, 1, 0)
    uneven = replace(gemm(programs=132), turns=(outside, Turns(LOOP, 248, 256, 3)))
    assert total(uneven) == pytest.approx(
        total(replace(uneven, turns=(outside, Turns(LOOP, 256, 256, 3)))), rel=0.02
    )


def test_warps_that_hold_the_same_rows_work_twice() -> None:
    narrow = replace(DOT, kind="mma_v2", m=16, n=32, warps_m=4, warps_n=1)
    spread = replace(narrow, warps_m=1, warps_n=4)

    def tensor(product: Product) -> float:
        turns = (Turns(replace(LOOP, products=(product,)), 1, 1, 3),)
        return busy(Launch(1, 1, 4, turns, 0, 0), H200, constants()).tensor

    assert tensor(narrow) == 4 * tensor(spread)


def test_where_no_model_applies() -> None:
    assert [applies(find_gpu(name)) for name in ("h200", "a100", "t4", "mi300x", "sm_90")] == [
        True, True, False, False, False,
    ]  # fmt: skip
    unknown = replace(LOOP, products=(replace(DOT, element="fp6"),))
    assert launch_time(replace(gemm(), turns=(Turns(unknown, 1, 1, 3),)), H200) is None


def test_turns_are_found_by_line() -> None:
    """Loops of one line, of a helper that is called twice, in the order of the text."""
    again = replace(LOOP, line=9)
    found = turns_of((OUTSIDE, LOOP, again), (), [(9, "", 4.0, 4.0), (9, "", 8.0, 8.0)])
    assert found is not None
    assert [turns.mean for turns in found] == [1.0, 4.0, 8.0]
    assert turns_of((OUTSIDE, LOOP), (), [(8, "", 4.0, 4.0)]) is None
