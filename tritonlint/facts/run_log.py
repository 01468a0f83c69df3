"""The run log of tritonlint.autotune: its lines about kernels that were compiled, loaded and timed on a GPU."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tritonlint.facts.record import Fact, Numbers
from tritonlint.facts.triton_cache import release_of


def read_run_log(path: Path) -> Iterator[Fact]:
    """The facts of a file, oldest first. Raises OSError; other lines are passed over."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        for text in lines:
            if '"launched"' not in text:
                continue
            with suppress(ValueError, KeyError, TypeError):
                line = json.loads(text)
                yield from [_fact(line, one, path) for one in line["launched"]]


def _fact(line: dict[str, Any], one: dict[str, Any], path: Path) -> Fact:
    options = one["options"]
    return Fact(
        kernel=line["kernel"],
        numbers=Numbers(
            shared_bytes=one["shared_bytes"],
            registers=one["registers"],
            spills=one["spills"],
            tensor_memory_columns=one["tensor_memory_columns"],
            warps=options["num_warps"],
            time_ms=one["time_ms"],
        ),
        rung="measured",
        origin=f"run log, {path}, {line['time']}",
        gpu=line["gpu"],
        triton=release_of(line["triton"]),
        num_warps=options["num_warps"],
        num_stages=options["num_stages"],
        num_ctas=options["num_ctas"],
        constants=one["constants"],
        arguments=tuple((name, text, name in one["aligned"]) for name, text in one["types"].items()),
        file=line["file"] or None,
    )
