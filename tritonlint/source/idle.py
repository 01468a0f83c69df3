"""What stands in a function and does nothing yet: half of what is typed, before it is used.

`text_without` is the text of a function for which it does not matter to those who call it whether such a statement is
there, or how it is spelt so far.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tritonlint.source.nodes import walk
from tritonlint.source.text import Lines

_PURE = (
    ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple,
    ast.Subscript, ast.Slice,
)  # fmt: skip
_ALL_NAMES = frozenset({"locals", "vars", "eval", "exec", "dir"})  # may use any name
_SAYS_NOTHING = re.compile(r"\s*;?\s*(#.*)?")


def text_without(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: tuple[str, ...], first: int) -> str:
    """The text of a function from `lines`, the first of which is number `first`: without comments behind statements, and
    without expressions that nothing is done with and values of names that are used nowhere. Other text stays in its
    line and column."""
    nodes = walk(function)
    used = {one.id for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Store)}
    if used & _ALL_NAMES:
        return "\n".join(lines)
    for one in nodes:
        if isinstance(one, (ast.Global, ast.Nonlocal)):
            used.update(one.names)
    found = list(lines)
    places = Lines(found)
    for statement in sorted(_simple(nodes), key=lambda one: (one.lineno, one.col_offset), reverse=True):
        span = places.span(statement)
        line = found[span.end_line - first]
        # Columns of what was cut behind it do not matter any more.
        if not _SAYS_NOTHING.fullmatch(line, span.end_column - 1):
            continue
        line = line[: span.end_column - 1]
        if span.line == span.end_line and _idle(statement, used):
            line = line[: span.column - 1].rstrip().removesuffix(";").rstrip()
        found[span.end_line - first] = line
    return "\n".join(found)


def _simple(nodes: list[ast.AST]) -> Iterator[ast.stmt]:
    """The statements that hold no others."""
    return (
        one
        for one in nodes
        if isinstance(one, ast.stmt) and not hasattr(one, "body") and not hasattr(one, "cases")
    )


def _idle(statement: ast.stmt, used: set[str]) -> bool:
    if isinstance(statement, ast.Assign):
        if any(isinstance(one, ast.Name) and one.id in used for one in statement.targets):
            return False
    elif not isinstance(statement, ast.Expr):
        return False
    return binds_only(statement)


def binds_only(statement: ast.stmt) -> bool:
    """Whether a statement does no more than bind names, to what is imported or needs no call."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(statement, ast.Assign):
        if not all(isinstance(one, ast.Name) for one in statement.targets):
            return False
    elif not isinstance(statement, ast.Expr):
        return False
    return all(isinstance(one, _PURE) for one in walk(statement.value))
