"""The rows of `tritonlint verify` in the terminal: disagreements first, with what was assumed."""

from __future__ import annotations

import io
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tritonlint.matrix import config_text
from tritonlint.output.style import style_for
from tritonlint.verify.rows import Row, State
from tritonlint.verify.run import Report

_TITLES: dict[State, str] = {
    "wrong": "A claim that the compiler contradicts",
    "off": "An estimate that missed",
    "failed": "Not compiled",
    "refused": "Does not compile, as estimated",
    "equal": "As estimated",
    "incomplete": "Not complete: a value is not known (--set NAME=VALUE gives a constant, --type NAME=TYPE a type)",
}
_COLOUR: dict[State, str] = {"wrong": "red", "off": "yellow", "failed": "yellow", "refused": "green",
                             "equal": "green", "incomplete": "dim"}  # fmt: skip
_SHOWN_INCOMPLETE = 10


def render(report: Report, stream: TextIO | None) -> str:
    """`stream` is where it goes, for its width and colour; None for a file."""
    colour = stream is not None and style_for(stream).colour
    written = io.StringIO()
    console = Console(
        file=written,
        force_terminal=colour,
        color_system="standard" if colour else None,
        width=shutil.get_terminal_size((160, 24)).columns if colour else 400,
        highlight=False,
        legacy_windows=False,
    )
    for path, why in report.problems:
        console.print(Text(f"{path}: error: {why}"))
    if report.no_triton:
        # Where it goes to a terminal, the command says why in the next line.
        why = f": {report.no_triton}" if stream is None else ""
        console.print(Text(f"{report.counts()['failed']:,} could be compiled, none is{why}"))
        return written.getvalue()
    for state, title in _TITLES.items():
        rows = [row for row in report.rows if row.state == state]
        if not rows:
            continue
        console.print(Text(f"{title} ({len(rows):,})", style=f"bold {_COLOUR[state]}"))
        if state in ("failed", "incomplete", "refused"):
            _reasons(console, rows, _SHOWN_INCOMPLETE if state == "incomplete" else None)
        else:
            console.print(_table(rows))
        if state in ("wrong", "off"):
            _assumed(console, rows)
    console.print(Text(_summary(report)))
    return written.getvalue()


def _table(rows: Sequence[Row]) -> Table:
    table = Table(expand=False, pad_edge=False)
    table.add_column("where", overflow="fold")
    table.add_column("config", overflow="fold")
    table.add_column("gpu")
    for name in ("shared B", "registers", "spills", "tmem", "CTAs/SM"):
        table.add_column(name, justify="right")
    for row in rows:
        estimate, compiled = row.estimate or {}, row.compiled or {}
        place = f"{row.path}:{row.line} {row.kernel}"
        if not compiled:
            table.add_row(place, config_text(row.config), row.gpu, Text(row.reason, overflow="fold"))
            continue
        cells = (
            _cell(estimate, compiled, "shared_bytes", "" if estimate.get("shared_exact", True) else "~"),
            _registers(estimate, compiled),
            _spills(estimate, compiled),
            _cell(estimate, compiled, "tensor_memory_columns"),
            _cell(estimate, compiled, "ctas_per_sm"),
        )
        table.add_row(place, Text(config_text(row.config)), row.gpu, *cells)
    return table


def _cell(estimate: Mapping[str, Any], compiled: Mapping[str, Any], name: str, about: str = "") -> Text:
    """ "98,304", or "98,304, not 65,536" where the estimate differs."""
    mine, real = estimate.get(name), compiled[name]
    if mine is None or mine == real:
        return Text(f"{real:,}")
    return Text(f"{real:,}, not {about}{mine:,}", style="red" if not about else "yellow")


def _registers(estimate: Mapping[str, Any], compiled: Mapping[str, Any]) -> Text:
    real, mine = compiled["registers"], estimate.get("registers")
    if real is None:
        return Text("?")
    if mine is None:
        return Text(f"{real}")
    low, high = estimate["registers_low"], estimate["registers_high"]
    return Text(f"{real} ({low} to {high})", style="" if low <= real <= high else "yellow")


def _spills(estimate: Mapping[str, Any], compiled: Mapping[str, Any]) -> Text:
    real, mine = compiled["spills"], estimate.get("spills")
    if real is None:
        return Text("?")
    missed = (mine == "certain" and not real) or (mine == "no" and real)
    return Text(
        f"{real:,} ({mine})" if mine not in (None, "no") or missed else f"{real:,}",
        "yellow" if missed else "",
    )


def _reasons(console: Console, rows: Sequence[Row], limit: int | None) -> None:
    """One line for each reason of each kernel."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.path, row.kernel, row.reason), []).append(row)
    for number, ((path, kernel, reason), own) in enumerate(groups.items()):
        if limit is not None and number >= limit:
            console.print(Text(f"  ... and {len(groups) - limit} more (--output-format json lists all)"))
            return
        gpus = ", ".join(dict.fromkeys(row.gpu for row in own))
        times = f", {len(own)} rows" if len(own) > 1 else ""
        console.print(Text(f"  {path}:{own[0].line} {kernel} ({gpus}{times}): {reason or 'not estimated'}"))


def _assumed(console: Console, rows: Sequence[Row]) -> None:
    groups: dict[tuple[str, str, tuple[str, ...]], None] = {}
    for row in rows:
        groups[row.path, row.kernel, row.assumptions] = None
    for path, kernel, assumptions in groups:
        if assumptions:
            console.print(Text(f"  {kernel} ({path}), assumed: {'; '.join(assumptions)}", style="dim"))


def _summary(report: Report) -> str:
    counts = report.counts()
    compared = counts["wrong"] + counts["off"] + counts["equal"] + counts["refused"]
    text = f"{compared:,} compared: {counts['equal'] + counts['refused']:,} as estimated"
    text += f", {counts['off']:,} missed, {counts['wrong']:,} wrong"
    if counts["failed"]:
        text += f"; {counts['failed']:,} not compiled"
    if counts["incomplete"]:
        text += f"; {counts['incomplete']:,} not complete"
    text += f". Triton {report.triton} for {', '.join(report.gpus)}; {report.compiled:,} compiled now"
    return text + (f", {report.kept:,} before." if report.kept else ".")
