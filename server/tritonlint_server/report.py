"""The report of one file: each config against each GPU, in Markdown."""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache

from tritonlint_server import wording
from tritonlint_server.analysis_record import Analysis
from tritonlint_server.documents import Unit
from tritonlint_server.sites import Row


def markdown(unit: Unit, analysis: Analysis) -> str:
    """One table a kernel; findings are in the editor already."""
    name = os.path.basename(unit.path)
    parts = [f"# {name}", f"Checked for {analysis.targets}."]
    kernels = dict.fromkeys(site.kernel for site in analysis.survey.sites)
    for kernel in kernels:
        sites = [site for site in analysis.survey.sites if site.kernel == kernel]
        lines = [f"## {kernel}", "", f"| line | config | {' | '.join(analysis.gpus)} |"]
        lines.append("|" + "---|" * (2 + len(analysis.gpus)))
        for site in sites:
            rows = {row.gpu: row for row in site.rows}
            cells = [_cell(rows.get(gpu)) for gpu in analysis.gpus]
            more = f" (and {site.repeats - 1} more)" if site.repeats > 1 else ""
            lines.append(f"| {site.span.line} | {site.title}{more} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    if not kernels:
        parts.append("No config and no launch with known values was found.")
    return "\n\n".join(parts) + "\n"


def written(unit: Unit, analysis: Analysis) -> str:
    """The path of a file with the report, for clients that can show a file. Raises OSError."""
    path = os.path.join(_folder(), f"{os.path.splitext(os.path.basename(unit.path))[0]}.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(markdown(unit, analysis))
    return path


@lru_cache(maxsize=1)
def _folder() -> str:
    """One for this process, under a name that nobody can take before."""
    return tempfile.mkdtemp(prefix="tritonlint-")


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    text = wording.hint(row)
    waves = wording.waves(row)
    return f"{text}, {waves}" if waves else text
