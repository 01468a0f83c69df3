"""Inlay hints at the end of each config and launch: "96 KB · 1 CTA/SM · smem"."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types as lsp

from tritonlint_server import wording
from tritonlint_server.analysis_record import Analysis
from tritonlint_server.documents import Document, Unit
from tritonlint_server.hover import of_site
from tritonlint_server.places import Places
from tritonlint_server.positions import column_of
from tritonlint_server.sites import Row


def hints(
    unit: Unit, document: Document, analysis: Analysis, places: Places, wanted: lsp.Range
) -> list[lsp.InlayHint]:
    """The hints in a range of a document. One GPU's numbers fit into a line: where the GPUs agree, they speak
    together, else the one with the worst answer speaks."""
    found: list[lsp.InlayHint] = []
    for site in analysis.survey.sites:
        if site.repeats > 1:
            continue  # one text for many configs: the lens counts them
        here, range_ = places.in_unit(unit, site.span)
        if here is not document or not wanted.start.line <= range_.end.line <= wanted.end.line:
            continue
        text = label(site.rows)
        if text:
            at = range_.end
            line = document.buffer.line(at.line)
            if line[column_of(line, at.character, places.encoding) :].startswith(","):
                at = lsp.Position(at.line, at.character + 1)
            tooltip = lsp.MarkupContent(lsp.MarkupKind.Markdown, of_site(site, analysis))
            found.append(lsp.InlayHint(at, text, tooltip=tooltip, padding_left=True))
    return found


def label(rows: Iterable[Row]) -> str:
    known = [row for row in rows if not row.unknown]
    if not known:
        return ""
    refused = [row for row in known if not row.fits]
    if refused and len(refused) < len(known):
        fits = next(row for row in known if row.fits)
        # What matters most comes first: editors cut long hints off.
        return f"not on {', '.join(row.gpu for row in refused)} · {wording.hint(fits)}"
    texts = list(dict.fromkeys(wording.hint(row) for row in known))
    if len(texts) == 1 or refused:
        return texts[0]
    worst = min(known, key=lambda row: row.ctas_per_sm)
    return f"{wording.hint(worst)} ({worst.gpu})"
