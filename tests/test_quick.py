"""Classes with a quicker `__init__` are the same classes."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from tritonlint.quick import quick


@quick
@dataclass(frozen=True, slots=True)
class Made:
    first: int
    second: str = "two"
    third: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plain:
    first: int
    second: str = "two"
    third: list[int] = field(default_factory=list)


def shown(one: Made | Plain) -> str:
    return repr(one).partition("(")[2]


def test_fields_are_those_of_the_plain_class() -> None:
    for given, named in (
        ((1,), {}),
        ((1, "b"), {}),
        ((1,), {"third": [3]}),
        ((), {"second": "c", "first": 2}),
    ):
        assert shown(Made(*given, **named)) == shown(Plain(*given, **named))  # type: ignore[arg-type]


def test_each_has_a_default_of_its_own() -> None:
    assert Made(1).third is not Made(1).third


def test_it_is_frozen_compared_copied_and_replaced() -> None:
    one = Made(1)
    with pytest.raises(FrozenInstanceError):
        one.first = 2  # type: ignore[misc]
    assert one == Made(1) != Made(2)
    assert replace(one, first=2) == Made(2)
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one


@pytest.mark.parametrize(
    ("given", "named"), [((), {}), ((1, "b", [], 4), {}), ((1,), {"fourth": 4}), ((1,), {"first": 1})]
)
def test_wrong_arguments_are_refused(given: tuple[object, ...], named: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        Made(*given, **named)  # type: ignore[arg-type]
