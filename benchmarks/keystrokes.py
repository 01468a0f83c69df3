"""Keystroke to diagnostics of the language server, beside ruff's in the same run.

    python benchmarks/keystrokes.py FILE.py [--strokes 60] [--places 6] [--no-ruff]

Opens the file in both servers, types and deletes comments and code in kernels, in host code and between statements in
turn, and asks for diagnostics after each. Prints milliseconds: opening, then the median and the 95th percentile of the
strokes.
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Server:
    """A language server, spoken to in order: each message is answered before the next is sent."""

    name: str
    process: subprocess.Popen[bytes]
    number: int = 0
    version: int = 1
    strokes: list[float] = field(default_factory=list)
    by_kind: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def start(cls, name: str, command: list[str]) -> Server:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        server = cls(name, process)
        capabilities = {"textDocument": {"diagnostic": {}}, "general": {"positionEncodings": ["utf-32"]}}
        server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        server.say({"method": "initialized", "params": {}})
        return server

    def say(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def ask(self, method: str, params: Any) -> Any:
        self.number += 1
        self.say({"id": self.number, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.number and "method" not in message:
                return message
            if "id" in message:
                self.say({"id": message["id"], "result": None})

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise EOFError(f"{self.name} has ended")
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def open(self, uri: str, text: str) -> float:
        start = time.perf_counter()
        item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.say({"method": "textDocument/didOpen", "params": {"textDocument": item}})
        self.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        return (time.perf_counter() - start) * 1e3

    def stroke(self, uri: str, kind: str, change: dict[str, Any]) -> None:
        self.version += 1
        document = {"uri": uri, "version": self.version}
        start = time.perf_counter()
        params = {"textDocument": document, "contentChanges": [change]}
        self.say({"method": "textDocument/didChange", "params": params})
        self.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        taken = (time.perf_counter() - start) * 1e3
        self.strokes.append(taken)
        self.by_kind.setdefault(kind, []).append(taken)


def places(text: str, wanted: int) -> Iterator[tuple[str, int]]:
    """(what, line from 0) to type at: behind lines of kernels, of host functions, and between statements."""
    kinds: dict[str, list[int]] = {"kernel": [], "host": [], "between": []}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.FunctionDef) and len(statement.body) > 1:
            jit = any("jit" in ast.unparse(one) for one in statement.decorator_list)
            kinds["kernel" if jit else "host"].append(statement.body[0].lineno - 1)
        elif statement.lineno > 1:
            kinds["between"].append(statement.lineno - 2)
    for kind, lines in kinds.items():
        step = max(len(lines) // wanted, 1)
        yield from ((kind, line) for line in lines[::step][:wanted])


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--strokes", type=int, default=8, help="at each place, then as many deletions")
    parser.add_argument("--places", type=int, default=4, help="of each kind")
    parser.add_argument("--no-ruff", action="store_true")
    options = parser.parse_args()
    text = options.file.read_text(encoding="utf-8")
    uri = options.file.absolute().as_uri()
    servers = [Server.start("tritonlint", [sys.executable, "-m", "tritonlint", "server"])]
    if not options.no_ruff:
        ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
        if ruff is not None:
            servers.append(Server.start("ruff", [ruff, "server"]))
    opened = {server.name: server.open(uri, text) for server in servers}
    lines = text.splitlines()
    for kind, line in places(text, options.places):
        column = len(lines[line])
        for what, typed in (("comment", "  # a comment"), ("code", "; x = n + 1")):
            for character in typed[: options.strokes]:
                at = {"line": line, "character": column}
                for server in servers:
                    server.stroke(
                        uri, f"{kind}, {what}", {"range": {"start": at, "end": at}, "text": character}
                    )
                column += 1
            while column > len(lines[line]):
                column -= 1
                at, end = {"line": line, "character": column}, {"line": line, "character": column + 1}
                for server in servers:
                    server.stroke(uri, f"{kind}, {what}", {"range": {"start": at, "end": end}, "text": ""})
    for server in servers:
        median, high = statistics.median(server.strokes), percentile(server.strokes, 0.95)
        print(f"{server.name:12} open {opened[server.name]:8.0f} ms   {len(server.strokes)} strokes: "
              f"p50 {median:7.1f} ms   p95 {high:7.1f} ms")  # fmt: skip
        for kind, values in server.by_kind.items():
            print(
                f"{'':12} {kind:16} p50 {statistics.median(values):7.1f} ms   p95 {percentile(values, 0.95):7.1f} ms"
            )
        server.process.kill()


if __name__ == "__main__":
    main()
