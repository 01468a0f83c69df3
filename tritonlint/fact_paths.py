"""The facts that the settings name, read once."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from tritonlint.facts.reading import FactBook, FactsError, read_facts
from tritonlint.settings import Settings, SettingsError


def fact_book(settings: Settings) -> FactBook:
    """The facts of `settings.facts`. Raises SettingsError for a path that holds none."""
    root = settings.root or Path.cwd()
    paths = tuple(str(root / Path(path).expanduser()) for path in settings.facts)
    try:
        return _read(paths, tuple(map(_changed, paths)))
    except FactsError as error:
        raise SettingsError(str(error), settings.origins.get("facts", ""), key="facts") from None


@lru_cache(maxsize=4)
def _read(paths: tuple[str, ...], changed: tuple[object, ...]) -> FactBook:
    return read_facts(paths)


def _changed(path: str) -> object:
    """Differs once a file, or what stands in a folder, changed."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
