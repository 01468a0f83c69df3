"""Linting whole trees, beside ruff and Fixit in the same run.

    python benchmarks/trees.py [--package vllm==0.33.0 ...] [--rounds 3] [--no-fixit]

Unpacks wheels of kernel libraries into the cache folder of the tests (never into the repository) and prints, for each:
the CPU time of `tritonlint check` cold (--no-cache) against `ruff check --select F401 --no-cache`, its wall time warm
(from the cache) against the same, and the peak memory of all its processes. Last, tritonlint against Fixit with one
rule, in milliseconds per 1,000 lines, on a tree small enough for Fixit. Medians; the rounds of the tools alternate.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("vllm==0.33.0", "torchao==0.18.0", "unsloth_zoo")
FIXIT_PACKAGE = "liger-kernel"
FIXIT_RULE = "fixit.rules:UseFstring"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command: seconds of CPU of all its processes, seconds on the clock, MiB at its peak."""

    cpu: float
    wall: float
    peak: float


def measured(command: Sequence[str], environment: Mapping[str, str]) -> Run:
    """Runs a command to its end, whatever its exit status. Python keeps its bytecode, as it does where a package is
    installed: compiling the sources of tritonlint at each start would take as long as a warm run."""
    environment = {**os.environ, **environment}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    peak = [0]
    watcher = threading.Thread(target=_watch, args=(process, peak), daemon=True)
    watcher.start()
    process.wait()
    wall = time.perf_counter() - start
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(cpu, wall, peak[0] / 1024)


def _watch(process: subprocess.Popen[bytes], peak: list[int]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], sum(_proportional(pid) for pid in _family(process.pid)))
        time.sleep(0.1)


def _family(pid: int) -> list[int]:
    found = [pid]
    for number in found:
        try:
            children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        except OSError:
            continue
        found += [int(child) for child in children]
    return found


def _proportional(pid: int) -> int:
    """KiB of a process, shared pages counted by their share."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def unpacked(requirement: str) -> Path:
    """The folder with a wheel's files, fetched once."""
    sys.path.insert(0, str(ROOT))
    from tests.cache import folder

    place = folder() / f"tree-{requirement.replace('==', '-')}"
    if not (place / ".complete").exists():
        with tempfile.TemporaryDirectory() as download:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            subprocess.run([*command, "--dest", download, requirement], check=True)
            for wheel in Path(download).glob("*.whl"):
                with zipfile.ZipFile(wheel) as archive:
                    for name in archive.namelist():
                        if name.endswith((".py", ".pyi", ".json", ".ipynb")):
                            archive.extract(name, place)
        (place / ".complete").touch()
    return place


def lines_of(tree: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in tree.rglob("*.py"))


def tree(requirement: str, rounds: int, ruff: str) -> None:
    place = unpacked(requirement)
    tritonlint = [sys.executable, "-m", "tritonlint", "check", str(place), "--output-format", "concise"]
    peer = [ruff, "check", "--select", "F401", "--no-cache", "--isolated", str(place)]
    cold: list[Run] = []
    warm: list[Run] = []
    other: list[Run] = []
    with tempfile.TemporaryDirectory() as cache:
        environment = {"TRITONLINT_CACHE_DIR": cache}
        for _ in range(rounds):
            other.append(measured(peer, {}))
            cold.append(measured([*tritonlint, "--no-cache"], environment))
        measured(tritonlint, environment)  # fills the cache
        for _ in range(rounds):
            other.append(measured(peer, {}))
            warm.append(measured(tritonlint, environment))
    files = sum(1 for _ in place.rglob("*.py"))
    cpu, peer_cpu = (statistics.median(run.cpu for run in runs) for runs in (cold, other))
    wall, peer_wall = (statistics.median(run.wall for run in runs) for runs in (warm, other))
    print(f"{requirement}: {files:,} files, {lines_of(place):,} lines")
    print(f"  cold, CPU   {cpu:7.2f} s   ruff {peer_cpu:5.2f} s   {cpu / peer_cpu:6.1f}x")
    print(f"  warm, wall  {wall:7.2f} s   ruff {peer_wall:5.2f} s   {wall / peer_wall:6.1f}x")
    print(f"  peak of all processes  {max(run.peak for run in cold):,.0f} MiB", flush=True)


def against_fixit(rounds: int) -> None:
    place = unpacked(FIXIT_PACKAGE)
    files = [path for path in sorted(place.rglob("*.py")) if b"triton" in path.read_bytes()]
    lines = sum(path.read_bytes().count(b"\n") for path in files) / 1000
    names = [str(path) for path in files]
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "pyproject.toml"
        settings.write_text(
            f'[tool.fixit]\nroot = true\ndisable = ["fixit.rules"]\nenable = ["{FIXIT_RULE}"]\n'
        )
        peer = [sys.executable, "-m", "fixit", "--config-file", str(settings), "lint", *names]
        own: list[Run] = []
        other: list[Run] = []
        for _ in range(rounds):
            other.append(measured(peer, {}))
            own.append(measured([sys.executable, "-m", "tritonlint", "check", "--no-cache", *names], {}))
    ours, theirs = (1000 * statistics.median(run.cpu for run in runs) / lines for runs in (own, other))
    print(
        f"{FIXIT_PACKAGE}, {len(files)} files that say triton, {lines:.1f} thousand lines, CPU per 1,000 lines"
    )
    print(f"  tritonlint {ours:,.0f} ms   fixit with one rule {theirs:,.0f} ms   {theirs / ours:.1f}x faster")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--package", nargs="*", default=list(PACKAGES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-fixit", action="store_true")
    options = parser.parse_args()
    ruff = shutil.which(
        "ruff", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    )
    if ruff is None:
        print("ruff is not installed", file=sys.stderr)
        return 2
    for requirement in options.package:
        tree(requirement, options.rounds, ruff)
    if not options.no_fixit:
        try:
            import fixit  # noqa: F401
        except ImportError:
            print("fixit is not installed: pip install fixit", file=sys.stderr)
            return 2
        against_fixit(options.rounds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
