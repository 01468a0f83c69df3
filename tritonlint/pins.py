"""Which Triton a project uses, read from its environment, lock and requirement files. Nothing is run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tritonlint.disk import read_regular

# What each PyTorch wheel for Linux requires, from the wheels' own metadata.
TORCH_TO_TRITON = {
    (2, 0): "2.0", (2, 1): "2.1", (2, 2): "2.2", (2, 3): "2.3", (2, 4): "3.0", (2, 5): "3.1", (2, 6): "3.2",
    (2, 7): "3.3", (2, 8): "3.4", (2, 9): "3.5", (2, 10): "3.6", (2, 11): "3.6", (2, 12): "3.7",
    (2, 14): "3.8",
}  # fmt: skip

LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
MAX_BYTES = 32 * 1024 * 1024
_VERSION = r"(\d+)\.(\d+)[^\s\"',;]*"


@dataclass(frozen=True, slots=True)
class Pin:
    """A Triton release ("3.6") and where it stands, in words for the summary."""

    triton: str
    why: str


def installed(root: Path) -> Pin | None:
    """The Triton of the project's `.venv`, of the active environment, or of the one that runs this."""
    folders = [root / ".venv", root / "venv"]
    active = os.environ.get("VIRTUAL_ENV")
    if active:
        folders.append(Path(active))
    for folder in folders:
        found = _in_environment(folder)
        if found:
            return Pin(found, f"installed in {_relative(folder, root)}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        match = re.match(_VERSION, version("triton"))
    except (PackageNotFoundError, OSError, ValueError):
        return None
    return Pin(f"{match[1]}.{match[2]}", "installed") if match else None


def _in_environment(folder: Path) -> str | None:
    try:
        for place in sorted(folder.glob("lib*/python3.*/site-packages/triton-*.dist-info")):
            match = re.match(r"triton-(\d+)\.(\d+)", place.name)
            if match:
                return f"{match[1]}.{match[2]}"
    except OSError:
        return None
    return None


def locked(root: Path) -> Pin | None:
    """The release that a lock file, then a requirements file, then pyproject.toml fixes: triton's own pin,
    else the one that a pinned torch brings along. A range is no pin."""
    for path, text in _files(root):
        lock = path.name in LOCKS
        for package in ("triton", "torch"):
            match = _lock_pin(text, package) if lock else _requirement_pin(text, package)
            if not match:
                continue
            found = (int(match[0]), int(match[1]))
            triton = f"{found[0]}.{found[1]}" if package == "triton" else TORCH_TO_TRITON.get(found)
            if triton:
                through = "" if package == "triton" else f", torch {found[0]}.{found[1]}"
                return Pin(triton, f"{path.name}{through}")
    return None


def _files(root: Path) -> Iterator[tuple[Path, str]]:
    names: list[Path] = [root / name for name in LOCKS]
    with suppress(OSError):
        names += sorted(root.glob("requirements*.txt")) + sorted((root / "requirements").glob("*.txt"))
    names.append(root / "pyproject.toml")
    for path in names:
        try:
            yield path, read_regular(path, MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            continue


def _lock_pin(text: str, package: str) -> tuple[str, str] | None:
    match = re.search(rf'name\s*=\s*"{package}"\s*\n\s*version\s*=\s*"{_VERSION}"', text)
    return (match[1], match[2]) if match else None


def _requirement_pin(text: str, package: str) -> tuple[str, str] | None:
    match = re.search(rf"(?m)^[\s\"'-]*{package}(?:\[[^\]]*\])?\s*(?:==|~=)\s*{_VERSION}", text)
    return (match[1], match[2]) if match else None


def _relative(path: Path, root: Path) -> str:
    try:
        return str(path.relative_to(root))
    except ValueError:
        return str(path)
