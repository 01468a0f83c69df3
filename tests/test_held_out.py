"""Kernels that nothing is fitted on, as they were launched on a real H200."""

from __future__ import annotations

import json
import pathlib

import pytest

from benchmarks import held_out


def test_shared_memory_refusals_and_fast_launches(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of the table; benchmarks/held_out.py compares the whole of it."""
    lines = held_out.ROWS.read_text(encoding="utf-8").splitlines()
    part = [line for number, line in enumerate(lines) if number % 2 == 0 or '"error"' in line]
    path = tmp_path / "part.jsonl"
    path.write_text("\n".join(part), encoding="utf-8")
    failed = held_out.compare(str(path), "h200", rows_too=False)
    said = capsys.readouterr().out
    assert not failed, said
    assert "refused 6, not predicted 0" in said


def test_the_table_is_what_the_problems_say() -> None:
    """Whoever changes a problem measures again."""
    rows = [json.loads(line) for line in held_out.ROWS.read_text(encoding="utf-8").splitlines()]
    wanted = [
        {"problem": problem.name, **held_out.job_of_launch(problem, config)}
        for problem, config in held_out.launches()
    ]
    assert [{name: row[name] for name in wanted[0]} for row in rows] == wanted
