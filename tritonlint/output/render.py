"""A run as text in the format asked for."""

from __future__ import annotations

from tritonlint.lint_many import Report
from tritonlint.output.style import Style


def render(report: Report, output_format: str, style: Style, statistics: bool = False) -> str:
    """The whole output, with its last line end."""
    if output_format == "json":
        from tritonlint.output.json_report import render as as_json

        return as_json(report)
    from tritonlint.output.summary import statistics_lines, summary_lines
    from tritonlint.output.text import concise, full

    lines = full(report, style) if output_format == "full" else concise(report, style)
    if statistics:
        lines = statistics_lines(report)
    lines += summary_lines(report, style)
    return "\n".join(lines) + "\n"
