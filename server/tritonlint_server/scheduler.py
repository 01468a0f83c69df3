"""One analysis for each state of a document, however many ask for it; the older ones are called off.

A state is a revision of the text, the signature of the settings files and the editor's own settings.
Whoever asks for a state that is no longer the newest gets `Outdated` at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tritonlint_server.analysis_record import Analysis, Request
from tritonlint_server.configuration import Configuration
from tritonlint_server.documents import Unit
from tritonlint_server.notebooks import as_file
from tritonlint_server.pool import Ticket, Worker, WorkerGone
from tritonlint_server.uris import key_of
from tritonlint_server.watch import signature

State = tuple[Any, ...]


class Outdated(Exception):
    """The document, its settings or the target changed since, or the worker ended and was started again: with either
    comes that everything shown is to be asked for once more."""


@dataclass(slots=True)
class _Entry:
    state: State
    analysis: Analysis | None = None
    ticket: Ticket | None = None


class Scheduler:
    """`on_analysis` is told of every fresh answer."""

    def __init__(self, worker: Worker, on_analysis: Callable[[Unit, Analysis], None]) -> None:
        self.configuration = Configuration()
        self._worker = worker
        self._on_analysis = on_analysis
        self._entries: dict[str, _Entry] = {}
        self.epoch = 0

    def forget(self) -> None:
        """Every analysis is to be made again: something that they read changed on disk."""
        self.epoch += 1

    def changed(self, unit: Unit) -> None:
        """The text is another one: who waits for the old one's analysis is told at once."""
        entry = self._entries.get(key_of(unit.uri))
        if entry is not None and entry.ticket is not None:
            self._worker.cancel(entry.ticket)

    def closed(self, unit: Unit) -> None:
        entry = self._entries.pop(key_of(unit.uri), None)
        if entry is not None and entry.ticket is not None:
            self._worker.cancel(entry.ticket)

    def latest(self, unit: Unit) -> Analysis | None:
        """The analysis of the text as it is now, where it is there already."""
        entry = self._entries.get(key_of(unit.uri))
        if entry is None or entry.analysis is None or entry.state[0] != unit.revision:
            return None
        return entry.analysis

    async def analysis(self, unit: Unit) -> Analysis:
        """The analysis of the unit as it is now. Raises Outdated when it changes before that is done."""
        state = self._state(unit)
        key = key_of(unit.uri)
        entry = self._entries.get(key)
        if entry is None or entry.state != state:
            if entry is not None and entry.ticket is not None:
                self._worker.cancel(entry.ticket)
            entry = self._entries[key] = _Entry(state)
            if not self.configuration.enable or (
                not unit.mentions_triton() and not unit.path.endswith(".json")
            ):
                entry.analysis = Analysis()
            else:
                entry.ticket = self._worker.submit(self._request(unit, state))
        if entry.analysis is None:
            assert entry.ticket is not None
            await self._finish(unit, entry, entry.ticket)
        if self._entries.get(key) is not entry or unit.revision != state[0]:
            raise Outdated
        assert entry.analysis is not None
        return entry.analysis

    async def _finish(self, unit: Unit, entry: _Entry, ticket: Ticket) -> None:
        """Waits for the worker; the first of those who wait keeps the answer."""
        try:
            # Waited for through an event of one's own: that one is called off does not call off the others.
            analysis = await asyncio.shield(ticket.future)
        except WorkerGone as error:
            if self._worker.pid is not None:
                if self._entries.get(key_of(unit.uri)) is entry:
                    del self._entries[key_of(unit.uri)]
                raise Outdated from None
            analysis = Analysis(failure=str(error))
        except asyncio.CancelledError:
            if ticket.future.cancelled():
                raise Outdated from None
            raise
        if entry.analysis is None:
            entry.analysis, entry.ticket = analysis, None
            if self._entries.get(key_of(unit.uri)) is entry:
                self._on_analysis(unit, analysis)

    def _state(self, unit: Unit) -> State:
        return (unit.revision, signature(unit.path), self.configuration, self.epoch)

    def _request(self, unit: Unit, state: State) -> Request:
        configuration = self.configuration
        return Request(
            unit.path if not unit.notebook or unit.path.endswith(".ipynb") else f"{unit.path}.ipynb",
            as_file(unit) if unit.notebook else unit.documents[0].buffer.text,
            (state[1], self.epoch),
            configuration.gpus or None,
            configuration.triton,
            configuration.overrides,
            configuration.certainty,
        )
