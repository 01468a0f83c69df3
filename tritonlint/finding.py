"""A finding: one thing worth saying, with where, how sure, and what would mend it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tritonlint.span import Span

Severity = Literal["error", "warning", "info"]
Certainty = Literal["proven", "likely", "possible"]

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")  # rising
CERTAINTIES: tuple[Certainty, ...] = ("possible", "likely", "proven")  # rising


@dataclass(frozen=True, slots=True)
class Edit:
    """`cell`: of a notebook, its number from 1; `span` then counts inside it."""

    span: Span
    text: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """`safe`: neither results nor tile shapes change."""

    title: str
    safe: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Related:
    path: str
    span: Span
    message: str
    cell: int | None = None

    @property
    def where(self) -> str:
        return located(self.path, self.cell)


@dataclass(frozen=True, slots=True)
class Finding:
    code: str
    name: str
    severity: Severity
    certainty: Certainty
    message: str
    path: str
    span: Span
    kernel: str | None = None
    gpus: tuple[str, ...] = ()
    triton: str | None = None
    config: Mapping[str, Any] | None = None
    estimate: Any = None  # an Estimate
    assumptions: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    help: str | None = None
    fixes: tuple[Fix, ...] = ()
    tags: frozenset[str] = field(default_factory=frozenset)  # "unnecessary" for a dead config
    cell: int | None = None  # as in Edit; None while the places count in the joined module

    @property
    def where(self) -> str:
        return located(self.path, self.cell)


def located(path: str, cell: int | None) -> str:
    """A file, or a cell of a notebook: "a.ipynb:cell 2"."""
    return path if cell is None else f"{path}:cell {cell}"
