"""The run log: what `tritonlint.autotune` decided, one line of JSON for each tuning, appended to a file.

A line: {"version": 1, "time": "2026-01-31T12:00:00+00:00", "kernel", "file", "gpu", "triton": "3.6", "seconds": how long
the decision took, "configs": [{"config": {"BLOCK_M": 128, "num_warps": 4, ...}, "kept": true, "reason": "" or why it was
dropped, "time_ms": predicted or null, "problem": "" or why nothing is known}]}. Lines that are no such object are passed
over by `read`, so that a file which a crash cut short stays readable.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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


def append(path: str, tuning: Tuning) -> None:
    """Adds a line, in one write, so that processes that tune at the same time do not mix theirs. Raises OSError."""
    line = {
        "version": VERSION,
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "kernel": tuning.kernel,
        "file": tuning.file,
        "gpu": tuning.gpu,
        "triton": tuning.triton,
        "seconds": round(tuning.seconds, 6),
        "configs": [asdict(decision) for decision in tuning.decisions],
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
