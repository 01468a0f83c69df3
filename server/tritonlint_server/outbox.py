"""Messages on their way to a process. A thread of their own writes them, so that a process that does not read (it is
stopped, or busy with its own memory) holds up nobody."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from typing import BinaryIO

from tritonlint_server.frames import framed


class Outbox:
    """Writes in the order of `put`. What cannot be written any more is dropped: whoever reads the answers of that
    process sees that it ended."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._waiting: deque[tuple[int | None, bytes]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        threading.Thread(target=self._write, name="outbox", daemon=True).start()

    def put(self, message: object, number: int | None = None) -> None:
        """`number`: what `take_back` calls it."""
        data = framed(message)
        with self._changed:
            self._waiting.append((number, data))
            self._changed.notify()

    def take_back(self, number: int) -> bool:
        """Drops the message of that number; False where it is (being) written, or never was put."""
        with self._changed:
            for one in self._waiting:
                if one[0] == number:
                    self._waiting.remove(one)
                    return True
        return False

    def close(self) -> None:
        """Nothing more is written. The process has to be ended before, or a write that waits for it goes on."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _write(self) -> None:
        try:
            while (data := self._next()) is not None:
                self._stream.write(data)
                self._stream.flush()
        except (OSError, ValueError):
            pass
        finally:
            with contextlib.suppress(OSError):  # what was left in its buffer has nowhere to go
                self._stream.close()

    def _next(self) -> bytes | None:
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            return None if self._closed else self._waiting.popleft()[1]
