"""Findings in notebooks: from the lines of the joined module to the cell and the line in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tritonlint.finding import Edit, Finding, Fix, Related, located
from tritonlint.lint_many import Report
from tritonlint.span import Span

if TYPE_CHECKING:
    from tritonlint.source.text import Cell


def in_cells(report: Report) -> Report:
    """The report with every place of a notebook counted inside its cell, and the cells as sources of their own.

    For output only: fixes, baselines and `--since` compare the joined modules.
    """
    if not any(report.cells.values()):
        return report
    from tritonlint.source.text import split_lines

    sources = dict(report.sources)
    for path, cells in report.cells.items():
        lines = split_lines(report.sources.get(path, ""))
        for cell in cells:
            sources[located(path, cell.index + 1)] = "\n".join(lines[cell.first_line - 1 : cell.last_line])

    def moved(findings: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(_moved(finding, report) for finding in findings)

    suppressed = tuple(replace(entry, finding=_moved(entry.finding, report)) for entry in report.suppressed)
    return replace(
        report,
        findings=moved(report.findings),
        known=moved(report.known),
        suppressed=suppressed,
        sources=sources,
    )


def _moved(finding: Finding, report: Report) -> Finding:
    from tritonlint.source.notebook import in_cells as in_words

    cells = report.cells.get(finding.path, ())
    span, cell = _place(finding.span, cells)
    related = tuple(_related(note, report.cells.get(note.path, ())) for note in finding.related)
    fixes = tuple(
        Fix(fix.title, fix.safe, tuple(_edit(edit, cells) for edit in fix.edits)) for fix in finding.fixes
    )
    return replace(
        finding,
        span=span,
        cell=cell,
        message=in_words(finding.message, cells),
        help=in_words(finding.help, cells) if finding.help else finding.help,
        assumptions=tuple(in_words(text, cells) for text in finding.assumptions),
        related=related,
        fixes=fixes,
    )


def _related(note: Related, cells: Sequence[Cell]) -> Related:
    from tritonlint.source.notebook import in_cells as in_words

    span, cell = _place(note.span, cells)
    return replace(note, span=span, cell=cell, message=in_words(note.message, cells))


def _edit(edit: Edit, cells: Sequence[Cell]) -> Edit:
    span, cell = _place(edit.span, cells)
    return replace(edit, span=span, cell=cell)


def _place(span: Span, cells: Sequence[Cell]) -> tuple[Span, int | None]:
    """The span inside its cell, and the cell's number from 1; as it stands where no cell gave the line."""
    from tritonlint.source.notebook import place_in

    cell, line = place_in(cells, span.line)
    return Span(line, span.column, line + span.end_line - span.line, span.end_column), cell
