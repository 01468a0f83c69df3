"""Linear layouts over the two-element field: where each element of a tensor lives.

A layout maps the bits of (register, lane, warp, block) to the bits of an element's position in the tensor,
and is linear in the sense of exclusive or: the position is the xor of the bases of the bits that are set.
Everything that Triton decides about shared memory for conversions, reductions and operands is a statement
about these bases.

A position is one int: the index along dimension 0 in the low bits, then dimension 1, and so on (the order in
which Triton flattens the outputs of its own LinearLayout). Sizes are powers of two, as everywhere in Triton.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

Bases = tuple[int, ...]

# Where a conversion has to move data, from the nearest to the farthest; the index says how far.
REGISTER, LANE, WARP, BLOCK = range(4)


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
    def inputs(self) -> tuple[Bases, Bases, Bases, Bases]:
        """The bases by input, indexed by REGISTER, LANE, WARP, BLOCK."""
        return (self.register, self.lane, self.warp, self.block)

    def without_broadcast_registers(self) -> LinearLayout:
        """The same layout without registers that hold a copy."""
        if 0 not in self.register:
            return self
        kept = tuple(basis for basis in self.register if basis)
        return LinearLayout(self.shape, kept, self.lane, self.warp, self.block)


def dim_offsets(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The lowest bit of each dimension inside a position."""
    offsets = []
    at = 0
    for size in shape:
        offsets.append(at)
        at += log2(size)
    return tuple(offsets)


def dim_mask(shape: tuple[int, ...], dim: int) -> int:
    """The bits of one dimension inside a position."""
    return (shape[dim] - 1) << dim_offsets(shape)[dim]


def pack(index: Iterable[int], shape: tuple[int, ...]) -> int:
    """The position of an index."""
    position = 0
    at = 0
    for value, size in zip(index, shape, strict=True):
        position |= value << at
        at += log2(size)
    return position


@lru_cache(maxsize=65536)
def unpack(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of a position."""
    index = []
    for size in shape:
        index.append(position & (size - 1))
        position >>= log2(size)
    return tuple(index)


class Span:
    """The span of a sequence of vectors, eliminated from the first on; tells how a vector is made of them.

    Vectors that depend on earlier ones are free and never used in an answer: the solution of least norm that
    Triton's own solver gives.
    """

    __slots__ = ("_by_lead", "free")

    def __init__(self, vectors: Iterable[int]) -> None:
        self._by_lead: dict[
            int, tuple[int, int]
        ] = {}  # leading bit -> (reduced vector, which inputs make it)
        self.free: list[int] = []  # indices of dependent vectors
        for index, vector in enumerate(vectors):
            rest, made_of = self._reduce(vector, 1 << index)
            if rest:
                self._by_lead[rest.bit_length()] = (rest, made_of)
            else:
                self.free.append(index)

    def _reduce(self, vector: int, made_of: int) -> tuple[int, int]:
        while vector:
            hit = self._by_lead.get(vector.bit_length())
            if hit is None:
                break
            vector ^= hit[0]
            made_of ^= hit[1]
        return vector, made_of

    def solve(self, vector: int) -> int | None:
        """The inputs (as a bit mask) whose xor is the vector; None outside the span."""
        rest, made_of = self._reduce(vector, 0)
        return None if rest else made_of


@lru_cache(maxsize=16384)
def free_masks(layout: LinearLayout) -> tuple[int, int, int, int]:
    """For each input, the bits that do not change the element: its copies (getFreeVariableMasks)."""
    lengths = [len(bases) for bases in layout.inputs]
    masks = [0, 0, 0, 0]
    for index in Span(basis for bases in layout.inputs for basis in bases).free:
        which = 0
        while index >= lengths[which]:
            index -= lengths[which]
            which += 1
        masks[which] |= 1 << index
    return (masks[0], masks[1], masks[2], masks[3])


# For each input of the source, for each of its bits: the bits of the four inputs of the target.
Conversion = tuple[tuple[tuple[int, int, int, int], ...], ...]


@lru_cache(maxsize=16384)
def invert_and_compose(source: LinearLayout, target: LinearLayout) -> Conversion | None:
    """Which register, lane, warp and block of `target` hold what those of `source` hold.

    As LinearLayout::invertAndCompose: an input whose bases agree on both sides is mapped to itself, so that
    copies stay where they are; the others are solved, copies going to the lowest place. None if the target
    does not cover the source.
    """
    same = [a == b for a, b in zip(source.inputs, target.inputs, strict=True)]
    columns: list[int] = []
    place: list[tuple[int, int]] = []
    for which in range(4):
        if not same[which]:
            for bit, basis in enumerate(target.inputs[which]):
                columns.append(basis)
                place.append((which, 1 << bit))
    span = Span(columns)
    answer: list[tuple[tuple[int, int, int, int], ...]] = []
    for which in range(4):
        row: list[tuple[int, int, int, int]] = []
        for bit, basis in enumerate(source.inputs[which]):
            to = [0, 0, 0, 0]
            if same[which]:
                to[which] = 1 << bit
            else:
                made_of = span.solve(basis)
                if made_of is None:
                    return None
                while made_of:
                    lowest = made_of & -made_of
                    made_of ^= lowest
                    target_which, target_bit = place[lowest.bit_length() - 1]
                    to[target_which] |= target_bit
            row.append((to[0], to[1], to[2], to[3]))
        answer.append(tuple(row))
    return tuple(answer)


def is_trivial_over(conversion: Conversion, target: LinearLayout, which: int) -> bool:
    """Whether an input keeps to itself: same size, mapped by the identity, nothing crossing."""
    if len(conversion[which]) != len(target.inputs[which]):
        return False
    for other, row in enumerate(conversion):
        for bit, to in enumerate(row):
            if other == which:
                if to[which] != 1 << bit or any(to[i] for i in range(4) if i != which):
                    return False
            elif to[which]:
                return False
    return True


@lru_cache(maxsize=16384)
def farthest_move(source: LinearLayout, target: LinearLayout) -> int | None:
    """How far a conversion moves data: None (nothing moves), REGISTER, LANE, WARP or BLOCK.

    As minimalCvtLayout: the inputs are dropped from the farthest on while the conversion is the identity
    there.
    """
    if source == target:
        return None
    conversion = invert_and_compose(target, source)
    if conversion is None:
        return BLOCK
    for which in (BLOCK, WARP, LANE, REGISTER):
        if not is_trivial_over(conversion, source, which):
            return which
    return None


@lru_cache(maxsize=16384)
def farthest_move_pairing_copies(source: LinearLayout, target: LinearLayout) -> int | None:
    """As farthest_move in the first release that looked at linear layouts: copies were told apart by giving
    each a dimension of its own, so that the n-th copy of the target is taken from the n-th of the source,
    wherever it is."""
    if source == target:
        return None
    places = [
        (which, bit, basis) for which, bases in enumerate(source.inputs) for bit, basis in enumerate(bases)
    ]
    holds = {basis: (which, bit) for which, bit, basis in places if basis}
    copies = [(which, bit) for which, bit, basis in places if not basis]
    seen = 0
    farthest: int | None = None
    lengths = [len(bases) for bases in source.inputs]
    for which, bases in enumerate(target.inputs):
        if len(bases) != lengths[which]:
            farthest = which if farthest is None else max(farthest, which)
        for bit, basis in enumerate(bases):
            if basis:
                place = holds.get(basis)
            else:
                place = copies[seen] if seen < len(copies) else None
                seen += 1
            if place != (which, bit):
                moved = max(which, place[0] if place else which)
                farthest = moved if farthest is None else max(farthest, moved)
    return farthest


@lru_cache(maxsize=16384)
def _bit_map(source: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """Where each bit of a position goes when a tensor is reshaped (row-major)."""

    # In row-major order the last dimension has the lowest bits; a position has the first dimension lowest.
    def row_major_places(shape: tuple[int, ...]) -> list[int]:
        offsets = dim_offsets(shape)
        places: list[int] = []
        for dim in reversed(range(len(shape))):
            places.extend(offsets[dim] + bit for bit in range(log2(shape[dim])))
        return places

    moved = [0] * sum(log2(size) for size in source)
    for from_bit, to_bit in zip(row_major_places(source), row_major_places(target), strict=True):
        moved[from_bit] = to_bit
    return tuple(moved)


def _move_bits(basis: int, moved: tuple[int, ...]) -> int:
    result = 0
    while basis:
        lowest = basis & -basis
        basis ^= lowest
        result |= 1 << moved[lowest.bit_length() - 1]
    return result


def _map_bits(layout: LinearLayout, shape: tuple[int, ...], moved: tuple[int, ...]) -> LinearLayout:
    register, lane, warp, block = (
        tuple(_move_bits(basis, moved) for basis in bases) for bases in layout.inputs
    )
    return LinearLayout(shape, register, lane, warp, block)


@lru_cache(maxsize=16384)
def reshape(layout: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
    """The layout of the tensor reshaped row-major, nothing moving."""
    return _map_bits(layout, shape, _bit_map(layout.shape, shape))


@lru_cache(maxsize=16384)
def transpose(layout: LinearLayout, order: tuple[int, ...]) -> LinearLayout:
    """The layout of the tensor with dimension `order[i]` of the source as dimension i."""
    shape = tuple(layout.shape[dim] for dim in order)
    source_offsets, target_offsets = dim_offsets(layout.shape), dim_offsets(shape)
    moved = [0] * layout.bits
    for to_dim, from_dim in enumerate(order):
        for bit in range(log2(layout.shape[from_dim])):
            moved[source_offsets[from_dim] + bit] = target_offsets[to_dim] + bit
    return _map_bits(layout, shape, tuple(moved))


def resize_dims(
    layout: LinearLayout, shape: tuple[int, ...], order: tuple[int, ...], keep_broadcast_registers: bool
) -> LinearLayout:
    """The layout on a tensor of another shape: dimensions that grow are filled with registers in `order`,
    bases past the end of those that shrink become copies (dropped from the registers unless told to keep
    them)."""
    moved: list[int] = []  # new place of each bit of a position, -1 past the end
    offsets = dim_offsets(shape)
    for dim, size in enumerate(layout.shape):
        bits = log2(shape[dim])
        moved.extend(offsets[dim] + bit if bit < bits else -1 for bit in range(log2(size)))

    def move(basis: int) -> int:
        result = 0
        while basis:
            lowest = basis & -basis
            basis ^= lowest
            to = moved[lowest.bit_length() - 1]
            if to >= 0:
                result |= 1 << to
        return result

    register = []
    for basis in layout.register:
        new = move(basis)
        if new or not basis or keep_broadcast_registers:
            register.append(new)
    for dim in order:
        register.extend(1 << (offsets[dim] + bit) for bit in range(log2(layout.shape[dim]), log2(shape[dim])))
    lane, warp, block = (tuple(move(b) for b in bases) for bases in layout.inputs[1:])
    return LinearLayout(shape, tuple(register), lane, warp, block)


def drop_dim(layout: LinearLayout, dim: int) -> LinearLayout:
    """The layout without a dimension of size 1."""
    return LinearLayout(
        layout.shape[:dim] + layout.shape[dim + 1 :], layout.register, layout.lane, layout.warp, layout.block
    )


def insert_dim(layout: LinearLayout, dim: int) -> LinearLayout:
    """The layout with a dimension of size 1 inserted."""
    shape = (*layout.shape[:dim], 1, *layout.shape[dim:])
    return LinearLayout(shape, layout.register, layout.lane, layout.warp, layout.block)


def split_register(layout: LinearLayout, dim: int) -> LinearLayout:
    """The layout with `dim` twice as long, each thread holding the two new neighbours in its lowest
    register."""
    bit = dim_offsets(layout.shape)[dim]
    low = (1 << bit) - 1

    def spread(basis: int) -> int:
        return (basis & low) | ((basis & ~low) << 1)

    shape = tuple(size * 2 if i == dim else size for i, size in enumerate(layout.shape))
    register, lane, warp, block = (tuple(spread(b) for b in bases) for bases in layout.inputs)
    return LinearLayout(shape, (1 << bit, *register), lane, warp, block)


def merge_register(layout: LinearLayout, dim: int) -> LinearLayout | None:
    """The layout with `dim` half as long: the register that steps to the neighbour along it is dropped,
    wherever it stands; None if no register does."""
    bit = dim_offsets(layout.shape)[dim]
    step = 1 << bit
    low = step - 1
    size_mask = dim_mask(layout.shape, dim)
    if not any((basis & size_mask) == step for basis in layout.register):
        return None

    def fold(basis: int) -> int:
        return (basis & low) | ((basis & ~low & ~step) >> 1)

    shape = tuple(size // 2 if i == dim else size for i, size in enumerate(layout.shape))
    register = tuple(fold(b) for b in layout.register if (b & size_mask) != step)
    lane, warp, block = (tuple(fold(b) for b in bases) for bases in layout.inputs[1:])
    return LinearLayout(shape, register, lane, warp, block)
