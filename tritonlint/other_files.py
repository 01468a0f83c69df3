"""Findings that stand in another file than the one that was linted (the list of a kernel that it imports and launches):
under the name by which that file was given, once however many files launch it, and only where the comments and the
settings of the file in which they stand let them through."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tritonlint.discovery import Ignores
from tritonlint.finding import Finding

if TYPE_CHECKING:
    from tritonlint.lint import FileResult
    from tritonlint.rule import Rule
    from tritonlint.settings import Resolver
    from tritonlint.source.comments import Suppression
    from tritonlint.suppressions import Suppressed

UNUSED = "TL903"  # a comment that hides nothing


@dataclass(frozen=True, slots=True)
class Said:
    """What is shown of the findings of files, in the order of the files, and what comments hide."""

    shown: tuple[Finding, ...]
    hidden: tuple[Suppressed, ...]


def said_once(results: Sequence[FileResult], files: Sequence[str], resolver: Resolver) -> Said:
    """The findings of files; `files` are the names of all that were read. Raises SettingsError where the settings of a
    file in which one stands are wrong."""
    rooms = _Rooms(resolver)
    shown: list[Finding] = []
    hidden: list[Suppressed] = []
    for own, finding in _once(results, _Names(files)):
        if own:
            shown.append(finding)
        else:
            rooms.sort(finding, shown, hidden)
    used = [(entry.finding.path, entry.by.span) for entry in hidden]
    kept = (
        finding
        for finding in shown
        if finding.code != UNUSED
        or not any(finding.path == path and span.contains(finding.span) for path, span in used)
    )
    return Said(tuple(kept), (*(entry for result in results for entry in result.suppressed), *hidden))


def _once(results: Sequence[FileResult], names: _Names) -> Iterator[tuple[bool, Finding]]:
    """(whether it stands in the file that was linted, a finding). What a comment hides in the file in which it stands is
    as good as said there."""
    said: dict[tuple[Any, ...], set[str]] = {}
    for result in results:
        for finding in (*result.findings, *(entry.finding for entry in result.suppressed)):
            if finding.path == result.path:
                said.setdefault(_key(finding), set()).update(finding.gpus)
    for result in results:
        new: list[Finding] = []
        for finding in result.findings:
            if finding.path == result.path:
                yield True, names.named(finding)
                continue
            other = names.named(finding)
            known = said.get(_key(other))
            if known is None or not known.issuperset(other.gpus):
                new.append(other)
                yield other.path == result.path, other
        for finding in new:  # only now: one file's findings are all different
            said.setdefault(_key(finding), set()).update(finding.gpus)


def _key(finding: Finding) -> tuple[Any, ...]:
    """Equal for one fault by way of two files. The columns do not count: they are found in the text of the linted file,
    and are those of a whole argument or line elsewhere."""
    return (
        finding.code,
        finding.path,
        finding.span.line,
        finding.span.end_line,
        finding.kernel,
        finding.severity,
        finding.message,
    )


@dataclass(frozen=True, slots=True)
class _Room:
    """What a file wants to hear of: nothing (no rules), or what these rules say and its comments do not hide."""

    rules: tuple[Rule, ...]
    comments: tuple[Suppression, ...] = ()
    require_reasons: bool = False


class _Rooms:
    """What the files want to hear of in which findings stand; each is read once."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._ignores = Ignores(resolver)
        self._rooms: dict[str, _Room] = {}

    def sort(self, finding: Finding, shown: list[Finding], hidden: list[Suppressed]) -> None:
        """Puts the finding where it belongs, if anywhere."""
        from tritonlint.registry import registry
        from tritonlint.suppressions import apply

        room = self._room(finding.path)
        if all(rule.code != finding.code for rule in room.rules):
            return
        applied = apply([finding], room.comments, room.rules, registry(), room.require_reasons)
        shown += applied.shown
        hidden += applied.hidden

    def _room(self, path: str) -> _Room:
        if path not in self._rooms:
            self._rooms[path] = self._read(path)
        return self._rooms[path]

    def _read(self, path: str) -> _Room:
        from tritonlint.lint import rules_for
        from tritonlint.registry import registry
        from tritonlint.source.comments import read_comments
        from tritonlint.source.text import load

        if self._ignores.reason(path, is_dir=False):
            return _Room(())
        settings = self._resolver.for_path(path, folder=False)
        rules = rules_for(path, settings, registry())
        try:
            comments = read_comments(load(path).text, path, 0).suppressions
        except OSError:  # gone since it was read
            return _Room(rules)
        return _Room(rules, comments, settings.require_reasons)


class _Names:
    """The names of files as they were given; imports lead to absolute ones. A file that was not named is told from the
    current folder where one that was is, unless it is further up than all of those."""

    def __init__(self, files: Sequence[str]) -> None:
        self._given = {os.path.abspath(path): path for path in files}
        relative = [_steps_up(os.path.normpath(path)) for path in files if not os.path.isabs(path)]
        self._steps_up = max(relative, default=-1)

    def named(self, finding: Finding) -> Finding:
        related = tuple(replace(one, path=self._name(one.path)) for one in finding.related)
        return replace(finding, path=self._name(finding.path), related=related)

    def _name(self, path: str) -> str:
        given = self._given.get(path)
        if given is None and self._steps_up >= 0 and os.path.isabs(path):
            with suppress(ValueError):  # on another drive
                told = os.path.relpath(path)
                if _steps_up(told) <= self._steps_up:
                    return told
        return given or path


def _steps_up(path: str) -> int:
    """How many folders above the current one a path begins."""
    return PurePath(path).parts.count(os.pardir)
