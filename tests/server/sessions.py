"""Random sessions of an editor: messages of every kind, well-formed and not, and what has to hold in the end.

The client's copy of each document is kept beside, so that the server's last answer can be compared with that of a fresh
server for the same text.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.server.client import Client

SNIPPETS = (
    "(", ")", "\n", "#", '"', "0", "2", "x", "    ", ":", "\r\n", "é", "🚀", "\n\n", "\f", '"""', "BLOCK",
    "num_warps=3, ",
    "# tritonlint: ignore[TL204]", "\n# tritonlint: assume gpu=t4\n", "@triton.jit\n", "\ndef f(a):\n    scale(a)\n",
)  # fmt: skip
ASKED = ("hover", "completion", "codeLens", "inlayHint", "codeAction", "diagnostic")
_ODD_PARAMS: tuple[Any, ...] = (None, [], 5, "x", {}, {"textDocument": None}, {"textDocument": {"uri": 5}})


@dataclass
class _Document:
    text: str
    version: int = 1
    original: str = ""


@dataclass
class RandomSession:
    """One client's session with the texts that its documents start from."""

    client: Client
    chosen: random.Random
    texts: Sequence[str]
    open: dict[str, _Document] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)

    def run(self, steps: int) -> None:
        """Sends so many messages. Raises EOFError where the server ends."""
        moves = (
            (self._edit, 10), (self._ask, 6), (self._cancel, 2), (self._open, 1), (self._close, 1), (self._whole, 1),
            (self._far, 1), (self._odd, 1), (self._back, 1),
        )  # fmt: skip
        for _ in range(steps):
            self.chosen.choices([move for move, _ in moves], [weight for _, weight in moves])[0]()
        for number in self.asked:  # each request has one answer
            self.client.answer(number)
        self.asked.clear()

    def final(self) -> dict[str, list[Any]]:
        """The last findings of each open document."""
        return {uri: self.client.pull(uri)["items"] for uri in self.open}

    # --- messages

    def _any(self) -> tuple[str, _Document]:
        if not self.open:
            self._open()
        uri = self.chosen.choice(sorted(self.open))
        return uri, self.open[uri]

    def _open(self) -> None:
        uri = f"file:///nowhere/{self.chosen.randrange(6)}.py"
        if uri not in self.open:
            text = self.chosen.choice(self.texts)
            self.open[uri] = _Document(text, original=text)
            self.client.open(uri, text)

    def _close(self) -> None:
        if len(self.open) > 1:
            uri, _ = self._any()
            del self.open[uri]
            self.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def _edit(self) -> None:
        uri, document = self._any()
        start = self.chosen.randrange(len(document.text) + 1)
        end = min(start + self.chosen.choice([0, 0, 0, 1, 3, 30]), len(document.text))
        text = self.chosen.choice(SNIPPETS)
        if _splits(document.text, start) or _splits(document.text, end):
            return
        self._send(uri, document, {"range": _range(document.text, start, end), "text": text})
        document.text = document.text[:start] + text + document.text[end:]

    def _whole(self) -> None:
        uri, document = self._any()
        document.text = document.original
        self._send(uri, document, {"text": document.text})

    def _far(self) -> None:
        uri, document = self._any()
        far = {"line": 10_000_000, "character": 7}
        self._send(uri, document, {"range": {"start": far, "end": far}, "text": "x"})
        document.text += "x"

    def _back(self) -> None:
        _, document = self._any()
        document.version = max(document.version - 5, -3)

    def _send(self, uri: str, document: _Document, change: dict[str, Any]) -> None:
        document.version += 1
        self.client.change(uri, document.version, change)

    def _ask(self) -> None:
        uri, document = self._any()
        line = self.chosen.randrange(document.text.count("\n") + 3)
        place = {"line": line, "character": self.chosen.randrange(90)}
        params: dict[str, Any] = {
            "textDocument": {"uri": uri if self.chosen.random() < 0.9 else "file:///nowhere/else.py"},
            "position": place,
            "range": {"start": {"line": 0, "character": 0}, "end": place},
        }
        what = self.chosen.choice(ASKED)
        if what == "codeAction":
            params["context"] = {"diagnostics": []}
        self.asked.append(self.client.request(f"textDocument/{what}", params))

    def _cancel(self) -> None:
        number = self.chosen.choice(self.asked[-3:]) if self.asked else 12345
        self.client.notify("$/cancelRequest", {"id": number})

    def _odd(self) -> None:
        kind = self.chosen.randrange(4)
        method = f"textDocument/{self.chosen.choice((*ASKED, 'nonsense'))}"
        if kind == 0:
            self.asked.append(self.client.request(method, self.chosen.choice(_ODD_PARAMS)))
        elif kind == 1:
            self.client.notify(
                f"textDocument/did{self.chosen.choice(['Change', 'Open', 'Close', 'Save'])}", None
            )
        elif kind == 2:
            self.client.notify("$/nonsense", {"x": [1]})
        else:
            command = {
                "command": self.chosen.choice(["tritonlint.setTarget", "no.such"]),
                "arguments": [5, None],
            }
            self.asked.append(self.client.request("workspace/executeCommand", command))


def _splits(text: str, at: int) -> bool:
    """Whether a place lies within a line end: the protocol has no position for it."""
    return 0 < at < len(text) and text[at - 1 : at + 1] == "\r\n"


def _range(text: str, start: int, end: int) -> dict[str, Any]:
    return {"start": _position(text, start), "end": _position(text, end)}


def _position(text: str, at: int) -> dict[str, int]:
    """Lines as the protocol counts them, columns in UTF-16 units."""
    before = text[:at].replace("\r\n", "\n").replace("\r", "\n")
    line = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}
