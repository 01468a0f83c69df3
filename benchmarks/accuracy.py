"""How often the compiler model says what the real compiler says.

    python benchmarks/accuracy.py ROWS.jsonl[.gz] --kernels kernels.py [--by kernel,target,release] [--show N]
    python benchmarks/accuracy.py ROWS.jsonl[.gz] --root CHECKOUT --release 3.9 [...]
    python benchmarks/accuracy.py --report docs/accuracy.md [--sample 24] [--jobs 2]

A row is one compile: `kernel`, `consts`, `types` (or `sig`) of the run-time arguments, `div` (those divisible by 16;
without it all pointers and i32), `opts` (or num_warps, num_stages, num_ctas), `cc` or `arch`, `v` (or `triton`), and the
truth: `shared`, `tmem`, `num_warps_out`; rows with `err` are left out. Kernels come from one file, or each from the row's
`file` (and `project`) below --root.

With --report the rows are made: public kernels are compiled for every target with the newest releases
(accuracy_report.py), and the page of the documentation is written. Releases and packages are fetched with pip into the
test cache (TRITONLINT_FETCH=1); torch is used where it is installed.

Counted are: exact bytes, within 5%, inexact with a claim to be exact, a lower bound above the truth, tensor memory and
warps that differ, and the median time of one answer.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import pathlib
import statistics
import sys
import time
from collections.abc import Iterator

from tritonlint.compiler.compile import compiled
from tritonlint.compiler.options import Options
from tritonlint.compiler.releases import parse_release
from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import Trace
from tritonlint.kernel.trace import ArgumentSpec, trace
from tritonlint.source import plans, read
from tritonlint.source.module import parse_file
from tritonlint.source.sites import KernelSource, Platform


def rows_of(path: pathlib.Path) -> Iterator[dict]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            if row.get("shared") is not None and "err" not in row and "error" not in row:
                yield row


class Kernels:
    """The kernels of files, read once per target and release."""

    def __init__(self) -> None:
        self._read: dict[object, dict[tuple[str, int], KernelSource]] = {}

    def find(
        self, path: pathlib.Path, name: str, line: int | None, target: str, version: tuple[int, int]
    ) -> KernelSource | None:
        key = (path, target, version)
        if key not in self._read:
            found = plans(parse_file(read(str(path))), Platform(target, version))
            self._read[key] = {(plan.kernel.name, plan.kernel.node.lineno): plan.kernel for plan in found}
        kernels = {at: kernel for at, kernel in self._read[key].items() if at[0] == name}
        if line is not None and len(kernels) > 1:
            return min(kernels.items(), key=lambda entry: abs(entry[0][1] - line))[1]
        return next(iter(kernels.values()), None)


def target_of(row: dict) -> Target:
    arch = str(row.get("arch") or row["cc"])
    return Target(arch if arch.startswith("gfx") else f"sm_{arch.removeprefix('sm_')}")


def options_of(row: dict) -> Options:
    opts = dict(
        row.get("opts")
        or {name: row[name] for name in ("num_warps", "num_stages", "num_ctas") if row.get(name)}
    )
    known = {name: opts.pop(name) for name in ("num_warps", "num_stages", "num_ctas") if name in opts}
    return Options(**known, extra=opts)


def trace_of(row: dict, kernel: KernelSource, target: Target, version: tuple[int, int]) -> Trace:
    parameters = kernel.node.args
    names = [a.arg for a in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)]
    types = row.get("types") or row.get("sig") or {}
    divisible = row.get("div")
    arguments = {}
    for name in names:
        if name in row["consts"]:
            continue
        spelled = types.get(name, "i32")
        by_default = spelled == "i32" or spelled.startswith("*")
        arguments[name] = ArgumentSpec(spelled, by_default if divisible is None else name in divisible)
    constants = {name: text_of(value) for name, value in row["consts"].items()}
    return trace(kernel, arguments, constants, target=target, release=version)


def text_of(value: object) -> object:
    """A constant of a row: "'tf32'" is a string, "tl.float16" a dtype, everything else what it is."""
    return value[1:-1] if isinstance(value, str) and value[:1] in "'\"" else value


def found_file(root: pathlib.Path, row: dict) -> pathlib.Path:
    """The row's file below the checkout of its project, or below the root."""
    for folder in (root / row.get("project", ""), root):
        for path in (folder / row["file"], folder / "src" / row["file"]):
            if path.exists():
                return path
    return root / row["file"]


class Tally:
    """Counts of one group of rows."""

    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.seconds: list[float] = []

    def line(self) -> str:
        c = self.counts
        rows = c["rows"] or 1
        return (
            f"{c['rows']:5} rows  exact {100 * c['exact'] / rows:5.1f}%  within 5% {100 * c['close'] / rows:5.1f}%"
            f"  claimed {c['claimed']:4}  claimed and wrong {c['false_claim']:3}  bound too high {c['high_bound']:3}"
            f"  tmem wrong {c['tmem']:3}  warps wrong {c['warps']:3}"
            f"  ms {1000 * statistics.median(self.seconds or [0]):6.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=pathlib.Path, nargs="*")
    parser.add_argument("--report", type=pathlib.Path, help="compile public kernels and write this page")
    parser.add_argument(
        "--sample", type=int, default=24, help="compiles for each target and release of the report"
    )
    parser.add_argument("--jobs", type=int, help="compiles at the same time, for the report")
    parser.add_argument("--kernels", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("--release", default="")
    parser.add_argument("--by", default="release,target")
    parser.add_argument("--only", default="", help="a part of kernel/target/release that rows must have")
    parser.add_argument("--show", type=int, default=0, help="print that many rows that differ")
    parser.add_argument("--every", type=int, default=1, help="take every n-th row")
    options = parser.parse_args()
    if options.report is not None:
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
        from benchmarks.accuracy_report import write

        write(options.report, sample=options.sample, jobs=options.jobs)
        return

    groups: dict[tuple[str, str], Tally] = collections.defaultdict(Tally)
    kernels = Kernels()
    shown = 0
    number = 0
    traces: dict[str, Trace] = {}
    for path in options.rows:
        for row in rows_of(path):
            number += 1
            release = parse_release(options.release or row.get("v") or row["triton"])
            assert release is not None
            target = target_of(row)
            label = f"{row['kernel']}/{target.arch}/{release.major}.{release.minor}"
            if options.only not in label or number % options.every:
                continue
            file = options.kernels
            if file is None:
                file = found_file(options.root, row)
            key = json.dumps(
                [str(file), label, row["consts"], row.get("types") or row.get("sig"), row.get("div")],
                sort_keys=True,
            )
            began = time.perf_counter()
            if key not in traces:
                kernel = kernels.find(file, row["kernel"], row.get("line"), target.arch, release.version)
                began = time.perf_counter()
                if kernel is None:
                    if shown < options.show:
                        print(f"{label}: kernel not found")
                        shown += 1
                    continue
                traces.clear()
                traces[key] = trace_of(row, kernel, target, release.version)
            answer = compiled(traces[key], options_of(row), target, release)
            seconds = time.perf_counter() - began
            truth = row["shared"]
            result = judge(answer, row)
            for by in ("", *options.by.split(",")):
                value = {
                    "kernel": row["kernel"],
                    "target": target.arch,
                    "release": f"{release.major}.{release.minor}",
                }.get(by, "")
                tally = groups[by, value]
                tally.counts.update(result)
                tally.seconds.append(seconds)
            if shown < options.show and "exact" not in result:
                shown += 1
                why = "; ".join(answer.reasons)[:160]
                print(
                    f"{label}: {answer.shared_bytes} truth {truth} exact={answer.shared_exact} {why}"
                    f" {row.get('opts') or ''} {row['consts']}"
                )
    for (by, value), tally in sorted(groups.items()):
        print(f"{by + ' ' + value if by else 'all':28} {tally.line()}")


def judge(answer, row) -> list[str]:
    truth = row["shared"]
    found = ["rows"]
    if answer.shared_bytes == truth:
        found.append("exact")
    if abs(answer.shared_bytes - truth) <= 0.05 * max(truth, 1):
        found.append("close")
    if answer.shared_exact:
        found.append("claimed")
        if answer.shared_bytes != truth:
            found.append("false_claim")
    if answer.shared_lower_bound > truth:
        found.append("high_bound")
    if row.get("tmem") is not None and answer.tensor_memory_columns != row["tmem"]:
        found.append("tmem")
    if row.get("num_warps_out") is not None and answer.warps != row["num_warps_out"]:
        found.append("warps")
    return found


if __name__ == "__main__":
    main()
