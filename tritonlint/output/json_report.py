"""The JSON of a run, as INTERFACE promises it to other programs."""

from __future__ import annotations

from typing import Any

from tritonlint import __version__
from tritonlint.finding import SEVERITIES, Edit, Finding, Fix, Related
from tritonlint.lint_many import Report
from tritonlint.output.json_text import json_text
from tritonlint.span import Span

FORMAT_VERSION = 1


def render(report: Report) -> str:
    """One JSON object, two spaces deep, with a line end."""
    return json_text(report_object(report)) + "\n"


def report_object(report: Report) -> dict[str, Any]:
    return {
        "version": FORMAT_VERSION,
        "tritonlint": __version__,
        "targets": list(report.gpus),
        "findings": [finding_object(finding) for finding in report.findings],
        "summary": summary_object(report),
    }


def summary_object(report: Report) -> dict[str, Any]:
    counts = {
        str(level): sum(finding.severity == level for finding in report.findings)
        for level in reversed(SEVERITIES)
    }
    return {
        **counts,
        "suppressed": len(report.suppressed),
        "files": report.files,
        "files_with_triton": report.relevant,
        "kernels": report.kernels,
        "launches": report.launches,
        "configs": report.configs,
        "facts": report.facts,
        "contradicted": report.contradicted,
        "triton": list(report.triton),
        "targets": list(report.targets),
        "skipped": [{"path": entry.path, "reason": entry.reason} for entry in report.skipped],
        "problems": [
            {"path": problem.path, "message": problem.message, "internal": problem.internal}
            for problem in report.problems
        ],
    }


def finding_object(finding: Finding) -> dict[str, Any]:
    estimate = finding.estimate
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "certainty": finding.certainty,
        "message": finding.message,
        "path": finding.path,
        **cell_object(finding.cell),
        "range": range_object(finding.span),
        "kernel": finding.kernel,
        "gpus": list(finding.gpus),
        "triton": finding.triton,
        "config": dict(finding.config) if finding.config is not None else None,
        "estimate": estimate.to_json() if estimate is not None else None,
        "assumptions": list(finding.assumptions),
        "related": [related_object(related) for related in finding.related],
        "help": finding.help,
        "fixes": [fix_object(fix) for fix in finding.fixes],
    }


def range_object(span: Span) -> dict[str, Any]:
    return {
        "start": {"line": span.line, "column": span.column},
        "end": {"line": span.end_line, "column": span.end_column},
    }


def related_object(related: Related) -> dict[str, Any]:
    return {
        "path": related.path,
        **cell_object(related.cell),
        "range": range_object(related.span),
        "message": related.message,
    }


def cell_object(cell: int | None) -> dict[str, int]:
    """Only in notebooks: the number of the cell, from 1, that the range counts in."""
    return {} if cell is None else {"cell": cell}


def fix_object(fix: Fix) -> dict[str, Any]:
    return {"title": fix.title, "safe": fix.safe, "edits": [edit_object(edit) for edit in fix.edits]}


def edit_object(edit: Edit) -> dict[str, Any]:
    return {**cell_object(edit.cell), "range": range_object(edit.span), "text": edit.text}
