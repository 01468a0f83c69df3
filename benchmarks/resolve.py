"""How much of real libraries resolves: autotune lists against what importing really built, and launches.

    python benchmarks/resolve.py SITE --lists autotuners.jsonl.gz [--show wrong,unresolved,alternatives] [--only NAME]
    python benchmarks/resolve.py SITE --launches vllm,sglang [--show unresolved]

SITE is a folder with the unpacked wheels side by side. A list is *exact* when it holds the same configs in the same
order, *alternatives* when it is marked so and holds them all, *unresolved* when tritonlint says so, else *wrong*.
Launches are counted by syntax (`name[...](...)` outside of kernels and annotations): the kernel counts as resolved
when a plan stands at that place, the grid as understood when its entries are known by number for some candidate.
"""

from __future__ import annotations

import argparse
import ast
import collections
import gc
import gzip
import json
import pathlib
import sys
import time

from tritonlint.source import parse_file, read, read_plans
from tritonlint.source.sites import AutotuneSite, LaunchPlan, Platform

H100 = {
    "multi_processor_count": 132, "multiprocessor_count": 132, "max_shared_mem": 232448,
    "shared_memory_per_block_optin": 232448, "warp_size": 32, "warpSize": 32,
}  # fmt: skip
PLATFORM = Platform("sm_90", (3, 9), "h100", H100)


def as_json(value: object) -> object:
    """A config's value as the data file writes it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    name = getattr(value, "name", None)
    return f"dtype:{name}" if isinstance(name, str) else str(value)


def rows_of(site: AutotuneSite) -> list[str]:
    return [
        json.dumps(
            [
                {key: as_json(one) for key, one in config.kwargs.items()},
                config.num_warps,
                config.num_stages,
                config.num_ctas,
            ],
            sort_keys=True,
        )
        for config in site.configs
    ]


def truth_of(row: dict) -> list[str]:
    return [
        json.dumps([c["kwargs"], c["num_warps"], c["num_stages"], c["num_ctas"]], sort_keys=True)
        for c in row["configs"]
    ]


def judge(row: dict, site: AutotuneSite | None) -> str:
    if site is None:
        return "not found"
    found, wanted = rows_of(site), truth_of(row)
    if not site.resolved:
        return "unresolved"
    if site.alternatives:
        return "alternatives" if set(wanted) <= set(found) else "wrong"
    return "exact" if found == wanted else "wrong"


def lines_of(node: ast.FunctionDef) -> tuple[int, int]:
    """The `def` and the first decorator above it (which is the line that Python gives a function)."""
    return node.lineno, min([node.lineno, *(one.lineno for one in node.decorator_list)])


def lists(site: pathlib.Path, data: pathlib.Path, show: set[str], only: str) -> int:
    by_file: dict[str, list[dict]] = collections.defaultdict(list)
    with gzip.open(data, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            by_file[row["file"]].append(row)
    counts: collections.Counter[str] = collections.Counter()
    libraries: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    times: list[tuple[float, str]] = []
    keys = 0
    for name, rows in by_file.items():
        if only and only not in name:
            continue
        start = time.process_time()
        module = parse_file(read(site / name))
        parsed = time.process_time() - start
        start = time.process_time()
        plans = read_plans(module, PLATFORM).plans
        took = time.process_time() - start
        times.append((took, f"{name} ({len(plans)} plans, parsed in {parsed * 1e3:.0f} ms)"))
        tuned = [(plan.kernel, plan.tuning) for plan in plans if plan.tuning is not None]
        for row in rows:
            near = [
                one
                for kernel, one in tuned
                if kernel.name == row["kernel"] and row["line"] in lines_of(kernel.node)
            ]
            # One `def` can be tuned twice, under two names: the better match counts.
            found = next((one for one in near if judge(row, one) == "exact"), near[0] if near else None)
            verdict = judge(row, found)
            counts[verdict] += 1
            libraries[row["requirement"]][verdict] += 1
            keys += found is not None and list(found.key or ()) == row["key"]
            if verdict in show:
                reason = found.reason if found is not None else None
                print(
                    f"{verdict}: {name}:{row['line']} {row['kernel']}: {len(row['configs'])} configs, "
                    f"found {len(found.configs) if found else 0}; {reason}"
                )
                if verdict == "wrong" and found is not None:
                    print("   wanted", truth_of(row)[:3], "\n   found ", rows_of(found)[:3])
    total = sum(counts.values())
    print(
        {verdict: f"{count} ({100 * count / total:.1f}%)" for verdict, count in counts.most_common()},
        "keys equal",
        keys,
    )
    for library, own in libraries.items():
        print("  ", library, dict(own))
    report(times, total)
    return 0


def report(times: list[tuple[float, str]], sites: int) -> None:
    whole = sum(took for took, _ in times)
    print(f"{whole * 1e3:.0f} ms for {len(times)} files, {whole * 1e3 / max(sites, 1):.1f} ms a site")
    for took, name in sorted(times, reverse=True)[:5]:
        print(f"   {took * 1e3:.0f} ms {name}")


def syntactic_launches(tree: list[ast.stmt]) -> list[ast.Call]:
    """`name[...](...)` that looks like a launch: outside of kernels, not on a typing name."""
    found: list[ast.Call] = []

    def walk(node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef) and any(
            "jit" in ast.unparse(one) for one in node.decorator_list
        ):
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            found.append(node)
        for child in ast.iter_child_nodes(node):
            walk(child)

    for statement in tree:
        walk(statement)
    return found


def is_kernel_launch(node: ast.Call, kernels: set[str], others: set[str]) -> bool:
    """Told from other subscripted calls by the name's form: it ends like a kernel's, or a kernel has that name."""
    func = node.func
    base = func.value if isinstance(func, (ast.Subscript, ast.Attribute)) else None
    name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    if isinstance(base, ast.Call):
        name = ast.unparse(base)
    if name in others and name not in kernels:
        return False
    return name in kernels or "kernel" in name.lower()


def known(plan: LaunchPlan) -> bool:
    return any(candidate.grid is not None for candidate in plan.candidates)


def launches(site: pathlib.Path, packages: list[str], show: set[str]) -> int:
    total = resolved = grids = 0
    times: list[tuple[float, str]] = []
    files = [path for package in packages for path in sorted((site / package).rglob("*.py"))]
    names: set[str] = set()
    others: set[str] = set()
    texts: dict[pathlib.Path, bytes] = {}
    for path in files:
        data = path.read_bytes()
        if b"triton" in data:
            texts[path] = data
    modules = {path: parse_file(read(path, data)) for path, data in texts.items()}
    gc.freeze()  # all these trees at once are the benchmark's own load, not to be walked again and again
    for module in modules.values():
        for statement in module.statements:
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef) and any(
                    "jit" in ast.unparse(one) for one in node.decorator_list
                ):
                    names.add(node.name)
    missed: collections.Counter[str] = collections.Counter()
    for path, module in modules.items():
        wanted = [
            node
            for node in syntactic_launches(list(module.statements))
            if is_kernel_launch(node, names, others)
        ]
        start = time.process_time()
        reading = read_plans(module, PLATFORM)
        times.append((time.process_time() - start, str(path.relative_to(site))))
        places: dict[tuple[int, int], list[LaunchPlan]] = collections.defaultdict(list)
        found = list(reading.plans)
        if len([plan for plan in reading.plans if plan.launch is not None]) < len(wanted):
            found += read_plans(module, PLATFORM, unreached=True).unreached
        for plan in found:
            if plan.launch is not None:
                places[plan.launch.span.line, plan.launch.span.column].append(plan)
        for node in wanted:
            total += 1
            plans = places.get((node.lineno, module.span(node).column), [])
            resolved += bool(plans)
            understood = any(known(plan) for plan in plans)
            grids += understood
            if (not plans and "unresolved" in show) or (plans and not understood and "grid" in show):
                func = node.func
                print(
                    f"{path.relative_to(site)}:{node.lineno}: {'grid' if plans else 'kernel'} {ast.unparse(func)[:90]}"
                )
        for problem in reading.problems:
            missed[problem.message.split(" ", 1)[-1]] += 1
    print(
        f"launches {total}: kernel resolved {100 * resolved / max(total, 1):.1f}%, grid understood "
        f"{100 * grids / max(total, 1):.1f}%; problems {dict(missed)}"
    )
    report(times, total)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--lists", type=pathlib.Path)
    parser.add_argument("--launches", default="")
    parser.add_argument("--show", default="")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    show = set(filter(None, options.show.split(",")))
    if options.lists:
        return lists(options.site, options.lists, show, options.only)
    return launches(options.site, options.launches.split(","), show)


if __name__ == "__main__":
    sys.exit(main())
