"""VS Code as code-server brings it, with the packaged extension installed, on a port of this machine."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser import chromium, node
from tests.cache import folder, missing

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "server" / "vscode" / "tritonlint.vsix"


def installed() -> Path:
    """The folder with VS Code; a skip that says what is missing where it is not there (.ci/editors.sh gets it)."""
    place = folder() / "vscode"
    if not (place / ".complete").exists():
        missing("VS Code (.ci/editors.sh installs it)")
    if not EXTENSION.exists():
        missing("the packaged extension (`npm run package` in server/vscode makes it)")
    return place


@contextmanager
def running(
    place: Path,
    home: Path,
    workspace: Path,
    environment: Mapping[str, str],
    settings: Mapping[str, Any],
    trusted: bool = True,
) -> Iterator[str]:
    """Runs it until the block ends; gives the address of the workbench. Not `trusted`: as a user who has not yet said
    that the folder may be trusted."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    trust = {"enabled": not trusted, "startupPrompt": "never", "banner": "never", "emptyWindow": False}
    own = {
        "tritonlint.interpreter": sys.executable,
        # In a browser VS Code saves by itself after a second, without actions; then nothing is left for a save to do.
        "files.autoSave": "off",
        **{f"security.workspace.trust.{name}": value for name, value in trust.items()},
        **settings,
    }
    for name in ("User", "Machine"):
        (home / "data" / name).mkdir(parents=True, exist_ok=True)
        (home / "data" / name / "settings.json").write_text(json.dumps(own))
    server = [node(place), str(place / "node_modules" / "code-server" / "out" / "node" / "entry.js")]
    options = ["--config", str(home / "config.yaml"), "--user-data-dir", str(home / "data"),
               "--extensions-dir", str(home / "extensions")]  # fmt: skip
    full = {
        **os.environ,
        **environment,
        "HOME": str(home),
        "PATH": f"{Path(node(place)).parent}:{environment.get('PATH', os.environ['PATH'])}",
    }
    subprocess.run(
        [*server, *options, "--install-extension", str(EXTENSION)], check=True, capture_output=True, env=full
    )
    log = (home / "log.txt").open("wb")
    process = subprocess.Popen(
        [*server, *options, "--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry",
         "--disable-update-check", *(["--disable-workspace-trust"] if trusted else []), str(workspace)],
        stdout=log, stderr=log, env=full,
    )  # fmt: skip
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/?folder={workspace}"
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        log.close()


def run_suite(place: Path, address: str, suite: Path, result: Path) -> dict[str, Any]:
    """Has the workbench run a suite in its extension host; what the suite wrote."""
    here = Path(__file__).resolve().parent / "vscode"
    environment = {
        **os.environ, "VSCODE": str(place), "CHROMIUM": chromium(), "URL_": address, "STUB": str(here / "stub"),
        "SUITE": str(suite), "RESULT": str(result),
    }  # fmt: skip
    done = subprocess.run(
        [node(place), str(here / "drive.mjs")], env=environment, capture_output=True, text=True
    )
    assert result.exists(), f"the suite did not end\n{done.stdout}\n{done.stderr}"
    found: dict[str, Any] = json.loads(result.read_text())
    return found
