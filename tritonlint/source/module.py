"""One parsed file: its statements, where its nodes stand, its comments, its problems."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tritonlint.source.comments import Comments, read_comments
from tritonlint.source.problem import Problem
from tritonlint.source.regions import parse
from tritonlint.source.text import Lines, SourceFile, split_lines
from tritonlint.span import Span

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A file that was parsed. Compared by identity, so that what is derived from it can be kept with it."""

    file: SourceFile
    lines: Lines
    statements: Sequence[ast.stmt]
    problems: tuple[Problem, ...]
    comments: Comments
    sound: str = ""  # the text with blank lines where it does not parse
    derived: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def text(self) -> str:
        return self.file.text

    def span(self, node: ast.AST) -> Span:
        return self.lines.span(node)

    def once(self, name: str, make: Callable[[Module], Made]) -> Made:
        """What `make` gives for this module, kept under a name for as long as the module lives."""
        if name not in self.derived:
            self.derived[name] = make(self)
        made: Made = self.derived[name]
        return made

    def source_of(self, node: ast.AST, limit: int = 80) -> str:
        """The text of a node on one line, shortened to `limit` characters."""
        text = " ".join(self.lines.text_of(self.span(node)).split())
        return text if len(text) <= limit else text[: limit - 3] + "..."


def parse_file(file: SourceFile, always: bool = False, keep: bool = False) -> Module:
    """Never raises: syntax errors are problems, and what does parse is kept. A file that never says "triton" is not
    parsed, unless `always`. `keep` as in `regions.parse`."""
    lines = Lines(split_lines(file.text))
    if file.kind == "tuned" or not (always or file.mentions_triton):
        return Module(file, lines, (), file.problems, Comments(), file.text)
    parsed = parse(file.text, file.path, keep)
    comments = read_comments(file.text, file.path, first_code_line(parsed.statements))
    problems = (*file.problems, *parsed.problems, *comments.problems)
    return Module(file, lines, parsed.statements, problems, comments, parsed.sound)


def first_code_line(statements: Iterable[ast.stmt]) -> int:
    """The line of the first statement that is no docstring."""
    for statement in statements:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        return min([statement.lineno, *(node.lineno for node in decorators)])
    return 1 << 30
