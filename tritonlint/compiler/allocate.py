"""Offsets of shared-memory buffers, as Triton's own allocator gives them (lib/Analysis/Allocation.cpp).

A buffer has a size, an alignment and an interval of program positions over which it is live. The allocator
places each buffer at the lowest free offset of a skyline over (offset, interval) slots, then repairs the
overlaps that are left with first-fit graph colouring until none remains. The total is the largest end of a
buffer, not rounded up. This is not an optimal packing, so the peak of what is live is only a lower bound of
it (`live_peak`).
"""

from __future__ import annotations

from bisect import insort_right
from collections.abc import Sequence
from dataclasses import dataclass

FOREVER = 1 << 62
"""End of an interval that lasts for the whole function."""

_ROUNDS = 64  # of the repair loop: each one raises offsets, real kernels need one or two


@dataclass(slots=True, eq=False)
class Buffer:
    """One allocation: bytes, alignment in bytes, live over positions [start, end).

    `branch` tells buffers of regions that run at the same time apart: (region group, region) for a buffer
    inside a partition of a warp-specialized region, else None; two of one group but different regions never
    share memory.
    """

    size: int
    alignment: int
    start: int
    end: int
    branch: tuple[int, int] | None = None
    offset: int = 0

    def place(self, offset: int) -> int:
        """Put the buffer at the first aligned offset from `offset` on."""
        self.offset = -(-offset // self.alignment) * self.alignment
        return self.offset

    def live_with(self, other: Buffer) -> bool:
        return self.start < other.end and other.start < self.end

    def overlaps(self, other: Buffer) -> bool:
        """The offsets overlap."""
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


def allocate(buffers: Sequence[Buffer], *, largest_first: bool = True, legacy_offsets: bool = False) -> int:
    """Give every buffer its offset and return the total in bytes.

    `buffers` are in the order in which the compiler meets them: explicit allocations first, then scratch.
    `largest_first` sorts by falling size before placing; `legacy_offsets` is the repair step of the oldest
    releases, which multiplied the bump by the colour instead of aligning it.
    """
    order = [buffer for buffer in buffers if buffer.size > 0]
    if not order:
        return 0
    if largest_first:
        order.sort(key=lambda buffer: -buffer.size)
    _place(order)
    conflicts = _conflicts(order)
    total = 0
    for _ in range(_ROUNDS):
        total = _repair(order, conflicts, legacy_offsets)
        conflicts = _conflicts(order)
        if not conflicts:
            break
    return total


def live_peak(buffers: Sequence[Buffer]) -> int:
    """The largest number of bytes that are live at one position: no placement can need less."""
    events: list[tuple[int, int]] = []
    for buffer in buffers:
        events.append((buffer.start, buffer.size))
        events.append((buffer.end, -buffer.size))
    events.sort()
    now = peak = 0
    for _, change in events:
        now += change
        peak = max(peak, now)
    return peak


def _place(buffers: Sequence[Buffer]) -> None:
    """First placement: take the lowest slot, give it to the first buffer that meets this slot and no other
    one."""
    slots: list[tuple[int, int, int]] = [(0, 0, FOREVER)]
    waiting = list(buffers)
    while waiting:
        if not slots:  # cannot happen with the compiler's own intervals; keep going rather than fail
            slots = [(max(buffer.offset + buffer.size for buffer in buffers), 0, FOREVER)]
        offset, start, end = slots.pop(0)
        chosen = None
        for buffer in waiting:
            first, last = buffer.start, buffer.end
            if not (first < end and start < last):
                continue
            if any(first < slot[2] and slot[1] < last for slot in slots):
                continue
            chosen = buffer
            break
        if chosen is None:
            continue
        waiting.remove(chosen)
        placed = chosen.place(offset)
        _open(slots, (placed + chosen.size, max(start, chosen.start), min(end, chosen.end)))
        if start < chosen.start:
            _open(slots, (offset, start, chosen.end))
        if chosen.end < end:
            _open(slots, (offset, chosen.start, end))


def _open(slots: list[tuple[int, int, int]], slot: tuple[int, int, int]) -> None:
    insort_right(slots, slot, key=lambda entry: entry[0])


def _conflicts(buffers: Sequence[Buffer]) -> dict[int, list[Buffer]]:
    """For each buffer (by identity) those that overlap it in memory while both are in use."""
    found: dict[int, list[Buffer]] = {}
    for index, one in enumerate(buffers):
        for other in buffers[index + 1 :]:
            if not one.overlaps(other):
                continue
            together = (
                one.branch is not None
                and other.branch is not None
                and one.branch[0] == other.branch[0]
                and one.branch[1] != other.branch[1]
            )
            if together or one.live_with(other):
                found.setdefault(id(one), []).append(other)
                found.setdefault(id(other), []).append(one)
    return found


def _repair(buffers: Sequence[Buffer], conflicts: dict[int, list[Buffer]], legacy_offsets: bool) -> int:
    """Colour the conflict graph first-fit and bump every buffer whose colour is not 0 past its neighbours."""
    colours: dict[int, int] = {id(buffers[0]): 0}
    for buffer in buffers:
        taken = {colours.get(id(other), -1) for other in conflicts.get(id(buffer), ())}
        colour = 0
        while colour in taken:
            colour += 1
        colours[id(buffer)] = colour
    total = 0
    for buffer in buffers:
        past = max((other.offset + other.size for other in conflicts.get(id(buffer), ())), default=0)
        if legacy_offsets:
            buffer.offset += colours[id(buffer)] * past
        elif colours[id(buffer)]:
            buffer.place(past)
        total = max(total, buffer.offset + buffer.size)
    return total
