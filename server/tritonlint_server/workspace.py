"""Diagnostics of all files of the workspace, for who has asked for that in the settings.

Files that are not open are linted by a second worker, so that what is being edited never waits. A request
that has nothing new to say stays unanswered until something changed, since clients ask again at once."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tritonlint_server.analysis_record import Analysis, Listed, Listing, Request
from tritonlint_server.diagnostics import of_unit, result_id
from tritonlint_server.notebooks import at_their_notebook, unopened
from tritonlint_server.pool import Worker, WorkerGone
from tritonlint_server.session import Session
from tritonlint_server.uris import key_of, path_of, uri_of
from tritonlint_server.watch import signature

Report = lsp.WorkspaceFullDocumentDiagnosticReport | lsp.WorkspaceUnchangedDocumentDiagnosticReport
_PART = 20  # files a partial result


class Progress:
    """What a scan says of itself: under the token of the request, else, where the client shows such a thing,
    under one of the server's own (VS Code's client sends none). Scans that have nothing to lint say nothing."""

    def __init__(self, session: Session, token: lsp.ProgressToken | None, total: int) -> None:
        self._session = session
        self._token = token
        self._total = total
        self._begun = False

    async def begin(self) -> None:
        """Once the first file is to be linted."""
        if self._begun:
            return
        progress, window = self._session.work_done_progress, self._session.client_capabilities.window
        if self._token is None and window is not None and window.work_done_progress:
            token = f"tritonlint-{uuid.uuid4()}"
            try:
                await asyncio.wait_for(progress.create_async(token), timeout=10)
            except (JsonRpcException, asyncio.TimeoutError):
                pass
            else:
                self._token = token
        self._begun = True
        if self._token is not None:
            progress.begin(self._token, lsp.WorkDoneProgressBegin("tritonlint", percentage=0))

    def step(self, done: int, name: str) -> None:
        if self._begun and self._token is not None:
            share = 100 * done // self._total
            step = lsp.WorkDoneProgressReport(message=name, percentage=share)
            self._session.work_done_progress.report(self._token, step)

    def end(self) -> None:
        if self._begun and self._token is not None:
            self._session.work_done_progress.end(self._token, lsp.WorkDoneProgressEnd())


class Workspace:
    """The scan of one session. The worker is started by the first scan."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._worker: Worker | None = None
        self._kept: dict[str, tuple[Any, str, list[lsp.Diagnostic]]] = {}  # path -> (state, id, items)
        self._told: dict[str, str] = {}  # what a client that does not ask was sent: key -> id
        self._pushing = self._due = False

    def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()

    async def pulled(self, params: lsp.WorkspaceDiagnosticParams) -> lsp.WorkspaceDiagnosticReport:
        """One answer, in parts where the client wants them."""
        before = {key_of(entry.uri): entry.value for entry in params.previous_result_ids}
        while True:
            change = self._session.changes
            reports: list[Report] = []
            sent = False
            async for report in self._reports(before, params.work_done_token):
                reports.append(report)
                if params.partial_result_token is not None and len(reports) >= _PART:
                    self._send(params.partial_result_token, reports)
                    reports, sent = [], True
            news = any(isinstance(one, lsp.WorkspaceFullDocumentDiagnosticReport) for one in reports)
            if sent or news or not before:
                return lsp.WorkspaceDiagnosticReport(items=reports)
            await self._session.changed_since(change)

    async def push(self) -> None:
        """The same for a client that is sent its diagnostics: one scan at a time, and one more for all that
        changed during it."""
        self._due = True
        if self._pushing:
            return
        self._pushing = True
        try:
            while self._due:
                self._due = False
                await self._push()
        finally:
            self._pushing = False

    async def _push(self) -> None:
        async for report in self._reports(dict(self._told), None):
            if not isinstance(report, lsp.WorkspaceFullDocumentDiagnosticReport):
                continue
            if report.items:
                self._told[key_of(report.uri)] = report.result_id or ""
            else:
                self._told.pop(key_of(report.uri), None)
            self._session.publish(report.uri, list(report.items))

    def closed(self, uri: str) -> None:
        """A file that is not open any more is reported by the scan again."""
        self._told.pop(key_of(uri), None)

    def _send(self, token: lsp.ProgressToken, reports: list[Report]) -> None:
        value = lsp.WorkspaceDiagnosticReportPartialResult(items=reports)
        self._session.progress(lsp.ProgressParams(token, value))

    async def _reports(
        self, before: dict[str, str], token: lsp.ProgressToken | None
    ) -> AsyncIterator[Report]:
        listed = await self._list()
        progress = Progress(self._session, token, len(listed.paths))
        try:
            async for report in self._each(listed, before, progress):
                yield report
        finally:  # also when the client calls the request off
            progress.end()

    async def _each(
        self, listed: Listed, before: dict[str, str], progress: Progress
    ) -> AsyncIterator[Report]:
        known = set(before)
        for number, path in enumerate(listed.paths):
            uri = uri_of(path)
            key = key_of(uri)
            known.discard(key)
            if self._session.documents.unit(uri) is not None:
                if path.endswith(".ipynb") and before.get(key):  # its cells are told on their own
                    yield lsp.WorkspaceFullDocumentDiagnosticReport(uri, [], kind="full", result_id="")
                continue  # asked for on its own
            result, items = await self._file(path, progress)
            progress.step(number + 1, os.path.basename(path))
            if before.get(key) == result:
                yield lsp.WorkspaceUnchangedDocumentDiagnosticReport(uri, result_id=result, kind="unchanged")
            elif items or key in before:
                yield lsp.WorkspaceFullDocumentDiagnosticReport(uri, items, kind="full", result_id=result)
        for key in known:  # gone, or nothing to read any more
            if self._session.documents.unit(key) is None:
                yield lsp.WorkspaceFullDocumentDiagnosticReport(key, [], kind="full")

    async def _list(self) -> Listed:
        folders = self._session.workspace.folders.values()
        paths = [path for folder in folders if (path := path_of(folder.uri)) is not None]
        if not paths:
            return Listed()
        listing = Listing(paths[0], tuple(paths), self._session.configuration.overrides)
        try:
            found: Listed = await self._started().submit(listing).future
        except WorkerGone:
            return Listed()
        if found.settings_error:
            self._session.tell(
                f"tritonlint settings: {found.settings_error}", lsp.MessageType.Error, once=True
            )
        return found

    async def _file(self, path: str, progress: Progress) -> tuple[str, list[lsp.Diagnostic]]:
        """The diagnostics of a file as it is on disk, made again when it, its settings or the target
        changed."""
        session = self._session
        try:
            status = os.stat(path)
        except OSError:
            return "", []
        configuration, epoch = session.configuration, session.scheduler.epoch
        settings = signature(path)
        state = (status.st_mtime_ns, status.st_size, settings, configuration, epoch)
        kept = self._kept.get(path)
        if kept is None or kept[0] != state:
            request = Request(
                path, None, (settings, epoch), configuration.gpus or None, configuration.triton,
                configuration.overrides, configuration.certainty,
            )  # fmt: skip
            await progress.begin()
            try:
                analysis: Analysis = await self._started().submit(request).future
            except WorkerGone:
                return kept[1:] if kept is not None else ("", [])
            items = self._items(path, analysis)
            kept = self._kept[path] = (state, result_id(items), items)
        return kept[1], kept[2]

    def _items(self, path: str, analysis: Analysis) -> list[lsp.Diagnostic]:
        if not analysis.findings:
            return []
        unit = unopened(uri_of(path), path)
        items = of_unit(unit, analysis, self._session.places, self._session.can)[key_of(unit.uri)]
        return at_their_notebook(path, items) if path.endswith(".ipynb") else items

    def _started(self) -> Worker:
        if self._worker is None:
            self._worker = Worker()
            self._worker.attach(asyncio.get_running_loop(), self._session.tell)
        return self._worker
