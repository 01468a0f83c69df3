"""Values that depend on conditions which nobody can decide, and how such values meet.

A guard is a condition and how it came out. A `Choice` holds a value per set of guards; two choices that hang on the
same condition meet only where they agree, so `BLOCK, warps = (64, 4) if big else (128, 8)` stays two pairs, not four.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tritonlint.quick import quick

MAX_ALTERNATIVES = 32
MAX_PATH = 12  # guard sets of one path; where there would be more, a condition is not kept in it
MAX_WORLDS = 64
_MAX_NUMBERS = 200_000

_numbers: dict[Any, int] = {}
_next = itertools.count(1)


class Guards:
    """Conditions and how they came out: True or False, or which item was picked."""

    __slots__ = ("_hash", "held")

    def __init__(self, held: dict[int, int]) -> None:
        self.held = held
        self._hash: int | None = None

    def __or__(self, other: Guards) -> Guards:
        if not other.held:
            return self
        return Guards({**self.held, **other.held}) if self.held else other

    def __sub__(self, other: Guards) -> Guards:
        if not other.held or not self.held:
            return self
        return Guards({key: outcome for key, outcome in self.held.items() if other.held.get(key) != outcome})

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Guards) and self.held == other.held)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.held.items()))
        return self._hash


def forget_conditions() -> None:
    """To be called between files that have no conditions in common; numbers are not used again."""
    _numbers.clear()


def guard(key: Any, outcome: int) -> Guards:
    """The one condition `key` with its outcome. Conditions are numbered, since hashing what they hang on is slow."""
    number = _numbers.get(key)
    if number is None:
        if len(_numbers) > _MAX_NUMBERS:
            _numbers.clear()  # numbers are never used twice, so all that is lost is what two uses have in common
        number = _numbers[key] = next(_next)
    return Guards({number: outcome})


Path = tuple[Guards, ...]  # any of these sets holds

NO_GUARDS = Guards({})
ANYWHERE: Path = (NO_GUARDS,)


class Raised(Exception):
    """The code that is read raises here."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind = kind


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    alternatives: tuple[tuple[Guards, Any], ...]

    @property
    def values(self) -> list[Any]:
        """The distinct values."""
        return list({mark(value): value for _, value in self.alternatives}.values())


def agree(first: Guards, second: Guards) -> bool:
    """Whether both sets can hold together."""
    one, other = first.held, second.held
    if len(one) > len(other):
        one, other = other, one
    for key, outcome in one.items():  # noqa: SIM110 (asked so often that a generator would be half of it)
        if other.get(key, outcome) != outcome:
            return False
    return True


def opposite(guards: Guards) -> Guards | None:
    """The guard that holds where a single yes-or-no condition does not; None for anything else."""
    if len(guards.held) == 1:
        ((key, outcome),) = guards.held.items()
        if isinstance(outcome, bool):
            return Guards({key: not outcome})
    return None


_PARTS = ("dtype", "shape")  # of a Tensor
_PLAIN = ("DType", "External", "TypeValue")


def same(first: Any, second: Any) -> bool:
    """Equal as plain values (True is not 1 here), or the same object."""
    if first is second:
        return True
    kind = type(first)
    if kind is not type(second):
        return False
    if kind in (int, float, str, bool, bytes, complex):
        return bool(first == second)
    if kind is tuple:
        return len(first) == len(second) and all(same(a, b) for a, b in zip(first, second, strict=False))
    key = getattr(first, "key", None)
    if key is not None and hasattr(second, "key"):
        # What is made of a choice has one key, and a type and a shape for each way.
        return bool(key == second.key) and all(
            same(getattr(first, part, None), getattr(second, part, None)) for part in _PARTS
        )
    if kind.__name__ in _PLAIN:
        return bool(first == second)
    return False


def choose(alternatives: Iterable[tuple[Guards, Any]]) -> Any:
    """A Choice of these, flattened; the value itself where there is only one."""
    flat: list[tuple[Guards, Any]] = []
    for guards, value in alternatives:
        if isinstance(value, Choice):
            flat.extend((guards | inner, v) for inner, v in value.alternatives if agree(guards, inner))
        else:
            flat.append((guards, value))
    if not flat:
        return None
    first = flat[0][1]
    if all(same(first, value) for _, value in flat[1:]):
        return first
    if len(flat) > MAX_ALTERNATIVES:
        # Too many conditions to keep apart: each value once; with too many values, none.
        distinct = {mark(value): value for _, value in flat}
        if len(distinct) > MAX_ALTERNATIVES // 2:
            from tritonlint.source.objects import Symbol

            return Symbol(("many", next(_next)), "it has too many possible values")
        picked = next(
            _next
        )  # which value it is, is a condition of its own: what hangs on it twice hangs together
        return Choice(
            tuple((Guards({picked: place}), value) for place, value in enumerate(distinct.values()))
        )
    return Choice(tuple(flat))


def mark(value: Any) -> Any:
    """A hashable that is equal for values that are the same."""
    kind = type(value)
    if value is None or kind in (int, float, str, bool, bytes):
        return (kind, value)
    if kind is tuple:
        return tuple(mark(item) for item in value)
    key = getattr(value, "key", None)
    if key is not None:
        return (kind, key, *(mark(getattr(value, part, None)) for part in _PARTS))
    if kind.__name__ in _PLAIN:
        return value
    return ("id", id(value))


def combine(values: Sequence[Any]) -> list[tuple[Guards, list[Any]]]:
    """The worlds in which choices among `values` can stand together, each with its plain values."""
    worlds: list[tuple[Guards, list[Any]]] = [(NO_GUARDS, [])]
    for value in values:
        if not isinstance(value, Choice):
            for _, row in worlds:
                row.append(value)
            continue
        grown: list[tuple[Guards, list[Any]]] = []
        for guards, row in worlds:
            for inner, plain in value.alternatives:
                if agree(guards, inner):
                    grown.append((guards | inner, [*row, plain]))
            if len(grown) > MAX_WORLDS:
                break
        worlds = grown[:MAX_WORLDS]
    return worlds


def lift(function: Callable[..., Any], *values: Any) -> Any:
    """`function` applied in every world of its arguments. A world in which it raises is one that does not go on."""
    if not any(isinstance(value, Choice) for value in values):
        return function(*values)
    found: list[tuple[Guards, Any]] = []
    error: Raised | None = None
    for guards, row in combine(values):
        try:
            found.append((guards, function(*row)))
        except Raised as raised:
            error = raised.with_traceback(None)  # which would hold this very frame
    if not found and error is not None:
        raise error
    return choose(found)


def narrow(value: Any, path: Path) -> Any:
    """What is left of a value where one of the path's guard sets holds."""
    if not isinstance(value, Choice) or path is ANYWHERE:
        return value
    left = tuple((guards, v) for guards, v in value.alternatives if any(agree(guards, here) for here in path))
    if len(left) == len(value.alternatives) or not left:
        return value
    return choose(left)


def extend(path: Path, conditions: Sequence[Guards]) -> Path:
    """The path after one of `conditions` came true; empty where none can."""
    found: dict[Guards, None] = {}
    for here in path:
        for condition in conditions:
            if agree(here, condition):
                found[here | condition] = None
    return tuple(found) if len(found) <= MAX_PATH else path
