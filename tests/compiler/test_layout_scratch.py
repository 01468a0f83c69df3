"""Scratch of single operations, against rows recorded from the allocation pass of releases 3.0 to 3.9
(tests/oracle/test_conversions.py wrote them)."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "oracle"))

from layout_cases import Case, from_json

from tritonlint.compiler.releases import release

_ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "layout_scratch.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("version", sorted({tuple(row[0]) for row in _ROWS}))
def test_recorded_scratch(version: tuple[int, int]) -> None:
    """Every recorded operation takes exactly the bytes that the compiler gave it."""
    wrong = []
    for row_version, arch, operation, arguments, real in _ROWS:
        if tuple(row_version) != version:
            continue
        modelled = Case(operation, from_json(arguments), arch, 0).modelled(release(*version))
        if modelled != real:
            wrong.append((arch, operation, arguments, real, modelled))
    assert not wrong, wrong[:3]


def test_rows_cover_every_operation() -> None:
    """The rows hold each operation, with and without scratch."""
    seen = Counter((row[2], row[4] > 0) for row in _ROWS)
    assert all(seen[kind, True] for kind in ("convert", "reduce", "scan", "gather", "atomic"))
    assert all(seen[kind, False] for kind in ("convert", "reduce", "scan", "gather", "atomic"))
