"""What one thread keeps in each place of a kernel, by kind.

The assembler takes elements one after the other wherever it may: within a run of operations that work element by
element, an operand can go as its result comes. Between runs stand operations that need all of their elements at once
(products, reductions, conversions) and the ends of loops. So the places are these runs and the operations between them,
and of each it is counted what is kept all the way through, what goes, what comes, and what is on its way. What a run only
hands to a sum, or to or from a change of layout, is nowhere as a whole: its elements are added up, written or read as
they come (64 words of a row whose maximum is looked for took 31 registers). A place that needs no more of anything than
another one is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from tritonlint.compiler.graph import GOp, GValue
from tritonlint.compiler.ops import DOTS, LOOPS
from tritonlint.compiler.register_addresses import ACCESSES, Steps, apart_of, is_constant
from tritonlint.compiler.register_lives import (
    BARRIERS,
    VIEWS,
    Lives,
    access_of,
    ahead_of,
    distinct_of,
    is_free,
    operands_of,
    words_of,
)
from tritonlint.quick import quick

_PASSED = 16  # words
_WAITS = frozenset({"scf.yield", "ttng.warp_group_dot_wait"})
_LOADS = frozenset({"tt.load", "ttg.local_load"})
_FUNCTIONS = frozenset(
    {
        "math.exp", "math.exp2", "math.log", "math.log2", "math.sqrt", "math.rsqrt", "math.erf", "math.sin", "math.cos",
        "math.absf", "arith.divf", "tt.extern_elementwise", "tt.precise_divf", "tt.precise_sqrt",
    }
)  # fmt: skip


@quick
@dataclass(frozen=True, slots=True)
class Point:
    """One place. In words of data (tensors that are neither addresses nor masks) unless it says otherwise."""

    kept: int = 0  # there before and after
    going: int = 0  # there before only
    coming: int = 0  # there after only
    ends: int = 0  # the more of going and coming
    between: int = 0  # the most at once, operation by operation, beyond `ends`
    in_flight: int = 0  # going, with all that is loaded here, beyond `ends`
    loaded: int = 0  # here, from global or shared memory
    addresses: int = 0  # words of pointers and indices that are kept or go, but for those a constant apart
    accesses: int = 0  # addresses of loads and stores here that no constant tells from another one
    functions: int = 0  # the most that one function (exp, a division) makes
    scanned: int = 0  # operands of a scan
    converted: int = 0  # operands that go in a change of layout
    accumulator: int = 0  # result of a product
    ahead: int = 0  # operands of a product that are read while an earlier step along K is multiplied
    operands: int = 0  # operands that a product reads from registers, over all of K
    consumed: int = 0  # data that goes in a product
    copies: int = 0  # accesses of asynchronous copies
    scalars: int = 0  # words of scalars that are kept
    stored: int = 0  # here, by all stores
    compared: int = 0  # elements of the largest comparison that chooses between values
    looped: int = 0  # 1 inside a loop
    reduced: int = 0  # made here, and gone in a sum right after
    fixed: int = 0  # indices that a loop compares and does not change, one an access or element
    passed: int = 0  # stored here as it comes from a change of layout: so much is on its way at once
    eight_bit: int = 0  # the most computed elements of 8 bits at once: each has a word until it is packed


_NAMES = tuple(field.name for field in fields(Point))


def points_of(lives: Lives) -> tuple[Point, ...]:
    """The places of a graph that may need most."""
    places = _Places(lives)
    counts = {name: [0] * places.count for name in _NAMES}
    steps: dict[GValue, Steps] = {}
    gone = _count_values(lives, places, counts, steps)
    _count_operations(lives, places, counts, steps, gone)
    found = sorted(set(zip(*counts.values(), strict=True)), key=sum, reverse=True)
    most: list[tuple[int, ...]] = []
    for place in found:
        if not any(all(map(int.__ge__, other, place)) for other in most):
            most.append(place)
    return tuple(Point(*place) for place in most)


class _Places:
    """The places in program order: `of` has that of each position, `first` the first position of each, `between` the
    operation of those that stand between runs."""

    def __init__(self, lives: Lives) -> None:
        ops, numbering = lives.ops, lives.numbering
        cuts = {0}
        self.between: dict[int, GOp] = {}
        looped: list[tuple[int, int]] = []
        for position, op in enumerate(ops):
            if op.name in BARRIERS or op.name in _WAITS:
                cuts |= {position, position + 1}
                self.between[position] = op
            elif op.blocks:
                cuts |= {position, position + 1}
                for block in op.blocks:
                    if block in numbering.span:
                        cuts |= set(numbering.span[block])
                        if op.name in LOOPS:
                            looped.append(numbering.span[block])
        self.loops = looped
        self.first = sorted(cut for cut in cuts if cut < max(1, len(ops)))
        self.count = len(self.first)
        self.of: list[int] = []
        for place, (start, end) in enumerate(zip(self.first, [*self.first[1:], len(ops) + 1], strict=True)):
            self.of += [place] * (end - start)
        self.crossing = {self.of[position] for position in self.between}  # the places of such operations
        self.looped = {place for start, end in looped for place in self.of[start:end]}


def _count_values(
    lives: Lives, places: _Places, counts: dict[str, list[int]], steps: dict[GValue, Steps]
) -> dict[int, int]:
    """What the values keep, by where they come to be and where they are used last. Returns the words of addresses that
    are used last in a place."""
    gone: dict[int, int] = {}
    size = len(places.of)
    # The changes from place to place of what is there before and after it.
    kept, addresses, scalars = ([0] * (places.count + 1) for _ in range(3))
    changes = [0] * (size + 1)  # of data from operation to operation, but for what a place keeps
    nowhere = lives.streamed - lives.waiting  # as a whole
    carried = {op.operands[2] for op in lives.ops if op.name in DOTS and len(op.operands) > 2}

    def keep(changed: list[int], first: int, last: int, words: int) -> None:
        if last > first + 1:
            changed[first + 1] += words
            changed[last] -= words

    for value, start in lives.starts.items():
        end = min(max(start, lives.ends[value] - 1), size - 1)
        first, last = places.of[start], places.of[end]
        if not value.is_tensor:
            wide = value.type.element.startswith("*") or value.type.element in ("i64", "u64", "fp64")
            keep(scalars, first, last, 2 if wide else 1)
        elif value.encoding is None or is_free(value) or value in nowhere or _is_chosen(value):
            continue
        elif value.type.element.startswith("*") or value in lives.indices:
            if first != last:
                words = apart_of(value, steps) * (2 if value.type.element.startswith("*") else 1)
                keep(addresses, first, last, words)
                counts["addresses"][last] += words
                gone[last] = gone.get(last, 0) + words
        elif last == first + 1 and _is_handed_on(
            value, lives.ops[end], last in places.crossing, lives.rounds
        ):
            if lives.ops[end].name == "tt.reduce":
                counts["reduced"][first] += words_of(value)
        elif first == last:
            words = words_of(value)
            changes[start] += words
            changes[max(end, start + 1)] -= words
        else:
            words = words_of(value)
            keep(kept, first, last, words)
            counts["coming"][first] += words
            if not (value in carried and end in places.between):  # the sum takes its place
                counts["going"][last] += words
            changes[start] += words
            changes[places.first[first + 1]] -= words
            changes[places.first[last]] += words
            changes[end] -= words
    for name, changed in (("kept", kept), ("addresses", addresses), ("scalars", scalars)):
        here = 0
        for place in range(places.count):
            here += changed[place]
            counts[name][place] += here
    most = [0] * places.count
    here = 0
    for place, change in zip(places.of, changes, strict=False):
        here += change
        if here > most[place]:
            most[place] = here
    for place, at_once in enumerate(most):
        op = places.between.get(places.first[place])
        if op is None:
            ends = max(counts["going"][place], counts["coming"][place])
            counts["ends"][place] = ends
            counts["between"][place] = max(0, at_once - ends)
    return gone


def _fixed_in(lives: Lives, start: int, end: int) -> dict[GValue, int]:
    """The indices, made before a loop, that it compares with what changes in it, and how many each thread has."""
    found: dict[GValue, int] = {}
    for op in lives.ops[start:end]:
        if op.name != "arith.cmpi":
            continue
        guards = not any(user.name == "arith.select" for user in _users(op.result))
        for operand in op.operands:
            for index in _made_before(operand, lives, start):
                values = distinct_of(index) // (access_of(index) if guards else 1)
                found[index] = max(found.get(index, 0), values, 1)
    return found


def _users(value: GValue) -> list[GOp]:
    """The users of a value and of its views."""
    found: list[GOp] = []
    for user in value.uses:
        found += _users(user.result) if user.name in VIEWS else [user]
    return found


def _made_before(value: GValue, lives: Lives, start: int) -> list[GValue]:
    """The tensors, made before a position, of which sums and views at it make a value."""
    op = value.op
    if not value.is_tensor or op is None or op.name in ("tt.splat", "arith.constant"):
        return []
    if lives.numbering.position.get(op, start) < start and op.name not in VIEWS:
        return [value]
    if op.name in VIEWS or op.name in ("arith.addi", "arith.subi", "arith.ori"):
        return [root for operand in op.operands for root in _made_before(operand, lives, start)]
    return []


def _is_chosen(value: GValue) -> bool:
    """Whether a value is one of two constants, which the mask tells where it is needed."""
    op = value.op
    return op is not None and op.name == "arith.select" and all(map(is_constant, op.operands[1:]))


def _is_handed_on(value: GValue, user: GOp, crossing: bool, rounds: set[GOp]) -> bool:
    """Whether a value goes from a run to a sum or a change of layout, or from a change of layout to a run: each element
    as it comes, so that the whole is nowhere. What changes its layout in rounds is there until the last round is read."""
    if user.name in ("tt.reduce", "ttg.convert_layout"):
        return user not in rounds
    op = value.op
    return op is not None and op.name == "ttg.convert_layout" and not crossing and op not in rounds


def _count_operations(
    lives: Lives,
    places: _Places,
    counts: dict[str, list[int]],
    steps: dict[GValue, Steps],
    gone: dict[int, int],
) -> None:
    """What operations take beside the values."""
    for place in places.looped:
        counts["looped"][place] = 1

    def most(name: str, place: int, number: int) -> None:
        counts[name][place] = max(counts[name][place], number)

    seen: set[tuple[int, GValue]] = set()
    for position, op in enumerate(lives.ops):
        place = places.of[position]
        if op.name in ACCESSES and op.operands[0].is_tensor and (place, op.operands[0]) not in seen:
            seen.add((place, op.operands[0]))
            counts["accesses"][place] += apart_of(op.operands[0], steps)
        if op.name == "ttg.async_copy_global_to_local":
            pointers = op.operands[0]
            wide = distinct_of(pointers) // access_of(pointers)
            counts["copies"][place] += max(1, wide) + lives.copies[op]
        elif op.name == "tt.store":
            if op.operands[1].is_tensor:
                counts["stored"][place] += words_of(op.operands[1])
        elif not op.results or not op.results[0].is_tensor:
            continue
        elif op.name in _LOADS:
            if op.results[0] not in lives.streamed:
                counts["loaded"][place] += words_of(op.results[0])
        elif op.name.startswith("arith.") and op.results[0].type.element in ("i8", "u8"):
            most("eight_bit", place, distinct_of(op.results[0]))
        elif op.name in _FUNCTIONS:
            most("functions", place, words_of(op.results[0]))
        elif op.name == "arith.cmpi" and any(user.name == "arith.select" for user in op.results[0].uses):
            most("compared", place, distinct_of(op.results[0]))
    fixed: dict[int, dict[GValue, int]] = {}
    for start, end in places.loops:
        inside = _fixed_in(lives, start, end)
        for place in range(places.of[start], places.of[max(start, end - 1)] + 1):
            fixed.setdefault(place, {}).update(inside)
    for place, indices in fixed.items():
        counts["fixed"][place] = sum(indices.values())
    for place in range(places.count):
        if counts["stored"][place] and not (counts["going"][place] or counts["loaded"][place]):
            # Each element is stored as it comes, with an address that is worked out then.
            counts["passed"][place] = min(_PASSED, counts["stored"][place])
            counts["addresses"][place] -= gone.get(place, 0)
            counts["stored"][place] = counts["accesses"][place] = 0
    for place, first in enumerate(places.first):
        between = places.between.get(first)
        going, ends = counts["going"][place], counts["ends"][place]
        if between is None:
            counts["in_flight"][place] = max(0, counts["loaded"][place] + going - ends)
            continue
        counts["loaded"][place] = 0  # not in a run
        if between.name == "tt.scan":
            counts["scanned"][place] = sum(words_of(value) for value in between.operands if value.is_tensor)
        elif between.name == "ttg.convert_layout":
            counts["converted"][place] = going
        elif between.name in DOTS:
            counts["accumulator"][place] = counts["coming"][place] or words_of(between.results[0])
            counts["ahead"][place] = ahead_of(between)
            counts["operands"][place] = operands_of(between)
            counts["consumed"][place] = going
        elif between.name not in ("tt.reduce", "ttng.tmem_load"):
            counts["ends"][place] = max(going, counts["coming"][place])
