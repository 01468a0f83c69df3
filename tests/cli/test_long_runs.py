"""Long runs: the bar on a terminal, the summary of a large tree, and --watch."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import tritonlint
from tests.cli.test_check import CLEAN, DUPLICATE


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """3,000 files, 60 of them with Triton, some left out, one too large, one that cannot be read as text."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("build/\n", encoding="utf-8")
    (tmp_path / "tritonlint.toml").write_text(
        'exclude = ["third_party/"]\ngpus = ["h100"]\n', encoding="utf-8"
    )
    for name in ("build", "third_party", *(f"part{number}" for number in range(20))):
        (tmp_path / name).mkdir()
    for number in range(3000):
        text = "import triton\n" if number % 50 == 3 else CLEAN
        (tmp_path / f"part{number % 20}" / f"f{number}.py").write_text(text, encoding="utf-8")
    (tmp_path / "build" / "made.py").write_text(DUPLICATE, encoding="utf-8")
    (tmp_path / "third_party" / "copied.py").write_text(DUPLICATE, encoding="utf-8")
    (tmp_path / "part0" / "bytes.py").write_bytes(b"import triton\n\xff\xfe\n")
    with (tmp_path / "part0" / "huge.py").open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    return tmp_path


def test_the_summary_says_what_was_read_and_what_was_skipped_and_why(tree: Path) -> None:
    done = tritonlint(".", cwd=tree)
    assert done.status == 1 and done.err == ""  # no terminal, no bar
    summary = "\n".join(done.out.splitlines()[-2:])
    assert "1 error. 3,001 files read, 61 with Triton" in summary
    assert "3 paths skipped (1 ignored by .gitignore, 1 excluded by settings, 1 larger than 16 MB)" in summary
    assert "Checked for h100 (settings), Triton " in summary


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")
def test_a_terminal_shows_progress_and_is_left_clean(tree: Path) -> None:
    import pty

    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tritonlint", ".", "--no-cache", "--jobs", "1"],
        cwd=tree, stdout=subprocess.PIPE, stderr=slave, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(slave)
    shown: list[bytes] = []
    reader = threading.Thread(target=_read_all, args=(master, shown))
    reader.start()
    out, _ = process.communicate()
    reader.join()
    os.close(master)
    bar = b"".join(shown)
    assert b"Linting" in bar and b"100%" in bar
    assert bar.endswith(b"\x1b[2K")  # its line is gone again
    assert b"3,001 files read" in out and b"Linting" not in out


def _read_all(master: int, into: list[bytes]) -> None:
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed and all is read
            return
        if not part:
            return
        into.append(part)


class Lines:
    """The lines of a running process, as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, args=(process,), daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._lines.put(line)

    def until(self, words: str) -> str:
        """Waits for a line with the words; an answer that never comes fails the test."""
        while True:
            line = self._lines.get(timeout=120)
            if words in line:
                return line


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[str], Lines]]:
    (tmp_path / "a.py").write_text(CLEAN, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "tritonlint", ".", "--watch"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # A job in the background of a shell has it ignored, and hands that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    yield tmp_path, process, Lines(process)
    process.kill()
    process.wait()


def test_watch_lints_again_when_a_file_changes(watched: tuple[Path, subprocess.Popen[str], Lines]) -> None:
    folder, process, lines = watched
    lines.until("no findings. 1 file read, 0 with Triton")
    (folder / "a.py").write_text(DUPLICATE, encoding="utf-8")
    lines.until("TL305")
    lines.until("1 warning")
    (folder / "tritonlint.toml").write_text("gpus = 3\n", encoding="utf-8")  # half written
    lines.until("expected a list of text")
    (folder / "tritonlint.toml").write_text('ignore = ["TL305"]\n', encoding="utf-8")
    lines.until("no findings. 1 file read, 1 with Triton")
    (folder / "a.py").write_text("# longer\n" + DUPLICATE, encoding="utf-8")
    lines.until("no findings. 1 file read, 1 with Triton")  # so that the run before has ended, with status 0
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows sends Ctrl-C to a console, not to a process group"
)
def test_an_interrupt_ends_all_processes_and_writes_nothing(tmp_path: Path) -> None:
    for number in range(120):
        (tmp_path / f"f{number}.py").write_text(f"# {number}\n" + DUPLICATE * 40, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "tritonlint", "check", ".", "--jobs", "2", "--no-cache", "--output-file", "out.txt"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and len(children.read_text().split()) < 2:
        time.sleep(0.01)
    workers = children.read_text().split()
    assert len(workers) >= 2
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert not (tmp_path / "out.txt").exists()
    for _ in range(600):  # who looks after orphans may need a moment to see that they ended
        if not any(Path(f"/proc/{one}").exists() for one in workers):
            return
        time.sleep(0.1)
    pytest.fail("a worker outlived the run")


def test_watch_without_its_library_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CLEAN, encoding="utf-8")
    (tmp_path / "watchfiles.py").write_text(
        "raise ModuleNotFoundError(name='watchfiles')\n", encoding="utf-8"
    )
    done = tritonlint(
        "a.py", "--watch", cwd=tmp_path, env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    )
    assert done.status == 2
    assert done.err == "error: --watch needs watchfiles: install tritonlint[watch]\n"
