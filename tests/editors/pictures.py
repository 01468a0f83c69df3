"""Makes the pictures of docs/images and of the extension again: `python -m tests.editors.pictures FOLDER`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.browser import chromium, node
from tests.editors.code_server import installed, running
from tests.server.samples import GEMM

SETTINGS = {
    "workbench.startupEditor": "none",
    "editor.minimap.enabled": False,
    "editor.fontSize": 13,
    "workbench.colorTheme": "Default Light Modern",
    "window.commandCenter": False,
    "chat.commandCenter.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "editor.hover.delay": 200,
}
LONGER = GEMM.replace(
    """        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}, num_stages=3, num_warps=4),
""",
    """        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64}, num_stages=3, num_warps=8),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 32}, num_stages=4, num_warps=4),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}, num_stages=3, num_warps=4),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}, num_stages=3, num_warps=4),
""",
)


def main(out: Path) -> None:
    place = installed()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        workspace = home / "kernels"
        workspace.mkdir()
        (workspace / "tritonlint.toml").write_text('gpus = ["rtx4090", "h100"]\ntriton = "3.9"\n')
        (workspace / "gemm.py").write_text(LONGER)
        with running(place, home, workspace, {}, SETTINGS) as address:
            environment = {
                **os.environ, "VSCODE": str(place), "CHROMIUM": chromium(), "URL_": address, "OUT": str(out)
            }  # fmt: skip
            script = Path(__file__).resolve().parent / "vscode" / "pictures.mjs"
            subprocess.run([node(place), str(script)], env=environment, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
