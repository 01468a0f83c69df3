"""Pickled messages between the server and its worker: four bytes of length, then the message."""

from __future__ import annotations

import pickle
import struct
import threading
from typing import Any, BinaryIO

_LENGTH = struct.Struct(">I")


def read_frame(stream: BinaryIO) -> Any:
    """The next message. Raises EOFError at the end of the stream, or in the middle of a message."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    size = _LENGTH.unpack(head)[0]
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)


def framed(message: Any) -> bytes:
    """A message as it is written."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


class FrameWriter:
    """Writes whole messages, from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, message: Any) -> None:
        """Raises OSError where the other side is gone."""
        data = framed(message)
        with self._lock:
            self._stream.write(data)
            self._stream.flush()
