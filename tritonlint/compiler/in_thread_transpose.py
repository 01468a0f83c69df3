"""The pass in-thread-transpose of AMD: operands that lie in LDS against the direction in which products read them
are turned over in registers before they are stored.

third_party/amd/lib/TritonAMDGPUTransforms/InThreadTranspose.cpp. A thread loads more of the dimension that is
summed over, turns what it holds, and stores it in an encoding of its own, in which no other operand lies.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tritonlint.compiler.accelerate_matmul import insert_convert
from tritonlint.compiler.amd_shared import swizzled_for_matrix
from tritonlint.compiler.blocked import blocked
from tritonlint.compiler.coalesce_pass import convert_all
from tritonlint.compiler.encodings import (
    AmdMfma,
    AmdWmma,
    Blocked,
    DotOperand,
    Linear,
    RotatingShared,
    cta_of,
)
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.linear import dim_offsets, log2
from tritonlint.compiler.to_linear import to_linear

_STORE_BITS = 64  # that a thread writes to LDS at once


@dataclass(slots=True)
class _Chain:
    """What stands between global loads and the reads of an operand: stores to memory, and the memory itself."""

    stores: list[GOp] = field(default_factory=list)
    memory: list[GValue] = field(default_factory=list)
    loads: list[GOp] = field(default_factory=list)


def transpose_in_threads(graph: Graph, warps: int, lanes: int) -> None:
    """Turn operands over where their loads have room for it, in place; a load is turned for one operand only."""
    for read in [op for op in graph.walk() if op.name == "ttg.local_load"]:
        encoding = read.result.encoding
        if not isinstance(encoding, DotOperand) or not isinstance(encoding.parent, (AmdMfma, AmdWmma)):
            continue
        k_dim = 1 - encoding.op_idx
        chain = _chain_of(read, k_dim)
        if chain is not None:
            _transpose(read.result, encoding, chain, warps, lanes)


def _chain_of(read: GOp, k_dim: int) -> _Chain | None:
    """The loads, stores and memory behind a read, where they can be turned over."""
    chain = _memory_around(read)
    if chain is None or not chain.stores:
        return None
    for store in chain.stores:
        stored = store.operands[0]
        if not isinstance(stored.encoding, Blocked) or stored.encoding.order[0] == k_dim:
            return None
        chain.loads += [op for op in _definitions(stored) if op.name == "tt.load" and op not in chain.loads]
    if not chain.loads:
        return None
    first = chain.loads[0].result
    alike = all(
        load.result.type == first.type and load.result.encoding == first.encoding for load in chain.loads
    )
    return chain if alike and len(first.shape) == 2 and _room(first, k_dim) >= 2 else None


def _room(value: GValue, dim: int) -> int:
    """How many elements along a dimension a thread can hold of a loaded tile."""
    layout = value.encoding
    if not isinstance(layout, Blocked):
        return 0
    return max(1, value.shape[dim] // (layout.threads_per_warp[dim] * layout.warps_per_cta[dim]))


def _definitions(value: GValue) -> list[GOp]:
    """The operations that make a value, control flow looked through."""
    found: list[GOp] = []
    stack, seen = [value], set[GValue]()
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        op = value.op
        loop = value.block.parent if value.block is not None else None
        if op is not None and op.name in ("scf.for", "scf.if"):
            stack += [block.ops[-1].operands[value.index] for block in op.blocks if block.ops]
        elif op is not None:
            found.append(op)
        elif loop is not None and loop.name == "scf.for" and value.index > 0:
            stack += [loop.body.ops[-1].operands[value.index - 1], loop.operands[value.index + 2]]
    return found


def _memory_around(read: GOp) -> _Chain | None:
    """Memory, and what writes it, that is connected with what one read sees; None where it is used in other ways
    than by whole stores and loads."""
    chain = _Chain()
    stack, seen = [read], set[GOp]()
    while stack:
        op = stack.pop(0)
        if op in seen:
            continue
        seen.add(op)
        behind: GValue | None = None
        if op.name == "ttg.local_store":
            chain.stores.append(op)
            behind = op.operands[1]
        elif op.name in ("ttg.local_load", "ttg.local_dealloc", "ttg.memdesc_index"):
            behind = op.operands[0]
        elif op.name != "ttg.local_alloc":
            return None
        elif op.operands:
            chain.stores.append(op)
        if behind is not None:
            chain.memory.append(behind)
            stack += [
                made for made in _definitions(behind) if made.name in ("ttg.memdesc_index", "ttg.local_alloc")
            ]
        if op.name in ("ttg.local_alloc", "ttg.memdesc_index"):
            stack += op.result.users()
    return chain


def _transpose(operand: GValue, encoding: DotOperand, chain: _Chain, warps: int, lanes: int) -> None:
    first = chain.loads[0].result
    layout = first.encoding
    assert isinstance(layout, Blocked)
    k_dim = 1 - encoding.op_idx
    size = list(layout.size_per_thread)
    size[k_dim] = min(_room(first, k_dim), _STORE_BITS // first.type.bits)
    raked = blocked(first.shape, tuple(size), layout.order, warps, lanes, cta_of(layout))
    turned = _turned(raked, first.shape)
    for load in chain.loads:
        convert_all(load, raked)
    for store in chain.stores:
        stored = insert_convert(store.operands[0], raked, store)
        op = GOp(
            "amdg.in_thread_transpose", [stored], [stored.like(turned)], line=store.line, path=store.path
        )
        store.set_operand(0, op.insert_before(store).result)
    order = (1, 0) if encoding.op_idx == 0 else (0, 1)
    plain = swizzled_for_matrix(encoding, operand.shape, order, operand.type.bits)
    rotating = RotatingShared(plain.vec, plain.per_phase, plain.max_phase, order, plain.cta_layout)
    for memory in chain.memory:
        memory.encoding = rotating


def _turned(encoding: Blocked, shape: tuple[int, ...]) -> Linear:
    """The encoding in which a thread holds its tile with the other dimension fastest."""
    layout = to_linear(encoding, shape)
    offsets = dim_offsets(layout.shape)
    tile = [
        1 << (offsets[dim] + bit)
        for dim in reversed(encoding.order)
        for bit in range(log2(encoding.size_per_thread[dim]))
    ]
    register = (*tile, *layout.register[len(tile) :])
    return Linear(type(layout)(layout.shape, register, layout.lane, layout.warp, layout.block))
