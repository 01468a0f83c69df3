"""Which files are read, for a list of paths."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonlint.discovery import Discovery, discover, matches
from tritonlint.settings import Resolver


def make(root: Path, *names: str, text: str = "import triton\n") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(root: Path, *paths: str) -> Discovery:
    return discover([str(root / path) for path in paths] or [str(root)], Resolver())


def names(result: Discovery, root: Path) -> list[str]:
    return [Path(path).relative_to(root).as_posix() for path in result.files]


def test_files_of_folders_come_sorted_and_once(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a/y.pyi", "n.ipynb", "t.json", "c.txt", "a/d.cu")
    result = found(tmp_path, "a", "", "b.py")
    assert names(result, tmp_path) == ["a/y.pyi", "a/z.py", "b.py", "n.ipynb", "t.json"]


def test_a_named_file_is_read_whatever_its_suffix(tmp_path: Path) -> None:
    make(tmp_path, "kernel.txt")
    assert names(found(tmp_path, "kernel.txt"), tmp_path) == ["kernel.txt"]


def test_gitignore_holds_for_named_paths_too(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "build/b.py", "c.py", "sub/c.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("build/\n/c.py\n", encoding="utf-8")
    assert names(found(tmp_path), tmp_path) == ["a.py", "sub/c.py"]
    named = found(tmp_path, "build/b.py", "c.py", "sub/c.py")
    assert names(named, tmp_path) == ["sub/c.py"]
    assert {entry.reason for entry in named.skipped} == {"ignored by .gitignore"}


def test_the_deepest_gitignore_decides(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "sub/a.py", "sub/b.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("a.py\n", encoding="utf-8")
    (tmp_path / "sub" / ".gitignore").write_text("!a.py\nb.py\n", encoding="utf-8")
    assert names(found(tmp_path), tmp_path) == ["sub/a.py"]


def test_a_gitignore_outside_of_a_repository_is_not_one(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    (tmp_path / ".gitignore").write_text("a.py\n", encoding="utf-8")
    assert names(found(tmp_path), tmp_path) == ["a.py"]


def test_a_bad_pattern_spoils_only_itself(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("!\n\nb.py\n", encoding="utf-8")
    assert names(found(tmp_path), tmp_path) == ["a.py"]


def test_excludes_count_from_the_settings_file(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "old/a.py", "deep/old/b.py", "deep/gen_x.py")
    (tmp_path / "tritonlint.toml").write_text('exclude = ["/old/", "gen_*.py"]\n', encoding="utf-8")
    assert names(found(tmp_path), tmp_path) == ["a.py", "deep/old/b.py"]
    named = found(tmp_path, "old/a.py", "deep/gen_x.py")
    assert named.files == []
    assert {entry.reason for entry in named.skipped} == {"excluded by settings"}


def test_environments_and_tool_folders_are_not_walked(tmp_path: Path) -> None:
    make(tmp_path, "a.py", ".venv/lib/x.py", "env/lib/y.py", "node_modules/z.py", "__pycache__/w.py")
    (tmp_path / "env" / "pyvenv.cfg").write_text("", encoding="utf-8")
    assert names(found(tmp_path), tmp_path) == ["a.py"]


def test_loops_of_links_end(tmp_path: Path) -> None:
    make(tmp_path, "a/b/c.py", "other/d.py")
    os.symlink(tmp_path / "a", tmp_path / "a" / "b" / "up")
    os.symlink(tmp_path / "other", tmp_path / "a" / "out")
    os.symlink(tmp_path / "a", tmp_path / "other" / "back")
    result = found(tmp_path, "a")
    assert names(result, tmp_path) == ["a/b/c.py", "a/out/d.py"]


def test_what_is_not_there_is_a_problem_and_the_rest_goes_on(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    result = found(tmp_path, "none.py", "a.py")
    assert names(result, tmp_path) == ["a.py"]
    assert [entry.reason for entry in result.problems] == ["no such file or folder"]


def as_somebody_bound_by_permissions(work: Callable[[], list[str]]) -> list[str]:
    """What `work` returns where permissions bind: in a forked child that is nobody when we are root."""
    if os.geteuid() != 0:
        return work()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setuid(65534)
            os.write(writing, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    result: list[str] = json.loads(text)
    return result


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_folder_that_cannot_be_listed_is_a_problem() -> None:
    with tempfile.TemporaryDirectory() as name:  # tmp_path is closed to everybody but its owner
        root = Path(name)
        root.chmod(0o755)
        make(root, "a.py", "closed/b.py")
        (root / "closed").chmod(0)

        def work() -> list[str]:
            result = found(root)
            return [*names(result, root), *(entry.reason for entry in result.problems)]

        try:
            files_and_reasons = as_somebody_bound_by_permissions(work)
        finally:
            (root / "closed").chmod(0o755)
    assert files_and_reasons[0] == "a.py"
    assert len(files_and_reasons) == 2 and "cannot be listed" in files_and_reasons[1]


def test_patterns_are_those_of_gitignore() -> None:
    assert matches(("tests/*",), "tests/a.py")
    assert matches(("*.py",), "deep/down/a.py")
    assert not matches(("/a.py",), "deep/a.py")
    assert not matches(("old/",), "old")
    assert matches(("old/",), "old", is_dir=True)
