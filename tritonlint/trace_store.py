"""Traces, and what was made of them, kept from one lint of a file to the next.

While a file is edited most of its kernels stay as they are. A trace depends on the kernel's own text and place, on
the values that it is traced with, and on what its names mean. The names are written down as the tracer asks for
them; a kept trace is good again where asking the same gives the same. Nothing is guessed from the text.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tritonlint.compiler.asked import AskedMemo, asked_again, viewed
from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import Block, Trace
from tritonlint.source.sites import KernelSource, ModuleRef, Scope
from tritonlint.span import Span

if TYPE_CHECKING:
    from tritonlint.compiler.compile import Passed

Made = TypeVar("Made")
TextOf = Callable[[Span], str]  # the text of a span of the linted file

LIMIT = 60_000  # of all traces together, as `_weight_of` counts; some 400 bytes each; the oldest go
_BESIDE = 40  # what is kept with a trace, whatever it holds
_LONG = 64  # characters
_ANSWERS = 256  # of the compiler, and bounds of them, for one trace


@dataclass(frozen=True, slots=True)
class _Question:
    """A name that was asked for: in which scope, of which earlier answer (None: a plain name), and what came back."""

    scope: int
    base: int | None
    name: str
    answer: Any


@dataclass(slots=True)
class _Entry:
    questions: tuple[_Question, ...]
    asked: Mapping[Any, Any]  # of the target
    trace: Trace
    keep: list[Any]
    weight: int
    answers: AskedMemo[Any] = field(default_factory=lambda: AskedMemo(_ANSWERS))
    derived: dict[Any, Any] = field(default_factory=dict)


class TraceStore:
    """Not for use by two threads at once."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._entries: OrderedDict[Any, list[_Entry]] = OrderedDict()
        self._by_trace: dict[int, _Entry] = {}
        self._weight = 0
        self._passed: Passed | None = None

    @property
    def passed(self) -> Passed:
        """What the compiler's passes made of these traces; imported when something is compiled."""
        if self._passed is None:
            from tritonlint.compiler.compile import Passed

            self._passed = Passed()
        return self._passed

    def release(self) -> None:
        """Drops all that is kept, so that most of it needs no collection."""
        self._entries.clear()
        self._by_trace.clear()
        self._weight = 0
        if self._passed is not None:
            self._passed.release()

    def trace(
        self,
        key: Any,
        kernel: KernelSource,
        path: str,
        text_of: TextOf,
        target: Target,
        make: Callable[[KernelSource, Target], Trace],
    ) -> Trace:
        """A trace of the kernel with the values of `key`: a kept one, else `make` of the kernel and the target. `path`
        is the linted file, in which `text_of` finds the text of kernels; those of other files are told apart by their
        parsed nodes, which stay for as long as the file does."""
        keep: list[Any] = []
        mark = (key, _kernel(kernel, path, text_of, keep))
        for entry in self._entries.get(mark, ()):
            if _same(entry.questions, kernel.scope, path, text_of) and asked_again(entry.asked, target):
                self._entries.move_to_end(mark)
                return entry.trace
        recorder = _Recorder(path, text_of, keep)
        with viewed(target) as view:
            trace = make(replace(kernel, scope=recorder.scope(kernel.scope)), view)
        recorder.finish()
        if recorder.complete:
            self._add(
                mark,
                _Entry(tuple(recorder.questions), view.answers, trace, keep, _weight_of(trace)),
            )
        return trace

    def answer(self, trace: Trace, key: Any, target: Target, make: Callable[[Target], Made]) -> Made:
        """What `make` gives for a trace on a target, kept for as long as the trace is."""
        entry = self._by_trace.get(id(trace))
        if entry is None or entry.trace is not trace:
            return make(target)
        made: Made = entry.answers.get(key, target, make)
        return made

    def derived(self, trace: Trace, key: Any, make: Callable[[], Made]) -> Made:
        """What `make` gives for a trace, kept for as long as the trace is."""
        entry = self._by_trace.get(id(trace))
        if entry is None or entry.trace is not trace:
            return make()
        if key not in entry.derived:
            entry.derived[key] = make()
        made: Made = entry.derived[key]
        return made

    def _add(self, mark: Any, entry: _Entry) -> None:
        self._entries.setdefault(mark, []).append(entry)
        self._entries.move_to_end(mark)
        self._by_trace[id(entry.trace)] = entry
        self._weight += entry.weight
        while self._weight > self._limit and len(self._entries) > 1:
            _, gone = self._entries.popitem(last=False)
            for old in gone:
                self._weight -= old.weight
                self._by_trace.pop(id(old.trace), None)


def _weight_of(trace: Trace) -> int:
    """Operations and gaps: a text that is half typed gives traces with few of the one and many of the other."""
    return _BESIDE + len(trace.gaps) + _operations(trace.function.body)


def _operations(block: Block) -> int:
    return sum(1 + sum(map(_operations, op.blocks)) for op in block.ops)


class _Recorder:
    """Writes down what the tracer asks. `complete` is False once something was asked that cannot be asked again."""

    def __init__(self, path: str, text_of: TextOf, keep: list[Any]) -> None:
        self.path, self.text_of, self.keep = path, text_of, keep
        self.questions: list[_Question] = []
        self.complete = True
        self._scopes = 0
        self._answers: dict[int, int] = {}  # id of an answer -> number of its question
        self._alive: list[Any] = []  # the answers, so that their ids stay taken while this records

    def finish(self) -> None:
        """Lets go of the answers, whose scopes hold the recorder."""
        self._answers.clear()
        self._alive.clear()

    def scope(self, scope: Scope) -> _Recording:
        self._scopes += 1
        return _Recording(self, scope, self._scopes - 1)

    def asked(self, scope: int, base: Any, name: str, answer: Any) -> Any:
        """Writes a question down; gives the answer, in which further questions are written down too."""
        number = self._answers.get(id(base)) if base is not None else None
        token = _token(answer, self.path, self.text_of, self.keep)
        if token is None or (base is not None and number is None):
            self.complete = False
        if isinstance(answer, KernelSource):
            answer = replace(answer, scope=self.scope(answer.scope))
        self.questions.append(_Question(scope, number, name, token))
        self._answers[id(answer)] = len(self.questions) - 1
        self._alive.append(answer)
        return answer


class _Recording:
    """sites.Scope that writes down."""

    def __init__(self, recorder: _Recorder, scope: Scope, number: int) -> None:
        self._recorder, self._scope, self._number = recorder, scope, number
        self._known: dict[str, Any] = {}

    def lookup(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._recorder.asked(self._number, None, name, self._scope.lookup(name))
        return self._known[name]

    def attribute(self, base: Any, name: str) -> Any:
        return self._recorder.asked(self._number, base, name, self._scope.attribute(base, name))


def _same(questions: tuple[_Question, ...], scope: Scope, path: str, text_of: TextOf) -> bool:
    """Does asking again give the same answers?"""
    scopes, answers = [scope], list[Any]()
    for question in questions:
        where = scopes[question.scope]
        if question.base is None:
            answer = where.lookup(question.name)
        else:
            answer = where.attribute(answers[question.base], question.name)
        if _token(answer, path, text_of, []) != question.answer:
            return False
        answers.append(answer)
        if isinstance(answer, KernelSource):
            scopes.append(answer.scope)
    return True


def _token(answer: Any, path: str, text_of: TextOf, keep: list[Any]) -> Any:
    """What an answer is told by; None where it cannot be told."""
    if answer is None:
        return ("nothing",)
    if isinstance(answer, KernelSource):
        return _kernel(answer, path, text_of, keep)
    if isinstance(answer, ModuleRef):
        return (type(answer).__name__, answer.dotted)
    shown = repr(answer)
    if " at 0x" in shown or "KernelSource(" in shown:
        return None
    return (type(answer).__name__, shown if len(shown) < _LONG else _digest(shown))


def _digest(text: str) -> bytes:
    """Stands for a text that would be kept for nothing but to be compared."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).digest()


def _kernel(kernel: KernelSource, path: str, text_of: TextOf, keep: list[Any]) -> Any:
    """A kernel by its text and place, with what its decorators say of it."""
    parameters = tuple(
        (one.name, one.constexpr, one.annotation, one.span, repr(one.default)) for one in kernel.parameters
    )
    about = (kernel.name, kernel.kind, kernel.noinline, kernel.do_not_specialize, parameters)
    if kernel.path == path:
        return (*about, kernel.span, _digest(text_of(kernel.span)))
    keep.append(kernel.node)
    return (*about, kernel.path, id(kernel.node))
