"""One reading of a file for several platforms: which questions the code asked is written down, with the answers.

Most files ask nothing of the platform that two GPUs answer differently, so that one reading serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from tritonlint.source.sites import Platform

P = ParamSpec("P")
R = TypeVar("R")


class SharedPlatform(Platform):
    """Answers as its first platform does, and knows for which others the answers hold.

    `differs` is set once a question comes up that those admitted so far answer differently: then what was read is
    right for the first only.
    """

    __slots__ = ("_answers", "_members", "differs")

    _members: list[Platform]
    _answers: dict[Any, tuple[Callable[[Platform], Any], Any]]
    differs: bool

    def __init__(self, first: Platform) -> None:
        object.__setattr__(self, "_members", [first])
        object.__setattr__(self, "_answers", {})
        object.__setattr__(self, "differs", False)

    def admits(self, platform: Platform) -> bool:
        """Whether everything asked so far has the same answer there; from then on it is one of those served."""
        if platform in self._members:
            return True
        if any(ask(platform) != said for ask, said in self._answers.values()):
            return False
        self._members.append(platform)
        return True

    def ask(self, key: Any, ask: Callable[[Platform], R]) -> R:
        """The answer to a question; `key` tells it from others."""
        if key not in self._answers:
            said = ask(self._members[0])
            self._answers[key] = (ask, said)
            if any(ask(other) != said for other in self._members[1:]):
                object.__setattr__(self, "differs", True)
        answer: R = self._answers[key][1]
        return answer

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
