"""Places of the linter as places of the protocol, for the documents of a unit and for other files."""

from __future__ import annotations

import os

from lsprotocol import types as lsp

from tritonlint.disk import read_regular
from tritonlint.span import Span
from tritonlint_server.documents import Document, Documents, Unit
from tritonlint_server.positions import Encoding, body, column_of, split_with_ends, units_of
from tritonlint_server.uris import uri_of

_BOM = "\ufeff"


class Places:
    """`encoding` is what the client and the server agreed on."""

    def __init__(self, documents: Documents, encoding: Encoding) -> None:
        self._documents = documents
        self.encoding = encoding
        self._files: dict[str, tuple[tuple[int, int], list[str]]] = {}

    def in_unit(self, unit: Unit, span: Span) -> tuple[Document, lsp.Range]:
        """The document of a span, and the range in it. A span over several cells ends with its first one."""
        document, line = unit.at(span.line)
        last, end_line = unit.at(span.end_line)
        start = lsp.Position(line, self._units(document.buffer.line(line), span.column - 1, line == 0))
        if last is not document:
            end_line = len(document.buffer.lines) - 1
            end = lsp.Position(end_line, self._units(document.buffer.line(end_line), 1 << 30, False))
        else:
            end = lsp.Position(
                end_line, self._units(last.buffer.line(end_line), span.end_column - 1, end_line == 0)
            )
        return document, lsp.Range(start, max(start, end, key=lambda place: (place.line, place.character)))

    def location(self, unit: Unit, path: str, span: Span) -> lsp.Location:
        """A span of this unit, of another open file, or of a file on disk."""
        if os.path.normpath(path) in (unit.path, f"{unit.path}.ipynb") or not path:
            document, range_ = self.in_unit(unit, span)
            return lsp.Location(document.uri, range_)
        absolute = os.path.normpath(os.path.abspath(path))
        other = self._documents.by_path(absolute)
        if other is not None and not other.notebook:
            document, range_ = self.in_unit(other, span)
            return lsp.Location(document.uri, range_)
        lines = self._lines(absolute)
        start = lsp.Position(span.line - 1, self._column(lines, span.line, span.column))
        end = lsp.Position(span.end_line - 1, self._column(lines, span.end_line, span.end_column))
        return lsp.Location(uri_of(absolute), lsp.Range(start, end))

    def joined(self, unit: Unit, uri: str, position: lsp.Position) -> tuple[int, int] | None:
        """A place of the client as (line, column) of the linter; None where the document is not in the
        unit."""
        document = self._documents.document(uri)
        line = unit.joined_line(uri, position.line)
        if document is None or line is None:
            return None
        text = document.buffer.line(position.line)
        column = column_of(text, position.character, self.encoding)
        if position.line == 0 and text.startswith(_BOM):
            column = max(column - 1, 0)
        return line, column + 1

    def _units(self, line: str, column: int, first: bool) -> int:
        if first and line.startswith(_BOM):
            column += 1  # the linter does not count it
        return units_of(body(line), column, self.encoding)

    def _column(self, lines: list[str], line: int, column: int) -> int:
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        return units_of(body(text), column - 1, self.encoding) if text else column - 1

    def _lines(self, path: str) -> list[str]:
        """The lines of a file on disk, read again when it changed; none where it cannot be read."""
        try:
            status = os.stat(path)
            mark = (status.st_mtime_ns, status.st_size)
            kept = self._files.get(path)
            if kept is None or kept[0] != mark:
                kept = (mark, split_with_ends(read_regular(path).decode("utf-8-sig", "replace")))
                if len(self._files) > 50:
                    self._files.clear()
                self._files[path] = kept
        except OSError:
            return []
        return kept[1]


def contains(span: Span, place: tuple[int, int]) -> bool:
    """Does a place (line, column) lie in a span, its end included (the cursor may stand behind it)?"""
    return (span.line, span.column) <= place <= (span.end_line, span.end_column)
