"""Front-end values as lists of graph values, for what loops and branches carry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tritonlint.kernel.graph import Val
from tritonlint.kernel.values import BlockPointer, Descriptor, Record, Tensor


def flatten(value: Any) -> list[Val]:
    """The graph values that a front-end value is made of; none for a compile-time value."""
    if isinstance(value, Tensor):
        return [value.h]
    if isinstance(value, tuple):
        return [v for item in value for v in flatten(item)]
    if isinstance(value, Descriptor):
        own = [] if value.h is None else [value.h]
        base = [] if value.h is not None or value.base is None else [value.base.h]
        return [*own, *base, *[x.h for x in (*value.sizes, *value.strides, *value.wide)]]
    if isinstance(value, BlockPointer):
        return [value.base.h, *[x.h for x in (*value.sizes, *value.strides, *value.offsets)]]
    return []


def _tensor(old: Tensor, values: Iterator[Val]) -> Tensor:
    return Tensor(next(values), old.dt, old.shape)


def rebuild(old: Any, values: Iterator[Val]) -> Any:
    """A value like `old`, of other graph values."""
    if isinstance(old, Tensor):
        return _tensor(old, values)
    if isinstance(old, tuple):
        items = tuple([rebuild(item, values) for item in old])
        return Record.of(items, old.fields) if isinstance(old, Record) else items
    if isinstance(old, Descriptor):
        h = None if old.h is None else next(values)
        base = old.base if old.h is not None or old.base is None else _tensor(old.base, values)
        sizes = tuple([_tensor(x, values) for x in old.sizes])
        strides = tuple([_tensor(x, values) for x in old.strides])
        wide = tuple([_tensor(x, values) for x in old.wide])
        return Descriptor(h, old.dt, old.block, base, sizes, strides, old.padding, wide)
    if isinstance(old, BlockPointer):
        base = _tensor(old.base, values)
        sizes = tuple([_tensor(x, values) for x in old.sizes])
        strides = tuple([_tensor(x, values) for x in old.strides])
        offsets = tuple([_tensor(x, values) for x in old.offsets])
        return BlockPointer(base, sizes, strides, offsets, old.block, old.dt)
    return old


def differing(x: Any, y: Any) -> str:
    """What two values that should be of one type differ in: "shape", whatever the types of the arguments, or "type"."""
    return "shape" if isinstance(x, Tensor) and isinstance(y, Tensor) and x.shape != y.shape else "type"


def same_kind(x: Any, y: Any) -> bool:
    """Whether the two have the same type, so that a loop or a branch may carry them under one name."""
    if isinstance(x, Tensor):
        return isinstance(y, Tensor) and x.dt is y.dt and x.shape == y.shape
    if isinstance(x, tuple):
        return (
            isinstance(y, tuple)
            and len(x) == len(y)
            and all(same_kind(p, q) for p, q in zip(x, y, strict=False))
        )
    if isinstance(x, Descriptor):
        return (
            isinstance(y, Descriptor)
            and x.dt is y.dt
            and x.block == y.block
            and (x.h is None) == (y.h is None)
        )
    if isinstance(x, BlockPointer):
        return isinstance(y, BlockPointer) and x.dt is y.dt and x.block == y.block
    return type(x) is type(y) and (x is y or bool(x == y))


class Slots:
    """The names that come out of two branches."""

    __slots__ = ("left", "likes", "plain", "right")

    def __init__(self) -> None:
        self.left: list[Val] = []
        self.right: list[Val] = []
        self.likes: list[tuple[str, Any]] = []
        self.plain: dict[str, Any] = {}  # known without asking which branch was taken

    def add(self, name: str, x: Any, y: Any) -> None:
        self.likes.append((name, x))
        self.left.extend(flatten(x))
        self.right.extend(flatten(y))

    def rebuilt(self, results: list[Val]) -> dict[str, Any]:
        """Every name with its value after the branches."""
        values = iter(results)
        made = {name: rebuild(like, values) for name, like in self.likes}
        made.update(self.plain)
        return made
