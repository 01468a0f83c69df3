"""The whole way from source to bytes, against real Triton releases, on kernels of this repository."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cache import triton_release
from tritonlint.compiler.compile import compiled
from tritonlint.compiler.options import Options
from tritonlint.compiler.target import Target
from tritonlint.kernel.trace import ArgumentSpec, trace
from tritonlint.source import parse_file, plans, read
from tritonlint.source.sites import Platform

_WORKER = Path(__file__).parent / "compile_worker.py"
_KERNELS = Path(__file__).parents[2] / "benchmarks" / "gpu_kernels.py"
# The newest release on every kind of target, older ones where they differ most.
_PLACES = (
    *(("3.9.0", arch) for arch in ("sm_80", "sm_90", "sm_100", "sm_120", "gfx942")),
    ("3.6.0", "sm_90"),
    ("3.4.0", "sm_80"),
    ("3.4.0", "sm_100"),
)
_TYPES = {
    "gemm": {"a": "*fp16", "b": "*fp16", "c": "*fp16"},
    "gemm_int8_weights": {"a": "*fp16", "b": "*i8", "scales": "*fp32", "c": "*fp16"},
    "attention": {"q": "*bf16", "k": "*bf16", "v": "*bf16", "o": "*bf16", "scale": "fp32"},
    "softmax": {"x": "*fp16", "y": "*fp16"},
    "layer_norm": {"x": "*bf16", "weight": "*bf16", "bias": "*bf16", "y": "*bf16", "eps": "fp32"},
    "column_sum": {"x": "*fp32", "y": "*fp32"},
}


def jobs(arch: str) -> list[dict[str, Any]]:
    """A few launches of each kernel."""

    def job(kernel: str, warps: int, stages: int, **consts: Any) -> dict[str, Any]:
        return {
            "file": str(_KERNELS), "kernel": kernel, "arch": arch, "consts": consts, "types": _TYPES[kernel],
            "options": {"num_warps": warps, "num_stages": stages},
        }  # fmt: skip

    made = []
    tiles = ((128, 128, 64, 4, 3), (64, 256, 32, 8, 4), (32, 64, 128, 2, 2), (128, 256, 64, 8, 3))
    for (m, n, k, w, s), by_column in itertools.product(tiles, (False, True)):
        made.append(job("gemm", w, s, BM=m, BN=n, BK=k, GROUP=8, B_BY_COLUMN=by_column))
    for m, n, k, w, s in tiles[:3]:
        made.append(job("gemm_int8_weights", w, s, BM=m, BN=n, BK=k))
    for m, n, d, w, s, causal in (
        (128, 64, 64, 4, 3, False),
        (64, 64, 128, 4, 2, True),
        (32, 32, 64, 2, 3, True),
    ):
        made.append(job("attention", w, s, BM=m, BN=n, D=d, CAUSAL=causal))
    for block, w in ((1024, 4), (4096, 8), (256, 1)):
        made.append(job("softmax", w, 3, BLOCK=block))
        made.append(job("layer_norm", w, 3, BLOCK=block))
    made.append(job("column_sum", 4, 3, BM=32, BN=64))
    return made


def real_answers(version: str, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, str(_WORKER)],
        input="\n".join(map(json.dumps, asked)),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(triton_release(version)), "TRITON_DEFAULT_FP_FUSION": "1"},
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked), done.stderr[-1000:]
    return answers


@pytest.mark.oracle
@pytest.mark.parametrize(("version", "arch"), _PLACES)
def test_bytes_are_the_compilers(version: str, arch: str) -> None:
    """Where the model claims to be exact it says the compiler's bytes, and its lower bound is never above them."""
    major, minor = map(int, version.split(".")[:2])
    kernels = {
        p.kernel.name: p.kernel for p in plans(parse_file(read(_KERNELS)), Platform(arch, (major, minor)))
    }
    asked = jobs(arch)
    wrong, claimed, answered = [], 0, 0
    for job, real in zip(asked, real_answers(version, asked), strict=True):
        if "error" in real:
            continue
        answered += 1
        kernel = kernels[job["kernel"]]
        names = [p.name for p in kernel.parameters if p.name not in job["consts"]]
        types = {n: job["types"].get(n, "i32") for n in names}
        arguments = {n: ArgumentSpec(t, t == "i32" or t.startswith("*")) for n, t in types.items()}
        traced = trace(kernel, arguments, job["consts"], target=Target(arch), release=(major, minor))
        mine = compiled(traced, Options(**job["options"]), Target(arch), (major, minor))
        claimed += mine.shared_exact
        if (mine.shared_exact and mine.shared_bytes != real["shared"]) or mine.shared_lower_bound > real[
            "shared"
        ]:
            wrong.append((job["kernel"], job["consts"], job["options"], mine.shared_bytes, real))
    assert not wrong, wrong
    assert answered >= 0.9 * len(asked)
    assert claimed >= 0.9 * answered
