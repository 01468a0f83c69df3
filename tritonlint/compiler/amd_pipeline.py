"""Software pipelining on AMD: how many LDS buffers the loads of a loop get.

Follows ScheduleLoops.cpp and LowerLoops.cpp of third_party/amd (StreamPipeline.cpp in older releases). A load
that feeds a dot goes through registers into a ring of max(1, num_stages - 1 - L) buffers, L being the largest
level of loads behind loads; one more where it is copied straight to LDS. All buffers of a loop live from
before it to its end, so the order of its operations does not change the total and it is left as it stands;
but where a load stays in registers, or is not pipelined, and a dot reads what is computed from it, or a dot
adds to it, the loop is expanded, since later passes place conversions by the values that it then carries, and
once more behind it.
"""

from __future__ import annotations

from tritonlint.compiler.amd_bypass import bypass_memory
from tritonlint.compiler.amd_schedule import expand_single_dot
from tritonlint.compiler.amd_shared import operand_encoding_amd
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.ops import DOTS
from tritonlint.compiler.pipeline import LoadChoice, PipelineReport, loops_of, what_stops
from tritonlint.compiler.pipeline_build import TOKEN, buffer_alloc, memory_value, replace_views
from tritonlint.compiler.pipeline_latency import can_pipeline, load_levels, num_stages_of
from tritonlint.compiler.pipeline_loads import (
    LOADS,
    Axis,
    alloc_users,
    async_width_bits,
    load_mask,
    load_other,
)
from tritonlint.compiler.pipeline_schedule import forward_slice
from tritonlint.compiler.releases import Release
from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import bits_of


def copies_to_lds(target: Target, release: Release) -> bool:
    """Whether loads are copied straight to LDS by default."""
    return target.arch in release.amd_async_copy


def _keeps_small_loads(target: Target, release: Release) -> bool:
    """Whether loads of less than 32 bits a thread are pipelined too."""
    return target.arch.startswith(release.amd_small_loads)


def pipeline_amd(
    graph: Graph, release: Release, target: Target, num_stages: int, axis: Axis
) -> PipelineReport:
    """Give the loads of the loops their LDS buffers, in place."""
    report = PipelineReport()
    use_copies = copies_to_lds(target, release)
    for loop in loops_of(graph):
        stages = num_stages_of(loop, num_stages)
        loads = [op for op in loop.body.ops if op.name in LOADS]
        notes = {
            op: LoadChoice(op.line, op.path, op.result.shape, op.result.type.element, 0, "no dot uses it")
            for op in loads
        }
        report.loads.extend(notes.values())
        through_registers = release.amd_pipeliner == "registers"
        if through_registers:
            if num_stages != 0:
                continue  # up to 3.1 only num_stages=0 asks for pipelining
            stages = 2
        if not can_pipeline(loop) or stages <= 1:
            for note in notes.values():
                note.why_not = "num_stages is 1" if stages <= 1 else "only innermost loops are pipelined"
            continue
        levels, reasons = load_levels(
            loop,
            stages,
            axis,
            release,
            filter_small=not _keeps_small_loads(target, release),
            reach_all=release.amd_reaches_all_loads,
        )
        for op, why in reasons.items():
            if op in notes:
                notes[op].why_not = why
        stopped = what_stops(loop, release)
        if levels and stopped:
            report.stopped_by = report.stopped_by or stopped
            for note in notes.values():
                note.why_not = f"{stopped} in the loop stops pipelining"
            continue
        if not levels:
            continue
        deepest = max(levels.values())
        buffers = max(1, stages - 1 - deepest)
        if use_copies:
            buffers += 1
        if release.amd_chained_dots and _is_chained(loop, stages, deepest):
            buffers = 2 if use_copies else 1
        elif deepest > stages - 1:
            continue
        skips = bypass_memory(loop, levels) if release.amd_bypasses_lds else set()
        placed = dict(levels)
        stores: list[GOp] = []
        lost = [load.line for load in loads if load not in levels and _is_converted_for_a_dot(load)]
        for load in levels:
            if load.name != "tt.load" or not load.result.is_tensor:
                continue
            encoding = (
                None if load in skips else operand_encoding_amd(load, axis, target, release, use_copies)
            )
            if encoding is None:
                if _is_converted_for_a_dot(load):
                    lost.append(load.line)
                notes[load].why_not = "it feeds no dot operand, so it stays in registers"
                continue
            alloc = buffer_alloc(loop, load, encoding, buffers)
            direct = use_copies and can_copy(load, buffers, axis, target)
            notes[load].buffers, notes[load].why_not = buffers, ""
            copy, written = _to_ring(load, alloc, direct, replace_all=not release.amd_matches_alloc)
            placed[copy] = placed.pop(load)
            stores += written
        if lost or _adds_to_loaded(loop):
            chained = release.amd_chained_dots and _is_chained(loop, stages, deepest)
            if chained or expand_single_dot(loop, stages, placed, stores) is None:
                report.carried += lost
    return report


def _is_converted_for_a_dot(load: GOp) -> bool:
    """Whether a dot reads what is computed from a load, and not from other dots, in another layout. The loop
    carries it in registers, and later passes place the conversion by the carried value, not by the load."""
    assert load.block is not None
    of_dots = forward_slice([op for op in load.block.ops if op.name == "tt.dot"])
    on_the_way: set[GOp] = set()
    stack = [load]
    reaches_dot = False
    while stack:
        for user in stack.pop().result.uses:
            if user.name == "tt.dot":
                reaches_dot = True
            elif user not in on_the_way and user not in of_dots and len(user.results) == 1:
                on_the_way.add(user)
                stack.append(user)
    conversions = {op for op in on_the_way if op.name == "ttg.convert_layout"}
    return reaches_dot and bool(conversions) and conversions != on_the_way


def _adds_to_loaded(loop: GOp) -> bool:
    """Whether a dot adds to what an iteration loads. Behind the loop its accumulator is also what is left where
    the iteration does not exist, and a conversion of a value with two users stays where it is."""
    for dot in loop.body.ops:
        if dot.name not in DOTS:
            continue
        stack, seen = [dot.operands[2]], set[GOp]()
        while stack:
            op = stack.pop().op
            if op is None or op.block is not loop.body or op in seen or op.name in DOTS:
                continue
            if op.name in LOADS or op.name == "ttg.local_load":
                return True
            seen.add(op)
            stack += op.operands
    return False


def _is_chained(loop: GOp, stages: int, deepest: int) -> bool:
    """Four stages and two dots, the first feeding the second, no loads behind loads."""
    dots = [op for op in loop.body.ops if op.name == "tt.dot"]
    return stages == 4 and len(dots) == 2 and deepest == 0 and dots[1] in forward_slice([dots[0]])


def can_copy(load: GOp, buffers: int, axis: Axis, target: Target) -> bool:
    """Whether a load can be copied straight to LDS: at least 32 bits at once, enough bytes for every lane."""
    if buffers <= 1 or async_width_bits(load, axis) < 32:
        return False
    result = load.result
    return result.type.elements * bits_of(result.type.element) >= 32 * target.warp_size


def _to_ring(load: GOp, alloc: GOp, direct: bool, replace_all: bool) -> tuple[GOp, list[GOp]]:
    """The users of the load read a buffer of the ring; the load, or its copy to LDS, and what stores it."""
    ring = alloc.result
    result = load.result
    view = memory_value(ring.shape[1:], ring.type.element, ring.encoding)
    index = GOp("ttg.memdesc_index", (ring,), [view], {"index": "extract"}, line=load.line, path=load.path)
    if direct:
        index.insert_before(load)
        mask, other = load_mask(load), load_other(load)
        operands = [load.operands[0], view, *(value for value in (mask, other) if value is not None)]
        attrs = {"has_mask": mask is not None, "has_other": other is not None}
        copy = GOp(
            "ttg.async_copy_global_to_local", operands, [GValue(TOKEN)], attrs, line=load.line, path=load.path
        )
        last = copy.insert_after(index)
    else:
        index.insert_after(load)
        last = index
    gone = [user for user in alloc_users(result) if replace_all or user.result.encoding == ring.encoding]
    for user in gone:
        replace_views(user.result, view, None)
        user.erase()
    if result.uses:
        loaded = GValue(result.type, result.encoding, name=result.name)
        result.replace_all_uses(loaded)
        GOp("ttg.local_load", (view,), [loaded], line=load.line, path=load.path).insert_after(last)
    if direct:
        load.erase()
        return copy, []
    store = GOp("ttg.local_store", (result, view), line=load.line, path=load.path).insert_after(index)
    return load, [index, store]
