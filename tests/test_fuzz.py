"""A short run of random input at every door; `benchmarks/fuzz.py` is the long one."""

from __future__ import annotations

import random

import pytest

from tests.fuzzing import TARGETS

RUNS = {"source": 25, "comments": 15, "settings": 60, "jobs": 40, "tuned": 40, "notebook": 20, "names": 200}


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_breaks_it(target: str) -> None:
    for seed in range(RUNS[target]):
        try:
            TARGETS[target](random.Random(seed))
        except Exception as error:
            raise AssertionError(f"{target}, seed {seed}: {type(error).__name__}: {error}") from error
