"""Colour for a terminal, and nothing but text for everything else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TextIO

_CODES = {"red": "31", "yellow": "33", "blue": "34", "cyan": "36", "green": "32", "bold": "1", "dim": "2"}
SEVERITY_COLOUR = {"error": "red", "warning": "yellow", "info": "blue"}


@dataclass(frozen=True, slots=True)
class Style:
    """`paint` colours a text where `colour` is on. `width`: the columns of the terminal, None where there is none."""

    colour: bool = False
    width: int | None = None

    def paint(self, text: str, *names: str) -> str:
        if not self.colour or not text or not names:
            return text
        codes = ";".join(_CODES[name] for name in names)
        return f"\x1b[{codes}m{text}\x1b[0m"


def style_for(stream: TextIO) -> Style:
    """Colour for a terminal, unless NO_COLOR is set; FORCE_COLOR turns it on anywhere."""
    try:
        terminal = stream.isatty()
    except (AttributeError, ValueError):
        terminal = False
    width = _width(stream) if terminal else None
    if os.environ.get("NO_COLOR"):
        return Style(False, width)
    if os.environ.get("FORCE_COLOR"):
        return Style(True, width)
    return Style(terminal and os.environ.get("TERM") != "dumb", width)


def _width(stream: TextIO) -> int | None:
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (AttributeError, ValueError, OSError):
        return None
