"""The plugin of python-lsp-server, called as that server calls its plugins."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tests.server.samples import EMOJI, WARPS


class Config:
    """What a plugin asks of python-lsp-server's configuration."""

    def __init__(self, **settings: Any) -> None:
        self._settings = settings

    def plugin_settings(self, plugin: str, document_path: str | None = None) -> dict[str, Any]:
        assert plugin == "tritonlint"
        return self._settings


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, with a stand-in for the package that it plugs into."""
    host = types.ModuleType("pylsp")
    host.hookimpl = lambda function: function  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pylsp", host)
    monkeypatch.delitem(sys.modules, "tritonlint_server.pylsp_plugin", raising=False)
    return importlib.import_module("tritonlint_server.pylsp_plugin")


def document(folder: Path, text: str) -> Any:
    (folder / "a.py").write_text(text, encoding="utf-8")
    uri = (folder / "a.py").as_uri()
    return types.SimpleNamespace(uri=uri, path=str(folder / "a.py"), source=text, version=1)


def test_findings_and_fixes(plugin: Any, tmp_path: Path) -> None:
    """Plain JSON with UTF-16 columns; actions carry edits, never commands."""
    opened = document(tmp_path, EMOJI)
    found = [one for one in plugin.pylsp_lint(Config(), None, opened) if one["code"] == "TL204"]
    assert len(found) == 1 and found[0]["source"] == "tritonlint" and found[0]["severity"] == 1
    line = EMOJI.splitlines()[7]
    before = line[: line.index("triton.Config")]
    assert found[0]["range"]["start"]["character"] >= len(before.encode("utf-16-le")) // 2
    actions = plugin.pylsp_code_actions(Config(), None, opened, found[0]["range"], {})
    assert actions[0]["title"].startswith("num_warps=") and actions[-1]["title"].startswith("Ignore TL204")
    assert all("edit" in action and "command" not in action for action in actions)


def test_settings_of_the_editor(plugin: Any, tmp_path: Path) -> None:
    """The plugin's own section goes before the project's settings."""
    opened = document(tmp_path, WARPS)
    found = plugin.pylsp_lint(Config(lint={"ignore": ["TL204"]}), None, opened)
    assert "TL204" not in [one["code"] for one in found]


def test_other_files_cost_nothing(plugin: Any, tmp_path: Path) -> None:
    """What says nothing of Triton is not read."""
    assert plugin.pylsp_lint(Config(), None, document(tmp_path, "x = 1\n")) == []
