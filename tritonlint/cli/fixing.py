"""`check --fix`, `--unsafe-fixes` and `--diff`."""

from __future__ import annotations

import ast
import difflib
import json
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tritonlint import fixes
from tritonlint.cli.files import write_bytes
from tritonlint.finding import Edit, Finding, Fix
from tritonlint.lint_many import Report

MAX_ROUNDS = 10  # a fix may make room for another one


@dataclass(frozen=True, slots=True)
class Fixed:
    """The report after the last round, how many fixes were applied, and to how many files."""

    report: Report
    fixes: int
    files: int


@dataclass(frozen=True, slots=True)
class Change:
    """The new text of one file, and how many fixes are in it."""

    path: str
    old: str
    new: str
    fixes: int


def changes(report: Report, unsafe: bool) -> list[Change]:
    """What the fixes make of each Python file and tuned file. A file that would no longer parse is left alone."""
    found: list[Change] = []
    for path in dict.fromkeys(finding.path for finding in report.findings):
        source = report.sources.get(path)
        if source is None or not path.endswith((".py", ".pyi", ".json")):
            continue
        chosen = choose((one for one in report.findings if one.path == path), unsafe)
        text = fixes.apply(source, tuple(edit for fix in chosen for edit in fix.edits))
        if text != source and _parses(path, text):
            found.append(Change(path, source, text, len(chosen)))
    return found


def choose(findings: Iterable[Finding], unsafe: bool) -> list[Fix]:
    """For each finding its first safe fix, or with `unsafe` the first of any kind. A fix whose edits touch
    those of an earlier one waits for the next round."""
    chosen: list[Fix] = []
    taken: list[Edit] = []
    for finding in findings:
        fix = next((one for one in finding.fixes if one.safe), None)
        if fix is None and unsafe:
            fix = next(iter(finding.fixes), None)
        if fix is None or not fix.edits or any(_touch(new, old) for new in fix.edits for old in taken):
            continue
        chosen.append(fix)
        taken += fix.edits
    return chosen


def _touch(one: Edit, other: Edit) -> bool:
    a, b = one.span, other.span
    overlap = (a.line, a.column) < (b.end_line, b.end_column) and (b.line, b.column) < (
        a.end_line,
        a.end_column,
    )
    return overlap or (a.line, a.column) == (b.line, b.column)


def fix_files(report: Report, unsafe: bool, again: Callable[[], Report]) -> Fixed:
    """Writes the fixes into the files, and lints again until nothing is left to mend."""
    count = 0
    touched: set[str] = set()
    for _ in range(MAX_ROUNDS):
        written = [change for change in changes(report, unsafe) if _write(change)]
        if not written:
            break
        count += sum(change.fixes for change in written)
        touched.update(change.path for change in written)
        report = again()
    return Fixed(report, count, len(touched))


def diff_lines(change: Change) -> list[str]:
    """The change as a unified diff, lines without their ends."""
    old, new = change.old.splitlines(), change.new.splitlines()
    return list(difflib.unified_diff(old, new, change.path, change.path, lineterm=""))


def _write(change: Change) -> bool:
    """False where the file is not what was linted: not decodable as a whole, or changed since."""
    from tritonlint.source import read

    now = read(change.path)
    if now.problems or now.text != change.old:
        return False
    write_bytes(change.path, change.new.encode(now.encoding))
    return True


def _parses(path: str, text: str) -> bool:
    try:
        if path.endswith(".json"):
            json.loads(text)
            return True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
