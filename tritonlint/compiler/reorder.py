"""The pass reorder-instructions: where conversions, operand loads and local memory end up, and so how long
they live.

lib/Dialect/TritonGPU/Transforms/ReorderInstructions.cpp.
"""

from __future__ import annotations

from tritonlint.compiler.encodings import DotOperand
from tritonlint.compiler.graph import GOp, Graph, op_dominates
from tritonlint.compiler.ops import writes_memory
from tritonlint.compiler.releases import Release

# Waits, fences and freed memory, which declare no writes; and what declares nothing at all.
_NO_WRITES = frozenset(
    {"ttg.async_wait", "ttg.async_commit_group", "ttng.fence_async_shared", "ttg.local_dealloc"}
)
_UNDECLARED = frozenset(
    {
        "ttng.warp_group_dot_wait",
        "ttng.tma_store_wait",
        "gpu.barrier",
        "ttg.barrier",
        "tt.debug_barrier",
        "llvm.intr.assume",
    }
)


def reorder_instructions(graph: Graph, release: Release) -> None:
    """Move operations, in place."""
    for op in _named(graph, "ttg.convert_layout"):
        _sink_below_deallocs(op)
    moves: list[tuple[GOp, GOp]] = []
    for op in list(graph.walk_post()):
        if _raises_pressure(op) and op.results[0].has_one_use:
            user = next(iter(op.results[0].uses))
            if _loop_of(user) is not _loop_of(op):
                moves.append((op, user))
    for op, user in moves:
        op.move_before(user)
    for op in _named(graph, "ttg.local_alloc"):
        if op.operands and op.operands[0].op is not None:
            source = op.operands[0].op
            if source.name in ("arith.constant", "tt.splat"):
                continue
            if release.allocs_stay_behind_writes and _crosses_write(source, op):
                continue
            op.move_after(source)
    for name in ("tt.trans", "ttg.memdesc_trans"):
        for op in _named(graph, name):
            if op.operands[0].op is not None:
                op.move_after(op.operands[0].op)
    for op in _named(graph, "ttg.local_load"):
        _after_other_operand(op, release)


def _named(graph: Graph, name: str) -> list[GOp]:
    return [op for op in graph.walk_post() if op.name == name]


def _loop_of(op: GOp) -> GOp | None:
    return next((around for around in op.ancestors() if around.name == "scf.for"), None)


def _raises_pressure(op: GOp) -> bool:
    if op.name == "ttg.local_load":
        return True
    return op.name == "ttg.convert_layout" and isinstance(op.results[0].encoding, DotOperand)


def _first_use(op: GOp) -> GOp | None:
    block = op.block
    assert block is not None
    users = [user.ancestor_in(block) for user in op.results[0].uses]
    found = [user for user in users if user is not None]
    return min(found, key=block.ops.index) if found else None


def _sink_below_deallocs(op: GOp) -> None:
    """A conversion waits until memory that is freed before its first use is free."""
    block = op.block
    assert block is not None
    if not any(other.name == "ttg.local_dealloc" for other in block.ops):
        return
    first = _first_use(op)
    after: GOp | None = None
    for other in block.ops[block.ops.index(op) :]:
        if other is first:
            break
        if other.name == "ttg.local_dealloc":
            after = other
    if after is not None:
        op.move_after(after)


def _after_other_operand(op: GOp, release: Release) -> None:
    """Operand B is read after operand A."""
    encoding = op.results[0].encoding
    if not isinstance(encoding, DotOperand) or encoding.op_idx != 1 or not op.results[0].has_one_use:
        return
    dot = next(iter(op.results[0].uses))
    if dot.name != "tt.dot":
        return
    other = dot.operands[0].op
    if other is None or other.name != "ttg.local_load" or not op_dominates(op, other):
        return
    if not (release.reads_stay_behind_writes and _crosses_write(op, other)):
        op.move_after(other)


def _crosses_write(first: GOp, second: GOp) -> bool:
    """Whether something between the two operations, or around the second one, says that it writes memory. What holds
    others says what they say, unless one of them does not declare its effects: then it says nothing."""
    block = first.block
    assert block is not None
    place = second.ancestor_in(block)
    if place is None:
        return True
    start, end = block.ops.index(first), block.ops.index(place)
    last = end if place is second else end + 1
    return any(_says_it_writes(between) for between in block.ops[start + 1 : last])


def _says_it_writes(op: GOp) -> bool:
    held = [op, *op.walk()]
    if any(inner.name in _UNDECLARED for inner in held):
        return False
    return any(writes_memory(inner) and inner.name not in _NO_WRITES for inner in held if not inner.blocks)
