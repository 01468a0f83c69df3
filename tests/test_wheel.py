"""What is shipped: the three packages with their data, nothing else, and it works without the checkout."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests import cache
from tests.cli.test_check import DUPLICATE

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"tritonlint": ".", "tritonlint_rules": "rules", "tritonlint_server": "server"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("hatchling") is None:
        cache.missing("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages with nothing but the wheel in it."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def checked_in(package: str, folder: str) -> set[str]:
    """The files of a package that git knows or would take, by their names in the wheel."""
    cache.program("git")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", package]
    done = subprocess.run(command, cwd=ROOT / folder, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.splitlines() if (ROOT / folder / name).is_file()}


def test_it_holds_the_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
    tops = {name.split("/")[0] for name in names}
    assert {name for name in tops if not name.endswith(".dist-info")} == set(PACKAGES)
    for package, folder in PACKAGES.items():
        held = {name for name in names if name.startswith(f"{package}/")}
        assert held == checked_in(package, folder)
        assert f"{package}/py.typed" in held
    assert not [
        name for name in names if "test" in name.split("/") or "node_modules" in name or ".pyc" in name
    ]
    assert any(name.startswith("tritonlint/gpu/profiles/") and name.endswith(".toml") for name in names)
    about = {name.rpartition("/")[2] for name in names if ".dist-info/" in name}
    assert about == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "LICENSE"}
    assert "Requires-Python: >=3.10" in metadata and "License-Expression: MIT" in metadata


COMMANDS = {
    "check": (["a.py", "--gpu", "h100"], 1, "TL305"),
    "matrix": (["matrix", "a.py", "--gpu", "rtx3070"], 0, "rtx3070"),
    "estimate": (["estimate", "a.py::scale", "--gpu", "mi300x"], 0, "scale"),
    "gpus": (["gpus"], 0, "h200"),
    "rule": (["rule", "TL101"], 0, "shared"),
    "schema": (["schema", "settings"], 0, "$schema"),
    "verify": (["verify", "--help"], 0, "compiler"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_it_works_without_the_checkout(name: str, installed: Path, tmp_path: Path) -> None:
    arguments, status, said = COMMANDS[name]
    (tmp_path / "a.py").write_text(DUPLICATE, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    code = (
        "import sys, tritonlint, tritonlint_rules\n"
        "assert all(one.__file__.startswith(sys.argv[1]) for one in (tritonlint, tritonlint_rules))\n"
        "sys.argv = ['tritonlint', *sys.argv[2:]]\n"
        "from tritonlint.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(installed), *arguments],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert said in done.stdout
