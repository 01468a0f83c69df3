"""What the evaluator knows of a value, from exactly down to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tritonlint.quick import quick


@quick
@dataclass(frozen=True, slots=True)
class Known:
    """Exactly this value: a number, string, bool, None, tuple, list, dict, DType, Function or Object."""

    value: Any


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of these, which one is not decided (the branches of a condition, a parameter with known callers)."""

    values: tuple[Any, ...]


@quick
@dataclass(frozen=True, slots=True)
class Bounded:
    """A number of which only bounds are known; None means no bound. `power_of_two` and `multiple_of` where proved."""

    low: int | None = None
    high: int | None = None
    power_of_two: bool = False
    multiple_of: int = 1
    reason: str = ""


@quick
@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing known, and why, in words for the user: "n comes from the caller"."""

    reason: str


Knowledge = Known | OneOf | Bounded | Unknown


@dataclass(frozen=True, slots=True)
class DType:
    """A Triton or torch dtype as a value, by Triton's signature name ("fp16")."""

    name: str
