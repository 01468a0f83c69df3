"""How long a tensor takes on its way between registers and shared memory: accesses of a thread, and bank conflicts.

Shared memory has 32 banks of 4 bytes. The lanes of a warp are served in one pass (a wavefront) where they ask for
different banks, or for the same word. Lanes that lie on rows of a tile fall on the same bank unless the swizzle of the
encoding spreads them: so a tile that is stored across the order of its registers takes a pass for nearly every lane.
"""

from __future__ import annotations

from functools import lru_cache

from tritonlint.compiler.encodings import Distributed, NvmmaShared, Shared, SwizzledShared
from tritonlint.compiler.linear import dim_offsets
from tritonlint.compiler.to_linear import to_linear

_BANKS = 32
_WORD = 4
_ACCESS_BYTES = 16
_PASS_BYTES = _BANKS * _WORD
_CHUNK = 16  # bytes that a swizzle of nvmma_shared moves together


@lru_cache(maxsize=4096)
def shared_access(
    encoding: Distributed, shape: tuple[int, ...], shared: Shared, bits: int, *, copied: bool = False
) -> tuple[float, float]:
    """(instructions of one thread, wavefronts of one warp) to move a tensor of that shape and element size. What
    asynchronous copies bring is written for half a warp at a time at most (measured: words in columns of a tile)."""
    layout = to_linear(encoding, shape)
    elements = 1 << len(layout.register)
    fast = fastest_of(shared, len(shape))
    offset = dim_offsets(shape)[fast]
    together = 1
    while (together << offset) in layout.register and together * bits // 8 < _ACCESS_BYTES:
        together *= 2
    instructions = elements / together
    moved = max(1, together * bits // 8)
    lanes = 16 if copied else 32
    at_once = min(lanes, max(1, _PASS_BYTES // max(_WORD, moved)))  # lanes of one pass
    offsets = _lane_offsets(layout.lane, shape, fast, shared, bits)
    passes = 0
    for start in range(0, 32, at_once):
        banks: dict[int, set[int]] = {}
        for place in offsets[start : start + at_once]:
            for word in range(place // _WORD, (place + moved - 1) // _WORD + 1):
                banks.setdefault(word % _BANKS, set()).add(word)
        passes += max(len(words) for words in banks.values())
    return instructions, instructions * passes


def fastest_of(shared: Shared, rank: int) -> int:
    """The dimension along which neighbours lie side by side."""
    order = getattr(shared, "order", None)
    if order:
        return int(order[0])
    return max(0, rank - 2) if isinstance(shared, NvmmaShared) and shared.transposed else rank - 1


def _lane_offsets(
    lanes: tuple[int, ...], shape: tuple[int, ...], fast: int, shared: Shared, bits: int
) -> list[int]:
    """Byte offsets of the first register of each lane."""
    offsets = dim_offsets(shape)
    others = [dim for dim in range(len(shape)) if dim != fast]
    places = []
    for lane in range(32):
        position = 0
        for bit, basis in enumerate(lanes):
            if lane >> bit & 1:
                position ^= basis
        column = (position >> offsets[fast]) & (shape[fast] - 1)
        row = 0
        for dim in others:
            row = row * shape[dim] + ((position >> offsets[dim]) & (shape[dim] - 1))
        places.append(_place(row, column, shape[fast], shared, bits))
    return places


def _place(row: int, column: int, width: int, shared: Shared, bits: int) -> int:
    """Byte offset of an element in a tile of rows of `width` elements."""
    if isinstance(shared, SwizzledShared) and shared.max_phase > 1:
        chunk, rest = divmod(column, shared.vec)
        chunk ^= row // shared.per_phase % shared.max_phase
        return (row * width + chunk * shared.vec + rest) * bits // 8
    at = column * bits // 8
    if isinstance(shared, NvmmaShared) and shared.swizzling_byte_width:
        swizzle = shared.swizzling_byte_width
        phases = swizzle // _CHUNK
        chunk, rest = divmod(at % swizzle, _CHUNK)
        chunk ^= row // (_PASS_BYTES // swizzle) % phases
        # Where the tile is wider, its parts lie one after the other: whole passes apart, so the bank is the same.
        return row * swizzle + chunk * _CHUNK + rest
    return row * width * bits // 8 + at
