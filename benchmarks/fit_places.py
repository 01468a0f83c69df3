"""Fits what places need to the registers of kernels: the weights of a constant, of arguments, and of what is
kept in the place that needs most.

The true classes of CTAs per SM are to be likeliest, were the logarithm of what is wanted known up to a normal error (an
interval regression), and the registers near to the true ones: registers are given out in steps, and the assembler uses
what a step leaves free. The most of
several places is taken softly, as the model takes it.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from tritonlint.compiler.register_need import Need
from tritonlint.compiler.register_points import Point
from tritonlint.compiler.registers import SOFT, features

SPREAD = 0.15  # of the logarithm of what is wanted
CLOSE = 3.0  # what being off by a factor counts beside the wrong class
ODD = 0.02  # kernels that the model says nothing of
PLACES = [field.name for field in fields(Point)]


def _without(*names: str) -> list[str]:
    return [name for name in PLACES if name not in names]


# What is fitted for each family: places, and sums. Kernels without products pass most of what they read, and what they
# keep is not told by one place alone; mma.sync reads its operands step by step, and where it is, uniform registers hold
# the scalars; wgmma has all of an operand in registers, or nothing; of tcgen05 there are few kernels, and a place tells
# no more than the sums: what their ends hold is held as it was read, and converted where it is needed. LLVM starts the
# loads for AMD early, so that there what is held and on its way counts beside the places.
TERMS: dict[str, tuple[list[str], list[str]]] = {
    "none": (_without("ahead", "fixed"), ["one", "scalars", "held_or_turned", "loop_peak", "batch"]),
    "mma_v2": (_without("operands", "scalars"), ["one", "scalars"]),
    "wgmma": (_without("ahead"), ["one", "scalars"]),
    "tcgen05": ([], ["one", "narrow", "loop_peak", "loop_addresses"]),
    "amd_none": (PLACES, ["one", "scalars", "batch", "held_or_turned"]),
    "mfma": (PLACES, ["one", "scalars", "batch", "held_or_turned"]),
}
# Where the search starts, and what the weights are drawn to that the kernels say little of.
START = {
    "kept": 0.6, "going": 0.4, "coming": 0.4, "ends": 0.2, "between": 0.1, "in_flight": 0.2, "loaded": 0.2,
    "addresses": 0.3, "accesses": 0.3, "functions": 0.1, "scanned": 0.5, "reduced": 0.2,
    "converted": 0.2, "accumulator": 0.4, "ahead": 2, "operands": 0.4, "consumed": 0.2, "copies": 0.4,
    "scalars": 0.3, "stored": 0.2, "compared": 0.3, "looped": 5, "fixed": 0.5,
    "eight_bit": 0.5, "passed": 1,
}  # fmt: skip
START_SUMS = {
    "one": 12, "scalars": 0.4, "held_or_turned": 0.1, "loop_peak": 0.1, "batch": 0.1, "narrow": 0.5, "loop_addresses": 0.1
}  # fmt: skip
DRAWN = 0.3  # how much
# Usual counts, by which a weight is drawn as much for each word.
USUAL = {
    "ahead": 10, "copies": 10, "scalars": 10, "looped": 1, "one": 0.6
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Known:
    """A compiled kernel: what it has to keep; between which registers it wants what gives its CTAs per SM; between which
    it wanted what it got, where it was free to; and its name."""

    need: Need
    low: float
    high: float
    registers: float
    at_most: float
    free: bool
    name: str


class _Table:
    """Kernels as arrays: [kernel, place, count] and [kernel, sum]."""

    def __init__(self, rows: list[Known], places: list[str], sums: list[str]) -> None:
        most = max(1, *(len(row.need.points) for row in rows))
        self.places = np.zeros((len(rows), most, len(places)))
        self.absent = np.ones((len(rows), most), dtype=bool)
        for at, row in enumerate(rows):
            for number, point in enumerate(row.need.points):
                self.places[at, number] = [getattr(point, name) for name in places]
                self.absent[at, number] = False
        self.sums = np.array([[features(row.need)[name] for name in sums] for row in rows])
        self.low, self.high, self.registers, self.at_most = (
            np.log([getattr(row, name) for row in rows]) for name in ("low", "high", "registers", "at_most")
        )
        self.free = np.array([row.free for row in rows])
        # Kernels with many rows do not outvote the others entirely.
        counts = collections.Counter(row.name for row in rows)
        self.share = np.array([counts[row.name] ** -0.4 for row in rows])


def fit(rows: list[Known], family: str) -> dict[str, Any]:
    """The weights of one family."""
    places, sums = TERMS[family]
    weights = _weights(_Table(rows, places, sums), places, sums)

    def kept(names: list[str], some: Any) -> dict[str, float]:
        return {
            name: round(float(weight), 3) for name, weight in zip(names, some, strict=True) if weight > 5e-4
        }

    return {"weights": kept(sums, weights[len(places) :]), "places": kept(places, weights[: len(places)])}


def _weights(table: _Table, places: list[str], sums: list[str]) -> Any:
    """The likeliest weights of at least zero."""
    kernels, most_places, counts = table.places.shape
    flat = table.places.reshape(kernels * most_places, counts)
    start = np.array([*(START[name] for name in places), *(START_SUMS[name] for name in sums)], dtype=float)
    usual = np.array([*(USUAL.get(name, 20) / 20 for name in (*places, *sums))])
    scale = np.concatenate([table.places.max(axis=1).mean(axis=0) + 0.3, table.sums.mean(axis=0) + 0.3])
    absent = np.where(table.absent, -1e4, 0)

    def density(at: Any) -> Any:
        return np.exp(-np.minimum(at * at, 1400) / 2) / np.sqrt(2 * np.pi)

    def loss(scaled: Any) -> tuple[float, Any]:
        weights = scaled / scale
        needs = (flat @ weights[:counts]).reshape(kernels, most_places) + absent
        most = needs.max(axis=1, keepdims=True)
        each = np.exp((needs - most) / SOFT)
        whole = each.sum(axis=1, keepdims=True)
        guess = np.maximum((most + SOFT * np.log(whole))[:, 0] + table.sums @ weights[counts:], 8.0)
        log = np.log(guess)
        above, below = (table.high - log) / SPREAD, (table.low - log) / SPREAD
        likely = (ndtr(above) - ndtr(below)) * (1 - ODD) + ODD
        slope = (density(above) - density(below)) / SPREAD * (1 - ODD) / likely
        off = np.minimum(log - table.registers, 0) + np.maximum(log - table.at_most, 0)
        away = np.sqrt(off * off + 0.01)
        value = table.share * (-np.log(likely) + np.where(table.free, CLOSE * away, 0))
        steep = table.share * (slope + np.where(table.free, CLOSE * off / away, 0)) / guess
        by_place = (steep[:, None] * each / whole).reshape(-1) @ flat
        apart = (weights - start) * usual
        towards = np.concatenate([by_place, steep @ table.sums]) + 2 * DRAWN * apart * usual
        return float(value.sum() + DRAWN * (apart @ apart)), towards / scale

    bounds = [(0, None)] * len(start)
    found = minimize(
        loss, start * scale, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 300}
    )
    return found.x / scale
