"""Notebooks: the protocol's cell events kept in step, and the cells as the notebook file that the linter
reads."""

from __future__ import annotations

import copy
import json

from lsprotocol import types as lsp

from tritonlint.source.notebook import place_in
from tritonlint.source.text import load
from tritonlint_server.buffer import Buffer
from tritonlint_server.documents import Document, Documents, Unit
from tritonlint_server.positions import Encoding
from tritonlint_server.uris import key_of


def new_document(item: lsp.TextDocumentItem) -> Document:
    return Document(item.uri, str(item.language_id), item.version, Buffer(item.text))


def change_document(
    document: Document,
    changes: list[lsp.TextDocumentContentChangeEvent],
    version: int | None,
    encoding: Encoding,
) -> None:
    """Edits of one document in their order."""
    for change in changes:
        if isinstance(change, lsp.TextDocumentContentChangePartial):
            start, end = change.range.start, change.range.end
            document.buffer.edit(
                (start.line, start.character), (end.line, end.character), change.text, encoding
            )
        else:
            document.buffer.replace(change.text)
    document.version = version


def opened(documents: Documents, params: lsp.DidOpenNotebookDocumentParams) -> Unit:
    texts = {key_of(item.uri): new_document(item) for item in params.cell_text_documents}
    order = [key_of(cell.document) for cell in params.notebook_document.cells]
    cells = [texts[key] for key in order if key in texts]
    return documents.open_notebook(params.notebook_document.uri, cells)


def changed(
    documents: Documents, params: lsp.DidChangeNotebookDocumentParams, encoding: Encoding
) -> tuple[Unit | None, list[Document]]:
    """The notebook after the change, and the cells that it lost."""
    unit = documents.unit(params.notebook_document.uri)
    cells = params.change.cells
    if unit is None or cells is None:
        return unit, []
    gone: list[Document] = []
    if cells.structure is not None:
        gone = _restructure(documents, unit, cells.structure)
    for content in cells.text_content or ():
        document = documents.document(content.document.uri)
        if document is not None and document in unit.documents:
            change_document(document, list(content.changes), content.document.version, encoding)
    unit.touch()
    return unit, gone


def _restructure(
    documents: Documents, unit: Unit, change: lsp.NotebookDocumentCellChangeStructure
) -> list[Document]:
    known = {key_of(document.uri): document for document in unit.documents}
    known.update({key_of(item.uri): new_document(item) for item in change.did_open or ()})
    order = [key_of(document.uri) for document in unit.documents]
    array = change.array
    start = min(max(array.start, 0), len(order))
    order[start : start + array.delete_count] = [key_of(cell.document) for cell in array.cells or ()]
    closed = {key_of(item.uri) for item in change.did_close or ()}
    kept = dict.fromkeys(key for key in order if key in known and key not in closed)
    return documents.set_cells(unit, [known[key] for key in kept])


def as_file(unit: Unit) -> str:
    """The notebook as its file would be. A cell's last line end counts as a line of the joined text, as it
    does in the client's own text."""
    cells = [{"cell_type": "code", "source": document.buffer.text} for document in unit.documents]
    return json.dumps({"cells": cells, "metadata": {}})


def unopened(uri: str, path: str) -> Unit:
    """A file that is not open, as a unit; a notebook as its cells one after the other."""
    return Unit(uri, path, [Document(uri, "python", None, Buffer(load(path).text))])


def at_their_notebook(path: str, items: list[lsp.Diagnostic]) -> list[lsp.Diagnostic]:
    """Diagnostics of a closed notebook, whose cells have no URIs: they stand at the file and say in words where."""
    cells = load(path).cells
    start = lsp.Position(0, 0)
    found: list[lsp.Diagnostic] = []
    for item in items:
        cell, line = place_in(cells, item.range.start.line + 1)
        where = f"cell {cell}, line {line}: " if cell is not None else ""
        moved = copy.copy(item)
        moved.range = lsp.Range(start, start)
        moved.message = f"{where}{item.message}"
        moved.related_information = None
        found.append(moved)
    return found
