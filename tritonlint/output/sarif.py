"""SARIF 2.1.0, for code scanning. Columns count UTF-16 code units, as `columnKind` says; paths are
relative."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from tritonlint import __version__
from tritonlint.finding import Finding, Related
from tritonlint.fingerprint import fingerprints, relative
from tritonlint.lint_many import Report
from tritonlint.output.json_text import json_text
from tritonlint.output.positions import Columns, in_words
from tritonlint.registry import registry
from tritonlint.rule import Rule
from tritonlint.span import Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}
FINGERPRINT = "tritonlint/v1"


def render(report: Report) -> str:
    return json_text(sarif_object(report)) + "\n"


def sarif_object(report: Report) -> dict[str, Any]:
    known = {rule.code: rule for rule in registry().rules}
    hidden = [entry.finding for entry in report.suppressed]
    reported = [*report.findings, *report.known]
    everything = [*reported, *hidden]
    used = sorted({finding.code for finding in everything})
    index = {code: place for place, code in enumerate(used)}
    columns = Columns(report.sources)
    names = fingerprints(everything)
    results = [_result(finding, index, name, columns) for finding, name in zip(reported, names, strict=False)]
    if report.known:
        states = ["new"] * len(report.findings) + ["unchanged"] * len(report.known)
        results = [{**result, "baselineState": state} for result, state in zip(results, states, strict=True)]
    for entry, name in zip(report.suppressed, names[len(reported) :], strict=True):
        result = _result(entry.finding, index, name, columns)
        suppression: dict[str, Any] = {"kind": "inSource"}
        if entry.by.reason:
            suppression["justification"] = entry.by.reason
        results.append({**result, "suppressions": [suppression]})
    notes = [
        {"level": "error", "message": {"text": f"{problem.path}: {problem.message}"}}
        for problem in report.problems
    ]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "tritonlint",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(code, known.get(code)) for code in used],
            }
        },
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The folder that was linted from."}}},
        "invocations": [
            {
                "executionSuccessful": not report.internal_errors and not report.wrong_path,
                "toolExecutionNotifications": notes,
            }
        ],
        "results": results,
        "properties": {"targets": list(report.gpus), "triton": list(report.triton)},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, rule: Rule | None) -> dict[str, Any]:
    if rule is None:
        return {"id": code}
    from tritonlint.rule_text import markdown

    return {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": f"{rule.code} {rule.name}"},
        "fullDescription": {"text": rule.what},
        "help": {"text": f"{rule.what}\n\n{rule.better}", "markdown": markdown(rule)},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": ["triton", "gpu"]},
    }


def _result(finding: Finding, index: dict[str, int], name: str, columns: Columns) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": LEVELS[finding.severity],
        "message": {"text": in_words(finding) + (f"\n{finding.help}" if finding.help else "")},
        "locations": [_location(finding, columns)],
        "partialFingerprints": {FINGERPRINT: name},
        "properties": {
            "certainty": finding.certainty,
            "gpus": list(finding.gpus),
            "kernel": finding.kernel,
            "config": dict(finding.config) if finding.config is not None else None,
            "assumptions": list(finding.assumptions),
        },
    }
    if finding.related:
        result["relatedLocations"] = [
            {**_location(note, columns), "id": number, "message": {"text": in_words(note)}}
            for number, note in enumerate(finding.related, 1)
        ]
    # A replacement counts in the file's own text, which a cell of a notebook is not.
    fixes = [fix for fix in finding.fixes if fix.edits and finding.cell is None]
    if fixes:
        result["fixes"] = [
            {
                "description": {"text": fix.title},
                "artifactChanges": [
                    {
                        "artifactLocation": _artifact(finding.path),
                        "replacements": [
                            {
                                "deletedRegion": _region(finding.path, edit.span, columns),
                                "insertedContent": {"text": edit.text},
                            }
                            for edit in fix.edits
                        ],
                    }
                ],
            }
            for fix in fixes
        ]
    return result


def _location(place: Finding | Related, columns: Columns) -> dict[str, Any]:
    region = _region(place.where, place.span, columns)
    return {"physicalLocation": {"artifactLocation": _artifact(place.path), "region": region}}


def _artifact(path: str) -> dict[str, Any]:
    name = relative(path)
    if name.startswith("/"):  # not below the folder that was linted from
        return {"uri": "file://" + quote(name, errors="surrogateescape")}
    return {"uri": quote(name, errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}


def _region(path: str, span: Span, columns: Columns) -> dict[str, Any]:
    return {
        "startLine": span.line,
        "startColumn": columns.utf16(path, span.line, span.column),
        "endLine": span.end_line,
        "endColumn": columns.utf16(path, span.end_line, span.end_column),
    }
