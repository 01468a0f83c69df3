"""Locales that hold little, names of files that are no text, no home, two runs at once, and paths of Windows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tritonlint_server.uris import path_of, uri_of

from tests.cli.running import tritonlint
from tests.cli.test_check import DUPLICATE
from tritonlint import baseline
from tritonlint.cli.files import write_text
from tritonlint.lint_many import Report, lint_paths
from tritonlint.output.json_text import json_text
from tritonlint.output.render import MACHINE, render
from tritonlint.output.style import Style
from tritonlint.settings import Resolver

LOCALES = {
    "C": {"LC_ALL": "C"},
    "C, without UTF-8": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII": {"PYTHONIOENCODING": "ascii"},
    "Latin-1": {"PYTHONIOENCODING": "latin-1"},
}
NAMED = "# \u00e9 \u540d \U0001f600\n" + DUPLICATE.replace("scale", "gr\u00f6\u00dfe")

posix = pytest.mark.skipif(sys.platform != "linux", reason="file names that are any bytes")


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONIOENCODING", "PYTHONUTF8")}
    command = [sys.executable, "-m", "tritonlint", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, env={**kept, **environment})


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """A run over a file whose name is not UTF-8, and one with letters from elsewhere."""
    monkeypatch.chdir(tmp_path)
    Path(os.fsdecode(b"caf\xe9.py")).write_text(DUPLICATE, encoding="utf-8")
    Path("na\u00efve_\u540d.py").write_text(NAMED, encoding="utf-8")
    return lint_paths(["."], Resolver(), gpus=["h100"], triton="3.9", jobs=1)


@pytest.mark.parametrize("locale", LOCALES)
def test_a_locale_changes_no_answer(locale: str, tmp_path: Path) -> None:
    (tmp_path / "gr\u00f6\u00dfe.py").write_text(NAMED, encoding="utf-8")
    done = run(tmp_path, ".", "--output-format", "json", **LOCALES[locale])
    assert done.returncode == 1 and done.stderr == b""
    (finding,) = json.loads(done.stdout.decode("ascii"))["findings"]
    assert (finding["path"], finding["kernel"]) == ("./gr\u00f6\u00dfe.py", "gr\u00f6\u00dfe")


def test_text_that_a_terminal_cannot_show_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "gr\u00f6\u00dfe.py").write_text(NAMED, encoding="utf-8")
    done = run(tmp_path, ".", **LOCALES["C, without UTF-8"])
    assert done.returncode == 1 and b"TL305" in done.stdout and done.stderr == b""


@posix
@pytest.mark.parametrize("output_format", [*MACHINE, "full", "concise"])
def test_a_file_name_that_is_no_text(output_format: str, odd: Report) -> None:
    text = render(odd, output_format, Style(False))
    if output_format in ("json", "sarif", "gitlab"):
        json.loads(text.encode("ascii"))
        assert "\\udce9" not in text  # half a character, which strict readers refuse
    if output_format == "sarif":
        assert '"caf%E9.py"' in text
    if output_format == "junit":
        ElementTree.fromstring(text)


@posix
def test_a_baseline_of_it_can_be_read_again(odd: Report) -> None:
    write_text("known.json", baseline.text_of(baseline.of_findings(odd.findings, Path("known.json"))))
    compared = baseline.compare(baseline.load(Path("known.json")), odd.findings, odd.paths)
    assert len(compared.known) == len(odd.findings) == 2 and not compared.new and not compared.stale


@posix
def test_a_uri_of_it_leads_back() -> None:
    path = os.fsdecode(b"/x/caf\xe9.py")
    assert uri_of(path) == "file:///x/caf%E9.py"
    assert path_of("file:///x/caf%E9.py") == path


def test_json_is_the_same_under_every_locale() -> None:
    value = {"a\u00e9": ["\U0001f600", 'b"\\', None, 1.5, "\x7f"], "c": {}}
    assert json_text(value).isascii() and json.loads(json_text(value)) == value
    assert json_text("x\udce9", indent=None) == '"x\\ufffd"'


@pytest.mark.skipif(sys.platform == "win32", reason="homes of POSIX")
@pytest.mark.parametrize("command", [("a.py",), ("gpus", "--detect"), ("cache",), ("matrix", "a.py")])
def test_no_home(command: tuple[str, ...], tmp_path: Path) -> None:
    """Nor any other variable: what a cron job or a container gives."""
    (tmp_path / "a.py").write_text(DUPLICATE, encoding="utf-8")
    kept = {key: os.environ[key] for key in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH") if key in os.environ}
    arguments = [sys.executable, "-m", "tritonlint", *command]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, env={**kept, "HOME": ""})
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


def test_two_runs_at_once_on_one_cache(tmp_path: Path) -> None:
    """Both begin with no cache, make the same one, and say what a run alone says."""
    for number in range(8):
        (tmp_path / f"f{number}.py").write_text(f"# {number}\n{DUPLICATE}", encoding="utf-8")
    command = [sys.executable, "-m", "tritonlint", ".", "--output-format", "json", "--jobs", "1"]
    both = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "ab"
    ]
    told = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [1, 1]
    assert told[0] == told[1] and told[0][1] == b""
    assert run(tmp_path, ".", "--output-format", "json").stdout == told[0][0]
    assert run(tmp_path, ".", "--output-format", "json", "--no-cache").stdout == told[0][0]


LIMITED = (
    "import resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))\n"
    "from tritonlint.__main__ import main\n"
    "sys.argv = ['tritonlint', *sys.argv[1:]]\n"
    "main()\n"
)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("room", [0, 5000])
def test_a_disk_with_no_room(room: int, tmp_path: Path, cache_of_its_own: Path) -> None:
    """The cache does without, a report that does not fit is an error and leaves what was there."""
    (tmp_path / "a.py").write_text(DUPLICATE, encoding="utf-8")
    (tmp_path / "out.json").write_text("precious", encoding="utf-8")

    def limited(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", LIMITED.format(room), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    first = limited("a.py")
    assert first.returncode == 1 and "TL305" in first.stdout and first.stderr == ""
    assert limited("a.py").stdout == first.stdout
    report = limited(
        "a.py", "--no-cache", "--severity", "info", "--output-format", "sarif", "--output-file", "out.json"
    )
    assert (report.returncode, report.stdout) == (2, "")
    assert report.stderr == "error: out.json: cannot be written: File too large\n"
    fixed = limited("a.py", "--fix", "--no-cache") if not room else None
    assert fixed is None or (fixed.returncode == 2 and "a.py: cannot be written" in fixed.stderr)
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == DUPLICATE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "out.json"]
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == "precious"


# --- Windows


@pytest.mark.parametrize("name", ["C:\\work\\a.py", "src\\kernels\\a.py", "\\\\server\\share\\a.py"])
def test_names_of_windows_are_said_as_they_were_given(name: str, tmp_path: Path) -> None:
    text = DUPLICATE.replace("\n", "\r\n")
    done = tritonlint("-", "--stdin-filename", name, "--output-format", "json", cwd=tmp_path, stdin=text)
    (finding,) = done.json["findings"]
    assert finding["path"] == name and finding["range"]["start"]["line"] > 1


def test_a_job_names_a_file_of_windows(tmp_path: Path) -> None:
    """`FILE::KERNEL` is split at the last "::", not at a drive's colon."""
    (tmp_path / "C:").mkdir()
    (tmp_path / "C:" / "a.py").write_text(DUPLICATE, encoding="utf-8")
    done = tritonlint("estimate", "C:/a.py::scale", "--gpu", "h100", cwd=tmp_path)
    assert done.status == 0 and "scale" in done.out


def test_standard_input_keeps_its_line_ends_and_encoding(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\r\n# \u00e9\r\n" + DUPLICATE.replace("\n", "\r\n")
    done = run_with_input(tmp_path, text.encode("latin-1"))
    assert done.count(b"\r\n") == done.count(b"\n") and b"# \xe9\r\n" in done and b"BLOCK" in done
    assert done != text.encode("latin-1")
    marked = b"\xef\xbb\xbfimport os\r\n"
    assert run_with_input(tmp_path, marked) == marked
    undecodable = DUPLICATE.encode() + b"# \xff\n"
    assert run_with_input(tmp_path, undecodable) == undecodable


def run_with_input(folder: Path, data: bytes) -> bytes:
    command = [sys.executable, "-m", "tritonlint", "-", "--fix"]
    return subprocess.run(command, cwd=folder, input=data, capture_output=True).stdout
