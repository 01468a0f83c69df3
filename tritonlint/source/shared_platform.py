"""One reading of a file for several platforms: which questions the code asked is written down, with the answers.

Most files ask nothing of the platform that two GPUs answer differently, so that one reading serves all. In most others
few functions ask: who asked is written down too, so that only these are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from tritonlint.source.sites import Platform

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(slots=True, eq=False)
class _Answer:
    ask: Callable[[Platform], Any]
    said: Any
    askers: set[int | None] = field(default_factory=set)


class SharedPlatform(Platform):
    """Answers as its first platform does, and knows for which others the answers hold.

    `differs` is set once a question comes up that those admitted so far answer differently: then what was read is
    right for the first only. `asker` tells who asks: the number of a function that is being run, None for all else.
    """

    __slots__ = ("_answers", "_apart", "_basis", "_later", "_members", "asker", "differs")

    _members: list[Platform]
    _later: list[Platform]
    _answers: dict[Any, _Answer]
    _basis: SharedPlatform | None
    _apart: frozenset[int | None]
    asker: Callable[[], int | None]
    differs: bool

    def __init__(self, first: Platform) -> None:
        object.__setattr__(self, "_members", [first])
        object.__setattr__(self, "_later", [])
        object.__setattr__(self, "_answers", {})
        object.__setattr__(self, "_basis", None)
        object.__setattr__(self, "_apart", frozenset())
        object.__setattr__(self, "asker", lambda: None)
        object.__setattr__(self, "differs", False)

    def asked_by(self, asker: Callable[[], int | None]) -> None:
        object.__setattr__(self, "asker", asker)

    @property
    def first(self) -> Platform:
        return self._members[0]

    def admits(self, platform: Platform) -> bool:
        """Whether everything asked so far has the same answer there; from then on it is one of those served."""
        if platform in self._members:
            return True
        if self.askers_apart(platform):
            return False
        if self._basis is not None:
            if self._basis.askers_apart(platform) - self._apart:
                return False
            self._basis.serves_in_part(platform)
        self._members.append(platform)
        return True

    def askers_apart(self, platform: Platform) -> frozenset[int | None]:
        """Who asked what that platform answers differently."""
        apart = (one.askers for one in self._answers.values() if one.ask(platform) != one.said)
        return frozenset().union(*apart)

    def serves_in_part(self, platform: Platform) -> None:
        """What was read is good for that platform too, but for what some askers read; they will not ask again."""
        if platform not in self._members and platform not in self._later:
            self._later.append(platform)

    def rests_on(self, basis: SharedPlatform, apart: frozenset[int | None]) -> None:
        """All was read for `basis`, but for what the askers `apart` read, which is read again here."""
        basis.serves_in_part(self.first)
        object.__setattr__(self, "_basis", basis)
        object.__setattr__(self, "_apart", apart)

    def ask(self, key: Any, ask: Callable[[Platform], R]) -> R:
        """The answer to a question; `key` tells it from others."""
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = _Answer(ask, ask(self.first))
            others = [*self._members[1:], *self._later]
        else:
            others = self._later
        if any(ask(other) != answer.said for other in others):
            object.__setattr__(self, "differs", True)
        answer.askers.add(self.asker())
        said: R = answer.said
        return said

    @property
    def arch(self) -> str:
        return self.ask("arch", lambda platform: platform.arch)

    @property
    def triton(self) -> tuple[int, int]:
        return self.ask("triton", lambda platform: platform.triton)

    @property
    def device(self) -> str:
        return self.ask("device", lambda platform: platform.device)

    @property
    def properties(self) -> Mapping[str, int]:
        return self.ask("properties", lambda platform: platform.properties)


def question(function: Callable[Concatenate[Platform, P], R]) -> Callable[Concatenate[Platform, P], R]:
    """Marks a function of the platform whose answer, and nothing else, is what its caller learns."""

    @wraps(function)
    def asked(platform: Platform, *args: P.args, **kwargs: P.kwargs) -> R:
        if not isinstance(platform, SharedPlatform) or not all(map(_plain, args)) or kwargs:
            return function(platform, *args, **kwargs)
        return platform.ask((function.__name__, repr(args)), lambda one: function(one, *args, **kwargs))

    return cast("Callable[Concatenate[Platform, P], R]", asked)


def _plain(value: Any) -> bool:
    """Told apart by its repr, and never changed."""
    if isinstance(value, (tuple, list)):
        return all(map(_plain, value))
    return value is None or type(value) in (bool, int, str)
