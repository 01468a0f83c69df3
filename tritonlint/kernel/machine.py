"""What the parts of the tracer share: the graph being built, target and release, what went wrong, and the budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tritonlint.kernel.builder import Builder
from tritonlint.kernel.graph import Val
from tritonlint.kernel.ir import CompileError, Gap
from tritonlint.kernel.values import OutOfSteps, Refused

MAX_TENSOR_ELEMENTS = 1_048_576
MAX_TENSOR_ELEMENTS_2_1 = 131_072


class TargetLike(Protocol):
    """What the tracer reads of `compiler.target.Target`."""

    @property
    def arch(self) -> str: ...

    @property
    def is_nvidia(self) -> bool: ...

    @property
    def capability(self) -> int: ...


class Machine:
    """State of one trace. `call` runs a jit function on values; the interpreter sets it."""

    def __init__(self, target: TargetLike, release: tuple[int, int], steps: int, path: str = "") -> None:
        self.b = Builder(release)
        self.path = path
        self.target = target
        self.release = release
        self.options: dict[str, Any] = {}  # launch options that the front end reads
        self.gaps: dict[tuple[int, str, str, str], Gap] = {}  # by all that is in them
        self.errors: list[CompileError] = []
        self.assumptions: list[str] = []
        self.steps = steps
        self.max_elements = MAX_TENSOR_ELEMENTS if release >= (2, 2) else MAX_TENSOR_ELEMENTS_2_1
        self.argument_hints: dict[int, tuple[Val, dict[str, tuple[int, ...]]]] = {}
        self.call: Callable[..., Any] = _no_call

    def finish(self) -> None:
        """Lets go of what refers to itself in circles, when the trace is done."""
        self.b.take_apart()
        self.call = _no_call

    @property
    def arch(self) -> str:
        return self.target.arch

    @property
    def is_nvidia(self) -> bool:
        return self.target.is_nvidia

    @property
    def capability(self) -> int:
        return self.target.capability

    @property
    def has_tma(self) -> bool:
        """Whether tensor descriptors stay descriptors."""
        if self.release < (3, 4):  # there is no pass yet that takes descriptors apart
            return True
        if self.is_nvidia:
            return self.capability >= 90
        return self.release >= (3, 6) and self.arch.startswith("gfx125")

    def spend(self, steps: int = 1) -> None:
        """Take from the budget."""
        self.steps -= steps
        if self.steps < 0:
            raise OutOfSteps

    def mark(self) -> tuple[int, int]:
        """How much has been noted so far, for `rewind`."""
        return len(self.gaps), len(self.assumptions)

    def rewind(self, mark: tuple[int, int]) -> None:
        """Forget what was noted since, where a loop body is traced anew."""
        for gone in list(self.gaps)[mark[0] :]:
            del self.gaps[gone]
        del self.assumptions[mark[1] :]

    def error(self, refused: Refused, line: int, path: str) -> None:
        """Note that the front end refuses the kernel."""
        found = CompileError(
            refused.kind, line, refused.message, refused.values, "" if path == self.path else path
        )
        self.errors.append(found)

    def gap(self, line: int, construct: str, reason: str, path: str = "") -> None:
        """Note something that could not be traced, once."""
        construct = " ".join(construct.split())
        if len(construct) > 80:
            construct = construct[:77] + "..."
        found = (line, construct, reason, "" if path == self.path else path)
        if found not in self.gaps:
            self.gaps[found] = Gap(*found)


def _no_call(*_: Any, **__: Any) -> Any:
    raise NotImplementedError
