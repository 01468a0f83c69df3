"""Fit the estimate of registers per thread, and say how far off it is on kernels left out of the fit.

    python benchmarks/fit_registers.py collect ROWS.jsonl [...] --root CHECKOUTS > benchmarks/data/registers.csv
    python benchmarks/fit_registers.py fit benchmarks/data/registers*.csv [--write tritonlint/compiler/registers.json]

`collect` takes rows as accuracy.py does, with `regs` (a thread) and `spill` (bytes of stack, or spilled
words), on AMD `vgpr` and `vgpr_spill`, and `ctas_per_sm` where it was measured, and writes what one thread
has to keep (tritonlint.compiler.registers.Need) beside the truth. `fit` needs numpy. For each family of
instructions a linear model with weights of at least zero is fitted to relative errors. A launch that spills
or stands at its limit only says that the need is at least the limit, so it counts only where the model asks
for less. The range is the 5% to 95% quantile of truth / estimate over kernels left out, in ten parts by
kernel. The mean error that is printed is of launches that do not spill.
"""

from __future__ import annotations

import argparse
import collections
import csv
import dataclasses
import json
import math
import pathlib
import sys
import zlib
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
# Of those that are said to spill; 0.95 elsewhere. Fewer rows are known of AMD.
PRECISION = {"amd_none": 0.9, "mfma": 0.9, "wmma": 0.9}
# What is surely held is no term of the model: it only says which spills are certain.
NEED = [field.name for field in dataclasses.fields(model.Need) if field.name != "surely_held"]
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
    """The weights of one family."""
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


def wanted(row: dict[str, Any], weights: dict[str, float]) -> float:
    terms = model.features(need_of_row(row), Target(row["arch"]))
    return sum(weight * terms[name] for name, weight in weights.items())


def parts_of(rows: list[dict[str, Any]]) -> list[int]:
    """The part in which each row is left out: by kernel, or by shape where one kernel has most rows."""
    most = max(collections.Counter(row["group"] for row in rows).values())
    few = 2 * most > len(rows)
    keys = [str([row[name] for name in NEED]) if few else row["group"] for row in rows]
    return [zlib.crc32(key.encode()) % PARTS for key in keys]


def report(rows: list[dict[str, Any]], guesses: list[float], entry: dict[str, float], label: str) -> None:
    error = same = inside = hit = said = true = sure = 0
    for row, guess in zip(rows, guesses, strict=True):
        limit = limit_of(row)
        estimate = max(16, min(limit, round(guess)))
        if not row["spill"]:
            error += abs(estimate - row["regs"])
        low, high = min(limit, guess * entry["low"]), min(limit, guess * entry["high"])
        inside += low - 1 <= row["regs"] <= max(16, high + 1)
        same += ctas(row, estimate) == ctas(row, row["regs"])
        certain = model.surely_held(need_of_row(row), Target(row["arch"])) > limit
        sure += certain and not row["spill"]
        spills = certain or guess > entry["spills_from"] * limit
        said += spills
        true += bool(row["spill"])
        hit += spills and bool(row["spill"])
    count = len(rows)
    print(
        f"{label:9} {count:5} rows  error {error / max(1, count - true):5.1f}  in range {100 * inside / count:4.0f}%"
        f"  CTAs per SM right {100 * same / count:5.1f}%"
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


def spill_threshold(rows: list[dict[str, Any]], guesses: list[float], precision: float) -> float:
    """The lowest share of the limit from which on at least that share of launches spills; never below 1."""
    asked = sorted(  # of equals those that do not spill first
        ((guess / limit_of(row), bool(row["spill"])) for row, guess in zip(rows, guesses, strict=True)),
        key=lambda entry: (-entry[0], entry[1]),
    )
    best, hits = 2.0, 0
    for number, (share, spills) in enumerate(asked, 1):
        hits += spills
        if share < 1:
            break
        if spills and hits >= precision * number:
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
            "spills_from": spill_threshold(rows, guesses, PRECISION.get(family, 0.95)),
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
