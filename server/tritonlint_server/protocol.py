"""pygls's protocol with what it does for documents taken out, and its loose ends tied.

pygls cuts lines where Python's `splitlines` does, keeps a Future for each notification that a generator
handles, fails on edits of a document that it does not know, and raises for a reply to a request that was
called off."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

logger = logging.getLogger(__name__)

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
NOT_INITIALIZED = int(lsp.ErrorCodes.ServerNotInitialized)


class Protocol(LanguageServerProtocol):
    """Documents are the server's own business: `on` is called with (method, params) for each notification
    that is about them, and for `exit`."""

    on: Callable[[str, Any], None]
    _initialize_seen = False

    def receive(self, message: Any) -> None:
        """One JSON value from the client. Never raises."""
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            self.refuse(None, INVALID_REQUEST, "not a JSON-RPC 2.0 message")
            return
        method, number = message.get("method"), message.get("id")
        request = number is not None and method is not None
        if request and not self._initialize_seen and method != lsp.INITIALIZE:
            self.refuse(number, NOT_INITIALIZED, "the server is not initialized")
            return
        if not request and not self._initialize_seen and method not in (lsp.EXIT, None):
            return
        if request and method == lsp.INITIALIZE:
            if self._initialize_seen:
                self.refuse(number, INVALID_REQUEST, "the server is initialized already")
                return
            self._initialize_seen = True
        if request and self._shutdown:
            self.refuse(number, INVALID_REQUEST, "the server is shutting down")
            return
        if method is None:
            self._result_types.setdefault(cast(Any, number), None)
        try:
            structured = self.structure_message(message)
        except JsonRpcInvalidParams as error:
            self._malformed(number, request, f"wrong parameters: {error.message}")
            return
        except Exception as error:
            self._malformed(number, request, f"wrong parameters: {type(error).__name__}")
            return
        try:
            self.handle_message(structured)
        except Exception:
            logger.exception("message %r of the client", method)

    def refuse(self, number: Any, code: int, text: str) -> None:
        """An error as the answer; `number` None where the request cannot be told."""
        self._send_data({"jsonrpc": self.VERSION, "id": number, "error": {"code": code, "message": text}})

    def _malformed(self, number: Any, request: bool, text: str) -> None:
        if request:
            self.refuse(number, INVALID_PARAMS, text)
        else:
            logger.warning("a message of the client was passed over: %s", text)

    def _handle_response(self, msg_id: Any, result: Any | None = None, error: Any | None = None) -> None:
        self._result_types.pop(msg_id, None)
        future = self._request_futures.get(msg_id)
        if future is None or future.done():  # called off since
            self._request_futures.pop(msg_id, None)
            return
        super()._handle_response(msg_id, result, error)

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        if msg_id in self._request_futures:
            super()._handle_cancel_notification(msg_id)

    @lsp_method(lsp.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> None:  # type: ignore[override]
        own = self.msg_id
        for number, future in list(self._request_futures.items()):
            if number != own and not future.done():
                future.cancel()
        self._shutdown = True

    @lsp_method(lsp.EXIT)
    def lsp_exit(self, *args: Any) -> None:  # type: ignore[override]
        self.on(lsp.EXIT, self._shutdown)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        self.on(lsp.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        self.on(lsp.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        self.on(lsp.TEXT_DOCUMENT_DID_CLOSE, params)

    @lsp_method(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: lsp.DidOpenNotebookDocumentParams) -> None:
        self.on(lsp.NOTEBOOK_DOCUMENT_DID_OPEN, params)

    @lsp_method(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: lsp.DidChangeNotebookDocumentParams) -> None:
        self.on(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE, params)

    @lsp_method(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: lsp.DidCloseNotebookDocumentParams) -> None:
        self.on(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE, params)
