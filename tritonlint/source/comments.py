"""`# tritonlint:` comments as records: assumptions and suppressions."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tritonlint.source.problem import Problem
from tritonlint.source.text import split_lines
from tritonlint.span import Span

_MARK = re.compile(r"#\s*tritonlint\s*:\s*", re.IGNORECASE)
_DIRECTIVE = re.compile(r"(?P<name>[A-Za-z][A-Za-z-]*)\s*(?P<rest>.*)", re.DOTALL)
_CODES = re.compile(r"\[(?P<codes>[^\]]*)\](?P<reason>.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w.-]*")


@dataclass(frozen=True, slots=True)
class Suppression:
    """`ignore[...]`: rule codes or names as written (empty: every rule), and the line that it holds for."""

    kind: Literal["ignore", "ignore-next-line", "ignore-file"]
    rules: tuple[str, ...]
    rule_spans: tuple[Span, ...]
    reason: str
    span: Span  # of the comment
    line: int  # 0 for a whole file


@dataclass(frozen=True, slots=True)
class Assumption:
    """`assume NAME=VALUE, ...`. Types are kept as written ("*fp16"); numbers, true, false and none are Python's."""

    values: Mapping[str, Any]
    span: Span
    scope: Literal["file", "line", "next"]
    value_spans: Mapping[str, Span] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comments:
    suppressions: tuple[Suppression, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_comments(text: str, path: str, first_code_line: int) -> Comments:
    """All `# tritonlint:` comments of a Python text. `first_code_line` is that of the first statement after the module's
    docstring: an assumption above it holds for the file."""
    if "tritonlint" not in text.lower():
        return Comments()
    suppressions: list[Suppression] = []
    assumptions: list[Assumption] = []
    problems: list[Problem] = []
    for line, column, comment, alone in _comment_tokens(text):
        marks = list(_MARK.finditer(comment))
        for place, mark in enumerate(marks):
            end = marks[place + 1].start() if place + 1 < len(marks) else len(comment)
            body = comment[mark.end() : end].rstrip()
            at = column + mark.end()
            span = Span(line, column + mark.start(), line, at + len(body))
            found = _directive(body, line, at, span, alone, line < first_code_line, path)
            if isinstance(found, Problem):
                problems.append(found)
            elif isinstance(found, Suppression):
                suppressions.append(found)
            else:
                assumptions.append(found)
    return Comments(tuple(suppressions), tuple(assumptions), tuple(problems))


def _comment_tokens(text: str) -> list[tuple[int, int, str, bool]]:
    """(line, column from 1, text, alone on its line) of the comments. Where the text does not tokenize (half-typed
    code), the lines after the break are searched by pattern instead."""
    found: list[tuple[int, int, str, bool]] = []
    lines = split_lines(text)
    last = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            last = token.start[0]
            if token.type == tokenize.COMMENT:
                alone = not token.line[: token.start[1]].strip()
                found.append((token.start[0], token.start[1] + 1, token.string, alone))
    except (tokenize.TokenError, SyntaxError, ValueError):
        seen = {line for line, *_ in found}
        for number, line in enumerate(lines, 1):
            if number not in seen and number >= min(last, number):
                mark = _MARK.search(line)
                quotes = line[: mark.start()] if mark else ""
                if mark and quotes.count('"') % 2 == 0 and quotes.count("'") % 2 == 0:
                    found.append((number, mark.start() + 1, line[mark.start() :], not quotes.strip()))
        found.sort()
    return found


def _directive(
    body: str, line: int, column: int, span: Span, alone: bool, at_top: bool, path: str
) -> Suppression | Assumption | Problem:
    match = _DIRECTIVE.match(body)
    name = match["name"].lower() if match else ""
    if match and name == "assume":
        return _assume(match["rest"], line, column + match.start("rest"), span, alone, at_top, path)
    if match and name in ("ignore", "ignore-next-line", "ignore-file"):
        return _ignore(name, match["rest"], line, column + match.start("rest"), span, path)
    known = "ignore[...], ignore-next-line[...], ignore-file[...] or assume NAME=VALUE"
    return Problem(
        "comment", f"`{body or '(nothing)'}` is not a tritonlint comment; known: {known}", path, span
    )


def _ignore(kind: Any, rest: str, line: int, column: int, span: Span, path: str) -> Suppression | Problem:
    target = {"ignore": line, "ignore-next-line": line + 1, "ignore-file": 0}[kind]
    if not rest.startswith("["):
        if rest and not rest[0].isspace() and rest[0] not in ":-(":
            return Problem("comment", f"`{kind}` wants rules in brackets: {kind}[TL101]", path, span)
        return Suppression(kind, (), (), rest.strip(" :-"), span, target)
    match = _CODES.match(rest)
    if match is None:
        return Problem("comment", f"`{kind}[` has no closing bracket", path, span)
    rules: list[str] = []
    spans: list[Span] = []
    at = column + 1
    for part in match["codes"].split(","):
        name = part.strip()
        start = at + len(part) - len(part.lstrip())
        at += len(part) + 1
        if name:
            rules.append(name)
            spans.append(Span(line, start, line, start + len(name)))
    if not rules:
        return Problem("comment", f"`{kind}[]` names no rule", path, span)
    return Suppression(kind, tuple(rules), tuple(spans), match["reason"].strip(" :-"), span, target)


def _assume(
    rest: str, line: int, column: int, span: Span, alone: bool, at_top: bool, path: str
) -> Assumption | Problem:
    values: dict[str, Any] = {}
    spans: dict[str, Span] = {}
    for start, part in _split(rest):
        text = part.strip()
        if not text:
            continue
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not value or value.startswith("=") or not _NAME.fullmatch(name):
            return Problem("comment", f"`assume` wants NAME=VALUE pairs, not `{text}`", path, span)
        at = column + start + len(part) - len(part.lstrip())
        values[name] = parse_value(value)
        spans[name] = Span(line, at, line, at + len(text))
    if not values:
        return Problem("comment", "`assume` wants NAME=VALUE pairs", path, span)
    scope: Literal["file", "line", "next"] = "line" if not alone else "file" if at_top else "next"
    return Assumption(values, span, scope, spans)


def _split(text: str) -> list[tuple[int, str]]:
    """Parts between commas that stand in no bracket, with their offsets."""
    parts: list[tuple[int, str]] = []
    depth = start = 0
    for place, char in enumerate(text):
        if char in "[(<{":
            depth += 1
        elif char in "])>}":
            depth -= 1
        elif char == "," and depth <= 0:
            parts.append((start, text[start:place]))
            start = place + 1
    parts.append((start, text[start:]))
    return parts


def parse_value(text: str) -> Any:
    """One value of an `assume` comment or of `--set`: a number, true, false, none, a list, a quoted string, or the text
    itself (a type, a GPU)."""
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered in ("none", "null"):
        return None
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if text[0] in "[(" and text[-1] in "])":
        return [parse_value(part.strip()) for _, part in _split(text[1:-1]) if part.strip()]
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
