"""Compiles a sample of public kernels with real Triton releases and counts how often the estimates hold.

Run by accuracy.py --report. The kernels come from this repository and from pinned packages; nothing but `verify` itself
does the work, so a row here is a row of `tritonlint verify`.
"""

from __future__ import annotations

import collections
import datetime
import json
import os
import pathlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.cache import from_pypi, triton_release
from tritonlint.settings import Resolver
from tritonlint.verify.engine import Engine, Interpreter, Limits
from tritonlint.verify.rows import Row
from tritonlint.verify.run import Wanted, verify
from tritonlint.verify.store import Store

ROOT = pathlib.Path(__file__).resolve().parents[1]
RELEASES = ("3.7.1", "3.8.0", "3.9.0")
TARGETS = (
    "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121",
    "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250",
)  # fmt: skip
PACKAGES = ("conch-triton-kernels==1.3", "lightllm==0.0.1", "torchao==0.18.0", "unsloth_zoo==2026.10.9")
OWN = ("examples",)


def measure(
    releases: Sequence[str],
    targets: Sequence[str],
    packages: Iterable[str],
    sample: int,
    jobs: int,
    cache: pathlib.Path | None,
) -> list[dict[str, Any]]:
    """One line for each release and target."""
    paths = [str(ROOT / own) for own in OWN] + [str(from_pypi(package)) for package in packages]
    lines: list[dict[str, Any]] = []
    for release in releases:
        interpreter = Interpreter(path=(str(triton_release(release)),))
        store = Store(cache)
        wanted = Wanted(paths, targets, per_kernel=1, sample=sample)
        with Engine(interpreter, jobs, Limits(120, 60)) as engine:
            report = verify(wanted, Resolver(isolated=True), engine, store, _say)
        store.close()
        groups: dict[str, list[Row]] = collections.defaultdict(list)
        for row in report.rows:
            groups[row.gpu].append(row)
        lines += [{"triton": release, "target": target, **counts(groups[target])} for target in targets]
    return lines


def _say(done: int, total: int) -> None:
    print(f"\r{done}/{total}", end="", file=sys.stderr, flush=True)


def counts(rows: Iterable[Row]) -> dict[str, int]:
    """How many of the rows that were compiled and estimated: exact bytes, within 5%, with a claim, ..."""
    found: collections.Counter[str] = collections.Counter()
    for row in rows:
        if row.compiled is None:
            found["refused" if row.state == "refused" else "not_compiled"] += 1
            continue
        estimate, compiled = row.estimate, row.compiled
        if estimate is None:
            found["not_estimated"] += 1
            continue
        found["rows"] += 1
        mine, real = estimate["shared_bytes"], compiled["shared_bytes"]
        found["exact"] += mine == real
        found["close"] += abs(mine - real) <= 0.05 * max(real, 1)
        found["claimed"] += estimate["shared_exact"]
        found["claimed_wrong"] += estimate["shared_exact"] and mine != real
        found["false_unfit"] += not estimate["fits"] and compiled["fits"]
        found["missed_unfit"] += estimate["fits"] and not compiled["fits"]
        found["ctas"] += estimate["ctas_per_sm"] == compiled["ctas_per_sm"]
        if compiled["registers"] is not None and estimate["registers"] is not None:
            found["with_registers"] += 1
            low, high = estimate["registers_low"], estimate["registers_high"]
            found["registers_in_range"] += low <= compiled["registers"] <= high
        if compiled["spills"] is not None:
            found["spilling"] += bool(compiled["spills"])
            found["spills_said"] += bool(compiled["spills"]) and estimate["spills"] != "no"
            found["false_spills"] += not compiled["spills"] and estimate["spills"] == "certain"
    return dict(found)


_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("exact", "exact", "rows"),
    ("within 5%", "close", "rows"),
    ("CTAs per SM", "ctas", "rows"),
    ("registers in range", "registers_in_range", "with_registers"),
)


def markdown(lines: Sequence[Mapping[str, Any]], packages: Sequence[str], sample: int) -> str:
    """The page docs/accuracy.md."""
    total: collections.Counter[str] = collections.Counter()
    for line in lines:
        total.update({name: value for name, value in line.items() if isinstance(value, int)})
    releases = list(dict.fromkeys(line["triton"] for line in lines))
    parts = [
        "# Accuracy",
        "How often the estimates are what the real compiler says. This page is written by "
        "`python benchmarks/accuracy.py --report docs/accuracy.md`, which a workflow runs on a schedule.",
        f"Measured on {datetime.date.today().isoformat()}: one config of each kernel, at most {sample} for each target, "
        f"compiled with Triton {', '.join(releases)}. The kernels are those of `examples/` and of "
        f"{', '.join(f'`{package}`' for package in packages)}.",
        "## In all",
        _summary(total),
        "## By release and target",
    ]
    for release in releases:
        own = [line for line in lines if line["triton"] == release]
        parts += [f"### Triton {release}", _table(own)]
    parts.append(
        "Columns: rows compiled; shared memory to the byte, and within 5%; rows where the model calls its number exact, "
        "and how many of these are wrong; configs said not to fit that do; the same number of CTAs per multiprocessor; "
        "registers inside the stated range; kernels that spill, and how many of these were said to."
    )
    return "\n\n".join(parts) + "\n"


def _summary(total: Mapping[str, int]) -> str:
    rows = [f"| {name} | {_share(total.get(part, 0), total.get(of, 0))} |" for name, part, of in _COLUMNS]
    rows += [
        f"| called exact | {_share(total.get('claimed', 0), total.get('rows', 0))} |",
        f"| called exact, and wrong | {total.get('claimed_wrong', 0):,} of {total.get('claimed', 0):,} |",
        f"| said not to fit, and fits | {total.get('false_unfit', 0):,} |",
        f"| said to fit, and does not | {total.get('missed_unfit', 0):,} |",
        f"| spills, and said so | {total.get('spills_said', 0):,} of {total.get('spilling', 0):,} |",
        f"| called certain to spill, and does not | {total.get('false_spills', 0):,} |",
        f"| refused by the compiler, as said | {total.get('refused', 0):,} |",
        f"| not compiled for another reason | {total.get('not_compiled', 0):,} |",
    ]
    return f"| of {total.get('rows', 0):,} compiles | |\n|---|---|\n" + "\n".join(rows)


def _table(lines: Iterable[Mapping[str, Any]]) -> str:
    head = "| target | rows | exact | within 5% | called exact, wrong | false unfit | CTAs | registers | spills |"
    rows = [head, "|---|" + "---:|" * 8]
    for line in lines:

        def get(name: str, line: Mapping[str, Any] = line) -> int:
            return int(line.get(name, 0))

        cells = (
            line["target"],
            f"{get('rows')}",
            _share(get("exact"), get("rows")),
            _share(get("close"), get("rows")),
            f"{get('claimed')}, {get('claimed_wrong')}",
            f"{get('false_unfit')}",
            _share(get("ctas"), get("rows")),
            _share(get("registers_in_range"), get("with_registers")),
            f"{get('spills_said')} of {get('spilling')}",
        )
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def write(
    path: pathlib.Path,
    releases: Sequence[str] = RELEASES,
    targets: Sequence[str] = TARGETS,
    packages: Sequence[str] = PACKAGES,
    sample: int = 24,
    jobs: int | None = None,
) -> None:
    """Measures, and writes the page; the counts go beside it as JSON where the page is."""
    from tritonlint.result_cache import cache_folder

    lines = measure(releases, targets, packages, sample, jobs or os.cpu_count() or 1, cache_folder())
    path.write_text(markdown(lines, packages, sample), encoding="utf-8")
    print(json.dumps(lines))
