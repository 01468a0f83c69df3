"""Modules that linted files import: of those a file asks for a few names, and they are kept for the files to come.

Functions and classes that begin in column 0 are told by their first line; their trees are made when they are asked for.
The rest is parsed at once, and says which names it binds; the trees of the longer statements are dropped then, and made
again like the others. Where the text cannot be cut like that, it is parsed as a whole.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from tritonlint.source.comments import read_comments
from tritonlint.source.environment import SET_LATER, bindings_among
from tritonlint.source.global_names import set_by_functions
from tritonlint.source.module import Module, first_code_line, parse_file
from tritonlint.source.regions import parse_statements, region_starts
from tritonlint.source.text import Lines, SourceFile, split_lines

_SHORT = 3  # line breaks; the tree of a statement with fewer is not worth making twice
# With a plain name: Python brings others to a normal form.
_DEFINITION = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)[ \t]*[(:\[\\]", re.MULTILINE | re.ASCII)
# Where statements begin is in doubt: a line that goes on in column 0, and quotes in a comment.
_GOES_ON = re.compile(r"\\\n[^\s#]")
_QUOTED_NOTE = re.compile(r"#[^\n]*(?:\"\"\"|''')")
_QUOTES = ('"""', "'''")


def read_imported(file: SourceFile) -> Module:
    """Never raises. It need not say "triton" to be of use."""
    lines = split_lines(file.text)
    parts = None if file.problems or "\f" in file.text else _cut("\n".join(lines))
    if parts is None:
        module = parse_file(file, always=True)
        if module.problems:
            return module
        parts, comments = [_whole(statement) for statement in module.statements], module.comments
    else:
        code = next((part.first for part in parts if not _is_docstring(part.tree)), first_code_line(()))
        comments = read_comments(file.text, file.path, code)
    derived: dict[str, Any] = {"bindings": bindings_among([part.tree or part.name for part in parts])}
    statements = _Statements(lines, parts)
    if "global" in file.text:
        places = ((part.first, part.last) for part in parts)
        derived[SET_LATER] = set_by_functions(lines, statements, places)
    return Module(file, Lines(lines), statements, comments.problems, comments, file.text, derived)


@dataclass(slots=True)
class _Part:
    """A top-level statement: its lines from the first to the last one, with decorators, and its tree or, where that is
    not made yet, the name that it binds."""

    first: int
    last: int
    tree: ast.stmt | None
    name: str = ""


def _cut(text: str) -> list[_Part] | None:
    """The top-level statements of a text with plain line feeds; None where that takes a look at the whole."""
    if _GOES_ON.search(text) or _QUOTED_NOTE.search(text):
        return None
    starts = region_starts(text)
    parts: list[_Part] = []
    rest: list[str] = []
    line, pieces, begun = 1, 0, 0
    for end in [*starts[1:], len(text) + 1]:
        pieces += 1
        body = text[begun : end - 1]
        held = [quotes for quotes in _QUOTES if quotes in body]
        if len(held) > 1:
            return None
        if held and body.count(held[0]) % 2:
            continue  # a text goes on in the next lines
        breaks = text.count("\n", begun, end)
        found = _DEFINITION.search(body) if pieces == 1 and body[:1] in ("@", "d", "c", "a") else None
        if found is not None and held and body.index(held[0]) < found.start():
            found = None  # the decorator holds a text, and that may hold the line
        if found is not None and (body[0] == "@" or not found.start()):
            parts.append(_Part(line, line + body.count("\n"), None, found[1]))
            rest.append("\n" * breaks)
        else:
            rest.append(text[begun:end])
        line += breaks
        pieces, begun = 0, end
    if pieces:
        return None
    try:
        statements = parse_statements("".join(rest))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    parts += [_whole(statement) for statement in statements]
    parts.sort(key=lambda part: part.first)
    return parts if _apart(parts) else None


def _apart(parts: Sequence[_Part]) -> bool:
    """Whether no statement goes over the lines of a function or class that was told by its first line: what stands in
    a text or in brackets is none."""
    last, told = 0, False
    for part in parts:
        if part.first <= last and (told or part.tree is None):
            return False
        if part.last >= last:
            last, told = part.last, part.tree is None
    return True


def _whole(statement: ast.stmt) -> _Part:
    return _Part(*_place(statement), statement)


def _is_docstring(statement: ast.stmt | None) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Statements(Sequence[ast.stmt]):
    """Made once, the tree stays: a kernel is told by its node."""

    def __init__(self, lines: list[str], parts: list[_Part]) -> None:
        self._lines = lines
        self._parts = parts
        ends = [0, *(part.last for part in parts)]
        starts = [*(part.first for part in parts[1:]), len(lines) + 1]
        for number, part in enumerate(parts):
            if part.tree is None or part.last - part.first < _SHORT:
                continue
            if ends[number] < part.first and part.last < starts[number] and self._stands_alone(part.tree):
                part.tree = None

    def _stands_alone(self, statement: ast.stmt) -> bool:
        """Whether its text begins in its first line: the tree has no place for the sign of a decorator."""
        decorated = bool(getattr(statement, "decorator_list", None))
        return not decorated or self._lines[_place(statement)[0] - 1].lstrip().startswith("@")

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, number: int) -> ast.stmt: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[ast.stmt]: ...

    def __getitem__(self, number: int | slice) -> ast.stmt | Sequence[ast.stmt]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        part = self._parts[number]
        if part.tree is None:
            part.tree = self._made(part)
        return part.tree

    def _made(self, part: _Part) -> ast.stmt:
        # Empty lines before it, so that it stands where it stands.
        text = "\n" * (part.first - 1) + "\n".join(self._lines[part.first - 1 : part.last])
        try:
            return parse_statements(text)[0]
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the file does not parse as a whole
            return ast.Pass(lineno=part.first, col_offset=0, end_lineno=part.last, end_col_offset=0)

    def __iter__(self) -> Iterator[ast.stmt]:
        return (self[number] for number in range(len(self)))


def _place(statement: ast.stmt) -> tuple[int, int]:
    """The first and the last line, with decorators."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first: int = min([statement.lineno, *(one.lineno for one in decorators)])
    return first, statement.end_lineno or first
