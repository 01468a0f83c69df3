"""The run log: what `tritonlint.autotune` decided, one line of JSON for each tuning, appended to a file.

A line: {"version": 1, "time": "2026-01-31T12:00:00+00:00", "kernel", "file", "gpu", "triton": "3.6", "seconds": how long
the decision took, "configs": [{"config": {"BLOCK_M": 128, "num_warps": 4, ...}, "kept": true, "reason": "" or why it was
dropped, "time_ms": predicted or null, "problem": "" or why nothing is known}]}. What became of the configs that were kept
follows in a line with "launched" in place of "configs" (facts.run_log reads it): constants, types and options of each
kernel that was loaded, shared_bytes, registers, spills, and the measured time_ms. Lines that are no such object are
passed over by `read`, so that a file which a crash cut short stays readable.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

VERSION = 1


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one config, and why."""

    config: Mapping[str, Any]
    kept: bool
    reason: str
    time_ms: float | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Tuning:
    """One tuning: a kernel on a GPU with its configs in the order of the list."""

    kernel: str
    file: str
    gpu: str
    triton: str
    seconds: float
    decisions: tuple[Decision, ...]
    time: str = ""


@dataclass(frozen=True, slots=True)
class Launched:
    """A kernel that the tuning loaded. `types` and `aligned` are those of its run-time arguments."""

    constants: Mapping[str, Any]
    types: Mapping[str, str]
    aligned: Sequence[str]
    options: Mapping[str, Any]
    shared_bytes: int
    registers: int
    spills: int
    tensor_memory_columns: int | None
    time_ms: float | None


def append(path: str, tuning: Tuning) -> None:
    """Adds the line of a decision. Raises OSError."""
    decisions = [asdict(decision) for decision in tuning.decisions]
    _append(path, tuning, {"seconds": round(tuning.seconds, 6), "configs": decisions})


def append_launched(path: str, tuning: Tuning, launched: Sequence[Launched]) -> None:
    """Adds the line of an outcome. Raises OSError."""
    _append(path, tuning, {"launched": [asdict(one) for one in launched]})


def _append(path: str, tuning: Tuning, more: Mapping[str, Any]) -> None:
    """In one write, so that processes that tune at the same time do not mix theirs."""
    line = {
        "version": VERSION,
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "kernel": tuning.kernel,
        "file": tuning.file,
        "gpu": tuning.gpu,
        "triton": tuning.triton,
        **more,
    }
    with open(path, "ab", buffering=0) as file:
        file.write((json.dumps(line, default=str) + "\n").encode())


def read(path: str) -> Iterator[Tuning]:
    """The tunings of a file, oldest first. Raises OSError."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                line = json.loads(text)
                if line["version"] != VERSION:
                    continue
                yield Tuning(
                    kernel=line["kernel"],
                    file=line["file"],
                    gpu=line["gpu"],
                    triton=line["triton"],
                    seconds=line["seconds"],
                    decisions=tuple(Decision(**decision) for decision in line["configs"]),
                    time=line["time"],
                )
            except (ValueError, KeyError, TypeError):
                continue
