"""The entry: standard input and output, the worker, and an end when the editor has ended."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from tritonlint_server.pool import Worker

POLL_SECONDS = 0.5


def main() -> int:
    """Runs the server until the client says `exit`, closes standard input, or is no longer there. The exit
    status is 0 after an orderly shutdown, else 1."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s: %(message)s")
    # Bodies of messages are logged below that, and `print` would end up between them.
    logging.getLogger("pygls").setLevel(logging.WARNING)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_unexpected)
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    worker = Worker()  # first, since it starts up while pygls is imported
    try:
        code = asyncio.run(_serve(worker, stdin, stdout))
    except KeyboardInterrupt:
        code = 1
    finally:
        worker.stop()
    # Threads that read may be blocked for good; nothing of what they hold is worth waiting for.
    sys.stderr.flush()
    os._exit(code)


def _unexpected(record: logging.LogRecord) -> bool:
    """False for what pygls logs with a trace though it is an answer like others: the document changed."""
    from tritonlint_server.errors import ContentModified, ServerCancelled

    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, (ContentModified, ServerCancelled))


async def _serve(worker: Worker, stdin: object, stdout: object) -> int:
    from typing import BinaryIO, cast

    from lsprotocol import types as lsp

    from tritonlint_server.process import alive
    from tritonlint_server.protocol import PARSE_ERROR
    from tritonlint_server.server import create
    from tritonlint_server.transport import Reader, Writer

    loop = asyncio.get_running_loop()
    session = create(worker)
    protocol = session.own_protocol
    protocol.set_writer(Writer(cast(BinaryIO, stdout)))

    def trouble(text: str) -> None:
        session.tell(text, lsp.MessageType.Error)
        if worker.pid is not None:  # what it was asked for has no answer, and is asked for again
            session.files_changed()

    worker.attach(loop, trouble)
    reader = Reader(
        cast(BinaryIO, stdin), loop, protocol.receive,
        lambda text: protocol.refuse(None, PARSE_ERROR, text), lambda: session.end(1),
    )  # fmt: skip
    reader.start()
    while not session.stopped.is_set():
        try:
            await asyncio.wait_for(session.stopped.wait(), POLL_SECONDS)
        except asyncio.TimeoutError:
            if session.process_id is not None and not alive(session.process_id):
                session.end(1)
    return session.exit_code or 0
