"""`check --show-settings` and `check --show-files`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonlint.cli.main import FAILED
from tritonlint.settings import Resolver, shown

if TYPE_CHECKING:
    from tritonlint.cli.check import Options


def settings(options: Options, resolver: Resolver) -> int:
    """Every setting that holds for the first path, with where it comes from."""
    from tritonlint.targets import choose

    path = (options.stdin_filename or ".") if options.paths[0] == "-" else options.paths[0]
    found = resolver.for_path(Path(path))
    click.echo(f"# settings for {path} ({found.path or 'no settings file'})")
    for key, value, origin in shown(found):
        if value is not None:
            click.echo(f"{key} = {_toml(value)}  # {origin}")
    start = Path(path).absolute()
    targets = choose(found, start if start.is_dir() else start.parent, options.gpus, options.triton)
    click.echo(f"# checked for {targets.described()}")
    return 0


def files(options: Options, resolver: Resolver) -> int:
    """The files that would be read; on standard error those that would not, and why."""
    from tritonlint.discovery import discover

    found = discover(options.paths, resolver)
    for path in found.files:
        click.echo(path)
    for entry in (*found.skipped, *found.problems):
        click.echo(f"{entry.path}: {entry.reason}", err=True)
    return FAILED if found.problems else 0


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(entry) for entry in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(str(key))} = {_toml(entry)}" for key, entry in value.items()) + "}"
    return str(value)
