"""Which loads of a loop are pipelined, and by how many iterations: AssignLatencies.cpp (3.3 and newer)."""

from __future__ import annotations

from tritonlint.compiler.graph import GOp
from tritonlint.compiler.pipeline_loads import (
    DOTS,
    LOADS,
    TMA_LOADS,
    Axis,
    alloc_users,
    async_width_bits,
    copy_vector_bytes,
    operand_encoding,
)
from tritonlint.compiler.pipeline_schedule import carries_over_one, is_outer, nested_operands
from tritonlint.compiler.releases import Release
from tritonlint.kernel.ir import bits_of

_TMA_ALIGNMENT_BITS = 128 * 8  # of one stage of a descriptor load


def num_stages_of(loop: GOp, default: int) -> int:
    """Stages of a loop: its own, else those of the launch."""
    own = loop.attrs.get("num_stages")
    return default if own is None else int(own)


def can_pipeline(loop: GOp) -> bool:
    """Only innermost loops, all of whose carried values come from the body."""
    return not carries_over_one(loop) and not is_outer(loop)


def stage_is_aligned(op: GOp) -> bool:
    """Whether one stage of a descriptor load is a multiple of what TMA writes at once."""
    bits = op.result.type.elements * bits_of(op.result.type.element)
    return bits % _TMA_ALIGNMENT_BITS == 0


def is_beneficial(op: GOp, axis: Axis, release: Release, *, filter_small: bool = True) -> str:
    """Why a load is not worth pipelining; "" if it is."""
    result = op.result
    if op.name in TMA_LOADS:
        if release.tma_stage_multiple and not stage_is_aligned(op):
            return "one stage of the descriptor load is not a multiple of 128 bytes"
        return ""
    if not result.is_tensor and not release.pipelines_scalar_loads:
        return "a scalar load"
    if filter_small and async_width_bits(op, axis) < 32:
        return "a thread would move less than 4 bytes at once"
    if not result.is_tensor:
        return ""
    if operand_encoding(result, release)[1]:
        return "its users need different shared layouts"
    allocs = alloc_users(result)
    if allocs:
        encoding = allocs[0].result.encoding
        if any(alloc.result.encoding != encoding for alloc in allocs):
            return "its users need different shared layouts"
        vector = copy_vector_bytes(result.encoding, encoding, result.shape, result.type.element)
        if filter_small and vector < 4:
            return "neighbours in a thread are not neighbours in shared memory"
    return ""


def load_levels(
    loop: GOp,
    stages: int,
    axis: Axis,
    release: Release,
    *,
    filter_small: bool = True,
    reach_all: bool | None = None,
) -> tuple[dict[GOp, int], dict[GOp, str]]:
    """The level of each load to pipeline: 0 feeds a dot (or, without one, anything), 1 gives the address of a
    load of level 0, and so on; and why the others were left out."""
    body = loop.body
    levels: dict[GOp, int] = {}
    reasons: dict[GOp, str] = {}
    verdict: dict[GOp, str] = {}
    excluded: set[GOp] = set()

    def visit(start: GOp, seen: set[GOp]) -> None:
        stack = [(start, 0)]
        while stack:
            op, level = stack.pop()
            if op in seen:
                continue
            seen.add(op)
            if op in excluded:
                continue
            if op.name in LOADS:
                if op not in verdict:
                    verdict[op] = is_beneficial(op, axis, release, filter_small=filter_small)
                if verdict[op]:
                    reasons[op] = verdict[op]
                    continue
                if op in levels:
                    if levels[op] != level:
                        del levels[op]
                        excluded.add(op)
                        reasons[op] = "it is used at different distances from the dot"
                        continue
                else:
                    levels[op] = level
                level += 1
            following = []
            is_dot = op.name in DOTS
            for value in nested_operands(op):
                if is_dot and value is op.operands[2]:
                    continue  # only A and B are pipelined, never the accumulator
                producer = value.op
                if producer is not None and producer.block is op.block:
                    following.append((producer, level))
            stack.extend(reversed(following))

    roots = [op for op in body.ops[:-1] if op.name in DOTS or op.name in release.pipeline_roots]
    seen: set[GOp] = set()
    for op in roots:
        seen.clear()
        visit(op, seen)
    asked = loop.attrs.get("num_stages") is not None
    everywhere = release.loop_stages_reach_all_loads if reach_all is None else reach_all
    if asked and (everywhere or not roots):
        # What the last dot has reached is not visited again.
        for op in body.ops[:-1]:
            if op.name not in LOADS:
                visit(op, seen)
    for op in [op for op, level in levels.items() if level + 1 >= stages]:
        del levels[op]
        reasons[op] = f"num_stages={stages} leaves no stage for a load behind a load"
    return levels, reasons


def load_latencies(
    loop: GOp, stages: int, axis: Axis, release: Release
) -> tuple[dict[GOp, int], dict[GOp, str]]:
    """The latency in stages of each load to pipeline, and why the others are not."""
    levels, reasons = load_levels(loop, stages, axis, release)
    if not levels:
        return {}, reasons
    deepest = max(levels.values())
    latency = (stages - 1) // (deepest + 1)
    return dict.fromkeys(levels, latency), reasons
