"""The server under the profiles of real clients: what each can do, and the position encoding that each wants."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from tests.server.samples import EMOJI, WARPS


@pytest_lsp.fixture(
    params=["neovim", "emacs", "visual-studio-code"],
    config=ClientServerConfig(server_command=[sys.executable, "-m", "tritonlint", "server"]),
)
async def client(request: pytest.FixtureRequest, lsp_client: LanguageClient, tmp_path: Path) -> Any:
    (tmp_path / "tritonlint.toml").write_text(
        'gpus = ["rtx4090"]\ntriton = "3.9"\nignore = ["TL5", "TL902"]\n'
    )
    folder = lsp.WorkspaceFolder(uri=tmp_path.as_uri(), name="project")
    parameters = lsp.InitializeParams(
        capabilities=client_capabilities(request.param), workspace_folders=[folder]
    )

    @lsp_client.feature(lsp.CLIENT_REGISTER_CAPABILITY)
    def registered(parameters: lsp.RegistrationParams) -> None:
        """Watched files, where the client can watch."""

    result = await lsp_client.initialize_session(parameters)
    encoding = result.capabilities.position_encoding or "utf-16"
    lsp_client.encoding = str(getattr(encoding, "value", encoding))
    lsp_client.folder = tmp_path
    lsp_client.pulls = bool(client_capabilities(request.param).text_document.diagnostic)
    yield
    await lsp_client.shutdown_session()


def opened(client: Any, name: str, text: str) -> str:
    uri: str = (client.folder / name).as_uri()
    (client.folder / name).write_text(text, encoding="utf-8")
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "python", 1, text)))
    return uri


async def diagnostics(client: Any, uri: str) -> list[lsp.Diagnostic]:
    """As the client gets them: it asks, or it is told."""
    if not client.pulls:
        for _ in range(600):
            if uri in client.diagnostics:
                return list(client.diagnostics[uri])
            await asyncio.sleep(0.1)
        raise TimeoutError
    asked = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
    report = await client.text_document_diagnostic_async(asked)
    return list(report.items)


@pytest.mark.asyncio
async def test_columns_behind_an_emoji(client: Any) -> None:
    """The finding starts where the client counts it, whatever it counts in."""
    found = await diagnostics(client, opened(client, "a.py", EMOJI))
    (warps,) = [item for item in found if item.code == "TL204"]
    line = EMOJI.splitlines()[warps.range.start.line]
    starts = [
        units(line[: line.index(text)], client.encoding) for text in ("triton.Config", "num_warps", "3)")
    ]
    assert warps.range.start.character in starts
    ends = [units(line[: line.index(text) + len(text)], client.encoding) for text in ("num_warps=3", "3)")]
    assert warps.range.end.character in ends


def units(text: str, encoding: str) -> int:
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return len(text.encode(f"{encoding}-le" if size > 1 else encoding)) // size


@pytest.mark.asyncio
async def test_a_fix_is_offered_and_a_reason_asked_for(client: Any) -> None:
    """The quick fixes of a finding come first, hiding it comes last."""
    uri = opened(client, "a.py", WARPS)
    found = await diagnostics(client, uri)
    (warps,) = [item for item in found if item.code == "TL204"]
    context = lsp.CodeActionContext([warps])
    asked = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), warps.range, context)
    actions = await client.text_document_code_action_async(asked)
    assert actions[-1].title == "Ignore TL204 on this line"
    assert not actions[-1].is_preferred
    first = actions[0]
    assert list(first.diagnostics or ()) == [warps]
    assert "num_warps" in first.title and first.edit is not None


@pytest.mark.asyncio
async def test_hover_completion_and_lens(client: Any) -> None:
    """What stands beside the findings is there for every client."""
    uri = opened(client, "a.py", WARPS + "x = 1  # tritonlint: ignore[TL204]\n")
    document = lsp.TextDocumentIdentifier(uri)
    line = len(WARPS.splitlines())
    hover = await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(line, 32)))
    assert "num-warps-not-power-of-two" in hover.contents.value
    items = await client.text_document_completion_async(
        lsp.CompletionParams(document, lsp.Position(line, 30))
    )
    assert "TL101" in [item.label for item in items]
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(document))
    assert lenses[0].command.title.startswith("2 configs")
