"""Have the files changed that settings and targets come from? Told by their times and sizes, asked at each
request.

Not every client reports changed files (Neovim on Linux does not), and none reports those outside of its
folders, where a nested project may have its settings."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tritonlint.pins import LOCKS
from tritonlint.settings import FILES

# Names whose change may change what is said of a file near them.
PATTERNS = (*FILES, *LOCKS, "requirements*.txt", ".gitignore")
_TOP = (*LOCKS, "requirements.txt", "requirements", ".venv", "venv")

Signature = tuple[tuple[str, int, int], ...]


def signature(path: str) -> Signature:
    """The state of all settings files that may hold for a file, and of what pins the project's Triton."""
    found: list[tuple[str, int, int]] = []
    folder = os.path.dirname(path)
    top = False
    while True:
        own = _states(folder, (*FILES, ".gitignore"))
        found += own
        if not top and (os.path.exists(os.path.join(folder, ".git")) or _holds(own, "pyproject.toml")):
            found += _states(folder, _TOP)  # what `targets.project_root` takes for the project
            top = True
        parent = os.path.dirname(folder)
        if parent == folder:
            return tuple(found)
        folder = parent


def is_settings_file(path: str) -> bool:
    """May a change of that file change findings elsewhere?"""
    name = os.path.basename(path)
    requirements = name.startswith("requirements") and name.endswith(".txt")
    return name in FILES or name in LOCKS or name == ".gitignore" or requirements


def _holds(states: Iterable[tuple[str, int, int]], name: str) -> bool:
    return any(os.path.basename(path) == name for path, *_ in states)


def _states(folder: str, names: Iterable[str]) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for name in names:
        path = os.path.join(folder, name)
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        found.append((path, status.st_mtime_ns, status.st_size))
    return found
