"""What one program of a kernel does, as values and operations in static single assignment form.

The operations are those of Triton's own first intermediate language (TTIR), under the same names ("tt.load", "tt.dot",
"arith.addf", "scf.for", ...), so that a trace can be held against what the real front end emits, and so that the
compiler model can follow the real passes. Everything is frozen: a pass of the compiler model builds new records.

Attributes by operation (`Op.attrs`), where TTIR has any: make_range start, end; constant value (a number, or a splat);
load/store mask and other are operands, attrs say `has_mask`, `has_other`, `cache`, `evict`, `volatile`; dot
input_precision, max_num_imprecise_acc; dot_scaled a_type, b_type, fast_math, lhs_k_pack, rhs_k_pack; reduce/scan axis
(and reverse), the combining region is a block; expand_dims axis; trans order; reshape allow_reorder; cmp predicate;
program_id axis; atomic_rmw rmw_op, sem, scope; atomic_cas sem, scope; histogram and gather axis; scf.for num_stages,
flatten, warp_specialize, disallow_acc_multi_buffer, loop_unroll_factor, disable_licm; elementwise_inline_asm pure,
packed; extern_elementwise symbol, pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tritonlint.quick import quick

READ_OPTIONS = frozenset({"debug"})
"""The launch options that the front end reads: a trace hangs on no others."""


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar (`shape` is None) or a tensor of one element type.

    `element` is spelled as in a launch signature: "i1", "i8", "i16", "i32", "i64", "u8" is folded into "i8" and so on
    (TTIR has no sign), "fp8e4nv", "fp8e5", "fp8e4b8", "fp8e4b15", "fp8e5b16", "bf16", "fp16", "fp32", "fp64",
    "*fp16" for a pointer, "tensordesc<fp16>" for a descriptor (`shape` is then its block shape), "token".
    """

    element: str
    shape: tuple[int, ...] | None = None

    @property
    def is_tensor(self) -> bool:
        return self.shape is not None

    @property
    def is_pointer(self) -> bool:
        return self.element.startswith("*")

    @property
    def elements(self) -> int:
        total = 1
        for size in self.shape or ():
            total *= size
        return total

    @property
    def bits(self) -> int:
        """Bits of one element; a pointer is 64."""
        return bits_of(self.element)

    def with_shape(self, shape: tuple[int, ...] | None) -> Type:
        return Type(self.element, shape)

    def with_element(self, element: str) -> Type:
        return Type(element, self.shape)


_BITS = {
    "i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64,
    "fp8e4nv": 8, "fp8e5": 8, "fp8e4b8": 8, "fp8e4b15": 8, "fp8e5b16": 8,
    "bf16": 16, "fp16": 16, "fp32": 32, "fp64": 64, "token": 0,
}  # fmt: skip


def bits_of(element: str) -> int:
    """Bits of an element type; 64 for a pointer or a descriptor."""
    return _BITS.get(element, 64)


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One result of an operation, or one argument of a block. Compared by identity."""

    type: Type
    name: str = ""  # the source name nearest to it, for messages only


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation. `line` is that of the user's source (0 where there is none)."""

    name: str
    operands: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    line: int = 0
    path: str = ""  # file of the line, where it is not the kernel's own


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A straight run of operations; the last one is its terminator (scf.yield, scf.condition, tt.return, ...).

    scf.for has one block, its first argument is the induction variable; scf.if has two (the second may be empty);
    scf.while has two, "before" ending in scf.condition and "after".
    """

    args: tuple[Value, ...]
    ops: tuple[Op, ...]


@quick
@dataclass(frozen=True, slots=True)
class Argument:
    """A run-time argument of the kernel: what the launcher's specialization knows about it."""

    name: str
    value: Value
    divisibility: int = 1  # 16 where the launcher found it divisible by 16 (a pointer: aligned)
    line: int = 0


@dataclass(frozen=True, slots=True)
class Function:
    """A traced kernel: its arguments that are left at run time, and its body. Callees are inlined, except noinline
    ones, which appear as tt.call with attrs callee=Function."""

    name: str
    arguments: tuple[Argument, ...]
    body: Block
    noinline: bool = False


@quick
@dataclass(frozen=True, slots=True)
class Gap:
    """Something that could not be traced: what the trace says is then only a part of the kernel."""

    line: int
    construct: str  # the source text, shortened
    reason: str  # plain words, complete with the names that the user knows
    path: str = ""


@dataclass(frozen=True, slots=True)
class CompileError:
    """The real front end would refuse this kernel with these constants: kind names the check."""

    kind: (
        str  # "block-not-power-of-two", "tensor-too-large", "dot-too-small", "dtype-unsupported", "type", ...
    )
    line: int
    message: str
    values: Mapping[str, Any] = field(
        default_factory=dict
    )  # numbers for messages: shape, minimum, dtype, ...
    path: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """The result of tracing one kernel with one set of constants."""

    function: Function
    gaps: tuple[Gap, ...] = ()
    errors: tuple[CompileError, ...] = ()
    assumptions: tuple[str, ...] = ()  # plain words: "x_ptr is *fp16 (default)"

    @property
    def complete(self) -> bool:
        return not self.gaps and not self.errors
