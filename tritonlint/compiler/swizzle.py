"""Scratch of a layout conversion through swizzled shared memory, Triton 3.5 and up
(lib/Tools/GenericSwizzling.cpp).

Both layouts are written as bases over positions. For each pair of a store and a load instruction that the
layouts allow, Triton chooses which bases make up the vector that one lane moves, which the row of banks, and
which the rest of the address, the segment. A segment basis that is a register on both sides is done in
rounds, which halves the scratch. The pair with the fewest bank conflicts wins, then the one with the most
rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tritonlint.compiler.linear import (
    BLOCK,
    LANE,
    REGISTER,
    LinearLayout,
    Span,
    invert_and_compose,
    is_trivial_over,
    log2,
)
from tritonlint.compiler.releases import Release
from tritonlint.compiler.target import Target


@dataclass(frozen=True, slots=True)
class MemoryTile:
    """An instruction to or from shared memory: the lane bits that must be contiguous within the 16 bytes that
    a lane moves, and the lane bits that give the address of a transaction. No address bits: the lanes in
    their order."""

    contiguous: tuple[int, ...] = ()
    address: tuple[int, ...] = ()


PLAIN = MemoryTile((), (0, 1, 2))  # ld.shared, st.shared
MATRIX = MemoryTile((0, 1), (2, 3, 4))  # ldmatrix, stmatrix
MATRIX_TRANSPOSED = MemoryTile((2, 3, 4), (0, 1))  # the same with .trans
IN_ORDER = MemoryTile()


def is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def _null_space(vectors: Sequence[int], bits: int) -> list[int]:
    """A basis of the vectors whose product with each of `vectors` is even, one for each free column from the
    lowest."""
    # Reduced row echelon form, pivots at the lowest column.
    rows: list[int] = []
    remaining = [v for v in vectors if v]
    for column in range(bits):
        at = 1 << column
        pivot = next((i for i, v in enumerate(remaining) if v & at), None)
        if pivot is None:
            continue
        row = remaining.pop(pivot)
        remaining = [v ^ row if v & at else v for v in remaining]
        rows = [v ^ row if v & at else v for v in rows]
        rows.append(row)
        remaining = [v for v in remaining if v]
    pivots = [row & -row for row in rows]
    basis = []
    for column in range(bits):
        at = 1 << column
        if at in pivots:
            continue
        vector = at
        for row, pivot_bit in zip(rows, pivots, strict=True):
            if row & at:
                vector ^= pivot_bit
        basis.append(vector)
    return basis


def intersection(first: Sequence[int], second: Sequence[int], bits: int) -> list[int]:
    """A basis of what both span: in the order of `first` where all are single bits, as in nearly every
    layout."""
    if all(map(is_power_of_two, first)) and all(map(is_power_of_two, second)):
        wanted = set(second)
        return [basis for basis in first if basis in wanted]
    return _null_space(_null_space(first, bits) + _null_space(second, bits), bits)


def _common_dimension(first: Sequence[int], second: Sequence[int], bits: int) -> int:
    """Dimension of what both span."""
    if all(map(is_power_of_two, first)) and all(map(is_power_of_two, second)):
        return len(set(first) & set(second))
    del bits

    def rank(vectors: Iterable[int]) -> int:
        listed = list(vectors)
        return len(listed) - len(Span(listed).free)

    return rank(first) + rank(second) - rank([*first, *second])


def _segment(source_bank: Sequence[int], target_bank: Sequence[int], bits: int, count: int) -> list[int]:
    """The bases of the address above the banks, chosen so that as few as possible lie in either side's
    transaction: the bits that neither uses, then sums of one from each, then the sides' own."""
    source, target = set(source_bank) - {0}, set(target_bank) - {0}
    used = source | target
    segment = [1 << bit for bit in range(bits) if 1 << bit not in used]
    if len(segment) >= count:
        return segment[:count]
    fewer, more = sorted(source - target), sorted(target - source)
    if len(fewer) > len(more):
        fewer, more = more, fewer
    alone = min(max(0, count - len(fewer) - len(segment)), len(fewer))
    segment.extend(x ^ y for x, y in list(zip(fewer, more, strict=False))[alone:])
    segment.extend(fewer[:alone])
    segment.extend(more[:alone])
    return segment[:count]


def _rounds(
    source: LinearLayout,
    target: LinearLayout,
    element_bits: int,
    vector: Sequence[int],
    source_tile: Sequence[int],
    target_tile: Sequence[int],
    blocks: Sequence[int],
    keep: int,
    banks: int,
) -> tuple[int, list[int]]:
    """log2 of the rounds, and the segment, for one choice of instructions. `keep` round bases stay in one
    round, so that the wide forms of the matrix instructions can be used."""
    bits = source.bits
    free = bits - len(vector) - len(blocks)
    bank_bits = min(log2(max(1, banks * 32 // ((1 << len(vector)) * element_bits))), free)
    segment = _segment(
        [*vector, *source_tile, *blocks], [*vector, *target_tile, *blocks], bits, free - bank_bits
    )
    on_both = set(source.register) & set(target.register)
    rounds = sum(basis in on_both for basis in dict.fromkeys(segment))
    return max(0, rounds - keep), segment


def _contiguous_tile(
    first: LinearLayout, second: LinearLayout, first_tile: MemoryTile, second_tile: MemoryTile, bits: int
) -> list[int] | None:
    """The bases of the 16 bytes that both instructions move at once, or None if the layouts do not agree with
    them.

    The side that takes more from registers is `first`. The lanes that the other side holds contiguous must be
    registers of the first, or the very lanes that the first holds contiguous.
    """
    many, few = bits - len(first_tile.contiguous), bits - len(second_tile.contiguous)
    if many < few:
        return _contiguous_tile(second, first, second_tile, first_tile, bits)
    if few < 0:
        return None
    vector = intersection(first.register, second.register, first.bits)
    if len(vector) < few:
        return None
    del vector[few:]
    first_lanes = [first.lane[i] for i in first_tile.contiguous]
    second_lanes = [second.lane[i] for i in second_tile.contiguous]
    if 0 in first_lanes or 0 in second_lanes:
        return None
    if second_lanes:
        conversion = invert_and_compose(second, first)
        if conversion is None:
            return None
        lanes = conversion[LANE]
        if any(lanes[second_tile.contiguous[i]][REGISTER] == 0 for i in range(many - few)):
            return None
        shared = second_tile.contiguous[len(second_tile.contiguous) - len(first_tile.contiguous) :]
        for on_first, on_second in zip(first_tile.contiguous, shared, strict=True):
            if lanes[on_second][LANE] != 1 << on_first:
                return None
    return vector + second_lanes


def _transaction(layout: LinearLayout, tile: MemoryTile, vector: Sequence[int]) -> list[int] | None:
    """The three bases that choose among the rows of one transaction."""
    missing = 3 - len(tile.address)
    registers = [basis for basis in layout.register if basis not in vector][:missing]
    if len(registers) < missing:
        return None
    return registers + [layout.lane[i] for i in tile.address]


def _vector_without_tile(
    source: LinearLayout, target: LinearLayout, element_bits: int, release: Release
) -> tuple[list[int], bool | None]:
    """The vector of plain accesses, and whether the source's registers filled it up to a word (None: not
    needed)."""
    bits = source.bits
    vector = intersection(source.register, target.register, bits)
    widest = log2(max(1, 128 // element_bits))
    del vector[widest:]
    word = log2(max(1, 32 // element_bits))
    if (1 << len(vector)) * element_bits >= 32:
        return vector, None
    source_warps, target_warps = [x for x in source.warp if x], [x for x in target.warp if x]
    from_source = intersection([x for x in source.register if x not in vector], target_warps, bits)
    from_target = intersection([x for x in target.register if x not in vector], source_warps, bits)
    if len(from_source) == len(from_target) and from_source:
        source_fills = min(from_source) < min(from_target)
    else:
        source_fills = len(from_source) > len(from_target)
    vector += from_source if source_fills else from_target
    if not release.swizzle_trims_to_word:
        del vector[widest:]
    if len(vector) < word:
        vector += intersection(source_warps, target_warps, bits)
    source_blocks = source.block if release.swizzle_per_cta else ()
    for index in range(max(len(source_warps), len(target_warps))):
        if len(vector) >= word:
            break
        if index < len(source_warps) and source_warps[index] not in vector:
            vector.append(source_warps[index])
        if len(vector) < word and index < len(target_warps):
            basis = target_warps[index]
            if basis not in vector and basis not in source_blocks:
                vector.append(basis)
    if release.swizzle_trims_to_word:
        del vector[word:]
    return vector, source_fills


def _lane_tile(
    layout: LinearLayout, tile: MemoryTile, vector: int, element_bits: int, banks: int, release: Release
) -> list[int]:
    """The lanes that are served together by plain accesses."""
    words = log2(max(1, (1 << vector) * element_bits // 32))
    if tile.address:
        return [layout.lane[i] for i in tile.address]
    later = words
    if release.swizzle_counts_banks:
        later = max(0, words + len(layout.lane) - log2(banks))
    return list(layout.lane[: len(layout.lane) - later])


def _plain_rounds(
    source: LinearLayout,
    target: LinearLayout,
    element_bits: int,
    release: Release,
    banks: int,
    source_tile: MemoryTile,
    target_tile: MemoryTile,
) -> int:
    """log2 of the rounds with plain accesses of the widest vector that both sides share."""
    vector, source_fills = _vector_without_tile(source, target, element_bits, release)
    at = len(vector)
    source_lanes = _lane_tile(source, source_tile, at, element_bits, banks, release)
    target_lanes = _lane_tile(target, target_tile, at, element_bits, banks, release)
    if not release.swizzle_trims_to_word and source_fills is not None:
        # The side that did not fill the word keeps all of its lanes.
        if source_fills:
            target_lanes = list(target.lane)
        else:
            source_lanes = list(source.lane)
    blocks = [b for b in source.block if b] if release.swizzle_per_cta else []
    rounds, _ = _rounds(source, target, element_bits, vector, source_lanes, target_lanes, blocks, 0, banks)
    return rounds


def _conflicts(
    segment: Sequence[int], vector: Sequence[int], tile: Sequence[int], layout: LinearLayout, element_bits: int,
    release: Release,
) -> int:  # fmt: skip
    """How much one side's transaction collides in the banks."""
    if release.swizzle_conflicts_linear:
        return (1 << _common_dimension(segment, tile, layout.bits)) - 1
    # The first release counted in powers of two, and the elements of one word too.
    word = log2(max(1, 32 // element_bits))
    return _common_dimension([*vector[:word], *segment], tile, layout.bits)


def nvidia_tiles(
    capability: int, element_bits: int, across_ctas: bool
) -> tuple[list[MemoryTile], list[MemoryTile]]:
    """The instructions that a capability has, for the store and the load side (getSrcDstTiles)."""
    stores, loads = [PLAIN], [PLAIN]
    for tile in (MATRIX, MATRIX_TRANSPOSED):
        if element_bits > 32 or (tile is MATRIX_TRANSPOSED and element_bits != 16):
            continue
        if capability >= 90:
            stores.append(tile)
        if capability >= 75 and not across_ctas:
            loads.append(tile)
    return stores, loads


@lru_cache(maxsize=4096)
def _nvidia_rounds(
    source: LinearLayout, target: LinearLayout, element_bits: int, capability: int, release: Release
) -> int:
    across_ctas = False
    if release.swizzle_per_cta and (source.block or target.block):
        conversion = invert_and_compose(target, source)
        across_ctas = conversion is None or not is_trivial_over(conversion, source, BLOCK)
    stores, loads = nvidia_tiles(capability, element_bits, across_ctas)
    blocks = [b for b in source.block if b] if release.swizzle_per_cta else []
    vector_bits = log2(max(1, 128 // element_bits))
    best: tuple[int, int] | None = None  # conflicts, minus the rounds
    for store in stores:
        for load in loads:
            vector = _contiguous_tile(source, target, store, load, vector_bits)
            if vector is None:
                continue
            source_tile = _transaction(source, store, vector)
            target_tile = _transaction(target, load, vector)
            if source_tile is None or target_tile is None:
                continue
            keep = 0
            if release.swizzle_keeps_wide_rounds:
                keep = min(
                    len(store.contiguous) + len(store.address) - 3,
                    len(load.contiguous) + len(load.address) - 3,
                )
            rounds, segment = _rounds(
                source, target, element_bits, vector, source_tile, target_tile, blocks, keep, 32
            )
            conflicts = _conflicts(segment, vector, source_tile, source, element_bits, release)
            conflicts += _conflicts(segment, vector, target_tile, target, element_bits, release)
            if best is None or (conflicts, -rounds) < best:
                best = (conflicts, -rounds)
    if best is not None:
        return -best[1]
    return _plain_rounds(source, target, element_bits, release, 32, IN_ORDER, IN_ORDER)


_PLAIN_ONLY, _LOADS_MATRICES, _STORES_MATRICES = Target("sm_70"), Target("sm_75"), Target("sm_90")


def exchange_machine(target: Target, generic: bool = False) -> Target:
    """The target that stands for all that exchange data through shared memory the same way; `generic` as in
    `swizzled_elements`."""
    if target.is_amd:
        return Target(target.arch)
    if generic:
        return _PLAIN_ONLY
    capability = target.capability
    if capability >= 90:
        return _STORES_MATRICES
    return _LOADS_MATRICES if capability >= 75 else _PLAIN_ONLY


def amd_banks(target: Target, release: Release) -> int:
    """Banks of the local data share."""
    return 64 if release.swizzle_counts_banks and target.arch in ("gfx950", "gfx1250") else 32


def _amd_load_tile(target: Target, vector_bits: int, release: Release) -> MemoryTile:
    """Which lanes a 16-byte read serves together (getSharedLdStTiles)."""
    if not release.swizzle_counts_banks or vector_bits != 128:
        return IN_ORDER
    arch = target.arch
    if arch == "gfx942" or arch.startswith(("gfx10", "gfx11")):
        return MemoryTile((), (0, 1, 4))
    if arch in ("gfx950", "gfx1250"):
        return MemoryTile((), (0, 1, 3, 4))
    return IN_ORDER


@lru_cache(maxsize=4096)
def _amd_rounds(
    source: LinearLayout,
    target: LinearLayout,
    element_bits: int,
    arch: Target,
    release: Release,
    with_copies: tuple[LinearLayout, LinearLayout],
) -> int:
    banks = amd_banks(arch, release)
    in_order = _plain_rounds(source, target, element_bits, release, banks, IN_ORDER, IN_ORDER)
    if not release.swizzle_counts_banks:
        return in_order
    # The width is asked of the layouts before copies are removed.
    vector, _ = _vector_without_tile(with_copies[0], with_copies[1], element_bits, release)
    load_tile = _amd_load_tile(arch, (1 << len(vector)) * element_bits, release)
    if load_tile == IN_ORDER:
        return in_order
    rounds = _plain_rounds(source, target, element_bits, release, banks, IN_ORDER, load_tile)
    return max(rounds, in_order) if release.swizzle_tries_lane_orders else rounds


def swizzled_elements(
    source: LinearLayout,
    target: LinearLayout,
    element_bits: int,
    arch: Target,
    release: Release,
    generic: bool = False,
) -> int:
    """Elements of scratch that a conversion needs; `element_bits` is 8 to 64.

    `generic`: only plain accesses are considered, as for the conversions inside a reduction.
    """
    a, b = source.without_broadcast_registers(), target.without_broadcast_registers()
    if arch.is_amd:
        rounds = _amd_rounds(a, b, element_bits, arch, release, (source, target))
    elif generic:
        rounds = _plain_rounds(a, b, element_bits, release, 32, IN_ORDER, IN_ORDER)
    else:
        rounds = _nvidia_rounds(a, b, element_bits, arch.capability, release)
    total = a.bits - rounds
    if release.swizzle_per_cta:
        total -= sum(basis != 0 for basis in a.block)
    return 1 << max(0, total)
