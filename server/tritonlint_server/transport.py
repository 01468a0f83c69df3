"""Messages on standard input and output, in the framing of the protocol.

pygls reads through the thread pool in which its handlers run, gives up on a header that it does not know,
and leaves a request that does not parse without an answer. Here a thread of its own reads, and every frame
becomes a message or an error for the loop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

MAX_BYTES = 512 * 1024 * 1024  # a longer body is not one of an editor


class Reader:
    """Reads frames until the stream ends. `on_message` gets each JSON value, `on_error` a sentence for a
    frame that is none, `on_end` comes last; all three are called in the loop."""

    def __init__(
        self,
        stream: BinaryIO,
        loop: asyncio.AbstractEventLoop,
        on_message: Callable[[Any], None],
        on_error: Callable[[str], None],
        on_end: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._loop = loop
        self._on_message = on_message
        self._on_error = on_error
        self._on_end = on_end

    def start(self) -> None:
        threading.Thread(target=self._run, name="stdin", daemon=True).start()

    def _run(self) -> None:
        try:
            while True:
                length = self._header()
                if length is None:
                    break
                if not 0 <= length <= MAX_BYTES:
                    self._call(self._on_error, "a message without a length")
                    continue
                data = self._stream.read(length)
                if len(data) < length:
                    break
                try:
                    message = json.loads(data)
                except (ValueError, RecursionError) as error:
                    self._call(self._on_error, f"a message that is not JSON: {error}")
                    continue
                self._call(self._on_message, message)
        except (OSError, ValueError):  # the stream was closed
            pass
        self._call(self._on_end)

    def _header(self) -> int | None:
        """The length that a header names, -1 where it names none, None at the end of the stream. Lines that
        are no header are passed over until an empty one ends the block."""
        length = -1
        while True:
            line = self._stream.readline(65_536)
            if not line:
                return None
            if line in (b"\r\n", b"\n"):
                if length >= 0:
                    return length
                continue
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                try:
                    length = int(value)
                except ValueError:
                    length = -1

    def _call(self, function: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(function, *arguments)


class Writer:
    """What pygls writes to. A client that went away is not an error: the end of standard input follows."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        try:
            self._stream.write(data)
            self._stream.flush()
        except (OSError, ValueError):
            pass

    def close(self) -> None:
        """Left open: the process is about to end."""
