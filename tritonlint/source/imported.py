"""Modules that linted files import: read whole, kept in part.

Of an imported module a file asks for a few names, and the module is kept for the files to come. Which names its
statements bind is worked out once; the trees of the longer ones are dropped then, and made again from their lines when
one is asked for. The text parsed as a whole, so that what stands on the same lines is the same statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import overload

from tritonlint.source.environment import bindings_of
from tritonlint.source.module import Module
from tritonlint.source.regions import parse_statements

_SHORT = 3  # line breaks; the tree of a statement with fewer is not worth making twice


def spared(module: Module) -> Module:
    """The module with trees of longer statements that are made when they are asked for."""
    bindings = bindings_of(module)
    if module.problems:
        return module  # the text does not parse as a whole
    statements = _Statements(module)
    return replace(module, statements=statements, derived={"bindings": bindings})


class _Statements(Sequence[ast.stmt]):
    """Made once, the tree stays: a kernel is told by its node."""

    def __init__(self, module: Module) -> None:
        self._lines = module.lines.lines
        self._made: list[ast.stmt | None] = list(module.statements)
        self._places = [_place(statement) for statement in module.statements]
        ends = [0, *(last for _, last in self._places)]
        starts = [*(first for first, _ in self._places[1:]), len(self._lines) + 1]
        for number, (first, last) in enumerate(self._places):
            if last - first < _SHORT or not self._stands_alone(module.statements[number], first):
                continue
            if ends[number] < first and last < starts[number]:
                self._made[number] = None

    def _stands_alone(self, statement: ast.stmt, first: int) -> bool:
        """Whether its text begins in that line: the tree has no place for the sign of a decorator."""
        decorated = bool(getattr(statement, "decorator_list", None))
        return not decorated or self._lines[first - 1].lstrip().startswith("@")

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, number: int) -> ast.stmt: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[ast.stmt]: ...

    def __getitem__(self, number: int | slice) -> ast.stmt | Sequence[ast.stmt]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        made = self._made[number]
        if made is None:
            first, last = self._places[number]
            # Empty lines before it, so that it stands where it stands.
            text = "\n" * (first - 1) + "\n".join(self._lines[first - 1 : last])
            made = self._made[number] = parse_statements(text)[0]
        return made

    def __iter__(self) -> Iterator[ast.stmt]:
        return (self[number] for number in range(len(self)))


def _place(statement: ast.stmt) -> tuple[int, int]:
    """The first and the last line, with decorators."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first: int = min([statement.lineno, *(one.lineno for one in decorators)])
    return first, statement.end_lineno or first
