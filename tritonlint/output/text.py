"""The text outputs: `concise`, one line a finding, and `full`, with the source and what would mend it."""

from __future__ import annotations

from tritonlint.finding import Finding
from tritonlint.lint_many import Report
from tritonlint.output.style import SEVERITY_COLOUR, Style
from tritonlint.output.wrap import Part, columns, wrapped
from tritonlint.span import Span

MAX_EXCERPT = 160  # columns of a source line that are shown
_LEAST_EXCERPT = 30
_TAB = 4


def concise(report: Report, style: Style) -> list[str]:
    """ "path:line:column: severity TL101 message [name]", for editors and grep."""
    lines = []
    for finding in report.findings:
        place = f"{finding.where}:{finding.span.line}:{finding.span.column}"
        level = style.paint(finding.severity, SEVERITY_COLOUR[finding.severity])
        code = style.paint(finding.code, "bold")
        name = style.paint(f"[{finding.name}]", "dim")
        lines.append(f"{style.paint(place, 'bold')}: {level} {code} {one_line(finding.message)} {name}")
    return lines


def full(report: Report, style: Style) -> list[str]:
    """Each finding with the source around it, what it rests on, and the help line."""
    lines: list[str] = []
    for finding in report.findings:
        lines += _block(finding, report.sources.get(finding.where, ""), report, style)
        lines.append("")
    return lines


def _block(finding: Finding, source: str, report: Report, style: Style) -> list[str]:
    colour = SEVERITY_COLOUR[finding.severity]
    margin = len(str(finding.span.line))
    gutter = " " * margin
    bar = style.paint("|", "blue")
    arrow = style.paint("-->", "blue")
    head: list[Part] = [
        (f"{finding.severity}[{finding.code}]", (colour, "bold")),
        (": ", ()),
        (one_line(finding.message), ("bold",)),
        (" ", ()),
        (f"({finding.name})", ("dim",)),
    ]
    lines = wrapped(head, style, margin + 3)
    lines.append(f"{gutter}{arrow} {finding.where}:{finding.span.line}:{finding.span.column}")
    room = MAX_EXCERPT if style.width is None else min(MAX_EXCERPT, style.width - margin - 3)
    excerpt = excerpt_lines(source, finding.span, max(room, _LEAST_EXCERPT))
    if excerpt:
        text, carets = excerpt
        number = style.paint(str(finding.span.line).rjust(margin), "blue")
        lines += [
            f"{gutter} {bar}",
            f"{number} {bar} {text}",
            f"{gutter} {bar} {style.paint(carets, colour)}",
        ]

    def note(label: str, text: str, *names: str) -> list[str]:
        parts: list[Part] = [(f"{gutter} ", ()), ("=", ("blue",)), (" ", ()), (label, (*names, "bold"))]
        return wrapped([*parts, (f": {text}", ())], style, margin + len(" = : ") + len(label))

    for one in finding.related:
        lines += note("see", f"{one.where}:{one.span.line}:{one.span.column}: {one_line(one.message)}")
    known = facts_line(finding)
    if known:
        lines += note("known", known)
    if finding.help:
        lines += note("help", one_line(finding.help), "cyan")
    return lines


def facts_line(finding: Finding) -> str:
    """How sure it is and what that rests on: "likely, if x_ptr is *fp16 (default)"."""
    parts = []
    if finding.kernel:
        parts.append(f"kernel {finding.kernel}")
    if finding.gpus:
        parts.append(f"on {', '.join(finding.gpus)}")
    if finding.triton:
        parts.append(f"Triton {finding.triton}")
    estimate = finding.estimate
    if estimate is not None and estimate.rung != "estimated":
        parts.append(f"{estimate.rung} ({estimate.origin})")
        parts += [f"where {text}" for text in estimate.contradicted]
    sure = finding.certainty
    if finding.assumptions:
        shown = finding.assumptions[:3]
        more = f" and {len(finding.assumptions) - 3} more" if len(finding.assumptions) > 3 else ""
        parts.append(f"{sure}, if {'; '.join(shown)}{more}")
    elif finding.gpus or finding.kernel:
        parts.append(sure)
    return ", ".join(parts)


def excerpt_lines(source: str, span: Span, room: int = MAX_EXCERPT) -> tuple[str, str] | None:
    """The first line of a span and the carets below it, in so many columns; None where the source is not at hand."""
    if not source:
        return None
    from tritonlint.source.text import split_lines

    lines = split_lines(source)
    if not 0 < span.line <= len(lines):
        return None
    line = lines[span.line - 1]
    start = min(span.column - 1, len(line))
    end = len(line.rstrip()) if span.end_line > span.line else min(span.end_column - 1, len(line))
    indent = len(line) - len(line.lstrip())
    cut = min(indent, start)  # shown without the indentation that is not part of it
    text = _expand(line[cut:])
    before = columns(_expand(line[cut:start]))
    width = max(columns(_expand(line[cut : max(end, start + 1)])) - before, 1)
    if before + len("...") >= room:  # what stands before it does not fit: it starts with the span
        text, before = "..." + _expand(line[start:]), len("...")
    if columns(text) > room:
        text = _first(text, room - len("...")) + "..."
        width = max(1, min(width, room - before))
    return text, " " * before + "^" * width


def _first(text: str, room: int) -> str:
    """As much of a text as fits into so many columns."""
    if text.isascii():
        return text[:room]
    taken = 0
    for place, char in enumerate(text):
        taken += columns(char)
        if taken > room:
            return text[:place]
    return text


def _expand(text: str) -> str:
    """Tabs as blanks, other characters that a terminal does not print as "?"."""
    plain = text.replace("\t", " " * _TAB)
    return "".join(char if char.isprintable() else "?" for char in plain)


def one_line(text: str) -> str:
    return " ".join(text.split())
