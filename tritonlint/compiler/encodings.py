"""The encodings that Triton attaches to tensors and memory: records only, no arithmetic.

The names and parameters follow the attributes of Triton's TritonGPU and TritonNvidiaGPU dialects, so that a
replayed pass reads like the original and an encoding can be held against the text that the real compiler
prints. All are frozen and hashable: the arithmetic on them (to_linear.py and up) is cached by encoding and
shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from tritonlint.compiler.linear import LinearLayout, log2, unpack


class _Hashed:
    """Room for the hash of a record, which is asked for far more often than records are made."""

    __slots__ = ("_hash",)


_Record = TypeVar("_Record", bound=type)


def _hash_once(record: _Record) -> _Record:
    """Let a record compute its hash once."""
    compute: Callable[[Any], int] = record.__hash__  # type: ignore[assignment]

    def __hash__(self: Any) -> int:
        try:
            return self._hash  # type: ignore[no-any-return]
        except AttributeError:
            value = compute(self)
            object.__setattr__(self, "_hash", value)
            return value

    record.__hash__ = __hash__  # type: ignore[assignment]
    return record


@dataclass(frozen=True, slots=True)
class CtaLayout:
    """How a tensor is split over the CTAs of a cluster: one basis (an index) for each bit of the CTA's
    number.

    A basis of zeros means that the CTAs hold copies. Written by older releases as CTAsPerCGA, CTASplitNum,
    CTAOrder; see `cta_layout`. A cluster of one CTA is `None` in the encodings, never a CtaLayout without
    bases.
    """

    rank: int
    bases: tuple[tuple[int, ...], ...]

    @property
    def split(self) -> tuple[int, ...]:
        """CTASplitNum: into how many parts each dimension is cut."""
        parts = [1] * self.rank
        for basis in self.bases:
            for dim, value in enumerate(basis):
                if value:
                    parts[dim] = max(parts[dim], value * 2)
        return tuple(parts)

    @property
    def ctas(self) -> int:
        return 1 << len(self.bases)


def cta_layout(per_cga: tuple[int, ...], split: tuple[int, ...], order: tuple[int, ...]) -> CtaLayout | None:
    """The layout that CTAsPerCGA, CTASplitNum and CTAOrder describe; None for a single CTA.

    Along each dimension, the fastest of `order` first, the low bits of the CTA's number cut the dimension
    into `split` parts and the others repeat them.
    """
    rank = len(per_cga)
    bases: list[tuple[int, ...]] = []
    for dim in order:
        for bit in range(log2(per_cga[dim])):
            value = 1 << bit
            basis = [0] * rank
            basis[dim] = value if value < split[dim] else 0
            bases.append(tuple(basis))
    return CtaLayout(rank, tuple(bases)) if bases else None


@_hash_once
@dataclass(frozen=True, slots=True)
class Blocked(_Hashed):
    """#ttg.blocked: what loads, stores and everything without a tensor core start from. `order` lists the
    fastest dimension first."""

    size_per_thread: tuple[int, ...]
    threads_per_warp: tuple[int, ...]
    warps_per_cta: tuple[int, ...]
    order: tuple[int, ...]
    cta_layout: CtaLayout | None = None


@_hash_once
@dataclass(frozen=True, slots=True)
class NvidiaMma(_Hashed):
    """#ttg.nvidia_mma: the accumulator of mma.sync (version 1 or 2) or wgmma (version 3).

    `instr_shape` is (16, 8) for version 2 (with the batch in front for rank 3), (16, N, K) for version 3. The
    accumulator of tcgen05 has no encoding of this kind: it lives in tensor memory.
    """

    version: int
    warps_per_cta: tuple[int, ...]
    instr_shape: tuple[int, ...]
    version_minor: int = 0
    cta_layout: CtaLayout | None = None


@_hash_once
@dataclass(frozen=True, slots=True)
class AmdMfma(_Hashed):
    """#ttg.amd_mfma: the accumulator of a matrix instruction of CDNA (version 1 to 4: gfx908, 90a, 942,
    950)."""

    version: int
    warps_per_cta: tuple[int, ...]
    instr_shape: tuple[int, ...]
    is_transposed: bool
    tiles_per_warp: tuple[int, ...] = ()
    element_bits: int = 32
    cta_layout: CtaLayout | None = None


@_hash_once
@dataclass(frozen=True, slots=True)
class AmdWmma(_Hashed):
    """#ttg.amd_wmma: the accumulator of a matrix instruction of RDNA (version 1: gfx11, 2: gfx12, 3:
    gfx1250).
    """

    version: int
    warps_per_cta: tuple[int, ...]
    is_transposed: bool
    instr_shape: tuple[int, ...] = (16, 16, 16)
    tiles_per_warp: tuple[int, ...] = ()
    cta_layout: CtaLayout | None = None


@_hash_once
@dataclass(frozen=True, slots=True)
class Linear(_Hashed):
    """#ttg.linear: given by the bases themselves. `layout.shape` is the shape that the bases cover."""

    layout: LinearLayout


@_hash_once
@dataclass(frozen=True, slots=True)
class Slice(_Hashed):
    """#ttg.slice: the parent without one dimension; the threads along it hold copies."""

    dim: int
    parent: Distributed


@_hash_once
@dataclass(frozen=True, slots=True)
class DotOperand(_Hashed):
    """#ttg.dot_op: operand A (0) or B (1) of a dot whose result has the encoding `parent`; `k_width`
    consecutive elements along K in one thread (0 where the parent does not use it)."""

    op_idx: int
    parent: Distributed
    k_width: int = 0


Distributed: TypeAlias = Blocked | NvidiaMma | AmdMfma | AmdWmma | Linear | Slice | DotOperand


@dataclass(frozen=True, slots=True)
class SwizzledShared:
    """#ttg.swizzled_shared (#triton_gpu.shared before 3.3)."""

    vec: int
    per_phase: int
    max_phase: int
    order: tuple[int, ...]
    cta_layout: CtaLayout | None = None


@dataclass(frozen=True, slots=True)
class NvmmaShared:
    """#ttg.nvmma_shared: what TMA, wgmma and tcgen05 use."""

    swizzling_byte_width: int
    transposed: bool
    element_bits: int
    fp4_padded: bool = False
    cta_layout: CtaLayout | None = None


@dataclass(frozen=True, slots=True)
class PaddedShared:
    """#ttg.padded_shared (AMD): after each `interval` elements, `pad` elements stay empty. `order` of the
    elements."""

    interval_pads: tuple[tuple[int, int], ...]
    order: tuple[int, ...]
    cta_layout: CtaLayout | None = None


@dataclass(frozen=True, slots=True)
class RotatingShared:
    """#ttg.amd_rotating_shared (AMD): as SwizzledShared, with the pattern shifted from block to block."""

    vec: int
    per_phase: int
    max_phase: int
    order: tuple[int, ...]
    cta_layout: CtaLayout | None = None


@dataclass(frozen=True, slots=True)
class SharedLinear:
    """#ttg.shared_linear: offsets to positions by bases."""

    shape: tuple[int, ...]
    offset: tuple[int, ...]
    alignment: int = 16
    cta_layout: CtaLayout | None = None


Shared: TypeAlias = SwizzledShared | NvmmaShared | PaddedShared | RotatingShared | SharedLinear


@dataclass(frozen=True, slots=True)
class TensorMemory:
    """#ttng.tensor_memory_encoding: blocks of block_m x block_n, one row a lane."""

    block_m: int
    block_n: int
    col_stride: int = 1
    two_ctas: bool = False
    fp4_padded: bool = False
    cta_split_m: int = 1
    cta_split_n: int = 1


@dataclass(frozen=True, slots=True)
class TensorMemoryScales:
    """#ttng.tensor_memory_scales_encoding: the scales of a scaled dot."""

    cta_split_m: int = 1
    cta_split_n: int = 1
    k_then_mn: bool = False


Memory: TypeAlias = Shared | TensorMemory | TensorMemoryScales
Encoding: TypeAlias = Distributed | Memory


def cta_of(encoding: Distributed | Shared) -> CtaLayout | None:
    """The cluster split of an encoding in its own dimensions; None for a single CTA."""
    if isinstance(encoding, Slice):
        parent = cta_of(encoding.parent)
        if parent is None:
            return None
        dim = encoding.dim
        return CtaLayout(parent.rank - 1, tuple(b[:dim] + b[dim + 1 :] for b in parent.bases))
    if isinstance(encoding, DotOperand):
        parent = cta_of(encoding.parent)
        if parent is None:
            return None
        k_dim = parent.rank - 1 if encoding.op_idx == 0 else parent.rank - 2
        return CtaLayout(parent.rank, tuple((*b[:k_dim], 0, *b[k_dim + 1 :]) for b in parent.bases))
    if isinstance(encoding, Linear):
        layout = encoding.layout
        if not layout.block:
            return None
        # A block basis is a high bit of its dimension: its part number is counted from the size of one part.
        parts = [unpack(basis, layout.shape) for basis in layout.block]
        smallest = [min((p[d] for p in parts if p[d]), default=1) for d in range(layout.rank)]
        return CtaLayout(
            layout.rank,
            tuple(tuple(v // smallest[d] if v else 0 for d, v in enumerate(p)) for p in parts),
        )
    return encoding.cta_layout


def rank_of(encoding: Distributed) -> int:
    """Number of dimensions of the tensors that the encoding fits."""
    if isinstance(encoding, Slice):
        return rank_of(encoding.parent) - 1
    if isinstance(encoding, DotOperand):
        return rank_of(encoding.parent)
    if isinstance(encoding, Linear):
        return encoding.layout.rank
    return len(encoding.warps_per_cta)


def shape_per_cta(shape: tuple[int, ...], cta: CtaLayout | None) -> tuple[int, ...]:
    """The part of a shape that one CTA holds."""
    if cta is None:
        return shape
    split = cta.split
    # A shape with a buffer dimension in front is longer than the split.
    extra = len(shape) - len(split)
    return shape[:extra] + tuple(s // min(s, n) for s, n in zip(shape[extra:], split, strict=True))
