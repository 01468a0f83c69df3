"""The text of one open document, edited as the client edits it.

Kept as a list of lines: an edit touches the lines that it spans, and no offset of the others.
"""

from __future__ import annotations

from tritonlint_server.positions import Encoding, column_of, split_with_ends


class Buffer:
    """Lines with their ends. Edits never fail: a place outside of the text means the nearest place in it."""

    def __init__(self, text: str) -> None:
        self._lines = split_with_ends(text)
        self._text: str | None = text

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    @property
    def lines(self) -> list[str]:
        """Not to be changed by the caller."""
        return self._lines

    def line(self, number: int) -> str:
        """A line (from 0) with its end, "" outside of the text."""
        return self._lines[number] if 0 <= number < len(self._lines) else ""

    def replace(self, text: str) -> None:
        """The whole content."""
        self._lines = split_with_ends(text)
        self._text = text

    def edit(self, start: tuple[int, int], end: tuple[int, int], text: str, encoding: Encoding) -> None:
        """Replaces what lies between two places (line, units; from 0) by a text."""
        first, before = self._place(start, encoding)
        last, after = self._place(end, encoding)
        if (last, after) < (first, before):
            first, before, last, after = last, after, first, before
        piece = self._lines[first][:before] + text + self._lines[last][after:]
        # A carriage return and a line feed that come together by the edit are one line end.
        if piece.startswith("\n") and first and self._lines[first - 1].endswith("\r"):
            first -= 1
            piece = self._lines[first] + piece
        if piece.endswith("\r") and self.line(last + 1) == "\n":
            last += 1
            piece += self._lines[last]
        fresh = split_with_ends(piece)
        if last + 1 < len(self._lines) and fresh[-1] == "":
            fresh.pop()  # the line end was the piece's last character; the next line is there already
        elif last + 1 < len(self._lines):  # the piece lost its line end: the next line goes on with it
            fresh[-1:] = split_with_ends(fresh[-1] + self._lines[last + 1])
            last += 1
            if last + 1 < len(self._lines):
                fresh.pop()
        self._lines[first : last + 1] = fresh
        self._text = None

    def _place(self, place: tuple[int, int], encoding: Encoding) -> tuple[int, int]:
        line, units = place
        if line < 0:
            return 0, 0
        if line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        return line, column_of(self._lines[line], units, encoding)
