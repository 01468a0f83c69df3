"""The names of a module that its functions set (`global BLOCK`): they are not what the module gave them first."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from tritonlint.source.nodes import children

# Every line with a `global` statement is one of these: nothing but a statement or the head of a block stands before it.
_LINE = re.compile(r"(?:^|[;:])[ \t\f]*global(?:[ \t\f\\]|$)")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def set_by_functions(
    lines: Sequence[str], statements: Sequence[ast.stmt], places: Iterable[tuple[int, int]]
) -> frozenset[str]:
    """The names that the functions of a module set. `places` are the first and the last line, from 1, of each top-level
    statement: only those with a `global` in them are asked for."""
    wanted = [number for number, line in enumerate(lines, 1) if "global" in line and _LINE.search(line)]
    if not wanted:
        return frozenset()
    found: set[str] = set()
    for number, (first, last) in enumerate(places):
        if any(first <= line <= last for line in wanted):
            found |= globals_set(statements[number])
    return frozenset(found)


def globals_set(node: ast.AST) -> frozenset[str]:
    """The names that functions and classes in a statement, it included, declare `global` and bind or delete."""
    found: set[str] = set()
    stack = [node]
    while stack:
        scope = stack.pop()
        declared: set[str] = set()
        bound: set[str] = set()
        inside = _parts(scope)
        for one in inside:  # grows on the way
            if isinstance(one, ast.Global):
                declared.update(one.names)
            bound.update(_bound(one))
            if isinstance(one, (*_FUNCTIONS, ast.ClassDef)):
                stack.append(one)
                body = set(map(id, _parts(one)))
                inside += [part for part in children(one) if id(part) not in body]
                continue
            # What a comprehension runs over is its own name.
            inside += [one.iter, *one.ifs] if isinstance(one, ast.comprehension) else children(one)
        if isinstance(scope, (*_FUNCTIONS, ast.ClassDef)):
            found |= declared & bound
    return frozenset(found)


def _parts(scope: ast.AST) -> list[ast.AST]:
    """What is evaluated with the names of a function or class: its body. Of another node, the node."""
    if isinstance(scope, ast.Lambda):
        return [scope.body]
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return list(scope.body)
    return [scope]


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds or deletes."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.split(".")[0]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
