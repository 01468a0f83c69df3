"""The editor says what the command line says: for every example, wherever the file is opened from."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import PULL, Client

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SEVERITIES = {"error": 1, "warning": 2, "info": 3}
CODE_POINTS = {**PULL, "general": {"positionEncodings": ["utf-32"]}}

Row = tuple[str, str, int, tuple[int, int, int, int]]


def by_command(path: Path, folder: Path) -> list[Row]:
    """The findings of the command line, run in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "tritonlint", "check", str(path), "--output-format", "json", "--severity", "info"],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout, done.stderr
    rows: list[Row] = []
    for one in json.loads(done.stdout)["findings"]:
        start, end = one["range"]["start"], one["range"]["end"]
        places = (start["line"] - 1, start["column"] - 1, end["line"] - 1, end["column"] - 1)
        message = one["message"] + (f"\nhelp: {one['help']}" if one.get("help") else "")
        rows.append((one["code"], message, SEVERITIES[one["severity"]], places))
    return sorted(rows)


def by_editor(client: Client, path: Path) -> list[Row]:
    uri = path.as_uri()
    client.open(uri, path.read_text(encoding="utf-8"))
    rows = [_row(item) for item in client.pull(uri)["items"]]
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    return sorted(rows)


def _row(item: dict[str, Any]) -> Row:
    start, end = item["range"]["start"], item["range"]["end"]
    places = (start["line"], start["character"], end["line"], end["character"])
    return item["code"], item["message"], item["severity"], places


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """One server, opened without a folder."""
    with Client() as client:
        client.initialize(CODE_POINTS)
        yield client


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(client: Client, path: Path) -> None:
    """Every example, opened without a folder."""
    expected = by_command(path, ROOT)
    assert expected, "an example has something to find"
    assert by_editor(client, path) == expected


def test_the_nearest_settings_hold(client: Client, tmp_path: Path) -> None:
    """A nested project's settings, those of the folder around it, and none: as the command line, run anywhere."""
    source = EXAMPLES[0]
    places = {
        "outer": 'gpus = ["t4"]\n',
        "outer/inner": 'gpus = ["h100"]\nignore = ["TL1"]\n',
        "beside": None,
    }
    for name, settings in places.items():
        folder = tmp_path / name
        folder.mkdir()
        if settings is not None:
            (folder / "tritonlint.toml").write_text(f'triton = "3.9"\n{settings}')
        shutil.copy(source, folder / "kernel.py")
    with Client() as rooted:
        rooted.initialize(CODE_POINTS, root=tmp_path / "outer")
        for name in places:
            path = tmp_path / name / "kernel.py"
            expected = by_command(path, tmp_path)
            assert by_editor(client, path) == expected
            assert by_editor(rooted, path) == expected
            assert by_command(path, path.parent) == expected
