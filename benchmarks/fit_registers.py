"""Fit the estimate of registers per thread, and say how far off it is on kernels left out of the fit.

    python benchmarks/fit_registers.py collect ROWS.jsonl [...] --root CHECKOUTS > benchmarks/data/registers.csv
    python benchmarks/fit_registers.py fit benchmarks/data/registers*.csv [--write tritonlint/compiler/registers.json]

`collect` takes rows as accuracy.py does, with `regs` (a thread) and `spill` (bytes of stack, or spilled words), on AMD
`vgpr` and `vgpr_spill`, and `ctas_per_sm` where it was measured, and writes what one thread has to keep
(tritonlint.compiler.registers.Need) beside the truth. `fit` needs numpy and scipy.
For each family of instructions a linear model with weights of at least
zero is fitted, first of all to the number of CTAs per SM: registers are given out in steps, and the assembler uses what a
step leaves free. A launch that spills or stands at its limit only says that the need is at least the limit. The range is
the 5% to 95% quantile of truth / estimate over kernels left out, in ten parts by kernel; kernels of one name are one
kernel, whatever library they come from. The mean error that is printed is of launches that do not spill. The two shares
(`squeeze`, `spills_from`) are chosen on all kernels.

The rows of registers.csv: launches of gpu_kernels.py and others timed on an H200; recorded compiles of public libraries
(PROJECT:KERNEL; their meta-parameters are those of the library where it states them, else plausible ones); and the
launches that register_jobs.py lists of register_kernels.py.
"""

from __future__ import annotations

import argparse
import collections
import csv
import dataclasses
import json
import math
import pathlib
import re
import statistics
import sys
import zlib
from functools import cache
from typing import Any

import accuracy

from tritonlint.compiler import registers as model
from tritonlint.compiler.graph import from_function
from tritonlint.compiler.layout_pipeline import clean_ttir
from tritonlint.compiler.options import Options
from tritonlint.compiler.pass_order import final_layouts, first_layouts, pipeline_and_finish, pointer_facts
from tritonlint.compiler.releases import parse_release
from tritonlint.compiler.target import Target
from tritonlint.compiler.warp_specialize import specialized_loops
from tritonlint.gpu.profile import find_gpu
from tritonlint.model.occupancy import occupancy

PARTS = 10
SPREAD = 0.15  # of the logarithm of what is wanted
CLOSE = 3.0  # what being off by a factor counts beside the wrong class
GPUS = {
    "sm_80": "a100", "sm_86": "rtx3090", "sm_90": "h200", "sm_100": "b200", "sm_120": "rtx5090",
    "gfx90a": "mi250x", "gfx942": "mi300x", "gfx950": "mi350x", "gfx1100": "rx7900xtx", "gfx1201": "rx9070xt",
}  # fmt: skip
COMMON = ("one", "peak", "loop_peak", "held", "streamed", "addresses", "loop_addresses", "scalars")
ON_THEIR_WAY = ("batch", "copies")
READ = ("accumulator", "fragments", "operands")
TERMS = {
    "none": (*COMMON, "batch"),
    "mma_v2": (*COMMON, *READ, "fragments_before_sm_90", "operands_before_sm_90"),
    "wgmma": (*COMMON, *READ, *ON_THEIR_WAY),
    "tcgen05": ("one", "peak", "held", "loop_addresses"),
    "amd_none": (*COMMON, "accumulator", "operands", "batch"),
    "mfma": (*COMMON, *READ, "batch"),
    "wmma": (*COMMON, *READ, "batch"),
}
PRECISION = 0.9  # of the launches that are said to spill
AMD = ("amd_none", "mfma", "wmma")
# What is surely held is no term of the model: it only says which spills are certain.
CERTAIN = ("surely_held", "whole")
NEED = [field.name for field in dataclasses.fields(model.Need) if field.name not in CERTAIN]
COLUMNS = ["group", "kernel", "arch", "release", "warps", *NEED, "regs", "spill", "ctas_per_sm", "shared"]


def collect(paths: list[str], root: pathlib.Path) -> None:
    """Write one line per row: what a thread has to keep, and its registers."""
    writer = csv.writer(sys.stdout)
    writer.writerow(COLUMNS)
    kernels = accuracy.Kernels()
    for path in paths:
        for row in accuracy.rows_of(pathlib.Path(path)):
            target = accuracy.target_of(row)
            release = parse_release(row.get("v") or row["triton"])
            registers = row.get("vgpr" if target.is_amd else "regs")
            if release is None or registers is None:
                continue
            spilled = row.get("vgpr_spill" if target.is_amd else "spill")
            file = accuracy.found_file(root, row)
            kernel = kernels.find(file, row["kernel"], row.get("line"), target.arch, release.version)
            if kernel is None:
                continue
            traced = accuracy.trace_of(row, kernel, target, release.version)
            options = accuracy.options_of(row)
            if traced.errors or traced.gaps:
                continue
            graph = from_function(traced.function)
            clean_ttir(graph, target, release)
            first_layouts(graph, options, target, release)
            final_layouts(graph, options, target, release)
            if specialized_loops(graph, target, release, options.num_stages):
                continue
            pipeline_and_finish(graph, pointer_facts(graph, target, release), options, target, release)
            need = dataclasses.asdict(model.need_of(graph))
            group = f"{row['project']}:{row['kernel']}" if row.get("project") else row["kernel"]
            numbers = [need[name] for name in NEED]
            version = f"{release.major}.{release.minor}"
            truth = (registers, int(bool(spilled)), row.get("ctas_per_sm") or "", row["shared"])
            writer.writerow([group, row["kernel"], target.arch, version, options.num_warps, *numbers, *truth])


def needs_of(path: str) -> list[dict[str, Any]]:
    rows = []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            for name in ("warps", "regs", "spill", "shared", *NEED):
                if name != "family":
                    row[name] = int(row[name])
            rows.append(row)
    return rows


def need_of_row(row: dict[str, Any]) -> model.Need:
    return model.Need(**{name: row[name] for name in NEED}, surely_held=row["held"])


def limit_of(row: dict[str, Any]) -> int:
    return model.register_limit(Options(num_warps=row["warps"]), Target(row["arch"]))


def fit(rows: list[dict[str, Any]], family: str) -> dict[str, float]:
    """The weights of one family: those under which the true classes of CTAs per SM are likeliest, were the logarithm of
    what is wanted known up to a normal error (an interval regression), and the registers near to the true ones."""
    if family in AMD:
        return fit_amd(rows, family)
    import numpy as np
    from scipy.optimize import minimize
    from scipy.stats import norm

    names = TERMS[family]
    matrix = np.array(
        [[model.features(need_of_row(r), Target(r["arch"]))[n] for n in names] for r in rows], dtype=float
    )
    truth = np.array([r["regs"] for r in rows], dtype=float)
    bounds = np.array([wanted_between(r) for r in rows], dtype=float)
    free = np.array([is_free(r) for r in rows], dtype=bool)
    # Kernels with many rows do not outvote the others entirely.
    counts = collections.Counter(_plain_name(r["kernel"]) for r in rows)
    share = np.array([counts[_plain_name(r["kernel"])] ** -0.4 for r in rows])
    low, high, exact = np.log(bounds[:, 0]), np.log(bounds[:, 1]), np.log(truth)
    scale = matrix.mean(axis=0) + 1e-9

    def loss(scaled: Any) -> tuple[float, Any]:
        guess = np.maximum(matrix @ (scaled / scale), 8.0)
        at = np.log(guess)
        above, below = (high - at) / SPREAD, (low - at) / SPREAD
        odd = 0.02  # kernels that the model says nothing of
        likely = (norm.cdf(above) - norm.cdf(below)) * (1 - odd) + odd
        slope = (norm.pdf(above) - norm.pdf(below)) / SPREAD * (1 - odd) / likely
        off = at - exact
        away = np.sqrt(off * off + 0.01)
        value = share * (-np.log(likely) + np.where(free, CLOSE * away, 0))
        steep = share * (slope + np.where(free, CLOSE * off / away, 0))
        return float(value.sum()), ((steep / guess)[:, None] * matrix).sum(axis=0) / scale

    start = _nonnegative(matrix[free] * (share / truth)[free, None], share[free]) * scale
    found = minimize(loss, start + 0.01 * scale, jac=True, bounds=[(0, None)] * len(names), method="L-BFGS-B")
    weights = found.x / scale
    return {
        name: float(round(weight, 3)) for name, weight in zip(names, weights, strict=True) if weight > 5e-4
    }


def fit_amd(rows: list[dict[str, Any]], family: str) -> dict[str, float]:
    """The weights of a family of AMD, fitted to relative errors of the registers: LLVM takes no such steps."""
    import numpy as np

    names = TERMS[family]
    matrix = np.array(
        [[model.features(need_of_row(r), Target(r["arch"]))[n] for n in names] for r in rows], dtype=float
    )
    truth = np.array([r["regs"] for r in rows], dtype=float)
    limits = np.array([limit_of(r) for r in rows], dtype=float)
    censored = np.array([bool(r["spill"]) for r in rows], dtype=bool) | (truth >= limits - 1)
    # Kernels with many rows do not outvote the others entirely.
    counts = collections.Counter(r["group"] for r in rows)
    share = np.array([counts[r["group"]] ** -0.25 for r in rows])
    # Up to 48 registers hardly limit the number of warps.
    scale = share / np.maximum(truth, 48)
    weights = np.zeros(len(names))
    used, trust = ~censored, np.ones(len(rows))
    for _ in range(12):
        each = scale[used] * trust[used]
        weights = _nonnegative(matrix[used] * each[:, None], truth[used] * each)
        guess = matrix @ weights
        used = ~censored | (guess < limits)
        # Least absolute errors by least squares with weights: a few odd kernels do not bend the model.
        trust = np.maximum(np.abs(guess - truth) / np.maximum(truth, 48), 0.3) ** -0.5
    return {
        name: float(round(weight, 3)) for name, weight in zip(names, weights, strict=True) if weight > 5e-4
    }


def is_free(row: dict[str, Any]) -> bool:
    """Whether the registers are what was wanted, not what was left."""
    return not row["spill"] and row["regs"] < limit_of(row) - 1


@cache
def _ctas_by_registers(arch: str, warps: int, shared: int) -> tuple[int | None, ...]:
    row = {"arch": arch, "warps": warps, "shared": shared}
    return tuple(ctas(row, registers) for registers in range(256))


def wanted_between(row: dict[str, Any]) -> tuple[float, float]:
    """Between which numbers of registers a kernel wants what gives the true CTAs per SM. A spill at the limit says that
    more than the limit was wanted; so does one at the few registers that the assembler falls back to when it gives up
    (32, 40 on sm_120). At the limit there is no upper end."""
    limit = limit_of(row)
    if row["spill"] and (row["regs"] >= limit - 8 or row["regs"] <= 40):
        return 1.05 * limit, 1e6
    table = _ctas_by_registers(row["arch"], row["warps"], row["shared"])
    low = high = row["regs"]
    while low > 8 and table[low - 1] == table[row["regs"]]:
        low -= 1
    while high < 255 and table[high + 1] == table[row["regs"]]:
        high += 1
    top = 1e6 if row["regs"] >= limit - 1 else 1.1 * limit
    return low - 1 if low > 8 else 1e-3, high if high < min(255, limit) else top


def _nonnegative(matrix: Any, wanted: Any) -> Any:
    """Least squares with weights of at least zero: the most negative term is left out, until none is."""
    import numpy as np

    gram, right = matrix.T @ matrix, matrix.T @ wanted
    kept = [at for at in range(len(right)) if gram[at, at] > 0]
    weights = np.zeros(len(right))
    while kept:
        solved = np.linalg.lstsq(gram[np.ix_(kept, kept)], right[kept], rcond=None)[0]
        if solved.min() >= 0:
            weights[kept] = solved
            break
        del kept[int(solved.argmin())]
    return weights


def estimated(row: dict[str, Any], guess: float, squeeze: float) -> int:
    """The registers that the estimate states for what is wanted."""
    given = model.squeezed(guess, Options(num_warps=row["warps"]), squeeze)
    return max(16, min(limit_of(row), round(given)))


def best_squeeze(rows: list[dict[str, Any]], guesses: list[float]) -> float:
    """The share that the assembler gives up for one more CTA: with which most CTAs per SM are right."""

    def right(share: float) -> int:
        return sum(
            ctas(row, estimated(row, guess, share)) == ctas(row, row["regs"])
            for row, guess in zip(rows, guesses, strict=True)
        )

    return max((0.0, 0.04, 0.08, 0.12, 0.16), key=right)


def wanted(row: dict[str, Any], weights: dict[str, float]) -> float:
    terms = model.features(need_of_row(row), Target(row["arch"]))
    return sum(weight * terms[name] for name, weight in weights.items())


def parts_of(rows: list[dict[str, Any]]) -> list[int]:
    """The part in which each row is left out: by kernel, whatever project or direction it is of, so that copies of one
    kernel are left out together."""
    return [zlib.crc32(_plain_name(row["kernel"]).encode()) % PARTS for row in rows]


def _plain_name(kernel: str) -> str:
    return re.sub(r"_?(kernel|fwd|bwd|forward|backward|v\d)", "", kernel).strip("_")


def report(rows: list[dict[str, Any]], guesses: list[float], entry: dict[str, float], label: str) -> None:
    error = same = inside = hit = said = true = sure = 0
    by_kernel: dict[str, list[bool]] = collections.defaultdict(list)
    for row, guess in zip(rows, guesses, strict=True):
        limit = limit_of(row)
        estimate = estimated(row, guess, entry["squeeze"])
        if not row["spill"]:
            error += abs(estimate - row["regs"])
        low, high = min(limit, guess * entry["low"]), min(limit, guess * entry["high"])
        inside += low - 1 <= row["regs"] <= max(16, high + 1)
        right = ctas(row, estimate) == ctas(row, row["regs"])
        same += right
        by_kernel[_plain_name(row["kernel"])].append(right)
        certain = model.surely_spills(need_of_row(row), Target(row["arch"]), limit)
        sure += certain and not row["spill"]
        spills = certain or guess > entry["spills_from"] * limit
        said += spills
        true += bool(row["spill"])
        hit += spills and bool(row["spill"])
    count = len(rows)
    print(
        f"{label:9} {count:5} rows  error {error / max(1, count - true):5.1f}  in range {100 * inside / count:4.0f}%"
        f"  CTAs per SM right {100 * same / count:5.1f}%"
        f" (mean of kernels {statistics.mean(100 * sum(of) / len(of) for of in by_kernel.values()):5.1f}%)"
        f"  spills: {true} true, precision {hit / max(1, said):.2f}, recall {hit / max(1, true):.2f}"
        f", falsely certain {sure}"
    )


def ctas(row: dict[str, Any], registers: int) -> int | None:
    """CTAs per SM on a GPU of the row's architecture, were these its registers."""
    gpu = find_gpu(GPUS[row["arch"]])
    return occupancy(gpu, warps=row["warps"], registers=registers, shared_bytes=row["shared"]).ctas_per_sm


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spill_threshold(rows: list[dict[str, Any]], guesses: list[float]) -> float:
    """The lowest share of the limit from which on at least 9 of 10 launches spill; never below 0.9. A spill below the
    limit (a few bytes, for one more CTA) is none that the model can tell."""
    asked = sorted(  # of equals those that do not spill first
        ((guess / limit_of(row), bool(row["spill"])) for row, guess in zip(rows, guesses, strict=True)),
        key=lambda entry: (-entry[0], entry[1]),
    )
    best, hits = 2.0, 0
    for number, (share, spills) in enumerate(asked, 1):
        hits += spills
        if share < 0.9:
            break
        if spills and hits >= PRECISION * number:
            best = share
    return math.floor(1e5 * best) / 1e5


def fit_all(paths: list[str], write: str | None) -> None:
    found: dict[str, Any] = {}
    everything = [row for path in paths for row in needs_of(path)]
    for family in TERMS:
        rows = [row for row in everything if model.model_name(row["family"], Target(row["arch"])) == family]
        if not rows:
            continue
        guesses = [0.0] * len(rows)
        parts = parts_of(rows)
        for part in sorted(set(parts)):
            weights = fit([row for row, its in zip(rows, parts, strict=True) if its != part], family)
            for at, row in enumerate(rows):
                if parts[at] == part:
                    guesses[at] = wanted(row, weights)
        free = [
            row["regs"] / guess
            for row, guess in zip(rows, guesses, strict=True)
            if guess and not row["spill"] and row["regs"] < limit_of(row) - 1
        ]
        entry: dict[str, Any] = {
            "weights": fit(rows, family),
            "low": round(min(1.0, quantile(free, 0.05)), 3),
            "high": round(max(1.0, quantile(free, 0.95)), 3),
            "squeeze": 0.0 if family in AMD else best_squeeze(rows, guesses),
            "spills_from": spill_threshold(rows, guesses),
        }
        found[family] = entry
        report(rows, guesses, entry, family)
        by_source: dict[str, list[int]] = collections.defaultdict(list)
        for at, row in enumerate(rows):
            by_source[row["arch"]].append(at)
        for arch, places in sorted(by_source.items()):
            report([rows[at] for at in places], [guesses[at] for at in places], entry, f"  {arch}")
    text = json.dumps(found, indent=2) + "\n"
    if write:
        pathlib.Path(write).write_text(text)
    else:
        print(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("collect", "fit"))
    parser.add_argument("files", nargs="+")
    parser.add_argument("--root", default=".")
    parser.add_argument("--write")
    given = parser.parse_args()
    if given.what == "collect":
        collect(given.files, pathlib.Path(given.root))
    else:
        fit_all(given.files, given.write)


if __name__ == "__main__":
    main()
