"""What stands under the pointer: a config or launch with its limits on each GPU, a meta-parameter, a rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from tritonlint.span import Span
from tritonlint_server import wording
from tritonlint_server.analysis_record import Analysis
from tritonlint_server.help_pages import page
from tritonlint_server.places import contains
from tritonlint_server.sites import Part, Row, Site

Found = tuple[str, Span]  # Markdown, and what it is about

_IGNORE = re.compile(r"#\s*tritonlint\s*:\s*ignore(?:-next-line|-file)?\s*\[([^\]]*)\]", re.IGNORECASE)
_MAX_ASSUMPTIONS = 8
_RESOURCES = ("threads", "registers", "shared memory", "blocks", "tensor memory")


def hover(analysis: Analysis | None, line: str, place: tuple[int, int]) -> Found | None:
    """What to show at a place (line, column; from 1); `line` is the text of that line."""
    found = _suppression(line, place)
    if found is not None or analysis is None:
        return found
    survey = analysis.survey
    site = _smallest(survey.sites, place, lambda one: one.span)
    if site is not None:
        return of_site(site, analysis), site.span
    parameter = _smallest(survey.parameters, place, lambda one: one.span)
    if parameter is not None:
        values = ", ".join(parameter.values) or "no value reaches it"
        return f"**{parameter.name}**, a meta-parameter of `{parameter.kernel}`: {values}", parameter.span
    listed = _smallest(survey.lists, place, lambda one: one.span)
    if listed is not None and listed.span.line == place[0]:
        rows = [(site, _row(site.rows)) for site in survey.sites if _inside(site.span, listed.span)]
        text = f"**{listed.kernel}**: {wording.lens(listed, 0)}"
        if rows:
            text += f"\n\n| config | {analysis.gpus[0] if analysis.gpus else ''} |\n|---|---|\n"
            text += "\n".join(f"| {site.title} | {wording.hint(row)} |" for site, row in rows[:30] if row)
        return text, listed.span
    return None


def of_site(site: Site, analysis: Analysis) -> str:
    """The table of one config or launch, and where its bytes come from."""
    head = f"**{site.kernel}** {site.title}" if site.title else f"**{site.kernel}**"
    if site.repeats > 1:
        head += f" and {wording.count(site.repeats - 1, 'more config')} from the same text"
    known = [row for row in site.rows if not row.unknown]
    parts = [head]
    if known:
        parts.append(_table(known))
    parts += [f"{row.gpu}: not known: {row.unknown}" for row in site.rows if row.unknown][:4]
    parts += [f"{row.gpu}: does not fit: {'; '.join(row.why_not)}" for row in known if not row.fits]
    parts += _bytes(known)
    parts += _reasons(known)
    assumptions = list(dict.fromkeys(text for row in known for text in row.assumptions))
    if assumptions:
        more = len(assumptions) - _MAX_ASSUMPTIONS
        shown = "; ".join(assumptions[:_MAX_ASSUMPTIONS]) + (f" and {more} more" if more > 0 else "")
        parts.append(f"If {shown}.")
    if any(row.variants > 1 for row in known):
        parts.append("Launched in several ways; these are the numbers of the one with most shared memory.")
    parts.append(f"*Triton {analysis.triton}*")
    return "\n\n".join(parts)


def _table(rows: Iterable[Row]) -> str:
    rows = list(rows)
    named = [name for name in _RESOURCES if any(_limit(row, name) is not None for row in rows)]
    extra = any(row.full_waves is not None for row in rows), any(row.time_ms is not None for row in rows)
    head = ["GPU", "shared memory", "registers", "CTAs/SM", *(f"by {name}" for name in named)]
    head += ["waves"] if extra[0] else []
    head += ["time"] if extra[1] else []
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [
            row.gpu if row.fits else f"~~{row.gpu}~~",
            f"{wording.shared(row)} of {wording.kilobytes(row.shared_limit)}",
            _registers(row),
            f"{row.ctas_per_sm} ({row.occupancy:.0%})" if row.fits else "0",
        ]
        for name in named:
            value = _limit(row, name)
            text = "" if value is None else str(value)
            cells.append(f"**{text}**" if name == row.limiter and text else text)
        if extra[0]:
            cells.append(wording.waves(row))
        if extra[1]:
            bound = f", {row.bound}-bound" if row.bound else ""
            cells.append(f"{wording.milliseconds(row.time_ms)}{bound}" if row.time_ms is not None else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _registers(row: Row) -> str:
    if row.registers is None:
        return ""
    spills = {"likely": ", may spill", "certain": ", spills"}.get(row.spills, "")
    return f"~{row.registers}{spills}"


def _limit(row: Row, name: str) -> int | None:
    return dict(row.limits).get(name)


def _bytes(rows: Iterable[Row]) -> list[str]:
    """Where each byte comes from, once for all GPUs on which it is the same."""
    groups: dict[tuple[Part, ...], list[str]] = {}
    for row in rows:
        if row.parts:
            groups.setdefault(row.parts, []).append(row.gpu)
    texts: list[str] = []
    for parts, gpus in groups.items():
        title = "Shared memory" if len(groups) == 1 else f"Shared memory on {', '.join(gpus)}"
        lines = [f"{title}:"]
        for part in parts:
            where = f", line {part.line}" if part.line else ""
            together = "" if part.at_peak else " (not at the same time)"
            lines.append(f"- {part.shared_bytes:,} B: {part.label}{where}{together}")
        texts.append("\n".join(lines))
    return texts


def _reasons(rows: Iterable[Row]) -> list[str]:
    reasons = dict.fromkeys(reason for row in rows for reason in row.reasons if not row.shared_exact)
    return [f"Not exact: {'; '.join(reasons)}."] if reasons else []


def _suppression(line: str, place: tuple[int, int]) -> Found | None:
    """The rule that an `ignore` comment names there."""
    for match in _IGNORE.finditer(line):
        if not match.start() < place[1] <= match.end() + 1:
            continue
        start = match.start(1)
        first: Found | None = None
        for name in match[1].split(","):
            end = start + len(name)
            text = page(name.strip()) if name.strip() else None
            found = (text, Span(place[0], start + 1, place[0], end + 1)) if text else None
            if found is not None and start < place[1] <= end + 1:
                return found
            first = first or found
            start = end + 1
        return first
    return None


def _smallest(entries: Iterable[Any], place: tuple[int, int], span_of: Callable[[Any], Span]) -> Any:
    """The entry with the smallest span around a place."""
    around = [entry for entry in entries if contains(span_of(entry), place)]
    return min(around, key=lambda entry: _size(span_of(entry)), default=None)


def _size(span: Span) -> tuple[int, int]:
    return (span.end_line - span.line, span.end_column - span.column)


def _inside(inner: Span, outer: Span) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def _row(rows: tuple[Row, ...]) -> Row | None:
    return rows[0] if rows else None
