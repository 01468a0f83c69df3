"""Fit the estimate of registers per thread, and say how far off it is on kernels left out of the fit.

    python benchmarks/fit_registers.py collect ROWS.jsonl [...] --root CHECKOUTS > benchmarks/data/registers.csv
    python benchmarks/fit_registers.py fit benchmarks/data/registers*.csv [--write tritonlint/compiler/registers.json]

`collect` takes rows as accuracy.py does, with `regs` (a thread) and `spill` (bytes of stack, or spilled words), on AMD
`vgpr` and `vgpr_spill`, and `ctas_per_sm` where it was measured, and writes what one thread has to keep
(tritonlint.compiler.register_need.Need) beside the truth. `fit` needs numpy and scipy.

What a thread wants is a sum and what the place needs that needs most (fit_places.py), for each family of instructions.
With WMMA it is a sum alone, with weights of at least zero, fitted to relative errors of the registers: places tell no
more there. A launch that spills or stands at its limit only says that the need is at least
the limit. The range is the 5% to 95% quantile of truth / estimate over kernels left out, in ten parts by kernel; kernels
of one name are one kernel, whatever library they come from. The range, `squeeze` and `spills_from` that a part is judged
with are chosen by the other parts, so that no number printed is of kernels that had a say in it; what is written is
chosen by all. The mean error that is printed is of launches that do not spill.

The rows of registers.csv: launches of gpu_kernels.py and others timed on an H200; compiles of public libraries
(PROJECT:KERNEL; their meta-parameters are those that the library states, or that its own tests gave them); and the
launches that register_jobs.py lists of register_kernels.py. Those of registers_amd.csv are the same kinds, compiled
with 3.4 to 3.9; of the launches without products that register_jobs.py lists, those for gfx90a, gfx950 and gfx1201 are
every third one. Launches that ask for more local memory than there is are left out.
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
import fit_places

from tritonlint.compiler import registers as model
from tritonlint.compiler.graph import from_function
from tritonlint.compiler.layout_pipeline import clean_ttir
from tritonlint.compiler.options import Options
from tritonlint.compiler.pass_order import final_layouts, first_layouts, pipeline_and_finish, pointer_facts
from tritonlint.compiler.register_need import Need, need_of
from tritonlint.compiler.register_points import Point
from tritonlint.compiler.releases import parse_release
from tritonlint.compiler.scratch_of import scratch_by_op
from tritonlint.compiler.target import Target
from tritonlint.compiler.warp_specialize import specialized_loops
from tritonlint.gpu.profile import find_gpu
from tritonlint.model.occupancy import occupancy

PARTS = 10
GPUS = {
    "sm_80": "a100", "sm_86": "rtx3090", "sm_90": "h200", "sm_100": "b200", "sm_120": "rtx5090",
    "gfx90a": "mi250x", "gfx942": "mi300x", "gfx950": "mi350x", "gfx1100": "rx7900xtx", "gfx1201": "rx9070xt",
}  # fmt: skip
PLACES = tuple(fit_places.TERMS)
SUMS = {
    "wmma": (
        "one", "peak", "loop_peak", "held", "streamed", "loop_addresses", "scalars", "batch", "accumulator", "operands"
    )
}  # fmt: skip
STEPPED = ("none", "mma_v2", "wgmma", "tcgen05")  # families whose assembler takes a step less, or gives up
# Of the launches that are said to spill: so many are asked for that nine of ten remain in kernels that had no say.
PRECISION = 0.92
SQUEEZES = [(share, words) for share in (0.0, 0.04, 0.08, 0.12, 0.16) for words in (0, 2, 4)]
NEED = [field.name for field in dataclasses.fields(Need)]
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
            need = written(need_of(graph, scratch_by_op(options.num_warps, target, release)))
            group = f"{row['project']}:{row['kernel']}" if row.get("project") else row["kernel"]
            version = f"{release.major}.{release.minor}"
            truth = (registers, int(bool(spilled)), row.get("ctas_per_sm") or "", row["shared"])
            writer.writerow([group, row["kernel"], target.arch, version, options.num_warps, *need, *truth])


def written(need: Need) -> list[Any]:
    """The columns of what a thread has to keep: places as "kept=4 going=2;kept=6"."""

    def text(point: Point) -> str:
        counts = ((field.name, getattr(point, field.name)) for field in dataclasses.fields(Point))
        return " ".join(f"{name}={count}" for name, count in counts if count)

    values = {name: getattr(need, name) for name in NEED}
    return [*(values | {"points": ";".join(map(text, need.points))}).values()]


def needs_of(path: str) -> list[dict[str, Any]]:
    """The rows of a table, with the need of each as `need`."""
    rows = []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            need: dict[str, Any] = {
                name: row[name] if name == "family" else int(row[name]) for name in NEED if name != "points"
            }
            points = [
                Point(**{name: int(count) for name, count in (entry.split("=") for entry in text.split())})
                for text in row["points"].split(";")
            ]
            numbers = {name: int(row[name]) for name in ("warps", "regs", "spill", "shared")}
            rows.append({**row, **numbers, "need": Need(**need, points=tuple(points))})
    return rows


def limit_of(row: dict[str, Any]) -> int:
    return model.register_limit(Options(num_warps=row["warps"]), Target(row["arch"]))


def fit_sum(rows: list[dict[str, Any]], family: str) -> dict[str, Any]:
    """The weights of a family, fitted to relative errors of the registers."""
    import numpy as np

    names = SUMS[family]
    matrix = np.array([[model.features(r["need"])[n] for n in names] for r in rows], dtype=float)
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
    kept = {
        name: float(round(weight, 3)) for name, weight in zip(names, weights, strict=True) if weight > 5e-4
    }
    return {"weights": kept}


def is_free(row: dict[str, Any]) -> bool:
    """Whether the registers are what was wanted, not what was left."""
    return not row["spill"] and row["regs"] < limit_of(row) - 1


def wanted_between(row: dict[str, Any]) -> tuple[float, float]:
    """Between which numbers of registers a kernel wants what gives the true CTAs per SM. A spill at the limit says that
    more than the limit was wanted; so does one at the few registers that the assembler falls back to when it gives up
    (32, 40 on sm_120). At the limit there is no upper end."""
    limit = limit_of(row)
    most = limit if Target(row["arch"]).is_amd else model.REGISTERS_MAX
    if row["spill"] and (row["regs"] >= limit - 8 or row["regs"] <= 40):
        return 1.05 * limit, 1e6
    low = high = row["regs"]
    while low > 8 and ctas(row, low - 1) == ctas(row, low):
        low -= 1
    while high < most and ctas(row, high + 1) == ctas(row, high):
        high += 1
    top = 1e6 if row["regs"] >= limit - 1 else 1.1 * limit
    return low - 1 if low > 8 else 1e-3, high if high < min(most, limit) else top


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


def estimated(
    row: dict[str, Any], guess: float, squeeze: tuple[float, float] | None, gives_up: float = math.inf
) -> int:
    """The registers that the estimate states for what is wanted."""
    options, limit = Options(num_warps=row["warps"]), limit_of(row)
    least = model.given_up(options, Target(row["arch"])) if guess > gives_up * limit else None
    if least is not None:
        return least
    given = guess if squeeze is None else model.squeezed(guess, options, *squeeze)
    return model.clamp(given, limit)


def best_squeeze(rows: list[dict[str, Any]], guesses: list[float]) -> tuple[float, float]:
    """The share and the words that the assembler gives up for one more CTA: with which most CTAs per SM are right."""

    def right(squeeze: tuple[float, float]) -> int:
        return sum(
            ctas(row, estimated(row, guess, squeeze)) == ctas(row, row["regs"])
            for row, guess in zip(rows, guesses, strict=True)
        )

    return max(SQUEEZES, key=right)


def gives_up_from(rows: list[dict[str, Any]], guesses: list[float]) -> float:
    """The share of the limit from which on the assembler gives up on most kernels: with which most CTAs per SM are
    right, infinite where none is better."""
    gain, best, most = 0, math.inf, 0
    for guess, row in sorted(zip(guesses, rows, strict=True), key=lambda one: -one[0] / limit_of(one[1])):
        limit = limit_of(row)
        if guess < limit:
            break
        least = model.given_up(Options(num_warps=row["warps"]), Target(row["arch"]))
        if least is not None:
            true = ctas(row, row["regs"])
            gain += (ctas(row, least) == true) - (ctas(row, limit) == true)
        if gain > most:
            most, best = gain, math.floor(1e3 * guess / limit) / 1e3
    return best


def parts_of(rows: list[dict[str, Any]]) -> list[int]:
    """The part in which each row is left out: by kernel, whatever project or direction it is of, so that copies of one
    kernel are left out together."""
    return [zlib.crc32(plain_name(row["kernel"]).encode()) % PARTS for row in rows]


def plain_name(kernel: str) -> str:
    return re.sub(r"_?(kernel|fwd|bwd|forward|backward|v\d)", "", kernel).strip("_")


def report(
    rows: list[dict[str, Any]], guesses: list[float], entries: list[dict[str, Any]], label: str
) -> None:
    """One line of how often the estimates hold; each row comes with its guess and the settings chosen without it."""
    error = same = inside = hit = said = true = sure = 0
    by_kernel: dict[str, list[bool]] = collections.defaultdict(list)
    for row, guess, entry in zip(rows, guesses, entries, strict=True):
        limit = limit_of(row)
        estimate = estimated(row, guess, entry.get("squeeze"), entry.get("gives_up", math.inf))
        if not row["spill"]:
            error += abs(estimate - row["regs"])
        low, high = (model.clamp(guess * entry[end], limit) for end in ("low", "high"))
        inside += min(low, estimate) <= row["regs"] <= high
        right = ctas(row, estimate) == ctas(row, row["regs"])
        same += right
        by_kernel[plain_name(row["kernel"])].append(right)
        certain = model.surely_spills(row["need"], Target(row["arch"]), limit)
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
        f", falsely certain {sure}",
        flush=True,
    )


def ctas(row: dict[str, Any], registers: int) -> int | None:
    """CTAs per SM on a GPU of the row's architecture, were these its registers."""
    return _ctas(row["arch"], row["warps"], row["shared"], registers)


@cache
def _ctas(arch: str, warps: int, shared: int, registers: int) -> int | None:
    return occupancy(find_gpu(GPUS[arch]), warps=warps, registers=registers, shared_bytes=shared).ctas_per_sm


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spill_threshold(rows: list[dict[str, Any]], guesses: list[float]) -> float:
    """The lowest share of the limit from which on at least that many launches spill; never below 0.9. A spill below the
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


def odds(rows: list[dict[str, Any]], guesses: list[float]) -> tuple[float, float]:
    """At which share of the limit every second launch spills, and how steeply the odds rise with it: the likeliest."""
    import numpy as np
    from scipy.optimize import minimize

    shares = np.log([guess / limit_of(row) for row, guess in zip(rows, guesses, strict=True)])
    signs = np.array([1 if row["spill"] else -1 for row in rows])

    def unlikely(found: Any) -> float:
        even, power = found
        return float(np.logaddexp(0, -signs * power * (shares - even)).sum())

    even, power = minimize(unlikely, [0.1, 8.0], method="Nelder-Mead").x
    return round(math.exp(even), 3), round(float(power), 2)


def settings(rows: list[dict[str, Any]], guesses: list[float], family: str) -> dict[str, Any]:
    """What is chosen by guesses for kernels that were left out of the fit."""
    free = [row["regs"] / guess for row, guess in zip(rows, guesses, strict=True) if guess and is_free(row)]
    squeeze: dict[str, Any] = {"squeeze": best_squeeze(rows, guesses)} if family in STEPPED else {}
    if family in STEPPED and (gives_up := gives_up_from(rows, guesses)) < math.inf:
        squeeze["gives_up"] = gives_up
    return {
        "low": round(min(1.0, quantile(free, 0.05)), 3),
        "high": round(max(1.0, quantile(free, 0.95)), 3),
        **squeeze,
        "spills_from": spill_threshold(rows, guesses),
        "odds": odds(rows, guesses),
    }


def fitted(rows: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The weights of every family."""
    places = {family: fit_places.fit([known(row) for row in rows[family]], family) for family in PLACES}
    return places | {family: fit_sum(rows[family], family) for family in SUMS}


def known(row: dict[str, Any]) -> fit_places.Known:
    """What the fit takes of a row."""
    low, high = wanted_between(row)
    top = float(row["regs"])
    stepped = not Target(row["arch"]).is_amd
    if stepped and is_free(row) and row["regs"] in model.steps_of(Options(num_warps=row["warps"])):
        # It may have wanted more, and been given the step.
        top = 1.12 * top + 2
        high = max(high, top)
    return fit_places.Known(
        row["need"], low, high, float(row["regs"]), top, is_free(row), plain_name(row["kernel"])
    )


def fit_all(paths: list[str], write: str | None) -> None:
    everything = [row for path in paths for row in needs_of(path)]
    parts = parts_of(everything)
    guesses = [0.0] * len(everything)
    families = [model.model_name(row["need"].family, Target(row["arch"])) for row in everything]

    def of(family: str, without: int | None = None) -> list[int]:
        return [at for at, its in enumerate(families) if its == family and parts[at] != without]

    for part in range(PARTS):
        weights = fitted({family: [everything[at] for at in of(family, part)] for family in (*PLACES, *SUMS)})
        for at, row in enumerate(everything):
            if parts[at] == part:
                guesses[at] = model.wanted_of(row["need"], weights[families[at]])
    found = fitted({family: [everything[at] for at in of(family)] for family in (*PLACES, *SUMS)})
    for family, entry in found.items():
        places = of(family)
        entry |= settings([everything[at] for at in places], [guesses[at] for at in places], family)
        without = {
            part: settings(
                [everything[at] for at in of(family, part)], [guesses[at] for at in of(family, part)], family
            )
            for part in {parts[at] for at in places}
        }
        by_arch: dict[str, list[int]] = collections.defaultdict(list)
        for at in places:
            by_arch[everything[at]["arch"]].append(at)
        for label, some in (
            (family, places),
            *((f"  {arch}", some) for arch, some in sorted(by_arch.items())),
        ):
            report(
                [everything[at] for at in some],
                [guesses[at] for at in some],
                [without[parts[at]] for at in some],
                label,
            )
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
