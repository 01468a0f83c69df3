"""Every config against every GPU: what fits, by how much not, how many CTAs an SM holds, the limiter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tritonlint.context import FileWork
from tritonlint.gpu.profile import GpuProfile
from tritonlint.rule import EstimateOf
from tritonlint.sites_report import plain, plain_value
from tritonlint.source.notebook import place_in
from tritonlint.source.sites import Candidate, LaunchPlan


@dataclass(frozen=True, slots=True)
class Cell:
    """One config on one GPU. `estimate` is None where nothing can be said: `why` tells."""

    of: EstimateOf | None
    gpu: GpuProfile
    why: str

    @property
    def state(self) -> str:
        """ "fits", "maybe" (a bound only may be crossed), "no", or "unknown"."""
        estimate = self.of.estimate if self.of is not None else None
        if estimate is None:
            refused = self.of is not None and self.of.trace is not None and bool(self.of.trace.errors)
            return "no" if refused else "unknown"
        if not estimate.fits:
            return "no"
        return "maybe" if estimate.shared_bytes > self.gpu.shared_bytes_per_cta else "fits"

    @property
    def over_by(self) -> int:
        """Bytes of shared memory beyond the limit."""
        estimate = self.of.estimate if self.of is not None else None
        if estimate is None:
            return 0
        need = estimate.shared_bytes if estimate.shared_exact else estimate.shared_lower_bound
        return int(max(0, need - self.gpu.shared_bytes_per_cta))


@dataclass(frozen=True, slots=True)
class Row:
    """A config of a list, or a launch without one, on every GPU. `cell` is the number of the cell of a notebook, from 1,
    that `line` counts in."""

    path: str
    line: int
    kernel: str
    config: Mapping[str, Any]
    cells: Mapping[str, Cell]
    triton: str
    cell: int | None = None

    @property
    def fits_everywhere(self) -> bool:
        return all(cell.state == "fits" for cell in self.cells.values())


def rows_of(work: FileWork, tell: Callable[[float], None] = lambda share: None) -> list[Row]:
    """The rows of one file, in its order. `tell` is given the share of the work that is done, from time to
    time."""
    notebook = work.module.file.cells
    rows: dict[tuple[Any, ...], Row] = {}
    contexts = list(work.contexts())
    for number, context in enumerate(contexts):
        shown: dict[tuple[Any, ...], dict[str, Cell]] = {}
        places: dict[tuple[Any, ...], tuple[int, Mapping[str, Any]]] = {}
        for place, gpu in enumerate(context.gpus):
            tell((number + place / len(context.gpus)) / len(contexts))
            for of in context.estimates(gpu):
                values: Mapping[str, Any] = config_of(of.candidate)
                line = line_of(of.candidate, context.plan)
                key = (line, tuple(sorted((name, repr(value)) for name, value in values.items())))
                why = "; ".join(of.unknown)
                shown.setdefault(key, {}).setdefault(gpu.name, Cell(of, gpu, why))
                places[key] = (line, values)
        for key, cells in shown.items():
            line, values = places[key]
            cell, line = place_in(notebook, line)
            row = Row(
                work.path, line, context.plan.kernel.name, values, cells, work.targets.triton_name, cell
            )
            rows.setdefault((context.plan.kernel.span, *key), row)
    return list(rows.values())


def config_of(candidate: Candidate) -> dict[str, Any]:
    """The values that tell one config from the next."""
    if candidate.config is not None:
        values = {name: plain_value(value) for name, value in candidate.config.kwargs.items()}
    else:
        values = {name: plain(value) for name, value in candidate.constants.items()}
    for name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
        value = plain(getattr(candidate, name))
        if name in ("num_warps", "num_stages") or value not in (1, None):
            values[name] = value
    return values


def line_of(candidate: Candidate, plan: LaunchPlan) -> int:
    """The line of the config, the launch, or the kernel."""
    if candidate.config is not None:
        return candidate.config.span.line
    return (plan.launch or plan.kernel).span.line


def matrix_object(rows: Iterable[Row], gpus: Sequence[str], triton: Sequence[str]) -> dict[str, Any]:
    """The matrix as JSON."""
    return {"version": 1, "gpus": list(gpus), "triton": list(triton), "rows": [_row(row) for row in rows]}


def _row(row: Row) -> dict[str, Any]:
    return {
        "path": row.path,
        **({} if row.cell is None else {"cell": row.cell}),
        "line": row.line,
        "kernel": row.kernel,
        "triton": row.triton,
        "config": dict(row.config),
        "fits_everywhere": row.fits_everywhere,
        "cells": {name: _cell(cell) for name, cell in row.cells.items()},
    }


def _cell(cell: Cell) -> dict[str, Any]:
    estimate = cell.of.estimate if cell.of is not None else None
    base: dict[str, Any] = {"state": cell.state, "why": cell.why or None}
    if estimate is None:
        return base
    return {
        **base,
        "why": "; ".join(estimate.why_not) or None,
        "over_by": cell.over_by,
        "shared_limit": cell.gpu.shared_bytes_per_cta,
        "estimate": estimate.to_json(),
    }


def cell_text(cell: Cell | None) -> str:
    """ "2 smem" (two CTAs an SM, shared memory limits), "+46,080 B", "no", "?"."""
    if cell is None:
        return ""
    estimate = cell.of.estimate if cell.of is not None else None
    if estimate is None:
        return "no" if cell.state == "no" else "?"
    if cell.state == "no":
        return f"+{cell.over_by:,} B" if cell.over_by else "no"
    short = {"shared memory": "smem", "registers": "regs", "tensor memory": "tmem"}
    limiter = short.get(estimate.limiter or "", estimate.limiter or "")
    total = estimate.time_ms.total if estimate.time_ms is not None else None
    time = f" {_time(total)}" if total is not None else ""
    return f"{estimate.ctas_per_sm} {limiter}{'?' if cell.state == 'maybe' else ''}{time}"


def _time(milliseconds: float) -> str:
    return f"{milliseconds * 1e3:.3g} us" if milliseconds < 1 else f"{milliseconds:.3g} ms"


def config_text(config: Mapping[str, Any]) -> str:
    names = {"num_warps": "warps", "num_stages": "stages", "num_ctas": "ctas"}
    return " ".join(f"{names.get(name, name)}={_value(value)}" for name, value in config.items())


def _value(value: Any) -> str:
    return "?" if isinstance(value, dict) else str(value)


def markdown(rows: Sequence[Row], gpus: Sequence[str], triton: Sequence[str]) -> str:
    """One table a kernel, for a pull request."""
    parts: list[str] = []
    for (path, kernel, release), own in by_kernel(rows).items():
        head = f"### `{kernel}` ({path})" + (f", Triton {release}" if len(triton) > 1 else "")
        lines = ["| config | " + " | ".join(gpus) + " |", "|---|" + "---|" * len(gpus)]
        for row in own:
            cells = " | ".join(_mark(row.cells.get(gpu)) for gpu in gpus)
            lines.append(f"| {config_text(row.config)} | {cells} |")
        parts.append(head + "\n\n" + "\n".join(lines))
    legend = (
        f"Triton {', '.join(triton)}. CTAs per SM and what limits them; x and the bytes beyond the limit "
        "where a config does not fit; ? where that cannot be known."
    )
    return "\n\n".join((*parts, legend)) + "\n"


def _mark(cell: Cell | None) -> str:
    text = cell_text(cell)
    return f"x {text}" if cell is not None and cell.state == "no" else text


def by_kernel(rows: Iterable[Row]) -> dict[tuple[str, str, str], list[Row]]:
    """Rows of one kernel and release together: (path, kernel, release) to its rows."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.path, row.kernel, row.triton), []).append(row)
    return groups
