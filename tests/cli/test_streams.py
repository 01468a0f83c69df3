"""Standard streams that are closed, whose reader has gone, or that lie on a full disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_check import DUPLICATE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full and a POSIX shell")
FULL = "error: standard output: cannot be written: No space left on device\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(DUPLICATE, encoding="utf-8")
    return tmp_path


def shell(folder: Path, arguments: str, unbuffered: str = "") -> tuple[int, str, str]:
    """(exit status, standard output, standard error) of a line of a shell that begins with `tritonlint`."""
    line = f'set -o pipefail; "$PYTHON" -m tritonlint {arguments}'
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHON": sys.executable, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments", ["--version", "a.py --no-cache", "rule", "check --help", "estimate --batch jobs.jsonl"]
)
def test_a_full_disk_is_one_line_and_status_2(folder: Path, arguments: str, unbuffered: str) -> None:
    (folder / "jobs.jsonl").write_text("{}\n{}\n", encoding="utf-8")
    assert shell(folder, f"{arguments} > /dev/full", unbuffered) == (2, "", FULL)


def test_a_reader_that_has_gone_is_told_nothing(folder: Path) -> None:
    """The status is that of a program that SIGPIPE ends, as the shell gives it."""
    assert shell(folder, "rule | true") == (141, "", "")


def test_a_closed_output_changes_no_status(folder: Path) -> None:
    """Nor does anything that is opened later take its place: the cache would get the report."""
    assert shell(folder, "a.py >&-") == (1, "", "")
    assert shell(folder, "a.py >&-") == (1, "", "")  # from the cache
    assert shell(folder, "a.py --output-format concise 2>&-")[0] == 1
    assert shell(folder, "- <&-")[0] == 0
    assert shell(folder, "a.py --output-file out.txt <&- >&- 2>&-") == (1, "", "")
    assert "TL305" in (folder / "out.txt").read_text(encoding="utf-8")


def test_messages_that_nobody_can_read_change_no_status(folder: Path) -> None:
    status, out, _ = shell(folder, "a.py none.py 2> /dev/full")
    assert status == 2 and "TL305" in out
    assert shell(folder, "a.py --gpu nonsense 2> /dev/full")[0] == 2
    assert shell(folder, "a.py > /dev/full 2>&1") == (2, "", "")
