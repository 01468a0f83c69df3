"""Where the compiler model is off, by mechanism: estimates beside facts, and what would explain the difference.

A new release of Triton is taken up with this: what its passes do otherwise shows as one mechanism with many rows.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tritonlint.compiler.compiled import Compiled, SharedPart
from tritonlint.facts.record import Numbers


@dataclass(frozen=True, slots=True)
class Compared:
    """One launch on one target, estimated and known."""

    path: str
    line: int
    kernel: str
    config: Mapping[str, Any]
    arch: str
    triton: str
    estimate: Compiled
    numbers: Numbers
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Miss:
    """One number of a launch that is not as estimated. `claimed`: the estimate said that it is so."""

    of: Compared
    what: str
    mechanism: str
    estimated: int
    real: int
    claimed: bool


@dataclass(frozen=True, slots=True)
class Mechanism:
    """The misses that one explanation fits, the surest and largest first."""

    what: str
    name: str
    misses: tuple[Miss, ...]

    @property
    def claimed(self) -> int:
        return sum(miss.claimed for miss in self.misses)

    def to_json(self) -> dict[str, Any]:
        differences = [miss.real - miss.estimated for miss in self.misses]
        return {
            "what": self.what,
            "mechanism": self.name,
            "rows": len(self.misses),
            "claimed": self.claimed,
            "median_difference": statistics.median(differences),
            "targets": sorted({f"{miss.of.arch}, Triton {miss.of.triton}" for miss in self.misses}),
            "examples": [
                {
                    "path": miss.of.path,
                    "line": miss.of.line,
                    "kernel": miss.of.kernel,
                    "config": dict(miss.of.config),
                    "arch": miss.of.arch,
                    "triton": miss.of.triton,
                    "estimated": miss.estimated,
                    "real": miss.real,
                    "claimed": miss.claimed,
                    "assumptions": list(miss.of.assumptions),
                }
                for miss in self.misses[:5]
            ],
        }


def mechanisms(compared: Iterable[Compared]) -> list[Mechanism]:
    """What is off, the contradicted claims first, then by number of rows."""
    groups: dict[tuple[str, str], list[Miss]] = {}
    for one in compared:
        for miss in misses(one):
            groups.setdefault((miss.what, miss.mechanism), []).append(miss)
    found = [
        Mechanism(
            what,
            name,
            tuple(sorted(own, key=lambda miss: (not miss.claimed, -abs(miss.real - miss.estimated)))),
        )
        for (what, name), own in groups.items()
    ]
    return sorted(found, key=lambda one: (-one.claimed, -len(one.misses)))


def misses(one: Compared) -> Iterator[Miss]:
    """The numbers of one launch that are not as estimated."""
    mine, real = one.estimate, one.numbers
    if real.shared_bytes is not None and real.shared_bytes != mine.shared_bytes:
        claimed = mine.shared_exact or mine.shared_lower_bound > real.shared_bytes
        name = shared_mechanism(mine, real.shared_bytes)
        yield Miss(one, "shared memory", name, mine.shared_bytes, real.shared_bytes, claimed)
    columns = real.tensor_memory_columns
    if columns is not None and columns != mine.tensor_memory_columns:
        name = "columns of accumulators and operands"
        yield Miss(one, "tensor memory", name, mine.tensor_memory_columns, columns, mine.shared_exact)
    if real.warps is not None and real.warps != mine.warps:
        yield Miss(one, "warps", "warp specialization", mine.warps, real.warps, mine.shared_exact)
    low, high = mine.registers_low, mine.registers_high
    known = real.registers
    if known is not None and mine.registers is not None and low is not None and high is not None:
        side = "more than the range" if known > high else "fewer than the range" if known < low else ""
        if side:
            yield Miss(one, "registers", f"{_kind(mine)}: {side}", mine.registers, known, False)
    if real.spills is not None:
        if mine.spills == "certain" and not real.spills:
            yield Miss(one, "spills", f"{_kind(mine)}: said for certain", 1, 0, True)
        if mine.spills == "no" and real.spills:
            yield Miss(one, "spills", f"{_kind(mine)}: not said", 0, real.spills, False)


def _kind(estimate: Compiled) -> str:
    if estimate.tensor_cores != "none":
        return f"kernels on {estimate.tensor_cores}"
    return "kernels with a dot and no tensor cores" if estimate.dots else "kernels without a dot"


def shared_mechanism(estimate: Compiled, real: int) -> str:
    """What explains that the compiler needs `real` bytes: the first of a construct that is known not to be modelled, a
    number of buffers, a part that is not there or there twice, other lifetimes."""
    if estimate.reasons:
        return f"not modelled: {_plain(estimate.reasons[0])}"
    difference = real - estimate.shared_bytes
    parts = [part for part in estimate.parts if part.live_at_peak]
    for part in parts:
        buffers = _buffers(part)
        if part.kind == "buffer" and buffers and difference % (part.shared_bytes // buffers) == 0:
            count = difference // (part.shared_bytes // buffers)
            if -buffers <= count < 0 or 0 < count <= buffers:
                return f"pipeliner: {'more' if count > 0 else 'fewer'} buffers for a load"
    for part in estimate.parts:
        if difference == -part.shared_bytes:
            return f"{part.kind}: not needed"
    for part in estimate.parts:
        if difference == part.shared_bytes:
            return f"{part.kind}: needed once more"
    if len(parts) > 1 and max(part.shared_bytes for part in parts) <= real <= sum(
        p.shared_bytes for p in parts
    ):
        return "allocation: other lifetimes or alignment"
    if not estimate.shared_bytes:
        return "scratch that is not seen at all"
    return "not explained"


def _buffers(part: SharedPart) -> int:
    """3 of "3 buffers x 128x64 x 2 B"."""
    match = re.match(r"(\d+) buffers?\b", part.label)
    return int(match[1]) if match else 0


def _plain(reason: str) -> str:
    """Without the line, so that rows of different kernels come together."""
    return re.sub(r"^line \d+: |,? ?\(?line \d+\)?", "", reason)


def summary(compared: Sequence[Compared]) -> dict[str, Any]:
    """How often each number is as estimated."""

    def share(name: str) -> dict[str, int]:
        pairs = [(getattr(one.numbers, name), getattr(one.estimate, name)) for one in compared]
        known = [(real, mine) for real, mine in pairs if real is not None]
        return {"known": len(known), "equal": sum(real == mine for real, mine in known)}

    in_range = [
        one.estimate.registers_low <= one.numbers.registers <= one.estimate.registers_high
        for one in compared
        if one.numbers.registers is not None
        and one.estimate.registers_low is not None
        and one.estimate.registers_high is not None
    ]
    return {
        "rows": len(compared),
        "shared memory": share("shared_bytes"),
        "tensor memory": share("tensor_memory_columns"),
        "warps": share("warps"),
        "registers": {"known": len(in_range), "equal": sum(in_range)},
    }
