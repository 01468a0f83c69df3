"""Registers and spills of the launches of register_jobs.py, as the Triton in hand compiles them; no GPU is needed.

    python benchmarks/register_jobs.py > jobs.jsonl
    python benchmarks/compile_registers.py jobs.jsonl 80 90 100 120 gfx942 gfx1100 > rows.jsonl

The rows are what `fit_registers.py collect` takes. A launch that does not compile gives a row with `error`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import register_kernels
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tritonlint.facts.cubin import read_cubin


def compiled(job: dict[str, Any], arch: str) -> dict[str, Any]:
    """What the launch takes of a multiprocessor or compute unit."""
    function = getattr(register_kernels, job["kernel"])
    names = function.arg_names
    constants = {(names.index(name),): value for name, value in job["consts"].items()}
    divisible = {(names.index(name),): [["tt.divisibility", 16]] for name in job["div"]}
    kernel = triton.compile(
        ASTSource(function, {name: job["sig"][name] for name in names}, constants, divisible),
        target=_target(arch),
        options={"num_warps": job["num_warps"], "num_stages": job["num_stages"]},
    )
    return {"shared": kernel.metadata.shared, **_registers(kernel.asm)}


def _target(arch: str) -> GPUTarget:
    if arch.startswith("gfx"):
        return GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    return GPUTarget("cuda", int(arch), 32)


def _registers(assembled: dict[str, Any]) -> dict[str, int]:
    if "cubin" in assembled:
        code = read_cubin(assembled["cubin"])
        return {"regs": code.registers, "spill": code.spills}
    counts = {"vgpr": ".vgpr_count", "vgpr_spill": ".vgpr_spill_count"}
    found = {name: re.search(rf"{text}:\s+(\d+)", assembled["amdgcn"]) for name, text in counts.items()}
    return {name: int(count[1]) for name, count in found.items() if count}


def main() -> None:
    path, *archs = sys.argv[1:]
    for line in Path(path).read_text().splitlines():
        job = json.loads(line)
        for arch in archs:
            row = {**job, "arch": arch, "triton": triton.__version__}
            try:
                row |= compiled(job, arch)
            except Exception as error:  # a dtype or a size that this target lacks
                row["error"] = f"{type(error).__name__}: {error}"[:300]
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
