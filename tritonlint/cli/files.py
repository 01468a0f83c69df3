"""Writing files: whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tritonlint.cli.main import CommandError

SOURCES = (".py", ".pyi", ".ipynb")


def write_bytes(path: str, data: bytes) -> None:
    """Writes a whole file at once, keeping its mode; raises CommandError and leaves what was there."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        real = os.path.realpath(path)
        if os.path.exists(real) and not os.path.isfile(real):  # a pipe or a device
            Path(real).write_bytes(data)
            return
        temporary = f"{real}.{os.getpid()}.tmp"
        Path(temporary).write_bytes(data)
        if os.path.exists(real):
            os.chmod(temporary, os.stat(real).st_mode & 0o7777)
        os.replace(temporary, real)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise CommandError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_report(path: str, text: str) -> None:
    """Writes what a command has to say; never over source code, which a slip of the command line may name."""
    if path.endswith(SOURCES) and os.path.exists(path):
        raise CommandError(f"{path}: is not written: it is source code, and a report would take its place")
    write_text(path, text)


def write_text(path: str, text: str) -> None:
    """The same for a text, in UTF-8."""
    write_bytes(path, text.encode("utf-8", "surrogateescape"))
