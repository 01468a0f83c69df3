"""Bytes of files that may be anything by the time they are read: gone, a folder, a silent pipe, or growing."""

from __future__ import annotations

import errno
import os
import stat

MAX_BYTES = 16 * 1024 * 1024  # larger files are machine-made data; they are named, not read

# A pipe is opened without waiting for somebody to write to it.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
_CHUNK = 1 << 16  # of what a file has beyond the size that it says: mostly nothing


class NoFileError(OSError):
    """There is something of that name, but no regular file."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EINVAL, "it is no regular file", path)


def too_large(size: int, limit: int) -> str:
    """Why a file of that size is not read."""
    return f"the file has {size:,} bytes; files over {limit:,} bytes are not read"


class TooLargeError(OSError):
    """The file has more bytes than are read."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        super().__init__(errno.EFBIG, too_large(size, limit), path)


def read_regular(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file; never waits for a pipe, and never reads more than one byte over the limit.

    Raises OSError, of the kinds above as well, and ValueError for a path that is none (with a null byte).
    """
    name = os.fspath(path)
    descriptor = os.open(name, _FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NoFileError(name)
        if status.st_size > limit:
            raise TooLargeError(name, status.st_size, limit)
        parts: list[bytes] = []
        left = limit + 1
        ask = status.st_size + 1
        while left and (part := os.read(descriptor, min(left, ask))):
            parts.append(part)
            left -= len(part)
            ask = _CHUNK
        if not left:  # it grew meanwhile
            raise TooLargeError(name, limit + 1, limit)
        return b"".join(parts)
    finally:
        os.close(descriptor)


Stamp = (
    tuple[int, int] | None
)  # (time of the last change in ns, size in bytes); None where there is no such file


def stamp(path: str) -> Stamp:
    """When a file was changed last, and its size; None where there is no regular file of that name."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None
