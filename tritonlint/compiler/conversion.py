"""What a layout conversion costs: nothing, a reordering of registers, a shuffle inside a warp, or shared
memory.

Follows cvtNeedsSharedMemory and the scratch sizes of lib/Analysis/Allocation.cpp and lib/Analysis/Utility.cpp
of each release. Up to 3.1 everything but a few shortcuts goes through shared memory; from 3.2 on the linear
layouts are looked at; from 3.3 on data may move by warp shuffles; from 3.5 on the shared memory is swizzled
instead of padded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tritonlint.compiler.encodings import AmdMfma, Blocked, Distributed, DotOperand, NvidiaMma
from tritonlint.compiler.linear import (
    LANE,
    REGISTER,
    WARP,
    LinearLayout,
    farthest_move,
    farthest_move_pairing_copies,
    invert_and_compose,
)
from tritonlint.compiler.padded import padded_elements, vector_lengths
from tritonlint.compiler.releases import Release
from tritonlint.compiler.swizzle import exchange_machine, swizzled_elements
from tritonlint.compiler.target import Target
from tritonlint.compiler.to_linear import to_linear
from tritonlint.kernel.ir import bits_of

Shape = tuple[int, ...]
Kind = Literal["none", "registers", "shuffle", "shared"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """How a conversion is done. `scratch_bytes` is 0 unless `kind` is "shared", or the release is older than
    3.2: those take one element for conversions in registers too."""

    kind: Kind
    scratch_bytes: int = 0


@lru_cache(maxsize=65536)
def conversion(
    source: Distributed, target: Distributed, shape: Shape, element: str, arch: Target, release: Release
) -> Conversion:
    """How a tensor of this shape and element type ("fp16", "*fp32", "i1", ...) gets from one encoding to
    another. `arch` is a swizzle.exchange_machine.

    Never raises on encodings that fit the shape.
    """
    if source == target:
        return Conversion("none")
    kind = _kind(source, target, shape, element, release)
    bits = bits_of(element)
    if kind != "shared":
        # Before linear layouts, a shortcut left an empty shape, whose product is one element.
        return Conversion(kind, 0 if release.linear_layouts else max(8, bits) // 8)
    if release.conversion == "swizzled":
        elements = swizzled_elements(
            to_linear(source, shape), to_linear(target, shape), max(8, bits), arch, release
        )
    else:
        elements = padded_elements(source, target, shape, bits, release)
    return Conversion("shared", elements * max(8, bits) // 8)


def scratch_bytes(
    source: Distributed, target: Distributed, shape: Shape, element: str, arch: Target, release: Release
) -> int:
    """Bytes of scratch that a conversion needs; 0 where it does not go through shared memory."""
    return conversion(source, target, shape, element, exchange_machine(arch), release).scratch_bytes


def is_free(source: Distributed, target: Distributed, shape: Shape) -> bool:
    """Whether at most the registers of each thread change places."""
    return source == target or farthest_move(to_linear(source, shape), to_linear(target, shape)) in (
        None,
        REGISTER,
    )


def same_layout(source: Distributed, target: Distributed, shape: Shape) -> bool:
    """Whether two encodings place the elements the same way."""
    return source == target or to_linear(source, shape) == to_linear(target, shape)


def _kind(source: Distributed, target: Distributed, shape: Shape, element: str, release: Release) -> Kind:
    if not release.linear_layouts:
        return "registers" if _legacy_shortcut(source, target, element, release) else "shared"
    a, b = to_linear(source, shape), to_linear(target, shape)
    move = farthest_move_pairing_copies if release.conversion_pairs_copies else farthest_move
    farthest = move(a, b)
    if farthest is None:
        return "none"
    if farthest == REGISTER:
        return "registers"
    if farthest == LANE and release.conversion_by_shuffle:
        if release.conversion == "swizzled":
            if _mixed_transpositions(a, b) < 2:
                return "shuffle"
        elif _shuffles_before_swizzling(source, target, a, b, shape, element, release):
            return "shuffle"
    if farthest == WARP and release.shuffle_from_own_warp and _source_is_in_every_warp(a, b):
        return "shuffle"
    if release.conversion == "padded":
        if _wgmma_to_operand(source, target, shape, element, release):
            return "registers"
        if release.conversion_by_shuffle and _mfma_to_operand(source, target, element):
            return "shuffle"
        if not release.conversion_by_shuffle and _blocked_to_operand(source, target, shape):
            return "registers"
    return "shared"


def _mixed_transpositions(source: LinearLayout, target: LinearLayout) -> int:
    """How many exchanges of a register bit with a lane bit the conversion takes, written as a permutation of
    register and lane bits (getWarpLayoutConvertDecomposition of 3.5 and up). Large where it is no
    permutation."""
    too_many = 64
    source, target = source.without_broadcast_registers(), target.without_broadcast_registers()
    registers = max(len(source.register), len(target.register))
    lanes = max(len(source.lane), len(target.lane))

    def padded(layout: LinearLayout) -> list[int]:
        register = (*layout.register, *[0] * (registers - len(layout.register)))
        return [*register, *layout.lane, *[0] * (lanes - len(layout.lane))]

    a, b = padded(source), padded(target)
    place = {basis: index for index, basis in enumerate(b) if basis}
    # What the warps of the target choose among may be taken from any lane: as if it were a copy.
    by_warp = set(target.warp) - {0}
    a = [0 if basis in by_warp and basis not in place else basis for basis in a]
    goes_to: list[int | None] = [None] * len(a)
    source_free: list[int] = []
    target_free: list[int] = []
    for index, (from_basis, to_basis) in enumerate(zip(a, b, strict=True)):
        if from_basis:
            goes_to[index] = place.get(from_basis)
            if goes_to[index] is None:
                return too_many
            if not to_basis:
                target_free.append(index)
        elif to_basis:
            source_free.append(index)
        else:
            goes_to[index] = index
    for free, hole in zip(source_free, target_free, strict=False):
        goes_to[free] = hole
    # Each run of lanes inside a cycle with registers is one exchange.
    count = sum(
        index < registers and (to is not None and to >= registers) for index, to in enumerate(goes_to)
    )
    return count if None not in goes_to else too_many


def _source_is_in_every_warp(source: LinearLayout, target: LinearLayout) -> bool:
    """Whether each warp of the target finds its elements in the lanes of the same warp of the source, because
    the source's warps hold copies, and few enough registers change places with lanes. A register that depends
    on the warp would have to be chosen at run time: that goes through shared memory."""
    if source.block != target.block or len(source.warp) != len(target.warp):
        return False
    registers = set(source.register)
    for from_warp, to_warp in zip(source.warp, target.warp, strict=True):
        if from_warp != to_warp and (from_warp or to_warp in registers):
            return False
    return _mixed_transpositions(source, target) < 2


def _shuffles_before_swizzling(
    source: Distributed,
    target: Distributed,
    a: LinearLayout,
    b: LinearLayout,
    shape: Shape,
    element: str,
    release: Release,
) -> bool:
    """Whether 3.3 and 3.4 use warp shuffles: each lane of the target gets its values from one lane of the
    source, but for at most one lane bit that is a register there; and the shared memory would not be read in
    long vectors."""
    if any(isinstance(e, DotOperand) and e.k_width == 0 for e in (source, target)):
        return False
    from_source = invert_and_compose(b, a)
    if from_source is None:
        return False
    missing = 0
    for to in from_source[LANE]:
        if to[REGISTER]:
            missing += 1
        elif not to[LANE]:
            return False  # copies: the source cannot be told from the target alone
    supply = sum(1 for to in from_source[REGISTER] if to[LANE])
    if missing > supply or missing > 1:
        return False
    bits = bits_of(element)
    write, read, _ = vector_lengths(source, target, shape, release)
    return not (bits < 32 and write > 4 and read > 4)


def _wgmma_to_operand(
    source: Distributed, target: Distributed, shape: Shape, element: str, release: Release
) -> bool:
    """A result of wgmma becomes operand A of another one without leaving its warp
    (matchMmaV3AndDotOperandLayout)."""
    if not (isinstance(source, NvidiaMma) and isinstance(target, DotOperand)):
        return False
    bits = bits_of(element)
    if not (source.version == 3 and target.op_idx == 0 and source.warps_per_cta[1] == 1):
        return False
    if bits not in release.wgmma_to_operand_bits:
        return False
    if release.conversion_by_shuffle and target.k_width != 32 // bits:
        return False
    if release.linear_layouts:
        parent = target.parent
        return parent == source or _kind(parent, source, shape, element, release) != "shared"
    return _is_narrow_wgmma(source) and _is_narrow_wgmma(target.parent)


def _is_narrow_wgmma(encoding: Distributed) -> bool:
    return isinstance(encoding, NvidiaMma) and encoding.version == 3 and encoding.warps_per_cta[1] == 1


def _mfma_to_operand(source: Distributed, target: Distributed, element: str) -> bool:
    """A transposed fp8 result of MFMA becomes operand A of the next one by shuffles."""
    return (
        isinstance(source, AmdMfma)
        and isinstance(target, DotOperand)
        and target.parent == source
        and target.op_idx == 0
        and source.is_transposed
        and target.k_width == 8
        and source.instr_shape[:2] in ((16, 16), (32, 32))
        and element.startswith("fp8")
        and source.warps_per_cta[1] == 1
    )


def _blocked_to_operand(source: Distributed, target: Distributed, shape: Shape) -> bool:
    """A blocked tensor of which each thread holds the whole depth is the operand of a product without tensor
    core."""
    if not (isinstance(source, Blocked) and isinstance(target, DotOperand)):
        return False
    parent = target.parent
    if not isinstance(parent, Blocked) or source.order != parent.order:
        return False
    if source.cta_layout != parent.cta_layout:
        return False
    rank = len(shape)
    k_dim = rank - 1 if target.op_idx == 0 else rank - 2
    if source.size_per_thread[k_dim] != shape[k_dim]:
        return False
    return all(
        source.size_per_thread[d] == parent.size_per_thread[d]
        and source.threads_per_warp[d] == parent.threads_per_warp[d]
        and source.warps_per_cta[d] == parent.warps_per_cta[d]
        for d in range(rank)
        if d != k_dim
    )


def _legacy_shortcut(source: Distributed, target: Distributed, element: str, release: Release) -> bool:
    """The conversions that releases before linear layouts do in registers."""
    if isinstance(source, NvidiaMma):
        if isinstance(target, NvidiaMma):
            return release.wgmma and _is_narrow_wgmma(source) and _is_narrow_wgmma(target)
        if isinstance(target, DotOperand):
            if _wgmma_to_operand(source, target, (), element, release):
                return True
            return (
                source.version == 2
                and source.warps_per_cta[1] == 1
                and target.op_idx == 0
                and target.parent == source
                and element != "fp32"
            )
    if isinstance(source, AmdMfma) and isinstance(target, DotOperand):
        return (
            source.warps_per_cta[1] == 1
            and target.op_idx == 0
            and source.is_transposed
            and target.k_width == 4
            and target.parent == source
            and source.instr_shape[0] in (16, 32)
            and element in ("fp16", "bf16")
        )
    return False


def through_buffer(
    source: Distributed, target: Distributed, shape: Shape, element: str, arch: Target, release: Release
) -> bool:
    """Whether the conversion to a dot operand is done by storing the whole tile in a buffer of its own and
    loading the operand from it (decompose-unsupported-conversions), instead of by scratch."""
    if not isinstance(target, DotOperand) or isinstance(source, DotOperand):
        return False
    if not (release.operand_through_buffer_amd if arch.is_amd else release.operand_through_buffer_nvidia):
        return False
    if isinstance(source, (NvidiaMma, AmdMfma)):
        return _kind(source, target, shape, element, release) == "shared"
    if isinstance(source, Blocked):
        return _kind(source, target, shape, element, release) == "shared" or not _blocked_to_operand(
            source, target, shape
        )
    return False
