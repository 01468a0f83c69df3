"""Small programs in the shape of public bug reports, and each of them repaired.

The head of each file says for which GPU and release it is linted and what has to be found:

    # expect: CODE[|CODE] SEVERITY line=N[-M|N..] [text contains TEXT]
    # expect: none        no warning and no error
    # expect: not CODE    none of this code
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tritonlint import fixes
from tritonlint.finding import Finding
from tritonlint.lint import lint_source
from tritonlint.settings import Settings

CASES = sorted((Path(__file__).parent / "cases").glob("*.py"))
WANTED = re.compile(
    r"(?P<codes>TL[\d|TL]+) (?P<severities>[a-z|]+) line=(?P<lines>[\d|-]+)(?: text contains (?P<text>\S+))?$"
)


def head(source: str, field: str) -> list[str]:
    return re.findall(rf"^# {field}: (.*)$", source, re.MULTILINE)


def found_in(path: Path, changed: str | None = None) -> list[Finding]:
    source = path.read_text("utf-8")
    (gpu,), (triton,) = head(source, "gpu"), head(source, "triton")
    result = lint_source(path.name, changed or source, Settings(), gpus=[gpu], triton=triton)
    assert not result.problems
    return list(result.findings)


def on_lines(text: str) -> set[int]:
    lines: set[int] = set()
    for part in text.split("|"):
        first, _, last = part.partition("-")
        lines.update(range(int(first), int(last or first) + 1))
    return lines


def meets(finding: Finding, wanted: re.Match[str]) -> bool:
    said = finding.message.replace(",", "")
    word = (wanted["text"] or "").replace(",", "")
    return (
        finding.code in wanted["codes"].split("|")
        and finding.severity in wanted["severities"].split("|")
        and finding.span.line in on_lines(wanted["lines"])
        and (not word or re.search(rf"\b{re.escape(word)}\b", said) is not None)
    )


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_a_program_gets_what_it_deserves(path: Path) -> None:
    found = found_in(path)
    loud = [finding for finding in found if finding.severity != "info"]
    expectations = head(path.read_text("utf-8"), "expect")
    assert expectations
    for expectation in expectations:
        if expectation == "none":
            assert [(finding.code, finding.message) for finding in loud] == []
        elif expectation.startswith("not "):
            assert [finding.message for finding in loud if finding.code == expectation[4:]] == []
        else:
            wanted = WANTED.match(expectation)
            assert wanted, f"not understood: {expectation}"
            assert any(meets(finding, wanted) for finding in found), [
                (finding.code, finding.span.line, finding.message) for finding in found
            ]


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_a_fix_mends_its_finding_and_breaks_nothing(path: Path) -> None:
    source = path.read_text("utf-8")
    before = found_in(path)
    for finding in before:
        for fix in finding.fixes:
            after = found_in(path, fixes.apply(source, fix.edits))
            same = [f for f in before if (f.code, f.message) == (finding.code, finding.message)]
            left = [f for f in after if (f.code, f.message) == (finding.code, finding.message)]
            assert len(left) < len(same), f"{fix.title} does not remove {finding.message}"
            new = {(f.code, f.message) for f in after if f.severity != "info"}
            assert new <= {(f.code, f.message) for f in before}, f"{fix.title} adds to what was found"


def test_every_program_has_its_repaired_form() -> None:
    names = {path.stem for path in CASES}
    assert {name for name in names if not name.endswith("_ok") and f"{name}_ok" not in names} == set()
