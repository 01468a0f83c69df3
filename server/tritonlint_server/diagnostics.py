"""Findings as diagnostics: code, help link, related places, tags, and the fixes as data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as lsp

from tritonlint.finding import Finding, Severity
from tritonlint_server.analysis_record import Analysis
from tritonlint_server.documents import Unit
from tritonlint_server.help_pages import link
from tritonlint_server.places import Places
from tritonlint_server.uris import key_of

_SEVERITY: Mapping[Severity, lsp.DiagnosticSeverity] = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}
SOURCE = "tritonlint"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the client can show of a diagnostic."""

    related: bool = False
    tags: bool = False
    link: bool = False
    data: bool = False


def abilities(capabilities: lsp.ClientCapabilities, pull: bool) -> Abilities:
    """As the client declares them, for the way in which it gets diagnostics."""
    document = capabilities.text_document
    found: Any = None
    if document is not None:
        found = document.diagnostic if pull else document.publish_diagnostics
        # Clients that pull may declare these things for pushed diagnostics only, as older ones do.
        found = (
            found
            if found is not None and found.related_information is not None
            else document.publish_diagnostics
        )
    if found is None:
        return Abilities()
    return Abilities(
        related=bool(found.related_information),
        tags=found.tag_support is not None,
        link=bool(found.code_description_support),
        data=bool(found.data_support),
    )


def message_of(finding: Finding) -> str:
    """What the command line says, and on a line of its own what it suggests."""
    return f"{finding.message}\nhelp: {finding.help}" if finding.help else finding.message


def of_unit(
    unit: Unit, analysis: Analysis, places: Places, can: Abilities
) -> dict[str, list[lsp.Diagnostic]]:
    """The diagnostics of each document of the unit (also those that have none), by the key of its URI."""
    found: dict[str, list[lsp.Diagnostic]] = {key_of(document.uri): [] for document in unit.documents}
    for finding in analysis.findings:
        document, range_ = places.in_unit(unit, finding.span)
        found[key_of(document.uri)].append(diagnostic(unit, finding, range_, places, can))
    return found


def diagnostic(
    unit: Unit, finding: Finding, range_: lsp.Range, places: Places, can: Abilities
) -> lsp.Diagnostic:
    """One finding at its range."""
    href = link(finding.code) if can.link else None
    related = None
    if can.related and finding.related:
        related = [
            lsp.DiagnosticRelatedInformation(places.location(unit, one.path, one.span), one.message)
            for one in finding.related
        ]
    return lsp.Diagnostic(
        range=range_,
        message=message_of(finding),
        severity=_SEVERITY[finding.severity],
        code=finding.code,
        code_description=lsp.CodeDescription(href) if href else None,
        source=SOURCE,
        tags=[lsp.DiagnosticTag.Unnecessary] if can.tags and "unnecessary" in finding.tags else None,
        related_information=related,
        data=_data(finding) if can.data else None,
    )


def _data(finding: Finding) -> dict[str, Any]:
    return {
        "name": finding.name,
        "certainty": finding.certainty,
        "kernel": finding.kernel,
        "gpus": list(finding.gpus),
        "fixes": [{"title": fix.title, "safe": fix.safe} for fix in finding.fixes],
    }


def result_id(items: list[lsp.Diagnostic]) -> str:
    """The same for the same diagnostics."""
    shown = json.dumps([_plain(item) for item in items], sort_keys=True)
    return hashlib.blake2b(shown.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _plain(item: lsp.Diagnostic) -> list[Any]:
    related = [
        (one.location.uri, _ends(one.location.range), one.message) for one in item.related_information or ()
    ]
    return [
        _ends(item.range),
        item.message,
        item.severity,
        item.code,
        list(item.tags or ()),
        related,
        item.data,
    ]


def _ends(range_: lsp.Range) -> list[int]:
    return [range_.start.line, range_.start.character, range_.end.line, range_.end.character]
