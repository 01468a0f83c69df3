"""Wires hover, hints, lenses, actions, completion and commands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from lsprotocol import types as lsp

from tritonlint_server import commands, completion
from tritonlint_server.actions import KINDS, Actions
from tritonlint_server.analysis_record import Analysis
from tritonlint_server.documents import Document, Unit
from tritonlint_server.errors import ContentModified
from tritonlint_server.hints import hints
from tritonlint_server.hover import hover
from tritonlint_server.lens import lenses
from tritonlint_server.positions import column_of
from tritonlint_server.report import markdown, written
from tritonlint_server.scheduler import Outdated
from tritonlint_server.session import Session
from tritonlint_server.uris import uri_of

Answer = TypeVar("Answer")


def register(session: Session) -> None:
    _reading(session)
    _editing(session)
    _commands(session)


async def _with_analysis(
    session: Session, uri: str, answer: Callable[[Unit, Document, Analysis], Answer]
) -> Answer | None:
    """What `answer` makes of the document as it is now; None where it is not open."""
    unit, document = session.documents.unit(uri), session.documents.document(uri)
    if unit is None or document is None:
        return None
    try:
        analysis = await session.scheduler.analysis(unit)
    except Outdated:
        raise ContentModified from None
    return answer(unit, document, analysis)


def _reading(session: Session) -> None:
    @session.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        def answer(unit: Unit, document: Document, analysis: Analysis) -> lsp.Hover | None:
            place = session.places.joined(unit, document.uri, params.position)
            if place is None:
                return None
            found = hover(analysis, document.buffer.line(params.position.line), place)
            if found is None:
                return None
            text, span = found
            _, range_ = session.places.in_unit(unit, span)
            return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), range_)

        return await _with_analysis(session, params.text_document.uri, answer)

    @session.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def hinted(params: lsp.InlayHintParams) -> list[lsp.InlayHint] | None:
        if not session.configuration.inlay_hints:
            return None
        return await _with_analysis(
            session,
            params.text_document.uri,
            lambda unit, document, analysis: hints(unit, document, analysis, session.places, params.range),
        )

    @session.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    async def lensed(params: lsp.CodeLensParams) -> list[lsp.CodeLens] | None:
        if not session.configuration.code_lens:
            return None
        return await _with_analysis(
            session,
            params.text_document.uri,
            lambda unit, document, analysis: lenses(unit, document, analysis, session.places),
        )


def _editing(session: Session) -> None:
    @session.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=list(KINDS)))
    async def acted(params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
        workspace = session.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace is not None else None
        versioned = bool(edits is not None and edits.document_changes)
        suppress = session.configuration.suppress_action
        return await _with_analysis(
            session,
            params.text_document.uri,
            lambda unit, document, analysis: Actions(unit, document, analysis, session.places, versioned).all(
                params, suppress
            ),
        )

    @session.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=completion.TRIGGERS)
    )
    def completed(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        unit = session.documents.unit(params.text_document.uri)
        document = session.documents.document(params.text_document.uri)
        if unit is None or document is None:
            return []
        line = params.position.line
        column = column_of(document.buffer.line(line), params.position.character, session.places.encoding)
        return completion.complete(unit.path, document.buffer.lines, line, column)


def _commands(session: Session) -> None:
    @session.command(commands.SET_TARGET)
    def set_target(*names: Any) -> None:
        from tritonlint.gpu.names import resolve

        chosen = tuple(str(name) for name in names if isinstance(name, str) and name.strip())
        unknown = [name for name in chosen if resolve(name) is None]
        if unknown:
            own = commands.own_gpus(session.paths())
            unknown = [name for name in unknown if name not in own]
        if unknown:
            session.tell(f"tritonlint knows no GPU {', '.join(unknown)}.")
        else:
            session.choose(chosen)

    @session.command(commands.CHOOSE_TARGET)
    async def choose_target(*_: Any) -> None:
        items = [lsp.MessageActionItem(name) for name in (*commands.COMMON, _FROM_SETTINGS)]
        asked = lsp.ShowMessageRequestParams(lsp.MessageType.Info, "Show on which GPU?", items)
        answer = await session.window_show_message_request_async(asked)
        if answer is not None:
            session.choose(() if answer.title == _FROM_SETTINGS else (answer.title,))

    @session.command(commands.GPUS)
    async def gpus(*_: Any) -> list[dict[str, str]]:
        paths = session.paths()

        def listed() -> list[dict[str, str]]:
            return commands.gpu_list(commands.own_gpus(paths))

        # Beside the messages: every profile is read.
        return await asyncio.get_running_loop().run_in_executor(None, listed)

    @session.command(commands.RESTART)
    def restart(*_: Any) -> None:
        session.worker.restart()
        session.files_changed()

    @session.command(commands.REPORT)
    async def report(*arguments: Any) -> str | None:
        uri = str(arguments[0]) if arguments else ""
        made = await _with_analysis(session, uri, lambda unit, _, analysis: (unit, analysis))
        if made is None:
            return None
        await _show(session, *made)
        return markdown(*made)


_FROM_SETTINGS = "as the settings say"


async def _show(session: Session, unit: Unit, analysis: Analysis) -> None:
    """Opens the report in clients that can show a file, unless they do so themselves."""
    window = session.client_capabilities.window
    if window is None or window.show_document is None or not window.show_document.support:
        return
    if session.configuration.status:  # such a client has a view of its own
        return
    try:
        path = written(unit, analysis)
    except OSError:
        return
    shown: Awaitable[Any] = session.window_show_document_async(lsp.ShowDocumentParams(uri_of(path)))
    await shown
