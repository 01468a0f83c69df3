"""A client that speaks the protocol byte by byte, for what a well-behaved client library would not send."""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SERVER = [sys.executable, "-m", "tritonlint", "server"]
PULL: Mapping[str, Any] = {
    "textDocument": {
        "diagnostic": {"relatedInformation": True, "codeDescriptionSupport": True, "dataSupport": True,
                       "tagSupport": {"valueSet": [1, 2]}},
        "publishDiagnostics": {},
    },
    "general": {"positionEncodings": ["utf-16"]},
}  # fmt: skip
PUSH: Mapping[str, Any] = {"textDocument": {"publishDiagnostics": {"relatedInformation": True}}}
PATIENCE = 120.0  # seconds; a test that fails waits that long, one that passes does not


class Client:
    """One server with its standard input and output. Requests of the server are answered with null."""

    def __init__(self, command: list[str] | None = None, stderr: int | None = None) -> None:
        self.process = subprocess.Popen(
            command or SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
        )
        self.notifications: list[dict[str, Any]] = []
        self._numbers = itertools.count(1)
        self._incoming: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._answers: dict[Any, dict[str, Any]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def initialize(
        self, capabilities: Mapping[str, Any] = PULL, root: Path | None = None, **options: Any
    ) -> dict[str, Any]:
        params: dict[str, Any] = {"processId": os.getpid(), "rootUri": None, "capabilities": capabilities}
        if root is not None:
            params["workspaceFolders"] = [{"uri": root.as_uri(), "name": root.name}]
        if options:
            params["initializationOptions"] = options
        answer = self.call("initialize", params)
        self.notify("initialized", {})
        result: dict[str, Any] = answer["result"]
        return result

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        body = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def notify(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Any) -> int:
        number = next(self._numbers)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def call(self, method: str, params: Any) -> dict[str, Any]:
        return self.answer(self.request(method, params))

    def answer(self, number: Any) -> dict[str, Any]:
        """The answer to a request (None: to a message that could not be told apart)."""
        while number not in self._answers:
            self._take()
        return self._answers.pop(number)

    def notification(self, method: str) -> dict[str, Any]:
        """The parameters of the next notification of that kind that has not been asked for yet."""
        while True:
            for place, message in enumerate(self.notifications):
                if message["method"] == method:
                    params: dict[str, Any] = self.notifications.pop(place)["params"]
                    return params
            self._take()

    # --- documents

    def open(self, uri: str, text: str, language: str = "python") -> None:
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def pull(self, uri: str, previous: str | None = None) -> dict[str, Any]:
        """A report of document diagnostics, asked for until there is one."""
        params: dict[str, Any] = {"textDocument": {"uri": uri}}
        if previous is not None:
            params["previousResultId"] = previous
        while True:
            answer = self.call("textDocument/diagnostic", params)
            if "result" in answer:
                result: dict[str, Any] = answer["result"]
                return result
            assert answer["error"]["code"] == -32802, answer

    def codes(self, uri: str) -> list[str]:
        """The codes of errors and warnings."""
        return [item["code"] for item in self.pull(uri)["items"] if item["severity"] < 3]

    def _take(self) -> None:
        message = self._incoming.get(timeout=PATIENCE)
        if message is None:
            raise EOFError("the server has ended")
        if "method" not in message:
            self._answers[message.get("id")] = message
        elif "id" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
        else:
            self.notifications.append(message)

    def _read(self) -> None:
        assert self.process.stdout is not None
        stream = self.process.stdout
        while True:
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not line:
                self._incoming.put(None)
                return
            self._incoming.put(json.loads(stream.read(length)))


def insertion(line: int, character: int, text: str) -> dict[str, Any]:
    at = {"line": line, "character": character}
    return {"range": {"start": at, "end": at}, "text": text}
