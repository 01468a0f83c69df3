"""Lint unpacked wheels of public kernel libraries and compare what is found with what was judged by reading.

    python benchmarks/findings.py FOLDER [LIBRARY ...] [--judged benchmarks/data/judged.csv] [--from RESULTS] [--add]

FOLDER holds one folder a library, with its unpacked wheel or source archive (`pip download --no-deps`, then unpack; a
wheel is a zip file). Each is linted with no GPU named, as a newcomer would. `--from` takes results that are there
already, RESULTS/LIBRARY.json as `tritonlint check --output-format json` prints them. `--add` appends what is new to the
list with an empty judgement, to be filled in by hand; a reason goes with each.

Findings count once for a file, kernel, rule and severity, without line numbers, so that the list outlives releases of a
library. A judgement is `true` (it fails, or wastes what the author would want back), `false` (it does not) or
`unhelpful` (so, but nobody would thank for it). Prints what is new, what was judged true and is gone, and for each
severity the share of true ones. Exit status 1 where a finding is new or was judged not true.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

JUDGED = pathlib.Path(__file__).parent / "data" / "judged.csv"
COLUMNS = ("library", "version", "file", "line", "kernel", "code", "severity", "judgement", "reason")
LEVELS = ("error", "warning")
_RELEASE = re.compile(r"^(?P<name>[A-Za-z0-9_.]+?)-(?P<version>\d[\w.]*)(\.dist-info)?$")

Key = tuple[str, str, str, str, str]  # library, file, kernel, code, severity


@dataclass(frozen=True)
class Row:
    """One judged finding, or several of one kind in one kernel."""

    library: str
    version: str
    file: str
    line: int
    kernel: str
    code: str
    severity: str
    judgement: str = ""
    reason: str = ""

    @property
    def key(self) -> Key:
        return (self.library, self.file, self.kernel, self.code, self.severity)

    def text(self) -> str:
        return f"{self.library} {self.version}: {self.file}:{self.line} {self.severity} {self.code} [{self.kernel}]"


def read_judged(path: pathlib.Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return [Row(**{**row, "line": int(row["line"])}) for row in csv.DictReader(file)]  # type: ignore[arg-type]


def write_judged(path: pathlib.Path, rows: Iterable[Row]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in sorted(rows, key=lambda row: row.key):
            writer.writerow([getattr(row, name) for name in COLUMNS])


def version_of(folder: pathlib.Path) -> str:
    """The version by the wheel's dist-info, or by the folder that a source archive unpacks to; else ""."""
    names = [_RELEASE.match(entry.name) for entry in sorted(folder.iterdir()) if entry.is_dir()]
    found = [match for match in names if match]
    infos = [match for match in found if match[3]]
    return (infos or found)[0]["version"] if found else ""


def inside(path: str, library: str) -> str:
    """A file's path within its library, without the folder that a source archive adds for its version."""
    parts = list(pathlib.PurePosixPath(path.replace("\\", "/")).parts)
    if library in parts:
        parts = parts[parts.index(library) + 1 :]
    if len(parts) > 1 and _RELEASE.match(parts[0]):
        parts = parts[1:]
    return "/".join(parts)


def linted(folder: pathlib.Path, library: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tritonlint", "check", library, "--output-format", "json", "--no-cache"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{library}: {done.stderr.strip()[-400:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def rows_of(result: Mapping[str, Any], library: str, version: str) -> list[Row]:
    """The findings, those of one kind in one kernel once."""
    found: dict[Key, Row] = {}
    for finding in result["findings"]:
        if finding["severity"] not in LEVELS:
            continue
        file, line = inside(finding["path"], library), finding["range"]["start"]["line"]
        kernel = finding.get("kernel") or ""
        row = Row(library, version, file, line, kernel, finding["code"], finding["severity"])
        found.setdefault(row.key, row)
    return list(found.values())


def report(found: Sequence[Row], judged: Sequence[Row], libraries: Sequence[str]) -> list[Row]:
    """Prints the comparison; what is new, or judged not true."""
    known = {row.key: row for row in judged}
    seen = {row.key for row in found}
    new = [row for row in found if not (row.key in known and known[row.key].judgement)]
    again = [known[row.key] for row in found if row.key in known and known[row.key].judgement != "true"]
    again = [row for row in again if row.judgement]
    gone = [
        row for row in judged if row.judgement == "true" and row.library in libraries and row.key not in seen
    ]
    for title, rows in (("new", new), ("judged not true, and there again", again), ("true, and gone", gone)):
        print(f"{title}: {len(rows)}")
        for row in rows:
            print(f"  {row.text()}" + (f" ({row.judgement}: {row.reason})" if row.judgement else ""))
    for severity in LEVELS:
        counts = collections.Counter(
            known[row.key].judgement or "not judged" if row.key in known else "not judged"
            for row in found
            if row.severity == severity
        )
        total = sum(counts.values()) - counts["not judged"]
        share = f"{100 * counts['true'] / total:.1f}% of {total} are true" if total else "none judged"
        print(
            f"{severity}: {share}" + (f", {counts['not judged']} not judged" if counts["not judged"] else "")
        )
    return [*new, *again]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("libraries", nargs="*")
    parser.add_argument("--judged", type=pathlib.Path, default=JUDGED)
    parser.add_argument("--from", dest="results", type=pathlib.Path)
    parser.add_argument("--add", action="store_true")
    given = parser.parse_args()
    libraries = given.libraries or sorted(one.name for one in given.folder.iterdir() if one.is_dir())
    if given.results:
        libraries = [name for name in libraries if (given.results / f"{name}.json").is_file()]
    judged = read_judged(given.judged) if given.judged.is_file() else []
    found: list[Row] = []
    for library in libraries:
        if given.results:
            result = json.loads((given.results / f"{library}.json").read_text("utf-8"))
        else:
            result = linted(given.folder, library)
        found += rows_of(result, library, version_of(given.folder / library))
    bad = report(found, judged, libraries)
    if given.add:
        known = {row.key for row in judged}
        write_judged(given.judged, [*judged, *(row for row in found if row.key not in known)])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
