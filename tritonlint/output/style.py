"""Colour for a terminal, and nothing but text for everything else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TextIO

_CODES = {"red": "31", "yellow": "33", "blue": "34", "cyan": "36", "green": "32", "bold": "1", "dim": "2"}
SEVERITY_COLOUR = {"error": "red", "warning": "yellow", "info": "blue"}


@dataclass(frozen=True, slots=True)
class Style:
    """`paint` colours a text where `colour` is on."""

    colour: bool = False

    def paint(self, text: str, *names: str) -> str:
        if not self.colour or not text:
            return text
        codes = ";".join(_CODES[name] for name in names)
        return f"\x1b[{codes}m{text}\x1b[0m"


def style_for(stream: TextIO) -> Style:
    """Colour for a terminal, unless NO_COLOR is set; FORCE_COLOR turns it on anywhere."""
    if os.environ.get("NO_COLOR"):
        return Style(False)
    if os.environ.get("FORCE_COLOR"):
        return Style(True)
    try:
        return Style(stream.isatty() and os.environ.get("TERM") != "dumb")
    except (AttributeError, ValueError):
        return Style(False)
