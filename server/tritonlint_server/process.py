"""Is another process still there?"""

from __future__ import annotations

import os
import sys


def alive(pid: int) -> bool:
    """False only where that is certain."""
    if pid <= 0:
        return True
    if sys.platform == "win32":
        return _alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # not ours to signal, but there
        return True
    return not _zombie(pid)


def _zombie(pid: int) -> bool:
    """A process that ended and that nobody has waited for still answers signals (Linux)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[:1] == [b"Z"]
    except (OSError, IndexError):
        return False


def _alive_on_windows(pid: int) -> bool:
    import ctypes

    kernel: object = getattr(ctypes, "windll").kernel32  # noqa: B009 (not there on other systems)
    call = kernel.__getattribute__
    handle = call("OpenProcess")(0x00100000, False, pid)  # SYNCHRONIZE
    if not handle:
        return False
    try:
        waiting: bool = call("WaitForSingleObject")(handle, 0) == 0x102  # WAIT_TIMEOUT
        return waiting
    finally:
        call("CloseHandle")(handle)
