"""Undoing and merging what the branches of an undecided condition did to lists, dicts and objects."""

from __future__ import annotations

from typing import Any

from tritonlint.source.guards import Guards, choose, same
from tritonlint.source.objects import MISSING, Dict, Instance, List, Maybe, Set

Snapshot = tuple[Any, Any]  # the object, a copy of its content


class Journal:
    """First contents of everything that was changed since a mark. Marks nest. `changed` is all that ever was, by its id,
    while that is not None."""

    def __init__(self) -> None:
        self._levels: list[dict[int, Snapshot]] = []
        self.changed: dict[int, Any] | None = None

    def note(self, target: Any) -> None:
        """To be called for a change that is never undone."""
        if self.changed is not None:
            self.changed[id(target)] = target

    def touch(self, target: Any) -> None:
        """To be called before `target` changes."""
        if self.changed is not None:
            self.changed[id(target)] = target
        if self._levels and id(target) not in self._levels[-1]:
            self._levels[-1][id(target)] = (target, content(target))

    def mark(self) -> None:
        self._levels.append({})

    def rollback(self) -> dict[int, Snapshot]:
        """Back to the mark; what the contents were just before this call."""
        level = self._levels.pop()
        after = {key: (target, content(target)) for key, (target, _) in level.items()}
        for target, before in level.values():
            restore(target, before)
        return after

    def merge(
        self,
        first: dict[int, Snapshot],
        first_when: tuple[Guards, ...],
        second: dict[int, Snapshot],
        second_when: tuple[Guards, ...],
    ) -> None:
        """Lets both branches' changes stand, each under its condition."""
        for key in {**first, **second}:
            target = (first.get(key) or second[key])[0]
            before = content(target)
            self.touch(target)
            one = first[key][1] if key in first else before
            two = second[key][1] if key in second else before
            restore(target, merged(target, one, first_when, two, second_when))

    def keep(self, changes: dict[int, Snapshot]) -> None:
        """Lets one branch's changes stand without a condition."""
        for target, after in changes.values():
            self.touch(target)
            restore(target, after)


def content(target: Any) -> Any:
    if isinstance(target, List):
        return list(target)
    if isinstance(target, Dict):
        return (dict(target), dict(target.origins))
    if isinstance(target, Set):
        return set(target)
    return dict(target.attributes)


def restore(target: Any, saved: Any) -> None:
    if isinstance(target, List):
        target[:] = saved
    elif isinstance(target, Dict):
        target.clear()
        target.update(saved[0])
        target.origins = dict(saved[1])
    elif isinstance(target, Set):
        target.clear()
        target.update(saved)
    elif isinstance(target, Instance):
        target.attributes.clear()
        target.attributes.update(saved)


def merged(
    target: Any, one: Any, one_when: tuple[Guards, ...], two: Any, two_when: tuple[Guards, ...]
) -> Any:
    if isinstance(target, List):
        return _lists(one, one_when, two, two_when)
    if isinstance(target, Dict):
        return _dicts(one[0], one_when, two[0], two_when), {**one[1], **two[1]}
    if isinstance(target, Set):
        return one | two
    return _dicts(one, one_when, two, two_when)


def _lists(
    one: list[Any], one_when: tuple[Guards, ...], two: list[Any], two_when: tuple[Guards, ...]
) -> list[Any]:
    shared = 0
    while shared < min(len(one), len(two)) and one[shared] is two[shared]:
        shared += 1
    result = one[:shared]
    for rest, when in ((one[shared:], one_when), (two[shared:], two_when)):
        result.extend(
            Maybe(when, item) if not isinstance(item, Maybe) else _under(item, when) for item in rest
        )
    return result


def _under(item: Maybe, when: tuple[Guards, ...]) -> Maybe:
    joined = tuple(a | b for a in item.when for b in when)[:64]
    return Maybe(joined, item.value)


def _dicts(
    one: dict[Any, Any], one_when: tuple[Guards, ...], two: dict[Any, Any], two_when: tuple[Guards, ...]
) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key in {**one, **two}:
        a, b = one.get(key, MISSING), two.get(key, MISSING)
        if a is b or same(a, b):
            result[key] = a
        else:
            result[key] = choose([*((g, a) for g in one_when), *((g, b) for g in two_when)])
    return result
