"""The last lines of the text outputs: what was read, what was found, for which targets and why these."""

from __future__ import annotations

from collections import Counter

from tritonlint.finding import SEVERITIES
from tritonlint.lint_many import Report
from tritonlint.output.style import SEVERITY_COLOUR, Style
from tritonlint.output.wrap import Part, wrapped

_HANG = 2  # columns in of what follows in a summary line that is broken


def counted(count: int, noun: str, plural: str = "") -> str:
    """ "1 file", "2 files"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def summary_lines(report: Report, style: Style) -> list[str]:
    counts = Counter(finding.severity for finding in report.findings)
    found: list[Part] = []
    for level in reversed(SEVERITIES):
        if counts[level]:
            said = counted(counts[level], {"info": "note"}.get(level, level))
            found += [(", ", ()), (said, (SEVERITY_COLOUR[level],))]
    found = found[1:] or [("no findings", ("green",))]
    safe = [finding for finding in report.findings if any(fix.safe for fix in finding.fixes)]
    fixable = sum(finding.cell is None for finding in safe)
    if report.suppressed:
        found.append((f", {len(report.suppressed):,} suppressed", ()))
    if fixable:
        found.append((f"; --fix mends {fixable:,}", ()))
    read = f"{counted(report.files, 'file')} read, {report.relevant:,} with Triton"
    if report.relevant:
        read += f" ({counted(report.kernels, 'kernel')}, {counted(report.configs, 'config')})"
    if report.skipped:
        read += f", {skipped_text(report)}"
    lines: list[str] = []
    if report.facts:
        replaced = f"{counted(report.facts, 'estimate')} replaced by compiled or measured numbers"
        lines.append(f"{replaced}, of which {report.contradicted:,} say otherwise.")
    if len(safe) > fixable:
        left = counted(len(safe) - fixable, "fix", "fixes")
        lines.append(f"{left} in notebooks to be made by hand: --fix does not write notebooks.")
    lines += report.notes
    lines += [f"Checked for {described}." for described in report.targets]
    broken = wrapped([*found, (f". {read}.", ())], style, _HANG)
    return broken + [part for line in lines for part in wrapped([(line, ())], style, _HANG)]


def skipped_text(report: Report) -> str:
    """ "3 paths skipped (2 ignored by .gitignore, 1 excluded by settings)"; a folder counts once."""
    reasons = Counter(entry.reason for entry in report.skipped)
    why = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
    return f"{counted(len(report.skipped), 'path')} skipped ({why})"


def problem_lines(report: Report, style: Style) -> list[str]:
    """One line for each file that could not be read or linted."""
    mark = style.paint("error", "red")
    return [f"{problem.path}: {mark}: {problem.message}" for problem in report.problems]


def statistics_lines(report: Report) -> list[str]:
    """How often each rule spoke, most first."""
    counts = Counter((finding.code, finding.name, finding.severity) for finding in report.findings)
    width = max((len(f"{count:,}") for count in counts.values()), default=1)
    return [
        f"{count:>{width},}  {code} {name} ({severity})"
        for (code, name, severity), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
