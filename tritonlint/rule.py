"""What a rule is, and what it is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from tritonlint.compiler.options import Options
from tritonlint.compiler.target import Target
from tritonlint.finding import Finding, Severity
from tritonlint.kernel.ir import Trace
from tritonlint.quick import quick
from tritonlint.source.comments import Suppression
from tritonlint.source.problem import Problem
from tritonlint.source.sites import Candidate, LaunchPlan

if TYPE_CHECKING:
    from tritonlint.compiler.at_most import AtMost
    from tritonlint.gpu.profile import GpuProfile

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Case:
    """An example that runs as a test: a whole small file, linted for `gpu` and `triton`."""

    code: str
    gpu: str = "a100"
    triton: str = "3.9"
    line: int | None = None  # where the finding starts (invalid cases)
    contains: str = ""  # text that the message must hold (invalid cases)
    severity: Severity | None = None
    why: str = ""  # what the case shows; for a valid one: why it is a near miss


class Later:
    """An answer that is made when somebody asks for it, and kept."""

    __slots__ = ("_make", "_value")

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make: Callable[[], Any] | None = make
        self._value: Any = None

    def get(self) -> Any:
        if self._make is not None:
            self._value = self._make()
            self._make = None
        return self._value

    @property
    def made(self) -> bool:
        return self._make is None


@quick
@dataclass(frozen=True, slots=True)
class EstimateOf:
    """A candidate on one GPU: what was asked, and the answer. To ask for `estimate` compiles; what can be told from the
    trace alone is better asked first."""

    candidate: Candidate
    gpu: GpuProfile
    triton: tuple[int, int]
    options: Options
    trace: Trace | None  # None where a constant that the kernel needs is not known
    answer: Later | None  # of the estimate; None where nothing can be said
    unknown: tuple[str, ...] = ()  # why not, in words
    assumed: tuple[str, ...] = ()  # of the arguments of a kernel that the front end refuses, in words
    bound: Later | None = None  # of compiler.at_most.AtMost | None
    closer: Later | None = None  # a closer bound of shared memory, int | None
    bare: Later | None = None  # of what is `taken`, where that is less work than the whole estimate

    @property
    def known(self) -> bool:
        """Whether there is an estimate."""
        return self.answer is not None

    @property
    def estimate(self) -> Any:
        """tritonlint.estimate_record.Estimate | None."""
        return self.answer.get() if self.answer is not None else None

    @property
    def taken(self) -> Any:
        """What the launch takes of a multiprocessor: the estimate without what hangs on the grid (waves, work, time),
        which can take longer than all the rest."""
        if self.bare is None or (self.answer is not None and self.answer.made):
            return self.estimate
        return self.bare.get()

    @property
    def at_most(self) -> AtMost | None:
        """Bounds of what the launch takes, where there are any: without compiling."""
        found: AtMost | None = self.bound.get() if self.bound is not None else None
        return found

    @property
    def surely_fits(self) -> bool:
        """Whether bounds alone say that no memory is overrun."""
        most = self.at_most
        columns = self.gpu.tensor_memory_columns
        if most is None or (columns and most.tensor_memory_columns > columns):
            return False
        limit = self.gpu.shared_bytes_per_cta
        if most.shared_bytes <= limit:
            return True
        closer: int | None = self.closer.get() if self.closer is not None else None
        return closer is not None and closer <= limit


class Context(Protocol):
    """What a rule can ask about one plan. Everything is computed on first use and kept."""

    @property
    def path(self) -> str: ...

    @property
    def source(self) -> str:
        """The text of the file, at the lines and columns that places count in. Lines that do not parse, and those that
        the plan cannot depend on, may be blank."""

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Whether a line of code anywhere in the file matches."""

    @property
    def plan(self) -> LaunchPlan: ...

    @property
    def gpus(self) -> Sequence[GpuProfile]: ...

    @property
    def gpus_chosen(self) -> bool:
        """Whether somebody named the GPUs (an option, the settings, a comment, the machine itself). Where they
        are only the defaults, nobody says that the program is meant for each of them."""

    @property
    def triton(self) -> tuple[int, int]: ...

    @property
    def least(self) -> Severity:
        """What weighs less is not shown: a rule need not look for it."""

    def target(self, gpu: GpuProfile) -> Target: ...

    def plan_on(self, gpu: GpuProfile) -> LaunchPlan:
        """The plan as conditions on the platform decide it there."""

    def estimates(self, gpu: GpuProfile) -> Sequence[EstimateOf]:
        """One for each candidate of the plan on that GPU."""

    def retry(
        self, of: EstimateOf, changes: Mapping[str, Any], types: Mapping[str, str] | None = None
    ) -> EstimateOf:
        """The same launch with some constants or options changed, to check a fix before it is offered; or with
        argument types ("*i8") that take the place of those known or assumed."""

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gives, kept under the key with the plan, for rules that ask the same."""


@dataclass(frozen=True, slots=True)
class SuppressionUse:
    """An `ignore` comment and what became of it, once every other rule has spoken. The numbers index
    `suppression.rules`; a comment without rules is unused when `nothing_ignored`."""

    suppression: Suppression
    unused: tuple[int, ...] = ()  # a rule that was looked for and found nothing there
    unknown: tuple[int, ...] = ()  # neither code, name nor family of any rule
    nothing_ignored: bool = False


class FileContext(Protocol):
    """What `check_file` can ask, last, once a file."""

    @property
    def path(self) -> str: ...

    @property
    def source(self) -> str: ...

    @property
    def problems(self) -> Sequence[Problem]:
        """What went wrong while the file was read."""

    @property
    def suppressions(self) -> Sequence[SuppressionUse]: ...

    @property
    def rule_names(self) -> Sequence[str]:
        """Codes, names and families of every rule there is, plugins' too."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. The texts are what `tritonlint rule`, the documentation, hover and SARIF print (Markdown). `check` is
    given a Context, once a plan; `check_file` a FileContext, once a file, after the plans. A rule has one or both."""

    code: str
    name: str
    severity: Severity
    what: str
    why: str
    example: str
    better: str
    when_not: str
    source: str  # where the numbers come from
    valid: tuple[Case, ...]
    invalid: tuple[Case, ...]
    check: Callable[[Context], Iterable[Finding]] | None = None
    check_file: Callable[[FileContext], Iterable[Finding]] | None = None
    fixable: Literal["no", "safe", "unsafe"] = "no"
    at_most: Severity = "error"  # no finding weighs more; a run that shows only those leaves the rule out
