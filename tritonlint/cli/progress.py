"""A bar on standard error, where a terminal looks on and there is enough to do."""

from __future__ import annotations

import sys
from collections.abc import Callable

ENOUGH = 40  # with fewer parts a bar would only flicker


class Progress:
    """`with Progress("Linting") as progress: ... progress.tell(done, total)`. The terminal library is imported
    with the first thing to show."""

    def __init__(self, title: str, enough: int = ENOUGH) -> None:
        self._title = title
        self._enough = enough
        self._bar: object = None
        self._tell: Callable[[int, int], None] = lambda done, total: None

    def __enter__(self) -> Progress:
        return self

    def tell(self, done: int, total: int) -> None:
        if total < self._enough or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import Progress as Bar

        if not isinstance(self._bar, Bar):
            bar = Bar(console=Console(stderr=True), transient=True)
            task = bar.add_task(self._title, total=total)
            bar.start()
            self._bar = bar
            self._tell = lambda done, total: bar.update(task, completed=done, total=total)
        self._tell(done, total)

    def __exit__(self, *_: object) -> None:
        stop = getattr(self._bar, "stop", None)
        if stop is not None:
            stop()
