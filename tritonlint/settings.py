"""The settings that hold for a file: the nearest settings file above it, then the command line.

Editor and command line both come here with the path of the linted file, so that they cannot disagree.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

FILES = ("tritonlint.toml", "pyproject.toml")  # in this order within one folder


class SettingsError(Exception):
    """Something in the settings cannot be used. `str()` is one line: file, line, key, what is allowed."""

    def __init__(self, message: str, path: str = "", line: int = 0, key: str = "") -> None:
        self.path, self.line, self.key, self.message = path, line, key, message
        place = ":".join(str(part) for part in (path, line) if part)
        super().__init__(": ".join(part for part in (place, key, message) if part))


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. An empty `select` means every rule; else empty or None is: not set."""

    gpus: tuple[str, ...] = ()
    triton: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    default_types: Mapping[str, str] = field(default_factory=dict)
    config_functions: tuple[str, ...] = ()
    baseline: str | None = None
    facts: tuple[str, ...] = ()
    required_version: str | None = None
    require_reasons: bool = False
    github_annotations: bool = False
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    overrides: tuple[Mapping[str, Any], ...] = ()  # each with `paths`, and keys as written
    path: Path | None = None  # the settings file
    origins: Mapping[str, str] = field(
        default_factory=dict
    )  # key as written -> "pyproject.toml:12", "command line"
    applied: tuple[int, ...] = ()  # the places in `overrides` of those that these settings hold

    @property
    def root(self) -> Path | None:
        """The folder that globs and relative paths of the settings count from."""
        return self.path.parent if self.path else None

    @property
    def origin(self) -> tuple[Path | None, tuple[int, ...]]:
        """Equal for settings of one run that were made of the same parts."""
        return self.path, self.applied


NOT_KEYS = ("path", "origins", "applied")


def key_of(name: str) -> str:
    """The spelling in the file of a field's name."""
    return name.replace("_", "-")


def with_overrides(
    settings: Settings, overrides: Mapping[str, Any], origin: str = "command line"
) -> Settings:
    """The same settings with some fields replaced; those of value None are left alone."""
    given = {name: value for name, value in overrides.items() if value is not None}
    if not given:
        return settings
    origins = {**settings.origins, **{key_of(name): origin for name in given}}
    return replace(settings, **given, origins=origins)


def for_file(settings: Settings, path: Path) -> Settings:
    """The settings with those of `overrides` whose `paths` match a file, the later ones on top. Lists and single
    values replace, tables are merged; what the command line says stays."""
    from tritonlint.discovery import matches

    try:
        relative = path.relative_to((settings.root or Path.cwd()).absolute()).as_posix()
    except ValueError:
        return settings
    places = tuple(
        place for place, entry in enumerate(settings.overrides) if matches(entry["paths"], relative)
    )
    values: dict[str, Any] = {}
    origins = dict(settings.origins)
    for place in places:
        for key, value in settings.overrides[place].items():
            name = key.replace("-", "_")
            if key == "paths" or settings.origins.get(key) == "command line":
                continue
            before = values.get(name, getattr(settings, name))
            values[name] = {**before, **value} if isinstance(value, Mapping) else value
            origins[key] = f"{settings.path}, overrides {place + 1}"
    return replace(settings, **values, origins=origins, applied=places) if places else settings


def near(name: str, known: Iterable[str], limit: int = 3) -> str:
    """ "; did you mean a, b?" for the closest spellings, or nothing."""
    names = list(known)
    lower = {candidate.lower(): candidate for candidate in names}
    close = difflib.get_close_matches(name.lower(), lower, n=limit, cutoff=0.6)
    return f"; did you mean {', '.join(lower[c] for c in close)}?" if close else ""


class Resolver:
    """Finds the settings for each file. Reads each folder once.

    `file` names one settings file to use for everything instead of the nearest; `isolated` uses none.
    """

    def __init__(
        self, overrides: Mapping[str, Any] | None = None, file: Path | None = None, isolated: bool = False
    ) -> None:
        self.overrides = dict(overrides or {})
        self.file = file
        self.isolated = isolated
        self._folders: dict[Path, Settings] = {}
        self._places: dict[str, Settings] = {}  # the same, by their names
        self._one: Settings | None = None
        self._made: dict[tuple[Path | None, tuple[int, ...]], Settings] = {}

    def for_path(self, path: str | Path, folder: bool | None = None) -> Settings:
        """The settings for a file or folder; `folder`: which of the two it is, where that is known. Raises SettingsError
        where the file that holds them is wrong."""
        if folder is None:
            folder = os.path.isdir(path)
        if self.file is not None or self.isolated:
            if self._one is None:
                base = Settings()
                if self.file is not None:
                    from tritonlint.settings_file import read

                    base = read(self.file) or Settings(path=self.file)
                self._one = with_overrides(base, self.overrides)
            return self._for_file(self._one, path, folder)
        place = os.path.abspath(path)
        if not folder:
            place = os.path.dirname(place)
        found = self._places.get(place)
        if found is None:
            found = self._places[place] = self._for_folder(Path(place))
        return self._for_file(found, path, folder)

    def _for_file(self, settings: Settings, path: str | Path, folder: bool) -> Settings:
        """With the overrides of the file; the same object for files to which the same ones apply."""
        if folder or not settings.overrides:
            return settings
        own = for_file(settings, Path(os.path.abspath(path)))
        return self._made.setdefault(own.origin, own)

    def _for_folder(self, folder: Path) -> Settings:
        walked: list[Path] = []
        found: Settings | None = None
        for place in (folder, *folder.parents):
            if place in self._folders:
                found = self._folders[place]
                break
            walked.append(place)
            own = _own(place)
            if own is not None:
                found = with_overrides(own, self.overrides)
                break
        if found is None:
            found = with_overrides(Settings(), self.overrides)
        for place in walked:
            self._folders[place] = found
        return found


def _own(folder: Path) -> Settings | None:
    """The settings that stand in this very folder."""
    for name in FILES:
        file = folder / name
        try:
            if not file.is_file():
                continue
        except OSError:
            continue
        from tritonlint.settings_file import read

        settings = read(file)
        if settings is not None:
            return settings
    return None


def load(path: Path) -> Settings:
    """The settings for one file or folder, without a command line. Raises SettingsError."""
    return Resolver().for_path(path)


def shown(settings: Settings) -> list[tuple[str, Any, str]]:
    """(key, value, where it came from) of every key, for --show-settings."""
    rows: list[tuple[str, Any, str]] = []
    for entry in fields(settings):
        if entry.name in NOT_KEYS:
            continue
        key = key_of(entry.name)
        rows.append((key, getattr(settings, entry.name), settings.origins.get(key, "default")))
    return rows


def check_version(required: str, version: str) -> bool | None:
    """Does `version` meet a requirement like ">=0.2, <1"? None where the requirement cannot be read."""
    have = _numbers(version)
    for part in required.split(","):
        part = part.strip()
        operator = next((op for op in ("==", ">=", "<=", "!=", "~=", ">", "<") if part.startswith(op)), "")
        text = part[len(operator) :].strip() if operator else part
        wild = text.endswith(".*")
        want = _numbers(text.removesuffix(".*"))
        if not want or have is None:
            return None
        width = len(want) if wild else max(len(want), len(have))
        left, right = _pad(have, width), _pad(want, width)
        if operator == "~=":
            if len(want) < 2:
                return None
            holds = left >= right and have[: len(want) - 1] == want[:-1]
        else:
            holds = {
                "": left == right, "==": left == right, ">=": left >= right, "<=": left <= right,
                "!=": left != right, ">": left > right, "<": left < right,
            }[operator]  # fmt: skip
        if not holds:
            return False
    return True


def _pad(numbers: tuple[int, ...], width: int) -> tuple[int, ...]:
    return (numbers + (0,) * width)[:width]


def _numbers(text: str) -> tuple[int, ...] | None:
    parts = text.split(".")
    if not all(part.isdigit() for part in parts):
        return None
    return tuple(int(part) for part in parts)
