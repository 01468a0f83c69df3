"""Columns of a line in the three encodings of the protocol.

The linter counts code points from 1, a client counts what was agreed on: UTF-8 bytes, UTF-16 units or code
points, from 0. A document is cut into lines at line feeds, carriage returns and both together, nowhere else.
"""

from __future__ import annotations

import re
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def split_with_ends(text: str) -> list[str]:
    """The lines with their ends; the last one has none (it may be empty), so there is always one."""
    lines = _LINE.findall(text)
    if not lines or lines[-1][-1] in "\r\n":
        lines.append("")
    return lines


def body(line: str) -> str:
    """A line without its end."""
    return line.rstrip("\r\n")


def units_of(line: str, column: int, encoding: Encoding) -> int:
    """Units before the code point at `column` (from 0)."""
    before = line[: max(column, 0)]
    if encoding == "utf-32" or before.isascii():
        return len(before)
    if encoding == "utf-8":
        return len(before.encode("utf-8", "surrogatepass"))
    return len(before.encode("utf-16-le", "surrogatepass")) // 2


def column_of(line: str, units: int, encoding: Encoding) -> int:
    """The code point (from 0) at which that many units begin, at most the end of the line. Units that point
    into the middle of a code point mean its start."""
    text = body(line)
    units = max(units, 0)
    if encoding == "utf-32" or text.isascii():
        return min(units, len(text))
    if encoding == "utf-8":
        raw = text.encode("utf-8", "surrogatepass")
        if units >= len(raw):
            return len(text)
        while units and raw[units] & 0xC0 == 0x80:
            units -= 1
        return len(raw[:units].decode("utf-8", "surrogatepass"))
    raw = text.encode("utf-16-le", "surrogatepass")
    if 2 * units >= len(raw):
        return len(text)
    if units and 0xDC <= raw[2 * units + 1] <= 0xDF and 0xD8 <= raw[2 * units - 1] <= 0xDB:
        units -= 1
    return len(raw[: 2 * units].decode("utf-16-le", "surrogatepass"))
