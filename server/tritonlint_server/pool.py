"""The server's side of a worker process: starts it, sends requests, and starts it once more when it
breaks."""

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
from tritonlint_server.frames import FrameWriter, read_frame

RESTARTS = 1
SECONDS_AT_MOST = 120.0  # a request that takes longer hangs


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


class Worker:
    """One worker process. Not before `attach` is anything called back; all of it happens in the loop then.

    `on_trouble` is told in one sentence that the worker broke, and whether it was started again.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Ticket] = {}
        self._restarts = RESTARTS
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_trouble: Callable[[str], None] = lambda text: None
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: FrameWriter | None = None
        self._stopping = False
        self._start()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def attach(self, loop: asyncio.AbstractEventLoop, on_trouble: Callable[[str], None]) -> None:
        """From here on answers come in."""
        self._loop = loop
        self._on_trouble = on_trouble
        self._listen()

    def submit(self, request: Request | Listing) -> Ticket:
        """Sends a request. To be called in the loop."""
        assert self._loop is not None
        ticket = Ticket(next(self._numbers), request.path, self._loop.create_future(), time.monotonic())
        # Whoever waits may have gone by then, and an unread failure would be reported as an error.
        ticket.future.add_done_callback(lambda future: future.cancelled() or future.exception())
        self._waiting[ticket.number] = ticket
        if not self._send(("run", ticket.number, request)):
            self._waiting.pop(ticket.number, None)
            ticket.future.set_exception(WorkerGone("the worker is not running"))
        return ticket

    def cancel(self, ticket: Ticket) -> None:
        """Nobody waits for the answer any more."""
        if self._waiting.pop(ticket.number, None) is not None:
            self._send(("cancel", ticket.number))
        if not ticket.future.done():
            ticket.future.cancel()

    def check(self) -> None:
        """Ends a worker that hangs; to be called now and then."""
        first = next(iter(self._waiting.values()), None)
        if first is not None and self._process and time.monotonic() - first.since > SECONDS_AT_MOST:
            self._process.kill()  # `_broken` follows

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

    def _send(self, message: object) -> bool:
        if self._writer is None:
            return False
        try:
            self._writer.write(message)
        except (OSError, ValueError):
            return False
        return True

    def _start(self) -> None:
        # With this process's own search path, and nothing of the folder in which it happens to run.
        code = f"import sys; sys.path[:] = {sys.path!r}; from tritonlint_server.worker import main; main()"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=_stderr(),
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )  # fmt: skip
        except OSError:
            self._process, self._writer = None, None
            return
        assert self._process.stdin is not None
        self._writer = FrameWriter(cast(BinaryIO, self._process.stdin))

    def _listen(self) -> None:
        process = self._process
        if process is not None:
            threading.Thread(target=self._read, args=(process,), name="answers", daemon=True).start()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None and self._loop is not None
        try:
            while True:
                _, number, answer = read_frame(cast(BinaryIO, process.stdout))
                self._loop.call_soon_threadsafe(self._answer, number, answer)
        except (EOFError, OSError, ValueError):
            pass
        except RuntimeError:  # the loop has ended
            return
        process.wait()
        if not self._stopping:
            try:
                self._loop.call_soon_threadsafe(self._broken, process)
            except RuntimeError:
                return

    def _answer(self, number: int, answer: object) -> None:
        ticket = self._waiting.pop(number, None)
        if ticket is not None and not ticket.future.done():
            ticket.future.set_result(answer)

    def _broken(self, process: subprocess.Popen[bytes]) -> None:
        if process is not self._process or self._stopping:
            return
        code = process.returncode
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
        process, self._process, self._writer = self._process, None, None
        if process is not None:
            process.kill()
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()


def _stderr() -> int | None:
    """Where the worker writes what went wrong; None where this process has no such place."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        return None
