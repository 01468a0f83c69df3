"""What the compiler model says of one launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tritonlint.compiler.instructions import Section

TensorCores = Literal["none", "mma_v1", "mma_v2", "wgmma", "tcgen05", "mfma", "wmma"]
Spills = Literal["no", "likely", "certain"]


@dataclass(frozen=True, slots=True)
class SharedPart:
    """One allocation of shared memory: what it is for, how large, and where the source asks for it."""

    label: str  # "3 buffers x 128x64 x 2 B", "epilogue conversion 128x128 x 2 B"
    shared_bytes: int
    line: int
    kind: Literal["buffer", "operand", "conversion", "reduction", "scan", "other", "barrier", "store"]
    live_at_peak: bool = True


@dataclass(frozen=True, slots=True)
class DotFact:
    """One tl.dot: tile sizes, operand types, what executes it."""

    line: int
    m: int
    n: int
    k: int
    batch: int
    a_type: str
    b_type: str
    accumulator: str
    tensor_cores: TensorCores
    in_loop: bool
    why: str = ""  # where tensor cores were lost or a lesser generation was taken: the condition that failed
    instruction: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class LoadFact:
    """One load: how many buffers the pipeliner gives it (0: not pipelined) and why not."""

    line: int
    shape: tuple[int, ...]
    element: str
    buffers: int
    in_loop: bool
    vector: int  # elements that a thread moves at once
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The compiler model's answer for (kernel, constants, options, target, release).

    `shared_bytes` is the compiler's own number where `shared_exact`; otherwise the best estimate. `shared_lower_bound`
    is never above the truth. Registers are estimates with a range, None where no model applies.
    """

    shared_bytes: int
    shared_exact: bool
    shared_lower_bound: int
    parts: tuple[SharedPart, ...]
    tensor_memory_columns: int
    warps: int  # after compilation: warp specialization adds some
    tensor_cores: TensorCores
    dots: tuple[DotFact, ...]
    loads: tuple[LoadFact, ...]
    registers: int | None
    registers_low: int | None
    registers_high: int | None
    spills: Spills
    pipelining_off: str = ""  # what stopped the pipeliner (a print, assert or barrier in the loop), else ""
    sections: tuple[Section, ...] = ()  # what a program issues, loop by loop; () where nothing is known
    spilled_words: int = (
        0  # 32-bit words of a thread that find no register, to be expected by the odds of a spill
    )
    reasons: tuple[str, ...] = ()  # why the number is not exact, one sentence each, with line and construct
