"""Loads of a scheduled loop become asynchronous copies into rings of buffers: LowerLoops.cpp (3.3 and newer).

The counters that choose a buffer of a ring are left out: they are scalars and change neither layouts nor
memory. Views say with an attribute whether they belong to the copy ("insert") or to the use ("extract").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tritonlint.compiler.encodings import Blocked, SwizzledShared
from tritonlint.compiler.graph import GBlock, GOp, GValue
from tritonlint.compiler.pipeline_build import (
    TOKEN,
    StageBuilder,
    barrier_alloc,
    buffer_alloc,
    replace_views,
    view_after,
    view_before,
)
from tritonlint.compiler.pipeline_latency import stage_is_aligned
from tritonlint.compiler.pipeline_loads import (
    LOADS,
    TMA_LOADS,
    VIEWS,
    Axis,
    async_width_bits,
    copy_vector_bytes,
    load_mask,
    load_other,
    must_load_to_registers,
    needs_select,
    non_view_users,
    shared_encoding,
)
from tritonlint.compiler.pipeline_schedule import Schedule, schedule_dependencies
from tritonlint.compiler.releases import Release
from tritonlint.kernel.ir import Type


@dataclass(slots=True)
class AsyncLoad:
    """A load that becomes asynchronous, and how many buffers it gets."""

    load: GOp
    buffers: int
    encoding: Any
    alloc: GOp | None = None
    barrier: GValue | None = None
    wait: GOp | None = None


def top_level_users(op: GOp, loop: GOp) -> list[GOp]:
    """The operations of the body that use the result, through the loop's carried values and through views of
    memory; an operation that holds the use stands for it."""
    body = loop.body
    found: dict[GOp, None] = {}
    stack: list[GValue] = list(op.results)
    seen: set[GValue] = set()
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        for user in value.uses:
            if user is body.terminator:
                for position, operand in enumerate(user.operands):
                    if operand is value:
                        stack.append(body.args[position + 1])
            elif user.name in VIEWS:
                stack.extend(user.results)
            else:
                outer = user.ancestor_in(body)
                if outer is not None:
                    found[outer] = None
    return list(found)


def first_use(ops: Iterable[GOp], loop: GOp, schedule: Schedule) -> GOp | None:
    """The user that comes first in the schedule."""
    positions = {op: position for position, op in enumerate(loop.body.ops)}
    best: GOp | None = None
    best_key: tuple[int, int, int] | None = None
    for op in ops:
        for user in top_level_users(op, loop):
            if user not in schedule:
                continue
            stage, cluster = schedule.at[user]
            key = (stage, cluster.order, positions[user])
            if best_key is None or key < best_key:
                best, best_key = user, key
    return best


def stages_until_use(op: GOp, loop: GOp, schedule: Schedule, release: Release) -> int:
    """Stages between a load and its first use; 0 for one that is not pipelined."""
    stage, cluster = schedule.at[op]
    users = dict.fromkeys(top_level_users(op, loop))
    for user in list(users):
        if user.name == "ttg.local_alloc" and release.pipeline_extra_buffer == "wgmma":
            # The allocation may go away, then its users read the buffers themselves.
            users.update(dict.fromkeys(top_level_users(user, loop)))
    first: int | None = None
    for user in users:
        if user not in schedule:
            continue
        use_stage, use_cluster = schedule.at[user]
        if release.late_use_needs_buffer and use_cluster.order > cluster.order:
            use_stage += 1  # the buffer would be overwritten before it is read
        first = use_stage if first is None else min(first, use_stage)
    for user in users:
        if user.name == "ttng.wait_barrier" and user in schedule:
            use_stage = schedule.stage(user)
            first = use_stage if first is None else max(first, use_stage)
    return 0 if first is None else first - stage


def _needs_extra_buffer(load: GOp, release: Release) -> bool:
    """Whether the use of the buffers lasts one iteration longer, since the product is asynchronous too."""
    if must_load_to_registers(load):
        return False
    alloc = next(iter(load.result.uses))
    if release.pipeline_extra_buffer == "matrix_layout":
        if not isinstance(alloc.result.encoding, SwizzledShared):
            return True
        users = non_view_users(alloc.result)
        return len(users) == 1 and users[0].name == "ttng.tc_gen5_mma_scaled"
    return any(user.name == "ttng.warp_group_dot" for user in non_view_users(alloc.result))


def find_async_loads(loop: GOp, schedule: Schedule, axis: Axis, release: Release) -> list[AsyncLoad]:
    """The loads of the body that get buffers, in program order."""
    found: list[AsyncLoad] = []
    for op in loop.body.ops[:-1]:
        if op.name not in LOADS or op not in schedule:
            continue
        distance = stages_until_use(op, loop, schedule, release)
        result = op.result
        if distance <= 0 or (not result.is_tensor and not release.pipelines_scalar_loads):
            continue
        encoding: Any
        if not result.is_tensor:
            encoding = SwizzledShared(1, 1, 1, (0,))
            possible = result.type.bits >= 32
        else:
            encoding = shared_encoding(op, release)
            vector = copy_vector_bytes(result.encoding, encoding, result.shape, result.type.element)
            wide_enough = not release.pipelines_scalar_loads or (
                op.name == "tt.load" and async_width_bits(op, axis) >= 32
            )
            possible = vector >= 4 and wide_enough
        if op.name in TMA_LOADS:
            possible = not release.tma_stage_multiple or stage_is_aligned(op)
        if possible:
            extra = 1 if _needs_extra_buffer(op, release) else 0
            found.append(AsyncLoad(op, distance + extra, encoding))
    return found


def lower_loads(
    loop: GOp, schedule: Schedule, axis: Axis, release: Release, num_warps: int, num_ctas: int, lanes: int
) -> list[AsyncLoad]:
    """Rewrite the loads of the loop that are pipelined. Returns them, with their numbers of buffers."""
    loads = find_async_loads(loop, schedule, axis, release)
    for entry in loads:
        if not entry.load.result.is_tensor:
            _scalar_to_tensor(entry.load, loop, schedule, num_warps, lanes)
    if not loads:
        return loads
    for entry in loads:
        entry.alloc = buffer_alloc(loop, entry.load, entry.encoding, entry.buffers)
    _make_barriers(loop, loads, schedule, num_ctas)
    copies = False
    for entry in loads:
        if entry.load.name in TMA_LOADS:
            _to_descriptor_copy(entry, loop, schedule)
        else:
            _to_async_copy(entry, loop, schedule)
            copies = True
    schedule_dependencies(loop, schedule)
    if copies or release.pipeline_extra_buffer == "matrix_layout":
        GOp("ttg.async_wait", (), [GValue(TOKEN)], {"num": 0}, line=loop.line).insert_after(loop)
    return loads


def _scalar_to_tensor(load: GOp, loop: GOp, schedule: Schedule, num_warps: int, lanes: int) -> None:
    """A scalar load becomes the load of a tensor of one element."""
    encoding = Blocked((1,), (lanes,), (num_warps,), (0,))
    builder = StageBuilder(schedule, schedule.at[load])
    for position, operand in enumerate(list(load.operands)):
        splat = GValue(Type(operand.type.element, (1,)), encoding)
        made = builder.before(load, "tt.splat", (operand,), results=[splat])
        load.set_operand(position, made.result)
    use = first_use([load], loop, schedule)
    old = load.result
    fresh = GValue(Type(old.type.element, (1,)), encoding, name=old.name)
    scalar = GValue(old.type, name=old.name)
    load.results = []
    load.add_result(fresh)
    builder.place = schedule.at[use] if use is not None else builder.place
    builder.after(load, "tt.unsplat", (fresh,), results=[scalar])
    old.replace_all_uses(scalar)


def _make_barriers(loop: GOp, loads: list[AsyncLoad], schedule: Schedule, num_ctas: int) -> None:
    """One ring of barriers for each group of descriptor loads that follow each other in the same place
    without a use in between."""
    entries = {entry.load: entry for entry in loads if entry.load.name in TMA_LOADS}
    seen: set[GOp] = set()
    groups: list[list[AsyncLoad]] = []
    for load, entry in entries.items():
        if load in seen:
            continue
        group: list[AsyncLoad] = []
        users: set[GOp] = set()
        _join(group, users, seen, entry)
        block = load.block
        assert block is not None
        for op in block.ops[load.index_in_block() + 1 :]:
            if op in users or op in seen:
                break
            other = entries.get(op)
            if other is None:
                continue
            if other.buffers != entry.buffers:
                break
            if schedule.at[load] == schedule.at[op]:
                _join(group, users, seen, other)
        groups.append(group)
    for group in groups:
        first, last = group[0].load, group[-1].load
        ring = barrier_alloc(loop, first, group[0].buffers, num_ctas).result
        builder = StageBuilder(schedule, schedule.at[first])
        barrier = view_before(builder, first, ring, "insert")
        builder.before(first, "ttng.barrier_expect", (barrier,))
        use = first_use([entry.load for entry in group], loop, schedule)
        if use is not None:
            builder.place = schedule.at[use]
        view = view_after(builder, last, ring, "extract")
        wait = builder.after(view, "ttng.wait_barrier", (view.result,))
        for entry in group:
            entry.barrier, entry.wait = barrier, wait


def _join(group: list[AsyncLoad], users: set[GOp], seen: set[GOp], entry: AsyncLoad) -> None:
    load = entry.load
    group.append(entry)
    seen.add(load)
    block: GBlock | None = load.block
    assert block is not None
    for user in load.result.uses:
        if not must_load_to_registers(load) and user.block is block:
            users.update(user.result.uses)
            continue
        outer = user.ancestor_in(block)
        if outer is not None:
            users.add(outer)


def _to_async_copy(entry: AsyncLoad, loop: GOp, schedule: Schedule) -> None:
    """tt.load: a copy to the ring, a commit, and at the first use a wait and a view."""
    load, alloc = entry.load, entry.alloc
    assert alloc is not None
    use = first_use([load], loop, schedule)
    builder = StageBuilder(schedule, schedule.at[load])
    view = view_before(builder, load, alloc.result, "insert")
    operands = [load.operands[0], view]
    mask, other = load_mask(load), load_other(load)
    operands += [value for value in (mask, other) if value is not None]
    attrs = {"has_mask": mask is not None, "has_other": other is not None}
    copy = builder.before(
        load, "ttg.async_copy_global_to_local", operands, results=[GValue(TOKEN)], attrs=attrs
    )
    commit = builder.before(load, "ttg.async_commit_group", (copy.result,), results=[GValue(TOKEN)])
    if use is not None:
        builder.place = schedule.at[use]
    wait = builder.before(load, "ttg.async_wait", (commit.result,), results=[GValue(TOKEN)], attrs={"num": 0})
    extract = view_before(builder, load, alloc.result, "extract")
    if not needs_select(load):
        _read(builder, load, extract, wait.result, schedule)
    elif load.result.uses:
        assert mask is not None and other is not None
        loaded = builder.before(
            load, "ttg.local_load", (extract, wait.result), results=[_copy_of(load.result)]
        )
        chosen = builder.before(
            load, "arith.select", (mask, loaded.result, other), results=[_copy_of(load.result)]
        )
        load.result.replace_all_uses(chosen.result)
    schedule.erase(load)
    load.erase()


def _to_descriptor_copy(entry: AsyncLoad, loop: GOp, schedule: Schedule) -> None:
    """A descriptor load: a bulk copy that a barrier reports, and the view after the wait for it."""
    load, alloc, wait = entry.load, entry.alloc, entry.wait
    assert alloc is not None and wait is not None and entry.barrier is not None
    use = first_use([load], loop, schedule)
    builder = StageBuilder(schedule, schedule.at[load])
    view = view_before(builder, load, alloc.result, "insert")
    name = (
        "ttng.async_tma_gather"
        if load.name == "tt.descriptor_gather"
        else "ttng.async_tma_copy_global_to_local"
    )
    builder.before(load, name, (*load.operands, entry.barrier, view))
    if use is not None:
        builder.place = schedule.at[use]
    extract = view_after(builder, wait, alloc.result, "extract")
    _read(builder, load, extract.result, None, schedule, after=extract)
    schedule.erase(load)
    load.erase()


def _read(
    builder: StageBuilder,
    load: GOp,
    view: GValue,
    token: GValue | None,
    schedule: Schedule,
    after: GOp | None = None,
) -> None:
    """Let the users of a load read the buffer: allocations in the same encoding are replaced by it,
    everything else gets a local load (replaceUsesWithLocalLoad)."""
    result = load.result
    gone = [
        user
        for user in result.uses
        if user.name == "ttg.local_alloc" and user.result.encoding == view.encoding
    ]
    for user in gone:
        replace_views(user.result, view, schedule)
    if len(result.uses) > len(gone):
        operands = (view,) if token is None else (view, token)
        if after is None:
            loaded = builder.before(load, "ttg.local_load", operands, results=[_copy_of(result)])
        else:
            loaded = builder.after(after, "ttg.local_load", operands, results=[_copy_of(result)])
        for user in gone:
            schedule.erase(user)
            user.erase()
        result.replace_all_uses(loaded.result)
        return
    for user in gone:
        schedule.erase(user)
        user.erase()


def _copy_of(value: GValue) -> GValue:
    return GValue(value.type, value.encoding, name=value.name)
