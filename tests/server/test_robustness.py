"""Bad input: never a crash, never a stale answer, always an answer to a request."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.client import PULL, PUSH, Client, insertion
from tests.server.samples import WARPS

URI = "file:///nowhere/a.py"


@pytest.fixture
def client() -> Iterator[Client]:
    with Client() as client:
        yield client


def test_what_is_no_message(client: Client) -> None:
    """Broken frames get an error where an answer is possible, and the next message is served."""
    client.write(b"Content-Length: 5\r\n\r\n{nope")
    assert client.answer(None)["error"]["code"] == -32700
    client.write(b"Nonsense\r\nContent-Length: x\r\n\r\ncontent-length: 2\r\nContent-Type: text\r\n\r\n[]")
    assert client.answer(None)["error"]["code"] == -32600
    assert client.call("textDocument/hover", {})["error"]["code"] == -32002  # before initialize
    client.initialize()
    assert client.call("textDocument/nonsense", {})["error"]["code"] == -32601
    assert client.call("textDocument/hover", {"textDocument": 5})["error"]["code"] == -32602
    client.notify("$/unknown", {"x": 1})
    client.notify("textDocument/didOpen", {"textDocument": 5})
    assert client.call("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["error"]
    client.open(URI, WARPS)
    assert "TL204" in client.codes(URI)
    assert client.call("shutdown", None)["result"] is None
    assert client.call("textDocument/hover", {})["error"]["code"] == -32600
    client.notify("exit", None)
    assert client.process.wait(30) == 0


def test_documents_that_are_not_open(client: Client) -> None:
    """Requests and edits for a document that was never opened are answered with nothing."""
    client.initialize()
    client.change(URI, 1, insertion(0, 0, "x"))
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    client.notify("notebookDocument/didClose", {"notebookDocument": {"uri": URI}, "cellTextDocuments": []})
    document = {"textDocument": {"uri": URI}}
    position = {**document, "position": {"line": 3, "character": 3}}
    assert client.pull(URI)["items"] == []
    assert client.call("textDocument/hover", position)["result"] is None
    assert client.call("textDocument/completion", position)["result"] == []
    assert not client.call("textDocument/codeLens", document)["result"]
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    assert not client.call("textDocument/inlayHint", {**document, "range": whole})["result"]
    context = {"diagnostics": []}
    assert not client.call("textDocument/codeAction", {**document, "range": whole, "context": context})[
        "result"
    ]


def test_edits_outside_of_the_text(client: Client) -> None:
    """A place outside of the text is the nearest place in it; a version may go back."""
    client.initialize()
    client.open(URI, WARPS)
    far = {"start": {"line": 900, "character": 7}, "end": {"line": 1000, "character": 9}}
    client.change(URI, 7, {"range": far, "text": "\nx = (\n"})
    assert "TL901" in client.codes(URI)
    client.change(URI, 3, {"text": WARPS})
    assert client.codes(URI) == ["TL204"]
    position = {"textDocument": {"uri": URI}, "position": {"line": 5000, "character": 5000}}
    assert client.call("textDocument/hover", position)["result"] is None
    assert client.call("textDocument/completion", position)["result"] == []


def test_a_large_document(client: Client) -> None:
    """Ten megabytes that say nothing of Triton cost nothing; with a kernel they are read, and what is larger than the
    command line reads is named."""
    client.initialize()
    text = "x = 'é' * 10\n" * 800_000
    client.open(URI, text)
    assert client.pull(URI)["items"] == []
    client.change(URI, 2, insertion(400_000, 5, "y"))
    assert client.pull(URI)["items"] == []
    filler = f"# {'é' * 100}\n"
    client.change(URI, 3, {"text": filler * 50_000 + WARPS})
    assert client.codes(URI) == ["TL204"]
    client.change(URI, 4, insertion(10, 0, "\n"))
    (item,) = client.pull(URI)["items"]
    assert item["range"]["start"]["line"] == 50_000 + 1 + 7
    client.change(URI, 5, {"text": filler * 90_000 + WARPS})
    (item,) = client.pull(URI)["items"]
    assert item["code"] == "TL901" and "are not read" in item["message"]
    client.change(URI, 6, {"text": WARPS})
    assert client.codes(URI) == ["TL204"]


def test_a_burst_with_cancellations(client: Client) -> None:
    """A thousand requests between edits, a third of them called off: each is answered once, the last with the
    findings of the last text."""
    client.initialize()
    client.open(URI, WARPS)
    numbers = []
    for step in range(500):
        client.change(URI, step + 2, insertion(0, 0, "# typed\n"))
        for method in ("textDocument/diagnostic", "textDocument/codeLens"):
            numbers += [client.request(method, {"textDocument": {"uri": URI}})]
        if step % 3 == 0:
            client.notify("$/cancelRequest", {"id": numbers[-1]})
            client.notify("$/cancelRequest", {"id": numbers[-2]})
    codes = {answer["error"]["code"] for answer in map(client.answer, numbers) if "error" in answer}
    assert codes <= {-32800, -32801, -32802}  # called off by the client, outdated, outdated: ask again
    items = client.pull(URI)["items"]
    assert [item["range"]["start"]["line"] for item in items if item["code"] == "TL204"] == [7 + 500]


def test_pushed_diagnostics_have_the_version(client: Client) -> None:
    """A client that cannot ask is told, with the version of the text that was read; closing takes it back."""
    client.initialize(PUSH)
    client.open(URI, WARPS)
    told = client.notification("textDocument/publishDiagnostics")
    assert told["version"] == 1 and told["diagnostics"][0]["code"] == "TL204"
    client.change(URI, 2, {"text": WARPS.replace("num_warps=3", "num_warps=8")})
    told = client.notification("textDocument/publishDiagnostics")
    assert told["version"] == 2 and told["diagnostics"] == []
    client.change(URI, 3, {"text": WARPS})
    assert client.notification("textDocument/publishDiagnostics")["diagnostics"]
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert client.notification("textDocument/publishDiagnostics")["diagnostics"] == []


def test_a_client_that_asks_is_not_told(client: Client) -> None:
    """Never both: they would be shown twice."""
    client.initialize(PULL)
    client.open(URI, WARPS)
    report = client.pull(URI)
    assert client.pull(URI, report["resultId"]) == {"kind": "unchanged", "resultId": report["resultId"]}
    assert not [one for one in client.notifications if one["method"] == "textDocument/publishDiagnostics"]


def children(pid: int) -> list[int]:
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(line) for line in done.stdout.split()]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_worker_is_restarted_once(client: Client) -> None:
    """A worker that dies is started again, with a message; one that dies again is not, until the user says so."""
    client.initialize()
    client.open(URI, WARPS)
    assert client.codes(URI) == ["TL204"]
    for words in ("started again", "until it is restarted"):
        (worker,) = children(client.process.pid)
        os.kill(worker, signal.SIGKILL)
        assert words in client.notification("window/showMessage")["message"]
        client.change(URI, 2, insertion(0, 0, "#\n"))
        assert client.codes(URI) == (["TL204"] if words == "started again" else [])
    client.call("workspace/executeCommand", {"command": "tritonlint.restartWorker", "arguments": []})
    assert client.codes(URI) == ["TL204"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_worker_that_breaks_does_not_make_a_file_clean(client: Client) -> None:
    """The same text, asked for again after the worker was started again, has its findings."""
    client.initialize()
    client.open(URI, WARPS)
    assert client.codes(URI) == ["TL204"]
    (worker,) = children(client.process.pid)
    os.kill(worker, signal.SIGKILL)
    assert "started again" in client.notification("window/showMessage")["message"]
    assert client.codes(URI) == ["TL204"]


def shown(client: Client, pull: bool) -> list[str]:
    """What a client that asks is answered, or what another one is told next."""
    if pull:
        return client.codes(URI)
    sent = client.notification("textDocument/publishDiagnostics")["diagnostics"]
    return [item["code"] for item in sent if item["severity"] < 3]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("pull", [True, False])
def test_a_worker_that_ends_while_somebody_waits_takes_no_findings_away(client: Client, pull: bool) -> None:
    """What is asked for while the worker stands still is answered by its successor, not with nothing."""
    client.initialize(PULL if pull else PUSH)
    client.open(URI, WARPS)
    assert shown(client, pull) == ["TL204"]
    (worker,) = children(client.process.pid)
    os.kill(worker, signal.SIGSTOP)
    client.change(URI, 2, insertion(0, 0, "import os\n"))
    number = client.request("textDocument/diagnostic", {"textDocument": {"uri": URI}}) if pull else None
    client.call("textDocument/documentSymbol", {"textDocument": {"uri": URI}})  # all of it has arrived
    os.kill(worker, signal.SIGKILL)
    if number is not None:
        error = client.answer(number)["error"]
        assert error["code"] == -32802 and error["data"] == {"retriggerRequest": True}
    assert shown(client, pull) == ["TL204"]


@pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX")
def test_the_end_of_input_ends_everything(client: Client) -> None:
    """Without `exit`: the server and its worker are gone when standard input is."""
    client.initialize()
    client.open(URI, WARPS)
    client.codes(URI)
    workers = children(client.process.pid)
    assert workers and client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(30) == 1
    assert gone(workers)


@pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX")
def test_the_death_of_the_parent_ends_everything(tmp_path: Path) -> None:
    """An editor that was killed leaves its pipes to others at times: the server looks for the process itself."""
    editor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with Client() as client:
        params = {"processId": editor.pid, "rootUri": None, "capabilities": {}}
        client.call("initialize", params)
        client.notify("initialized", {})
        client.open(URI, WARPS)
        client.notification("textDocument/publishDiagnostics")
        workers = children(client.process.pid)
        editor.kill()
        editor.wait()
        assert client.process.wait(30) == 1
        assert workers and gone(workers)


def gone(pids: list[int]) -> bool:
    for _ in range(100):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.1)
    return False
