"""Notebooks: the code cells as one module, magics neutralised, with a map back to the cells."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tritonlint.source.problem import Problem
from tritonlint.source.text import Cell, SourceFile, split_lines
from tritonlint.span import Span

# `%magic`, `!command`, `?help`, `name?`, `name = %magic ...`, `name = !command ...`: IPython's own syntax.
_MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)$")
_ASSIGNED_MAGIC = re.compile(r"^(\s*[A-Za-z_][\w, ]*=\s*)[%!](?!=).*$")
_LINE = re.compile(r"\bline (\d+)\b")
_CELL_MAGIC = re.compile(r"^\s*%%(\w+)")
_PYTHON_CELLS = ("time", "timeit", "capture", "prun", "python", "python3", "py")


def join_cells(file: SourceFile) -> SourceFile:
    """A notebook's text (JSON) to the joined Python text with its cell map. Lines and columns inside a cell stay."""
    try:
        document = json.loads(file.text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        column = getattr(error, "colno", 1)
        problem = Problem(
            "syntax",
            f"not a notebook: {getattr(error, 'msg', error)}",
            file.path,
            Span(line, column, line, column),
        )
        return replace(file, text="", kind="notebook", problems=(*file.problems, problem))
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list) or not _speaks_python(document):
        return replace(file, text="", kind="notebook")
    lines: list[str] = []
    found: list[Cell] = []
    for index, cell in enumerate(cells):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        text = "".join(str(part) for part in source) if isinstance(source, list) else str(source)
        own = _neutralise(split_lines(text))
        found.append(Cell(index, str(cell.get("id", "")), len(lines) + 1, len(lines) + len(own)))
        lines.extend(own)
    return replace(file, text="\n".join(lines) + "\n" if lines else "", kind="notebook", cells=tuple(found))


def cell_at(cells: Sequence[Cell], line: int) -> tuple[Cell, int] | None:
    """The cell that gave a line of the joined text, and the line inside the cell (from 1)."""
    for cell in cells:
        if cell.first_line <= line <= cell.last_line:
            return cell, line - cell.first_line + 1
    return None


def place_in(cells: Sequence[Cell], line: int) -> tuple[int | None, int]:
    """The number of the cell, from 1, that a line of the joined text stands in, and the line in it; None and the line
    as it is where no cell gave it."""
    found = cell_at(cells, line)
    return (None, line) if found is None else (found[0].index + 1, found[1])


def in_cells(text: str, cells: Sequence[Cell]) -> str:
    """A text that names lines of the joined module, with the cells and the lines in these: "cell 2, line 3"."""

    def named(match: re.Match[str]) -> str:
        cell, line = place_in(cells, int(match[1]))
        return match[0] if cell is None else f"cell {cell}, line {line}"

    return _LINE.sub(named, text) if cells and "line " in text else text


def _speaks_python(document: dict[str, Any]) -> bool:
    metadata = document.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = kernel.get("language") if isinstance(kernel, dict) else None
    return not isinstance(language, str) or language.lower() == "python"


def _neutralise(lines: list[str]) -> list[str]:
    """Magics become `pass` (a suite may consist of one), foreign cells become comments; line numbers stay."""
    first = next((line for line in lines if line.strip()), "")
    magic = _CELL_MAGIC.match(first)
    if magic and magic[1] not in _PYTHON_CELLS:
        return ["#" + line for line in lines]
    result: list[str] = []
    continued = False
    for line in lines:
        if continued:
            continued = line.rstrip().endswith("\\")
            result.append("")
            continue
        assigned = _ASSIGNED_MAGIC.match(line)
        plain = _MAGIC.match(line)
        if assigned:
            continued = line.rstrip().endswith("\\")
            result.append(f"{assigned[1]}None")
        elif plain:
            continued = line.rstrip().endswith("\\")
            result.append(f"{plain[1]}pass")
        else:
            result.append(line)
    return result
