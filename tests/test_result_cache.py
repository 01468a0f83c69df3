"""Results kept between runs: found again while nothing changed, and never in the way."""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.samples import GEMM
from tritonlint import lint_jobs, result_cache
from tritonlint.lint import FileProblem, FileResult
from tritonlint.lint_many import Report, lint_paths
from tritonlint.result_cache import ResultCache, cache_file
from tritonlint.settings import Resolver

KERNEL = GEMM.replace("import triton\n", "import triton\nfrom sizes import WARPS\n", 1)
TUNED = KERNEL.replace(
    "@triton.jit\ndef gemm",
    "@triton.autotune(configs=[triton.Config({'BLOCK_M': 128, 'BLOCK_N': 128, 'BLOCK_K': 64, 'GROUP_M': 8},"
    " num_warps=WARPS)], key=['M'])\n@triton.jit\ndef gemm",
    1,
)


@pytest.fixture
def linted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were really linted, in order."""
    names: list[str] = []
    original = lint_jobs.run_job

    def counted(job: lint_jobs.Job) -> FileResult:
        names.append(Path(job.path).name)
        return original(job)

    monkeypatch.setattr(lint_jobs, "run_job", counted)
    return names


def run(folder: Path, cache: Path, **options: object) -> Report:
    given = {"gpus": ["a100"], "triton": "3.9", "jobs": 1, **options}
    with ResultCache(cache) as kept:
        return replace(lint_paths([str(folder)], Resolver(), cache=kept, **given), seconds=0.0)  # type: ignore[arg-type]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "gemm.py").write_text(TUNED, encoding="utf-8")
    (folder / "sizes.py").write_text("WARPS = 3\n", encoding="utf-8")
    return folder


def test_what_did_not_change_is_not_linted_again(tree: Path, tmp_path: Path, linted: list[str]) -> None:
    first = run(tree, tmp_path / "cache")
    assert linted == ["gemm.py"] and [f.code for f in first.findings if f.code == "TL204"] == ["TL204"]
    second = run(tree, tmp_path / "cache")
    assert linted == ["gemm.py"]
    assert second == first


def change_file(tree: Path) -> None:
    (tree / "gemm.py").write_text(TUNED + "\n", encoding="utf-8")


def change_import(tree: Path) -> None:
    (tree / "sizes.py").write_text("WARPS = 16\n", encoding="utf-8")


def remove_import(tree: Path) -> None:
    (tree / "sizes.py").unlink()


def shadow_import(tree: Path) -> None:
    (tree / "sizes").mkdir()
    (tree / "sizes" / "__init__.py").write_text("WARPS = 16\n", encoding="utf-8")


def change_settings(tree: Path) -> None:
    (tree / "tritonlint.toml").write_text('ignore = ["TL204"]\n', encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [change_file, change_import, remove_import, shadow_import, change_settings],
    ids=lambda f: f.__name__,
)
def test_whatever_a_result_rests_on_counts(
    tree: Path, tmp_path: Path, linted: list[str], change: object
) -> None:
    run(tree, tmp_path / "cache")
    change(tree)  # type: ignore[operator]
    cached = run(tree, tmp_path / "cache")
    assert linted == ["gemm.py", "gemm.py"]
    fresh = run(tree, tmp_path / "another")
    assert cached == fresh


def test_another_gpu_is_another_result(tree: Path, tmp_path: Path, linted: list[str]) -> None:
    run(tree, tmp_path / "cache")
    run(tree, tmp_path / "cache", gpus=["h100"])
    run(tree, tmp_path / "cache", certainty="possible")
    assert linted == ["gemm.py"] * 3


def test_a_damaged_file_is_dropped(tree: Path, tmp_path: Path, linted: list[str]) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    cache_file(cache).write_bytes(b"this is no database, and longer than its header would be" * 40)
    first = run(tree, cache)
    assert run(tree, cache) == first and linted == ["gemm.py"]


@pytest.mark.parametrize("damage", [b"", b"\x80\x04.", pickle.dumps({}), b"garbage"])
def test_a_damaged_entry_is_dropped(tree: Path, tmp_path: Path, linted: list[str], damage: bytes) -> None:
    cache = tmp_path / "cache"
    first = run(tree, cache)
    with sqlite3.connect(cache_file(cache)) as database:
        database.execute("UPDATE results SET result = ?", (damage,))
    database.close()
    assert run(tree, cache) == first and linted == ["gemm.py", "gemm.py"]


class Attack:
    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return (os.mkdir, ("made-by-the-cache",))


def test_an_entry_calls_nothing(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cache = tmp_path / "cache"
    run(tree, cache)
    with sqlite3.connect(cache_file(cache)) as database:
        database.execute("UPDATE results SET result = ?, looked_at = ?", (pickle.dumps(Attack()),) * 2)
    database.close()
    run(tree, cache)
    assert not Path("made-by-the-cache").exists()


def test_what_failed_is_not_kept(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = FileResult("gemm.py", problems=(FileProblem("gemm.py", "internal error: x", True),))
    calls: list[object] = []
    monkeypatch.setattr(lint_jobs, "run_job", lambda job: calls.append(job) or failed)
    run(tree, tmp_path / "cache")
    run(tree, tmp_path / "cache")
    assert len(calls) == 2


def test_a_place_that_cannot_be_written_is_no_cache(tree: Path, tmp_path: Path, linted: list[str]) -> None:
    (tmp_path / "cache").write_text("a file, no folder", encoding="utf-8")
    first = run(tree, tmp_path / "cache")
    assert run(tree, tmp_path / "cache") == first and linted == ["gemm.py", "gemm.py"]


def test_it_stays_below_its_bound(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "MAX_BYTES", 100_000)
    cache = tmp_path / "cache"
    for number in range(60):
        (tree / "gemm.py").write_text(f"{TUNED}\n# {number}\n", encoding="utf-8")
        run(tree, cache)
    with sqlite3.connect(cache_file(cache)) as database:
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
        (entries,) = database.execute("SELECT count(*) FROM results").fetchone()
    database.close()
    assert 0 < entries < 60
    assert pages * size < 200_000


def test_two_runs_at_once(tree: Path, tmp_path: Path) -> None:
    with ResultCache(tmp_path / "cache") as outer:
        lint_paths([str(tree)], Resolver(), cache=outer, gpus=["a100"], triton="3.9", jobs=1)
        inner = run(tree, tmp_path / "cache")
    assert run(tree, tmp_path / "cache") == inner


def tritonlint(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tritonlint", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def test_the_command_line_can_do_without(tree: Path, cache_of_its_own: Path) -> None:
    assert tritonlint(str(tree), "--no-cache", "--gpu", "a100").returncode == 1
    assert not cache_file(cache_of_its_own).exists()
    assert "empty" in tritonlint("cache").stdout
    first = tritonlint(str(tree), "--gpu", "a100")
    assert cache_file(cache_of_its_own).exists()
    again = tritonlint(str(tree), "--gpu", "a100")
    assert (again.returncode, again.stdout) == (first.returncode, first.stdout)
    assert tritonlint("cache", "clear").returncode == 0
    assert not cache_file(cache_of_its_own).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="homes of POSIX")
@pytest.mark.parametrize("xdg", ["", "/dev/null/x"])
def test_no_home_is_no_error_and_nothing_is_written_elsewhere(tree: Path, xdg: str) -> None:
    before = sorted(tree.iterdir())
    command = [sys.executable, "-m", "tritonlint", ".", "--gpu", "a100"]
    environment = {**os.environ, "TRITONLINT_CACHE_DIR": "", "XDG_CACHE_HOME": xdg, "HOME": ""}
    found = subprocess.run(command, capture_output=True, text=True, cwd=tree, env=environment)
    assert found.returncode == 1 and not found.stderr
    assert sorted(tree.iterdir()) == before
