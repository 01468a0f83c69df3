"""A place in a file. Lines and columns count from 1; columns count Unicode code points (INTERFACE: command
line)."""

from __future__ import annotations

from dataclasses import dataclass

from tritonlint.quick import quick


@quick
@dataclass(frozen=True, slots=True, order=True)
class Span:
    """From (line, column) up to, not including, (end_line, end_column)."""

    line: int
    column: int
    end_line: int
    end_column: int

    def contains(self, other: Span) -> bool:
        """Whether the other one lies within."""
        start, end = (self.line, self.column), (self.end_line, self.end_column)
        return start <= (other.line, other.column) and (other.end_line, other.end_column) <= end
