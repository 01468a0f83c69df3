"""One client's session: what is open, what is analysed, what is set, and how the client wants to be told."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from tritonlint import __version__
from tritonlint_server import configuration
from tritonlint_server.analysis_record import Analysis
from tritonlint_server.configuration import Configuration
from tritonlint_server.diagnostics import Abilities, abilities, of_unit, result_id
from tritonlint_server.documents import Documents, Unit
from tritonlint_server.errors import ContentModified, ServerCancelled
from tritonlint_server.places import Places
from tritonlint_server.pool import Worker
from tritonlint_server.positions import Encoding
from tritonlint_server.protocol import Protocol
from tritonlint_server.scheduler import Outdated, Scheduler
from tritonlint_server.uris import key_of, path_of

logger = logging.getLogger(__name__)

NOTEBOOKS = lsp.NotebookDocumentSyncOptions(
    notebook_selector=[
        lsp.NotebookDocumentFilterWithCells(cells=[lsp.NotebookCellLanguage(language="python")], notebook="*")
    ],
    save=True,
)


class Session(LanguageServer):
    """The server's state. `pull`: the client asks for diagnostics; otherwise they are sent to it."""

    def __init__(self, worker: Worker) -> None:
        super().__init__(
            "tritonlint", __version__, lsp.TextDocumentSyncKind.Incremental, NOTEBOOKS, protocol_cls=Protocol
        )
        self.worker = worker
        self.documents = Documents()
        self.scheduler = Scheduler(worker, self._analysed)
        self.places = Places(self.documents, "utf-16")
        self.pull = False
        self.can = Abilities()
        self.target: tuple[str, ...] = ()  # chosen in the editor; goes before its settings
        self.shown: dict[str, tuple[int, str, list[lsp.Diagnostic]]] = {}  # document -> (revision, id, items)
        self.changes = 0  # counts what may have changed findings of files that are not open
        self._changed = asyncio.Event()
        self.on_end: list[Callable[[], None]] = []
        self.on_begin: list[Callable[[], None]] = []  # once the client's settings are known
        self.on_close: list[Callable[[str], None]] = []
        self.on_refresh: list[Callable[[], None]] = []
        self.exit_code: int | None = None
        self.stopped = asyncio.Event()
        self._settings = Configuration()
        self._told: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._status: Any = None

    @property
    def own_protocol(self) -> Protocol:
        return cast(Protocol, self.protocol)

    # --- beginning and end

    def begin(self, params: lsp.InitializeParams) -> None:
        """What the client said of itself."""
        self.places.encoding = cast(Encoding, str(getattr(self.encoding, "value", self.encoding)))
        text = params.capabilities.text_document
        self.pull = bool(text and text.diagnostic)
        self.can = abilities(params.capabilities, self.pull)
        options = params.initialization_options
        self.target = configuration.target_of(options)
        self.configure(options)
        folders = [folder.uri for folder in params.workspace_folders or ()]
        root = folders[0] if folders else params.root_uri
        self.documents.folder = (path_of(root) if root else None) or self.documents.folder

    @property
    def encoding(self) -> Any:
        return self.workspace.position_encoding or "utf-16"

    def end(self, code: int) -> None:
        """Leaves the main loop."""
        if self.exit_code is None:
            self.exit_code = code
            for stop in self.on_end:
                stop()
        self.stopped.set()

    # --- settings

    @property
    def configuration(self) -> Configuration:
        return self.scheduler.configuration

    def configure(self, options: Any) -> None:
        """The editor's settings, whole."""
        read = configuration.read(options)
        self._settings = replace(read, status=read.status or self._settings.status)
        self._apply()

    def choose(self, gpus: tuple[str, ...]) -> None:
        """The GPUs to look at; none: those of the settings again."""
        self.target = gpus
        self._apply()
        self.refresh()

    def _apply(self) -> None:
        self.scheduler.configuration = replace(self._settings, gpus=self.target or self._settings.gpus)

    def files_changed(self) -> None:
        """Something that analyses read changed on disk."""
        self.scheduler.forget()
        self.refresh()

    def paths(self) -> list[str]:
        """The open files, and a file that could be in each opened folder: whose settings hold here."""
        folders = [path_of(folder.uri) for folder in self.workspace.folders.values()]
        return [unit.path for unit in self.documents] + [
            os.path.join(one, "any.py") for one in folders if one
        ]

    async def changed_since(self, changes: int) -> None:
        """Returns once something changed after that count."""
        while self.changes == changes:
            await self._changed.wait()

    def closed(self, uri: str) -> None:
        """A file is not open any more: it counts among those of the workspace again."""
        for told in self.on_close:
            told(uri)
        self._count_change()

    def _count_change(self) -> None:
        self.changes += 1
        self._changed.set()
        self._changed = asyncio.Event()

    # --- telling the client

    def refresh(self) -> None:
        """Everything shown is to be asked for (or sent) again."""
        self._count_change()
        workspace = self.client_capabilities.workspace
        if workspace is not None:
            if self.pull and workspace.diagnostics and workspace.diagnostics.refresh_support:
                self.workspace_diagnostic_refresh(None)
            if workspace.inlay_hint and workspace.inlay_hint.refresh_support:
                self.workspace_inlay_hint_refresh(None)
            if workspace.code_lens and workspace.code_lens.refresh_support:
                self.workspace_code_lens_refresh(None)
        for unit in self.documents:
            self.push(unit)
        for again in self.on_refresh:
            again()

    def pulls(self, unit: Unit) -> bool:
        """Does the client ask for the diagnostics of this unit? VS Code does not for the cells of a notebook."""
        return self.pull and not unit.notebook

    def push(self, unit: Unit) -> None:
        """Sends the diagnostics of a unit once they are there, to a client that does not ask for them."""
        if not self.pulls(unit):
            self.start(self._push(unit))

    async def _push(self, unit: Unit) -> None:
        try:
            items = await self.diagnostics(unit)
        except Outdated:
            return
        versions = {key_of(document.uri): document for document in unit.documents}
        for key, document in versions.items():
            self.publish(document.uri, items.get(key, []), document.version)

    def publish(self, uri: str, items: list[lsp.Diagnostic], version: int | None = None) -> None:
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, items, version))

    def clear(self, uris: list[str], told: bool) -> None:
        """Nothing is known of these documents any more. `told`: the client was sent their diagnostics."""
        for uri in uris:
            self.shown.pop(key_of(uri), None)
            if told:
                self.publish(uri, [])

    async def diagnostics(self, unit: Unit) -> dict[str, list[lsp.Diagnostic]]:
        """The diagnostics of each document of a unit as it is now. Raises Outdated."""
        analysis = await self.scheduler.analysis(unit)
        found = of_unit(unit, analysis, self.places, self.can)
        for key, items in found.items():
            self.shown[key] = (unit.revision, result_id(items), items)
        return found

    def start(self, work: Any) -> None:
        """Runs a coroutine beside the messages."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("background work failed", exc_info=task.exception())

    def tell(self, text: str, kind: lsp.MessageType = lsp.MessageType.Warning, once: bool = False) -> None:
        """A message for the user; with `once` the same text never again in this session."""
        if once and text in self._told:
            return
        self._told.add(text)
        self.window_show_message(lsp.ShowMessageParams(kind, text))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A handler failed: for the log, not for a box in the user's way."""
        if isinstance(error, (ServerCancelled, ContentModified)):
            return
        self.window_log_message(
            lsp.LogMessageParams(lsp.MessageType.Error, f"{type(error).__name__}: {error}")
        )

    def _analysed(self, unit: Unit, analysis: Analysis) -> None:
        if analysis.settings_error:
            self.tell(f"tritonlint settings: {analysis.settings_error}", lsp.MessageType.Error, once=True)
        elif analysis.failure:
            text = f"tritonlint failed on {unit.path}: {analysis.failure}"
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, text))
        if self._settings.status:
            status = {
                "uri": unit.uri, "gpus": list(analysis.gpus), "triton": analysis.triton,
                "targets": analysis.targets, "problem": analysis.settings_error or analysis.failure,
            }  # fmt: skip
            if status != self._status and (analysis.gpus or status["problem"]):
                self._status = status
                self.protocol.notify("tritonlint/status", status)
