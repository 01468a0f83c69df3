"""The evaluator's own values. Numbers, strings, tuples and None are Python's; the rest is here.

None of these leaves the room: what the other rooms see are the records of values.py and sites.py.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tritonlint.quick import quick
from tritonlint.source.guards import Guards, Raised
from tritonlint.span import Span

if TYPE_CHECKING:
    from tritonlint.source.environment import Environment, Frame


class Symbol:
    """A value that is not known, with what is known about it.

    `key` says structurally where it comes from, so that the same unknown asked for twice is the same (a condition on
    it is then decided alike in both places). `low` and `high` bound a number.
    """

    __slots__ = ("high", "key", "kind", "low", "multiple_of", "power_of_two", "reason")

    def __init__(
        self,
        key: Any,
        reason: str,
        low: int | None = None,
        high: int | None = None,
        power_of_two: bool = False,
        multiple_of: int = 1,
        kind: str = "",
    ) -> None:
        self.key = key
        self.reason = reason
        self.low = low
        self.high = high
        self.power_of_two = power_of_two
        self.multiple_of = multiple_of
        self.kind = kind  # "int", "float", "bool", "str", "tensor", "dtype" where the code shows it

    def __repr__(self) -> str:
        return f"Symbol({self.reason!r}, {self.low}, {self.high})"


class List(list[Any]):
    """A list that can be rolled back: see journal.py. Items may be `Maybe`."""

    __slots__ = ("origin",)
    origin: Origin | None

    def __init__(self, items: Iterable[Any] = (), origin: Origin | None = None) -> None:
        super().__init__(items)
        self.origin = origin

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


class Dict(dict[Any, Any]):
    """A dict that remembers where its values were written."""

    __slots__ = ("default_factory", "origins")

    def __init__(self, items: Any = (), origins: dict[Any, Origin] | None = None) -> None:
        super().__init__(items)
        self.origins: dict[Any, Origin] = dict(origins or {})
        self.default_factory: Any = None

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


class AskedDict(Dict):
    """A dict whose values are made by `ask` of their keys when they are first read; all of them before it changes."""

    __slots__ = ("_ask", "_open")

    def __init__(self, keys: Iterable[Any], ask: Callable[[Any], Any]) -> None:
        super().__init__(dict.fromkeys(keys))
        self._ask = ask
        self._open = set(super().keys())

    def __getitem__(self, key: Any) -> Any:
        if key in self._open:
            self._open.remove(key)
            super().__setitem__(key, self._ask(key))
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[Any]:
        # As it is; but dict() of one that has an __iter__ of its own reads item by item.
        return super().__iter__()

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 (that would be this method again)

    def values(self) -> Any:
        return [self[key] for key in self]

    def items(self) -> Any:
        return [(key, self[key]) for key in self]


def _settled_first(change: Callable[..., Any]) -> Callable[..., Any]:
    def changed(target: AskedDict, *arguments: Any) -> Any:
        target.values()
        return change(target, *arguments)

    return changed


for _name in ("__setitem__", "__delitem__", "pop", "popitem", "setdefault", "clear", "update"):
    setattr(AskedDict, _name, _settled_first(getattr(dict, _name)))


class Set(set[Any]):
    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


Container = List | Dict | Set


@quick
@dataclass(frozen=True, slots=True)
class Origin:
    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class Maybe:
    """A list item that is there under some conditions only."""

    when: tuple[Guards, ...]
    value: Any


@quick
@dataclass(frozen=True, slots=True)
class External:
    """Something of a package that is not read (triton, torch, the standard library), by its full dotted name."""

    dotted: str


@dataclass(slots=True, eq=False)
class Function:
    """A function, method or lambda of a file that was read."""

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    environment: Environment
    closure: Frame | None = None
    owner: Class | None = None
    bound: Any = None  # the instance or class that is passed first
    kind: str = "function"  # "static", "class", "property"
    wraps: Any = None  # functools.wraps(fn): what it stands for
    decorators: tuple[ast.expr, ...] = ()


@dataclass(slots=True, eq=False)
class Class:
    name: str
    node: ast.ClassDef
    environment: Environment
    bases: tuple[Any, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    is_enum: bool = False
    is_dataclass: bool = False
    fields: tuple[str, ...] = ()

    def find(self, name: str) -> Any:
        """The attribute here or in a base that was read; MISSING where there is none."""
        if name in self.attributes:
            return self.attributes[name]
        for base in self.bases:
            if isinstance(base, Class):
                found = base.find(name)
                if found is not MISSING:
                    return found
        return MISSING

    def external_bases(self) -> list[str]:
        """Dotted names of the bases, near and far, that were not read."""
        names: list[str] = []
        for base in self.bases:
            if isinstance(base, External):
                names.append(base.dotted)
            elif isinstance(base, Class):
                names.extend(base.external_bases())
        return names


class Asked(dict[str, Any]):
    """Attributes that are made when they are first asked for; `ask` gives MISSING for those that there are not."""

    def __init__(self, ask: Callable[[str], Any]) -> None:
        super().__init__()
        self._ask = ask

    def get(self, name: str, default: Any = None) -> Any:
        if not super().__contains__(name):
            found = self._ask(name)
            if found is MISSING:
                return default
            self[name] = found
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return self.get(str(name), MISSING) is not MISSING

    def copy(self) -> Asked:
        made = Asked(self._ask)
        made.update(self)
        return made


@dataclass(slots=True, eq=False)
class Instance:
    cls: Any  # Class, or a name for made-up objects (device properties)
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class EnumMember:
    cls: Class
    name: str
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class ModuleValue:
    environment: Environment


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    function: Any
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    keyword_origins: dict[str, Origin] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Native:
    """A callable that the evaluator itself provides: `call(arguments, keywords)`."""

    name: str
    call: Callable[[list[Any], dict[str, Any]], Any]


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A bound method of a value that is not an Instance: `[].append`, `"".join`, `x.numel`."""

    receiver: Any
    name: str


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A torch tensor: `dtype` is a DType or a Symbol, `shape` a tuple of values or None, `dense` whether it was made
    contiguous."""

    key: Any
    dtype: Any
    shape: tuple[Any, ...] | None = None
    dense: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Descriptor:
    """A host-side tensor descriptor."""

    dtype: Any
    block_shape: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class TypeValue:
    """A Python type as a value: int, list, ..."""

    name: str


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class OutOfBudget(Exception):
    """Evaluating took more steps than one site may."""


__all__ = [
    "MISSING", "Class", "Container", "Descriptor", "Dict", "EnumMember", "External", "Function", "Instance", "List",
    "Maybe", "Method", "ModuleValue", "Native", "Origin", "OutOfBudget", "Partial", "Raised", "Set", "Symbol", "Tensor",
    "TypeValue",
]  # fmt: skip
