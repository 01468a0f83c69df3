"""Known findings: written, matched without lines, gone stale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tritonlint import baseline
from tritonlint.finding import Finding
from tritonlint.span import Span


def finding(folder: Path, line: int = 3, config: dict[str, Any] | None = None, path: str = "a.py") -> Finding:
    span = Span(line, 1, line, 9)
    return Finding(
        "TL101", "n", "error", "proven", "m", str(folder / path), span, "k", ("t4",), "3.9", config
    )


def saved(folder: Path, *findings: Finding) -> baseline.Baseline:
    path = folder / "known.json"
    path.write_text(baseline.text_of(baseline.of_findings(findings, path)), encoding="utf-8")
    return baseline.load(path)


def test_moved_lines_stay_known_and_other_configs_are_new(tmp_path: Path) -> None:
    known = saved(tmp_path, finding(tmp_path, 3, {"B": 64}))
    moved, other = finding(tmp_path, 90, {"B": 64}), finding(tmp_path, 3, {"B": 128})
    compared = baseline.compare(known, [moved, other], [str(tmp_path / "a.py")])
    assert compared.known == (moved,) and compared.new == (other,) and compared.stale == {}


def test_a_second_one_of_the_same_is_new(tmp_path: Path) -> None:
    known = saved(tmp_path, finding(tmp_path))
    compared = baseline.compare(known, [finding(tmp_path, 1), finding(tmp_path, 2)], [])
    assert len(compared.known) == len(compared.new) == 1


def test_stale_entries_are_those_of_files_that_were_read_or_are_gone(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("", encoding="utf-8")
    known = saved(tmp_path, *(finding(tmp_path, path=name) for name in ("a.py", "b.py", "gone.py")))
    compared = baseline.compare(known, [], [str(tmp_path / "a.py")])
    assert {entry.path for entry in compared.stale} == {"a.py", "gone.py"}
    left = baseline.without(known, compared.stale)
    assert '"b.py"' in baseline.text_of(left) and '"gone.py"' not in baseline.text_of(left)


def test_the_file_is_the_same_whatever_the_order(tmp_path: Path) -> None:
    one, two = finding(tmp_path, config={"B": 1}), finding(tmp_path, config={"B": 2})
    path = tmp_path / "known.json"
    texts = {baseline.text_of(baseline.of_findings(order, path)) for order in ([one, two], [two, one])}
    assert len(texts) == 1
    assert next(iter(texts)).count("\n") == 4  # an entry a line, so that branches merge


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is damaged: not JSON"),
        ("[]", "is no baseline"),
        ('{"version": 1}', "is no baseline"),
        ('{"version": 99, "findings": []}', "version 99 is not known"),
        ('{"version": 1, "findings": [{"code": "TL101"}]}', "is damaged: entry 1"),
        ('{"version": 1, "findings": [{"code": "TL101", "path": "a", "count": 0}]}', "is damaged: entry 1"),
        ('{"version": 1, "findings": [3]}', "is damaged: entry 1"),
    ],
)
def test_damaged_files_are_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(baseline.BaselineError, match=said) as caught:
        baseline.load(path)
    assert "\n" not in str(caught.value)
