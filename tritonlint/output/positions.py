"""Places as other programs count them."""

from __future__ import annotations

from collections.abc import Mapping

from tritonlint.finding import Finding, Related


def in_words(said: Finding | Related) -> str:
    """The message, with the cell for the formats whose places know files only."""
    cell = f"cell {said.cell}, line {said.span.line}: " if said.cell is not None else ""
    return cell + said.message


class Columns:
    """Turns columns in code points into other units, with the source of each file at hand (or not: then
    they stay)."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._lines: dict[str, list[str]] = {}

    def utf16(self, path: str, line: int, column: int) -> int:
        """The column (from 1) in UTF-16 code units."""
        if path not in self._lines:
            from tritonlint.source.text import split_lines

            self._lines[path] = split_lines(self._sources.get(path, ""))
        lines = self._lines[path]
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        before = text[: column - 1]
        if before.isascii():
            return column
        return column + sum(1 for char in before if ord(char) > 0xFFFF)
