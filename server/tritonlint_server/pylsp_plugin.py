"""tritonlint inside python-lsp-server, for editors that have one server a buffer (Emacs's eglot).

Findings only, with their fixes as code actions. Columns are UTF-16 units, as the editors take those of
python-lsp-server.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from lsprotocol import types as lsp
from pylsp import hookimpl  # type: ignore[import-not-found]  # there where this module is loaded

from tritonlint_server import configuration
from tritonlint_server.actions import Actions
from tritonlint_server.analysis import Analyser
from tritonlint_server.analysis_record import Analysis, Request
from tritonlint_server.buffer import Buffer
from tritonlint_server.diagnostics import Abilities, of_unit
from tritonlint_server.documents import Document, Documents, Unit
from tritonlint_server.places import Places
from tritonlint_server.uris import key_of
from tritonlint_server.watch import signature

_ANALYSER = Analyser()
_CAN = Abilities(related=True, tags=True, link=True, data=True)
_KEPT: dict[str, tuple[Any, Analysis]] = {}  # path -> (state, analysis): lints and actions ask alike


@hookimpl  # type: ignore[untyped-decorator]
def pylsp_settings() -> dict[str, Any]:
    """The defaults of `pylsp.plugins.tritonlint`; the keys are those of the server's own section."""
    return {"plugins": {"tritonlint": {"enabled": True, "gpus": [], "triton": None, "lint": {}}}}


@hookimpl  # type: ignore[untyped-decorator]
def pylsp_lint(config: Any, workspace: Any, document: Any) -> list[dict[str, Any]]:
    """The findings of a document."""
    found = _analysed(config, document)
    if found is None:
        return []
    unit, documents, analysis = found
    items = of_unit(unit, analysis, Places(documents, "utf-16"), _CAN)[key_of(unit.uri)]
    return [_plain(item) for item in items]


@hookimpl  # type: ignore[untyped-decorator]
def pylsp_code_actions(
    config: Any, workspace: Any, document: Any, range: dict[str, Any], context: dict[str, Any]
) -> list[dict[str, Any]]:
    """Fixes and suppressions; no commands, which python-lsp-server would not know."""
    found = _analysed(config, document)
    if found is None:
        return []
    unit, documents, analysis = found
    start, end = range["start"], range["end"]
    asked = lsp.CodeActionParams(
        lsp.TextDocumentIdentifier(unit.uri),
        lsp.Range(
            lsp.Position(start["line"], start["character"]), lsp.Position(end["line"], end["character"])
        ),
        lsp.CodeActionContext([]),
    )
    places = Places(documents, "utf-16")
    actions = Actions(unit, unit.documents[0], analysis, places, versioned=False).all(asked, suppress=True)
    return [_plain(action) for action in actions if action.edit is not None]


def _analysed(config: Any, document: Any) -> tuple[Unit, Documents, Analysis] | None:
    """The document as a unit with its analysis; None where it says nothing of Triton."""
    if "triton" not in document.source:
        return None
    documents = Documents()
    unit = documents.open(Document(document.uri, "python", document.version, Buffer(document.source)))
    own = configuration.read(config.plugin_settings("tritonlint", document_path=document.path))
    settings = signature(unit.path)
    state = (document.source, settings, own)
    kept = _KEPT.get(unit.path)
    if kept is None or kept[0] != state:
        request = Request(
            unit.path, document.source, settings, own.gpus or None, own.triton, own.overrides, own.certainty
        )
        if len(_KEPT) > 50:
            _KEPT.clear()
        kept = _KEPT[unit.path] = (state, _ANALYSER.run(request, lambda: False))
    return unit, documents, kept[1]


def _plain(item: Any) -> Any:
    """As JSON, without what is not set."""
    return _converter().unstructure(item)


@lru_cache(maxsize=1)
def _converter() -> Any:
    from pygls import protocol

    make: Any = protocol.default_converter
    return make()
