"""Settings: the same file the same way as the command line, seen again when it changes, and the editor's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import PULL, PUSH, Client
from tests.server.samples import GEMM, WARPS


@pytest.fixture
def client() -> Iterator[Client]:
    with Client() as client:
        yield client


def test_a_changed_file_is_seen_at_the_next_request(client: Client, tmp_path: Path) -> None:
    """Also without a watcher: the state of the settings files is looked at each time."""
    uri = (tmp_path / "pkg" / "a.py").as_uri()
    (tmp_path / "pkg").mkdir()
    client.initialize(root=tmp_path)
    client.open(uri, WARPS)
    assert client.codes(uri) == ["TL204"]
    (tmp_path / "tritonlint.toml").write_text('ignore = ["TL204"]\n')
    assert client.codes(uri) == []
    (tmp_path / "pkg" / "pyproject.toml").write_text('[tool.tritonlint]\nseverity = { TL204 = "info" }\n')
    assert client.codes(uri) == []
    assert [item["severity"] for item in client.pull(uri)["items"] if item["code"] == "TL204"] == [3]
    (tmp_path / "pkg" / "pyproject.toml").unlink()
    (tmp_path / "tritonlint.toml").unlink()
    assert client.codes(uri) == ["TL204"]


def test_a_watched_file_refreshes(client: Client, tmp_path: Path) -> None:
    """Where the client watches, it is asked to come again; where it is told, it is told again."""
    uri = (tmp_path / "a.py").as_uri()
    client.initialize(PUSH, root=tmp_path)
    client.open(uri, WARPS)
    assert client.notification("textDocument/publishDiagnostics")["diagnostics"]
    settings = tmp_path / "tritonlint.toml"
    settings.write_text('ignore = ["TL2", "TL902"]\n')
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": settings.as_uri(), "type": 1}]})
    assert client.notification("textDocument/publishDiagnostics")["diagnostics"] == []


def test_wrong_settings_are_said_once(client: Client, tmp_path: Path) -> None:
    """One message with file, line and key, however often the file is read; nothing is reported until then."""
    (tmp_path / "tritonlint.toml").write_text('gpus = ["h1000"]\n')
    uri = (tmp_path / "a.py").as_uri()
    client.initialize(root=tmp_path)
    client.open(uri, WARPS)
    assert client.codes(uri) == []
    message = client.notification("window/showMessage")["message"]
    assert "h1000" in message and "tritonlint.toml" in message
    client.change(uri, 2, {"text": WARPS + "\n"})
    assert client.codes(uri) == []
    assert not [one for one in client.notifications if one["method"] == "window/showMessage"]


def test_excluded_files_are_passed_over(client: Client, tmp_path: Path) -> None:
    """As the command line passes over them when they are named."""
    (tmp_path / "tritonlint.toml").write_text('exclude = ["generated"]\n')
    (tmp_path / "generated").mkdir()
    for name, codes in (("generated/a.py", []), ("a.py", ["TL204"])):
        (tmp_path / name).write_text(WARPS)
        uri = (tmp_path / name).as_uri()
        client.initialize(root=tmp_path) if name == "generated/a.py" else None
        client.open(uri, WARPS)
        assert client.codes(uri) == codes


def test_the_editors_own_settings(client: Client, tmp_path: Path) -> None:
    """They go before the project's, and may be sent at any time."""
    (tmp_path / "tritonlint.toml").write_text('gpus = ["rtx4090"]\nignore = ["TL902"]\ntriton = "3.9"\n')
    uri = (tmp_path / "a.py").as_uri()
    client.initialize(
        root=tmp_path, tritonlint={"lint": {"ignore": ["TL204"]}, "inlayHints": {"enable": False}}
    )
    client.open(uri, WARPS)
    assert client.codes(uri) == []
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    hints: dict[str, Any] = {"textDocument": {"uri": uri}, "range": whole}
    assert not client.call("textDocument/inlayHint", hints)["result"]
    client.notify("workspace/didChangeConfiguration", {"settings": {"tritonlint": {}}})
    assert client.codes(uri) == ["TL204"]
    assert client.call("textDocument/inlayHint", hints)["result"]


def test_another_target(client: Client, tmp_path: Path) -> None:
    """What does not fit on one GPU fits on the other that the user picks."""
    (tmp_path / "tritonlint.toml").write_text('gpus = ["rtx4090"]\nignore = ["TL902"]\ntriton = "3.9"\n')
    uri = (tmp_path / "a.py").as_uri()
    client.initialize(root=tmp_path, statusNotifications=True)
    client.open(uri, GEMM)
    assert "TL101" in client.codes(uri)
    assert client.notification("tritonlint/status")["gpus"] == ["rtx4090"]
    client.call("workspace/executeCommand", {"command": "tritonlint.setTarget", "arguments": ["h100"]})
    assert "TL101" not in client.codes(uri)
    assert client.notification("tritonlint/status")["gpus"] == ["h100"]
    client.call("workspace/executeCommand", {"command": "tritonlint.setTarget", "arguments": []})
    assert "TL101" in client.codes(uri)


def test_on_save_only(client: Client, tmp_path: Path) -> None:
    """With `run` set to onSave the findings stay as they are until the file is written."""
    uri = (tmp_path / "a.py").as_uri()
    client.initialize(root=tmp_path, tritonlint={"lint": {"run": "onSave"}})
    client.open(uri, WARPS)
    assert client.codes(uri) == ["TL204"]
    client.change(uri, 2, {"text": WARPS.replace("num_warps=3", "num_warps=4")})
    assert client.codes(uri) == ["TL204"]
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert client.codes(uri) == []


def test_the_whole_workspace(client: Client, tmp_path: Path) -> None:
    """Files that are not open are reported when that is set, and again once they changed."""
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(WARPS if name != "c.py" else "print('no kernel')\n")
    result = client.initialize(PULL, root=tmp_path, tritonlint={"diagnosticMode": "workspace"})
    assert result["capabilities"]["diagnosticProvider"]["workspaceDiagnostics"]
    client.open((tmp_path / "a.py").as_uri(), WARPS)
    report = client.call("workspace/diagnostic", {"previousResultIds": []})["result"]["items"]
    assert [(one["uri"], one["items"][0]["code"]) for one in report] == [
        ((tmp_path / "b.py").as_uri(), "TL204")
    ]
    before = [{"uri": one["uri"], "value": one["resultId"]} for one in report]
    waiting = client.request("workspace/diagnostic", {"previousResultIds": before})
    (tmp_path / "b.py").write_text(WARPS.replace("num_warps=3", "num_warps=4"))
    changes = [{"uri": (tmp_path / "b.py").as_uri(), "type": 2}]
    client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    (one,) = client.answer(waiting)["result"]["items"]
    assert one["items"] == []


def test_a_closed_notebook_is_reported_at_its_file(client: Client, tmp_path: Path) -> None:
    """Its cells have no URIs: the message says in which cell and line."""
    cells = [{"cell_type": "markdown", "source": "# one"}, {"cell_type": "code", "source": WARPS}]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    client.initialize(PULL, root=tmp_path, tritonlint={"diagnosticMode": "workspace"})
    (one,) = client.call("workspace/diagnostic", {"previousResultIds": []})["result"]["items"]
    (item,) = [item for item in one["items"] if item["code"] == "TL204"]
    line = next(number for number, text in enumerate(WARPS.split("\n"), 1) if "num_warps=3" in text)
    assert one["uri"] == path.as_uri() and item["message"].startswith(f"cell 2, line {line}: ")
    assert item["range"]["start"] == {"line": 0, "character": 0}


def test_a_gpu_of_the_settings_can_be_the_target(tmp_path: Path) -> None:
    """It is offered first, and chosen by its name; one that nobody describes is not."""
    (tmp_path / "tritonlint.toml").write_text('[profiles.mine]\nbase = "a100"\nmultiprocessors = 7\n')
    path = tmp_path / "a.py"
    with Client() as client:
        client.initialize(root=tmp_path)
        client.open(path.as_uri(), WARPS)
        listed = client.call("workspace/executeCommand", {"command": "tritonlint.gpus", "arguments": []})[
            "result"
        ]
        assert listed[0]["name"] == "mine" and "7 SMs" in listed[0]["detail"]
        for name in ("theirs", "mine"):
            client.call("workspace/executeCommand", {"command": "tritonlint.setTarget", "arguments": [name]})
        assert "theirs" in client.notification("window/showMessage")["message"]
        data = [item["data"] for item in client.pull(path.as_uri())["items"] if item["code"] == "TL204"]
        assert data[0]["gpus"] == ["mine"]
