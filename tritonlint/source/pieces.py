"""A text that is edited, in pieces of one top-level statement each, which are parsed once for as long as they stay.

A piece keeps its place in a text of its own (the pinned text), in which there is room between the pieces. So what was
found out about a statement stays true while lines come and go above it, and its syntax tree is kept as it is; in the
end pinned lines are turned into those of the file.

The statements are those that `regions.parse` gives for the whole text: Python reads a file statement by statement, so
that the statements of a file that parses are those of its parts.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tritonlint.source.problem import Problem
from tritonlint.source.regions import parse_statements, problem_of, region_starts, with_line_feeds
from tritonlint.span import Span

_ROOM = 40  # blank lines behind a piece, at least
_SAYS_NOTHING = re.compile(r"\s*(#|$)")  # a blank line or a comment


class NotInPiecesError(Exception):
    """The text is to be read as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A run of lines. `line` is its first line in the pinned text, in which its statements count. One that is not
    `sound` does not parse, and has no statements."""

    text: str
    line: int
    count: int
    statements: tuple[ast.stmt, ...]
    sound: bool
    parts: int = 1  # how many runs of lines it was joined from, since a string goes over the borders
    lines: tuple[str, ...] = field(init=False, repr=False)  # of the text

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", tuple(self.text.split("\n")))

    @property
    def end(self) -> int:
        """The line behind the last one."""
        return self.line + self.count

    @property
    def key(self) -> tuple[int, str]:
        """The same for the same text at the same place."""
        return (self.line, self.text)


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """All pieces of a text, in order; `first_lines` are their first lines in the file."""

    pieces: tuple[Piece, ...]
    first_lines: tuple[int, ...]
    pinned: tuple[int, ...]
    error: SyntaxError | None  # of the file, in its own lines

    def number_at(self, pinned_line: int) -> int | None:
        """The number of the piece on a pinned line."""
        number = bisect_right(self.pinned, pinned_line) - 1
        return number if number >= 0 and pinned_line < self.pieces[number].end else None

    def real(self, pinned_line: int) -> int:
        """A pinned line as a line of the file. One that is none of the pinned text stays."""
        number = self.number_at(pinned_line)
        if number is None:
            return pinned_line
        return self.first_lines[number] + pinned_line - self.pinned[number]

    def pin(self, line: int) -> int:
        """A line of the file as a line of the pinned text."""
        number = max(bisect_right(self.first_lines, line) - 1, 0)
        return self.pinned[number] + line - self.first_lines[number]

    def lines(self, chosen: frozenset[int] | None = None) -> list[str]:
        """The lines of the pinned text; the others than the chosen pieces are blank."""
        found: list[str] = []
        for number, piece in enumerate(self.pieces):
            if chosen is None or number in chosen:
                found.extend([""] * (piece.line - 1 - len(found)))
                found.extend(piece.lines)
        return found


def pieces_of(text: str, before: Pieces | None = None) -> Pieces:
    """The pieces of a text; those at its ends that stand in the text `before` as well are the same objects. Raises
    NotInPiecesError for a text that is to be read as a whole."""
    parts = _parts(text)
    pieces = _kept_and_new(parts, before.pieces) if before is not None else None
    if pieces is None:
        pieces = _pinned(parts)
    error = None
    if not all(piece.sound for piece in pieces):
        pieces, error = _judged(pieces, text)
    first_lines, at = [], 1
    for piece in pieces:
        first_lines.append(at)
        at += piece.count
    return Pieces(tuple(pieces), tuple(first_lines), tuple(piece.line for piece in pieces), error)


def syntax_problem(error: SyntaxError, path: str) -> Problem:
    """The problem that `regions.parse` reports. Raises NotInPiecesError where it has none with a place."""
    problem = problem_of(error, path)
    if problem.span == Span(1, 1, 1, 1):
        raise NotInPiecesError
    return problem


def _parts(text: str) -> list[str]:
    """Runs of lines of one top-level statement. Blank lines and comments before a statement belong to it."""
    text = with_line_feeds(text)
    starts = [0]
    for start in region_starts(text)[1:]:
        moved = start
        while moved > starts[-1]:
            before = text.rfind("\n", 0, moved - 1) + 1
            if not _SAYS_NOTHING.match(text, before, moved - 1):
                break
            moved = before
        if moved > starts[-1]:
            starts.append(start if text.endswith("\\\n", 0, moved) else moved)
    ends = [*starts[1:], len(text) + 1]
    return [text[start : end - 1] for start, end in zip(starts, ends, strict=True)]


def _piece(text: str, line: int, parts: int = 1) -> Piece:
    count = text.count("\n") + 1
    try:
        statements = tuple(parse_statements("\n" * (line - 1) + text))
    except SyntaxError:
        return Piece(text, line, count, (), False, parts)
    except (RecursionError, MemoryError, ValueError) as error:
        raise NotInPiecesError from error
    return Piece(text, line, count, statements, True, parts)


def _pinned(parts: Sequence[str]) -> list[Piece]:
    """New pieces with room behind each."""
    pieces: list[Piece] = []
    line = 1
    for part in parts:
        pieces.append(_piece(part, line))
        line = pieces[-1].end + max(_ROOM, pieces[-1].count)
    return pieces


def _kept_and_new(parts: Sequence[str], old: Sequence[Piece]) -> list[Piece] | None:
    """The old pieces at both ends as far as they are the same, and new ones between; None where there is no room for
    these."""
    first, head = _common(parts, old)
    last, tail = _common(parts[first:][::-1], old[len(head) :][::-1], reverse=True)
    tail = tail[::-1]
    middle = parts[first : len(parts) - last]
    places = [piece.line for piece in old[len(head) : len(old) - len(tail)]]
    counts = [part.count("\n") + 1 for part in middle]
    line = head[-1].end if head else 1
    limit = tail[0].line if tail else None
    made: list[Piece] = []
    for number, part in enumerate(middle):
        wanted = places[number] if number < len(places) else line + (_ROOM if limit is None else 0)
        needed = sum(counts[number:])
        if wanted >= line and (limit is None or wanted + needed <= limit):
            line = wanted
        elif limit is not None and line + needed > limit:
            return None
        made.append(_piece(part, line))
        line = made[-1].end
    return [*head, *made, *tail]


def _common(parts: Sequence[str], old: Sequence[Piece], reverse: bool = False) -> tuple[int, list[Piece]]:
    """How many parts from the start are old pieces, and those."""
    found: list[Piece] = []
    at = 0
    for piece in old:
        own = parts[at : at + piece.parts]
        text = own[0] if len(own) == 1 else "\n".join(own[::-1] if reverse else own)
        if not own or text != piece.text:
            break
        found.append(piece)
        at += piece.parts
    return at, found


def _judged(pieces: Sequence[Piece], text: str) -> tuple[list[Piece], SyntaxError | None]:
    """Where some pieces do not parse: joined where the file does, and as they stand with its error where it does not."""
    first = next(number for number, piece in enumerate(pieces) if not piece.sound)
    lines_before = sum(piece.count for piece in pieces[:first])
    # What stands before parses; with other line ends Python counts in its own way.
    rest = "\n" * lines_before + "\n".join(piece.text for piece in pieces[first:])
    try:
        statements = parse_statements(text if "\r" in text else rest)
    except SyntaxError as error:
        return list(_apart(pieces)), error
    except (RecursionError, MemoryError, ValueError) as error:
        raise NotInPiecesError from error
    return [*pieces[:first], *_joined(pieces[first:], lines_before, statements)], None


def _apart(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Each run of lines on its own."""
    for piece in pieces:
        if piece.parts == 1:
            yield piece
            continue
        line = piece.line
        for part in _parts(piece.text):
            yield _piece(part, line)
            line += part.count("\n") + 1


def _joined(pieces: Sequence[Piece], lines_before: int, statements: Sequence[ast.stmt]) -> Iterator[Piece]:
    """Pieces that a statement goes over become one."""
    borders: list[int] = []  # the first line of each piece in the file
    at = lines_before + 1
    for piece in pieces:
        borders.append(at)
        at += piece.count
    crossed: set[int] = set()
    for statement in statements:
        if statement.lineno <= lines_before:
            continue
        low = bisect_right(borders, statement.lineno)
        crossed.update(range(low, bisect_right(borders, statement.end_lineno or statement.lineno)))
    number = 0
    while number < len(pieces):
        end = number + 1
        while end in crossed:
            end += 1
        if end == number + 1:
            made = pieces[number]
        else:
            group = pieces[number:end]
            text = "\n".join(piece.text for piece in group)
            made = _piece(text, group[0].line, sum(piece.parts for piece in group))
        if not made.sound:
            raise NotInPiecesError
        yield made
        number = end
