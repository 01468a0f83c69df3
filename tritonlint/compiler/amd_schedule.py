"""The schedule of a pipelined loop on AMD: which operations run in which stage, and in which order.

ScheduleLoops.cpp and the SingleDotSchedule of LowerLoops.cpp of third_party/amd. Loads run in the first
stages and what uses them in the last; a tile that goes through LDS is stored there one level of loads later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tritonlint.compiler.graph import GOp
from tritonlint.compiler.ops import DOTS
from tritonlint.compiler.pipeline_expand import expand
from tritonlint.compiler.pipeline_schedule import (
    Schedule,
    schedule_carried,
    schedule_dependencies,
    schedule_rest,
)

_CLUSTERS = 5


def expand_single_dot(loop: GOp, stages: int, placed: Mapping[GOp, int], stores: Sequence[GOp]) -> GOp | None:
    """Replace the loop by its pipelined form: prologue, loop, and an epilogue for the last iterations.

    `placed` has the level of each pipelined load, a copy to LDS for one that became such; `stores` what puts
    a loaded tile into LDS, its view included. None, and nothing changes, where the compiler refuses the
    schedule.
    """
    deepest = max(placed.values())
    last = stages - 1
    store_stage = deepest
    buffers = max(1, last - store_stage)
    load_at, store_at = 1, 3
    compute_at = load_at
    if last == store_stage:
        compute_at = store_at + 1
    elif buffers == 1 and compute_at >= store_at:
        compute_at = store_at - 1
    schedule = Schedule(stages)
    clusters = [schedule.new_back() for _ in range(_CLUSTERS)]
    # The stage of a load is looked up among those of the kinds of operations: a load, a store, a read, a use.
    stage_of_kind = (0, deepest, last, last, last)
    apart = -(-(stages - 2) // (deepest + 1))
    for dot in _dots_of(placed):
        schedule.insert(dot, last, clusters[compute_at])
    for load, level in placed.items():
        kind = (deepest - level) * apart
        if kind >= len(stage_of_kind):
            return None
        schedule.insert(load, stage_of_kind[kind], clusters[load_at])
    for op in stores:
        schedule.insert(op, store_stage, clusters[store_at])
    schedule_dependencies(loop, schedule)
    schedule_carried(loop, schedule)
    schedule_rest(loop, schedule, clusters[compute_at])
    order = [(op, stage) for op, stage, _ in schedule.in_order(loop.body)]
    return expand(loop, order, epilogue=True)


def _dots_of(placed: Mapping[GOp, int]) -> list[GOp]:
    """The dots that the loads feed."""
    block = next(iter(placed)).block
    assert block is not None
    found: dict[GOp, None] = {}
    seen: set[GOp] = set()
    stack = list(placed)
    while stack:
        op = stack.pop()
        for result in op.results:
            for user in result.uses:
                outer = user if user.block is block else user.ancestor_in(block)
                if outer is None or outer in seen:
                    continue
                seen.add(outer)
                if outer.name in DOTS:
                    found[outer] = None
                else:
                    stack.append(outer)
    return list(found)
