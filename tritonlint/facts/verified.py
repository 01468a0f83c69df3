"""The report of `tritonlint verify --output-format json` as facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tritonlint.facts.record import Fact, Numbers
from tritonlint.facts.triton_cache import release_of


def read_verified(report: Mapping[str, Any], origin: str) -> Iterator[Fact]:
    """A fact for each row that was compiled."""
    release = release_of(report.get("triton"))
    for row in report["rows"]:
        compiled, job = row.get("compiled"), row.get("job")
        if compiled is None or job is None:
            continue
        options = job["options"]
        yield Fact(
            kernel=row["kernel"],
            numbers=Numbers(
                shared_bytes=compiled["shared_bytes"],
                registers=compiled["registers"],
                spills=compiled["spills"],
                tensor_memory_columns=compiled["tensor_memory_columns"],
                warps=compiled["warps"],
            ),
            rung="compiled",
            origin=f"verify, {origin}",
            arch=row["arch"],
            triton=release,
            num_warps=options.get("num_warps"),
            num_stages=options.get("num_stages"),
            num_ctas=options.get("num_ctas"),
            constants={name: plain(value) for name, value in job["constants"].items()},
            arguments=tuple((name, text, name in job["aligned"]) for name, text in job["types"].items()),
        )


def plain(value: Any) -> Any:
    """A constant of a job as it is shown: {"dtype": "fp16"} is "fp16"."""
    if isinstance(value, dict):
        if "tuple" in value:
            return [plain(entry) for entry in value["tuple"]]
        return value.get("dtype") or value.get("function")
    return value
