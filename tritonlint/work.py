"""What a whole launch computes and moves, counted on the trace: FLOPs, and bytes with and without reuse.

Loops count with their trip counts. FLOPs are those of whole tiles (masked elements keep the hardware just as busy), bytes
those of the elements that masks let through (masks.py). A number that would need a guess is None, and the step says what
is missing.
"""

from __future__ import annotations

import math
import random
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from tritonlint.kernel.ir import Block, Op, Trace, Value, bits_of
from tritonlint.masks import Bound, Masks, even, share_of, share_of_rounds, share_of_some
from tritonlint.scalars import Address, Known, Number, Scalars, both

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile
    from tritonlint.model.roofline import Roofline
    from tritonlint.model.waves import Waves

MAX_PROGRAMS = 65_536  # that are gone through one by one
MAX_OPERATIONS = 20_000
ROUNDS = 6  # of a loop, that are gone through at most
SMALL = 0.01  # of all bytes: what is moved from places that only the data tell, and still counted

_LOADS = frozenset({"tt.load", "tt.descriptor_load", "tt.descriptor_gather"})
_STORES = frozenset(
    {"tt.store", "tt.atomic_rmw", "tt.atomic_cas", "tt.descriptor_store", "tt.descriptor_scatter",
     "tt.descriptor_reduce"}
)  # fmt: skip
_FLOAT = (
    "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "arith.maxnumf", "arith.minnumf",
    "arith.maximumf", "arith.minimumf", "arith.cmpf", "math.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store: bytes of a tile, how often each program does it, where its first tile begins.

    `starts` are the offsets of the first round, one a program (or one for all); None where not known.
    `moves`: later rounds of the loop are at other places. Accesses of one `phase` go on together: those of one
    outermost loop, or those between two such loops. `share` of the elements pass the mask, but for those that
    `bounds` cut off, which are the same in all rounds so far.
    """

    argument: str
    line: int
    store: bool
    tile_bytes: int
    times: Number
    starts: tuple[object, ...] | None
    moves: bool
    phase: int = 0
    op: int = 0  # the id of its operation: tells accesses of several rounds apart
    share: float = 1.0
    bounds: tuple[Bound, ...] = ()

    @property
    def passed(self) -> Access:
        """With everything that its mask cuts off in `share`."""
        return replace(self, share=self.share * share_of(self.bounds), bounds=()) if self.bounds else self

    def in_all(self, later: Sequence[Access], rounds: Number) -> Access:
        """With all rounds of a loop; `later` is the same access in the further rounds that were gone through."""
        share, kept = self.share, self.bounds
        if _uneven((self, *later)):
            share = share_of_some([one.passed.share for one in (self, *later)], rounds)
            kept = ()
        elif self.bounds != later[0].bounds:
            share *= share_of_rounds([self.bounds, later[0].bounds], rounds)
            kept = ()
        moves = self.moves or any(self.starts is not None and self.starts != one.starts for one in later)
        return replace(self, moves=moves, share=share, bounds=kept)


@dataclass(frozen=True, slots=True)
class LoopTurns:
    """How often each program goes through the body of a loop, those of the loops around it included."""

    line: int
    path: str
    turns: Number

    @property
    def summary(self) -> tuple[int, str, float, float]:
        """(line, path, turns of the average program, of the one with most)."""
        if isinstance(self.turns, int):
            return self.line, self.path, float(self.turns), float(self.turns)
        return self.line, self.path, sum(self.turns) / len(self.turns), float(max(self.turns))


@dataclass(frozen=True, slots=True)
class LaunchWork:
    """FLOPs (a multiply-add is two) and bytes of the whole launch; None where not known."""

    programs: int
    flops: int | None
    bytes_min: int | None
    bytes_tiled: int | None
    accesses: tuple[Access, ...]
    loops: tuple[LoopTurns, ...] | None  # in the order of the text
    operand: str | None  # element type of the dots' operands, None without a dot
    tensor_cores: bool
    steps: tuple[str, ...]
    counted: int | None = None  # programs that were gone through, where they stand for all
    _traffic: dict[tuple[int, int], int | None] = field(default_factory=dict, compare=False, repr=False)

    def dram_bytes(self, gpu: GpuProfile, waves: Waves | None) -> int | None:
        """Bytes from and to memory where programs of a wave share tiles and the L2 keeps what fits."""
        from tritonlint.model.l2 import cache_bytes

        cache = cache_bytes(gpu)
        if self.bytes_min is None or cache is None or waves is None:
            return None
        key = (cache, waves.per_wave)
        if key not in self._traffic:
            self._traffic[key] = _dram(self, cache, waves.per_wave)
        return self._traffic[key]

    def textbook_time(self, gpu: GpuProfile) -> Roofline | None:
        """As teaching material has it: the rounded peak, every program fetching its own tiles from memory."""
        from tritonlint.model.roofline import roofline

        rate = gpu.textbook_flops or gpu.peak_flops("fp16")
        if self.flops is None or self.bytes_tiled is None or rate is None or gpu.dram_bytes_per_s is None:
            return None
        return roofline(
            self.flops,
            self.bytes_tiled,
            peak_flops=rate,
            bytes_per_s=gpu.dram_bytes_per_s,
            launch_floor_us=gpu.launch_floor_us,
        )

    def time_on(self, gpu: GpuProfile, waves: Waves | None) -> Roofline | None:
        """By the operands' rate, with bytes after L2 reuse and the last wave's idle places."""
        from tritonlint.model.time import dot_rate, launch_time

        moved = self.dram_bytes(gpu, waves)
        if self.flops is None or moved is None or waves is None:
            return None
        if self.operand is not None:
            rate = dot_rate(gpu, self.operand, tensor_cores=self.tensor_cores)
        else:
            rate = gpu.peak_flops("fp32")
        return launch_time(gpu, flops=self.flops, bytes_dram=moved, peak_flops=rate, waves=waves)


def measure(
    trace: Trace,
    grid: Sequence[int],
    values: Mapping[str, int],
    *,
    tensor_cores: bool,
    sample: int | None = None,
) -> LaunchWork | None:
    """The work of a launch with that grid; `values` are run-time integers that are known. None where the
    trace is not complete: then what is missing may be most of it.

    With `sample`, at most so many programs are gone through and the others taken to be like them: quick, for
    comparing launches, but no count.
    """
    programs = 1
    for size in grid:
        programs *= size
    if not trace.complete or programs <= 0:
        return None
    dims = [*grid, 1, 1][:3]
    seen = min(programs, MAX_PROGRAMS if sample is None else sample)
    ids = [
        [number % dims[0] for number in range(seen)],
        [number // dims[0] % dims[1] for number in range(seen)],
        [number // (dims[0] * dims[1]) for number in range(seen)],
    ]
    walk = _Walk(Scalars(ids, dims))
    # Seeded, so that two runs say the same; odd and large, so that sums of products do not meet by chance.
    chance = random.Random(0)
    for argument in trace.function.arguments:
        if argument.value.type.is_pointer or argument.value.type.element.startswith("tensordesc"):
            walk.scalars.set(argument.value, Known(Address(argument.name, 0)))
        elif argument.name in values:
            walk.scalars.set(argument.value, Known(int(values[argument.name])))
        elif argument.value.type.element.startswith("i"):
            walk.scalars.set(argument.value, Known(chance.randrange(1 << 40, 1 << 41) | 1, made_up=True))
    walk.block(trace.function.body, 1)
    walk.accesses = [access.passed for access in walk.accesses]
    found = _summed(walk, tensor_cores, seen if sample else programs, seen)
    return _scaled(found, programs) if seen < programs and sample else found


class _Walk:
    """Goes through a trace once, loops twice (their first two rounds), and counts."""

    def __init__(self, scalars: Scalars) -> None:
        self.scalars = scalars
        self.masks = Masks(scalars)
        self.accesses: list[Access] = []
        self.loops: list[LoopTurns] = []
        self.dot_flops: Number = 0
        self.other_flops: Number = 0
        self.dots = 0
        self.operand: str | None = None
        self.missing: list[str] = []
        self.unplaced: list[str] = []
        self._left = MAX_OPERATIONS
        self._depth = self._phase = 0  # of loops; see Access

    def miss(self, reason: str) -> None:
        if reason not in self.missing:
            self.missing.append(reason)

    def scattered_bytes(self, programs: int, seen: int) -> float:
        """Bytes of accesses of which only the data tell the places."""
        scattered = 0.0
        for access in self.accesses:
            if access.starts is None:
                moved = _total(access.times, programs, seen)
                scattered += math.inf if moved is None else moved * access.tile_bytes * access.share
        return scattered

    def block(self, block: Block, times: Number) -> None:
        for op in block.ops:
            self._left -= 1
            if self._left < 0:
                self.miss("the kernel is too large to be counted")
                return
            self.masks.see(op)
            if op.name == "scf.for":
                self._loop(op, times)
            elif op.name == "scf.if":
                self._branch(op, times)
            elif op.name in ("scf.while", "cf.cond_br", "tt.call"):
                self.miss(f"line {op.line}: how often it runs is not known")
            elif op.name == "tt.dot" or op.name == "tt.dot_scaled":
                self._dot(op, times)
            elif op.name in _LOADS or op.name in _STORES:
                self._access(op, times)
            else:
                self._count(op, times)
                self.scalars.run(op)

    def _loop(self, op: Op, times: Number) -> None:
        low, high, step = (self.scalars.number(operand) for operand in op.operands[:3])
        if low is None or high is None or step is None:
            self.miss(f"line {op.line}: how often the loop runs is not known")
            return
        try:
            span = both(lambda a, b: b - a, low, high)
            rounds = both(lambda whole, by: max(0, -(-whole // by)), span, step)
        except ZeroDivisionError:
            self.miss(f"line {op.line}: the loop has step 0")
            return
        body = op.blocks[0]
        inside = both(lambda a, b: a * b, times, rounds)
        self.loops.append(LoopTurns(op.line, op.path, inside))
        first, seen_loops = len(self.accesses), len(self.loops)
        carried = [self.scalars.get(value) for value in op.operands[3:]]
        self.masks.enter(body.args[1:], op.operands[3:])
        self._phase += not self._depth
        self._depth += 1
        self._round(body, Known(low), carried, inside)
        found = self._taken_since(first)
        # The second round, only to see which addresses move on; more of them where masks do not do so evenly.
        after = (self.dot_flops, self.other_flops, self.dots)
        inner = self.loops[seen_loops:]
        later: list[dict[int, Access]] = []
        most = max(2, min(ROUNDS, max(rounds, default=0) if isinstance(rounds, list) else rounds)) - 1
        while len(later) < most and _more_to_see([found, *later]):
            del self.loops[seen_loops:]
            step_to = both(lambda by, number: by * number, step, len(later) + 1)
            self._round(body, Known(both(lambda a, b: a + b, low, step_to)), self._yielded(body), inside)
            later.append(self._taken_since(first))
            if [loop.turns for loop in self.loops[seen_loops:]] != [loop.turns for loop in inner]:
                self.miss(f"line {op.line}: a loop inside runs more or less often from round to round")
        self.dot_flops, self.other_flops, self.dots = after
        self.loops[seen_loops:] = inner
        self._depth -= 1
        self._phase += not self._depth
        self.accesses += _of_all_rounds(found, later, rounds)
        for result in op.results:
            self.scalars.set(result, None)

    def _taken_since(self, first: int) -> dict[int, Access]:
        """The accesses from a number on, by operation; they are taken out."""
        taken = {access.op: access for access in self.accesses[first:]}
        del self.accesses[first:]
        return taken

    def _yielded(self, body: Block) -> list[Known | None]:
        """What one round leaves to the next."""
        values = body.ops[-1].operands if body.ops else ()
        known = [self.scalars.get(value) for value in values]
        self.masks.again(body.args[1:], values)
        return known

    def _round(self, body: Block, index: Known, carried: Sequence[Known | None], times: Number) -> None:
        self.scalars.set(body.args[0], index)
        for value, known in zip(body.args[1:], carried, strict=False):
            self.scalars.set(value, known)
        self.block(body, times)

    def _branch(self, op: Op, times: Number) -> None:
        condition = self.scalars.number(op.operands[0])
        if not isinstance(condition, int):
            if any(_weighs(block) for block in op.blocks):
                self.miss(f"line {op.line}: which branch is taken is not known")
            return
        taken = 0 if condition else 1
        if taken < len(op.blocks):
            block = op.blocks[taken]
            self.block(block, times)
            if block.ops:
                for result, value in zip(op.results, block.ops[-1].operands, strict=False):
                    self.scalars.set(result, self.scalars.get(value))

    def _dot(self, op: Op, times: Number) -> None:
        a, b = op.operands[0].type, op.operands[1].type
        out = op.results[0].type
        k = (a.shape or (1,))[-1]
        if op.name == "tt.dot_scaled" and op.attrs.get("a_type") in ("e2m1", "fp4"):
            k *= 2 if op.attrs.get("lhs_k_pack", True) else 1
        flops = 2 * out.elements * k
        self.dot_flops = both(lambda total, count: total + flops * count, self.dot_flops, times)
        self.dots += 1
        self.operand = self.operand or (a.element if a.bits >= b.bits else b.element)

    def _count(self, op: Op, times: Number) -> None:
        if op.name in ("tt.reduce", "tt.scan"):
            elements = sum(operand.type.elements for operand in op.operands[:1])
        elif op.results and op.name.startswith(_FLOAT):
            elements = op.results[0].type.elements
        else:
            return
        self.other_flops = both(lambda total, count: total + elements * count, self.other_flops, times)

    def _access(self, op: Op, times: Number) -> None:
        store = op.name in _STORES
        shaped = op.results[0].type if op.results else op.operands[1].type
        if op.name in ("tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter"):
            shaped = op.operands[1].type
        known = self.scalars.get(op.operands[0])
        starts: tuple[object, ...] | None = None
        argument = ""
        if known is not None and isinstance(known.value, Address):
            argument = known.value.argument
            if op.name.startswith("tt.descriptor"):
                parts = [self.scalars.get(operand) for operand in op.operands[2 if store else 1 :]]
                numbers = [
                    part.value for part in parts if part is not None and not isinstance(part.value, Address)
                ]
                starts = _together(numbers) if len(numbers) == len(parts) else None
            elif known.value.offset is not None and not isinstance(known.value.offset, tuple):
                starts = _together([known.value.offset])
        if starts is None:
            what = "where the tiles begin" if argument else "what the pointer points to"
            reason = f"line {op.line}: {what} is not known"
            if reason not in self.unplaced:
                self.unplaced.append(reason)
        tile_bytes = shaped.elements * bits_of(shaped.element) // 8
        mask = _mask(op)
        bounds = self.masks.bounds(mask) if mask is not None else ()
        self.accesses.append(
            Access(
                argument, op.line, store, tile_bytes, times, starts, False, self._phase, id(op), bounds=bounds
            )
        )


def _uneven(rounds: Sequence[Access]) -> bool:
    """Whether what masks let through cannot be told from the first two rounds."""
    return any(one.share != rounds[0].share for one in rounds) or not even([one.bounds for one in rounds])


def _more_to_see(rounds: Sequence[Mapping[int, Access]]) -> bool:
    """Whether a loop is gone through once more: twice in any case, a third time where masks move in it or inside of it,
    and on as long as they do not move evenly."""
    if len(rounds) < 2:
        return True
    seen = [[one[at] for one in rounds if at in one] for at in rounds[0]]
    moving = any(access.share < 1 or access.bounds != of[0].bounds for of in seen for access in of)
    nothing = any(of[-1].share == 0 for of in seen)  # so far
    return nothing or any(map(_uneven, seen)) or (len(rounds) < 3 and moving)


def _of_all_rounds(
    found: Mapping[int, Access], later: Sequence[Mapping[int, Access]], rounds: Number
) -> list[Access]:
    """The accesses of a loop. What only its first round does (a branch) is done once each time; what begins in
    the second, in all but the first."""

    def once(access: Access) -> Number:
        return both(lambda whole, count: whole // count if count else 0, access.times, rounds)

    kept = []
    for at, access in found.items():
        then = [one[at] for one in later if at in one]
        kept.append(access.in_all(then, rounds) if at in later[0] else replace(access, times=once(access)))
    for at, access in later[0].items():
        if at not in found:
            others = both(lambda whole, part: whole - part, access.times, once(access))
            kept.append(replace(access, times=others))
    return kept


def _mask(op: Op) -> Value | None:
    if op.name == "tt.load":
        return op.operands[1] if op.attrs.get("has_mask") else None
    if op.name == "tt.store":
        return op.operands[2] if op.attrs.get("has_mask") else None
    return op.operands[2] if op.name == "tt.atomic_rmw" else None


def _together(numbers: Sequence[Number]) -> tuple[object, ...]:
    """One key a program out of several coordinates; a single key where no program differs."""
    lists = [number for number in numbers if isinstance(number, list)]
    if not lists:
        return (tuple(numbers),)
    size = len(lists[0])
    columns = [number if isinstance(number, list) else [number] * size for number in numbers]
    return tuple(zip(*columns, strict=True))


def _weighs(block: Block) -> bool:
    """Is there anything in a branch that would count?"""
    return any(
        op.name in _LOADS
        or op.name in _STORES
        or op.name.startswith("tt.dot")
        or any(map(_weighs, op.blocks))
        for op in block.ops
    )


def _total(number: Number, programs: int, seen: int) -> int | None:
    """A count a program, summed over all; None where programs differ and not all were gone through."""
    if isinstance(number, int):
        return number * programs
    return sum(number) if seen == programs else None


def _strip(access: Access) -> float | list[float]:
    """Bytes of all rounds of one tile that pass the mask: a number, or one a program where they differ."""
    rounds = access.times if access.moves else both(min, access.times, 1)
    each = access.tile_bytes * access.share
    return [count * each for count in rounds] if isinstance(rounds, list) else rounds * each


def _least(accesses: Sequence[Access], programs: int, seen: int) -> float | None:
    """Bytes where every tile that is read or written at all comes or goes once. Of strips that begin at the same
    place and differ in length, the longest holds the others. What begins at unknown places comes each time."""
    known: dict[tuple[str, bool, float], set[object]] = {}
    uneven: dict[tuple[str, bool, object], float] = {}
    scattered = 0.0
    for access in accesses:
        strip = _strip(access)
        if access.starts is None:  # each time at another place
            total = _total(access.times, programs, seen)
            if total is None:
                return None
            scattered += total * access.tile_bytes * access.share
            continue
        if not isinstance(strip, list):
            known.setdefault((access.argument, access.store, strip), set()).update(access.starts)
            continue
        if seen < programs:
            return None
        places = access.starts * len(strip) if len(access.starts) == 1 else access.starts
        for start, moved in zip(places, strip, strict=True):
            key = (access.argument, access.store, start)
            uneven[key] = max(uneven.get(key, 0.0), moved)
    least = sum(uneven.values()) + scattered
    for (_, _, each), starts in known.items():
        count = len(starts)
        if seen < programs and count > 1:
            # Not all were gone through: if the first ones all differ, so do the rest.
            if count < seen:
                return None
            count = programs
        least += each * count
    return least


def _summed(walk: _Walk, tensor_cores: bool, programs: int, seen: int) -> LaunchWork:
    counting = walk.missing
    flops = None if counting else _total(walk.dot_flops if walk.dots else walk.other_flops, programs, seen)
    tiled: float | None = None if counting else 0.0
    for access in walk.accesses:
        moved = _total(access.times, programs, seen)
        if tiled is not None and moved is not None:
            tiled += moved * access.tile_bytes * access.share
        else:
            tiled = None
    scattered = walk.scattered_bytes(programs, seen)
    known = tiled is not None and scattered <= SMALL * tiled
    least = _least(walk.accesses, programs, seen) if known else None
    steps = [
        f"not counted: {reason}"
        for reason in (walk.missing if known else [*walk.missing, *walk.unplaced])[:4]
    ]
    if flops is not None:
        kind = "in products" if walk.dots else "in floating point"
        steps.append(f"FLOPs {kind}: {flops // programs:,} a program x {programs:,} programs = {flops:,}")
    if tiled is not None:
        steps.append(f"bytes, each program its tiles: {tiled:,.0f}")
        if known and scattered:
            steps.append(f"of them at places that only the data tell, counted each time: {scattered:,.0f}")
    if least is not None and tiled:
        ratio = tiled / least if least else 0.0
        steps.append(f"bytes, each tile once: {least:,.0f} ({ratio:.1f}x less)")
    return LaunchWork(
        programs=programs,
        flops=flops,
        bytes_min=None if least is None else round(least),
        bytes_tiled=None if tiled is None else round(tiled),
        accesses=tuple(walk.accesses),
        loops=None if counting else tuple(walk.loops),
        operand=walk.operand if walk.dots else None,
        tensor_cores=tensor_cores,
        steps=tuple(steps),
    )


def _scaled(part: LaunchWork, programs: int) -> LaunchWork:
    """The work of `programs` programs like those of `part`."""

    def times(number: int | None) -> int | None:
        return None if number is None else number * programs // part.programs

    return replace(
        part,
        programs=programs,
        counted=part.programs,
        flops=times(part.flops),
        bytes_min=times(part.bytes_min),
        bytes_tiled=times(part.bytes_tiled),
    )


def _dram(work: LaunchWork, cache_bytes: int, per_wave: int) -> int | None:
    """Bytes from and to memory. Programs of a wave walk their loops together, so that a strip (all rounds of
    one tile) that several of them read comes once; from phase to phase, and from wave to wave, a strip stays
    while all that was touched since fits the cache (least recently used goes first). What is written takes room
    there as well, and goes to memory once."""
    if work.counted is not None:
        of_part = _dram(replace(work, programs=work.counted, counted=None), cache_bytes, per_wave)
        return None if of_part is None else of_part * work.programs // work.counted
    if work.bytes_tiled is None or work.bytes_min is None or work.programs > MAX_PROGRAMS:
        return work.bytes_min  # of so many programs, tiles all differ, or bytes_min would not be known
    placed = [
        (access, access.starts, _strip(access)) for access in work.accesses if access.starts is not None
    ]
    phases = [list(found) for _, found in groupby(placed, lambda one: one[0].phase)]
    once = [access for access in work.accesses if access.store or access.starts is None]
    written = _least(once, work.programs, work.programs) or 0
    fetched = held = 0.0
    # A plain dict would look for its oldest entry past all that were taken out before.
    cache: OrderedDict[tuple[str, bool, object, float], float] = OrderedDict()
    for start in range(0, work.programs, max(1, per_wave)):
        for phase in phases:
            for store in (False, True):
                for entry, size in _touched(phase, store, start, start + per_wave).items():
                    kept = cache.pop(entry, 0.0)  # and put back as the most recently used
                    fetched += 0.0 if store else max(0.0, size - kept)
                    held += max(size, kept) - kept
                    cache[entry] = max(size, kept)
            while held > cache_bytes and cache:
                held -= cache.popitem(last=False)[1]
    return round(fetched + written)


def _touched(
    phase: Sequence[tuple[Access, tuple[object, ...], float | list[float]]], store: bool, first: int, end: int
) -> dict[tuple[str, bool, object, float], float]:
    """Bytes of each strip that programs from `first` on read, or write, in one phase."""
    touched: dict[tuple[str, bool, object, float], float] = {}
    for access, starts, strip in phase:
        if access.store != store:
            continue
        part = starts if len(starts) == 1 else starts[first:end]
        if not isinstance(strip, list):
            touched.update(dict.fromkeys([(access.argument, store, key, strip) for key in part], strip))
            continue
        moved = strip[first:end]
        for key, size in zip(part * len(moved) if len(part) == 1 else part, moved, strict=True):
            entry = (access.argument, store, key, -1.0)
            touched[entry] = max(touched.get(entry, 0.0), size)
    return touched
