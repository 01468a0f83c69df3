"""Edits that change no code: comments, blank lines, blanks at line ends. The findings stay, at their new lines.

Docstrings count as comments. Told by the lines that differ: whatever is not plain to see (other strings over several
lines, continued lines, tritonlint's own comments, broken code) is no such edit, and the file is linted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tritonlint.finding import Finding
from tritonlint.moved import Lines, moved_finding
from tritonlint.source.regions import with_line_feeds
from tritonlint_server.analysis_record import Analysis
from tritonlint_server.sites import moved_survey

_SYNTAX = "TL901"
_TRIPLE = ('"""', "'''")

Same = TypeVar("Same", str, list[str])


@dataclass(frozen=True, slots=True)
class _Edit:
    """The lines that differ, `before` and `after`. `head` is the text above them, `count` how many lines that has."""

    head: str
    count: int
    before: Sequence[str]
    after: Sequence[str]

    @property
    def above(self) -> str:
        """The line above."""
        return self.head[self.head.rfind("\n") + 1 :]


def carried_over(path: str, old_text: str, new_text: str, analysis: Analysis) -> Analysis | None:
    """The analysis of the new text, where the edit changed no code; else None."""
    texts = (with_line_feeds(old_text), with_line_feeds(new_text))
    edit = _edit(*texts)
    first, before, after = edit.count, edit.before, edit.after
    if first < 1 or _ours((edit.above, *before, *after)):
        return None
    if first < 2 and any("coding" in line for text in texts for line in text.split("\n", 2)[:2]):
        return None
    pairs = _same_code(before, after) if _outside_of_strings(edit) else None
    if pairs is None and (_in_docstring(edit) or _in_docstrings_head(edit)):
        pairs = []
    if pairs is None:
        return None
    if analysis.failure or any(_reaches(finding, edit) for finding in analysis.findings):
        return None
    moved = len(after) - len(before)
    inside = {first + 1 + one: first + 1 + other for one, other in pairs}

    def lines(line: int) -> int:
        if line <= first:
            return line
        return inside.get(line, line if line <= first + len(before) else line + moved)

    return _shifted(analysis, path, lines) if moved or inside != {line: line for line in inside} else analysis


def _edit(old: str, new: str) -> _Edit:
    """What differs. The texts are compared as a whole first, since nearly all of their lines are the same."""
    start = old.rfind("\n", 0, _common(old, new)) + 1
    old_rest, new_rest = old[start:], new[start:]
    same = _common(old_rest[::-1], new_rest[::-1])
    tail = old_rest.find("\n", len(old_rest) - same)
    tail = 0 if tail < 0 else len(old_rest) - tail
    before = old_rest[: len(old_rest) - tail].split("\n")
    after = new_rest[: len(new_rest) - tail].split("\n")
    first = _common(before, after)
    last = _common(before[first:][::-1], after[first:][::-1])
    start += sum(len(line) + 1 for line in before[:first])
    return _Edit(
        old[: max(start - 1, 0)],
        old.count("\n", 0, start),
        before[first : len(before) - last],
        after[first : len(after) - last],
    )


def _common(one: Same, other: Same) -> int:
    """How many characters or lines are the same from the start."""
    limit = min(len(one), len(other))
    if one[:limit] == other[:limit]:
        return limit
    low, high = 0, limit  # the first `low` are the same, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _same_code(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]] | None:
    """The lines with code, paired, where they hold the same code on both sides."""
    sides: list[list[tuple[int, str]]] = []
    for lines in (before, after):
        codes: list[tuple[int, str]] = []
        for number, line in enumerate(lines):
            code = _code(line)
            if code is None:
                return None
            if code:
                codes.append((number, code))
        sides.append(codes)
    if [code for _, code in sides[0]] != [code for _, code in sides[1]]:
        return None
    return [(one, other) for (one, _), (other, _) in zip(*sides, strict=True)]


def _code(line: str) -> str | None:
    """A line without its comment and the blanks before it; None where strings leave doubt."""
    quote = ""
    at = 0
    while at < len(line):
        char = line[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            if line.startswith(char * 3, at):
                end = line.find(char * 3, at + 3)
                if end < 0 or "\\" in line[at:end]:
                    return None
                at = end + 2
            else:
                quote = char
        elif char == "#":
            line = line[:at]
            break
        at += 1
    code = line.rstrip()
    return None if quote or code.endswith("\\") else code


def _ours(lines: Sequence[str]) -> bool:
    """Is there a comment of ours, which may hold for the lines around it?"""
    return any("tritonlint" in line.lower() for line in lines)


def _outside_of_strings(edit: _Edit) -> bool:
    """Does a line begin outside of a string over lines, and go on with no other line?"""
    return not edit.above.rstrip().endswith("\\") and not any(
        edit.head.count(quotes) % 2 for quotes in _TRIPLE
    )


def _in_docstring(edit: _Edit) -> bool:
    """Do all edited lines lie within one docstring, between its first and its last line?"""
    if any(quotes in line for quotes in _TRIPLE for line in (*edit.before, *edit.after)):
        return False
    is_open = [quotes for quotes in _TRIPLE if edit.head.count(quotes) % 2]
    if len(is_open) != 1:
        return False
    head = edit.head[: edit.head.rindex(is_open[0])]
    return head[head.rfind("\n") + 1 :].strip() in ("", "r") and head.rstrip("r \t\n").endswith(":")


def _in_docstrings_head(edit: _Edit) -> bool:
    """Is the edit one behind the quotes that open a docstring of several lines?"""
    if len(edit.before) != 1 or len(edit.after) != 1 or not _outside_of_strings(edit):
        return False
    if not edit.head.rstrip().endswith(":"):
        return False
    heads = []
    for line in (edit.before[0], edit.after[0]):
        code = line.lstrip()
        if not code.startswith('"""') or any(char in code[3:] for char in "\"'\\"):
            return False
        heads.append(line[: len(line) - len(code)])
    return heads[0] == heads[1]


def _reaches(finding: Finding, edit: _Edit) -> bool:
    """Does a finding end behind the code of a line that was edited, or is the code broken?"""
    span = finding.span
    if finding.code == _SYNTAX:
        return True
    if not edit.count < span.end_line <= edit.count + len(edit.before):
        return False
    return span.end_column - 1 > len(_code(edit.before[span.end_line - 1 - edit.count]) or "")


def _shifted(analysis: Analysis, path: str, lines: Lines) -> Analysis:
    return replace(
        analysis,
        findings=tuple(moved_finding(finding, path, lines) for finding in analysis.findings),
        survey=moved_survey(analysis.survey, lines),
    )
