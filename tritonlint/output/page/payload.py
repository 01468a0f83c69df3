"""What the page knows: every row, GPU and step of the arithmetic, small enough to stand in the page.

Steps and names repeat over thousands of cells, so that each text stands once in `strings` and cells name it
by its number. The whole is compressed (gzip, base64), as the chart library is; browsers unpack it with
DecompressionStream.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from typing import Any

from tritonlint import __version__
from tritonlint.gpu.profile import GpuProfile
from tritonlint.matrix import Cell, Row, cell_text
from tritonlint.output.page.curves import curves

VERSION = 1


class Strings:
    """Texts and their numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def all(self) -> list[str]:
        return list(self._numbers)


def payload(rows: Sequence[Row], gpus: Sequence[str], triton: Sequence[str]) -> dict[str, Any]:
    """The data of the page. Cells stand in the order of `gpus`; null where a row knows nothing of a GPU."""
    strings = Strings()
    profiles = {cell.gpu.name: cell.gpu for row in rows for cell in row.cells.values()}
    kernels: dict[tuple[str, str], int] = {}
    shown = [
        {
            "kernel": kernels.setdefault((row.path, row.kernel), len(kernels)),
            "triton": row.triton,
            "cell": row.cell,
            "line": row.line,
            "config": [[name, _plain(value)] for name, value in row.config.items()],
            "cells": [_cell(row.cells.get(name), strings) for name in gpus],
        }
        for row in rows
    ]
    return {
        "version": VERSION,
        "tritonlint": __version__,
        "gpus": [_gpu(name, profiles.get(name)) for name in gpus],
        "triton": list(triton),
        "kernels": [{"path": path, "name": name} for path, name in kernels],
        "rows": shown,
        "strings": strings.all,
    }


def as_json(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)


def packed(text: str) -> str:
    """A text so that it can stand in the page, at about a fifth of its size."""
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)).decode("ascii")


def _plain(value: Any) -> Any:
    return "?" if isinstance(value, dict) else value


def _gpu(name: str, gpu: GpuProfile | None) -> dict[str, Any]:
    if gpu is None:
        return {"name": name}
    return {
        "name": gpu.name,
        "title": gpu.title or gpu.arch,
        "arch": gpu.arch,
        "amd": gpu.vendor == "amd",
        "sms": gpu.multiprocessors,
        "warpSize": gpu.warp_size,
        "warpsPerSm": gpu.warps_per_sm,
        "sharedLimit": gpu.shared_bytes_per_cta,
        "curves": curves(gpu),
    }


def _cell(cell: Cell | None, strings: Strings) -> dict[str, Any] | None:
    if cell is None:
        return None
    estimate = cell.of.estimate if cell.of is not None else None
    text = strings.number(cell_text(cell))
    if estimate is None:
        return {"state": cell.state, "text": text, "why": _numbers(strings, [cell.why])}
    time = estimate.time_ms
    waves = estimate.waves
    return {
        "state": cell.state,
        "text": text,
        "over": cell.over_by,
        "shared": estimate.shared_bytes,
        "exact": estimate.shared_exact,
        "registers": [estimate.registers, estimate.registers_low, estimate.registers_high],
        "spills": estimate.spills,
        "warps": estimate.warps,
        "ctas": estimate.ctas_per_sm,
        "occupancy": round(estimate.occupancy, 4),
        "limiter": estimate.limiter,
        "tensorMemory": estimate.limits.get("tensor memory"),
        "waves": None
        if waves is None
        else [waves.programs, waves.per_wave, waves.full, round(waves.last, 4), round(waves.efficiency, 4)],
        "time": None if time is None or time.total is None else _rounded(time.total),
        "timeRange": None if time is None or time.low is None else [_rounded(time.low), _rounded(time.high)],
        "bound": estimate.bound,
        "certainty": estimate.certainty,
        "why": _numbers(strings, estimate.why_not),
        "steps": _numbers(strings, estimate.steps),
        "assumptions": _numbers(strings, estimate.assumptions),
    }


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")


def _numbers(strings: Strings, texts: Iterable[str]) -> list[int]:
    return [strings.number(text) for text in texts if text]
