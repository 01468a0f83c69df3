"""A fact: what the compiler or a GPU said of one compiled kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Rung = Literal["estimated", "compiled", "measured"]  # rising


@dataclass(frozen=True, slots=True)
class Numbers:
    """What is known of a kernel; None: not told. `spills` as Triton counts them: 4-byte words of local memory on
    NVIDIA, spilled vector registers on AMD. `warps` are those after compilation."""

    shared_bytes: int | None = None
    registers: int | None = None
    spills: int | None = None
    tensor_memory_columns: int | None = None
    warps: int | None = None
    ctas_per_sm: int | None = None
    time_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """Numbers with what they hold for. None: the file does not tell, so anything may match."""

    kernel: str
    numbers: Numbers
    rung: Rung
    origin: str  # "Triton cache, ~/.triton/cache/ABC/gemm.json"
    arch: str | None = None  # "sm_90"
    gpu: str | None = None  # a profile's name
    triton: tuple[int, int] | None = None
    num_warps: int | None = None
    num_stages: int | None = None
    num_ctas: int | None = None
    constants: Mapping[str, Any] | None = None  # of compile time, by name
    arguments: tuple[tuple[str, str, bool], ...] | None = (
        None  # of run time: name or "", type, divisible by 16
    )
    line: int | None = None  # of the kernel's first line, decorators included
    file: str | None = None
    shapes: frozenset[str] | None = None  # of the tensors that occur in the kernel, "128x64"
    grid: tuple[int, ...] | None = None
    threads: int | None = None  # of a program
