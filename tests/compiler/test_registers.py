"""Registers per thread: what is counted, the estimate, and spills."""

from __future__ import annotations

import dataclasses

import pytest

from tritonlint.compiler.encodings import Blocked
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.options import Options
from tritonlint.compiler.register_need import Need, need_of
from tritonlint.compiler.register_points import Point
from tritonlint.compiler.registers import (
    UNKNOWN,
    Estimate,
    chance,
    estimate_of,
    from_need,
    given_up,
    known_need,
    register_limit,
    squeezed,
    surely_spills,
)
from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import Type

SM_80 = Target("sm_80")


def estimate_registers(
    graph: Graph, options: Options, target: Target, *, specialized: bool = False
) -> Estimate:
    return estimate_of(known_need(graph, target, lambda op: 0, specialized=specialized), options, target)


GEMM = Need(
    family="mma_v2",
    peak=64,
    loop_peak=64,
    held=64,
    surely_held=64,
    addresses=137,
    loop_addresses=33,
    accumulator=64,
    operands=48,
    scalars=9,
    points=(Point(kept=64, accumulator=64, ahead=12, operands=48, addresses=33, looped=1),),
)


def row_kernel(
    per_thread: int, *, reduced: bool, element: str = "fp32", summed_as_loaded: bool = False
) -> Graph:
    """Load a row, widen it to fp32, sum it if asked to, and store it: one warp, `per_thread` elements a thread."""
    shape = (32 * per_thread,)
    encoding = Blocked((4,), (32,), (1,), (0,))
    func = GOp("tt.func")
    body = func.add_block([GValue(Type(f"*{element}", None)), GValue(Type("*fp32", None))])
    pointers = GValue(Type(f"*{element}", shape), encoding)
    GOp("tt.splat", [body.args[0]], [pointers]).append_to(body)
    row = GValue(Type(element, shape), encoding)
    GOp("tt.load", [pointers], [row]).append_to(body)
    loaded = row
    if element != "fp32":
        wide = GValue(Type("fp32", shape), encoding)
        GOp("arith.extf", [row], [wide]).append_to(body)
        row = wide
    if reduced:
        total = GValue(Type("fp32", None))
        GOp("tt.reduce", [loaded if summed_as_loaded else row], [total], {"axis": 0}).append_to(body)
        spread = GValue(Type("fp32", shape), encoding)
        GOp("tt.splat", [total], [spread]).append_to(body)
        divided = GValue(Type("fp32", shape), encoding)
        GOp("arith.divf", [row, spread], [divided]).append_to(body)
        row = divided
    out = GValue(Type("*fp32", shape), encoding)
    GOp("tt.splat", [body.args[1]], [out]).append_to(body)
    GOp("tt.store", [out, row]).append_to(body)
    GOp("tt.return").append_to(body)
    graph = Graph(func)
    graph.num_warps = 1
    return graph


def test_a_row_is_held_over_its_sum() -> None:
    """64 elements of 4 bytes a thread are 64 words; the copy spread from the sum needs none."""
    need = need_of(row_kernel(64, reduced=True))
    assert (need.family, need.peak, need.held, need.scalars) == ("none", 64, 64, 2)


def test_a_row_that_is_widened_for_its_sum_is_held_wide() -> None:
    need = need_of(row_kernel(64, reduced=True, element="fp16"))
    assert (need.held, need.surely_held) == (64, 64)


def test_a_row_that_is_needed_wide_only_after_its_sum_may_be_widened_then() -> None:
    need = need_of(row_kernel(64, reduced=True, element="fp16", summed_as_loaded=True))
    assert (need.held, need.surely_held) == (64, 32)


def test_elements_that_only_pass_are_not_held() -> None:
    """Without the sum nothing has to have all of them but the store."""
    assert need_of(row_kernel(64, reduced=False)).held == 0


def test_places_of_a_row_that_is_divided_by_its_sum() -> None:
    """The row comes where it is loaded, is kept over the sum, and goes where it is divided and stored."""
    loads, divides = (
        Point(coming=64, ends=64, loaded=64, accesses=1),
        Point(going=64, ends=64, functions=64, stored=64, accesses=1),
    )
    points = need_of(row_kernel(64, reduced=True)).points
    assert set(points) == {loads, divides, Point(kept=64, scalars=2)}  # the output pointer is kept too


def test_a_row_that_only_passes_needs_its_loads_at_most() -> None:
    (point,) = need_of(row_kernel(64, reduced=False)).points
    assert point == Point(between=64, in_flight=64, loaded=64, stored=64, accesses=2)


def test_a_row_that_is_only_added_up_is_nowhere_as_a_whole() -> None:
    graph = row_kernel(64, reduced=True)
    total, divided, store = (
        next(op for op in graph.body.ops if op.name == name)
        for name in ("tt.reduce", "arith.divf", "tt.store")
    )
    store.set_operand(1, total.result)
    divided.erase()
    points = need_of(graph).points
    assert Point(in_flight=64, loaded=64, reduced=64, accesses=1) in points
    assert not any(point.coming or point.going or point.kept for point in points)


def test_a_row_over_the_limit_spills_for_certain() -> None:
    """256 words of one value have to be live at the sum, and a thread has 255 registers."""
    estimate = estimate_registers(row_kernel(256, reduced=True), Options(num_warps=1), SM_80)
    assert (estimate.registers, estimate.spills) == (255, "certain")


def test_a_row_that_only_passes_is_there_as_a_whole_when_its_store_begins() -> None:
    """No load passes a store: copies of 256 words a thread spill in 3.9 on sm_80 and sm_90, those of 128 do not. What is
    loaded as fp16 may be widened element by element."""
    assert need_of(row_kernel(128, reduced=False)).stored == 128
    assert need_of(row_kernel(256, reduced=False, element="fp16")).stored == 128
    estimate = estimate_registers(row_kernel(256, reduced=False), Options(num_warps=1), SM_80)
    assert estimate.spills == "certain"


def test_several_values_little_over_the_limit_are_not_certain_to_spill() -> None:
    """A matrix times a vector, 128 sums and 128 elements a thread: 254 registers, no spill (3.6, sm_120)."""
    need = dataclasses.replace(GEMM, family="none", held=256, surely_held=256, accumulator=0)
    assert not surely_spills(need, SM_80, 255)
    assert surely_spills(dataclasses.replace(need, surely_held=340), SM_80, 255)
    assert surely_spills(dataclasses.replace(need, whole=256), SM_80, 255)


def test_the_assembler_takes_a_step_for_one_more_block() -> None:
    """65,536 registers for 10 blocks of 128 threads are 48 a thread: who wants 50 gets 48, who wants 45 keeps 45."""
    options = Options(num_warps=4)
    assert [squeezed(wanted, options, 0.1, 0) for wanted in (45.0, 48.0, 50.0, 53.0)] == [
        45.0,
        48.0,
        48.0,
        53.0,
    ]
    assert [squeezed(wanted, options, 0, 2) for wanted in (50.0, 51.0)] == [48.0, 51.0]
    assert squeezed(50.0, options, 0, 0) == 50.0
    assert squeezed(300.0, options, 0.1, 2) == 300.0


def test_the_odds_of_a_spill_rise_with_what_is_wanted() -> None:
    assert chance(1.1, 1.1, 8.0) == 0.5
    assert chance(0.5, 1.1, 8.0) < 0.01
    assert chance(2.0, 1.1, 8.0) > 0.99


@pytest.mark.parametrize("per_thread", [4, 16, 64])
def test_more_elements_take_more_registers(per_thread: int) -> None:
    less, more = (
        estimate_registers(row_kernel(n, reduced=True), Options(num_warps=1), SM_80)
        for n in (per_thread, 2 * per_thread)
    )
    assert less.spills == "no"
    assert less.registers is not None and more.registers is not None
    assert less.registers < more.registers


def test_the_range_holds_the_estimate() -> None:
    estimate = from_need(GEMM, Options(), SM_80)
    assert estimate.low is not None and estimate.high is not None and estimate.registers is not None
    assert 64 < estimate.low <= estimate.registers <= estimate.high <= 255


@pytest.mark.parametrize("family", ["mma_v2", "wgmma"])
def test_an_accumulator_of_256_spills(family: str) -> None:
    """256 fp32 elements a thread do not fit beside anything else."""
    need = dataclasses.replace(
        GEMM, family=family, accumulator=256, peak=256, loop_peak=256, held=256, surely_held=256
    )
    assert from_need(need, Options(), Target("sm_90")).spills == "certain"


def test_tensor_memory_holds_the_accumulator() -> None:
    """A tcgen05 product has the tile in registers only when it is stored."""
    need = dataclasses.replace(
        GEMM, family="tcgen05", accumulator=0, held=0, surely_held=0, points=(Point(coming=128, ends=128),)
    )
    assert from_need(need, Options(), Target("sm_100")).spills == "no"


def test_maxnreg_is_the_limit() -> None:
    estimate = from_need(GEMM, Options(maxnreg=48), SM_80)
    assert (estimate.registers, estimate.spills) == (48, "certain")


@pytest.mark.parametrize(("warps", "limit"), [(1, 255), (8, 255), (16, 128), (32, 64)])
def test_large_blocks_share_the_register_file(warps: int, limit: int) -> None:
    """65,536 registers over 32 x warps threads."""
    assert register_limit(Options(num_warps=warps), SM_80) == limit


@pytest.mark.parametrize(
    ("arch", "warps", "waves_per_eu", "limit"),
    [
        ("gfx942", 1, 0, 512), ("gfx942", 4, 0, 512), ("gfx942", 8, 0, 256), ("gfx942", 16, 0, 128),
        ("gfx90a", 4, 3, 168), ("gfx942", 8, 1, 256), ("gfx1100", 4, 0, 256), ("gfx1201", 16, 0, 256),
        ("gfx1100", 32, 0, 192), ("gfx1100", 4, 10, 144),
    ],
)  # fmt: skip
def test_waves_share_the_lanes_of_a_simd(arch: str, warps: int, waves_per_eu: int, limit: int) -> None:
    """CDNA: 512 vector registers of a lane for the waves of a SIMD; RDNA: 1,536, no wave more than 256."""
    options = Options(num_warps=warps, extra={"waves_per_eu": waves_per_eu})
    assert register_limit(options, Target(arch)) == limit


def test_matrix_cores_of_amd_bring_registers() -> None:
    """One accumulator: more than a thread has on RDNA, not on CDNA with the registers of its matrix cores."""
    large = {"accumulator": 264, "held": 264, "surely_held": 264, "peak": 264}
    cdna = dataclasses.replace(GEMM, family="mfma", **large)
    rdna = dataclasses.replace(GEMM, family="wmma", **large)
    assert from_need(cdna, Options(), Target("gfx942")).spills == "no"
    assert from_need(rdna, Options(), Target("gfx1100")).spills == "certain"
    others = dataclasses.replace(GEMM, family="wmma", surely_held=264)
    assert from_need(others, Options(), Target("gfx1100")).spills != "certain"
    found = from_need(dataclasses.replace(GEMM, family="mfma"), Options(), Target("gfx942"))
    assert found.registers is not None and found.low is not None and found.high is not None
    assert 64 <= found.low < found.registers < found.high <= 512


def test_kernels_without_products_have_a_model_of_each_vendor() -> None:
    need = dataclasses.replace(GEMM, family="none", accumulator=0, operands=0)
    nvidia, amd = (from_need(need, Options(), Target(arch)).registers for arch in ("sm_90", "gfx942"))
    assert nvidia != amd
    graph = row_kernel(64, reduced=True)
    estimate = estimate_registers(graph, Options(num_warps=1), Target("gfx1100"))
    assert estimate == from_need(need_of(graph), Options(num_warps=1), Target("gfx1100"))


def test_silent_where_nothing_is_fitted() -> None:
    assert estimate_registers(row_kernel(4, reduced=True), Options(), Target("sm_75")) == UNKNOWN


def test_silent_with_warp_specialization() -> None:
    graph = row_kernel(4, reduced=True)
    assert estimate_registers(graph, Options(), Target("sm_100"), specialized=True) == UNKNOWN


def turned_row(per_thread: int, scratch: int) -> tuple[Point, ...]:
    """The places of a row that is loaded, changes its layout with so much shared memory, and is stored."""
    graph = row_kernel(per_thread, reduced=False)
    body = graph.body
    store = next(op for op in body.ops if op.name == "tt.store")
    row, shape = store.operands[1], store.operands[1].shape
    encoding = Blocked((1,), (32,), (1,), (0,))
    turned = GValue(Type("fp32", shape), encoding)
    out = GValue(Type("*fp32", shape), encoding)
    convert, splat = GOp("ttg.convert_layout", [row], [turned]), GOp("tt.splat", [body.args[1]], [out])
    for op in (convert, splat):
        op.insert_before(store)
    store.set_operand(0, out)
    store.set_operand(1, turned)
    return need_of(graph, lambda op: scratch if op is convert else 0).points


def test_a_row_that_changes_its_layout_at_once_passes() -> None:
    """Its elements are written as they come, and read as they are stored: 128 words took 39 registers."""
    points = turned_row(64, 64 * 32 * 4)
    assert not any(point.going or point.kept or point.converted for point in points)
    assert max(point.passed for point in points) == 16
    assert not any(point.passed and point.stored for point in points)


@pytest.mark.parametrize("scratch", [64 * 32 * 4 // 2, 0])
def test_a_row_that_changes_its_layout_in_rounds_is_held(scratch: int) -> None:
    """In two rounds of shared memory, or between the threads of a warp: 128 words took 202 registers."""
    points = turned_row(64, scratch)
    assert max(point.converted for point in points) == 64
    assert any(point.going == 64 and point.stored == 64 for point in points)


def test_a_function_of_a_row_may_be_computed_twice() -> None:
    """exp of 128 elements in bf16, for their sum and for what is stored, needs the 64 words of the elements alone."""
    for kept, element in ((64, "bf16"), (128, "fp32")):
        graph = row_kernel(128, reduced=True, element=element)
        total, divided = (
            next(op for op in graph.body.ops if op.name == name) for name in ("tt.reduce", "arith.divf")
        )
        row = total.operands[0]
        raised = GValue(row.type, row.encoding)
        GOp("math.exp", [row], [raised]).insert_before(total)
        total.set_operand(0, raised)
        divided.set_operand(0, raised)
        assert need_of(graph).whole == kept


@pytest.mark.parametrize(
    ("arch", "warps", "registers"),
    [
        ("sm_90", 1, 64),
        ("sm_90", 2, 32),
        ("sm_80", 8, 32),
        ("sm_120", 1, 80),
        ("sm_120", 4, 40),
        ("sm_90", 16, None),
    ],
)
def test_what_is_given_up_leaves_room_for_all_ctas(arch: str, warps: int, registers: int | None) -> None:
    """As compiled; with 16 warps a thread has 128 at most, and no such kernel was given up."""
    assert given_up(Options(num_warps=warps), Target(arch)) == registers


def test_a_kernel_that_wants_several_times_the_limit_is_given_up() -> None:
    """A norm of 1024 elements a thread took 64 registers, and 32 CTAs live on a multiprocessor."""
    estimate = estimate_registers(row_kernel(1024, reduced=True), Options(num_warps=1), Target("sm_90"))
    assert (estimate.registers, estimate.high, estimate.spills, estimate.given_up) == (
        64,
        255,
        "certain",
        True,
    )
    limited = estimate_registers(
        row_kernel(1024, reduced=True), Options(num_warps=1, maxnreg=128), Target("sm_90")
    )
    assert (limited.registers, limited.given_up) == (128, False)
