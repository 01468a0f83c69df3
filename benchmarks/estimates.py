"""How fast launches are estimated, beside the real compiler in the same run.

    python benchmarks/estimates.py [--configs 100] [--gpus h100 | --gpus a100,b200,h100,...] [--rounds 3]
                                   [--triton FOLDER --compiles 8]

Estimates a tuning list of a matrix product (tiles, warps and stages mixed) in one process that starts with nothing kept,
on each GPU. Prints CPU milliseconds of the first estimate, of the further ones on average, estimates per second; and with
--triton, the folder of an unpacked Triton release (3.3 or later), what that takes to compile some of the same configs
(without its assembler) and how many estimates are made in the time of one compile.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
KERNELS = Path(__file__).parent / "gpu_kernels.py"
WORKER = ROOT / "tests" / "oracle" / "compile_worker.py"
TYPES = {"a": "*fp16", "b": "*fp16", "c": "*fp16"}
TEN = "a100,b200,h100,h200,l4,rtx3090,rtx4090,rtx5090,t4,mi300x"


def configs(count: int) -> list[dict[str, Any]]:
    """A tuning list as people write them: every combination, in no order."""
    every = list(
        itertools.product((32, 64, 128, 256), (32, 64, 128, 256), (32, 64, 128), (4, 8), (2, 3, 4, 5))
    )
    chosen = random.Random(2).sample(every, len(every))[:count]
    return [
        {
            "consts": {"BM": m, "BN": n, "BK": k, "GROUP": 8, "B_BY_COLUMN": False},
            "num_warps": warps,
            "num_stages": stages,
        }
        for m, n, k, warps, stages in chosen
    ]


def estimated(path: str, gpus: list[str], count: int) -> None:
    """In a process of its own: prints the CPU seconds of the first estimate and of all."""
    from tritonlint.collector import collect_rarely
    from tritonlint.estimate import Estimator, estimate_line

    collect_rarely()
    lines = [
        json.dumps({"file": path, "kernel": "gemm", "types": TYPES, "gpu": gpu, "constants": one["consts"],
                    "num_warps": one["num_warps"], "num_stages": one["num_stages"]})
        for one in configs(count)
        for gpu in gpus
    ]  # fmt: skip
    estimator = Estimator()
    seconds = []
    for line in lines:
        began = time.process_time()
        answer = estimate_line(estimator, line)
        seconds.append(time.process_time() - began)
        assert "error" not in answer, answer
    print(json.dumps([seconds[0], sum(seconds[1:]) / max(len(seconds) - 1, 1), len(seconds)]))


def compiled(triton: Path, gpu: str, count: int) -> float:
    """CPU seconds of the compiler for one config on average, its start not counted."""
    from tritonlint.gpu.profile import find_gpu

    profile = find_gpu(gpu)
    assert profile is not None
    jobs = [
        {"file": str(KERNELS), "kernel": "gemm", "arch": profile.arch, "consts": one["consts"], "types": TYPES,
         "options": {"num_warps": one["num_warps"], "num_stages": one["num_stages"]}}
        for one in configs(count)
    ]  # fmt: skip
    taken = []
    for part in (jobs[:1], jobs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, str(WORKER)],
            input="".join(json.dumps(job) + "\n" for job in part),
            env={**os.environ, "PYTHONPATH": str(triton), "TRITON_DEFAULT_FP_FUSION": "1"},
            text=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return (taken[1] - taken[0]) / (count - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--configs", type=int, default=100)
    parser.add_argument("--gpus", default="", help="names with commas; without it h100, then ten GPUs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--triton", type=Path, help="an unpacked release")
    parser.add_argument("--compiles", type=int, default=8)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        estimated(str(KERNELS), options.child.split(","), options.configs)
        return
    compile_seconds = None
    for gpus in [options.gpus] if options.gpus else ["h100", TEN]:
        rounds = []
        for _ in range(options.rounds):
            command = [sys.executable, __file__, "--child", gpus, "--configs", str(options.configs)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rounds.append(json.loads(done.stdout))
        first = statistics.median(one[0] for one in rounds)
        further = statistics.median(one[1] for one in rounds)
        print(
            f"{options.configs} configs on {gpus}: first {first * 1e3:.0f} ms, further {further * 1e3:.2f} ms each,"
            f" {1 / further:.0f} estimates a second (CPU of one process)"
        )
        if options.triton is not None:
            compile_seconds = compile_seconds or compiled(
                options.triton, gpus.split(",")[0], options.compiles
            )
            print(
                f"  the compiler takes {compile_seconds * 1e3:.0f} ms for one of them:"
                f" {compile_seconds / further:.0f} estimates in that time"
            )


if __name__ == "__main__":
    main()
