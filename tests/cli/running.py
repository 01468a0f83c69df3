"""Runs the command line from outside, as a shell or a CI does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Done:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def codes(self) -> list[str]:
        return [finding["code"] for finding in self.json["findings"]]


def tritonlint(
    *arguments: str, cwd: Path, stdin: str | bytes = b"", env: dict[str, str] | None = None
) -> Done:
    """One run of `python -m tritonlint`, in a folder, with no colour and nothing of the caller's CI."""
    base = {
        key: value for key, value in os.environ.items() if key not in ("CI", "FORCE_COLOR", "VIRTUAL_ENV")
    }
    done = subprocess.run(
        [sys.executable, "-m", "tritonlint", *arguments],
        cwd=cwd,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        env={**base, "PYTHONIOENCODING": "utf-8", **(env or {})},
        check=False,
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
