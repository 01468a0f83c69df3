"""The worker process: its memory, and the process that follows one that has grown."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tritonlint_server import pool
from tritonlint_server import worker as worker_module
from tritonlint_server.analysis_record import Request
from tritonlint_server.frames import read_frame
from tritonlint_server.outbox import Outbox
from tritonlint_server.pool import Worker
from tritonlint_server.worker import Rubbish

from tests.server.samples import WARPS


def _request(path: Path, text: str = WARPS) -> Request:
    return Request(str(path), text, (("x",), 0))


@asynccontextmanager
async def attached(on_trouble: Callable[[str], None] = lambda trouble: None) -> AsyncIterator[Worker]:
    """A worker in the running loop."""
    worker = Worker()
    worker.attach(asyncio.get_running_loop(), on_trouble)
    try:
        yield worker
    finally:
        worker.stop()


async def _until(what: Callable[[], bool]) -> None:
    while not what():
        await asyncio.sleep(0.02)


def test_a_successor_takes_over_between_two_requests(tmp_path: Path) -> None:
    troubles: list[str] = []

    async def session() -> None:
        async with attached(troubles.append) as worker:
            before = await worker.submit(_request(tmp_path / "a.py")).future
            first, running = worker.pid, worker._running
            assert running is not None
            worker._succeed(running)
            worker._succeed(running)  # once is enough
            successor = worker._successor
            assert successor is not None
            during = await worker.submit(_request(tmp_path / "a.py")).future
            await _until(lambda: worker.pid != first)
            assert worker.pid == successor.process.pid
            assert running.process.wait(60) is not None
            after = await worker.submit(_request(tmp_path / "a.py")).future
            assert before.findings and before == during == after

    asyncio.run(session())
    assert not troubles


def test_a_successor_with_nothing_to_read_takes_over(tmp_path: Path) -> None:
    async def session() -> None:
        async with attached() as worker:
            first, running = worker.pid, worker._running
            assert running is not None
            worker._succeed(running)
            await _until(lambda: worker.pid != first)
            assert (await worker.submit(_request(tmp_path / "a.py")).future).findings

    asyncio.run(session())


def test_a_successor_that_breaks_is_let_go(tmp_path: Path) -> None:
    troubles: list[str] = []

    async def session() -> None:
        async with attached(troubles.append) as worker:
            before = await worker.submit(_request(tmp_path / "a.py")).future
            first, running = worker.pid, worker._running
            assert running is not None
            worker._succeed(running)
            assert worker._successor is not None
            worker._successor.process.kill()
            await _until(lambda: worker._successor is None)
            assert worker.pid == first
            assert before == await worker.submit(_request(tmp_path / "a.py")).future

    asyncio.run(session())
    assert not troubles


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_successor_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def session() -> None:
        async with attached() as worker:
            await worker.submit(_request(tmp_path / "a.py")).future
            first, running = worker.pid, worker._running
            assert running is not None
            worker._succeed(running)
            assert worker._successor is not None
            os.kill(worker._successor.process.pid, signal.SIGSTOP)
            monkeypatch.setattr(pool, "SECONDS_AT_MOST", 0.0)
            await _until(lambda: worker._successor is None)
            monkeypatch.undo()
            assert worker.pid == first
            assert (await worker.submit(_request(tmp_path / "a.py")).future).findings

    asyncio.run(session())


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_worker_that_does_not_read_holds_up_nobody(tmp_path: Path) -> None:
    long = WARPS + "# more than a pipe takes\n" * 40_000

    async def session() -> None:
        async with attached() as worker:
            await worker.submit(_request(tmp_path / "a.py")).future
            assert worker.pid is not None
            os.kill(worker.pid, signal.SIGSTOP)
            woken = threading.Event()

            def wake() -> None:
                woken.set()
                assert worker.pid is not None
                os.kill(worker.pid, signal.SIGCONT)

            rescue = threading.Timer(20, wake)  # or a write that waits would wait for ever
            rescue.start()
            tickets = [worker.submit(_request(tmp_path / f"{name}.py", long)) for name in "bcd"]
            worker.cancel(tickets[1])
            assert not woken.is_set()
            rescue.cancel()
            wake()
            assert (await tickets[0].future).findings
            assert tickets[1].future.cancelled()
            assert (await tickets[2].future).findings

    asyncio.run(session())


def test_what_is_taken_back_is_not_sent(tmp_path: Path) -> None:
    read, write = os.pipe()
    with open(read, "rb") as sent:
        outbox = Outbox(os.fdopen(write, "wb"))
        outbox.put(b"*" * 1_000_000, 1)  # the pipe is full with it
        outbox.put("second", 2)
        outbox.put("third", 3)
        assert outbox.take_back(2)
        assert not outbox.take_back(2)
        assert len(read_frame(sent)) == 1_000_000
        assert read_frame(sent) == "third"
        outbox.close()
        assert sent.read() == b""


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ([100, 110, 120, 179], False),
        ([100, 110, 120, 181], True),
        ([300, 110, 120, 150], False),  # what it had before it settled does not count
        ([0, 0, 0, 0], False),  # not said by the system
    ],
)
def test_a_worker_says_once_that_it_has_grown(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], says: bool
) -> None:
    left = iter(sizes)
    monkeypatch.setattr(worker_module, "_resident_bytes", lambda: next(left))
    monkeypatch.setattr(worker_module.gc, "disable", lambda: None)
    monkeypatch.setattr(worker_module.gc, "freeze", lambda: None)  # what is frozen here stays in this process
    rubbish = Rubbish()
    for _ in range(Rubbish.WHOLE * len(sizes) - 1):
        rubbish.collect()
        assert not rubbish.says_grown()
    rubbish.collect()
    assert [rubbish.says_grown(), rubbish.says_grown()] == [says, False]
