"""The worker process: reads requests, lints, answers. It ends when its standard input does, so that it never
outlives the server, however that ended."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable

from tritonlint.collector import collect_rarely
from tritonlint_server.analysis import Analyser
from tritonlint_server.analysis_record import Listing, Request
from tritonlint_server.frames import FrameWriter, read_frame

# Messages: ("run", number, Request or Listing), ("cancel", number); answers: ("done", number, Analysis or
# Listed).


def main() -> None:
    """Runs until standard input ends."""
    collect_rarely()
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a stray print must not end up between the frames
    writer = FrameWriter(stdout)
    jobs: queue.Queue[tuple[int, Request | Listing] | None] = queue.Queue()
    cancelled: set[int] = set()

    def listen() -> None:
        try:
            while True:
                kind, number, *rest = read_frame(stdin)
                if kind == "cancel":
                    cancelled.add(number)
                else:
                    jobs.put((number, rest[0]))
        except (EOFError, OSError, ValueError):
            os._exit(0)  # nobody waits for what is being worked on

    threading.Thread(target=listen, name="requests", daemon=True).start()
    analyser = Analyser()
    _warm_up()
    while (job := jobs.get()) is not None:
        number, request = job
        if number not in cancelled:
            if isinstance(request, Listing):
                writer.write(("done", number, analyser.listing(request)))
            else:
                writer.write(("done", number, analyser.run(request, _asks(number, cancelled))))
        cancelled.discard(number)


def _asks(number: int, cancelled: set[int]) -> Callable[[], bool]:
    return lambda: number in cancelled


def _warm_up() -> None:
    """Imports what the first request needs, while the editor is still saying hello."""
    # What cannot be imported is said once a request needs it.
    with contextlib.suppress(Exception):
        import tritonlint.context
        import tritonlint.lint
        import tritonlint.source.reading  # noqa: F401
        from tritonlint.registry import registry

        registry()


if __name__ == "__main__":
    main()
