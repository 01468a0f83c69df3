"""What is said of launches that were the fastest on a real H200, and of those that could not run there."""

from __future__ import annotations

import pathlib

from benchmarks import winners
from benchmarks.timed_rows import timed_rows
from tritonlint.estimate import Estimator


def test_no_warning_on_the_fastest_launches() -> None:
    """The three fastest of each kernel and problem of the second table; benchmarks/winners.py looks at both."""
    best = winners.fastest(timed_rows(winners.TABLES[1]))
    assert len(best) == 168
    found = winners.warned(pathlib.Path(winners.KERNELS).read_text(encoding="utf-8"), best, "h200")
    assert found == []


def test_what_the_driver_refused_does_not_fit() -> None:
    refused = list(timed_rows(winners.TABLES[1], refused=True))
    assert len(refused) == 88
    estimator = Estimator()
    assert [launch.job for launch in refused[::8] if winners.fits(launch, estimator)] == []


def test_a_program_of_launches_is_linted_whole() -> None:
    """With a launch that does not fit in it, there is a finding."""
    one = next(timed_rows(winners.TABLES[1], refused=True))
    found = winners.warned(pathlib.Path(winners.KERNELS).read_text(encoding="utf-8"), [one], "h200")
    assert [finding.code for finding in found] == ["TL101"]
