"""The hook as pre-commit installs and runs it, in a real repository."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests import cache
from tests.cli.test_check import CLEAN, DUPLICATE
from tests.cli.test_known import commit, git
from tests.schemas import PRE_COMMIT_HOOKS, validate

ROOT = Path(__file__).resolve().parents[2]


def test_the_hook_file_is_valid() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    validate(hooks, PRE_COMMIT_HOOKS)


@dataclass(frozen=True, slots=True)
class Project:
    folder: Path
    home: Path

    def hook(self, *files: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "tritonlint", "--files", *files],
            cwd=self.folder,
            env={
                **os.environ,
                "PRE_COMMIT_HOME": str(self.home),
                "PYTHONPATH": "",
                "PRE_COMMIT_COLOR": "never",
            },
            capture_output=True,
            text=True,
        )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    if importlib.util.find_spec("pre_commit") is None:
        cache.missing("pre-commit")
    if not cache.may_fetch():
        cache.missing("what the hook's environment is installed from")
    cache.program("git")
    folder = tmp_path_factory.mktemp("project")
    (folder / "duplicate.py").write_text(DUPLICATE, encoding="utf-8")
    (folder / "clean.py").write_text(CLEAN, encoding="utf-8")
    (folder / "third_party").mkdir()
    (folder / "third_party" / "copied.py").write_text(DUPLICATE, encoding="utf-8")
    (folder / "tritonlint.toml").write_text('exclude = ["third_party/"]\n', encoding="utf-8")
    git(folder, "init", "-q")
    commit(folder)
    home = tmp_path_factory.mktemp("home")
    yield Project(folder, home)
    shutil.rmtree(home, ignore_errors=True)


def test_a_finding_stops_the_commit(project: Project) -> None:
    done = project.hook("duplicate.py", "clean.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "TL305" in done.stdout and "2 files read, 1 with Triton" in done.stdout


def test_files_without_findings_pass(project: Project) -> None:
    done = project.hook("clean.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_excludes_hold_for_the_files_that_pre_commit_names(project: Project) -> None:
    done = project.hook("third_party/copied.py")
    assert done.returncode == 0, done.stdout + done.stderr
