"""What hangs on arguments that are not known is equal where the arguments are, and not otherwise."""

from __future__ import annotations

import pytest

from tests.source.reading import launched
from tritonlint.source.values import Known

FUNCTIONS = """
def yielded(n, step=1):
    for i in range(n):
        yield i * step

def rest(*further):
    return further

def named(**further):
    return further

def first(one, two=0):
    return one

def head(values):
    one, *others = values
    return one

def made(step):
    def inner(n):
        for i in range(n):
            yield i * step
    return inner

class Steps:
    def of(self, n):
        for i in range(n):
            yield i

FIRST, SECOND = Steps(), Steps()
"""


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("yielded(n)", "yielded(n)", True),
        ("yielded(n)", "yielded(m)", False),
        ("yielded(n, 1)", "yielded(n, 2)", False),
        ("yielded(n, step=1)", "yielded(n, step=2)", False),
        ("FIRST.of(n)", "FIRST.of(n)", True),
        ("FIRST.of(n)", "SECOND.of(n)", False),
        ("rest(*a)", "rest(*a)", True),
        ("rest(*a)", "rest(*b)", False),
        ("rest(*a, n)", "rest(*a, m)", False),
        ("rest(n, *a)", "rest(m, *a)", False),
        ("named(**a)", "named(**a)", True),
        ("named(**a)", "named(**b)", False),
        ("first(*a)", "first(*a)", True),
        ("first(*a)", "first(*b)", False),
        ("first(**a)", "first(**b)", False),
        ("unknown(*a)", "unknown(*a)", True),
        ("unknown(*a)", "unknown(*b)", False),
        ("unknown(**a)", "unknown(**b)", False),
        ("head(a)", "head(a)", True),
        ("head(a)", "head(b)", False),
    ],
)
def test_equal_only_with_equal_arguments(one: str, other: str, equal: bool) -> None:
    plan = launched(
        f"""{FUNCTIONS}
def run(x, y, n, m, a, b, unknown):
    scale[(1,)](x, y, n, BLOCK=64 if {one} == {other} else 128)
"""
    )
    blocks = [candidate.constants["BLOCK"] for candidate in plan.candidates]
    assert (blocks == [Known(64)]) is equal, blocks


def test_generators_of_two_closures_are_two() -> None:
    plan = launched(
        f"""{FUNCTIONS}
def run(x, y, n):
    one, other = made(1), made(2)
    scale[(1,)](x, y, n, BLOCK=64 if one(n) == other(n) else 128)
"""
    )
    assert [candidate.constants["BLOCK"] for candidate in plan.candidates] != [Known(64)]
