"""Thirty public libraries at pinned versions: nothing fails in them, and every way to lint them says the same.

    python benchmarks/libraries.py FOLDER [LIBRARY ...] [--record] [--recorded benchmarks/data/libraries.csv]

Fetches the wheels that the recorded list names into FOLDER (with pip, without their dependencies) and unpacks what is
linted of them; what is there already is not fetched again. Each library is linted with `--jobs 1` and `--jobs 2`, without
a cache. An internal error, an exit status of 2, or output that differs by a byte is a failure. The findings, counted by
rule and severity for each library, are compared with the recorded ones; `--record` writes the new counts. What a finding
is worth is judged in judged.csv: see findings.py. Exit status 1 after a failure or a difference.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "data" / "libraries.csv"
COLUMNS = ("library", "version", "kernels", "launches", "configs", "findings")
LINTED = (".py", ".pyi", ".ipynb", ".json")
PLATFORMS = (
    "manylinux_2_34_x86_64",
    "manylinux_2_28_x86_64",
    "manylinux2014_x86_64",
    "manylinux_2_24_x86_64",
    "any",
)
TARGETS = ("--gpu", "a100", "--gpu", "h100", "--gpu", "mi300x", "--triton", "3.9")


@dataclass(frozen=True, slots=True)
class Row:
    """What was found in one library: `findings` as "TL305 warning: 3; ...", sorted. The numbers are
    None before the first record."""

    library: str
    version: str
    kernels: int | None
    launches: int | None
    configs: int | None
    findings: str


def read_rows(path: Path) -> dict[str, Row]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return {
            row["library"]: Row(
                row["library"],
                row["version"],
                _number(row["kernels"]),
                _number(row["launches"]),
                _number(row["configs"]),
                row["findings"],
            )
            for row in rows
        }


def _number(text: str) -> int | None:
    return int(text) if text else None


def write_rows(path: Path, rows: Mapping[str, Row]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([getattr(rows[name], column) for column in COLUMNS] for name in sorted(rows))


def fetch(row: Row, into: Path) -> None:
    """The files of a wheel that are linted, unpacked. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--dest",
            folder,
        ]
        command += ["--python-version", "3.11", *(f"--platform={name}" for name in PLATFORMS)]
        subprocess.run([*command, f"{row.library}=={row.version}"], check=True)
        for wheel in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(into, [name for name in archive.namelist() if name.endswith(LINTED)])


def linted(folder: Path, library: str, jobs: int) -> tuple[int, bytes, str]:
    """(exit status, the report, messages)."""
    command = [
        sys.executable,
        "-m",
        "tritonlint",
        "check",
        library,
        *TARGETS,
        "--severity",
        "info",
        "--no-cache",
    ]
    command += ["--output-format", "json", "--jobs", str(jobs)]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def counted(report: Mapping[str, Any], library: str, version: str) -> Row:
    kinds = collections.Counter(f"{one['code']} {one['severity']}" for one in report["findings"])
    summary = report["summary"]
    text = "; ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items()))
    return Row(library, version, summary["kernels"], summary["launches"], summary["configs"], text)


def failures(first: tuple[int, bytes, str], second: tuple[int, bytes, str]) -> list[str]:
    """What must not be of two runs of one library."""
    wrong = [
        f"exit status {status}: {said.strip()[-300:]}"
        for status, _, said in (first, second)
        if status not in (0, 1)
    ]
    if first != second:
        wrong.append("--jobs 1 and --jobs 2 differ")
    for _, out, _ in (first,) if not wrong else ():
        problems = json.loads(out)["summary"]["problems"]
        wrong += [f"{one['path']}: {one['message']}" for one in problems if one["internal"]]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("libraries", nargs="*")
    parser.add_argument("--recorded", type=Path, default=RECORDED)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    recorded = read_rows(given.recorded)
    rows, bad = dict(recorded), 0
    for name in given.libraries or sorted(recorded):
        before = recorded[name]
        if not (given.folder / name).is_dir():
            fetch(before, given.folder / name)
        first, second = linted(given.folder, name, 1), linted(given.folder, name, 2)
        wrong = failures(first, second)
        bad += bool(wrong)
        print(f"{name} {before.version}: {'; '.join(wrong) or 'well'}", flush=True)
        if wrong:
            continue
        rows[name] = counted(json.loads(first[1]), name, before.version)
        if rows[name] != before:
            bad += not given.record and before.kernels is not None
            print(f"  was {before}\n  is  {rows[name]}", flush=True)
            if given.record:
                write_rows(given.recorded, rows)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
