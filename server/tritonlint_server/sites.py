"""What an editor shows beside the findings: each config and launch with what it costs on each GPU.

Plain records that go from the worker to the server; places count as the linter's do (from 1, code points of
the joined text)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tritonlint.moved import Lines, moved_span, moved_text
from tritonlint.span import Span


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of shared memory and what they are for. `at_peak`: they count in the total."""

    label: str
    shared_bytes: int
    line: int
    at_peak: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One site on one GPU; `unknown` says why nothing can be said, then the numbers mean nothing."""

    gpu: str
    unknown: str = ""
    fits: bool = True
    why_not: tuple[str, ...] = ()
    shared_bytes: int = 0
    shared_exact: bool = False
    shared_limit: int = 0
    registers: int | None = None
    spills: str = "no"
    ctas_per_sm: int = 0
    occupancy: float = 0.0
    limiter: str | None = None
    limits: tuple[tuple[str, int | None], ...] = ()
    tensor_cores: str = "none"
    tensor_memory_columns: int = 0
    full_waves: int | None = None
    last_wave: float = 0.0
    efficiency: float = 0.0
    programs: int = 0
    time_ms: float | None = None
    bound: str | None = None
    parts: tuple[Part, ...] = ()
    reasons: tuple[str, ...] = ()  # why the bytes are not exact
    assumptions: tuple[str, ...] = ()
    variants: int = 1  # different answers for the same text; this is the one with the most shared memory


@dataclass(frozen=True, slots=True)
class Site:
    """A config or a launch."""

    kind: Literal["config", "launch"]
    kernel: str
    title: str  # "BLOCK_M=128, BLOCK_N=64, num_warps=4, num_stages=3"
    span: Span
    rows: tuple[Row, ...]
    repeats: int = 1  # configs that one text builds


@dataclass(frozen=True, slots=True)
class ConfigList:
    """The configs of one tuned kernel. `fitting`: GPU -> how many of them are not refused there."""

    kernel: str
    span: Span  # of the decorator
    count: int
    fitting: Mapping[str, int]
    known: Mapping[str, int]  # GPU -> for how many something can be said
    resolved: bool = True


@dataclass(frozen=True, slots=True)
class MetaParameter:
    """A compile-time parameter of a kernel, with the values that reach it."""

    name: str
    kernel: str
    span: Span
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    sites: tuple[Site, ...] = ()
    lists: tuple[ConfigList, ...] = ()
    parameters: tuple[MetaParameter, ...] = ()


def moved_survey(survey: Survey, lines: Lines) -> Survey:
    """With other line numbers."""
    return Survey(
        tuple(
            replace(
                site,
                span=moved_span(site.span, lines),
                rows=tuple(_moved_row(row, lines) for row in site.rows),
            )
            for site in survey.sites
        ),
        tuple(replace(one, span=moved_span(one.span, lines)) for one in survey.lists),
        tuple(replace(one, span=moved_span(one.span, lines)) for one in survey.parameters),
    )


def _moved_row(row: Row, lines: Lines) -> Row:
    return replace(
        row,
        unknown=moved_text(row.unknown, lines),
        reasons=tuple(moved_text(reason, lines) for reason in row.reasons),
        assumptions=tuple(moved_text(text, lines) for text in row.assumptions),
        parts=tuple(replace(part, line=lines(part.line) if part.line else 0) for part in row.parts),
    )
