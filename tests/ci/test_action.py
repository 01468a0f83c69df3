"""The GitHub Action and the snippets of docs/ci.md: valid by the hosts' schemas, and the step's script run as a runner
does it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.running import tritonlint
from tests.cli.test_check import CLEAN, DUPLICATE
from tests.cli.test_known import commit, git
from tests.schemas import ACTION, GITLAB, SARIF, validate

ROOT = Path(__file__).resolve().parents[2]


def test_the_action_is_valid() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    validate(action, ACTION)


def test_inputs_never_become_text_of_a_script() -> None:
    """What an input holds is not run: `${{ inputs... }}` stands in `env` and `with`, never in `run`."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert not [step for step in action["runs"]["steps"] if "${{" in step.get("run", "")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "duplicate.py").write_text(DUPLICATE, encoding="utf-8")
    (tmp_path / "clean.py").write_text(CLEAN, encoding="utf-8")
    runner = tmp_path / "tritonlint"
    runner.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tritonlint "$@"\n', encoding="utf-8")
    runner.chmod(0o755)
    return tmp_path


def lint_step(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """(exit status, standard output, what was written for the outputs of the step)."""
    outputs = folder / "outputs.txt"
    done = subprocess.run(
        ["bash", str(ROOT / ".github" / "lint.sh")],
        cwd=folder,
        env={**os.environ, "TRITONLINT": str(folder / "tritonlint"), "GITHUB_OUTPUT": str(outputs),
             "SARIF": "report.sarif", **inputs},
        capture_output=True,
        text=True,
    )  # fmt: skip
    return done.returncode, done.stdout, outputs.read_text(encoding="utf-8")


def test_findings_become_annotations_and_sarif(folder: Path) -> None:
    status, out, outputs = lint_step(folder, PATHS="duplicate.py clean.py", GPUS="h100 rtx4090")
    assert status == 1 and outputs == "status=1\n"
    assert out.startswith("::warning file=duplicate.py,line=")
    log = json.loads((folder / "report.sarif").read_text(encoding="utf-8"))
    validate(log, SARIF)
    assert log["runs"][0]["properties"]["targets"] == ["h100", "rtx4090"]


def test_nothing_found_and_wrong_arguments(folder: Path) -> None:
    assert lint_step(folder, PATHS="clean.py")[0] == 0
    (folder / "outputs.txt").unlink()
    assert lint_step(folder, PATHS="clean.py", GPUS="h10")[::2] == (2, "status=2\n")


def test_since_is_passed_on(folder: Path) -> None:
    git(folder, "init", "-q")
    commit(folder)
    assert lint_step(folder, SINCE="HEAD")[0] == 0


def test_annotations_come_by_setting_where_github_runs_it(folder: Path) -> None:
    (folder / "tritonlint.toml").write_text("github-annotations = true\n", encoding="utf-8")
    there = tritonlint("duplicate.py", "--output-format", "json", cwd=folder, env={"GITHUB_ACTIONS": "true"})
    assert there.err.startswith("::warning file=duplicate.py,line=") and there.codes == ["TL305"]
    assert "::warning" not in tritonlint("duplicate.py", cwd=folder, env={"GITHUB_ACTIONS": ""}).err


def snippets(language: str) -> list[Any]:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    return [yaml.safe_load(found) for found in re.findall(rf"```{language}\n(.*?)```", text, re.S)]


def test_the_snippets_of_the_documentation_are_valid() -> None:
    hook, github, gitlab = snippets("yaml")
    assert hook["repos"][0]["hooks"][0]["id"] == "tritonlint"
    validate(gitlab, GITLAB)
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (_, step) = github["jobs"]["tritonlint"]["steps"]
    assert set(step["with"]) <= set(action["inputs"])
