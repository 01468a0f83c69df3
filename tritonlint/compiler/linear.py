"""Linear layouts over the two-element field: where each element of a tensor lives.

A layout maps the bits of (register, lane, warp, block) to the bits of an element's position in the tensor,
and is linear in the sense of exclusive or: the position is the xor of the bases of the bits that are set.
Everything that Triton decides about shared memory for conversions, reductions and operands is a statement
about these bases.

A position is one int: the index along dimension 0 in the low bits, then dimension 1, and so on (the order in
which Triton flattens the outputs of its own LinearLayout). Sizes are powers of two, as everywhere in Triton.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

Bases = tuple[int, ...]


def log2(size: int) -> int:
    """Whole part of the base-2 logarithm of a positive size."""
    return size.bit_length() - 1


@dataclass(frozen=True, slots=True)
class LinearLayout:
    """Bases of the four inputs of a distributed layout; 0 is a broadcast (the same element held twice)."""

    shape: tuple[int, ...]
    register: Bases
    lane: Bases
    warp: Bases
    block: Bases = ()

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def bits(self) -> int:
        """Number of bits of a position."""
        return sum(log2(size) for size in self.shape)

    @property
    def all_bases(self) -> Bases:
        return self.register + self.lane + self.warp + self.block


def dim_offsets(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The lowest bit of each dimension inside a position."""
    offsets = []
    at = 0
    for size in shape:
        offsets.append(at)
        at += log2(size)
    return tuple(offsets)


def pack(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """The position of an index."""
    position = 0
    for offset, value in zip(dim_offsets(shape), index, strict=True):
        position |= value << offset
    return position


@lru_cache(maxsize=65536)
def unpack(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of a position."""
    index = []
    for size in shape:
        index.append(position & (size - 1))
        position >>= log2(size)
    return tuple(index)
