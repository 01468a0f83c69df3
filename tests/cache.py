"""Where tests keep what they download, and when they may download.

The folder is $TRITONLINT_TEST_CACHE, else tritonlint-tests in the user's cache folder; never in the repository. With
CI=true (or TRITONLINT_FETCH=1) a missing piece is fetched with pip and a failure is a failure; otherwise the test is
skipped and says what is missing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def folder() -> Path:
    """The cache folder, made when it is not there."""
    named = os.environ.get("TRITONLINT_TEST_CACHE")
    base = (
        Path(named)
        if named
        else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tritonlint-tests"
    )
    base.mkdir(parents=True, exist_ok=True)
    return base


def in_ci() -> bool:
    return os.environ.get("CI") == "true"


def may_fetch() -> bool:
    return in_ci() or os.environ.get("TRITONLINT_FETCH") == "1"


def missing(what: str) -> None:
    """Skip with the reason, or fail where nothing may be skipped."""
    if in_ci():
        pytest.fail(f"{what} is missing, and with CI=true nothing is skipped")
    pytest.skip(f"{what} is missing (TRITONLINT_FETCH=1 fetches what pip can fetch)")


def from_pypi(requirement: str, *, python_version: str | None = None) -> Path:
    """The folder with an unpacked wheel of `name==version`, without what it depends on."""
    place = folder() / requirement.replace("==", "-")
    if (place / ".complete").exists():
        return place
    if not may_fetch():
        missing(requirement)
    partial = place.with_suffix(f".{os.getpid()}")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-compile",
        "--target",
        str(partial),
    ]
    if python_version is not None:
        command += ["--python-version", python_version, "--only-binary=:all:"]
    done = subprocess.run([*command, requirement], capture_output=True, text=True)
    if done.returncode != 0:
        shutil.rmtree(partial, ignore_errors=True)
        missing(
            f"{requirement} ({done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'pip failed'})"
        )
    (partial / ".complete").touch()
    if not (place / ".complete").exists():  # another process of the same run may have been faster
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):  # it was there in between
            partial.rename(place)
    shutil.rmtree(partial, ignore_errors=True)
    return place


def triton_release(version: str) -> Path:
    """A folder to put on PYTHONPATH, from which `import triton` gives exactly that release."""
    return from_pypi(f"triton=={version}")


def program(name: str) -> str:
    """The path of a program of the machine, or a skip that names it."""
    found = shutil.which(name)
    if found is None:
        missing(f"the program {name}")
    assert found is not None
    return found
