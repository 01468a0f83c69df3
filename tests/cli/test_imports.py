"""What may be imported for the common small jobs: hooks and editors run them all day."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"libcst", "pydantic", "pygls", "lsprotocol", "rich", "jinja2", "attrs"}


def imported(arguments: list[str], cwd: Path) -> set[str]:
    """The top-level modules that a run imports."""
    code = (
        "import sys; from tritonlint.__main__ import main; sys.argv = ['tritonlint', *sys.argv[1:]]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('\\n' + ' '.join(sorted({name.split('.')[0] for name in sys.modules})), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=cwd, capture_output=True, text=True, check=True
    )
    return set(done.stderr.splitlines()[-1].split())


def test_the_version_imports_next_to_nothing(tmp_path: Path) -> None:
    assert not imported(["--version"], tmp_path) & (HEAVY | {"click", "ast", "json", "pathspec"})


@pytest.mark.parametrize("arguments", [["check", "a.py"], ["a.py", "--gpu", "h100"], ["--help"]])
def test_files_without_triton_import_nothing_heavy(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "a.py").write_text("import os\n", encoding="utf-8")
    assert not imported(arguments, tmp_path) & HEAVY


def test_linting_imports_neither_libcst_nor_a_terminal_library(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import triton\n", encoding="utf-8")
    assert not imported(["a.py"], tmp_path) & {"libcst", "pygls", "lsprotocol", "rich"}
