"""The browser that tests drive: Debian's Chromium, by playwright-core, which .ci/editors.sh installs beside VS Code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.cache import folder, missing, program


def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    return found or program("chromium")


def node(place: Path) -> str:
    return str(place / "node_modules" / "node" / "bin" / "node")


def drive(script: Path, **environment: str) -> Any:
    """Runs a script of node that drives Chromium, and gives what it printed as JSON."""
    place = folder() / "vscode"
    if not (place / "node_modules" / "axe-core").exists():
        missing("playwright-core and axe-core (.ci/editors.sh installs them)")
    done = subprocess.run(
        [node(place), str(script)],
        env={**os.environ, "MODULES": str(place), "CHROMIUM": chromium(), **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)
