"""What one thread has to keep: where it keeps most, and what it keeps for certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.liveness import Numbering
from tritonlint.compiler.ops import LOOPS
from tritonlint.compiler.register_lives import (
    BARRIERS,
    VIEWS,
    Family,
    access_of,
    is_free,
    lives_of,
    words_of,
    words_with_copies,
)
from tritonlint.compiler.register_points import Point, points_of

_LARGE = 32  # words of a value that can be too much for any limit
_ELEMENTWISE = frozenset(
    {"tt.fp_to_fp", "tt.clampf", "tt.extern_elementwise", "tt.precise_sqrt", "tt.precise_divf"}
)
_FEW = 8  # so many times fewer words than a value are few beside it
_NOTHING: frozenset[GValue] = frozenset()


@dataclass(frozen=True, slots=True)
class Need:
    """What one thread has to keep, in 32-bit words unless it says otherwise."""

    family: Family
    peak: int  # the most words of data (not of addresses) that are live at once
    loop_peak: int  # the same inside loops
    held: int  # the most words of data that are live across an operation that needs all elements at once
    surely_held: int  # the same where a value is kept as what it is computed from until it is needed
    addresses: int  # the most words of pointers and index tensors that are live at once, one per access
    loop_addresses: int  # the same inside loops
    accumulator: int  # of the largest dot whose accumulator is in registers
    operands: int  # of both operands of the largest dot that reads them from registers, over all of its K
    scalars: int  # arguments of the kernel
    batch: int = 0  # the most words of values kept, with those of all loads that are on their way at once
    copies: int = 0  # the most accesses of one asynchronous copy, beyond those of wide addresses
    whole: int = 0  # of the largest single value that is held over such an operation
    stored: int = 0  # of what one store has to have been loaded for it before it begins
    turned: int = (
        0  # the most words of data that are live where a layout changes in rounds, what changes included
    )
    points: tuple[Point, ...] = ()  # the places that may need most


def need_of(graph: Graph, scratch: Callable[[GOp], int] | None = None) -> Need:
    """One pass over the graph after all passes. `scratch`: the shared memory that an operation takes while it runs; None
    where changes of layout count as if they went on in one round."""
    lives = lives_of(graph, scratch)
    numbering, ops = lives.numbering, lives.ops
    size = len(ops) + 1
    data = [0] * (size + 1)
    saved = [0] * (size + 1)  # words of data that need not be there yet, since they can be computed later
    address = [0] * (size + 1)
    born = [0] * (size + 1)
    large: list[tuple[int, int, int]] = []  # where single values that may fill all registers begin and end
    for root, start in lives.starts.items():
        words = 0
        if root.is_tensor and root.encoding is not None and not is_free(root):
            words = words_with_copies(root)
        if not words:
            continue
        # The last user writes its result over the operand.
        end = max(start + 1, lives.ends[root] - 1)
        if root.type.element.startswith("*") or root in lives.indices:
            kept = max(1, words // access_of(root))
            address[start] += kept
            address[end] -= kept
        elif root not in lives.streamed:
            data[start] += words
            data[end] -= words
            born[start] += words
            least = _before_computing(root, words)
            wider = words - least
            again = _made_again_from(root, words)
            if min(least, again) > _LARGE:
                large.append((start, end, min(least, again)))
            if wider:
                first = min(end, _first_use(root, numbering.position, end))
                saved[start] += wider
                saved[first] -= wider
                if words > _LARGE and again == words:
                    large.append((first - 1, end, words))
    looped = _in_loops(numbering, size)
    alive: list[int] = []
    peak = held = turned = sure = loop_peak = most = loop_most = live = spared = pointers = 0
    for position in range(size):
        before, least = live, live - spared
        live += data[position]
        alive.append(live)
        spared += saved[position]
        pointers += address[position]
        if pointers > most:
            most = pointers
        if live > peak:
            peak = live
        if looped[position]:
            if live > loop_peak:
                loop_peak = live
            if pointers > loop_most:
                loop_most = pointers
        if position < len(ops) and ops[position].name in BARRIERS:
            held = max(held, live - born[position])
            if ops[position] in lives.rounds:
                turned = max(turned, before)
            sure = max(sure, live - spared - born[position])
        elif position < len(ops) and _is_back_edge(ops[position]):
            held = max(held, before)
            sure = max(sure, least)
    return Need(
        family=lives.family,
        peak=peak,
        loop_peak=loop_peak,
        held=held,
        surely_held=sure,
        addresses=most,
        loop_addresses=loop_most,
        accumulator=lives.accumulator,
        operands=lives.operands,
        scalars=len(graph.body.args),
        batch=_batch(ops, alive),
        copies=max(lives.copies.values(), default=0),
        whole=max((words for start, end, words in large if _crosses(ops, start, end)), default=0),
        stored=_stored(ops),
        turned=turned,
        points=points_of(lives),
    )


def _crosses(ops: list[GOp], start: int, end: int) -> bool:
    """Whether an operation between two places needs all elements of its operands at once."""
    return any(op.name in BARRIERS for op in ops[start + 1 : end])


def _first_use(value: GValue, positions: Mapping[GOp, int], end: int) -> int:
    """The position of the first operation that needs the value or a view of it."""
    found = end
    for user in value.uses:
        if user.name in VIEWS:
            found = min(found, _first_use(user.result, positions, end))
        else:
            found = min(found, positions.get(user, end))
    return found


def _before_computing(value: GValue, words: int) -> int:
    """The fewest words of what a value is computed from, element by element, with scalars and constants alone: the
    assembler may wait with that (c in fp16, then beta * c in fp32)."""
    op = value.op
    while op is not None and (op.name.startswith("arith.") or op.name == "tt.fp_to_fp"):
        data = [operand for operand in op.operands if operand.is_tensor and not _is_uniform(operand)]
        if len(data) != 1:
            break
        words = min(words, words_with_copies(data[0]) or words)
        op = data[0].op
    return words


def _made_again_from(value: GValue, words: int) -> int:
    """The fewest words of what a function (exp) is computed from, element by element and with few other words: the
    assembler may compute it twice (exp(x - m) of a row of 256 elements in bf16, for its sum and for what is stored, took
    188 registers)."""
    op = value.op
    if op is None or not op.name.startswith("math."):
        return words
    found = words
    while op is not None and (op.name.startswith(("arith.", "math.")) or op.name == "tt.fp_to_fp"):
        data = [operand for operand in op.operands if operand.is_tensor and _FEW * _seen(operand) > words]
        if len(data) != 1:
            break
        found = min(found, words_with_copies(data[0]) or found)
        op = data[0].op
    return found


def _seen(value: GValue) -> int:
    """Words of the value that this one is a view of; none of constants."""
    while value.op is not None and value.op.name in VIEWS:
        if _is_uniform(value):
            return 0
        value = value.op.operands[0]
    return 0 if _is_uniform(value) else words_of(value)


def _stored(ops: list[GOp]) -> int:
    """The most words that are live when a store begins, of those that were loaded for it: no load passes a store, which
    may be to the same place, so that all of them are there, as they were loaded or as what was computed from them."""
    stores = [op for op in ops if op.name == "tt.store"]
    if all(words_of(op.operands[1]) <= _LARGE for op in stores):
        return 0
    kept: dict[GValue, frozenset[GValue]] = {}
    for op in ops:
        if op.name == "tt.load":
            kept[op.result] = frozenset((op.result,))
        elif op.name in VIEWS or op.name in _ELEMENTWISE or op.name.startswith(("arith.", "math.")):
            sources = frozenset().union(*(kept.get(operand, _NOTHING) for operand in op.operands))
            narrower = sum(map(words_of, sources)) > words_of(op.result) > 0
            kept[op.result] = frozenset((op.result,)) if narrower else sources
    return max(sum(map(words_of, kept.get(op.operands[1], _NOTHING))) for op in stores)


def _is_uniform(value: GValue) -> bool:
    return value.op is not None and value.op.name in ("tt.splat", "arith.constant")


def _is_back_edge(op: GOp) -> bool:
    """Where all that a loop carries to its next turn has been computed."""
    return op.name == "scf.yield" and op.parent is not None and op.parent.name in LOOPS


def _in_loops(numbering: Numbering, size: int) -> list[bool]:
    """Whether each position lies inside a loop."""
    found = [False] * size
    for block, (start, end) in numbering.span.items():
        if block.parent is not None and block.parent.name in LOOPS:
            found[start:end] = [True] * (end - start)
    return found


def _batch(ops: list[GOp], live: list[int]) -> int:
    """The most words of what is live before a run of loads, with the loads of that run: the assembler starts them all
    before it uses the first. A run ends where all threads meet, or where a loop or a branch begins or ends."""
    most = run = before = 0
    for position, op in enumerate(ops):
        if op.name == "tt.load":
            if not run:
                before = live[position - 1] if position else 0
            run += words_with_copies(op.result)
        elif op.name in BARRIERS or op.blocks or op.name == "scf.yield":
            most = max(most, before + run)
            run = before = 0
    return max(most, before + run)
