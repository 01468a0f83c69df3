"""Nsight Compute: `ncu --import F --page raw --csv`. One row a launch, after a row of names and a row of units.

Shared memory is the dynamic part, which is what Triton asks for; the driver's own part is not in it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
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


def read_nsight(path: Path) -> Iterator[Fact]:
    """The launches of a file in its order. Raises OSError, ValueError for a file of another kind."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = [line for line in file if not line.startswith("==")]
    start = next((at for at, line in enumerate(lines) if "Kernel Name" in line), None)
    if start is None:
        raise ValueError("no column Kernel Name: `ncu --page raw --csv` writes one")
    rows = csv.reader(lines[start:])
    names = next(rows)
    if "Metric Name" in names:
        raise ValueError("the page of details: `--page raw` is needed")
    units = dict(zip(names, next(rows, []), strict=False))
    for number, values in enumerate(rows, 1):
        row = dict(zip(names, values, strict=False))
        if row.get("Kernel Name"):
            yield _fact(row, units, f"Nsight Compute, {path}, launch {row.get('ID') or number}")


def _fact(row: Mapping[str, str], units: Mapping[str, str], origin: str) -> Fact:
    def number(name: str) -> float | None:
        with suppress(ValueError, KeyError):
            return float(row[name].replace(",", ""))
        return None

    def whole(name: str) -> int | None:
        value = number(name)
        return None if value is None else round(value)

    def size(name: str) -> int | None:
        """Bytes, whatever the unit."""
        value = number(name)
        unit = re.fullmatch(r"([KMGkmg]?)byte(?:/block|/thread)?", units.get(name, "byte"))
        return None if value is None or unit is None else round(value * _SCALES[unit[1].lower()])

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
