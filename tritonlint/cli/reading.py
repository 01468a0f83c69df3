"""The relevant files below some paths, one after the other; what cannot be read is said and passed over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonlint.disk import read_regular
from tritonlint.finding import located
from tritonlint.settings import Resolver, Settings

if TYPE_CHECKING:
    from tritonlint.context import FileWork
    from tritonlint.targets import Targets


@dataclass(frozen=True, slots=True)
class File:
    """A file with Triton in it. `number` counts all files from 0, the irrelevant ones too, up to `total`."""

    path: str
    data: bytes
    settings: Settings
    number: int
    total: int

    def targets(self, gpus: Sequence[str], triton: str | None) -> Targets:
        """What to look at it for. Raises SettingsError."""
        from tritonlint.targets import choose

        return choose(self.settings, Path(self.path).absolute().parent, gpus, triton)


class Reader:
    """Iterating gives the files; `failed` then tells whether something went wrong on the way."""

    def __init__(self, paths: Sequence[str], resolver: Resolver | None = None) -> None:
        self._paths = paths
        self._resolver = resolver or Resolver()
        self.failed = False
        self._read: set[str] = set()

    def __iter__(self) -> Iterator[File]:
        from tritonlint.discovery import discover
        from tritonlint.lint import relevant

        found = discover(self._paths, self._resolver)
        for entry in found.problems:
            self.problem(entry.path, entry.reason)
        for number, path in enumerate(found.files):
            try:
                data = read_regular(path)
            except OSError as error:
                self.problem(path, f"cannot be read: {error.strerror or error}")
                continue
            if relevant(path, data):
                yield File(path, data, self._resolver.for_path(Path(path)), number, len(found.files))

    def read(self, file: File, targets: Targets) -> FileWork:
        """The file read for some targets. What does not parse is said; the rest of the file is there."""
        from tritonlint.context import FileWork
        from tritonlint.source.notebook import place_in

        work = FileWork(file.path, file.data, file.settings, targets)
        if file.path not in self._read:
            self._read.add(file.path)
            for one in work.module.problems:
                if one.kind in ("syntax", "unreadable"):
                    cell, line = place_in(work.module.file.cells, one.span.line)
                    self.problem(f"{located(file.path, cell)}:{line}:{one.span.column}", one.message)
        return work

    def problem(self, path: str, words: str) -> None:
        """Says what is wrong with a file, in one line."""
        click.echo(f"{path}: error: {words}", err=True)
        self.failed = True

    def internal(self, path: str, error: Exception) -> None:
        """The same for a mistake of tritonlint itself."""
        self.problem(path, f"internal error: {type(error).__name__}: {error}")
