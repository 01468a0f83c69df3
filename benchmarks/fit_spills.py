"""Fit how many words a launch that spills has in local memory, and say how far off that is.

    python benchmarks/fit_spills.py ROWS.pkl[,MORE.pkl] [--check OTHER.pkl] [--write
        tritonlint/compiler/spilled_words.json]

The rows are those of `fit_timing.py collect`. Fitted are launches that the estimate of registers says to spill, for
those are the ones whose words are asked for; the same kernel with the same words counts once. The error is of
logarithms, of words with 20 on top: below that they hardly cost time. More than 3,000 words, which the assembler only
makes where it gives up on a kernel, count as 3,000. All weights but the constant are at least zero; a term that none
of the launches has (copies: fp32 operands in narrow pieces) counts one word for each. --check says the error on rows that
were not fitted. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import json
import pathlib
from typing import Any

import numpy as np
from fit_timing import read
from scipy.optimize import least_squares

from tritonlint.compiler import spilled_words as model

TERMS = {
    "wgmma": ("one", "held_over", "waiting", "addresses", "late_loads", "copies"),
    "mma_v2": ("one", "held", "operands", "late_loads"),
    "none": ("one", "held_over", "not_held"),
}
SMALL = 20.0
MOST = 3000.0
STARTS = (0.1, 1.0, 10.0, 30.0, 100.0)


def spilling(rows: list[dict[str, Any]], family: str) -> list[dict[str, Any]]:
    found = {}
    for row in rows:
        if row["need"] is not None and row["need"].family == family and row["said"] != "no":
            found[(row["need"], row["limit"], row["measured"].spilled_words)] = row
    return list(found.values())


def true_words(rows: list[dict[str, Any]]) -> Any:
    return np.minimum([float(row["measured"].spilled_words) for row in rows], MOST)


def fit(rows: list[dict[str, Any]], names: tuple[str, ...]) -> dict[str, float]:
    matrix = np.array([[model.terms(row["need"], row["limit"])[name] for name in names] for row in rows])
    scale = matrix.std(axis=0) + 1
    scale[0] = 1
    low = np.zeros(len(names))
    low[0] = -np.inf
    truth = np.log1p(true_words(rows) / SMALL)

    def residuals(scaled: Any) -> Any:
        return np.log1p(np.maximum(0, matrix @ (scaled / scale)) / SMALL) - truth

    tried = [
        least_squares(
            residuals, np.full(len(names), start), loss="soft_l1", f_scale=0.5, bounds=(low, np.inf)
        )
        for start in STARTS
    ]
    best = min(tried, key=lambda one: one.cost)
    weights = best.x / scale
    weights[matrix.max(axis=0) == 0] = 1.0
    return {
        name: float(f"{weight:.4g}")
        for name, weight in zip(names, weights, strict=True)
        if abs(weight) > 5e-4
    }


def report(rows: list[dict[str, Any]], family: str) -> str:
    said = np.array([float(model.spilled_words(row["need"], row["limit"])) for row in rows])
    off = np.abs(np.log1p(said / SMALL) - np.log1p(true_words(rows) / SMALL))
    median, mean = np.exp(np.median(off)), np.exp(off.mean())
    return f"  {family:8} {len(rows):4} launches, off by a factor of {median:.2f} (median), {mean:.2f} (mean)"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows")
    parser.add_argument("--check")
    parser.add_argument("--write")
    given = parser.parse_args()
    rows = read(given.rows)
    fitted = {family: fit(spilling(rows, family), names) for family, names in TERMS.items()}
    text = json.dumps(fitted, indent=2) + "\n"
    print(text)
    model._weights = lambda: fitted  # type: ignore[assignment]
    for name in [given.rows, *([given.check] if given.check else [])]:
        print(name)
        for family in TERMS:
            found = spilling(read(name), family)
            if found:
                print(report(found, family))
    if given.write:
        pathlib.Path(given.write).write_text(text)


if __name__ == "__main__":
    main()
