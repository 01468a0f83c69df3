"""Which values a thread holds, and when: the values of the graph after all passes with their places in program order.

A value that is another one seen otherwise (a view, the result of a wait) is the same value. Words are 32-bit registers
of one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Literal

from tritonlint.compiler.bank_conflicts import shared_access
from tritonlint.compiler.encodings import AmdMfma, AmdWmma, DotOperand, NvidiaMma
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.layout_properties import (
    contig_per_thread_of,
    distinct_by_dim,
    elements_per_thread,
    order_of,
)
from tritonlint.compiler.liveness import Numbering
from tritonlint.compiler.ops import DOTS
from tritonlint.kernel.ir import bits_of

Family = Literal["none", "mma_v2", "wgmma", "tcgen05", "mfma", "wmma"]

_WORD_BITS = 32
_ACCESS_BITS = 128  # the widest access of one thread
# The result is the operand in other places: no register of its own.
VIEWS = frozenset(
    {"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.bitcast", "tt.unsplat"}
)
# Every element has to be there before the next operation starts, so the values that live on are all held.
BARRIERS = frozenset(
    {
        "tt.reduce",
        "tt.scan",
        "tt.dot",
        "tt.dot_scaled",
        "ttng.warp_group_dot",
        "ttg.convert_layout",
        "ttng.tc_gen5_mma",
        "ttng.tmem_load",
    }
)
TCGEN05 = frozenset({"ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled"})
_MEMORY_VIEWS = frozenset(
    {
        "ttg.memdesc_trans",
        "ttg.memdesc_index",
        "ttg.memdesc_subslice",
        "ttg.memdesc_reshape",
        "ttg.memdesc_reinterpret",
    }
)
_SCRATCHED = frozenset({"tt.reduce", "tt.scan", "ttg.convert_layout"})
_INDEX_OPS = frozenset(
    {
        "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.divui", "arith.remsi", "arith.remui",
        "arith.extsi", "arith.extui", "arith.trunci", "arith.shli", "arith.shrsi", "arith.andi",
        "arith.minsi", "arith.maxsi", "tt.make_range",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lives:
    """The values of a graph that registers may hold. `starts` has the position at which each comes to be, `ends` the one
    after its last use; `streamed` are operands of products that are read from shared memory step by step along K,
    `waiting` those of them that are read before all threads meet and multiplied after it, `indices` integer tensors that
    only addresses and masks are made of, `rounds` changes of layout that go on in several rounds or between the threads
    of a warp. `family`, `accumulator` and `operands` are those of Need."""

    numbering: Numbering
    starts: dict[GValue, int]
    ends: dict[GValue, int]
    streamed: set[GValue]
    waiting: set[GValue]
    indices: set[GValue]
    family: Family
    accumulator: int
    operands: int
    copies: dict[GOp, int]  # of asynchronous copies: copies_of
    rounds: set[GOp]

    @property
    def ops(self) -> list[GOp]:
        return self.numbering.ops


def lives_of(graph: Graph, scratch: Callable[[GOp], int] | None) -> Lives:
    """One pass over the graph after all passes; `scratch` as in need_of."""
    numbering = Numbering(graph)
    family: Family = "none"
    accumulator = operands = 0
    streamed: set[GValue] = set()
    copies: dict[GOp, int] = {}
    rounds: set[GOp] = set()
    roots: dict[GValue, GValue] = {}
    starts: dict[GValue, int] = {}
    ends: dict[GValue, int] = {}

    def meet(value: GValue, root: GValue) -> None:
        root = roots.setdefault(value, root)
        if not root.is_tensor and _takes_nothing(root):
            return
        start, end = numbering.interval(value)
        starts.setdefault(root, start)
        ends[root] = max(ends.get(root, 0), end)

    for arg in graph.body.args:
        meet(arg, arg)
    for op in numbering.ops:
        for block in op.blocks:
            if block in numbering.span:
                for arg in block.args:
                    meet(arg, arg)
        if op.name in VIEWS:
            source = op.operands[0]
            meet(op.result, roots.get(source, source))
        elif op.name == "ttng.warp_group_dot_wait":
            for source, result in zip(op.operands, op.results, strict=True):
                meet(result, roots.get(source, source))
        else:
            for result in op.results:
                meet(result, result)
        if op.results and _is_fragment(op, streamed):
            streamed.add(op.result)
        if op.name == "ttg.async_copy_global_to_local":
            copies[op] = copies_of(op)
        if op.name == "ttg.convert_layout" and scratch is not None and scratch(op) < _bytes(op.result):
            rounds.add(op)
        if op.name in TCGEN05:
            family = "tcgen05"
        elif op.name in DOTS:
            found = family_of(op)
            if found != "none" and family != "tcgen05":
                family = found
            accumulator = max(accumulator, words_with_copies(op.result))
            operands = max(operands, sum(map(words_with_copies, op.operands[:2])))
    waiting = _held_over_barriers(streamed, numbering, ends, scratch) if family == "mma_v2" else set()
    indices = _index_values(numbering.ops)
    return Lives(
        numbering, starts, ends, streamed, waiting, indices, family, accumulator, operands, copies, rounds
    )


def _takes_nothing(value: GValue) -> bool:
    """A memory or a constant, which no register of a thread holds."""
    if value.memory or value.type.shape is not None:
        return True
    return value.op is not None and value.op.name == "arith.constant"


def _bytes(value: GValue) -> int:
    return prod(value.shape) * max(8, bits_of(value.type.element)) // 8


def family_of(op: GOp) -> Family:
    if op.name == "ttng.warp_group_dot":
        return "wgmma"
    if isinstance(op.result.encoding, AmdMfma):
        return "mfma"
    if isinstance(op.result.encoding, AmdWmma):
        return "wmma"
    return "mma_v2" if isinstance(op.result.encoding, NvidiaMma) else "none"


def _index_values(ops: list[GOp]) -> set[GValue]:
    """Integer tensors that only addresses and masks are made of."""
    found: set[GValue] = set()
    for op in reversed(ops):
        if op.name not in _INDEX_OPS and op.name not in VIEWS:
            continue
        value = op.result
        if value.type.element.startswith("*") or not value.type.element.startswith(("i", "u")):
            continue
        if all(
            user.name in ("tt.addptr", "arith.cmpi") or (bool(user.results) and user.results[0] in found)
            for user in value.uses
        ):
            found.add(value)
    return found


def is_free(value: GValue) -> bool:
    """A constant, a range of the thread's own index, or a mask, which predicates hold."""
    op = value.op
    if op is not None and op.name in ("arith.constant", "tt.make_range"):
        return True
    return value.type.element == "i1"


def _is_fragment(op: GOp, streamed: set[GValue]) -> bool:
    """Whether the result is an operand of mma that is read from shared memory, or converted from one: it is made step
    by step along K."""
    if not isinstance(op.result.encoding, DotOperand):
        return False
    if op.name == "ttg.local_load":
        return True
    tensors = [operand for operand in op.operands if operand.is_tensor]
    return len(tensors) == 1 and tensors[0] in streamed and op.name != "ttg.convert_layout"


def _held_over_barriers(
    streamed: set[GValue],
    numbering: Numbering,
    ends: dict[GValue, int],
    scratch: Callable[[GOp], int] | None,
) -> set[GValue]:
    """Of the operands that mma.sync reads from shared memory step by step, those that are read before all threads meet
    and used after it, as where the other operand is written to shared memory in between: they are there as a whole, since
    no read passes the barrier. The sums of Need leave them out like the others."""
    # What is written after the first position, or asked for there, is read at the second.
    meetings: list[tuple[int, int]] = []
    for position, op in enumerate(numbering.ops):
        written = _written_at_once(op)
        if written is not None:
            meetings.append((numbering.position.get(written, position), position))
        elif scratch is not None and op.name in _SCRATCHED and scratch(op) > 0:
            meetings.append((position, position))

    def is_held(value: GValue) -> bool:
        start, last = numbering.position[value.op] if value.op is not None else 0, ends.get(value, 0) - 1
        return any(start < first and second < last for first, second in meetings)

    return {value for value in streamed if is_held(value)}


def _written_at_once(op: GOp) -> GOp | None:
    """Where the threads write what an operation reads from shared memory, if they write it as a whole."""
    if op.name != "ttg.local_load":
        return None
    source = op.operands[0].op
    while source is not None and source.name in _MEMORY_VIEWS:
        source = source.operands[0].op
    return source if source is not None and source.name == "ttg.local_alloc" and source.operands else None


def copies_of(op: GOp) -> int:
    """Accesses of one thread for an asynchronous copy, beyond those that its addresses in global memory allow: where
    neighbours there are none in shared memory, each has a place of its own."""
    place, memory = op.operands[0], op.operands[1]
    accesses, _ = shared_access(place.encoding, place.shape, memory.encoding, max(8, memory.type.bits))
    wide = elements_per_thread(place.encoding, place.shape) / access_of(place)
    return max(0, round(accesses - wide))


def words_of(value: GValue) -> int:
    """32-bit words that one thread holds of a tensor."""
    return _words(value, distinct_of(value)) if _is_held(value) else 0


def words_with_copies(value: GValue) -> int:
    """The same with copies. The sums of Need count them."""
    return _words(value, elements_per_thread(value.encoding, value.shape)) if _is_held(value) else 0


def _is_held(value: GValue) -> bool:
    return value.is_tensor and value.encoding is not None


def _words(value: GValue, elements: int) -> int:
    return -(-elements * bits_of(value.type.element) // _WORD_BITS)


def distinct_of(value: GValue) -> int:
    """Elements that one thread holds of a tensor: copies, as of (128, 1) in a layout for (128, 64), are one register."""
    return prod(distinct_by_dim(value.encoding, value.shape))


def access_of(value: GValue) -> int:
    """Neighbouring elements that one address serves."""
    contig = contig_per_thread_of(value.encoding, value.shape)
    fastest = order_of(value.encoding, value.shape)[0]
    return max(1, min(contig[fastest], _ACCESS_BITS // _pointee_bits(value)))


def _pointee_bits(value: GValue) -> int:
    element = value.type.element
    return max(8, bits_of(element[1:])) if element.startswith("*") else 16


def fragments_of(op: GOp) -> int:
    """Words of both operands for one step along K of mma_v2 (16 x 8 tiles, 256 bits of K): 4 for 16 rows of
    A, 2 for 8 columns of B; of wgmma, A where it comes from registers."""
    total = 0
    for operand in op.operands[:2]:
        if isinstance(operand.encoding, DotOperand):
            k = operand.shape[-1] if operand.encoding.op_idx == 0 else operand.shape[-2]
            steps = max(1, k * bits_of(operand.type.element) // 256)
            total += max(1, words_of(operand) // steps)
    return total


def ahead_of(op: GOp) -> int:
    """Words of both operands that mma reads from shared memory while it multiplies an earlier step along K: of two steps
    the second one, of many nearly always one whole step. So registers grow with the steps only up to a bound: on an H200
    products with 2, 4 and 8 steps held about 1.3, 1.8 and 2 of them (B by column)."""
    fragments, operands = fragments_of(op), operands_of(op)
    return round(fragments * (1 - fragments / operands)) if operands > fragments else 0


def operands_of(op: GOp) -> int:
    """Words of the operands that a dot reads from registers."""
    return sum(words_of(operand) for operand in op.operands[:2])
