"""Values that depend on conditions which nobody can decide, and how such values meet.

A guard is a condition and how it came out. A `Choice` holds a value per set of guards; two choices that hang on the
same condition meet only where they agree, so `BLOCK, warps = (64, 4) if big else (128, 8)` stays two pairs, not four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Guards = frozenset[tuple[Any, bool]]
Path = tuple[Guards, ...]  # any of these sets holds

NO_GUARDS: Guards = frozenset()
ANYWHERE: Path = (NO_GUARDS,)
MAX_ALTERNATIVES = 64


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    alternatives: tuple[tuple[Guards, Any], ...]

    @property
    def values(self) -> list[Any]:
        """The distinct values."""
        found: list[Any] = []
        for _, value in self.alternatives:
            if not any(same(value, other) for other in found):
                found.append(value)
        return found


def agree(first: Guards, second: Guards) -> bool:
    """Whether both sets can hold together."""
    if len(first) > len(second):
        first, second = second, first
    return not any((key, not branch) in second for key, branch in first)


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
        return len(first) == len(second) and all(same(a, b) for a, b in zip(first, second))
    key = getattr(first, "key", None)
    if key is not None and hasattr(second, "key"):
        return bool(key == second.key)
    if kind.__name__ in ("DType", "External", "TypeValue"):
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
        distinct: list[tuple[Guards, Any]] = []
        for _, value in flat:
            if not any(same(value, other) for _, other in distinct):
                distinct.append((NO_GUARDS, value))
        flat = distinct[: MAX_ALTERNATIVES * 4]
    return Choice(tuple(flat))


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
            if len(grown) > MAX_ALTERNATIVES * 4:
                break
        worlds = grown[: MAX_ALTERNATIVES * 4]
    return worlds


def lift(function: Callable[..., Any], *values: Any) -> Any:
    """`function` applied in every world of its arguments."""
    for value in values:
        if isinstance(value, Choice):
            return choose([(guards, function(*row)) for guards, row in combine(values)])
    return function(*values)


def narrow(value: Any, path: Path) -> Any:
    """What is left of a value where one of the path's guard sets holds."""
    if not isinstance(value, Choice) or path is ANYWHERE:
        return value
    left = tuple(
        (guards, v) for guards, v in value.alternatives if any(agree(guards, here) for here in path)
    )
    if len(left) == len(value.alternatives) or not left:
        return value
    return choose(left)


def extend(path: Path, conditions: Sequence[Guards]) -> Path:
    """The path after one of `conditions` came true; empty where none can."""
    found: list[Guards] = []
    for here in path:
        for condition in conditions:
            if agree(here, condition):
                joined = here | condition
                if joined not in found:
                    found.append(joined)
    if len(found) > MAX_ALTERNATIVES:
        return tuple(conditions[:MAX_ALTERNATIVES])
    return tuple(found)
