"""Registers and stack of the launches of register_jobs.py, as the Triton in hand compiles them; no GPU is needed.

    python benchmarks/register_jobs.py > jobs.jsonl
    python benchmarks/compile_registers.py jobs.jsonl 80 90 100 120 > rows.jsonl

The rows are what `fit_registers.py collect` takes. A launch that does not compile gives a row with `error`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import register_kernels
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"


def compiled(job: dict[str, Any], capability: int) -> dict[str, Any]:
    """What the launch takes of a multiprocessor."""
    function = getattr(register_kernels, job["kernel"])
    names = function.arg_names
    constants = {(names.index(name),): value for name, value in job["consts"].items()}
    divisible = {(names.index(name),): [["tt.divisibility", 16]] for name in job["div"]}
    kernel = triton.compile(
        ASTSource(function, {name: job["sig"][name] for name in names}, constants, divisible),
        target=GPUTarget("cuda", capability, 32),
        options={"num_warps": job["num_warps"], "num_stages": job["num_stages"]},
    )
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        command = [str(TOOLS / "cuobjdump"), "-res-usage", file.name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+)", text)
    assert found is not None, text
    return {"regs": int(found[1]), "spill": int(found[2]), "shared": kernel.metadata.shared}


def main() -> None:
    path, *capabilities = sys.argv[1:]
    for line in Path(path).read_text().splitlines():
        job = json.loads(line)
        for capability in capabilities:
            row = {**job, "arch": capability, "triton": triton.__version__}
            try:
                row |= compiled(job, int(capability))
            except Exception as error:  # a dtype or a size that this target lacks
                row["error"] = f"{type(error).__name__}: {error}"[:300]
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
