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
    span: Span
    text: str


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
