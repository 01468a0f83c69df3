"""Python's garbage collector in processes of our own.

Trees, plans and layouts stay for as long as a file is linted, and are garbage all at once when it is done. With Python's
own thresholds collections walk much and free little. So they come between files, where little is alive, and in the
middle of a file only if it is very large.
"""

from __future__ import annotations

import gc

_PILE = 400_000  # objects that came since the last collection: some 50 MB
_own = False


def collect_rarely() -> None:
    """To be called where a process starts, never on import."""
    global _own
    _own = True
    gc.set_threshold(2 * _PILE, 20, 10)


def before_workers() -> None:
    """To be called once all is imported that workers need, before they are started: what is there stays, and is neither
    gone through by collections nor copied by them from the process that it is shared with."""
    if _own and not gc.get_freeze_count():
        gc.collect()
        gc.freeze()


def between_files() -> None:
    """Collects if enough has piled up; nothing in a process that is not our own."""
    young, collections, _ = gc.get_count()
    if _own and (young > _PILE or collections):
        gc.collect()
