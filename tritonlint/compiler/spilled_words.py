"""How many 32-bit words of a thread go to local memory where a launch spills.

What is wanted beyond the limit says little about it: with wgmma, the accumulators that one instruction does not write
wait in local memory all together; with mma.sync the operands of a whole turn are loaded ahead and go there first. So
the words are a linear model of their own of what a thread has to keep, for each family of instructions, fitted on
launches of an H200 that spill (benchmarks/fit_spills.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

from tritonlint.compiler.register_need import Need

_ONE_WGMMA = 128  # words of a thread that the widest wgmma (m64n256) writes


@lru_cache(maxsize=1)
def _weights() -> Mapping[str, Mapping[str, float]]:
    text = resources.files("tritonlint.compiler").joinpath("spilled_words.json").read_text("utf-8")
    loaded: dict[str, dict[str, float]] = json.loads(text)
    return loaded


def terms(need: Need, limit: int) -> dict[str, float]:
    """The terms of the linear model, by name; `limit` is what a thread may have."""
    return {
        "one": 1.0,
        "held": float(need.held),
        "held_over": float(max(0, need.held - limit)),
        "waiting": float(max(0, need.accumulator - _ONE_WGMMA)) if need.accumulator > limit else 0.0,
        "not_held": float(max(0, need.peak - need.held)),
        "late_loads": float(max(0, need.batch - need.held)),
        "operands": float(need.operands),
        "addresses": float(need.addresses),
        "copies": float(need.copies),
    }


def spilled_words(need: Need, limit: int, *, given_up: bool = False) -> int:
    """The words that find no register, of a launch that spills. At least the accumulators that wait while one wgmma
    runs; at least one word; where the assembler has `given_up`, all that is live at once (in 60 such kernels one to two
    times that)."""
    least = need.accumulator - _ONE_WGMMA if need.accumulator > limit else 1
    if given_up:
        least = max(least, need.peak)
    weights = _weights().get(need.family)
    if weights is None:
        return max(least, need.held - limit)
    found = terms(need, limit)
    return max(least, round(sum(weight * found[name] for name, weight in weights.items())))
