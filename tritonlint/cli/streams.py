"""Standard streams that are closed, or that nothing can be written to: a full disk, a pipe whose reader has gone."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

_MODES = ("r", "w", "w")


class OutputError(Exception):
    """Standard output cannot be written. No OSError, so that nothing on the way takes it for one of its own."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(f"standard output: cannot be written: {cause.strerror or cause}")
        self.broken_pipe = isinstance(cause, BrokenPipeError)


def not_written(error: OutputError) -> int:
    """Says so in one line, and gives the exit status."""
    if error.broken_pipe:  # `tritonlint ... | head`: who stopped reading needs no word, as with any filter
        return 141
    print(f"error: {error}", file=sys.stderr)
    return 2


class _Output(io.FileIO):
    """A descriptor that is written until it fails once; what comes after that is dropped. A failure is raised where
    `strict`, and else nobody is left to be told."""

    def __init__(self, descriptor: int, strict: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._strict = strict
        self._failed = False

    def write(self, data: Any, /) -> int:
        if data and not self._failed:  # click tries a stream by writing nothing
            try:
                return super().write(data)
            except OSError as error:
                self._failed = True
                if self._strict:
                    raise OutputError(error) from None
        return len(data)


def guard() -> None:
    """Puts a null device where a standard stream was closed, since the next file that is opened would take its number
    else, and makes failures of standard output an OutputError, those of standard error nothing."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            _open_null(descriptor, name)
        elif descriptor and _is_plain(stream):
            setattr(sys, name, _guarded(stream, strict=name == "stdout"))


def _open_null(descriptor: int, name: str) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        opened = os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
        os.set_inheritable(opened, True)
    setattr(sys, name, open(os.devnull, _MODES[descriptor], encoding="utf-8"))  # noqa: SIM115


def _is_plain(stream: TextIO) -> bool:
    """A file, a pipe or a terminal as Python opens it: not a test's stand-in, nor the console of Windows."""
    return type(stream) is io.TextIOWrapper and type(_raw(stream)) is io.FileIO


def _raw(stream: TextIO) -> object:
    return getattr(stream.buffer, "raw", stream.buffer)  # `python -u` has no buffer between


def _guarded(stream: TextIO, strict: bool) -> io.TextIOWrapper:
    stream.flush()
    output = _Output(stream.fileno(), strict)
    unbuffered = _raw(stream) is stream.buffer
    return io.TextIOWrapper(
        output if unbuffered else io.BufferedWriter(output),
        encoding=stream.encoding, errors=stream.errors, line_buffering=bool(stream.line_buffering),
        write_through=unbuffered,
    )  # fmt: skip
