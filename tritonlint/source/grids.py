"""A launch's grid: its form, which META names it reads, and its value for one candidate."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonlint.source.access import iterate
from tritonlint.source.guards import Choice
from tritonlint.source.knowledge import knowledge
from tritonlint.source.nodes import walk
from tritonlint.source.objects import (
    MISSING,
    Dict,
    Function,
    List,
    Maybe,
    OutOfBudget,
    Partial,
    Raised,
    Symbol,
    Tensor,
)
from tritonlint.source.sites import Grid
from tritonlint.source.values import Bounded, Knowledge, Known, OneOf, Unknown

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Interpreter
    from tritonlint.source.launches import Launch


class Meta(Dict):
    """The dict that a grid function or a heuristic is called with; notes what is read."""

    __slots__ = ("absent", "read")

    def __init__(self, items: Any, absent: Callable[[Any], Any] | None = None) -> None:
        super().__init__(items)
        self.read: dict[Any, None] = {}
        self.absent = absent  # what stands for a name that is not there

    def get(self, key: Any, default: Any = None) -> Any:
        self.read[key] = None
        found = super().get(key, MISSING)
        if found is MISSING and self.absent is not None:
            found = self.absent(key)
        return default if found is MISSING else found


def describe(interp: Interpreter, launch: Launch) -> Grid | None:
    """The grid as a record."""
    node, value = launch.grid_node, launch.grid
    if node is None or value is MISSING:
        return None
    module = launch.environment.module
    form: Any = "unknown"
    shown = value.alternatives[0][1] if isinstance(value, Choice) else value
    if isinstance(shown, Partial):
        shown = shown.function
    meta: dict[str, Any] = {}
    place = module.span(node)
    if isinstance(shown, Function):
        form = "lambda" if isinstance(shown.node, ast.Lambda) else "def"
        meta = _meta_keys(shown)
        if shown.environment.module is module and isinstance(node, ast.Name):
            place = module.span(node)
    elif isinstance(shown, tuple):
        form = "tuple" if isinstance(node, ast.Tuple) else "name"
    elif isinstance(shown, List):
        form = "list"
    elif isinstance(shown, (int, float)) or (isinstance(shown, Symbol) and shown.kind in ("int", "float")):
        form = "scalar"
    elif isinstance(node, ast.Tuple):
        form = "tuple"
    definition = (
        module.span(shown.node)
        if isinstance(shown, Function) and shown.environment.module is module
        else None
    )
    return Grid(place, form, module.source_of(node), meta, definition)


def _meta_keys(function: Function) -> dict[str, Any]:
    """META["..."] in a grid function, each with its place."""
    spec = function.node.args
    parameters = [*spec.posonlyargs, *spec.args]
    if not parameters:
        return {}
    name = parameters[-1].arg
    found: dict[str, Any] = {}
    for node in walk(function.node):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == name
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            found.setdefault(node.slice.value, function.environment.module.span(node))
    return found


def evaluate(
    interp: Interpreter, launch: Launch, meta: dict[str, Any], absent: Callable[[Any], Any] | None = None
) -> tuple[tuple[Knowledge, ...] | None, str, Meta]:
    """(entries or None, problem, what was read) of the grid for one candidate. The caller has set `interp.path`."""
    from tritonlint.source.calls import call
    from tritonlint.source.interpreter import Arguments

    handed = Meta(meta, absent)
    value = launch.grid
    try:
        if isinstance(value, Choice):
            from tritonlint.source.guards import narrow

            value = narrow(value, interp.path)
        if isinstance(value, (Function, Partial)) or (
            isinstance(value, Choice) and any(isinstance(one, (Function, Partial)) for one in value.values)
        ):
            value = call(interp, value, Arguments([handed], {}))
    except Raised as error:
        if error.kind == "KeyError":
            return None, f"unknown-meta:{str(error).removeprefix('KeyError: ')}", handed
        return None, "", handed
    except (OutOfBudget, RecursionError):
        return None, "", handed
    if isinstance(value, Choice):
        return _merged(interp, value, handed)
    return (*_entries(interp, value), handed)


def _entries(interp: Interpreter, value: Any) -> tuple[tuple[Knowledge, ...] | None, str]:
    if isinstance(value, (bool, int, float)) or (
        isinstance(value, Symbol) and value.kind in ("int", "float")
    ):
        return None, "not-a-tuple"
    if isinstance(value, (Symbol, Tensor)):
        return None, ""
    items = iterate(interp, value)
    if items is None or any(isinstance(item, Maybe) for item in items) or isinstance(value, (str, Dict)):
        return None, ""
    entries = tuple(knowledge(interp, item) for item in items)
    for item, entry in zip(items[:3], entries, strict=False):
        if isinstance(item, (tuple, List)):
            return entries, "tuple"
        if isinstance(entry, Known) and isinstance(entry.value, float):
            return entries, "float"
    return entries, ""


def _merged(interp: Interpreter, value: Choice, meta: Meta) -> tuple[tuple[Knowledge, ...] | None, str, Meta]:
    """A grid that hangs on a condition: entry by entry, where all have as many."""
    rows: list[tuple[Knowledge, ...]] = []
    for one in value.values:
        entries, problem = _entries(interp, one)
        if entries is None or problem:
            return None, problem if problem and len(value.values) == 1 else "", meta
        rows.append(entries)
    if len({len(row) for row in rows}) != 1:
        return None, "", meta
    return tuple(union(column) for column in zip(*rows, strict=False)), "", meta


def union(parts: Any) -> Knowledge:
    """What is known where one of several holds."""
    values: list[Any] = []
    lows: list[int | None] = []
    highs: list[int | None] = []
    exact = True
    for part in parts:
        if isinstance(part, Known):
            own: list[Any] = [part.value]
        elif isinstance(part, OneOf):
            own = list(part.values)
        elif isinstance(part, Bounded):
            exact = False
            lows.append(part.low)
            highs.append(part.high)
            continue
        else:
            return part if isinstance(part, Unknown) else Unknown("it is not known")
        for one in own:
            if one not in values:
                values.append(one)
    if exact:
        return Known(values[0]) if len(values) == 1 else OneOf(tuple(values))
    if not all(isinstance(one, int) for one in values):
        return Unknown("it is not known")
    lows.extend(values)
    highs.extend(values)
    low = min(one for one in lows if one is not None) if None not in lows else None
    high = max(one for one in highs if one is not None) if None not in highs else None
    return Bounded(low, high)
