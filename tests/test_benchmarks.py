"""The scripts that measure: what they count, and what they write."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from benchmarks import accuracy_report, compare_launches, libraries
from tritonlint.context import FileWork
from tritonlint.settings import Settings
from tritonlint.targets import choose
from tritonlint.verify.asked import asked_of
from tritonlint.verify.rows import Row, State


def row(state: State = "equal", **compiled: Any) -> Row:
    estimate = {
        "shared_bytes": 1000, "shared_exact": True, "fits": True, "ctas_per_sm": 2, "registers": 40,
        "registers_low": 30, "registers_high": 50, "spills": "no",
    }  # fmt: skip
    real = {"shared_bytes": 1000, "fits": True, "ctas_per_sm": 2, "registers": 40, "spills": 0, **compiled}
    known = real if state in ("equal", "off", "wrong") else None
    return Row("a.py", 1, "k", {}, "sm_80", "sm_80", state, estimate, known, (), ())


def test_what_the_accuracy_report_counts() -> None:
    rows = [
        row(), row("wrong", shared_bytes=1020), row("wrong", shared_bytes=4000, fits=False),
        row("off", registers=60, spills=3, ctas_per_sm=1), row("failed"), row("refused"),
    ]  # fmt: skip
    found = accuracy_report.counts(rows)
    assert found["rows"] == 4
    assert (found["exact"], found["close"], found["claimed"], found["claimed_wrong"]) == (2, 3, 4, 2)
    assert (found["false_unfit"], found["missed_unfit"], found["ctas"]) == (0, 1, 3)
    assert (found["registers_in_range"], found["spilling"], found["spills_said"]) == (3, 1, 0)
    assert (found["not_compiled"], found["refused"]) == (1, 1)
    line = {"triton": "3.9.0", "target": "sm_80", **found}
    page = accuracy_report.markdown([line, {"triton": "3.8.0", "target": "gfx942"}], ["some==1.0"], 6)
    assert "| sm_80 | 4 | 50.0% | 75.0% | 4, 2 | 0 | 75.0% | 75.0% | 0 of 1 |" in page
    assert "| gfx942 | 0 | - |" in page
    assert "`some==1.0`" in page


def test_the_launches_to_compare_are_all_found_with_nothing_assumed(tmp_path: Path) -> None:
    source = compare_launches.source()
    functions = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    assert sum(name.startswith("run_") for name in functions) == compare_launches.COUNT == 200
    targets = choose(Settings(), tmp_path, ["h200"], "3.6")
    asked = list(asked_of(FileWork(str(tmp_path / "launches.py"), source, Settings(), targets)))
    assert len(asked) == 200
    assert all(one.job is not None and not one.assumptions for one in asked)


def test_recorded_launches_are_all_found_with_nothing_assumed(tmp_path: Path) -> None:
    """Every kind of the tables, as source; the answers are what the driver said."""
    source, told = compare_launches.recorded(compare_launches.TABLES, 60)
    targets = choose(Settings(), tmp_path, ["h200"], "3.6")
    asked = list(asked_of(FileWork(str(tmp_path / "launches.py"), source, Settings(), targets)))
    assert len(asked) == len(told) == 60
    assert all(one.job is not None and not one.assumptions for one in asked)
    assert all(row["registers"] > 0 for row in told)


def test_what_two_runs_of_a_library_must_not_be() -> None:
    def run(*problems: dict[str, object], status: int = 0, said: str = "") -> tuple[int, bytes, str]:
        report = {
            "findings": [],
            "summary": {"kernels": 1, "launches": 2, "configs": 3, "problems": problems},
        }
        return status, json.dumps(report).encode(), said

    internal = {"path": "a.py", "message": "internal error", "internal": True}
    assert libraries.failures(run(), run()) == []
    assert libraries.failures(run(internal), run(internal)) == ["a.py: internal error"]
    assert libraries.failures(run(), run(internal)) == ["--jobs 1 and --jobs 2 differ"]
    refused = run(status=2, said="error: no")
    assert libraries.failures(refused, refused) == ["exit status 2: error: no"] * 2


def test_the_recorded_libraries_are_thirty_at_one_version_each(tmp_path: Path) -> None:
    rows = libraries.read_rows(libraries.RECORDED)
    assert len(rows) == 30 and all(row.version for row in rows.values())
    libraries.write_rows(tmp_path / "again.csv", rows)
    assert libraries.read_rows(tmp_path / "again.csv") == rows
