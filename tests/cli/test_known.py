"""Baselines and --since, on real files and real git repositories."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tritonlint_rules.support import samples

from tests.cli.running import tritonlint
from tests.cli.test_check import BROKEN, DUPLICATE

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(DUPLICATE, encoding="utf-8")
    return tmp_path


def test_a_baseline_holds_back_what_is_known_and_moved(folder: Path) -> None:
    written = tritonlint(".", "--write-baseline", "known.json", cwd=folder)
    assert written.status == 0 and "1 finding written to known.json" in written.err
    (folder / "a.py").write_text("# moved\n\n" + DUPLICATE, encoding="utf-8")
    (folder / "b.py").write_text(BROKEN, encoding="utf-8")
    done = tritonlint(".", "--baseline", "known.json", "--output-format", "concise", cwd=folder)
    assert done.status == 1
    assert "TL901" in done.out and "TL305" not in done.out
    assert "1 finding known from known.json." in done.out


def test_stale_entries_are_named_and_taken_out_but_not_in_ci(folder: Path) -> None:
    (folder / "tritonlint.toml").write_text('baseline = "known.json"\n', encoding="utf-8")
    tritonlint(".", "--write-baseline", "known.json", cwd=folder)
    (folder / "a.py").write_text("import triton\n", encoding="utf-8")
    in_ci = tritonlint(".", cwd=folder, env={"CI": "true"})
    assert "No longer there, of " in in_ci.out and "TL305 a.py in scale" in in_ci.out
    assert json.loads((folder / "known.json").read_text(encoding="utf-8"))["findings"]
    at_home = tritonlint(".", cwd=folder)
    assert "1 stale finding taken out" in at_home.out
    assert json.loads((folder / "known.json").read_text(encoding="utf-8"))["findings"] == []


@pytest.mark.parametrize(
    "narrow", [["--severity", "error"], ["--certainty", "proven"], ["--isolated"], ["--select", "TL1"]]
)
def test_a_run_that_sees_less_takes_nothing_out(folder: Path, narrow: list[str]) -> None:
    tritonlint(".", "--write-baseline", "known.json", cwd=folder)
    before = (folder / "known.json").read_bytes()
    done = tritonlint(".", "--baseline", "known.json", *narrow, cwd=folder)
    assert "taken out" not in done.out
    assert (folder / "known.json").read_bytes() == before


@pytest.mark.parametrize(
    "arguments", [["check", "a.py", "--output-file"], ["check", "a.py", "--write-baseline"],
                  ["matrix", "a.py", "--output-file"]],
)  # fmt: skip
def test_source_code_is_not_overwritten(folder: Path, arguments: list[str]) -> None:
    done = tritonlint(*arguments, "a.py", cwd=folder)
    assert done.status == 2 and done.err.count("\n") == 1 and "a.py" in done.err
    assert (folder / "a.py").read_text(encoding="utf-8") == DUPLICATE


def test_an_incomplete_run_writes_no_baseline(folder: Path) -> None:
    (folder / "known.json").write_text("keep me", encoding="utf-8")
    done = tritonlint(".", "none.py", "--write-baseline", "known.json", cwd=folder)
    assert done.status == 2 and "the run is not complete" in done.err
    assert (folder / "known.json").read_text(encoding="utf-8") == "keep me"


@needs_git
def test_since_shows_only_what_a_change_brings(folder: Path) -> None:
    git(folder, "init", "-q")
    commit(folder)
    unchanged = tritonlint(".", "--since", "HEAD", cwd=folder)
    assert unchanged.status == 0
    (folder / "b.py").write_text(DUPLICATE.replace("scale", "other"), encoding="utf-8")
    (folder / "a.py").write_text("import os\n" + DUPLICATE, encoding="utf-8")
    done = tritonlint(".", "--since", "HEAD", "--output-format", "json", cwd=folder)
    assert [(one["code"], one["path"]) for one in done.json["findings"]] == [("TL305", "./b.py")]


@needs_git
def test_since_counts_what_became_infeasible(folder: Path) -> None:
    launch = (folder / "a.py").read_text(encoding="utf-8").replace("num_warps=4", "num_warps=8")
    (folder / "a.py").write_text(launch, encoding="utf-8")
    git(folder, "init", "-q")
    commit(folder)
    (folder / "a.py").write_text(launch.replace("512}, num_warps=8", "512}, num_warps=64"), encoding="utf-8")
    done = tritonlint(".", "--since", "HEAD", "--gpu", "sm_86", "--gpu", "l4", cwd=folder)
    assert "This change makes 1 config infeasible on l4." in done.out
    assert "This change makes 1 config infeasible on sm_86." in done.out


@needs_git
def test_since_says_which_lists_lost_their_last_config(folder: Path) -> None:
    """What is said of the list is no finding of its configs, and the summary does not deny it."""
    (folder / "a.py").write_text(samples.tuned_scale([samples.block(256)]), encoding="utf-8")
    git(folder, "init", "-q")
    commit(folder)
    unfit = samples.tuned_scale([samples.block(256, "num_warps=64")])
    (folder / "a.py").write_text(unfit, encoding="utf-8")
    done = tritonlint(".", "--since", "HEAD", "--gpu", "l4", "--select", "TL104", cwd=folder)
    assert "TL104" in done.out
    assert "This change leaves 1 list without a config that fits l4." in done.out
    assert "No config became infeasible" not in done.out


@needs_git
def test_an_unknown_reference_is_one_line(folder: Path) -> None:
    git(folder, "init", "-q")
    commit(folder)
    done = tritonlint(".", "--since", "no-such", cwd=folder)
    assert done.status == 2 and "git does not know 'no-such'" in done.err
    assert done.err.count("\n") == 1
