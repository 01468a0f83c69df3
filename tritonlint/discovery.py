"""Which files to read, for a list of paths.

`.gitignore` files and the settings' `exclude` hold for paths that are named on the command line as well,
since hooks name every changed file. Nothing is opened here but ignore files and settings.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tritonlint.disk import read_regular
from tritonlint.settings import Resolver, Settings

SUFFIXES = (".py", ".pyi", ".ipynb", ".json")
# Never source of the project: tools' own folders, and environments.
PRUNED = frozenset(
    (
        ".git", ".hg", ".svn", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox", ".nox", ".venv", "venv",
        "__pycache__", "node_modules", ".eggs", ".ipynb_checkpoints", ".direnv", "__pypackages__",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that is not read, and why, in a few words for the summary."""

    path: str
    reason: str


@dataclass(slots=True)
class Discovery:
    """`files` in the order to report. `problems`: paths not there, folders not to be listed."""

    files: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    problems: list[Skipped] = field(default_factory=list)


def discover(paths: Iterable[str], resolver: Resolver) -> Discovery:
    """The files below `paths`, sorted within each named path, each once.

    A named file is read whatever its suffix; inside folders only Python, notebooks and JSON are looked at.
    Raises SettingsError where the settings that hold for a path are wrong.
    """
    found = Discovery()
    ignores = Ignores(resolver)
    seen: set[str] = set()
    for path in paths:
        if not os.path.lexists(path):
            found.problems.append(Skipped(path, "no such file or folder"))
            continue
        if os.path.isdir(path):
            reason = ignores.reason(path, is_dir=True)
            if reason:
                found.skipped.append(Skipped(path, reason))
                continue
            _walk(path, ignores, found, seen)
        else:
            _file(path, ignores, found, seen)
    return found


def _file(path: str, ignores: Ignores, found: Discovery, seen: set[str]) -> None:
    real = os.path.normpath(os.path.abspath(path))
    if real in seen:
        return
    reason = ignores.reason(path, is_dir=False)
    if reason:
        found.skipped.append(Skipped(path, reason))
        return
    seen.add(real)
    found.files.append(path)


def _walk(folder: str, ignores: Ignores, found: Discovery, seen: set[str]) -> None:
    """Depth first, sorted, following links to folders but no link into a folder that it is in already."""
    stack: list[tuple[str, frozenset[tuple[int, int]]]] = [(folder, frozenset())]
    while stack:
        here, above = stack.pop()
        try:
            status = os.stat(here)
            identity = (status.st_dev, status.st_ino)
            if identity in above:
                found.skipped.append(Skipped(here, "a link back to a folder above it"))
                continue
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            found.problems.append(Skipped(here, f"cannot be listed: {error.strerror or error}"))
            continue
        inside = above | {identity}
        folders: list[tuple[str, frozenset[tuple[int, int]]]] = []
        for entry in entries:
            path = os.path.join(here, entry.name)
            if _is_dir(entry):
                if entry.name in PRUNED or os.path.exists(os.path.join(path, "pyvenv.cfg")):
                    continue
                reason = ignores.reason(path, is_dir=True)
                if reason:
                    found.skipped.append(Skipped(path, reason))
                elif not entry.is_symlink() or not _inside(path, folder):
                    folders.append((path, inside))
            elif entry.name.endswith(SUFFIXES):
                _file(path, ignores, found, seen)
        stack.extend(reversed(folders))


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _inside(link: str, folder: str) -> bool:
    """Does a link lead to a place below `folder`? Then the walk comes there anyway."""
    target = os.path.realpath(link)
    root = os.path.realpath(folder)
    return target == root or target.startswith(root + os.sep)


@dataclass(frozen=True, slots=True)
class _Git:
    """Whether a folder is ignored, else the patterns that hold in it, each with the folder that they count from."""

    ignored: bool
    specs: tuple[tuple[str, Any], ...]


class Ignores:
    """The ignore files and excludes above a path; each folder's are read once."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._git: dict[str, _Git | None] = {}
        self._tops: dict[str, bool] = {}

    def reason(self, path: str, is_dir: bool) -> str:
        """Why a path is not to be read, or ""."""
        absolute = os.path.normpath(os.path.abspath(path))
        settings = self._resolver.for_path(absolute, is_dir)
        if settings.exclude and self._excluded(settings, absolute, is_dir):
            return "excluded by settings"
        if self._git_ignored(absolute, is_dir):
            return "ignored by .gitignore"
        return ""

    def _excluded(self, settings: Settings, absolute: str, is_dir: bool) -> bool:
        root = os.path.abspath(settings.root or Path.cwd())
        return any(
            matches(settings.exclude, relative, folder or is_dir)
            for relative, folder in _prefixes(root, absolute)
        )

    def _git_ignored(self, absolute: str, is_dir: bool) -> bool:
        above = self._inside(os.path.dirname(absolute))
        return above is not None and (above.ignored or self._verdict(above.specs, absolute, is_dir))

    def _inside(self, folder: str) -> _Git | None:
        """What a folder's repository says of what lies in it; None where no repository is around it. Folder by folder
        down to the path: once a folder is ignored, git looks at nothing below it."""
        below: list[str] = []
        while folder not in self._git and not self._is_top(folder):
            below.append(folder)
            folder = os.path.dirname(folder)
            if folder == below[-1]:
                self._git[folder] = None
        if folder not in self._git:
            self._git[folder] = self._with_own(_Git(False, ()), folder)
        found = self._git[folder]
        for step in reversed(below):
            if found is not None and not found.ignored:
                if self._verdict(found.specs, step, True):
                    found = _Git(True, ())
                else:
                    found = self._with_own(found, step)
            self._git[step] = found
        return found

    def _with_own(self, above: _Git, folder: str) -> _Git:
        spec = self._spec(folder)
        return above if spec is None else _Git(False, (*above.specs, (folder, spec)))

    @staticmethod
    def _verdict(specs: Sequence[tuple[str, Any]], step: str, directory: bool) -> bool:
        """The deepest ignore file that says anything about a path decides."""
        for place, spec in reversed(specs):
            relative = os.path.relpath(step, place).replace(os.sep, "/") + ("/" if directory else "")
            said = spec.check_file(relative).include
            if said is not None:
                return bool(said)
        return False

    def _is_top(self, folder: str) -> bool:
        if folder not in self._tops:
            self._tops[folder] = os.path.exists(os.path.join(folder, ".git"))
        return self._tops[folder]

    def _spec(self, folder: str) -> Any:
        """The patterns of a folder's .gitignore, with .git/info/exclude at the top of a repository."""
        lines: list[str] = []
        names = [".gitignore"]
        if self._is_top(folder):
            names.insert(0, os.path.join(".git", "info", "exclude"))
        for name in names:
            try:
                data = read_regular(os.path.join(folder, name))
                lines.extend(data.decode("utf-8", "replace").splitlines())
            except OSError:
                continue
        patterns = [line for line in lines if line.strip() and not line.startswith("#")]
        return _compile(tuple(patterns)) if patterns else None


def _prefixes(root: str, absolute: str) -> Iterator[tuple[str, bool]]:
    """The path relative to `root`, from its first folder down; True for all that are folders for sure."""
    relative = os.path.relpath(absolute, root).replace(os.sep, "/")
    if relative.startswith("../") or relative in ("..", "."):
        return
    parts = relative.split("/")
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[:count]), count < len(parts)


_COMPILED: dict[tuple[str, ...], Any] = {}


def _compile(patterns: tuple[str, ...]) -> Any:
    if patterns not in _COMPILED:
        from pathspec import GitIgnoreSpec

        good: list[str] = []
        for pattern in patterns:
            try:
                GitIgnoreSpec.from_lines([pattern])
            except ValueError:  # git skips a pattern that it cannot read, too
                continue
            good.append(pattern)
        _COMPILED[patterns] = GitIgnoreSpec.from_lines(good)
    return _COMPILED[patterns]


def matches(patterns: tuple[str, ...], relative: str, is_dir: bool = False) -> bool:
    """Does a path (with "/", relative to where the patterns count from) match patterns of .gitignore?"""
    return bool(_compile(patterns).match_file(relative + ("/" if is_dir else "")))
