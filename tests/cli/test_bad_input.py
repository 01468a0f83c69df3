"""What is wrong outside the code: one clear line, exit status 2, and nothing overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import cache
from tests.cli.running import Done, tritonlint
from tests.cli.test_check import DUPLICATE
from tests.cli.test_known import commit, git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(DUPLICATE, encoding="utf-8")
    return tmp_path


def refused(done: Done, said: str) -> None:
    assert (done.status, done.out) == (2, ""), done.out + done.err
    assert said in done.err and done.err.count("\n") == 1, done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "is damaged: not JSON"),
        (b"\xff\xfe", "is damaged: not JSON"),
        (b"[]", "is no baseline of tritonlint"),
        (b'{"version": 9, "findings": []}', "version 9 is not known"),
        (b'{"version": 1, "findings": [{"code": "TL305"}]}', "is damaged: entry 1"),
        (
            b'{"version": 1, "findings": [{"code": "TL305", "path": "a.py", "count": 0}]}',
            "is damaged: entry 1",
        ),
    ],
)
def test_a_damaged_baseline_is_left_as_it_is(folder: Path, text: bytes, said: str) -> None:
    (folder / "known.json").write_bytes(text)
    refused(tritonlint("a.py", "--baseline", "known.json", cwd=folder), said)
    assert (folder / "known.json").read_bytes() == text


@pytest.mark.parametrize("command", ["check", "matrix"])
@pytest.mark.parametrize("target", ["no/such/folder/out.json", "taken"])
def test_an_output_that_cannot_be_written(folder: Path, command: str, target: str) -> None:
    (folder / "taken").mkdir()
    done = tritonlint(
        command, "a.py", "--gpu", "t4", "--output-format", "json", "--output-file", target, cwd=folder
    )
    refused(done, f"{target}: cannot be written")
    assert sorted(path.name for path in folder.iterdir()) == ["a.py", "taken"]
    assert not list((folder / "taken").iterdir())


def test_an_earlier_matrix_stays_where_there_is_nothing_to_write(folder: Path) -> None:
    (folder / "matrix.md").write_text("precious", encoding="utf-8")
    run = ["matrix", "none.py", "--output-format", "markdown", "--output-file", "matrix.md"]
    refused(tritonlint(*run, cwd=folder), "none.py: error: no such file or folder")
    assert (folder / "matrix.md").read_text(encoding="utf-8") == "precious"


def test_since_outside_a_repository(folder: Path) -> None:
    refused(tritonlint("a.py", "--since", "HEAD", cwd=folder), "not a git repository")


def test_since_without_git(folder: Path) -> None:
    refused(
        tritonlint("a.py", "--since", "HEAD", cwd=folder, env={"PATH": str(folder)}),
        "--since needs git, which is not installed",
    )


def test_since_in_a_shallow_clone(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache.program("git")
    git(folder, "init", "-q")
    commit(folder)
    (folder / "b.py").write_text("", encoding="utf-8")
    commit(folder)
    clone = tmp_path_factory.mktemp("clone")
    git(clone, "clone", "-q", "--depth", "1", folder.as_uri(), "shallow")
    done = tritonlint("a.py", "--since", "HEAD~1", cwd=clone / "shallow")
    refused(done, "git does not know 'HEAD~1' (in a shallow clone: fetch more of the history)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gpus = 3", "tritonlint.toml:1: gpus: expected a list of text, found a number"),
        ("triton = 3.9", 'triton: expected text, found a number; write "3.9" in quotes'),
        ("require-reasons = 'yes'", "require-reasons: expected true or false, found text"),
        ("per-file-ignores = ['TL1']", "per-file-ignores: expected a table"),
        ("[severity]\nTL101 = 'fatal'", ":2: severity.TL101: expected one of error, warning, info, off"),
        ("exclud = []", "exclud: unknown setting; did you mean exclude?"),
        ("required-version = '>=99'", "the project asks for >=99"),
        ("gpus = [", "is not TOML"),
    ],
)
@pytest.mark.parametrize(
    "command", [("check", "a.py"), ("matrix", "a.py"), ("estimate", "a.py::scale", "--gpu", "t4")]
)
def test_wrong_settings(folder: Path, command: tuple[str, ...], text: str, said: str) -> None:
    (folder / "tritonlint.toml").write_text(text + "\n", encoding="utf-8")
    refused(tritonlint(*command, cwd=folder), said)


@pytest.mark.parametrize("command", ["check", "matrix"])
def test_a_gpu_of_the_settings_that_is_not_known(folder: Path, command: str) -> None:
    (folder / "tritonlint.toml").write_text("gpus = ['h1000']\n", encoding="utf-8")
    refused(tritonlint(command, "a.py", cwd=folder), "tritonlint.toml:1: unknown GPU 'h1000'; near: h100")
