"""Files and notebooks to read, and what they launch with which values."""

from __future__ import annotations

from pathlib import Path

from tritonlint.source.module import Module, parse_file
from tritonlint.source.sites import LaunchPlan, Platform
from tritonlint.source.text import SourceFile, load

__all__ = ["Module", "SourceFile", "parse_file", "plans", "read"]


def read(path: str | Path, data: bytes | str | None = None) -> SourceFile:
    """A file from disk, or the given content under that name. Never raises: see `SourceFile.problems`."""
    return load(path, data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)


def plans(module: Module, platform: Platform) -> tuple[LaunchPlan, ...]:
    """Every kernel of the file with everything that reaches it, as conditions on the platform decide it."""
    from tritonlint.source.first import plain_plans

    return plain_plans(module, platform)
