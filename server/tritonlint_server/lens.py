"""A line over each autotune list: "14 configs: 3 do not fit rtx4090, 1 duplicate"."""

from __future__ import annotations

from lsprotocol import types as lsp

from tritonlint.span import Span
from tritonlint_server import wording
from tritonlint_server.analysis_record import Analysis
from tritonlint_server.commands import REPORT
from tritonlint_server.documents import Document, Unit
from tritonlint_server.places import Places

_DUPLICATE = "TL305"


def lenses(unit: Unit, document: Document, analysis: Analysis, places: Places) -> list[lsp.CodeLens]:
    """One over each list of the document; a click shows the report of the file."""
    found: list[lsp.CodeLens] = []
    for listed in analysis.survey.lists:
        here, range_ = places.in_unit(unit, listed.span)
        if here is not document or (listed.count == 0 and listed.resolved):
            continue
        duplicates = sum(
            finding.code == _DUPLICATE and _within(finding.span, listed.span) for finding in analysis.findings
        )
        title = wording.lens(listed, duplicates)
        found.append(lsp.CodeLens(range_, lsp.Command(title, REPORT, arguments=[document.uri])))
    return found


def _within(inner: Span, outer: Span) -> bool:
    return outer.line <= inner.line and inner.end_line <= outer.end_line
