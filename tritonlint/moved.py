"""Findings whose file got other line numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tritonlint.finding import Edit, Finding, Fix, Related
from tritonlint.span import Span

Lines = Callable[[int], int]  # old line -> new line, both from 1
_NUMBER = re.compile(r"\bline (\d+)\b")


def moved_span(span: Span, lines: Lines) -> Span:
    return Span(lines(span.line), span.column, lines(span.end_line), span.end_column)


def moved_text(text: str, lines: Lines) -> str:
    """A text that names lines."""
    return _NUMBER.sub(lambda match: f"line {lines(int(match[1]))}", text) if "line " in text else text


def moved_finding(finding: Finding, path: str, lines: Lines) -> Finding:
    """A finding with its places in the file at `path` moved."""
    if finding.path != path:
        return finding
    return replace(
        finding,
        span=moved_span(finding.span, lines),
        message=moved_text(finding.message, lines),
        help=moved_text(finding.help, lines) if finding.help else finding.help,
        assumptions=tuple(moved_text(text, lines) for text in finding.assumptions),
        related=tuple(
            Related(one.path, moved_span(one.span, lines), moved_text(one.message, lines))
            if one.path == path
            else one
            for one in finding.related
        ),
        fixes=tuple(
            Fix(
                fix.title,
                fix.safe,
                tuple(Edit(moved_span(edit.span, lines), edit.text) for edit in fix.edits),
            )
            for fix in finding.fixes
        ),
    )
