"""Findings that stand in another file than the one that was linted (the list of a kernel that it imports and launches):
under the name by which that file was given, and once however many files launch it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tritonlint.finding import Finding


def said_once(found: Sequence[tuple[str, Sequence[Finding]]], files: Sequence[str]) -> tuple[Finding, ...]:
    """The findings of files, in their order; `found` has those of each path, `files` all that were read."""
    return tuple(_once(found, _Names(files)))


def _once(found: Sequence[tuple[str, Sequence[Finding]]], names: _Names) -> Iterator[Finding]:
    said: dict[tuple[Any, ...], set[str]] = {}
    for path, findings in found:
        for finding in findings:
            if finding.path == path:
                said.setdefault(_key(finding), set()).update(finding.gpus)
    for path, findings in found:
        for finding in findings:
            if finding.path == path:
                yield finding
                continue
            own = names.named(finding)
            known = said.get(_key(own))
            if known is None or not known.issuperset(own.gpus):
                said.setdefault(_key(own), set()).update(own.gpus)
                yield own


def _key(finding: Finding) -> tuple[Any, ...]:
    return (finding.code, finding.path, finding.span, finding.kernel, finding.severity, finding.message)


class _Names:
    """The names of files as they were given; imports lead to absolute ones."""

    def __init__(self, files: Sequence[str]) -> None:
        self._given = {str(Path(path).absolute()): path for path in files}
        self._relative = not all(Path(path).is_absolute() for path in files)

    def named(self, finding: Finding) -> Finding:
        related = tuple(replace(one, path=self._name(one.path)) for one in finding.related)
        return replace(finding, path=self._name(finding.path), related=related)

    def _name(self, path: str) -> str:
        given = self._given.get(path)
        if given is None and self._relative and Path(path).is_relative_to(Path.cwd()):
            return str(Path(path).relative_to(Path.cwd()))
        return given or path
