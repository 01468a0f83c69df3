"""What one launch costs on one GPU: the record that rules read and that `estimate` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tritonlint.compiler.compiled import Compiled, Spills, TensorCores
    from tritonlint.facts.record import Rung
    from tritonlint.finding import Certainty

Bound = Literal["compute", "memory", "launch"]
# The part of a predicted time in which programs wait, for one another's products or for loads.
WAITS = "waits"


@dataclass(frozen=True, slots=True)
class WavesPart:
    """How the grid fills the GPU. `last` and `efficiency` are fractions of 1."""

    programs: int
    per_wave: int
    full: int
    last: float
    efficiency: float

    def to_json(self) -> dict[str, Any]:
        return {
            "programs": self.programs,
            "per_wave": self.per_wave,
            "full": self.full,
            "last": _short(self.last),
            "efficiency": _short(self.efficiency),
        }


@dataclass(frozen=True, slots=True)
class TimePart:
    """Milliseconds: three roofs, and in `total` what a model of the launch predicts, between `low` and `high`; None
    where no model applies. The textbook's total is the highest roof. `largest` names the part of the prediction that
    would take the longest alone ("waits", "tensor cores", "memory", ...), "" without one; it takes `largest_ms`."""

    compute: float
    memory: float
    launch: float
    total: float | None
    low: float | None = None
    high: float | None = None
    largest: str = ""
    largest_ms: float = 0.0

    @property
    def known(self) -> float:
        """The prediction, or without one the highest roof: for comparing launches."""
        return max(self.compute, self.memory, self.launch) if self.total is None else self.total

    def to_json(self) -> dict[str, Any]:
        return {
            "compute": _short(self.compute),
            "memory": _short(self.memory),
            "launch": _short(self.launch),
            "total": None if self.total is None else _short(self.total),
        }


@dataclass(frozen=True, slots=True)
class Estimate:
    """None means: not known. `fits` is False only where that is certain (the lower bound crosses a limit, or
    an exact number does); `why_not` says which limits, with numbers. `compiled` is the compiler model's full
    answer, for rules; it is no part of the JSON."""

    shared_bytes: int
    shared_exact: bool
    shared_lower_bound: int
    tensor_memory_columns: int
    registers: int | None
    registers_low: int | None
    registers_high: int | None
    spills: Spills
    threads: int
    warps: int
    tensor_cores: TensorCores
    ctas_per_sm: int
    occupancy: float
    limiter: str | None
    limits: Mapping[str, int | None]
    fits: bool
    why_not: tuple[str, ...]
    waves: WavesPart | None
    flops: int | None
    bytes_min: int | None
    bytes_tiled: int | None
    bytes_dram: int | None
    time_ms: TimePart | None
    bound: Bound | None
    certainty: Certainty
    assumptions: tuple[str, ...]
    steps: tuple[str, ...]
    gpu: str = ""
    triton: tuple[int, int] = (0, 0)
    model: Literal["compiler", "textbook"] = "compiler"
    compiled: Compiled | None = field(default=None, repr=False)
    near: str = ""  # what one more program on each multiprocessor would take, in words
    rung: Rung = "estimated"  # what the numbers of the compiler stand on
    origin: str = ""  # where a fact stands
    contradicted: tuple[str, ...] = ()  # what the estimate said that the fact does not

    def to_json(self) -> dict[str, Any]:
        """The promised JSON, in its promised order; where a fact is known, it is named at the end."""
        known: dict[str, Any] = {}
        if self.rung != "estimated":
            known["fact"] = {
                "rung": self.rung,
                "origin": self.origin,
                "contradicted": list(self.contradicted),
            }
        return {
            "shared_bytes": self.shared_bytes,
            "shared_exact": self.shared_exact,
            "shared_lower_bound": self.shared_lower_bound,
            "tensor_memory_columns": self.tensor_memory_columns,
            "registers": self.registers,
            "registers_low": self.registers_low,
            "registers_high": self.registers_high,
            "spills": self.spills,
            "threads": self.threads,
            "warps": self.warps,
            "tensor_cores": self.tensor_cores,
            "ctas_per_sm": self.ctas_per_sm,
            "occupancy": _short(self.occupancy),
            "limiter": self.limiter,
            "limits": dict(self.limits),
            "fits": self.fits,
            "why_not": list(self.why_not),
            "waves": self.waves.to_json() if self.waves else None,
            "flops": self.flops,
            "bytes_min": self.bytes_min,
            "bytes_tiled": self.bytes_tiled,
            "bytes_dram": self.bytes_dram,
            "time_ms": self.time_ms.to_json() if self.time_ms else None,
            "bound": self.bound,
            "certainty": self.certainty,
            "assumptions": list(self.assumptions),
            "steps": list(self.steps),
            **known,
        }


def _short(number: float) -> float:
    """Six significant digits: what lies beyond is noise, and differs between machines."""
    return float(f"{number:.6g}")
