"""Forked children with a time limit and a memory limit, whose output is drained and whose death is one answer."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

KEPT_OUTPUT = 16_384  # of what a child prints, the last bytes are kept for the reason
_PR_SET_PDEATHSIG = 1


class Tail:
    """The last bytes of a stream, however much comes."""

    def __init__(self) -> None:
        self._kept = b""

    def add(self, piece: bytes) -> None:
        self._kept = (self._kept + piece)[-KEPT_OUTPUT:]

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")


@dataclass
class Child:
    """A forked process that leads a group of its own. `answers` gives what it writes; `noise` what it prints."""

    pid: int
    answers: int
    noise: int
    tail: Tail

    def kill(self) -> int:
        """Ends the whole group; the status that the process had or got."""
        for _ in range(2):  # again for what was started in between
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                break
        _, status = os.waitpid(self.pid, 0)
        os.close(self.answers)
        os.close(self.noise)
        return status

    def drain(self) -> None:
        """Takes what is left of the output."""
        while select.select([self.noise], [], [], 0)[0]:
            piece = os.read(self.noise, 65536)
            if not piece:
                return
            self.tail.add(piece)


def fork(work: Callable[[int], None], memory_bytes: int | None = None) -> Child:
    """Runs `work` in a child; it writes its answers to the descriptor that it is given."""
    answers_in, answers_out = os.pipe()
    noise_in, noise_out = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid:
        os.close(answers_out)
        os.close(noise_out)
        return Child(pid, answers_in, noise_in, Tail())
    status = 1
    try:
        os.setpgid(0, 0)
        die_with(parent)
        os.close(answers_in)
        os.close(noise_in)
        os.dup2(noise_out, 1)
        os.dup2(noise_out, 2)
        os.close(noise_out)
        if memory_bytes is not None:
            _limit_memory(memory_bytes)
        work(answers_out)
        status = 0
    finally:
        os._exit(status)


def die_with(parent: int) -> None:
    """The child is killed when its parent dies, so that nothing is left over."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(1)


def _limit_memory(extra: int) -> None:
    """At most so many bytes on top of what the process has mapped by now."""
    try:
        with open("/proc/self/statm") as file:
            mapped = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + extra, mapped + extra))
    except (OSError, ValueError):
        pass


class Lines:
    """JSON lines that a child writes, each within a time limit."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._text = b""

    def next(self, seconds: float) -> dict[str, Any] | None:
        """The next line; None at the end. Raises TimeoutError."""
        end = time.monotonic() + seconds
        child = self._child
        while b"\n" not in self._text:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            ready = select.select([child.answers, child.noise], [], [], left)[0]
            if child.noise in ready:
                child.tail.add(os.read(child.noise, 65536))
            if child.answers in ready:
                piece = os.read(child.answers, 65536)
                if not piece:
                    child.drain()
                    return None
                self._text += piece
            elif ready and _ended(child.pid):
                # Something that the child started may hold the pipe open; the child itself says no more.
                child.drain()
                return None
        line, _, self._text = self._text.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found


def _ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def write_line(descriptor: int, data: dict[str, Any]) -> None:
    """One JSON line, whole."""
    rest = memoryview(json.dumps(data).encode() + b"\n")
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def said(tail: str) -> str:
    """The line of a dead process' output that tells most."""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    marks = ("ssert", "LLVM ERROR", "bad_alloc", "error:")
    telling = [line for line in lines if any(mark in line for mark in marks)]
    return (telling[:1] or lines[-1:] or [""])[0][-300:]
