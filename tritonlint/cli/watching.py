"""`check --watch`: lint again whenever a file changes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from tritonlint.cli.main import CommandError
from tritonlint.discovery import PRUNED, SUFFIXES
from tritonlint.settings import SettingsError

WAKE_MS = 200


def watch(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Runs once, then after each change, until it is interrupted. The exit status is that of the last run."""
    try:
        changes: Any = importlib.import_module("watchfiles").watch
    except ModuleNotFoundError:
        raise CommandError("--watch needs watchfiles: install tritonlint[watch]") from None
    status: int | None = None
    try:
        # Woken without a change as well: so that the first run begins when the watch does, and no change before
        # its end is missed.
        for changed in changes(
            *map(Path, paths), watch_filter=_counts, yield_on_timeout=True, rust_timeout=WAKE_MS
        ):
            if status is None:
                status = _once(run)
            elif changed:
                click.echo("", err=True)
                status = _once(run)
    except KeyboardInterrupt:
        pass
    return status or 0


def _once(run: Callable[[], int]) -> int:
    try:
        return run()
    except (
        click.ClickException,
        SettingsError,
    ) as error:  # a half-written settings file: the next save mends it
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"error: {message}", err=True)
        return 2


def _counts(_: object, path: str) -> bool:
    if PRUNED.intersection(Path(path).parts):
        return False
    return path.endswith((*SUFFIXES, ".toml", ".gitignore"))
