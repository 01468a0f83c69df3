"""A run as text in the format asked for."""

from __future__ import annotations

import importlib

from tritonlint.lint_many import Report
from tritonlint.output.style import Style

# Formats for other programs -> the module that writes it.
MACHINE = {
    "json": "json_report",
    "sarif": "sarif",
    "github": "github",
    "gitlab": "gitlab",
    "junit": "junit",
}


def render(report: Report, output_format: str, style: Style, statistics: bool = False) -> str:
    """The whole output, with its last line end."""
    if output_format in MACHINE:
        module = importlib.import_module(f"tritonlint.output.{MACHINE[output_format]}")
        text: str = module.render(report)
        return text
    from tritonlint.output.summary import statistics_lines, summary_lines
    from tritonlint.output.text import concise, full

    lines = full(report, style) if output_format == "full" else concise(report, style)
    if statistics:
        lines = statistics_lines(report)
    lines += summary_lines(report, style)
    return "\n".join(lines) + "\n"
