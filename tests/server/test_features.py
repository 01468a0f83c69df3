"""What stands beside the findings, and what a finding carries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import PULL, PUSH, Client
from tests.server.samples import EMOJI, GEMM, WARPS


@pytest.fixture
def client() -> Iterator[Client]:
    with Client() as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tritonlint.toml").write_text('gpus = ["rtx4090", "h100"]\ntriton = "3.9"\n')
    return tmp_path


def place(text: str, words: str) -> dict[str, int]:
    """The first place of some words."""
    at = text.index(words)
    return {"line": text.count("\n", 0, at), "character": at - (text.rfind("\n", 0, at) + 1)}


def hover(client: Client, uri: str, text: str, words: str) -> str:
    params = {"textDocument": {"uri": uri}, "position": place(text, words)}
    value: str = client.call("textDocument/hover", params)["result"]["contents"]["value"]
    return value


def labels(client: Client, uri: str, position: dict[str, int]) -> list[str]:
    answer = client.call("textDocument/completion", {"textDocument": {"uri": uri}, "position": position})
    return [item["label"] for item in answer["result"]]


def test_hover_on_a_config(client: Client, folder: Path) -> None:
    """A row a GPU with the limiter, why it is refused, and where each byte comes from."""
    uri = (folder / "a.py").as_uri()
    client.initialize(root=folder)
    client.open(uri, GEMM)
    shown = hover(client, uri, GEMM, 'BLOCK_M": 128')
    assert "| ~~rtx4090~~ | " in shown and "| h100 | " in shown
    assert "rtx4090: does not fit: " in shown
    assert "Shared memory" in shown and " B: " in shown and ", line " in shown
    assert shown.endswith("*Triton 3.9*")


def test_hover_on_a_launch_says_waves(client: Client, folder: Path) -> None:
    """Its grid is known there."""
    text = (
        GEMM
        + "\n\ndef run(a, b, c):\n    matmul.fn[(64, 64)](a, b, c, 4096, 4096, 4096, 4096, 4096, 4096, 64, 64, 32)\n"
    )
    uri = (folder / "a.py").as_uri()
    client.initialize(root=folder)
    client.open(uri, text)
    shown = hover(client, uri, text, "(64, 64)](a")
    assert shown.startswith("**matmul**") and "waves" in shown


def test_hover_on_a_meta_parameter_and_a_suppression(client: Client, folder: Path) -> None:
    """The values that reach the one, the rule's page for the other."""
    text = WARPS + "x = 1  # tritonlint: ignore[TL101, TL204] why\n"
    uri = (folder / "a.py").as_uri()
    client.initialize(root=folder)
    client.open(uri, text)
    assert hover(client, uri, text, "BLOCK: tl") == "**BLOCK**, a meta-parameter of `scale`: 128, 256"
    assert "num-warps-not-power-of-two" in hover(client, uri, text, "TL204]")
    assert "num-warps-not-power-of-two" not in hover(client, uri, text, "TL101,")


def test_what_a_diagnostic_carries(client: Client, folder: Path) -> None:
    """Code, help link, data for the actions; the argument at fault as its range."""
    uri = (folder / "a.py").as_uri()
    client.initialize(root=folder)
    client.open(uri, WARPS)
    (item,) = [item for item in client.pull(uri)["items"] if item["code"] == "TL204"]
    assert "TL204" in item["codeDescription"]["href"] and item["source"] == "tritonlint"
    assert item["data"]["name"] == "num-warps-not-power-of-two"
    assert item["data"]["fixes"] == [{"title": "num_warps=2", "safe": False}]
    start, end = item["range"]["start"], item["range"]["end"]
    covered = WARPS.splitlines()[start["line"]][start["character"] : end["character"]]
    assert start["line"] == end["line"] and covered == "num_warps=3"


def test_a_dead_config_is_unnecessary_and_names_the_other(client: Client, folder: Path) -> None:
    """It has a tag, and the config that it repeats as related information."""
    config = '        triton.Config({"BLOCK": 128}, num_warps=4),\n'
    text = WARPS.replace(config, config * 2).replace("num_warps=3", "num_warps=8")
    uri = (folder / "a.py").as_uri()
    client.initialize(root=folder)
    client.open(uri, text)
    (item,) = [item for item in client.pull(uri)["items"] if item["code"] == "TL305"]
    assert item["tags"] == [1]
    (related,) = item["relatedInformation"]
    assert related["location"]["uri"] == uri
    assert related["location"]["range"]["start"]["line"] == item["range"]["start"]["line"] - 1


def test_a_client_without_abilities_gets_nothing_for_them(client: Client, folder: Path) -> None:
    """What was not declared is not sent."""
    config = '        triton.Config({"BLOCK": 128}, num_warps=4),\n'
    client.initialize({"textDocument": {"publishDiagnostics": {}}}, root=folder)
    client.open((folder / "a.py").as_uri(), WARPS.replace(config, config * 2))
    items = client.notification("textDocument/publishDiagnostics")["diagnostics"]
    assert items
    assert not [
        item
        for item in items
        for key in ("tags", "relatedInformation", "codeDescription", "data")
        if key in item
    ]


def test_completion(client: Client, folder: Path) -> None:
    """Meta-parameters in a config, GPUs and rules in comments, GPUs in settings."""
    uri, settings = (folder / "a.py").as_uri(), (folder / "tritonlint.toml").as_uri()
    text = (
        GEMM.replace('{"BLOCK_M": 64, ', '{"", ') + "# tritonlint: ignore[TL]\n# tritonlint: assume gpu=h\n"
    )
    client.initialize(root=folder)
    client.open(uri, text)
    assert labels(client, uri, place(text, '", "BLOCK_N": 64')) == ["BLOCK_M", "BLOCK_N", "BLOCK_K"]
    at = place(text, "TL]")
    assert "TL101" in labels(client, uri, {**at, "character": at["character"] + 2})
    at = place(text, "gpu=h")
    assert "h100" in labels(client, uri, {**at, "character": at["character"] + 5})
    client.open(settings, 'gpus = [""]\nselect = [""]\n', "toml")
    assert {"h100", "mi300x"} <= set(labels(client, settings, {"line": 0, "character": 9}))
    assert "TL101" in labels(client, settings, {"line": 1, "character": 11})


def test_the_report_of_a_file(client: Client, folder: Path) -> None:
    """Each config against each GPU, also with a text that nobody saved."""
    uri = (folder / "a.py").as_uri()
    client.initialize(root=folder)
    client.open(uri, GEMM)
    asked = {"command": "tritonlint.report", "arguments": [uri]}
    shown = client.call("workspace/executeCommand", asked)["result"]
    assert "| line | config | rtx4090 | h100 |" in shown and "BLOCK_M=128" in shown


@pytest.mark.parametrize("method", ["workspace/didDeleteFiles", "workspace/didRenameFiles"])
@pytest.mark.parametrize("whole_folder", [False, True])
def test_cleared_on_delete_and_rename(client: Client, folder: Path, method: str, whole_folder: bool) -> None:
    """Also when it is the folder that goes."""
    uri = (folder / "pkg" / "a.py").as_uri()
    client.initialize(PUSH, root=folder)
    client.open(uri, WARPS)
    assert client.notification("textDocument/publishDiagnostics")["diagnostics"]
    old = uri.rpartition("/")[0] if whole_folder else uri
    gone = {"oldUri": old, "newUri": old + "2"} if "Rename" in method else {"uri": old}
    client.notify(method, {"files": [gone]})
    assert client.notification("textDocument/publishDiagnostics") == {"uri": uri, "diagnostics": []}


@pytest.mark.parametrize("encoding, unit", [("utf-8", 1), ("utf-16", 2), ("utf-32", 4)])
def test_the_encoding_that_the_client_prefers(client: Client, folder: Path, encoding: str, unit: int) -> None:
    """Columns behind an emoji, in hover ranges and findings."""
    uri = (folder / "a.py").as_uri()
    capabilities: dict[str, Any] = {**PULL, "general": {"positionEncodings": [encoding, "utf-16"]}}
    result = client.initialize(capabilities, root=folder)
    assert result["capabilities"]["positionEncoding"] == encoding
    client.open(uri, EMOJI)
    (item,) = [item for item in client.pull(uri)["items"] if item["code"] == "TL204"]
    line = EMOJI.splitlines()[item["range"]["start"]["line"]].encode(encoding + ("-le" if unit > 1 else ""))
    found = line[item["range"]["start"]["character"] * unit : item["range"]["end"]["character"] * unit]
    assert found.decode(encoding + ("-le" if unit > 1 else "")) == "num_warps=3"


def test_fix_all_and_other_gpus(client: Client, folder: Path) -> None:
    """All safe fixes under the kind that is asked for on saving; another GPU by a command, which goes before the
    settings; nothing for kinds that are none of ours."""
    uri = (folder / "a.py").as_uri()
    client.initialize(root=folder, tritonlint={"gpus": ["rtx4090"], "triton": "3.9"})
    client.open(uri, GEMM)
    (item,) = [item for item in client.pull(uri)["items"] if item["code"] == "TL101"]

    def actions(*only: str) -> list[dict[str, Any]]:
        context = {"diagnostics": [], **({"only": list(only)} if only else {})}
        params = {"textDocument": {"uri": uri}, "range": item["range"], "context": context}
        found: list[dict[str, Any]] = client.call("textDocument/codeAction", params)["result"] or []
        return found

    for kind in ("source.fixAll", "source.fixAll.tritonlint"):
        (fix,) = actions(kind)
        assert fix["kind"] == "source.fixAll.tritonlint" and len(fix["edit"]["changes"][uri]) == 1
    assert not actions("refactor") and not actions("source.organizeImports")
    other = {action["title"]: action["command"] for action in actions() if "GPU" in action["title"]}
    chosen = other["Show on GPU h100"]
    client.call("workspace/executeCommand", {"command": chosen["command"], "arguments": chosen["arguments"]})
    assert "TL101" not in client.codes(uri)
    assert other["Show on another GPU ..."]["command"] == "tritonlint.chooseTarget"


def test_lens_and_hints_are_switched_while_running(client: Client, folder: Path) -> None:
    """A client that sends its settings has them hold at once, and back again."""
    uri = (folder / "a.py").as_uri()
    client.initialize(root=folder)
    client.open(uri, WARPS)
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    document = {"textDocument": {"uri": uri}}
    for on in (True, False, True):
        settings = {"tritonlint": {"codeLens": {"enable": on}, "inlayHints": {"enable": on}}}
        client.notify("workspace/didChangeConfiguration", {"settings": settings})
        assert bool(client.call("textDocument/codeLens", document)["result"]) == on
        assert bool(client.call("textDocument/inlayHint", {**document, "range": whole})["result"]) == on
