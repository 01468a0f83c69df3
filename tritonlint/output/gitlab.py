"""GitLab's code quality report: a JSON list, one entry a finding."""

from __future__ import annotations

from tritonlint.fingerprint import fingerprints, relative
from tritonlint.lint_many import Report
from tritonlint.output.json_text import json_text
from tritonlint.output.positions import in_words

SEVERITIES = {"error": "critical", "warning": "minor", "info": "info"}


def render(report: Report) -> str:
    names = fingerprints(report.findings)
    entries = [
        {
            "description": f"{finding.code} {in_words(finding)}",
            "check_name": finding.name,
            "fingerprint": name,
            "severity": SEVERITIES[finding.severity],
            "location": {
                "path": relative(finding.path),
                "lines": {"begin": finding.span.line, "end": finding.span.end_line},
            },
        }
        for finding, name in zip(report.findings, names, strict=True)
    ]
    return json_text(entries) + "\n"
