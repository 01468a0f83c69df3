"""Real VS Code with the packaged extension: what is seen there is what the command line says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.browser import chromium
from tests.editors.code_server import installed, run_suite, running
from tests.server.samples import EMOJI, GEMM, WARPS

pytestmark = pytest.mark.editor

SETTINGS = 'gpus = ["rtx4090"]\ntriton = "3.9"\n'
OWN_GPU = '[profiles.mine]\nbase = "rtx4090"\nmultiprocessors = 7\n'
SUITES = Path(__file__).resolve().parent / "vscode"
SEVERITIES = {"error": 0, "warning": 1, "info": 2}  # of vscode.DiagnosticSeverity


def fill(workspace: Path) -> None:
    workspace.mkdir()
    (workspace / "tritonlint.toml").write_text(SETTINGS + OWN_GPU)
    (workspace / "gemm.py").write_text(GEMM)
    (workspace / "warps.py").write_text(WARPS)
    (workspace / "emoji.py").write_text(EMOJI, encoding="utf-8")
    imports, kernel = WARPS.split("\n\n\n", 1)
    cells = [{"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
             for text in (imports, "%%time\nx = 1", kernel)]  # fmt: skip
    cells.insert(1, {"cell_type": "markdown", "metadata": {}, "source": "num_warps=3"})
    notebook = {
        "cells": cells,
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (workspace / "cells.ipynb").write_text(json.dumps(notebook))


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Everything that the suite saw, in one start of the editor."""
    place = installed()
    chromium()
    home = tmp_path_factory.mktemp("vscode")
    workspace, result = home / "work space", home / "seen.json"
    fill(workspace)
    environment = {"WORKSPACE": str(workspace), "RESULT": str(result)}
    with running(place, home, workspace, environment, {}) as address:
        found = run_suite(place, address, SUITES / "suite.js", result)
    assert "error" not in found, found["error"]
    found["workspace"] = workspace
    return found


def alone(
    suite: str, home: Path, settings: dict[str, Any], trusted: bool = True, more: dict[str, str] | None = None
) -> dict[str, Any]:
    """What a suite saw in a start of its own, in a folder with one kernel."""
    place = installed()
    chromium()
    workspace, result = home / "folder", home / "seen.json"
    workspace.mkdir()
    (workspace / "warps.py").write_text(WARPS)
    (workspace / ".vscode").mkdir()
    # What an untrusted folder would like to run.
    own = {"tritonlint.interpreter": "/bin/false", "tritonlint.path": "/bin/false"}
    (workspace / ".vscode" / "settings.json").write_text(json.dumps({} if trusted else own))
    environment = {"WORKSPACE": str(workspace), "RESULT": str(result), **(more or {})}
    with running(place, home, workspace, environment, settings, trusted) as address:
        found = run_suite(place, address, SUITES / suite, result)
    assert "error" not in found, found["error"]
    return found


def test_a_folder_that_is_not_trusted_chooses_no_program(tmp_path: Path) -> None:
    """Its settings name another interpreter; the user's own one runs, and findings are there."""
    seen = alone("untrusted.js", tmp_path, {}, trusted=False)
    assert seen["trusted"] is False
    assert seen["inspected"]["globalValue"] == sys.executable


def test_the_offer_to_install(tmp_path: Path) -> None:
    """An interpreter without tritonlint: the user is asked, pip runs, and the server starts."""
    programs = tmp_path / "programs"  # and none on the PATH has it either
    programs.mkdir()
    for name in ("python", "python3", "tritonlint"):
        program(programs / name, "exit 1")
    python, marker = tmp_path / "python", tmp_path / "installed"
    modules = os.environ.get("PYTHONPATH", "")
    program(python, NOT_INSTALLED.format(marker=marker, python=sys.executable, modules=modules))
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    more = {
        "PATH": path,
        "PYTHONPATH": "",
        "VSCODE_CLI": "1",
    }  # else VS Code asks the user's shell for a PATH
    seen = alone("install.js", tmp_path, {"tritonlint.interpreter": str(python)}, more=more)
    assert seen["installed"] and "Don't Ask Again" in seen["offer"][0]
    assert marker.read_text().split() == ["-m", "pip", "install", "--upgrade", "tritonlint"]


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


NOT_INSTALLED = """\
if [ "$2" = pip ]; then echo "$@" > "{marker}"; exit 0; fi
[ -e "{marker}" ] || exit 1
export PYTHONPATH="{modules}"
exec "{python}" "$@"
"""


def test_findings_are_those_of_the_command_line(seen: dict[str, Any]) -> None:
    """Code, text, range and severity; with a help link and the places that belong to it."""
    done = subprocess.run(
        [sys.executable, "-m", "tritonlint", "check", "gemm.py", "--output-format", "json", "--severity", "info"],
        cwd=seen["workspace"], capture_output=True, text=True,
    )  # fmt: skip
    expected = [
        (one["code"], one["message"], SEVERITIES[one["severity"]],
         [one["range"]["start"]["line"] - 1, one["range"]["start"]["column"] - 1,
          one["range"]["end"]["line"] - 1, one["range"]["end"]["column"] - 1])
        for one in json.loads(done.stdout)["findings"]
    ]  # fmt: skip
    found = [
        (one["code"], one["message"].split("\nhelp: ")[0], one["severity"], one["range"])
        for one in seen["gemm"]
    ]
    assert sorted(found) == sorted(expected)
    assert all(one["link"].startswith("command:tritonlint.showRule?") for one in seen["gemm"])
    assert any(one["related"] for one in seen["gemm"])


def test_hover_hints_and_lens(seen: dict[str, Any]) -> None:
    """The table of limits, the cost behind each config, the count over the list."""
    assert any("| GPU | shared memory |" in text and "rtx4090" in text for text in seen["hover"])
    assert any(re.search(r"\d CTAs?/SM", text) for text in seen["hints"])
    assert any(title and title.startswith("2 configs: 1 does not fit rtx4090") for title in seen["lenses"])


def test_a_fix_is_applied_and_the_finding_gone(seen: dict[str, Any]) -> None:
    """The preferred fix comes first, the comment that hides the finding last."""
    assert seen["fix"].startswith("num_stages=")
    assert "num_stages=4" not in seen["fixedLine"]
    titles = [title for title, _ in seen["actions"] if title.startswith(("num_stages", "Ignore TL101"))]
    assert titles[0].startswith("num_stages") and titles[-1] == "Ignore TL101 on this line"


def test_another_gpu(seen: dict[str, Any]) -> None:
    """What does not fit an RTX 4090 fits an H100."""
    assert "TL101" not in [one["code"] for one in seen["onH100"]]


def test_half_typed_code(seen: dict[str, Any]) -> None:
    """A syntax error that is not saved costs its own statement, and goes when it is repaired."""
    assert {"TL901", "TL204"} <= {one["code"] for one in seen["broken"]}


def test_an_emoji_and_a_notebook(seen: dict[str, Any]) -> None:
    """Columns behind an emoji are right; a finding stands in its cell."""
    assert seen["emoji"].startswith(("triton.Config", "num_warps", "3"))
    assert "TL204" in seen["cells"][3] and not seen["cells"][0] and not seen["cells"][1]


def test_settings_on_disk(seen: dict[str, Any]) -> None:
    """A change of the settings file is seen without touching the document."""
    assert seen["settings"]


def test_links_show_pages(seen: dict[str, Any]) -> None:
    """A rule's page and a file's report are shown rendered, not as Markdown text."""
    assert seen["page"].startswith("Preview TL101") and seen["report"].startswith("Preview gemm.py")


def test_the_gpus_to_pick_from(seen: dict[str, Any]) -> None:
    """The project's own one comes first; an action picks one as well, and the status bar follows."""
    assert seen["picker"][0].startswith("As the settings say")
    assert "mine" in seen["picker"][1] and "7 SMs" in seen["picker"][1]
    assert seen["targetByAction"]


def test_fix_all_by_hand_and_on_saving(seen: dict[str, Any]) -> None:
    assert seen["fixAll"] == ["Apply all safe fixes of tritonlint (1)"]


def test_switches_and_walkthrough(seen: dict[str, Any]) -> None:
    """Lens, hints and findings go and come with their settings; the walkthrough has its steps."""
    assert seen["switches"] == ["codeLens.enable", "inlayHints.enable", "enable"]
    text = " ".join(seen["walkthrough"])
    assert all(title in text for title in ("Install tritonlint", "Open a kernel", "Pick your GPU"))
