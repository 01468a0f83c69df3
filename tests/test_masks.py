"""How many elements a bound lets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonlint.masks import Bound, even, share_of, share_of_rounds, share_of_some

WHOLE = st.integers(-300, 300)


@given(WHOLE, st.integers(-70, 70), st.integers(0, 12), st.integers(1, 64))
def test_the_rounds_are_summed(first: int, step: int, rounds: int, size: int) -> None:
    one_by_one = sum(min(max(first + turn * step, 0), size) for turn in range(rounds))
    bounds = [[Bound(0, size, first + turn * step)] for turn in range(2)]
    assert share_of_rounds(bounds, rounds) * rounds * size == pytest.approx(one_by_one if rounds else 0)


def test_programs_weigh_as_many_rounds_as_they_have() -> None:
    bounds = [[Bound(0, 64, [64, 0])]] * 2
    assert share_of_rounds(bounds, [3, 1]) == 0.75
    assert share_of_rounds(bounds, [0, 0]) == 1.0  # nothing is asked for


def test_bounds_are_joined_program_by_program() -> None:
    """Those that a first condition lets through are those that a second one cuts."""
    assert share_of([Bound(-1, 1, [1, 0]), Bound(0, 64, [32, 64])]) == 0.25


def test_rounds_that_do_not_move_evenly_stand_for_the_others() -> None:
    """A persistent program that goes to the next row of tiles: the jump is no step that goes on."""
    steady = [[Bound(0, 64, [90 - 30 * turn, 64])] for turn in range(4)]
    assert even(steady[:2]) and even(steady)
    assert not even([*steady[:2], [Bound(0, 64, [90, 64])]])
    assert not even([*steady[:2], []])
    assert share_of_some([1.0, 0.5, 0.0], 3) == 0.5
    assert share_of_some([1.0, 0.5], [9, 1]) == pytest.approx(2.5 / 3)
