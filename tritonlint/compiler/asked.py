"""Work that targets share: an answer is kept with the questions about the target that led to it.

The passes ask a target little ("is the capability at least 90?"), so that most targets lead them the same way. A view
of the target writes down each question with its answer; what was made is good for every other target that answers the
same. Nothing is assumed about which targets are alike.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeAlias, TypeVar

from tritonlint.compiler.target import Target

Made = TypeVar("Made")

# A question is how to ask it of a plain Target: what to read, then an operator and its right side.
Question = tuple[Any, ...]


def answer(target: Target, question: Question) -> Any:
    """What a target says to a question."""
    value = getattr(target, question[0])
    return value if len(question) == 1 else question[1](value, question[2])


class AskedTarget(Target):
    """A target that writes down what it is asked. Reading the name, or the capability as a number, counts as asking
    for all of it; a comparison counts as no more than its result."""

    __slots__ = ("answers", "plain")

    answers: dict[Question, Any]
    plain: Target

    def __init__(self, plain: Target) -> None:
        object.__setattr__(self, "plain", plain)
        object.__setattr__(self, "answers", {})

    def ask(self, question: Question) -> Any:
        said = answer(self.plain, question)
        self.answers[question] = said
        return said

    @property
    def arch(self) -> str:
        return str(self.ask(("arch",)))

    @property
    def is_nvidia(self) -> bool:
        return bool(self.ask(("is_nvidia",)))

    @property
    def is_amd(self) -> bool:
        return bool(self.ask(("is_amd",)))

    @property
    def warp_size(self) -> int:
        return int(self.ask(("warp_size",)))

    @property
    def backend(self) -> str:
        return str(self.ask(("backend",)))

    @property
    def capability(self) -> int:
        return _Capability(self)

    def __eq__(self, other: object) -> bool:
        return Target(self.arch) == other

    def __hash__(self) -> int:
        return hash(Target(self.arch))

    def __repr__(self) -> str:
        return repr(Target(self.arch))


class _Capability(int):
    """The capability of an AskedTarget: comparing it is a question; whatever else is done with it asks for all."""

    _of: AskedTarget

    def __new__(cls, of: AskedTarget) -> _Capability:
        made = super().__new__(cls, of.plain.capability)
        made._of = of
        return made


def _compares(compare: Callable[[Any, Any], bool]) -> Callable[[_Capability, Any], Any]:
    def asked(self: _Capability, other: Any) -> Any:
        if type(other) is not int:
            return compare(self._of.ask(("capability",)), other)
        return self._of.ask(("capability", compare, other))

    return asked


def _tells(name: str) -> Callable[..., Any]:
    def told(self: _Capability, *rest: Any) -> Any:
        return getattr(int, name)(self._of.ask(("capability",)), *rest)

    return told


for _compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
    setattr(_Capability, f"__{_compare.__name__}__", _compares(_compare))
_Capability.__floordiv__ = _compares(operator.floordiv)  # type: ignore[method-assign, assignment]
_TOLD = (
    "hash", "bool", "int", "index", "float", "str", "repr", "format", "add", "radd", "sub", "rsub", "mul", "rmul",
    "truediv", "rtruediv", "rfloordiv", "mod", "rmod", "divmod", "rdivmod", "pow", "rpow", "lshift", "rlshift",
    "rshift", "rrshift", "and", "rand", "or", "ror", "xor", "rxor", "neg", "pos", "abs", "invert",
)  # fmt: skip
"""What an int does besides comparing."""
for _name in _TOLD:
    setattr(_Capability, f"__{_name}__", _tells(f"__{_name}__"))


class AskedNumber:
    """A whole number that writes down what it is asked, as AskedTarget does. It is no int, so that nothing reads it
    past these methods; whatever is made of it is made of the number, which then counts as asked for."""

    __slots__ = ("answers", "plain")

    def __init__(self, plain: int) -> None:
        self.plain = plain
        self.answers: dict[Question, Any] = {}

    def ask(self, question: Question) -> Any:
        said = self.answers[question] = _of_number(self.plain, question)
        return said


def _of_number(number: int, question: Question) -> Any:
    return question[0](number, question[1]) if question else number


def _number_compares(compare: Callable[[Any, Any], bool]) -> Callable[[AskedNumber, Any], Any]:
    def asked(self: AskedNumber, other: Any) -> Any:
        return (
            self.ask((compare, other)) if type(other) is int else compare(self.ask(()), _plain_number(other))
        )

    return asked


def _number_tells(name: str) -> Callable[..., Any]:
    def told(self: AskedNumber, *rest: Any) -> Any:
        return getattr(int, name)(self.ask(()), *map(_plain_number, rest))

    return told


def _plain_number(value: Any) -> Any:
    return value.ask(()) if isinstance(value, AskedNumber) else value


for _compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
    setattr(AskedNumber, f"__{_compare.__name__}__", _number_compares(_compare))
for _name in (*_TOLD, "floordiv"):
    setattr(AskedNumber, f"__{_name}__", _number_tells(f"__{_name}__"))


def plain_target(target: Target) -> Target:
    """The target behind a view, or the target itself."""
    return target.plain if isinstance(target, AskedTarget) else target


def asked_again(answers: Mapping[Question, Any], target: Target) -> bool:
    """Whether the target gives the same answers; if so, and it is a view, the questions count as asked of it too."""
    plain = plain_target(target)
    for question, said in answers.items():  # asked so often that a generator would be half of it
        if answer(plain, question) != said:
            return False
    if isinstance(target, AskedTarget):
        target.answers.update(answers)
    return True


@contextmanager
def viewed(target: Target) -> Iterator[AskedTarget]:
    """A fresh view of the target, whose questions count as asked of `target` too where that is a view itself."""
    view = AskedTarget(plain_target(target))
    try:
        yield view
    finally:
        if isinstance(target, AskedTarget):
            target.answers.update(view.answers)


class AskedMemo(Generic[Made]):
    """What was made for a key, once for all targets, and all numbers of stages, that answer alike. The oldest keys go."""

    def __init__(self, limit: int, gone: Callable[[Made], None] | None = None) -> None:
        """`gone` is told what is dropped."""
        self._limit = limit
        self._gone = gone
        self._kept: OrderedDict[Hashable, list[_Kept[Made]]] = OrderedDict()

    def clear(self) -> None:
        """Drops all that is kept."""
        while self._kept:
            self._drop()

    def _drop(self) -> None:
        _, dropped = self._kept.popitem(last=False)
        if self._gone is not None:
            for _, _, made in dropped:
                self._gone(made)

    def get(self, key: Hashable, target: Target, make: Callable[[Target], Made]) -> Made:
        """`make` of a view of the target, or what it gave for another target that answers the same."""
        return self.get_for(key, target, 0, lambda view, _: make(view))

    def get_for(
        self, key: Hashable, target: Target, number: int, make: Callable[[Target, int], Made]
    ) -> Made:
        """The same for what depends on a number too: `make` gets a view of that as well."""
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = []
            while len(self._kept) > self._limit:
                self._drop()
        else:
            self._kept.move_to_end(key)
            for said, answers, made in kept:
                if said and any(_of_number(number, question) != answer for question, answer in said.items()):
                    continue
                if asked_again(answers, target):
                    return made
        asked = AskedNumber(number)
        with viewed(target) as view:
            made = make(view, asked)  # type: ignore[arg-type]  # it does whatever an int does
        kept.append((asked.answers, view.answers, made))
        return made


# Questions about the number with their answers, the same of the target, what was made.
_Kept: TypeAlias = tuple[Mapping[Question, Any], Mapping[Question, Any], Made]
