"""What a name can stand for while a kernel is traced.

Compile-time values are plain Python values (numbers, strings, None, tuples, `DType`); the rest is below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tritonlint.kernel.dtypes import DType
from tritonlint.kernel.graph import Val

Shape = tuple[int, ...]


class Untraceable(Exception):
    """The tracer does not understand this; `reason` is for the user. It becomes a Gap."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Refused(Exception):
    """The real front end refuses this. It becomes a CompileError."""

    def __init__(self, kind: str, message: str, **values: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.values = values


class OutOfSteps(Exception):
    """The step budget is used up."""


class Tensor:
    """A run-time scalar (`shape` is empty) or a block. `h` is its value in the graph."""

    __slots__ = ("dt", "h", "shape")

    def __init__(self, h: Val, dt: DType, shape: Shape = ()) -> None:
        self.h = h
        self.dt = dt
        self.shape = shape

    @property
    def numel(self) -> int:
        total = 1
        for size in self.shape:
            total *= size
        return total


class TensorType:
    """`x.type`: of a block or of a scalar."""

    __slots__ = ("dt", "shape")

    def __init__(self, dt: DType, shape: Shape) -> None:
        self.dt = dt
        self.shape = shape

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return not self.shape and other is self.dt
        return isinstance(other, TensorType) and other.dt is self.dt and other.shape == self.shape

    def __hash__(self) -> int:
        return hash((self.dt, self.shape))


class Descriptor:
    """A tensor descriptor. `base`, `sizes` and `strides` are there where it was made in the kernel, or where the
    target has no hardware for it and the launcher passes them."""

    __slots__ = ("base", "block", "dt", "h", "padding", "sizes", "strides", "wide")

    def __init__(
        self,
        h: Val | None,
        dt: DType,
        block: Shape,
        base: Tensor | None = None,
        sizes: tuple[Tensor, ...] = (),
        strides: tuple[Tensor, ...] = (),
        padding: str = "zero",
        wide: tuple[Tensor, ...] = (),
    ) -> None:
        self.h = h
        self.dt = dt
        self.block = block
        self.base = base
        self.sizes = sizes
        self.strides = strides
        self.padding = padding
        self.wide = wide  # the sizes in i64, where it is taken apart


class BlockPointer:
    """A block pointer; it is already taken apart, as Triton's rewrite pass does it. All sizes are i64."""

    __slots__ = ("base", "block", "dt", "offsets", "sizes", "strides")

    def __init__(
        self,
        base: Tensor,
        sizes: tuple[Tensor, ...],
        strides: tuple[Tensor, ...],
        offsets: tuple[Tensor, ...],
        block: Shape,
        dt: DType,
    ) -> None:
        self.base = base
        self.sizes = sizes
        self.strides = strides
        self.offsets = offsets
        self.block = block
        self.dt = dt


class Opaque:
    """Something of which nothing is known; whatever is made of it is opaque too."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Builtin:
    """A function of the language: `call(machine, *arguments)`."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name = name
        self.call = call


class Module:
    """A module of the language, by its dotted name."""

    __slots__ = ("dotted",)

    def __init__(self, dotted: str) -> None:
        self.dotted = dotted


class Bound:
    """A method and the value that it was taken from."""

    __slots__ = ("function", "owner")

    def __init__(self, owner: Any, function: Any) -> None:
        self.owner = owner
        self.function = function


class Slice:
    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start = start
        self.stop = stop
        self.step = step


class LoopRange:
    """`tl.range(...)`, `range(...)` or `tl.static_range(...)` before the loop is entered."""

    __slots__ = ("options", "start", "static", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any, static: bool, options: dict[str, Any]) -> None:
        self.start = start
        self.stop = stop
        self.step = step
        self.static = static
        self.options = options


class Record(tuple[Any, ...]):
    """A named tuple."""

    fields: tuple[str, ...] = ()

    @staticmethod
    def of(values: tuple[Any, ...], fields: tuple[str, ...]) -> Record:
        made = Record(values)
        made.fields = fields
        return made


def number(value: Any) -> bool:
    """A compile-time number."""
    return isinstance(value, (int, float))


def known(value: Any, what: str) -> Any:
    """A compile-time value, taken out of a folded scalar if need be; what it is goes into the reason otherwise."""
    if isinstance(value, Tensor):
        raise Untraceable(f"{what} is a run-time value")
    if isinstance(value, Opaque):
        raise Untraceable(value.reason)
    return value


def is_dynamic(value: Any) -> bool:
    """A value of the graph (as the real front end's `base_value`), not a compile-time one."""
    return isinstance(value, (Tensor, Descriptor, BlockPointer))
