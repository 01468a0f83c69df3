"""A file of known findings, which are not reported again.

An entry is matched by rule, file, kernel and config, never by line, so that moved code stays known. Entries
that nothing matches any more are stale: they are named, and taken out of the file by a complete run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonlint import __version__
from tritonlint.finding import Finding
from tritonlint.fingerprint import relative

VERSION = 1


class BaselineError(ValueError):
    """The file cannot be read, or is no baseline. `str()` is one line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known, and how often. `config` is canonical JSON, "" for none."""

    code: str
    path: str
    kernel: str
    config: str

    def described(self) -> str:
        kernel = f" in {self.kernel}" if self.kernel else ""
        config = f" {self.config}" if self.config else ""
        return f"{self.code} {self.path}{kernel}{config}"


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of one file with their counts; paths count from the file's folder."""

    path: Path
    entries: Mapping[Entry, int]

    @property
    def root(self) -> Path:
        return self.path.absolute().parent


@dataclass(frozen=True, slots=True)
class Compared:
    """`new` findings are in no entry; `known` were matched; `stale` entries matched nothing (with the
    count)."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    stale: Mapping[Entry, int]


def entry_of(finding: Finding, root: Path) -> Entry:
    config = "" if finding.config is None else json.dumps(finding.config, sort_keys=True, default=str)
    return Entry(finding.code, relative(finding.path, root), finding.kernel or "", config)


def load(path: Path) -> Baseline:
    """Reads a baseline. Raises BaselineError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BaselineError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise BaselineError(f"{path}: is damaged: not JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("findings"), list):
        raise BaselineError(f"{path}: is no baseline of tritonlint")
    if data.get("version") != VERSION:
        raise BaselineError(
            f"{path}: version {data.get('version')!r} is not known; this tritonlint writes {VERSION}"
        )
    entries: dict[Entry, int] = {}
    for number, row in enumerate(data["findings"], 1):
        entry, count = _entry(path, number, row)
        entries[entry] = entries.get(entry, 0) + count
    return Baseline(path, entries)


def _entry(path: Path, number: int, row: Any) -> tuple[Entry, int]:
    try:
        config = row.get("config")
        entry = Entry(
            row["code"],
            row["path"],
            row.get("kernel") or "",
            "" if config is None else json.dumps(config, sort_keys=True),
        )
        count = row.get("count", 1)
        if not all(isinstance(part, str) for part in (entry.code, entry.path, entry.kernel)):
            raise TypeError
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise TypeError
    except (KeyError, TypeError, AttributeError):
        raise BaselineError(f"{path}: is damaged: entry {number}") from None
    return entry, count


def compare(baseline: Baseline, findings: Iterable[Finding], read: Iterable[str]) -> Compared:
    """Takes the known findings out. An entry of a file that was not read in this run is not called stale,
    unless the file is gone."""
    left = Counter(dict(baseline.entries))
    new: list[Finding] = []
    known: list[Finding] = []
    for finding in findings:
        entry = entry_of(finding, baseline.root)
        if left[entry] > 0:
            left[entry] -= 1
            known.append(finding)
        else:
            new.append(finding)
    seen = {relative(path, baseline.root) for path in read}
    stale = {
        entry: count
        for entry, count in left.items()
        if count > 0 and (entry.path in seen or not (baseline.root / entry.path).exists())
    }
    return Compared(tuple(new), tuple(known), stale)


def text_of(entries: Mapping[Entry, int]) -> str:
    """The file, one entry a line, so that two branches merge."""
    rows = [
        json.dumps(
            {
                "code": entry.code,
                "path": entry.path,
                "kernel": entry.kernel or None,
                "config": json.loads(entry.config) if entry.config else None,
                "count": count,
            },
            ensure_ascii=not _encodable(entry.path),
        )
        for entry, count in sorted(entries.items(), key=lambda item: _order(item[0]))
        if count > 0
    ]
    head = f'{{"version": {VERSION}, "tritonlint": "{__version__}", "findings": ['
    return head + ("\n  " + ",\n  ".join(rows) + "\n" if rows else "") + "]}\n"


def _encodable(path: str) -> bool:
    """False for a file name with bytes that are not UTF-8: such a byte is kept as an escape."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _order(entry: Entry) -> tuple[str, ...]:
    return (entry.path, entry.code, entry.kernel, entry.config)


def of_findings(findings: Sequence[Finding], path: Path) -> dict[Entry, int]:
    """The entries of a new baseline at `path`."""
    root = path.absolute().parent
    return dict(Counter(entry_of(finding, root) for finding in findings))


def without(baseline: Baseline, stale: Mapping[Entry, int]) -> dict[Entry, int]:
    """The entries that are left when the stale ones are gone."""
    return {entry: count - stale.get(entry, 0) for entry, count in baseline.entries.items()}
