"""Waves, tails and idle multiprocessors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonlint.model.waves import persistent_waves, waves


def test_a_grid_with_a_tail() -> None:
    """1,024 programs, two each on 132 multiprocessors."""
    found = waves(1024, 132, 2)
    assert found is not None
    assert (found.per_wave, found.full, found.total) == (264, 3, 4)
    assert round(found.last, 2) == 0.88
    assert round(found.efficiency, 2) == 0.97
    assert found.steps == (
        "waves: 1,024 programs / 264 per wave = 4 waves, last wave 232/264 = 88%, efficiency 97.0%",
    )


def test_a_grid_that_fills_exactly() -> None:
    """No tail: `last` is 0."""
    found = waves(528, 132, 2)
    assert found is not None
    assert (found.full, found.last, found.efficiency, found.idle_in_last, found.balance) == (
        2,
        0.0,
        1.0,
        0,
        1.0,
    )


def test_too_few_programs() -> None:
    """32 programs leave 100 of 132 multiprocessors idle."""
    found = waves(32, 132, 4)
    assert found is not None
    assert (found.full, found.idle_multiprocessors, found.idle_in_last) == (0, 100, 100)
    assert found.balance == 32 / 132
    assert found.steps[1] == "idle: 100 of 132 multiprocessors get no program"


def test_places_are_not_multiprocessors() -> None:
    """132 programs on 264 places keep every multiprocessor busy: half the places, no loss for the units."""
    found = waves(132, 132, 2)
    assert found is not None
    assert (found.efficiency, found.balance, found.idle_multiprocessors) == (0.5, 1.0, 0)


def test_clusters_take_several_places() -> None:
    """A program of two CTAs."""
    found = waves(100, 132, 1, ctas_per_program=2)
    assert found is not None
    assert (found.per_wave, found.full, found.idle_multiprocessors) == (66, 1, 0)


@pytest.mark.parametrize(("programs", "ctas"), [(0, 1), (-5, 1), (10, 0)])
def test_nothing_runs(programs: int, ctas: int) -> None:
    """An empty grid, or a launch that does not fit."""
    assert waves(programs, 132, ctas) is None
    assert persistent_waves(100, programs, 132, ctas) is None


def test_persistent_grid() -> None:
    """1,024 tiles on 132 programs: eight turns, the last of 100 tiles."""
    found = persistent_waves(1024, 132, 132, 2)
    assert found is not None
    assert round(found.efficiency, 3) == 0.970
    assert (found.idle_multiprocessors, found.idle_in_last) == (0, 32)
    assert found.balance == 1024 / (132 * 8)
    assert found.steps == ("persistent: 1,024 tiles / 132 programs = 8 turns, efficiency 97.0%",)


def test_persistent_grid_with_fewer_programs_than_multiprocessors() -> None:
    """Idle multiprocessors count."""
    found = persistent_waves(660, 66, 132, 1)
    assert found is not None
    assert (found.efficiency, found.balance, found.idle_multiprocessors) == (0.5, 0.5, 66)


@given(st.integers(1, 10**7), st.integers(1, 500), st.integers(1, 32))
def test_shares_are_shares(programs: int, multiprocessors: int, ctas: int) -> None:
    """All fractions are within 0 and 1, and the waves hold all programs."""
    found = waves(programs, multiprocessors, ctas)
    assert found is not None
    assert 0 <= found.last < 1
    assert 0 < found.efficiency <= 1
    assert 0 < found.balance <= 1
    assert round((found.full + found.last) * found.per_wave) == programs
