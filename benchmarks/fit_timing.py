"""Fit the constants of the time model, and say how well it ranks launches.

    python benchmarks/fit_timing.py collect benchmarks/data/h200.csv ROWS.pkl
    python benchmarks/fit_timing.py collect OTHER.csv OTHER.pkl --kernels OTHER_kernels.py
    python benchmarks/fit_timing.py fit ROWS.pkl,MORE.pkl [--hold-out REGEX] [--check OTHER.pkl]
        [--write tritonlint/model/timing.json]
    python benchmarks/fit_timing.py range HELD_OUT.pkl [--write tritonlint/model/timing.json]
    python benchmarks/fit_timing.py check ROWS.pkl

`collect` estimates each timed launch (timed_rows.py) and keeps what the time model reads of it, with the registers and
CTAs that were measured beside those that were estimated, and what a thread has to keep, for fit_spills.py. `fit` needs
numpy and scipy; it fits on the measured ones, so that an error of the register estimate does not bend the mechanisms,
and reports with the estimated ones, as users get them. The loss is of logarithms: robust, fast launches weigh more, and
four fifths of what a problem's launches are off together is forgiven, since ranking is what the model is for. `range`
takes the 5% to 95% quantile of truth / prediction over launches that do not spill, of kernels that nothing is fitted on
(benchmarks/data/h200_held_out.jsonl), so that it holds for kernels as users have them. `--hold-out` leaves kinds, types
or shapes out of the fit and says how well they are predicted.

For each kernel and problem: Spearman's rank correlation, what the model's first choice loses against the best launch
measured, and what the best of its first five loses.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import pathlib
import pickle
import re
import sys
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import spearmanr
from timed_rows import HERE, timed_rows

import tritonlint.compiler.compile as compile_module
import tritonlint.work as work_module
from tritonlint.compiler.registers import register_limit
from tritonlint.estimate import Estimator, job_of
from tritonlint.gpu.profile import find_gpu
from tritonlint.model import timing as model
from tritonlint.model.occupancy import occupancy
from tritonlint.model.waves import waves

# Physical limits, so that the fit cannot trade one mechanism for another without end.
BOUNDS = {
    "tensor": (0.5, 0.95), "tensor_8bit": (0.4, 0.95), "tensor_tf32": (0.5, 0.95), "mma_v2": (0.3, 1.0),
    "shared": (0.3, 1.0), "operands": (0.5, 1.5), "issue": (0.15, 4), "line": (0.3, 4),
    "l2_bytes_per_clock": (16, 128), "burst_bytes_per_clock": (10, 128), "dram": (0.6, 0.92), "barrier_cycles": (10, 100),
    "product_cycles": (10, 300), "l2_cycles": (400, 1500), "dram_cycles": (50, 2000), "in_flight": (8, 128),
    "dependent": (0.5, 8), "spill": (0.2, 8), "program_cycles": (200, 6000), "launch_us": (1, 10), "clash": (0.05, 2),
    "overlap": (1.2, 8), "norm_memory": (1.2, 12),
}  # fmt: skip
FORGIVEN = 0.8
WEIGHT = 0.6  # (best / time) to this power
SPREAD = 0.1


def collect(path: str, out: str, kernels: str, gpu_name: str) -> None:
    gpu = find_gpu(gpu_name)
    counted: list[Any] = []
    measure = work_module.measure

    def kept(*arguments: Any, **named: Any) -> Any:
        counted[:] = [measure(*arguments, **named)]
        return counted[0]

    work_module.measure = kept  # the estimate does not hand it out
    needed: list[Any] = []
    estimate_of = compile_module.estimate_of

    def seen(need: Any, options: Any, target: Any) -> Any:
        needed[:] = [need, register_limit(options, target)]
        return estimate_of(need, options, target)

    compile_module.estimate_of = seen
    rows = []
    for number, timed in enumerate(timed_rows(path, kernels, gpu_name)):
        counted.clear()
        # A new estimator each time: what is kept of earlier launches is large.
        estimate = Estimator().estimate(job_of(timed.job))
        if not counted or counted[0] is None or counted[0].loops is None or estimate.compiled is None:
            continue
        work, compiled = counted[0], estimate.compiled
        regs, shared = int(float(timed.row["regs"])), int(float(timed.row["shared"]))
        true = occupancy(gpu, warps=compiled.warps, shared_bytes=shared, registers=regs).ctas_per_sm
        places = waves(work.programs, gpu.multiprocessors or 1, true)
        turns = model.turns_of(compiled.sections, compiled.loads, [loop.summary for loop in work.loops])
        if turns is None or estimate.bytes_dram is None:
            continue
        spilled = int(float(timed.row["spills"] or 0))
        own = model.Launch(
            work.programs, estimate.ctas_per_sm, compiled.warps, turns, estimate.bytes_dram, compiled.spilled_words
        )  # fmt: skip
        measured = replace(
            own, ctas_per_sm=true, bytes_dram=work.dram_bytes(gpu, places), spilled_words=spilled
        )
        row = dict(group=timed.group, ms=timed.ms, own=own, measured=measured, spills=spilled > 0)
        told = {"config": timed.config, "need": needed[0], "limit": needed[1], "said": estimate.spills}
        rows.append(row | told)
        if number % 100 == 99:
            print(number + 1, file=sys.stderr, flush=True)
    pathlib.Path(out).write_bytes(pickle.dumps(rows))


def predicted(launch: model.Launch, gpu: Any, c: model.Constants) -> float:
    timing = model.launch_time(launch, gpu, c)
    assert timing is not None
    return timing.total_ms


def fit(rows: list[dict[str, Any]], start: model.Constants, gpu: Any, rounds: int) -> model.Constants:
    times = np.array([row["ms"] for row in rows])
    names = sorted({row["group"] for row in rows})
    group = np.array([names.index(row["group"]) for row in rows])
    best = np.array([times[group == at].min() for at in range(len(names))])
    size = np.bincount(group)
    weight = (best[group] / times) ** WEIGHT * size[group] ** -0.15
    free = list(BOUNDS)
    low = np.log([BOUNDS[name][0] for name in free])
    high = np.log([BOUNDS[name][1] for name in free])

    def made(values: Any) -> model.Constants:
        return replace(start, **{name: math.exp(value) for name, value in zip(free, values, strict=True)})

    def residuals(values: Any) -> Any:
        c = made(values)
        off = np.log([predicted(row["measured"], gpu, c) for row in rows]) - np.log(times)
        common = np.bincount(group, off * weight) / np.bincount(group, weight)
        return (off - FORGIVEN * common[group]) * weight

    begin = np.clip(np.log([getattr(start, name) for name in free]), low + 1e-6, high - 1e-6)
    found = least_squares(
        residuals, begin, loss="soft_l1", f_scale=SPREAD, max_nfev=rounds, bounds=(low, high), diff_step=1e-3
    )
    return made(found.x)


def ranged(rows: list[dict[str, Any]], gpu: Any, c: model.Constants) -> model.Constants:
    """The constants with the range that the rows show."""
    steady = [row["ms"] / predicted(row["own"], gpu, c) for row in rows if not row["spills"]]
    return replace(c, low=float(np.quantile(steady, 0.05)), high=float(np.quantile(steady, 0.95)))


def report(rows: list[dict[str, Any]], gpu: Any, c: model.Constants, which: str) -> None:
    by_group: dict[str, list[tuple[float, float]]] = collections.defaultdict(list)
    for row in rows:
        by_group[row["group"]].append((predicted(row[which], gpu, c), row["ms"]))
    kinds: dict[str, list[tuple[float, ...]]] = collections.defaultdict(list)
    for name, pairs in sorted(by_group.items()):
        if len(pairs) < 5:
            continue
        said, true = map(np.array, zip(*pairs, strict=True))
        order = np.argsort(said)
        numbers = (
            spearmanr(said, true)[0],
            true[order[0]] / true.min() - 1,
            true[order[:5]].min() / true.min() - 1,
            float(np.median(np.abs(np.log(said / true)))),
        )
        kinds[name.split()[0]].append(numbers)
        print(line(f"{name} ({len(pairs)})", numbers))
    for kind, found in kinds.items():
        print(line(f"MEAN of {len(found)} {kind}", np.mean(found, axis=0)))


def line(name: str, numbers: Any) -> str:
    rank, first, five, off = numbers
    return f"  {name:44} rank {rank:6.3f}  first +{100 * first:5.1f}%  best of 5 +{100 * five:4.1f}%  off {off:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("collect", "fit", "range", "check"))
    parser.add_argument("files", nargs="+")
    parser.add_argument("--kernels", default=str(HERE / "gpu_kernels.py"))
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--check")
    parser.add_argument(
        "--hold-out", help="launches of kernels, types or sizes that this matches are not fitted on"
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--write")
    given = parser.parse_args()
    if given.what == "collect":
        collect(given.files[0], given.files[1], given.kernels, given.gpu)
        return
    gpu = find_gpu(given.gpu)
    rows = read(given.files[0])
    c = model.constants()
    apart = []
    if given.hold_out:
        apart = [row for row in rows if re.search(given.hold_out, row["group"])]
        rows = [row for row in rows if not re.search(given.hold_out, row["group"])]
    if given.what in ("fit", "range"):
        c = fit(rows, c, gpu, given.rounds) if given.what == "fit" else ranged(rows, gpu, c)
        text = json.dumps({name: float(f"{value:.4g}") for name, value in asdict(c).items()}, indent=2) + "\n"
        print(text)
        if given.write:
            pathlib.Path(given.write).write_text(text)
    reported = {given.files[0]: rows, "held out": apart}
    if given.check:
        reported[given.check] = read(given.check)
    for name, part in reported.items():
        for which in ("measured", "own") if part else ():
            print(f"{name}, registers as {'measured' if which == 'measured' else 'estimated'}")
            report(part, gpu, c, which)


def read(names: str) -> list[dict[str, Any]]:
    """The rows of one or more files, with commas between."""
    return [row for name in names.split(",") for row in pickle.loads(pathlib.Path(name).read_bytes())]


if __name__ == "__main__":
    main()
