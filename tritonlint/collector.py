"""Python's garbage collector in processes of our own.

Trees, plans and layouts stay for as long as a file is linted, and are garbage all at once when it is done. With Python's
own thresholds collections walk much and free little. So they come between files, where little is alive, and in the
middle of a file only if it is very large. What is alive then is kept for many files: it counts as old, and is gone
through again once enough has joined it.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PILE = 100_000  # objects that came since the last collection: some 12 MB
_THRESHOLDS = (4 * _PILE, 20, 10)
_AGAIN = 1.5  # times what a whole collection left: when there is as much, the next one comes
_own = False
_left = 0  # objects that the last whole collection left
_joined = 0  # those that seem to have survived collections since then
_lock = threading.Lock()
_borrowers = 0
_theirs = gc.get_threshold()


def collect_rarely() -> None:
    """To be called where a process starts, never on import."""
    global _own
    _own = True
    gc.set_threshold(*_THRESHOLDS)


@contextmanager
def rarely_for_now() -> Iterator[None]:
    """The same in a process of somebody else, for as long as we are at work in it, in however many threads."""
    global _borrowers, _theirs
    with _lock:
        if not _borrowers:
            _theirs = gc.get_threshold()
            gc.set_threshold(*_THRESHOLDS)
        _borrowers += 1
    try:
        yield
    finally:
        with _lock:
            _borrowers -= 1
            if not _borrowers:
                gc.set_threshold(*_theirs)


def before_workers() -> None:
    """To be called once all is imported that workers need, before they are started: what is there stays, and is neither
    gone through by collections nor copied by them from the process that it is shared with."""
    if _own and not gc.get_freeze_count():
        gc.collect()
        gc.freeze()


def before_the_end() -> None:
    """To be called where a process ends: Python would go through all that is left once more, only to give back what goes
    with the process anyway."""
    if _own:
        gc.freeze()


def between_files() -> None:
    """Collects if enough has piled up; nothing in a process that is not our own."""
    global _left, _joined
    young, collections, _ = gc.get_count()
    if not _own or (young <= _PILE and not collections):
        return
    _joined += max(0, young - gc.collect(1))
    if _left + _joined <= _AGAIN * _left:
        return
    _joined = len(gc.get_objects()) - _left  # what was freed meanwhile counts no more
    if _left + _joined > _AGAIN * _left:
        gc.collect()
        _left, _joined = len(gc.get_objects()), 0
