"""The pipeliner of 3.0 to 3.2: MatmulLoopPipeline.cpp and OuterLoopPipeline.cpp.

Loads are told apart by their level (loads that give the address of another load stand one level behind it).
Every load gets the number of buffers that the one with the longest way to its use needs. Where the inner loop
of a nest was pipelined, the outer one is pipelined too if its copies do not depend on the inner loop; the
buffers then live as long as the outer loop.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

from tritonlint.compiler.encodings import Blocked, NvidiaMma, NvmmaShared
from tritonlint.compiler.graph import GOp, GValue
from tritonlint.compiler.inference import is_expensive_load_or_store
from tritonlint.compiler.layout_properties import order_of
from tritonlint.compiler.pipeline_build import (
    TOKEN,
    StageBuilder,
    barrier_encoding,
    memory_value,
    replace_views,
    view_after,
    view_before,
)
from tritonlint.compiler.pipeline_expand import expand
from tritonlint.compiler.pipeline_loads import (
    DOTS,
    LOADS,
    TMA_LOADS,
    Axis,
    alloc_users,
    async_width_bits,
    descriptor_encoding,
    load_mask,
    load_other,
    memory_order,
    needs_select,
    operand_encoding,
    shared_encoding,
)
from tritonlint.compiler.pipeline_schedule import (
    Cluster,
    Schedule,
    backward_slice,
    forward_slice,
    schedule_carried,
    schedule_dependencies,
    schedule_rest,
)
from tritonlint.compiler.releases import Release

Machine = tuple[int, int, int]
"""Warps of a CTA, lanes of a warp, CTAs of a cluster."""


@dataclass(slots=True)
class _Load:
    """What is known of a pipelined load."""

    op: GOp
    encoding: Any = None
    layout: Blocked | None = None  # in which the addresses go to the copy, where that is not their own
    is_wgmma: bool = False
    feeds_dot: bool = False
    distance: int = 0
    alloc: GOp | None = None
    barrier: GValue | None = None
    wait: GOp | None = None


@dataclass(slots=True)
class LevelsResult:
    """The loop after pipelining (None where nothing was done), its buffers, and why loads were left out."""

    loop: GOp | None
    buffers: dict[GOp, int]
    reasons: dict[GOp, str]


def can_pipeline_levels(loop: GOp) -> bool:
    """No loop inside at any depth, and no value carried over more than one iteration."""
    if any(value.op is None for value in loop.body.terminator.operands):
        return False
    return not any(op.name in ("scf.for", "scf.while") for op in loop.walk())


def _levels(loop: GOp, release: Release) -> list[tuple[GOp, int, GOp]]:
    """Loads with their level and the operation that needs them, found backwards from the dots."""
    found: list[tuple[GOp, int, GOp]] = []
    seen: set[GOp] = set()

    def visit(root: GOp) -> None:
        stack = [(root, 0, root)]
        while stack:
            op, level, use = stack.pop()
            if op in seen:
                continue
            seen.add(op)
            if op.name in LOADS:
                found.append((op, level, use))
                use = op
                level += 1
            following = []
            for value in op.operands:
                producer = value.op
                if producer is not None and producer.block is op.block:
                    following.append((producer, level, use))
            stack.extend(reversed(following))

    for op in loop.body.ops[:-1]:
        if op.name in DOTS:
            if release.levels_from_each_dot:
                seen.clear()
            visit(op)
    if loop.attrs.get("num_stages") is not None:
        for op in loop.body.ops[:-1]:
            if op.name not in LOADS:
                visit(op)
    return found


def _is_wgmma_load(op: GOp) -> bool:
    """The load goes straight into the layout that wgmma reads, in the order in which it is loaded."""
    if not op.result.has_one_use:
        return False
    user = next(iter(op.result.uses))
    if user.name != "ttg.local_alloc" or not isinstance(user.result.encoding, NvmmaShared):
        return False
    return order_of(op.result.encoding, op.result.shape) == memory_order(user.result)


def _is_below_an_instruction(load: GOp, dot: GOp) -> bool:
    """Whether a tile that is no operand itself is smaller than what one matrix instruction makes."""
    encoding, shape = dot.result.encoding, load.result.shape
    if not isinstance(encoding, NvidiaMma):
        return False
    made = encoding.instr_shape
    if len(shape) < len(made):
        return True
    return any(size < least for size, least in zip(shape[-len(made) :], made, strict=True))


def _memory_layouts(
    entries: list[tuple[GOp, int, GOp]], axis: Axis, release: Release, reasons: dict[GOp, str]
) -> dict[GOp, _Load]:
    """The loads that can be pipelined, with the encoding of their buffers."""
    found: dict[GOp, _Load] = {}
    for op, _, use in entries:
        if op in found:
            continue
        entry = _Load(op)
        if op.name == "tt.load":
            if not op.operands[0].is_tensor:
                reasons[op] = "a scalar load"
                continue
            if async_width_bits(op, axis) < 32:
                reasons[op] = "a thread would move less than 4 bytes at once"
                continue
        if use.name in DOTS:
            entry.feeds_dot = True
            if op.name in TMA_LOADS:
                entry.is_wgmma = _is_wgmma_load(op)
                entry.encoding = descriptor_encoding(op)
            elif _is_wgmma_load(op):
                entry.is_wgmma = True
                entry.encoding = next(iter(op.result.uses)).result.encoding
            elif use.name == "tt.dot":
                entry.encoding, incompatible = operand_encoding(op.result, release)
                if incompatible:
                    reasons[op] = "its users need different shared layouts"
                    continue
                if entry.encoding is None and _is_below_an_instruction(op, use):
                    reasons[op] = "its tile is smaller than one matrix instruction"
                    continue
        elif use.name == "tt.load" and use not in found:
            reasons[op] = "the load that it gives the address of is not pipelined"
            continue
        if entry.encoding is None and use.name != "ttng.warp_group_dot":
            allocs = alloc_users(op.result)
            if all(alloc.result.encoding == allocs[0].result.encoding for alloc in allocs):
                entry.encoding = shared_encoding(op, release)
                if op.name == "tt.load":
                    entry.layout = axis.coalesced_layout(op)
        if entry.encoding is None:
            reasons[op] = "wgmma reads it from shared memory in another layout or order"
            continue
        found[op] = entry
    return found


def pipeline_levels(loop: GOp, stages: int, axis: Axis, release: Release, machine: Machine) -> LevelsResult:
    """Pipeline one loop in place."""
    reasons: dict[GOp, str] = {}
    result = LevelsResult(None, {}, reasons)
    entries = _levels(loop, release)
    if release.drops_deep_levels:
        for op, level, _ in entries:
            if level >= stages - 1:
                reasons[op] = f"num_stages={stages} leaves no stage for a load behind a load"
        entries = [entry for entry in entries if entry[1] < stages - 1]
    kept = _memory_layouts(entries, axis, release, reasons)
    if not kept:
        return result
    schedule, roots = _schedule_loads(entries, kept, stages)
    for op, _, use in entries:
        if op in kept:
            kept[op].distance = schedule.stage(use) - schedule.stage(op)
    loads = list(kept.values())
    after_prologue = _place_ifs(loop, schedule, roots)
    buffers = max(entry.distance for entry in loads)
    if any(entry.is_wgmma for entry in loads):
        buffers += 1
    result.buffers = {entry.op: buffers for entry in loads}
    ends = _lower(loop, loads, schedule, buffers, stages, machine)
    schedule_dependencies(loop, schedule, if_earlier=False)
    schedule_carried(loop, schedule, if_earlier=False, share_cluster=True)
    schedule_rest(loop, schedule, after_prologue)
    point = GOp("ttg.async_wait", (), [GValue(TOKEN)], {"num": 0}, line=loop.line).insert_after(loop)
    for end in ends:
        point = end.insert_after(point)
    result.loop = expand(loop, [(op, stage) for op, stage, _ in schedule.in_order(loop.body)])
    return result


def _schedule_loads(
    entries: list[tuple[GOp, int, GOp]], kept: dict[GOp, _Load], stages: int
) -> tuple[Schedule, list[GOp]]:
    entries = [entry for entry in entries if entry[0] in kept]
    deepest = max(level for _, level, _ in entries)
    between = -(-max(stages - 2, 0) // (deepest + 1))
    schedule = Schedule(stages)
    root_cluster = schedule.new_front()
    roots: dict[GOp, None] = {}
    for _, _, use in entries:
        if use.name != "tt.load":
            schedule.insert(use, stages - 1, root_cluster)
            roots[use] = None
    clusters = [schedule.new_back() for _ in range(deepest + 1)]
    for op, level, _ in entries:
        schedule.insert(op, (deepest - level) * between, clusters[level])
    return schedule, list(roots)


def _place_ifs(loop: GOp, schedule: Schedule, roots: list[GOp]) -> Cluster:
    body = loop.body
    after_prologue = schedule.clusters[0]
    wanted: dict[GOp, int] = {}
    if any(op.name == "scf.if" for op in body.ops):
        for stage in range(schedule.stages):
            for op, at, _ in schedule.in_order(body):
                if at == stage:
                    for needed in backward_slice(op, use_from_above=False):
                        if needed.name == "scf.if":
                            wanted.setdefault(needed, stage)
    prologue = schedule.new_front()
    for needed, stage in wanted.items():
        schedule.insert(needed, stage, prologue)
    epilogue = schedule.new_back()
    for root in roots:
        stage = schedule.stage(root)
        for op in forward_slice([root]):
            outer = op if op.name == "scf.if" else op.parent
            if outer is not None and outer.name == "scf.if" and outer.block is body:
                schedule.insert_if_absent(outer, stage, epilogue)
    return after_prologue


def _lower(
    loop: GOp, loads: list[_Load], schedule: Schedule, buffers: int, stages: int, machine: Machine
) -> list[GOp]:
    """Make the copies; returns the operations that end the buffers' lives, to go behind the loop."""
    warps, lanes, num_ctas = machine
    ends: list[GOp] = []
    deallocs: list[GOp] = []
    for entry in loads:
        tile = entry.op.result
        value = memory_value((buffers, *tile.shape), tile.type.element, entry.encoding)
        attrs = {"buffers": buffers, "role": "buffer"}
        entry.alloc = GOp("ttg.local_alloc", (), [value], attrs, line=entry.op.line, path=entry.op.path)
        entry.alloc.insert_before(loop)
        deallocs.append(GOp("ttg.local_dealloc", (value,), line=loop.line, path=loop.path))
    _barriers(loop, loads, schedule, buffers, num_ctas, ends)
    prefetch = schedule.new_back()
    for entry in loads:
        _copy(entry, schedule, prefetch, stages, is_expensive_load_or_store(entry.op, warps, lanes))
    return ends + deallocs


def _barriers(
    loop: GOp, loads: list[_Load], schedule: Schedule, buffers: int, num_ctas: int, ends: list[GOp]
) -> None:
    entries = {entry.op: entry for entry in loads if entry.op.name in TMA_LOADS}
    seen: set[GOp] = set()
    for load in entries:
        if load in seen:
            continue
        group = [load]
        seen.add(load)
        users = _group_users(entries[load])
        block = load.block
        assert block is not None
        for op in block.ops[load.index_in_block() + 1 :]:
            if op in users or op in seen:
                break
            if op in entries:
                group.append(op)
                seen.add(op)
                users |= _group_users(entries[op])
        ring = memory_value((buffers, num_ctas), "i64", barrier_encoding(num_ctas))
        attrs = {"buffers": buffers, "role": "barrier"}
        GOp("ttg.local_alloc", (), [ring], attrs, line=load.line, path=load.path).insert_before(loop)
        GOp("ttng.init_barrier", (ring,), line=load.line).insert_before(loop)
        builder = StageBuilder(schedule, schedule.at[load])
        barrier = view_before(builder, load, ring, "insert")
        builder.before(load, "ttng.barrier_expect", (barrier,))
        builder.place = None
        view = view_after(builder, group[-1], ring, "extract")
        wait = builder.after(view, "ttng.wait_barrier", (view.result,))
        for op in group:
            entries[op].barrier, entries[op].wait = barrier, wait
        ends.append(GOp("ttng.inval_barrier", (ring,), line=load.line))


def _group_users(entry: _Load) -> set[GOp]:
    load = entry.op
    block = load.block
    assert block is not None
    users: set[GOp] = set()
    for user in load.result.uses:
        if entry.is_wgmma and user.block is block:
            users.update(user.result.uses)
            continue
        outer = user.ancestor_in(block)
        if outer is not None:
            users.add(outer)
    return users


def _copy(entry: _Load, schedule: Schedule, prefetch: Cluster, stages: int, is_expensive: bool) -> None:
    load, alloc = entry.op, entry.alloc
    assert alloc is not None
    place = schedule.at[load]
    builder = StageBuilder(schedule, None)
    view = view_before(builder, load, alloc.result, "insert")
    result = load.result
    if entry.wait is not None and entry.barrier is not None:
        name = "ttng.async_tma_copy_global_to_local"
        builder.place = place
        builder.before(load, name, (*load.operands, entry.barrier, view))
        builder.place = None
        extract_op = view_after(builder, entry.wait, alloc.result, "extract")
        wait: GOp | None = None
    else:
        mask, other = load_mask(load), load_other(load)
        operands = [load.operands[0], *(value for value in (mask, other) if value is not None)]
        if entry.layout is not None and not is_expensive:
            operands = [_converted(value, entry.layout, load) for value in operands]
        operands.insert(1, view)
        builder.place = place
        copy = builder.before(
            load,
            "ttg.async_copy_global_to_local",
            operands,
            results=[GValue(TOKEN)],
            attrs={"has_mask": mask is not None, "has_other": other is not None},
        )
        commit = builder.before(load, "ttg.async_commit_group", (copy.result,), results=[GValue(TOKEN)])
        builder.place = None
        wait = builder.before(
            load, "ttg.async_wait", (commit.result,), results=[GValue(TOKEN)], attrs={"num": 0}
        )
        extract = view_before(builder, load, alloc.result, "extract")
        assert extract.op is not None
        extract_op = extract.op
    for user in alloc_users(result):
        replace_views(user.result, extract_op.result, schedule)
        schedule.erase(user)
        user.erase()
    if not entry.is_wgmma or result.uses:
        loaded = GValue(result.type, result.encoding, name=result.name)
        operands = [extract_op.result] + ([wait.result] if wait is not None else [])
        read = builder.after(extract_op, "ttg.local_load", operands, results=[loaded])
        value = read.result
        mask, other = (load_mask(load), load_other(load)) if load.name == "tt.load" else (None, None)
        if needs_select(load) and mask is not None and other is not None:
            chosen = GValue(result.type, result.encoding, name=result.name)
            value = builder.after(read, "arith.select", (mask, value, other), results=[chosen]).result
        result.replace_all_uses(value)
        if entry.feeds_dot and wait is not None:
            schedule.insert(wait, stages - 2, prefetch)
            schedule.insert(extract_op, stages - 2, prefetch)
    schedule.erase(load)
    load.erase()


def _converted(value: GValue, layout: Blocked, load: GOp) -> GValue:
    if value.encoding == layout or not value.is_tensor:
        return value
    convert = GOp("ttg.convert_layout", (value,), [value.like(layout)], line=load.line, path=load.path)
    return convert.insert_before(load).result


def pipeline_outer(loop: GOp) -> GOp | None:
    """Overlap the prologue of a pipelined inner loop with the end of the iteration before: two stages, the
    buffers outside the outer loop."""
    body = loop.body
    copies = [
        op for op in body.ops[:-1] if op.name in ("ttg.async_copy_global_to_local", "ttg.async_commit_group")
    ]
    if not copies or sum(op.name == "scf.for" for op in body.ops) != 1:
        return None
    early: set[GOp] = set()
    for op in copies:
        add_dependencies(op, early)
    if any(op.name == "scf.for" for op in early):
        return None
    for op in list(body.ops[:-1]):
        if op.name == "ttg.local_alloc" and not op.operands:
            op.move_before(loop)
            for user in op.result.users():
                if user.name == "ttg.local_dealloc":
                    user.move_after(loop)
        elif op.name == "arith.constant":
            op.move_before(loop)
    late: set[GOp] = set()
    found_loop = False
    for op in body.ops[:-1]:
        if op in early:
            continue
        if op.name == "scf.for":
            found_loop = True
        elif op.name != "ttg.async_wait" and found_loop:
            late.add(op)
    order = [(op, 1) for op in body.ops[:-1] if op not in early and op not in late]
    order += [(op, 0) for op in body.ops[:-1] if op in early]
    order += [(op, 1) for op in body.ops[:-1] if op in late]
    return expand(loop, order)


def add_dependencies(
    start: GOp, found: set[GOp], *, through_args: bool = True, without: Container[GOp] = ()
) -> None:
    """Add an operation and what it needs in its block to `found`; `through_args`: through carried values
    too."""
    stack = [start]
    while stack:
        op = stack.pop()
        if op in found or op in without:
            continue
        found.add(op)
        block = op.block
        for value in op.operands:
            seen: set[GValue] = set()
            while (
                through_args
                and block is not None
                and value.block is block
                and value.index > 0
                and value not in seen
            ):
                seen.add(value)
                value = block.terminator.operands[value.index - 1]
            if value.op is not None and value.op.block is block:
                stack.append(value.op)
