"""Answers that are no answers, with the codes of the protocol."""

from __future__ import annotations

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException


class ServerCancelled(JsonRpcException):
    """The document changed while its diagnostics were made; the client is to ask again."""

    CODE = int(lsp.LSPErrorCodes.ServerCancelled)
    MESSAGE = "the document changed"


class ContentModified(JsonRpcException):
    """The document changed while the answer was made."""

    CODE = int(lsp.LSPErrorCodes.ContentModified)
    MESSAGE = "the document changed"
