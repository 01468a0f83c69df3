"""Notebooks: the cells are one module, each finding stands in its cell, and goes with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.client import PULL, PUSH, Client, insertion
from tests.server.samples import WARPS

URI = "file:///nowhere/a.ipynb"
IMPORTS, KERNEL = WARPS.split("\n\n\n", 1)
BOTH = {"notebookDocument": {"synchronization": {"dynamicRegistration": False}}}


def cell(name: str) -> str:
    return f"vscode-notebook-cell:/nowhere/a.ipynb#{name}"


def item(name: str, text: str) -> dict[str, Any]:
    return {"uri": cell(name), "languageId": "python", "version": 1, "text": text}


def open_notebook(client: Client, texts: dict[str, str]) -> None:
    cells = [{"kind": 2, "document": cell(name)} for name in texts]
    notebook = {"uri": URI, "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
    documents = [item(name, text) for name, text in texts.items()]
    client.notify("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": documents})


def change(client: Client, cells: dict[str, Any]) -> None:
    document = {"uri": URI, "version": 2}
    client.notify("notebookDocument/didChange", {"notebookDocument": document, "change": {"cells": cells}})


@pytest.fixture
def client() -> Iterator[Client]:
    with Client() as client:
        yield client


def test_a_kernel_over_cells(client: Client) -> None:
    """Imports in one cell, magics in another, the kernel in a third: the finding is in the third. Cells are told
    also to a client that asks, since VS Code asks for documents only."""
    result = client.initialize({**PULL, **BOTH})
    assert result["capabilities"]["notebookDocumentSync"]
    open_notebook(client, {"one": IMPORTS, "two": "%%time\n!ls\nx = 1", "three": KERNEL})
    told = {}
    while len(told) < 3:
        params = client.notification("textDocument/publishDiagnostics")
        told[params["uri"]] = params["diagnostics"]
    assert not told[cell("one")] and not told[cell("two")]
    (found,) = [one for one in told[cell("three")] if one["code"] == "TL204"]
    line = KERNEL.splitlines()[found["range"]["start"]["line"]]
    assert "num_warps=3" in line


def test_cells_that_change_move_and_go(client: Client) -> None:
    """An edit in a cell above moves nothing in the others; a cell that goes takes its findings along."""
    client.initialize({**PUSH, **BOTH})
    open_notebook(client, {"one": IMPORTS, "three": KERNEL})
    told = {}
    while len(told) < 2:
        params = client.notification("textDocument/publishDiagnostics")
        told[params["uri"]] = [
            one["range"]["start"]["line"] for one in params["diagnostics"] if one["code"] == "TL204"
        ]
    assert told[cell("one")] == []
    (line,) = told[cell("three")]
    edit = {"document": {"uri": cell("one"), "version": 2}, "changes": [insertion(0, 0, "import os\n\n")]}
    change(client, {"textContent": [edit]})
    while (params := client.notification("textDocument/publishDiagnostics"))["uri"] != cell("three"):
        pass
    assert [one["range"]["start"]["line"] for one in params["diagnostics"] if one["code"] == "TL204"] == [
        line
    ]
    array = {"start": 0, "deleteCount": 2, "cells": [{"kind": 2, "document": cell("new")}]}
    gone = [{"uri": cell("one")}, {"uri": cell("three")}]
    change(
        client, {"structure": {"array": array, "didOpen": [item("new", "import triton")], "didClose": gone}}
    )
    cleared = set()
    while not {cell("one"), cell("three")} <= cleared:
        params = client.notification("textDocument/publishDiagnostics")
        if params["diagnostics"] == []:
            cleared.add(params["uri"])
