"""What went wrong while a file was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tritonlint.span import Span

ProblemKind = Literal["syntax", "unreadable", "unresolved", "comment"]


@dataclass(frozen=True, slots=True)
class Problem:
    """`syntax` and `unreadable` are TL901, `unresolved` is TL902, `comment` a `# tritonlint:` comment that says nothing
    that is understood."""

    kind: ProblemKind
    message: str
    path: str
    span: Span
    kernel: str | None = None
