"""Prefetching of mma.sync operands from shared memory: Prefetch.cpp (3.7 and newer, where pipelined loads are
followed through the loop).

The operands of a loop's only product are read one step along K ahead, and the last piece of the product is
issued as late as its users allow. Of that only the last matters here: what stands between is then before a
product, to which conversions may be moved.
"""

from __future__ import annotations

from tritonlint.compiler.encodings import DotOperand, NvidiaMma
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.ops import is_elementwise


def sink_prefetched_dots(graph: Graph) -> None:
    """Move the products whose operands are prefetched down to their first user, in place."""
    for loop in [op for op in graph.walk_post() if op.name == "scf.for"]:
        dot = _prefetched(loop)
        if dot is not None:
            later = loop.body.ops[dot.index_in_block() + 1 :]
            results = set(dot.results)
            stop = next(
                op for op in later if op.blocks or op is later[-1] or not results.isdisjoint(op.operands)
            )
            dot.move_before(stop)


def _prefetched(loop: GOp) -> GOp | None:
    body = loop.body
    dots = [op for op in body.ops if op.name == "tt.dot"]
    if len(dots) != 1 or any(op.name.startswith("ttng.async_tma") for op in body.ops):
        return None
    dot = dots[0]
    encoding = dot.result.encoding
    left = dot.operands[0]
    if not (
        isinstance(encoding, NvidiaMma) and encoding.version == 2 and isinstance(left.encoding, DotOperand)
    ):
        return None
    width = 8 * left.encoding.k_width or 256 // left.type.bits
    if left.shape[-1] < width:
        return None
    loads = [_load_behind(operand) for operand in dot.operands[:2]]
    if any(load is None or not all(_is_promotable(value, loop) for value in load.operands) for load in loads):
        return None
    return dot if any(load is not None and len(load.operands) > 1 for load in loads) else None


def _load_behind(value: GValue) -> GOp | None:
    """The read from shared memory at the start of a chain of operations of one operand and one use each."""
    op = value.op
    while op is not None and op.result.has_one_use:
        if op.name == "ttg.local_load":
            return op if isinstance(op.result.encoding, DotOperand) else None
        if len(op.operands) != 1:
            return None
        op = op.operands[0].op
    return None


def _is_promotable(value: GValue, loop: GOp) -> bool:
    """Whether a value can be computed for the next iteration too: from carried values, by arithmetic, waits
    and choices of a buffer."""
    op = value.op
    if op is None or op.block is not loop.body:
        return True
    if op.blocks:
        return False
    if not (
        is_elementwise(op)
        or op.name in ("arith.constant", "ub.poison", "ttg.async_wait", "ttg.memdesc_index")
    ):
        return False
    return all(_is_promotable(operand, loop) for operand in op.operands)
