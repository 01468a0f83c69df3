"""Nsight Compute: `ncu --import F --page raw --csv`. One row a launch, after a row of names and a row of units.

Shared memory is the dynamic part, which is what Triton asks for; the driver's own part is not in it.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tritonlint.facts.record import Fact, Numbers

# Nsight counts in powers of ten, and picks the prefix for each column.
_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_TIMES = {
    "nsecond": 1e-6,
    "ns": 1e-6,
    "usecond": 1e-3,
    "us": 1e-3,
    "msecond": 1.0,
    "ms": 1.0,
    "second": 1e3,
    "s": 1e3,
}
_OCCUPANCY = (
    "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",
)
# Nsight writes numbers as the locale has them: "1,205.50", "1.205,50", or with blanks or apostrophes between thousands.
_POINT = re.compile(r"-?\d{1,3}(?:,\d{3})*(?:\.\d+)?|-?\d+(?:\.\d+)?")
_COMMA = re.compile(r"-?\d{1,3}(?:\.\d{3})*(?:,\d+)?|-?\d+(?:,\d+)?")
_GAPS = re.compile(r"[\s\u00a0\u202f'\u2019]")
_ROUNDED = 2  # digits after the point in older releases; newer ones write all that there are


def read_nsight(path: Path) -> Iterator[Fact]:
    """The launches of a file in its order. Raises OSError, ValueError for a file of another kind."""
    with open(path, "rb") as file:
        redirected = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # as PowerShell's `>` writes
    encoding = "utf-16" if redirected else "utf-8-sig"
    with open(path, encoding=encoding, errors="replace", newline="") as text:
        lines = [line for line in text if not line.startswith("==")]
    start = next((at for at, line in enumerate(lines) if "Kernel Name" in line), None)
    if start is None:
        raise ValueError("no column Kernel Name: `ncu --page raw --csv` writes one")
    rows = csv.reader(lines[start:])
    names = next(rows)
    if "Metric Name" in names:
        raise ValueError("the page of details: `--page raw` is needed")
    units = dict(zip(names, next(rows, []), strict=False))
    launches = [dict(zip(names, values, strict=False)) for values in rows]
    launches = [row for row in launches if row.get("Kernel Name")]
    style = _style(launches)
    for number, row in enumerate(launches, 1):
        yield _fact(row, units, style, f"Nsight Compute, {path}, launch {row.get('ID') or number}")


@dataclass(frozen=True, slots=True)
class _Style:
    """How numbers are written. `rounded`: none has more digits after the point than older releases write, so that a
    size in Kbyte is not known to the byte."""

    comma: bool
    rounded: bool

    def number(self, text: str) -> float:
        """Raises ValueError."""
        text = _GAPS.sub("", text)
        return float(text.replace(".", "").replace(",", ".") if self.comma else text.replace(",", ""))


def _style(launches: Sequence[Mapping[str, str]]) -> _Style:
    """Told by the metrics' values: "25,86" can only be a comma, "25.86" only a point."""
    cells = {_GAPS.sub("", text) for row in launches for name, text in row.items() if "__" in name}
    numbers = [cell for cell in cells if cell and (_POINT.fullmatch(cell) or _COMMA.fullmatch(cell))]
    comma = any(not _POINT.fullmatch(cell) for cell in numbers) and all(
        _COMMA.fullmatch(cell) for cell in numbers
    )
    mark = "," if comma else "."
    return _Style(comma, all(len(cell.partition(mark)[2]) <= _ROUNDED for cell in numbers))


def _fact(row: Mapping[str, str], units: Mapping[str, str], style: _Style, origin: str) -> Fact:
    def number(name: str) -> float | None:
        with suppress(ValueError, KeyError):
            return style.number(row[name])
        return None

    def whole(name: str) -> int | None:
        value = number(name)
        return None if value is None else round(value)

    def size(name: str) -> int | None:
        """Bytes, whatever the unit."""
        value = number(name)
        unit = re.fullmatch(r"([KMGkmg]?)byte(?:/block|/thread)?", units.get(name, "byte"))
        if value is None or unit is None or (unit[1] and style.rounded and value):
            return None
        return round(value * _SCALES[unit[1].lower()])

    duration = number("gpu__time_duration.sum")
    scale = _TIMES.get(units.get("gpu__time_duration.sum", ""))
    limits = [limit for limit in map(whole, _OCCUPANCY) if limit is not None]
    capability = row.get("CC", "")
    return Fact(
        kernel=row["Kernel Name"].split("(")[0].strip(),
        numbers=Numbers(
            shared_bytes=size("launch__shared_mem_per_block_dynamic"),
            registers=whole("launch__registers_per_thread"),
            ctas_per_sm=min(limits) if len(limits) == len(_OCCUPANCY) else None,
            time_ms=None if duration is None or scale is None else duration * scale,
        ),
        rung="measured",
        origin=origin,
        arch=f"sm_{capability.replace('.', '')}" if re.fullmatch(r"\d+\.\d", capability) else None,
        grid=_sizes(row.get("Grid Size", "")),
        threads=_product(_sizes(row.get("Block Size", ""))),
    )


def _sizes(text: str) -> tuple[int, ...] | None:
    """(80, 1, 1) of "(80, 1, 1)"."""
    found = re.findall(r"\d+", text)
    return tuple(map(int, found)) if len(found) == 3 else None


def _product(sizes: tuple[int, ...] | None) -> int | None:
    return None if sizes is None else sizes[0] * sizes[1] * sizes[2]
