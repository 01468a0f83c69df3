"""How many elements a bound lets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonlint.masks import passing

WHOLE = st.integers(-300, 300)


@given(WHOLE, st.integers(-70, 70), st.integers(0, 12), st.integers(1, 64))
def test_the_rounds_are_summed(first: int, step: int, rounds: int, size: int) -> None:
    one_by_one = sum(min(max(first + turn * step, 0), size) for turn in range(rounds))
    share = passing(first, step, rounds, size)
    assert share * rounds * size == pytest.approx(one_by_one)


def test_programs_weigh_as_many_rounds_as_they_have() -> None:
    assert passing([64, 0], 0, [3, 1], 64) == 0.75
    assert passing([64, 32], 0, 1, 64) == 0.75
    assert passing(64, 0, [0, 0], 64) == 1.0  # nothing is asked for
