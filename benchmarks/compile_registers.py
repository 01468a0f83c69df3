"""Registers and spills of the launches of register_jobs.py, as the Triton in hand compiles them; no GPU is needed.

    python benchmarks/register_jobs.py > jobs.jsonl
    python benchmarks/compile_registers.py jobs.jsonl 80 90 100 120 > rows.jsonl

The rows are what `fit_registers.py collect` takes. A launch that does not compile gives a row with `error`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import register_kernels
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tritonlint.facts.cubin import read_cubin


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
    code = read_cubin(kernel.asm["cubin"])
    return {"regs": code.registers, "spill": code.spills, "shared": kernel.metadata.shared}


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
