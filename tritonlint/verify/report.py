"""The report of `verify` as JSON."""

from __future__ import annotations

from typing import Any

from tritonlint import __version__
from tritonlint.verify.run import Report

FORMAT_VERSION = 1


def report_object(report: Report) -> dict[str, Any]:
    """Rows with disagreements first, and how many there are of each state."""
    return {
        "version": FORMAT_VERSION,
        "tritonlint": __version__,
        "triton": report.triton or None,
        "targets": list(report.gpus),
        "rows": [row.to_json() for row in report.rows],
        "summary": {**report.counts(), "compiled_now": report.compiled, "compiled_before": report.kept},
        "problems": [{"path": path, "message": why} for path, why in report.problems],
    }
