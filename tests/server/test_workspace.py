"""Findings of files that are not open: progress, and what is taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import PULL, PUSH, Client
from tests.server.samples import WARPS

SETTINGS = {"diagnosticMode": "workspace"}
MENDED = WARPS.replace("num_warps=3", "num_warps=4")


@pytest.fixture
def client() -> Iterator[Client]:
    with Client() as client:
        yield client


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_text(WARPS)
    return path


def told(client: Client, uri: str) -> list[str]:
    """The codes that are sent next for a document."""
    while True:
        params = client.notification("textDocument/publishDiagnostics")
        if params["uri"] == uri:
            return [item["code"] for item in params["diagnostics"] if item["severity"] < 3]


def changed(client: Client, uri: str, kind: int) -> None:
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": kind}]})


def kinds(client: Client) -> list[str]:
    """The steps of all progress so far."""
    values = [one["params"]["value"] for one in client.notifications if one["method"] == "$/progress"]
    return [value["kind"] for value in values]


def test_what_was_sent_is_taken_back(client: Client, path: Path) -> None:
    """A client that cannot ask is told at the start, and again when a file was mended or deleted on disk."""
    client.initialize(PUSH, root=path.parent, tritonlint=SETTINGS)
    assert told(client, path.as_uri()) == ["TL204"]
    path.write_text(MENDED)
    changed(client, path.as_uri(), 2)
    assert told(client, path.as_uri()) == []
    path.write_text(WARPS)
    changed(client, path.as_uri(), 2)
    assert told(client, path.as_uri()) == ["TL204"]
    path.unlink()
    changed(client, path.as_uri(), 3)
    assert told(client, path.as_uri()) == []


def test_a_closed_file_is_one_of_the_workspace_again(client: Client, path: Path) -> None:
    """What the editor's text had is taken back, and what is in the file stands again."""
    client.initialize(PUSH, root=path.parent, tritonlint=SETTINGS)
    assert told(client, path.as_uri()) == ["TL204"]
    client.open(path.as_uri(), MENDED)
    assert told(client, path.as_uri()) == []
    client.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
    assert told(client, path.as_uri()) == []
    assert told(client, path.as_uri()) == ["TL204"]


def test_closing_answers_a_waiting_request(client: Client, path: Path) -> None:
    """A client that asks waits until there is news; a file that is not open any more is."""
    other = path.with_name("b.py")
    other.write_text(WARPS)
    client.initialize(PULL, root=path.parent, tritonlint=SETTINGS)
    client.open(path.as_uri(), WARPS)
    (first,) = client.call("workspace/diagnostic", {"previousResultIds": []})["result"]["items"]
    before = [{"uri": first["uri"], "value": first["resultId"]}]
    waiting = client.request("workspace/diagnostic", {"previousResultIds": before})
    client.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
    reports = {one["uri"]: one["kind"] for one in client.answer(waiting)["result"]["items"]}
    assert reports == {path.as_uri(): "full", other.as_uri(): "unchanged"}


def test_progress_under_the_token_of_the_request(client: Client, path: Path) -> None:
    """Beginning, a step a file, end; a scan that has nothing to lint says nothing."""
    client.initialize(PULL, root=path.parent, tritonlint=SETTINGS)
    asked: dict[str, Any] = {"previousResultIds": [], "workDoneToken": "scan"}
    client.call("workspace/diagnostic", asked)
    assert kinds(client) == ["begin", "report", "end"]
    client.call("workspace/diagnostic", asked)
    assert kinds(client) == ["begin", "report", "end"]


@pytest.mark.parametrize("capabilities", [PULL, PUSH])
def test_progress_of_the_servers_own(client: Client, path: Path, capabilities: dict[str, Any]) -> None:
    """A client that shows progress gets it without a token of its own: VS Code's sends none."""
    capabilities = {**capabilities, "window": {"workDoneProgress": True}}
    client.initialize(capabilities, root=path.parent, tritonlint=SETTINGS)
    if capabilities["textDocument"] == PULL["textDocument"]:
        client.call("workspace/diagnostic", {"previousResultIds": []})
    steps = [client.notification("$/progress") for _ in range(3)]
    assert [step["value"]["kind"] for step in steps] == ["begin", "report", "end"]
    assert len({step["token"] for step in steps}) == 1
