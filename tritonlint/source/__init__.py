"""Files and notebooks to read, and what they launch with which values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tritonlint.source.module import Module, parse_file
from tritonlint.source.sites import LaunchPlan, Platform
from tritonlint.source.text import SourceFile, load

if TYPE_CHECKING:
    from tritonlint.source.hooks import Hooks
    from tritonlint.source.reading import Reading

__all__ = ["Module", "SourceFile", "parse_file", "plans", "read", "read_plans"]


def read(path: str | Path, data: bytes | str | None = None) -> SourceFile:
    """A file from disk, or the given content under that name. Never raises: see `SourceFile.problems`."""
    return load(path, data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)


def plans(module: Module, platform: Platform, hooks: Hooks | None = None) -> tuple[LaunchPlan, ...]:
    """Every kernel of the file with everything that reaches it, as conditions on the platform decide it."""
    return read_plans(module, platform, hooks=hooks).plans


def read_plans(
    module: Module, platform: Platform, unreached: bool = False, hooks: Hooks | None = None
) -> Reading:
    """The same, with what could not be resolved and why, and with `unreached` also the launches that the platform
    rules out."""
    from tritonlint.source.reading import read_plans as read_all

    return read_all(module, platform, unreached=unreached, hooks=hooks)
