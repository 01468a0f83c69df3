"""The pass interleave-tmem: reads of tensor memory, and what takes it, sink to where they are wanted, so that fewer
registers hold what was read. What is made of a read goes with it where it follows at once.

lib/Dialect/TritonNvidiaGPU/Transforms/InterleaveTMem.cpp. Tokens are gone by then, and do not count as uses.
"""

from __future__ import annotations

from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.ops import TERMINATORS, is_pure

# What declares no effects, and so counts as writing everything; or writes to no memory that is named.
_WRITE_ANYTHING = frozenset({
    "ttg.async_wait", "ttg.async_commit_group", "ttng.fence_async_shared", "ttng.tma_store_wait",
    "ttng.tensormap_create", "gpu.barrier", "ttg.barrier", "tt.debug_barrier", "llvm.intr.assume", "tt.call",
    "cf.early_return", "ttg.warp_specialize",
})  # fmt: skip
_WRITES_TENSOR_MEMORY = {
    "ttng.tmem_store": 0,
    "ttng.tmem_copy": 1,
    "ttng.tc_gen5_mma": 2,
    "ttng.tc_gen5_mma_scaled": 2,
}
"""Operations that write tensor memory, and the operand that says where."""
_VIEWS = frozenset({"ttg.memdesc_trans", "ttg.memdesc_reshape", "ttng.tmem_subslice", "ttg.memdesc_index"})
_STEPS = 64


def interleave_tmem(graph: Graph) -> None:
    """Move operations, in place."""
    for op in [op for op in graph.all_ops_post() if op.name in ("ttng.tmem_load", "ttng.tmem_alloc")]:
        buffer = op.operands[0] if op.name == "ttng.tmem_load" else op.results[0]
        for _ in range(_STEPS):
            if not _sink(_with_users(op), buffer):
                break


def _with_users(op: GOp) -> list[GOp]:
    """The operation, and those that follow it one after the other as the only use of the one before."""
    chain = [op]
    while (user := _only_user(chain[-1])) is not None and is_pure(user) and user is _next(chain[-1]):
        chain.append(user)
    return chain


def _only_user(op: GOp) -> GOp | None:
    used = [value for value in _values(op) if value.use_count]
    return used[0].users()[0] if len(used) == 1 and used[0].has_one_use else None


def _values(op: GOp) -> list[GValue]:
    """The results without tokens."""
    return op.results[:1] if op.name.startswith("ttng.tmem_") else op.results


def _next(op: GOp) -> GOp | None:
    block = op.block
    assert block is not None
    place = block.ops.index(op) + 1
    return block.ops[place] if place < len(block.ops) else None


def _sink(chain: list[GOp], buffer: GValue) -> bool:
    """Move the chain down to what uses it or may write its memory, if there is something in between; whether it was."""
    first = _next(chain[-1])
    made = {value for op in chain for value in _values(op)}
    target, following = None, first
    while following is not None and following.name not in TERMINATORS:
        target = following
        if _stops(following, made, buffer):
            break
        following = _next(following)
    if target is None or target is first:
        return False
    for op in chain:
        op.move_before(target)
    return True


def _stops(op: GOp, made: set[GValue], buffer: GValue) -> bool:
    for inner in (op, *op.all_ops()):
        if any(operand in made for operand in inner.operands) or inner.name in _WRITE_ANYTHING:
            return True
        if inner.name in ("tt.elementwise_inline_asm", "tt.extern_elementwise") and not is_pure(inner):
            return True
        if inner.name == "tt.load" and inner.attrs.get("volatile", False):
            return True
        written = _WRITES_TENSOR_MEMORY.get(inner.name)
        if written is not None and _may_alias(inner.operands[written], buffer):
            return True
    return False


def _may_alias(one: GValue, other: GValue) -> bool:
    first, second = _accessed(one), _accessed(other)
    if first is None or second is None:
        return True
    if first[0] is not second[0]:
        return False
    return all(
        a is None or b is None or (a[0] < b[1] and b[0] < a[1])
        for a, b in zip(first[1:], second[1:], strict=True)
    )


_Range = tuple[int, int] | None


def _accessed(memory: GValue) -> tuple[GValue, _Range, _Range] | None:
    """Where tensor memory was taken, and which buffers and columns of it a view shows; None where it is not known."""
    op = memory.op
    if op is None:
        return None
    if op.name == "ttng.tmem_alloc":
        return memory, None, (0, memory.shape[-1])
    if op.name not in _VIEWS:
        return None
    inner = _accessed(op.operands[0])
    if inner is None:
        return None
    alloc, buffers, columns = inner
    if op.name == "ttng.tmem_subslice" and columns is not None:
        start = columns[0] + int(op.attrs["offset"])
        return alloc, buffers, (start, start + memory.shape[-1])
    if op.name == "ttg.memdesc_index":
        index = op.operands[1].op if len(op.operands) > 1 else None  # a ring's place is not known
        if index is not None and index.name == "arith.constant":
            place = int(index.attrs["value"])
            return alloc, (place, place + 1), columns
    return inner
