"""`tritonlint init` and `tritonlint schema`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import tritonlint


def test_the_file_holds_what_was_asked_for_and_is_read_again(tmp_path: Path) -> None:
    done = tritonlint("init", "--gpu", "RTX 4090", "--gpu", "h100", "--triton", "3.9.0", cwd=tmp_path)
    assert done.status == 0 and done.out.startswith(
        "tritonlint.toml written: rtx4090, h100 (--gpu), Triton 3.9"
    )
    shown = tritonlint("check", ".", "--show-settings", cwd=tmp_path).out
    assert 'gpus = ["rtx4090", "h100"]' in shown and 'triton = "3.9"' in shown


def test_without_a_gpu_the_common_ones_are_taken(tmp_path: Path) -> None:
    """No GPU is found where none of the programs that tell is there."""
    assert tritonlint("init", cwd=tmp_path, env={"PATH": ""}).status == 0
    text = (tmp_path / "tritonlint.toml").read_text(encoding="utf-8")
    assert text.splitlines()[1].startswith("gpus = [")
    assert '\n# triton = "' in text  # a release that nobody asked for is not fixed


@pytest.mark.parametrize(
    ("name", "text"),
    [("tritonlint.toml", "gpus = []\n"), ("pyproject.toml", "[tool.tritonlint]\ngpus = ['t4']\n")],
)
def test_nothing_is_overwritten(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = tritonlint("init", cwd=tmp_path)
    assert done.status == 2 and done.err.count("\n") == 1 and "nothing is written" in done.err
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_a_pyproject_of_others_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n", encoding="utf-8")
    assert tritonlint("init", "--gpu", "t4", cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--gpu", "h10"], "unknown GPU 'h10'; near: h100"), (["none"], "none: no such folder"),
     (["--triton", "1.0"], "unknown Triton release '1.0'")],
)  # fmt: skip
def test_wrong_arguments_write_nothing(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = tritonlint("init", *arguments, cwd=tmp_path)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_schemas_are_printed(tmp_path: Path) -> None:
    settings = json.loads(tritonlint("schema", "settings", cwd=tmp_path).out)
    assert "gpus" in settings["properties"]
    assert json.loads(tritonlint("schema", "report", cwd=tmp_path).out)["title"] == "Report"
    assert tritonlint("schema", "other", cwd=tmp_path).status == 2
