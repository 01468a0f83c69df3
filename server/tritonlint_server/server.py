"""Wires the protocol's requests to the modules that answer them. Nothing is worked out here."""

from __future__ import annotations

import asyncio
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tritonlint.registry import registry
from tritonlint_server import configuration, features, sync
from tritonlint_server.errors import ServerCancelled
from tritonlint_server.pool import Worker
from tritonlint_server.scheduler import Outdated
from tritonlint_server.session import Session
from tritonlint_server.uris import key_of
from tritonlint_server.workspace import Workspace


def create(worker: Worker) -> Session:
    """A server that is ready to receive messages."""
    session = Session(worker)
    session.own_protocol.on = lambda method, params: sync.handle(session, method, params)
    _life(session)
    _files(session)
    _diagnostics(session)
    features.register(session)
    return session


def _life(session: Session) -> None:
    @session.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        session.begin(params)
        if session.configuration.diagnostic_mode == "workspace":
            _workspace(session)

    @session.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        sync.watch_files(session)
        session.start(_begun(session))
        # Rules are loaded beside, for hover and completion.
        asyncio.get_running_loop().run_in_executor(None, registry)

    @session.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: lsp.DidChangeConfigurationParams) -> None:
        session.start(_configured(session, params.settings))


async def _begun(session: Session) -> None:
    await _fetch_configuration(session)
    for begin in session.on_begin:
        begin()


async def _configured(session: Session, settings: Any) -> None:
    """Some clients send their settings, others want to be asked."""
    if not await _fetch_configuration(session) and isinstance(settings, dict) and settings:
        session.configure(settings)
    session.refresh()


async def _fetch_configuration(session: Session) -> bool:
    """Asks the client for its settings, where it can be asked."""
    workspace = session.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return False
    item = lsp.ConfigurationItem(section=configuration.SECTION)
    try:
        found = await asyncio.wait_for(
            session.workspace_configuration_async(lsp.ConfigurationParams([item])), timeout=10
        )
    except (JsonRpcException, asyncio.TimeoutError, asyncio.CancelledError):
        return False
    if not found or not isinstance(found[0], dict):
        return False
    before = session.configuration
    session.configure(found[0])
    if session.configuration != before:
        session.refresh()
    return True


def _workspace(session: Session) -> None:
    workspace = Workspace(session)
    session.on_end.append(workspace.stop)
    session.on_close.append(workspace.closed)
    if session.pull:

        @session.feature(lsp.WORKSPACE_DIAGNOSTIC)
        async def pulled(params: lsp.WorkspaceDiagnosticParams) -> lsp.WorkspaceDiagnosticReport:
            return await workspace.pulled(params)

    else:
        session.on_refresh.append(lambda: session.start(workspace.push()))
        session.on_begin.append(lambda: session.start(workspace.push()))
        session.on_close.append(lambda _: session.start(workspace.push()))


def _files(session: Session) -> None:
    @session.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        sync.saved(session, params.text_document.uri)

    @session.feature(lsp.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_saved(params: lsp.DidSaveNotebookDocumentParams) -> None:
        sync.saved(session, params.notebook_document.uri)

    @session.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: lsp.DidChangeWatchedFilesParams) -> None:
        gone = [event.uri for event in params.changes if event.type == lsp.FileChangeType.Deleted]
        for uri in gone:
            if session.documents.unit(uri) is None:
                session.clear([uri], told=not session.pull)
        sync.files_changed(session, [event.uri for event in params.changes])

    everything = lsp.FileOperationRegistrationOptions(
        [lsp.FileOperationFilter(lsp.FileOperationPattern("**/*"), scheme="file")]
    )

    @session.feature(lsp.WORKSPACE_DID_RENAME_FILES, everything)
    def renamed(params: lsp.RenameFilesParams) -> None:
        sync.files_removed(session, [file.old_uri for file in params.files])

    @session.feature(lsp.WORKSPACE_DID_DELETE_FILES, everything)
    def deleted(params: lsp.DeleteFilesParams) -> None:
        sync.files_removed(session, [file.uri for file in params.files])


def _diagnostics(session: Session) -> None:
    options = lsp.DiagnosticOptions(
        inter_file_dependencies=False, workspace_diagnostics=False, identifier="tritonlint"
    )

    @session.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def pulled(params: lsp.DocumentDiagnosticParams) -> lsp.DocumentDiagnosticReport:
        key = key_of(params.text_document.uri)
        unit = session.documents.unit(key)
        if unit is None or not session.pulls(unit):
            return lsp.RelatedFullDocumentDiagnosticReport(items=[], kind="full")
        shown = session.shown.get(key)
        if not (session.configuration.run == "onSave" and shown and unit.revision != unit.saved):
            try:
                await session.diagnostics(unit)
            except Outdated:
                raise ServerCancelled(data={"retriggerRequest": True}) from None
            shown = session.shown.get(key)
        if shown is None:
            return lsp.RelatedFullDocumentDiagnosticReport(items=[], kind="full")
        _, result, items = shown
        if result == params.previous_result_id:
            return lsp.RelatedUnchangedDocumentDiagnosticReport(result_id=result, kind="unchanged")
        return lsp.RelatedFullDocumentDiagnosticReport(items=items, kind="full", result_id=result)
