"""The client's notifications about documents and files."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp

from tritonlint_server import notebooks
from tritonlint_server.documents import Unit
from tritonlint_server.session import Session
from tritonlint_server.uris import key_of, path_of
from tritonlint_server.watch import PATTERNS, is_settings_file


def handle(session: Session, method: str, params: Any) -> None:
    """One notification. What is said of a document that is not open is passed over."""
    _HANDLERS[method](session, params)


def _open(session: Session, params: lsp.DidOpenTextDocumentParams) -> None:
    _fresh(session, session.documents.open(notebooks.new_document(params.text_document)))


def _change(session: Session, params: lsp.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    unit, document = session.documents.unit(uri), session.documents.document(uri)
    if unit is None or document is None:
        return
    version, encoding = params.text_document.version, session.places.encoding
    notebooks.change_document(document, list(params.content_changes), version, encoding)
    unit.touch()
    session.scheduler.changed(unit)
    if session.configuration.run == "onType":
        session.push(unit)


def _close(session: Session, params: lsp.DidCloseTextDocumentParams) -> None:
    unit = session.documents.unit(params.text_document.uri)
    if unit is not None and not unit.notebook:
        _gone(session, unit)


def _open_notebook(session: Session, params: lsp.DidOpenNotebookDocumentParams) -> None:
    _fresh(session, notebooks.opened(session.documents, params))


def _change_notebook(session: Session, params: lsp.DidChangeNotebookDocumentParams) -> None:
    unit, lost = notebooks.changed(session.documents, params, session.places.encoding)
    session.clear([document.uri for document in lost], told=True)
    if unit is not None:
        session.scheduler.changed(unit)
        session.push(unit)


def _close_notebook(session: Session, params: lsp.DidCloseNotebookDocumentParams) -> None:
    unit = session.documents.unit(params.notebook_document.uri)
    if unit is not None:
        _gone(session, unit)


def _exit(session: Session, after_shutdown: bool) -> None:
    session.end(0 if after_shutdown else 1)


_HANDLERS: dict[str, Any] = {
    lsp.TEXT_DOCUMENT_DID_OPEN: _open,
    lsp.TEXT_DOCUMENT_DID_CHANGE: _change,
    lsp.TEXT_DOCUMENT_DID_CLOSE: _close,
    lsp.NOTEBOOK_DOCUMENT_DID_OPEN: _open_notebook,
    lsp.NOTEBOOK_DOCUMENT_DID_CHANGE: _change_notebook,
    lsp.NOTEBOOK_DOCUMENT_DID_CLOSE: _close_notebook,
    lsp.EXIT: _exit,
}


def _fresh(session: Session, unit: Unit) -> None:
    unit.saved = unit.revision
    session.push(unit)


def _gone(session: Session, unit: Unit) -> None:
    session.documents.close(unit.uri)
    session.scheduler.closed(unit)
    session.clear([document.uri for document in unit.documents], told=not session.pulls(unit))
    session.closed(unit.uri)


def saved(session: Session, uri: str) -> None:
    """A file was written: others may read from it."""
    unit = session.documents.unit(uri)
    if unit is not None:
        unit.saved = unit.revision
        if session.configuration.run == "onSave":
            session.push(unit)
    path = path_of(uri)
    if path is not None and (is_settings_file(path) or len(list(session.documents)) > 1):
        session.files_changed()


def files_changed(session: Session, uris: list[str]) -> None:
    """Files changed on disk, as the client's watcher tells it."""
    paths = [path for path in map(path_of, uris) if path is not None]
    open_keys = {key_of(unit.uri) for unit in session.documents}
    if any(is_settings_file(path) or path.endswith(".py") for path in paths):
        # An open document's text is the editor's; its file matters to the others only.
        if all(key_of(uri) in open_keys for uri in uris) and len(open_keys) < 2:
            return
        session.files_changed()


def files_removed(session: Session, uris: list[str]) -> None:
    """Files were deleted or renamed: nothing is to be left standing under the old name."""
    for uri in uris:
        prefix = key_of(uri).rstrip("/") + "/"
        for unit in session.documents:
            if key_of(unit.uri) == key_of(uri) or key_of(unit.uri).startswith(prefix):
                _gone(session, unit)
        session.clear([uri], told=not session.pull)
    session.files_changed()


def watch_files(session: Session) -> None:
    """Asks the client to watch, where it can be asked; where not, each request looks for itself."""
    workspace = session.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace is not None else None
    if watched is None or not watched.dynamic_registration:
        return
    watchers = [lsp.FileSystemWatcher(f"**/{pattern}") for pattern in (*PATTERNS, "*.py")]
    options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
    registration = lsp.Registration("tritonlint-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    session.client_register_capability(lsp.RegistrationParams([registration]))
