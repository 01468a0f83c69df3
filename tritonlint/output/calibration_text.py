"""What `tritonlint calibrate` prints: how often the estimates hold, and where they do not, by mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tritonlint.matrix import config_text
from tritonlint.output.summary import counted
from tritonlint.verify.calibrate import Calibration
from tritonlint.verify.calibration import Mechanism, mechanisms, summary

_REASONS = 5  # why launches were not compiled, the most frequent ones


def calibration_object(calibration: Calibration) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "version": 1,
        "summary": {
            **summary(calibration.compared),
            "without_facts": calibration.without,
            "reasons": dict(calibration.reasons),
        },
        "mechanisms": [one.to_json() for one in mechanisms(calibration.compared)],
        "problems": [{"path": path, "message": why} for path, why in calibration.problems],
    }


def lines(calibration: Calibration) -> Iterator[str]:
    """Contradicted claims first; each mechanism with its largest rows and what these assume."""
    for path, why in calibration.problems:
        yield f"{path}: error: {why}"
    found = mechanisms(calibration.compared)
    for one in found:
        yield from _mechanism(one)
        yield ""
    counts = summary(calibration.compared)
    without = counted(calibration.without, "launch", "launches")
    yield f"{counted(counts['rows'], 'row')} compared, {without} without a fact."
    for reason, times in list(calibration.reasons.items())[:_REASONS]:
        yield f"  {times:,}: {reason}"
    yield from _shares(counts)
    if not found and counts["rows"]:
        yield "Nothing is off."


def _mechanism(one: Mechanism) -> Iterator[str]:
    data = one.to_json()
    claimed = f", {one.claimed:,} of them claimed" if one.claimed else ""
    rows = counted(len(one.misses), "row")
    yield f"{one.what}: {one.name} ({rows}{claimed}, median {data['median_difference']:+,g})"
    yield f"  on {'; '.join(data['targets'])}"
    for miss in one.misses[:3]:
        of = miss.of
        yield f"  {of.path}:{of.line} {of.kernel} on {of.arch}: {miss.estimated:,}, really {miss.real:,}"
        yield f"    {config_text(of.config)}"
    yield from _assumed([miss.of.assumptions for miss in one.misses[:1]])


def _assumed(assumptions: Sequence[tuple[str, ...]]) -> Iterator[str]:
    for texts in assumptions:
        if texts:
            yield f"    assumed: {'; '.join(texts[:4])}{'; ...' if len(texts) > 4 else ''}"


def _shares(counts: Mapping[str, Any]) -> Iterator[str]:
    for name in ("shared memory", "tensor memory", "warps", "registers"):
        known, equal = counts[name]["known"], counts[name]["equal"]
        if known:
            word = "in range" if name == "registers" else "as estimated"
            yield f"  {name}: {equal:,} of {known:,} {word} ({equal / known:.1%})"
