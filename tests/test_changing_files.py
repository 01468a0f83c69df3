"""Files that become something else between being found and being read: one line each, and the rest is linted."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import tritonlint
from tests.cli.test_check import DUPLICATE
from tests.test_discovery import as_somebody_bound_by_permissions
from tritonlint import lint_many
from tritonlint.cli import fixing
from tritonlint.disk import NoFileError, TooLargeError, read_regular
from tritonlint.lint import lint_source
from tritonlint.settings import Resolver, Settings

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes, links and permissions of POSIX")


def remove(path: Path) -> None:
    path.unlink()


def to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def to_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def to_lost_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("nowhere.py"))


def to_nothing(path: Path) -> None:
    path.write_bytes(b"")


def to_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: len(DUPLICATE) // 2])


def to_large(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(17 * 1024 * 1024)


BECOMES: dict[Callable[[Path], None], list[str]] = {
    remove: ["is no longer there"],
    to_folder: ["is no regular file"],
    to_pipe: ["is no regular file"],
    to_loop: ["cannot be read: Too many levels of symbolic links"],
    to_lost_link: ["a link that leads nowhere"],
    to_nothing: [],
    to_half: [],
    to_large: [],
}


@pytest.mark.parametrize("change", BECOMES, ids=lambda change: change.__name__)
def test_a_file_that_changes_before_it_is_read(
    change: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(DUPLICATE, encoding="utf-8")
    discover = lint_many.discover

    def found_and_changed(*given: object) -> object:
        result = discover(*given)  # type: ignore[arg-type]
        change(tmp_path / "a.py")
        return result

    monkeypatch.setattr(lint_many, "discover", found_and_changed)
    report = lint_many.lint_paths([str(tmp_path)], Resolver(), gpus=["h100"], triton="3.9", jobs=1)
    assert [problem.message for problem in report.problems] == BECOMES[change]
    assert report.internal_errors == 0 and not report.wrong_path
    assert "TL305" in {finding.code for finding in report.findings if Path(finding.path).name == "b.py"}


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    to_pipe_path = tmp_path / "pipe.py"
    os.mkfifo(to_pipe_path)
    for path in (to_pipe_path, tmp_path, Path("/dev/zero")):
        with pytest.raises(NoFileError):
            read_regular(path)
    result = lint_source(str(to_pipe_path), None, Settings())
    assert [problem.message for problem in result.problems] == ["cannot be read: it is no regular file"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_file_that_grows_while_it_is_read_is_not_read_for_ever() -> None:
    assert os.stat("/proc/self/status").st_size == 0  # and yet there is something to read
    with pytest.raises(TooLargeError):
        read_regular("/proc/self/status", limit=10)
    assert read_regular("/proc/self/status", limit=1_000_000).startswith(b"Name:")


def test_the_limit_counts_for_files_of_every_size(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 10)
    assert read_regular(tmp_path / "a", limit=10) == b"x" * 10
    with pytest.raises(TooLargeError):
        read_regular(tmp_path / "a", limit=9)


@pytest.mark.parametrize("command", ["check", "configs", "matrix"])
def test_a_pipe_in_the_tree_stops_no_command(command: str, tmp_path: Path) -> None:
    """Nor do ignore files, settings and imported modules that are one."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text("from helper import x\n" + DUPLICATE, encoding="utf-8")
    for name in ("pipe.py", "helper.py", ".gitignore", "uv.lock", "tritonlint.toml"):
        os.mkfifo(tmp_path / name)
    done = tritonlint(command, ".", cwd=tmp_path)
    assert done.status in (1, 2) and "scale" in done.out
    assert "pipe.py: error: " in done.err and "no regular file" in done.err


def test_a_file_that_may_no_longer_be_read() -> None:
    with tempfile.TemporaryDirectory() as name:  # tmp_path is closed to everybody but its owner
        root = Path(name)
        root.chmod(0o755)
        (root / "a.py").write_text(DUPLICATE, encoding="utf-8")
        (root / "a.py").chmod(0)

        def work() -> list[str]:
            report = lint_many.lint_paths([name], Resolver(), gpus=["h100"], triton="3.9", jobs=1)
            return [problem.message for problem in report.problems]

        assert as_somebody_bound_by_permissions(work) == ["cannot be read: Permission denied"]


def test_a_file_that_changes_before_a_fix_is_written_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.py"
    path.write_text(DUPLICATE, encoding="utf-8")
    report = lint_many.lint_paths([str(path)], Resolver(), gpus=["h100"], triton="3.9", jobs=1)
    assert fixing.changes(report, unsafe=True)
    path.write_text("# saved by an editor\n" + DUPLICATE, encoding="utf-8")
    assert fixing.fix_files(report, True, lambda: report).files == 0
    assert path.read_text(encoding="utf-8") == "# saved by an editor\n" + DUPLICATE
