"""Which loops are pipelined, with how many buffers, in each generation of the pipeliner."""

import pytest

from tests.compiler.loop_text import TILE_BYTES, Axis, product, rings
from tritonlint.compiler.allocate import allocate
from tritonlint.compiler.liveness import held_memory
from tritonlint.compiler.pipeline import pipeline
from tritonlint.compiler.pipeline_expand import expand
from tritonlint.compiler.releases import release


@pytest.mark.parametrize("version", [(2, 2), (3, 0), (3, 2), (3, 3), (3, 5), (3, 9)])
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_mma_sync_takes_one_buffer_less_than_stages(version: tuple[int, int], stages: int) -> None:
    """Operands of mma.sync get num_stages - 1 buffers each, from 2.2 on."""
    graph = product()
    report = pipeline(graph, release(*version), stages, Axis())
    assert rings(graph) == [(stages - 1, 64, 64)] * 2
    assert [load.buffers for load in report.loads if load.buffers] == [stages - 1] * 2


def test_the_oldest_release_takes_all_stages() -> None:
    """2.1 gives each operand num_stages buffers."""
    graph = product()
    pipeline(graph, release(2, 1), 3, Axis())
    assert rings(graph) == [(3, 64, 64)] * 2


@pytest.mark.parametrize("version", [(2, 1), (2, 3), (3, 0), (3, 9)])
def test_one_stage_is_no_pipeline(version: tuple[int, int]) -> None:
    """num_stages=1 leaves the loop as it is, and says so for each load."""
    graph = product()
    report = pipeline(graph, release(*version), 1, Axis())
    assert rings(graph) == []
    assert {load.why_not for load in report.loads} == {"num_stages is 1"}


def test_the_loop_may_ask_for_its_own_stages() -> None:
    """tl.range(num_stages=4) wins over the launch's number."""
    graph = product(loop_attrs="{tt.num_stages = 4 : i32}")
    pipeline(graph, release(3, 9), 2, Axis())
    assert rings(graph) == [(3, 64, 64)] * 2


PRINT = '      tt.print " i: " {hex = false, isSigned = array<i32: 1>} : %i : i32\n'


@pytest.mark.parametrize(("version", "stops"), [((3, 6), False), ((3, 7), True), ((3, 9), True)])
def test_a_print_in_the_loop(version: tuple[int, int], stops: bool) -> None:
    """A device_print keeps the loop from being pipelined from 3.7 on."""
    graph = product(body=PRINT)
    report = pipeline(graph, release(*version), 3, Axis())
    assert bool(rings(graph)) is not stops
    assert report.stopped_by == ("a device_print" if stops else "")


def test_a_load_of_a_row_is_loaded_where_it_is_used() -> None:
    """A load that feeds no dot stays in registers up to 3.2, unless the loop asks for stages."""
    extra = (
        "      %x = tt.load %pc : tensor<64x64x!tt.ptr<f32>, #blocked>\n"
        "      tt.store %pc, %x : tensor<64x64x!tt.ptr<f32>, #blocked>\n"
    )
    graph = product(body=extra)
    report = pipeline(graph, release(3, 2), 3, Axis())
    assert len(rings(graph)) == 2
    assert "no dot uses it" in {load.why_not for load in report.loads}


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_buffers_die_behind_the_loop(stages: int) -> None:
    """The rings are free when the epilogue runs: the total is that of the rings alone."""
    graph = product()
    row = release(3, 9)
    pipeline(graph, row, stages, Axis())
    memory = held_memory(graph, row, lambda op: 4096 if op.name == "ttg.convert_layout" and op.line else 0)
    total = allocate([held.buffer for held in memory])
    assert total == 2 * (stages - 1) * TILE_BYTES


@pytest.mark.parametrize("stages", [2, 3])
def test_an_epilogue_finishes_the_last_iterations(stages: int) -> None:
    """As many products behind the loop as there are stages before the last, each under its own condition, and
    the sum goes through all of them."""
    graph = product()
    loop = next(op for op in graph.walk() if op.name == "scf.for")
    last = stages - 1
    order = [(op, 0 if op.name in ("tt.load", "tt.addptr") else last) for op in loop.body.ops[:-1]]
    fresh = expand(loop, order, epilogue=True)
    assert fresh is not None and fresh.block is not None
    after = fresh.block.ops[fresh.index_in_block() + 1 :]
    guards = [op for op in after if op.name == "scf.if"]
    assert [op.name for guard in guards for op in guard.blocks[0].ops] == ["tt.dot", "scf.yield"] * last
    chosen = [op for op in after if op.name == "arith.select" and op.operands[1].op in guards]
    assert [op.operands[1] for op in chosen] == [guard.result for guard in guards]
    assert [guard.blocks[1].terminator.operands[0] for guard in guards] == [
        fresh.results[0],
        *(op.result for op in chosen[:-1]),
    ]
    assert sum(op.name == "tt.load" for op in fresh.block.ops[: fresh.index_in_block()]) == 2 * last
    assert not any(op.name == "tt.load" for op in after)
