"""The function that launches: where the values that it passes come from."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from tritonlint.source.nodes import walk
from tritonlint.source.regions import tree_of
from tritonlint.source.text import Lines, split_lines

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_EXPANSIONS = 64


@dataclass(frozen=True, slots=True)
class _Index:
    """What is looked for again and again, found in one walk."""

    functions: tuple[_Function, ...]
    calls: Mapping[tuple[int, int], ast.Call]  # the longest call that starts at a (line, column from 1)


@dataclass(frozen=True, slots=True)
class _Read:
    """A text, and what was looked for in it; `indexes` by the ids of statements."""

    tree: ast.Module | None
    lines: Lines
    indexes: dict[tuple[int, ...], _Index]


# While a file is edited each plan has a text of its own, which the rules ask about in turn.
@lru_cache(maxsize=4)
def _read(source: str) -> _Read:
    tree: ast.Module | None = None
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        tree = tree_of(source)
    return _Read(tree, Lines(split_lines(source)), {})


def _index(source: str, line: int) -> _Index:
    """Of the statements at the top of the file, or of a class, that a line is part of."""
    read = _read(source)
    chosen = _around(read.tree.body if read.tree is not None else [], line)
    key = tuple(map(id, chosen))
    if key not in read.indexes:
        read.indexes[key] = _index_of(chosen, read.lines)
    return read.indexes[key]


def _around(body: Iterable[ast.stmt], line: int) -> list[ast.stmt]:
    chosen = [statement for statement in body if _holds(statement, line)]
    if len(chosen) == 1 and isinstance(chosen[0], ast.ClassDef):
        return _around(chosen[0].body, line) or chosen
    return chosen


def _holds(statement: ast.stmt, line: int) -> bool:
    first: int = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
    return first <= line <= (statement.end_lineno or statement.lineno)


def _index_of(statements: Iterable[ast.stmt], lines: Lines) -> _Index:
    functions: list[_Function] = []
    calls: dict[tuple[int, int], ast.Call] = {}
    for statement in statements:
        for node in walk(statement):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions.append(node)
            elif isinstance(node, ast.Call):
                at = (node.lineno, lines.column(node.lineno, node.col_offset))
                if at not in calls or _end(node) > _end(calls[at]):
                    calls[at] = node
    return _Index(tuple(functions), calls)


def _end(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0)


def enclosing(source: str, line: int) -> _Function | None:
    """The innermost function around a line."""
    found: _Function | None = None
    for node in _index(source, line).functions:
        inside = node.lineno <= line <= (node.end_lineno or node.lineno)
        if inside and (found is None or node.lineno >= found.lineno):
            found = node
    return found


def call_at(source: str, line: int, column: int) -> ast.Call | None:
    """The call that starts at a place (from 1)."""
    return _index(source, line).calls.get((line, column))


@lru_cache(maxsize=16)
def _bindings(function: ast.AST) -> Mapping[str, tuple[tuple[int, ast.expr | None], ...]]:
    """For each name that a function binds: the line, and the expression of a plain assignment (None for any
    other binding: a loop, a with, an augmented assignment)."""
    found: dict[str, list[tuple[int, ast.expr | None]]] = {}
    plain: set[int] = set()
    for node in walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for name, value in _targets(target, node.value):
                    plain.add(id(name))
                    found.setdefault(name.id, []).append((node.lineno, value))
    for node in walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in plain:
            found.setdefault(node.id, []).append((node.lineno, None))
    return {name: tuple(values) for name, values in found.items()}


def _targets(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        for place, item in enumerate(target.elts):
            if isinstance(item, ast.Name):
                yield item, _part(value, place, len(target.elts))


def assigned(function: ast.AST, name: str, before: int) -> ast.expr | None:
    """What the one plain assignment of a name in a function gives it; None where there is none or more than
    one. A name that is unpacked from a tuple gives the tuple's source as `source[i]`."""
    found = [value for line, value in _bindings(function).get(name, ()) if line <= before]
    return found[0] if len(found) == 1 else None


def _part(value: ast.expr, place: int, count: int) -> ast.expr:
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == count:
        return value.elts[place]
    index = ast.Constant(place - count if place == count - 1 else place)
    return ast.Subscript(value=value, slice=index, ctx=ast.Load())


class _Expand(ast.NodeTransformer):
    """Puts in what names were assigned; `budget` holds how many more it may put in."""

    def __init__(self, function: ast.AST, before: int, budget: list[int], depth: int) -> None:
        self.function, self.before, self.budget, self.depth = function, before, budget, depth

    def visit_Name(self, name: ast.Name) -> ast.AST:
        open_ = self.depth and self.budget[0] > 0
        value = assigned(self.function, name.id, self.before) if open_ else None
        if value is None:
            return name
        self.budget[0] -= 1
        inner = _Expand(self.function, self.before, self.budget, self.depth - 1)
        result: ast.AST = inner.visit(copy.deepcopy(value))
        return result


def expanded(function: ast.AST, node: ast.expr, before: int) -> ast.expr:
    """The expression with names replaced by what they were assigned, up to four deep and not without end."""
    result = _Expand(function, before, [_EXPANSIONS], 4).visit(copy.deepcopy(node))
    assert isinstance(result, ast.expr)
    return result


def returned(source: str, function: ast.AST, name: str) -> ast.expr | None:
    """What a function of one return gives, defined in the function or at the top of the file."""
    tree = _read(source).tree
    for scope in (function, tree):
        for node in ast.iter_child_nodes(scope) if scope is not None else ():
            if isinstance(node, ast.FunctionDef) and node.name == name:
                given = [one.value for one in walk(node) if isinstance(one, ast.Return)]
                return given[0] if len(given) == 1 else None
    return None


def plain_number(source: str, function: ast.AST | None, node: ast.expr, before: int) -> int | None:
    """A number as written, or a name that is bound to one once, in the function or at the top of the file."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if not isinstance(node, ast.Name):
        return None
    tree = _read(source).tree
    if function is not None:
        arguments = getattr(function, "args", None)
        if arguments is not None and any(
            one.arg == node.id for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        ):
            return None
        bound = _bindings(function).get(node.id, ())
        if bound:
            value = assigned(function, node.id, before) if len(bound) == 1 else None
            return plain_number(source, None, value, before) if isinstance(value, ast.Constant) else None
    found = [
        statement.value
        for statement in (tree.body if tree is not None else ())
        if isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == node.id for target in statement.targets)
    ]
    return (
        plain_number(source, None, found[0], before)
        if len(found) == 1 and isinstance(found[0], ast.Constant)
        else None
    )


def bound_again(source: str, name: str) -> bool:
    """Whether a name is also assigned at the top of the file: a kernel that is wrapped by hand."""
    tree = _read(source).tree
    return any(
        isinstance(target, ast.Name) and target.id == name
        for statement in (tree.body if tree is not None else ())
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )


def several_kernels(source: str, call: ast.Call, kernel: str) -> bool:
    """Whether the launched name may stand for several kernels: bound more than once in its function, or by a
    choice. Which kernel it is may then go with other values that are not known here."""
    target = call.func.value if isinstance(call.func, (ast.Subscript, ast.Attribute)) else call.func
    if not isinstance(target, ast.Name) or target.id == kernel:
        return not isinstance(target, (ast.Name, ast.Attribute))
    function = enclosing(source, call.lineno)
    if function is None:
        return False
    bound = _bindings(function).get(target.id, ())
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    if len(bound) > 1 or any(argument.arg == target.id for argument in given):
        return True
    return bool(bound) and not isinstance(bound[0][1], (ast.Name, ast.Attribute, ast.Call))


def argument(call: ast.Call, names: list[str], name: str) -> ast.expr | None:
    """The expression that a call passes for a parameter."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    place = names.index(name) if name in names else -1
    plain = not any(isinstance(item, ast.Starred) for item in call.args[: place + 1])
    return call.args[place] if plain and 0 <= place < len(call.args) else None
