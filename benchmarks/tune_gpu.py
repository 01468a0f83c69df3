"""What tritonlint.autotune is worth on real tunings: time with and without it, and what its winner loses.

    python benchmarks/tune_gpu.py OUT.json [--cases gemm_fp16,attention] [--counters]

Needs PyTorch, Triton and a GPU. Each tuning runs in a process of its own with an empty cache of compiled kernels. The
loss is the time of the pruned tuning's winner over that of the best config, both from the tuning of the whole list; what
the best of those tried loses in it is what pruning cost, the rest is that two tunings time the same config differently.
--counters compares Nsight Compute's launch__ numbers with the estimate's.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
METRICS = (
    "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",
    "launch__registers_per_thread",
    "launch__shared_mem_per_block_allocated",
    "launch__shared_mem_per_block_dynamic",
    "sm__maximum_warps_per_active_cycle_pct",
)


def configs_of(case: str) -> list[dict[str, Any]]:
    """kwargs, num_warps, num_stages of a case's list."""
    found = []
    if case.startswith("gemm"):
        for m, n, k, w, s in itertools.product((64, 128, 256), (64, 128, 256), (32, 64), (4, 8), (3, 4)):
            if m * n <= 128 * 256 and (s == 3 or k > 32):
                by_column = case == "gemm_fp8"
                kwargs = dict(BM=m, BN=n, BK=k, GROUP=8, B_BY_COLUMN=by_column)
                found.append((kwargs, w, s))
    elif case.startswith("attention"):
        for m, n, w, s in itertools.product((64, 128, 256), (32, 64, 128), (4, 8), (2, 3)):
            found.append((dict(BM=m, BN=n, D=128, CAUSAL=case == "attention_causal"), w, s))
    elif case == "layer_norm":
        for b, w in itertools.product((512, 1024, 2048, 4096, 8192), (1, 2, 4, 8, 16)):
            found.append((dict(BLOCK=b), w, 3))
    else:
        for b, w in itertools.product((256, 512, 1024, 2048, 4096, 8192), (1, 2, 4, 8)):
            found.append((dict(BLOCK=b), w, 3))
    return [dict(kwargs=kwargs, num_warps=w, num_stages=s) for kwargs, w, s in found]


def launch_of(case: str) -> tuple[Any, Any, tuple[Any, ...], list[str]]:
    """(kernel, grid, arguments, key) of a case."""
    import gpu_kernels
    import torch

    def tensor(*shape: int, of: Any = torch.float16) -> Any:
        return torch.randn(shape, device="cuda").to(of)

    def up(a: int, b: int) -> int:
        return -(-a // b)

    if case.startswith("gemm"):
        m, n, k = (1024, 4096, 4096) if case == "gemm_small" else (4096, 4096, 4096)
        of = torch.float8_e4m3fn if case == "gemm_fp8" else torch.float16
        b = tensor(n, k, of=of) if case == "gemm_fp8" else tensor(k, n, of=of)
        arguments = (tensor(m, k, of=of), b, tensor(m, n, of=torch.bfloat16), m, n, k, k, b.stride(0), n)
        return (
            gpu_kernels.gemm,
            lambda meta: (up(m, meta["BM"]) * up(n, meta["BN"]),),
            arguments,
            ["M", "N", "K"],
        )
    if case.startswith("attention"):
        h, s, d = 32, 4096, 128
        q, k, v, o = (tensor(h, s, d, of=torch.bfloat16) for _ in range(4))
        arguments = (q, k, v, o, 1.44 / d**0.5, s * d, d, s)
        return gpu_kernels.attention, lambda meta: (up(s, meta["BM"]), h), arguments, ["length"]
    if case == "layer_norm":
        m, n = 16384, 8192
        x, y, w, b = tensor(m, n), tensor(m, n), tensor(n), tensor(n)
        return gpu_kernels.layer_norm, (m,), (x, w, b, y, n, n, 1e-5), ["columns"]
    n = 1 << 26
    arguments = (tensor(n), tensor(n), tensor(n), n)
    return gpu_kernels.silu_mul, lambda meta: (up(n, meta["BLOCK"]),), arguments, ["n"]


CASES = ("gemm_fp16", "attention", "gemm_fp8", "layer_norm", "silu_mul", "attention_causal", "gemm_small")


def tune(case: str, pruned: bool) -> dict[str, Any]:
    """One tuning in this process."""
    import torch
    import triton

    from tritonlint.autotune import early_config_prune

    kernel, grid, arguments, key = launch_of(case)
    configs = [triton.Config(**one) for one in configs_of(case)]
    hooks = {"prune_configs_by": {"early_config_prune": early_config_prune}} if pruned else {}
    tuner = triton.autotune(configs=configs, key=key, **hooks)(kernel)
    torch.cuda.synchronize()
    began = time.monotonic()
    tuner[grid](*arguments)
    torch.cuda.synchronize()
    seconds = time.monotonic() - began
    timings = {str(config): timing[0] for config, timing in tuner.configs_timings.items()}
    return dict(seconds=seconds, best=str(tuner.best_config), timings=timings, configs=len(configs))


def counted() -> dict[str, Any]:
    """Nsight Compute's numbers of one launch, beside the estimate's."""
    program = (
        f"import sys; sys.path[:0] = [{HERE!r}]; import tune_gpu\n"
        "kernel, grid, arguments, _ = tune_gpu.launch_of('gemm_fp16')\n"
        "constants = dict(BM=128, BN=128, BK=64, GROUP=8, B_BY_COLUMN=False)\n"
        "kernel[grid](*arguments, **constants, num_warps=8, num_stages=3)\n"
    )
    command = [
        "ncu",
        "--clock-control",
        "none",
        "--csv",
        "--page",
        "raw",
        "--kernel-name",
        "gemm",
        "--metrics",
    ]
    done = subprocess.run(
        [*command, ",".join(METRICS), sys.executable, "-c", program], capture_output=True, text=True
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    # The line under the names holds the units.
    table = [row for row in csv.DictReader(io.StringIO("\n".join(lines))) if row.get("ID")]
    return dict(rows=table, error="" if table else (done.stdout + done.stderr)[-2000:])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--counters", action="store_true")
    parser.add_argument("--mode", choices=("all", "pruned"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.mode:
        print(json.dumps(tune(given.cases, given.mode == "pruned")))
        return
    began = time.monotonic()
    found: dict[str, Any] = {}
    if given.counters:
        found["ncu"] = counted()
        print(json.dumps(found["ncu"])[:3000], flush=True)
    for case in given.cases.split(","):
        found[case] = {}
        for mode in ("pruned", "all"):
            if time.monotonic() - began > given.seconds:
                break
            with tempfile.TemporaryDirectory() as folder:
                log = os.path.join(folder, "runs.jsonl")
                environment = {**os.environ, "TRITON_CACHE_DIR": folder, "TRITONLINT_RUN_LOG": log}
                command = [sys.executable, __file__, "-", "--cases", case, "--mode", mode]
                done = subprocess.run(command, env=environment, capture_output=True, text=True)
                try:
                    found[case][mode] = json.loads(done.stdout.splitlines()[-1])
                except (IndexError, ValueError):
                    found[case][mode] = dict(error=done.stderr[-1500:])
                if os.path.exists(log):
                    with open(log) as lines:
                        found[case]["log"] = [json.loads(line) for line in lines]
        print(case, line_of(found[case]), flush=True)
        with open(given.out, "w") as file:
            json.dump(found, file)


def line_of(case: dict[str, Any]) -> str:
    whole, part = case.get("all", {}), case.get("pruned", {})
    if "best" not in part:
        return str(part)[-800:]
    decided = case.get("log", [{}])[0].get("seconds", 0.0)
    text = f"{len(part['timings'])} of {part['configs']} configs in {part['seconds']:.1f} s"
    text += f", of them {decided:.1f} s to choose"
    if "best" not in whole:
        return text
    timings = whole["timings"]
    best = min(timings.values())
    loss = timings.get(part["best"], float("nan")) / best - 1
    kept = min(timings.get(name, float("inf")) for name in part["timings"]) / best - 1
    text += f"; all in {whole['seconds']:.1f} s; the winner loses {100 * loss:.1f}%, "
    return f"{text}the best of those tried {100 * kept:.1f}% ({best:.4f} ms)"


if __name__ == "__main__":
    main()
