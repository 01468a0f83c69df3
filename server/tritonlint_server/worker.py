"""The worker process: reads requests, lints, answers. It ends when its standard input does, so that it never
outlives the server, however that ended."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import queue
import sys
import threading
from collections.abc import Callable

from tritonlint_server.analysis import Analyser
from tritonlint_server.analysis_record import Listing, Request
from tritonlint_server.frames import FrameWriter, read_frame

_PAUSE_SECONDS = 0.5

# Messages: ("run", number, Request or Listing), ("cancel", number); answers: ("done", number, Analysis or
# Listed), and once that this process has grown: ("grown", 0, None).


def main() -> None:
    """Runs until standard input ends."""
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a stray print must not end up between the frames
    writer = FrameWriter(stdout)
    jobs: queue.Queue[tuple[int, Request | Listing]] = queue.Queue()
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
    rubbish = Rubbish()
    while True:
        number, request = _next(jobs, rubbish)
        if number not in cancelled:
            if isinstance(request, Listing):
                writer.write(("done", number, analyser.listing(request)))
            else:
                writer.write(("done", number, analyser.run(request, _asks(number, cancelled))))
        cancelled.discard(number)
        rubbish.made()
        if rubbish.says_grown():
            writer.write(("grown", 0, None))


class Rubbish:
    """Python's garbage collector, run while nobody waits: a full collection walks through all syntax trees, longer than
    a keystroke may take. What is alive after a collection is left out of the next ones, but for every so many."""

    EVERY = 30  # requests without a pause
    WHOLE = 4  # collections
    SETTLED = 3  # whole collections after which memory is what the open files take
    GROWN = 1.5  # times that memory

    def __init__(self) -> None:
        gc.disable()
        self._requests = 0
        self._collections = 0
        self._settled = 0
        self._grown = False

    def made(self) -> None:
        """A request was answered."""
        self._requests += 1
        if self._requests >= self.EVERY:
            self.collect()

    @property
    def any(self) -> bool:
        return self._requests > 0

    def collect(self) -> None:
        self._requests = 0
        self._collections += 1
        whole = self._collections % self.WHOLE == 0
        if whole:
            gc.unfreeze()
        gc.collect()
        gc.freeze()
        if whole:
            _give_back()
            self._weigh()

    def _weigh(self) -> None:
        resident = _resident_bytes()
        if self._collections // self.WHOLE == self.SETTLED:
            self._settled = resident
        elif self._settled and resident > self._settled * self.GROWN:
            self._grown = True

    def says_grown(self) -> bool:
        """Whether a whole collection since the last time left much more than the first ones did."""
        grown, self._grown = self._grown, False
        return grown


def _resident_bytes() -> int:
    """What this process has in memory; 0 where the system does not say (other than Linux)."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def _give_back() -> None:
    """Free memory of the C heap goes back to the system: glibc keeps what lies below anything that is still in use."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # other C libraries have no such function
            ctypes.CDLL(None).malloc_trim(0)


def _next(
    jobs: queue.Queue[tuple[int, Request | Listing]], rubbish: Rubbish
) -> tuple[int, Request | Listing]:
    """The next request; a pause before it is made use of."""
    if rubbish.any:
        try:
            return jobs.get(timeout=_PAUSE_SECONDS)
        except queue.Empty:
            rubbish.collect()
    return jobs.get()


def _asks(number: int, cancelled: set[int]) -> Callable[[], bool]:
    return lambda: number in cancelled


def _warm_up() -> None:
    """Imports what the first request needs, while the editor is still saying hello."""
    # What cannot be imported is said once a request needs it.
    with contextlib.suppress(Exception):
        import tritonlint.baseline
        import tritonlint.compiler.compile
        import tritonlint.discovery
        import tritonlint.gpu.detect
        import tritonlint.incremental
        import tritonlint.kernel.trace  # noqa: F401
        from tritonlint.registry import registry

        registry()


if __name__ == "__main__":
    main()
