"""Lines that are not wider than a terminal, where there is one."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from operator import itemgetter

from tritonlint.output.style import Style

Part = tuple[str, tuple[str, ...]]  # a text, and how it is painted
_LEAST = 40  # columns; what is narrower is left to the terminal


def wrapped(parts: list[Part], style: Style, hang: int) -> list[str]:
    """One line, broken between words where it is wider than the terminal; what follows is `hang` columns in. A word is
    never broken."""
    width = style.width
    if width is None or width < _LEAST or sum(columns(text) for text, _ in parts) <= width:
        return ["".join(style.paint(text, *names) for text, names in parts)]
    rows: list[list[Part]] = [[]]
    place, blanks = 0, 0
    for word in _words(parts):
        size = sum(columns(text) for text, _ in word)
        if word[0][0].isspace():
            blanks = size
            continue
        if blanks and place > hang and place + blanks + size > width:
            rows.append([(" " * hang, ())])
            place = hang
        elif blanks:
            names = rows[-1][-1][1] if rows[-1] else ()
            rows[-1].append((" " * blanks, names if names == word[0][1] else ()))
            place += blanks
        rows[-1] += word
        place, blanks = place + size, 0
    return [
        "".join(
            style.paint("".join(text for text, _ in run), *names)
            for names, run in groupby(row, itemgetter(1))
        )
        for row in rows
    ]


def _words(parts: list[Part]) -> list[list[Part]]:
    """Runs of blanks, and of what stands between them, with how each piece is painted."""
    found: list[list[Part]] = []
    for text, names in parts:
        for piece in re.findall(r"\s+|\S+", text):
            blank = piece.isspace()
            if found and found[-1][0][0].isspace() == blank:
                found[-1].append((piece, names))
            else:
                found.append([(piece, names)])
    return found


def columns(text: str) -> int:
    """How many terminal columns a text takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    total = 0
    for char in text:
        if unicodedata.combining(char):
            continue
        total += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return total
