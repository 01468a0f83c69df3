"""Text to syntax trees, also where the whole does not parse.

`ast` reads (7 ms per 1,000 lines, where libcst takes 67 to 660). When the whole file does not parse, it is cut into
top-level regions, and each is parsed on its own, so that half-typed code costs one statement and not the file.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import OrderedDict
from dataclasses import dataclass

from tritonlint.source.collecting import collection_paused
from tritonlint.source.problem import Problem
from tritonlint.source.text import split_lines
from tritonlint.span import Span

# A line in column 0 that goes on with the statement before it, not a new one.
_CONTINUES = re.compile(r"(else|elif|except|finally)\b|[)\]}]")
_MARGIN = re.compile(r"\n[^\s#]")  # a line that begins in column 0; a plain character first is quick to find


@dataclass(frozen=True, slots=True)
class Parsed:
    """`sound` is the text with blank lines where it does not parse."""

    statements: tuple[ast.stmt, ...]
    problems: tuple[Problem, ...]
    sound: str


_KEPT = 4
_kept: OrderedDict[str, ast.Module] = OrderedDict()


def tree_of(text: str) -> ast.Module:
    """The tree of a whole text; the one that `parse` kept, if it did. Raises as ast.parse does."""
    return _kept.get(text) or _parse(text)


def parse(text: str, path: str, keep: bool = False) -> Parsed:
    """The top-level statements, with a problem for each syntax error. Never raises. `keep`: the same text is soon asked
    for again with `tree_of`."""
    try:
        tree = _parse(text)
        if keep:
            _kept[text] = tree
            while len(_kept) > _KEPT:
                _kept.popitem(last=False)
        return Parsed(tuple(tree.body), (), text)
    except SyntaxError as error:
        first = problem_of(error, path)
    except (RecursionError, MemoryError):
        first = Problem("syntax", "the code is nested too deeply to be parsed", path, Span(1, 1, 1, 1))
    except ValueError as error:
        first = Problem("syntax", str(error), path, Span(1, 1, 1, 1))
    statements: list[ast.stmt] = []
    problems: list[Problem] = []
    sound: list[str] = []
    for start, body in regions(text):
        sound.append("\n" * body.count("\n"))
        try:
            found = parse_statements(body)
        except SyntaxError as error:
            problems.append(problem_of(error, path, start))
            continue
        except (RecursionError, MemoryError):
            place = Span(start + 1, 1, start + 1, 1)
            problems.append(Problem("syntax", "the code is nested too deeply to be parsed", path, place))
            continue
        except ValueError:
            continue
        sound[-1] = body
        for statement in found:
            ast.increment_lineno(statement, start)
        statements.extend(found)
    # The whole file is refused, whatever the regions say: at least one error stands. Several regions can break by one
    # mistake (an open bracket), and Python would name one error only: so do we.
    problem = first if not problems else _nearest(first, problems)
    line_end = "\r\n" if "\r\n" in text else "\n"
    return Parsed(tuple(statements), (problem,), "\n".join(sound).replace("\n", line_end))


def parse_statements(text: str) -> list[ast.stmt]:
    """Raises what `ast.parse` raises."""
    return _parse(text).body


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings(), collection_paused():
        warnings.simplefilter("ignore")  # invalid escapes are the user's other linter's business
        return ast.parse(text)


def _nearest(first: Problem, problems: list[Problem]) -> Problem:
    """Python's own error where it has a place, else the first of the regions'."""
    return first if first.span != Span(1, 1, 1, 1) or not problems else problems[0]


def problem_of(error: SyntaxError, path: str, offset: int = 0) -> Problem:
    """A syntax error; `offset` is the number of lines before the text that was parsed."""
    line = max(error.lineno or 1, 1) + offset
    column = max(error.offset or 1, 1)
    end_line = max((error.end_lineno or 0) + offset, line) if error.end_lineno else line
    end_column = error.end_offset or 0
    if end_line == line and end_column <= column:
        end_column = column
    return Problem(
        "syntax", error.msg or "invalid syntax", path, Span(line, column, end_line, max(end_column, 1))
    )


def regions(text: str) -> list[tuple[int, str]]:
    """Runs of lines that each hold one top-level statement: (lines before it, text)."""
    text = with_line_feeds(text)
    starts = region_starts(text)
    found: list[tuple[int, str]] = []
    before = 0
    for start, end in zip(starts, [*starts[1:], len(text) + 1], strict=True):
        found.append((before, text[start : end - 1]))
        before += text.count("\n", start, end)
    return found


def region_starts(text: str) -> list[int]:
    """Where in a text with plain line feeds the lines begin that start a top-level statement; the first is 0."""
    found = [0]
    decorated = text.startswith("@")
    for match in _MARGIN.finditer(text):
        at = match.start() + 1
        if _CONTINUES.match(text, at):
            continue
        # A decorator line is glued to the statement below it; the line below a decorator starts nothing new.
        if not decorated:
            found.append(at)
        decorated = text[at] == "@"
    return found


def with_line_feeds(text: str) -> str:
    """The same lines, each ended by a line feed."""
    return "\n".join(split_lines(text)) if "\r" in text else text
