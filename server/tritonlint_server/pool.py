"""The server's side of a worker process: starts it, sends requests, starts it once more when it breaks, and
replaces it when it has grown."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from tritonlint_server.analysis_record import Listing, Request
from tritonlint_server.frames import read_frame
from tritonlint_server.outbox import Outbox

RESTARTS = 1
RECENT = 12  # files that a successor reads before it takes over
SECONDS_AT_MOST = 120.0  # a request that takes longer hangs
SECONDS_BETWEEN_CHECKS = 1.0


class WorkerGone(Exception):
    """The worker ended before it answered, or could not be started."""


@dataclass(slots=True)
class Ticket:
    """A request on its way. The future ends with an Analysis (a Listed for a Listing), or with
    WorkerGone."""

    number: int
    path: str
    future: asyncio.Future[Any]
    since: float


@dataclass(frozen=True, slots=True, eq=False)
class _Running:
    """A process and the way to it."""

    process: subprocess.Popen[bytes]
    outbox: Outbox
    since: float

    @property
    def hangs(self) -> bool:
        return time.monotonic() - self.since > SECONDS_AT_MOST

    def end(self) -> None:
        self.process.kill()
        self.outbox.close()


class Worker:
    """One worker process. Not before `attach` is anything called back; all of it happens in the loop then.

    `on_trouble` is told in one sentence that the worker broke, and whether it was started again.

    Python gives little of a grown heap back to the system, whatever is let go. So a process that says that it has
    grown gets a successor, which reads what was read last while the old one goes on, and takes over between two
    requests.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Ticket] = {}
        self._recent: dict[str, Request] = {}  # the newest last
        self._restarts = RESTARTS
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_trouble: Callable[[str], None] = lambda text: None
        self._running: _Running | None = None
        self._successor: _Running | None = None
        self._successor_ready = False
        self._stopping = False
        self._start()

    @property
    def pid(self) -> int | None:
        return self._running.process.pid if self._running else None

    def attach(self, loop: asyncio.AbstractEventLoop, on_trouble: Callable[[str], None]) -> None:
        """From here on answers come in."""
        self._loop = loop
        self._on_trouble = on_trouble
        self._listen()
        self._watch()

    def submit(self, request: Request | Listing) -> Ticket:
        """Sends a request. To be called in the loop."""
        assert self._loop is not None
        ticket = Ticket(next(self._numbers), request.path, self._loop.create_future(), time.monotonic())
        # Whoever waits may have gone by then, and an unread failure would be reported as an error.
        ticket.future.add_done_callback(lambda future: future.cancelled() or future.exception())
        self._waiting[ticket.number] = ticket
        if isinstance(request, Request):
            self._recent.pop(request.path, None)
            self._recent[request.path] = request
            if len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]
        if self._running is not None:
            self._running.outbox.put(("run", ticket.number, request), ticket.number)
        else:
            self._waiting.pop(ticket.number, None)
            ticket.future.set_exception(WorkerGone("the worker is not running"))
        return ticket

    def cancel(self, ticket: Ticket) -> None:
        """Nobody waits for the answer any more."""
        waited = self._waiting.pop(ticket.number, None) is not None
        if waited and self._running is not None and not self._running.outbox.take_back(ticket.number):
            self._running.outbox.put(("cancel", ticket.number))
        if not ticket.future.done():
            ticket.future.cancel()

    def _watch(self) -> None:
        """Ends, now and then, a process that hangs."""
        if self._stopping:
            return
        first = next(iter(self._waiting.values()), None)
        if first is not None and self._running and time.monotonic() - first.since > SECONDS_AT_MOST:
            self._running.process.kill()  # `_broken` follows
        if self._successor is not None and not self._successor_ready and self._successor.hangs:
            self._successor.process.kill()
        assert self._loop is not None
        self._loop.call_later(SECONDS_BETWEEN_CHECKS, self._watch)

    def restart(self) -> None:
        """A new process, asked for by the user: what broke the old ones is forgotten."""
        self._restarts = RESTARTS
        self._end()
        self._fail("the worker was restarted")
        self._start()
        self._listen()

    def stop(self) -> None:
        self._stopping = True
        self._end()

    def _start(self) -> None:
        self._running = _started()

    def _listen(self) -> None:
        if self._running is not None:
            threading.Thread(target=self._read, args=(self._running,), name="answers", daemon=True).start()

    def _read(self, running: _Running, warm_up: tuple[Request, ...] | None = None) -> None:
        """In a thread of its own: what the process says, until it ends. A successor is given `warm_up` to read first;
        nobody waits for those answers."""
        process = running.process
        assert process.stdout is not None
        try:
            if warm_up is not None:
                for request in warm_up:
                    running.outbox.put(("run", 0, request))
                for _ in warm_up:
                    read_frame(cast(BinaryIO, process.stdout))
                self._call(self._ready, running)
            while True:
                kind, number, answer = read_frame(cast(BinaryIO, process.stdout))
                if kind == "grown":
                    self._call(self._succeed, running)
                else:
                    self._call(self._answer, number, answer)
        except (EOFError, OSError, ValueError):
            pass
        except RuntimeError:  # the loop has ended
            return
        process.wait()
        if not self._stopping:
            with contextlib.suppress(RuntimeError):
                self._call(self._broken, running)

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        """In the loop. Raises RuntimeError where that has ended."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(function, *arguments)

    def _answer(self, number: int, answer: object) -> None:
        ticket = self._waiting.pop(number, None)
        if ticket is not None and not ticket.future.done():
            ticket.future.set_result(answer)
        self._take_over()

    def _succeed(self, running: _Running) -> None:
        """The process has grown: another one is started, if it is not on its way already."""
        if running is not self._running or self._successor is not None or self._stopping:
            return
        self._successor, self._successor_ready = _started(), False
        if self._successor is not None:
            arguments = (self._successor, tuple(self._recent.values()))
            threading.Thread(target=self._read, args=arguments, name="successor", daemon=True).start()

    def _ready(self, successor: _Running) -> None:
        if successor is self._successor:
            self._successor_ready = True
            self._take_over()

    def _take_over(self) -> None:
        """The successor's turn, once it is ready and nobody waits for the old process."""
        if self._successor is None or not self._successor_ready or self._waiting:
            return
        old, self._running, self._successor = self._running, self._successor, None
        if old is not None:
            old.end()

    def _broken(self, running: _Running) -> None:
        if running is self._successor:
            self._successor = None  # the old process goes on
        if running is not self._running or self._stopping:
            return
        code = running.process.returncode
        first = next(iter(self._waiting.values()), None)
        where = f" while it read {os.path.basename(first.path)}" if first else ""
        self._end()
        self._fail("the worker ended")
        if self._restarts > 0:
            self._restarts -= 1
            self._start()
            self._listen()
            self._on_trouble(f"tritonlint's worker ended with status {code}{where}; it was started again.")
        else:
            self._on_trouble(
                f"tritonlint's worker ended again with status {code}{where}; "
                "nothing is linted until it is restarted."
            )

    def _fail(self, why: str) -> None:
        waiting, self._waiting = list(self._waiting.values()), {}
        for ticket in waiting:
            if not ticket.future.done():
                ticket.future.set_exception(WorkerGone(why))

    def _end(self) -> None:
        ended, self._running, self._successor = (self._running, self._successor), None, None
        for running in ended:
            if running is not None:
                running.end()


def _started() -> _Running | None:
    """A new process, with this one's own search path and nothing of the folder in which it happens to run; None where
    none can be started."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from tritonlint_server.worker import main; main()"
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=_stderr(),
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
    except OSError:
        return None
    assert process.stdin is not None
    return _Running(process, Outbox(cast(BinaryIO, process.stdin)), time.monotonic())


def _stderr() -> int | None:
    """Where the worker writes what went wrong; None where this process has no such place."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        return None
