"""Bytes to text: encodings, line ends, and the place of a syntax-tree node in lines and code points."""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tritonlint.disk import MAX_BYTES, read_regular, too_large
from tritonlint.source.problem import Problem
from tritonlint.span import Span

FileKind = Literal["python", "notebook", "tuned"]
_LINE_END = re.compile(r"\r\n|\r|\n")
_NOTHING = Span(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell of a notebook: its number among all cells (from 0), its id, and the lines of the joined module that
    it gave (from 1, last one included)."""

    index: int
    id: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as text. For a notebook, `text` is its code cells one after the other and `cells` says which is which."""

    path: str
    text: str
    kind: FileKind = "python"
    encoding: str = "utf-8"
    problems: tuple[Problem, ...] = ()
    cells: tuple[Cell, ...] = ()

    @property
    def mentions_triton(self) -> bool:
        """Whether the file can hold anything of interest at all: the cheap question, asked before parsing."""
        return "triton" in self.text


def kind_of(path: str) -> FileKind:
    if path.endswith(".ipynb"):
        return "notebook"
    return "tuned" if path.endswith(".json") else "python"


def split_lines(text: str) -> list[str]:
    """The lines as Python and LSP count them (line feed, carriage return, both), without their ends."""
    return _LINE_END.split(text) if "\r" in text else text.split("\n")


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of one text, to turn a node's UTF-8 offsets into code points."""

    lines: list[str] = field(default_factory=list)

    def column(self, line: int, byte_offset: int) -> int:
        """The column (from 1, in code points) of a UTF-8 offset as `ast` gives it."""
        if not 0 < line <= len(self.lines):
            return byte_offset + 1
        text = self.lines[line - 1]
        if text.isascii():
            return byte_offset + 1
        return len(text.encode("utf-8", "surrogatepass")[:byte_offset].decode("utf-8", "ignore")) + 1

    def span(self, node: ast.AST) -> Span:
        """Where a node stands."""
        line = getattr(node, "lineno", 1)
        end_line = getattr(node, "end_lineno", None) or line
        offset = getattr(node, "col_offset", 0)
        end_offset = getattr(node, "end_col_offset", None)
        return Span(
            line,
            self.column(line, offset),
            end_line,
            self.column(end_line, offset if end_offset is None else end_offset),
        )

    def line_span(self, line: int) -> Span:
        """A whole line without its indentation."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        start = len(text) - len(text.lstrip())
        return Span(line, start + 1, line, max(len(text.rstrip()), start) + 1)

    def text_of(self, span: Span) -> str:
        """The text inside a span, lines joined by line feeds."""
        picked = self.lines[span.line - 1 : span.end_line]
        if not picked:
            return ""
        picked[-1] = picked[-1][: span.end_column - 1]
        picked[0] = picked[0][span.column - 1 :]
        return "\n".join(picked)


def decode(data: bytes, path: str) -> SourceFile:
    """Bytes of a Python file to text, as Python itself decodes them (PEP 263, byte order mark). What Python would
    refuse (undecodable or null bytes, an unknown encoding) is a problem; the rest of the file is still given."""
    problems: list[Problem] = []
    encoding = "utf-8"
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        codecs.lookup(encoding)
    except (SyntaxError, LookupError) as error:
        encoding = "utf-8"
        if (
            ("encoding" in str(error) and not _is_utf8(data[:4096]))
            or "unknown encoding" in str(error)
            or "encoding problem" in str(error)
        ):
            problems.append(Problem("syntax", f"{_plain(error)}", path, _NOTHING))
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, ValueError) as error:
        text = data.decode(encoding if encoding.startswith("utf") else "utf-8", "replace")
        start = getattr(error, "start", 0)
        if not problems:
            line = data.count(b"\n", 0, start) + 1
            byte = data[start] if start < len(data) else 0
            problems.append(
                Problem(
                    "syntax",
                    f"byte 0x{byte:02x} cannot be decoded as {encoding}",
                    path,
                    Span(line, 1, line, 1),
                )
            )
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problems.append(Problem("syntax", "the file holds null bytes", path, Span(line, 1, line, 1)))
        text = text.replace("\0", " ")
    return SourceFile(path, text, "python", encoding, tuple(problems))


def load(path: str | Path, data: bytes | None = None) -> SourceFile:
    """A file from disk, or from `data` under that name. Never raises: what cannot be read is a problem."""
    name = str(path)
    if data is None:
        try:
            data = read_regular(name)
        except (OSError, ValueError) as error:
            return _unreadable(name, getattr(error, "strerror", None) or str(error))
    elif len(data) > MAX_BYTES:
        return _unreadable(name, too_large(len(data), MAX_BYTES))
    if kind_of(name) == "notebook":
        from tritonlint.source.notebook import join_cells

        return join_cells(decode(data, name))
    file = decode(data, name)
    return SourceFile(file.path, file.text, kind_of(name), file.encoding, file.problems)


def _unreadable(path: str, why: str) -> SourceFile:
    return SourceFile(path, "", kind_of(path), problems=(Problem("unreadable", why, path, _NOTHING),))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.end >= len(data) and error.start > len(data) - 4
    return True


def _plain(error: Exception) -> str:
    return str(error).split(" for '")[0] or "the encoding is not known"
