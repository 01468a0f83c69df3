"""A name for a finding that stays the same while the code around it moves: no line numbers, no measured
values."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from tritonlint.finding import Finding


def relative(path: str, root: Path | None = None) -> str:
    """A path as reports name it: from `root` (the working folder), with "/"; in full where it is not below."""
    if path.startswith("<"):
        return path
    top = root or Path.cwd()
    plain = Path(os.path.abspath(path))  # without "..", which no reader of a report resolves
    for place, above in ((plain, Path(os.path.abspath(top))), (Path(path).resolve(), top.resolve())):
        if place.is_relative_to(above):
            return place.relative_to(above).as_posix()
    return plain.as_posix()


def identity(finding: Finding, root: Path | None = None) -> str:
    """Rule, file, kernel and config. Two findings may share it (the same mistake twice in one kernel)."""
    config = json.dumps(finding.config, sort_keys=True, default=str) if finding.config is not None else ""
    return "\n".join((finding.code, relative(finding.path, root), finding.kernel or "", config))


def fingerprints(findings: Iterable[Finding], root: Path | None = None) -> list[str]:
    """One for each finding, all different: equal ones are numbered in their order."""
    seen: dict[str, int] = {}
    result: list[str] = []
    for finding in findings:
        name = identity(finding, root)
        number = seen.get(name, 0)
        seen[name] = number + 1
        result.append(hashlib.sha256(f"{name}\n{number}".encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return result
