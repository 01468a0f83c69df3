"""Workflow commands of GitHub Actions: one annotation a finding."""

from __future__ import annotations

from tritonlint.fingerprint import relative
from tritonlint.lint_many import Report
from tritonlint.output.positions import in_words

LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report) -> str:
    lines = []
    for finding in report.findings:
        span = finding.span
        fields = {
            "file": relative(finding.path),
            "line": span.line,
            "endLine": span.end_line,
            "title": f"{finding.code} {finding.name}",
        }
        if span.line == span.end_line:  # columns are taken for annotations of one line only
            fields["col"] = span.column
            fields["endColumn"] = span.end_column
        given = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items())
        text = in_words(finding) + (f"\n{finding.help}" if finding.help else "")
        lines.append(f"::{LEVELS[finding.severity]} {given}::{_data(text)}")
    lines += [
        f"::error file={_property(relative(problem.path))}::{_data(problem.message)}"
        for problem in report.problems
    ]
    return "".join(f"{line}\n" for line in lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
