"""Time launches on the GPU in hand and write what the driver says of each: the data behind the time model.

    python benchmarks/measure_gpu.py OUT.csv [--set first|second|third] [--per-problem 40] [--seconds 400] [--workers 14]

Needs PyTorch, Triton and a GPU. Columns: kernel, dtype, problem sizes (p_...), constants (m_...), warps, stages,
grid (programs), shared (bytes), regs (a thread), spills (4-byte words), ctas_per_sm (the driver's occupancy
calculator), ms (median), error (the launch was refused, with what was asked for).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

CONSTANTS = ("BM", "BN", "BK", "GROUP", "B_BY_COLUMN", "D", "CAUSAL", "BLOCK", "SPLIT", "PROGRAMS", "HALF")
GEMM_SHAPES = [
    (4096, 4096, 4096),
    (8192, 8192, 2048),
    (2048, 2048, 8192),
    (1024, 4096, 4096),
    (512, 8192, 4096),
    (16384, 1024, 1024),
    (1000, 3000, 2000),
    (16, 8192, 4096),
]
ATTENTION_SHAPES = [(64, 4096, 64), (32, 8192, 128), (128, 1024, 64), (16, 2048, 128)]
SECOND_GEMM_SHAPES = [
    (4096, 11008, 4096),
    (6144, 6144, 6144),
    (8192, 1024, 8192),
    (128, 4096, 4096),
    (64, 14336, 4096),
    (2048, 1536, 1024),
]
SECOND_ATTENTION = [
    (48, 2048, 32, "bf16", False),
    (24, 6144, 64, "fp16", False),
    (96, 2048, 64, "bf16", True),
    (32, 4096, 128, "fp16", False),
    (32, 4096, 128, "bf16", True),
    (64, 1024, 128, "fp16", False),
    (8, 8192, 64, "fp16", True),
    (16, 4096, 256, "bf16", False),
]
SECOND_SHARES = (("bf16", 0.5), ("fp16", 0.7), ("fp8", 0.7), ("fp32", 0.5))
THIRD_GEMM_SHAPES = [
    (3072, 3072, 3072),
    (8192, 8192, 8192),
    (2048, 8192, 1024),
    (256, 4096, 14336),
    (4096, 1024, 4096),
]
THIRD_ATTENTION = [
    (40, 4096, 128, "bf16", False),
    (32, 2048, 128, "fp16", True),
    (64, 2048, 64, "bf16", False),
    (48, 4096, 64, "fp16", True),
    (16, 8192, 128, "bf16", False),
]
THIRD_SHARES = (("bf16", 0.8), ("fp16", 0.8), ("fp8", 0.6), ("fp32", 0.4))


def jobs(per_problem: int, which: str) -> list[dict[str, Any]]:
    """The launches to time, drawn at random but the same every time."""
    return {"first": first_jobs, "second": second_jobs, "third": third_jobs}[which](per_problem)


def products(most_elements: int = 65536) -> list[dict[str, Any]]:
    return [
        dict(BM=m, BN=n, BK=k, warps=w, stages=s)
        for m, n, k, w, s in itertools.product(
            (16, 32, 64, 128, 256), (32, 64, 128, 256), (32, 64, 128), (2, 4, 8), (1, 2, 3, 4, 5)
        )
        if 1024 <= m * n <= 16384 * w and m * n <= most_elements
    ]


def _attention_and_products(
    draw: random.Random,
    attention: list[tuple[int, int, int, str, bool]],
    shapes: list[tuple[int, int, int]],
    shares: tuple[tuple[str, float], ...],
    per_problem: int,
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def some(problem: dict[str, Any], configs: list[dict[str, Any]], number: int) -> None:
        draw.shuffle(configs)
        found.extend({**problem, **config} for config in configs[:number])

    for heads, length, width, dtype, causal in attention:
        configs = [
            dict(BM=m, BN=n, D=width, CAUSAL=causal, warps=w, stages=s)
            for m, n, w, s in itertools.product((32, 64, 128, 256), (16, 32, 64, 128), (4, 8), (1, 2, 3, 4))
            if (not causal or m >= n) and m * width <= 8192 * w
        ]
        some(dict(kernel="attention", dtype=dtype, H=heads, S=length), configs, per_problem)
    for (m, n, k), (dtype, share) in itertools.product(shapes, shares):
        configs = [
            dict(
                t, GROUP=draw.choice((1, 4, 8)), B_BY_COLUMN=draw.random() < (0.7 if dtype == "fp8" else 0.3)
            )
            for t in products()
        ]
        some(dict(kernel="gemm", dtype=dtype, M=m, N=n, K=k), configs, int(per_problem * share))
    return found


def third_jobs(per_problem: int) -> list[dict[str, Any]]:
    """Products and attention of shapes that nothing was fitted to."""
    draw = random.Random(21)
    found = _attention_and_products(draw, THIRD_ATTENTION, THIRD_GEMM_SHAPES, THIRD_SHARES, per_problem)
    random.Random(5).shuffle(found)
    return found


def second_jobs(per_problem: int) -> list[dict[str, Any]]:
    """Other shapes, and kernels that the first set has not: split K, persistent, rows of several, rotary, transposed."""
    draw = random.Random(21)
    found: list[dict[str, Any]] = []

    def some(problem: dict[str, Any], configs: list[dict[str, Any]], number: int) -> None:
        draw.shuffle(configs)
        found.extend({**problem, **config} for config in configs[:number])

    found.extend(
        _attention_and_products(draw, SECOND_ATTENTION, SECOND_GEMM_SHAPES, SECOND_SHARES, per_problem)
    )
    for (m, n, k), dtype in (
        ((4096, 4096, 4096), "fp16"),
        ((8192, 4096, 2048), "bf16"),
        ((1024, 8192, 4096), "fp16"),
        ((4096, 4096, 4096), "fp8"),
    ):
        configs = [
            dict(t, B_BY_COLUMN=dtype == "fp8", PROGRAMS=draw.choice((132, 264)))
            for t in products()
            if t["BM"] * t["BN"] >= 4096
        ]
        some(dict(kernel="gemm_persistent", dtype=dtype, M=m, N=n, K=k), configs, int(per_problem * 0.7))
    for m, n, k in ((64, 4096, 8192), (256, 2048, 16384), (16, 4096, 4096)):
        configs = [dict(t, SPLIT=draw.choice((1, 2, 4, 8, 16))) for t in products(16384) if t["BM"] <= 2 * m]
        some(dict(kernel="gemm_split_k", dtype="bf16", M=m, N=n, K=k), configs, int(per_problem * 0.7))
    for rows, columns, dtype in ((65536, 1024, "bf16"), (262144, 128, "fp32")):
        configs = [
            dict(BM=m, BLOCK=columns, warps=w, stages=3) for m in (1, 2, 4, 8, 16) for w in (1, 2, 4, 8)
        ]
        some(dict(kernel="rows_softmax", dtype=dtype, M=rows, N=columns), configs, 20)
    for rows, columns in ((16384, 4096), (4096, 8192), (32768, 768)):
        block = 1 << (columns - 1).bit_length()
        configs = [dict(BLOCK=block, warps=w, stages=3) for w in (1, 2, 4, 8, 16, 32)]
        some(dict(kernel="rms_norm", dtype="bf16", M=rows, N=columns), configs, 6)
    for rows, columns in ((8192, 5120), (32768, 2048)):
        configs = [
            dict(BLOCK=b, warps=w, stages=3)
            for b in (256, 512, 1024, 2048, 4096, 8192)
            for w in (1, 2, 4, 8, 16)
        ]
        some(dict(kernel="layer_norm", dtype="fp16", M=rows, N=columns), configs, 20)
    for positions, heads in ((16384, 32), (4096, 64)):
        configs = [
            dict(BM=m, HALF=64, warps=w, stages=s)
            for m in (1, 2, 4, 8, 16, 32)
            for w in (1, 2, 4, 8)
            for s in (1, 3)
        ]
        some(dict(kernel="rope", dtype="bf16", M=positions, H=heads), configs, 20)
    for n, dtype in ((1 << 27, "fp16"), (3 << 20, "fp32")):
        configs = [
            dict(BLOCK=b, warps=w, stages=3)
            for b in (128, 256, 512, 1024, 2048, 4096, 8192)
            for w in (1, 2, 4, 8, 16)
        ]
        some(dict(kernel="silu_mul", dtype=dtype, M=n), configs, 20)
    tiles = [
        dict(BM=m, BN=n, warps=w, stages=3)
        for m in (16, 32, 64, 128)
        for n in (16, 32, 64, 128)
        for w in (2, 4, 8)
    ]
    for rows, columns, dtype in ((8192, 8192, "fp16"), (4096, 16384, "fp32")):
        some(dict(kernel="transpose", dtype=dtype, M=rows, N=columns), list(tiles), 24)
    for rows, columns in ((16384, 4096), (32768, 1024)):
        some(dict(kernel="column_sum", dtype="bf16", M=rows, N=columns), list(tiles), 20)
        split = [dict(t, SPLIT=s) for t in tiles for s in (4, 16, 64)]
        some(dict(kernel="column_sum_parts", dtype="bf16", M=rows, N=columns), split, 20)
    draw.shuffle(found)
    return found


def first_jobs(per_problem: int) -> list[dict[str, Any]]:
    draw = random.Random(20)
    found: list[dict[str, Any]] = []

    def some(problem: dict[str, Any], configs: list[dict[str, Any]], number: int = per_problem) -> None:
        draw.shuffle(configs)
        found.extend({**problem, **config} for config in configs[:number])

    tiles = products()
    for (m, n, k), dtype in itertools.product(GEMM_SHAPES, ("bf16", "fp16", "fp8", "fp32")):
        configs = [
            dict(t, GROUP=draw.choice((1, 4, 8)), B_BY_COLUMN=dtype == "fp8" or draw.random() < 0.3)
            for t in tiles
        ]
        some(
            dict(kernel="gemm", dtype=dtype, M=m, N=n, K=k),
            configs,
            per_problem if dtype != "fp32" else per_problem // 3,
        )
    for m, n, k in GEMM_SHAPES[:2]:
        some(dict(kernel="gemm_int8_weights", dtype="fp16", M=m, N=n, K=k), list(tiles), per_problem // 2)
    for (heads, length, width), causal in itertools.product(ATTENTION_SHAPES, (False, True)):
        configs = [
            dict(BM=m, BN=n, D=width, CAUSAL=causal, warps=w, stages=s)
            for m, n, w, s in itertools.product(
                (32, 64, 128, 256), (16, 32, 64, 128), (2, 4, 8), (1, 2, 3, 4)
            )
            if not causal or m >= n
        ]
        some(dict(kernel="attention", dtype="bf16", H=heads, S=length), configs)
    for rows, columns in ((65536, 1024), (16384, 4096), (4096, 16384), (131072, 256)):
        block = 1 << (columns - 1).bit_length()
        some(
            dict(kernel="softmax", dtype="fp32" if columns < 4096 else "bf16", M=rows, N=columns),
            [dict(BLOCK=block, warps=w, stages=3) for w in (1, 2, 4, 8, 16, 32)],
        )
        some(
            dict(kernel="layer_norm", dtype="bf16", M=rows, N=columns),
            [
                dict(BLOCK=b, warps=w, stages=3)
                for b in (256, 512, 1024, 2048, 4096, 8192)
                if b <= 2 * columns
                for w in (1, 2, 4, 8, 16)
            ],
            per_problem // 2,
        )
    for n, dtype in ((1 << 26, "bf16"), (1 << 22, "fp32"), (1 << 18, "bf16")):
        some(
            dict(kernel="silu_mul", dtype=dtype, M=n),
            [
                dict(BLOCK=b, warps=w, stages=3)
                for b in (128, 256, 512, 1024, 2048, 4096, 8192)
                for w in (1, 2, 4, 8, 16)
            ],
            per_problem // 2,
        )
    for rows, columns in ((8192, 8192), (65536, 1024)):
        some(
            dict(kernel="column_sum", dtype="fp32", M=rows, N=columns),
            [
                dict(BM=m, BN=n, warps=w, stages=s)
                for m in (16, 32, 64, 128)
                for n in (32, 64, 128)
                for w in (2, 4, 8)
                for s in (1, 3)
            ],
            per_problem // 2,
        )
    draw.shuffle(found)
    return found


def prepare(
    job: dict[str, Any], cache: dict[Any, Any]
) -> tuple[Any, tuple[int, ...], tuple[Any, ...], dict[str, Any]]:
    """(kernel, grid, arguments, constants) of a job; `cache` keeps tensors, without it types stand for them."""
    import gpu_kernels
    import torch

    types = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp8": torch.float8_e4m3fn}
    dtype = types[job["dtype"]]
    kernel = getattr(gpu_kernels, job["kernel"])
    constants = {k: v for k, v in job.items() if k in CONSTANTS}

    def tensor(name: str, *shape: int, of: Any = dtype) -> Any:
        if cache is None:
            return of
        key = (name, shape, of)
        if key not in cache:
            if sum(t.numel() * t.element_size() for t in cache.values()) > 40 << 30:
                cache.clear()
            values = (
                torch.randint(-9, 9, shape, device="cuda")
                if of is torch.int8
                else torch.randn(shape, device="cuda")
            )
            cache[key] = values.to(of)
        return cache[key]

    def up(a: int, b: int) -> int:
        return -(-a // b)

    if job["kernel"].startswith("gemm"):
        m, n, k = job["M"], job["N"], job["K"]
        grid: tuple[int, ...] = (up(m, job["BM"]) * up(n, job["BN"]),)
        wide = dtype is torch.float32 or job["kernel"] == "gemm_split_k"
        out = tensor("c", m, n, of=torch.float32 if wide else torch.bfloat16)
        a = tensor("a", m, k)
        if job["kernel"] == "gemm_split_k":
            grid = (*grid, job["SPLIT"])
            return kernel, grid, (a, tensor("b", k, n), out, m, n, k, k, n, n), constants
        if job["kernel"] == "gemm_persistent":
            grid = (min(job["PROGRAMS"], *grid),)
        if job["kernel"] != "gemm_int8_weights":
            b = tensor("b", n, k) if job["B_BY_COLUMN"] else tensor("b", k, n)
            return kernel, grid, (a, b, out, m, n, k, k, k if job["B_BY_COLUMN"] else n, n), constants
        b = tensor("b", k, n, of=torch.int8)
        return kernel, grid, (a, b, tensor("s", n, of=torch.float32), out, m, n, k, k, n, n), constants
    if job["kernel"] == "attention":
        h, s, d = job["H"], job["S"], job["D"]
        q, k, v, o = (tensor(x, h, s, d) for x in "qkvo")
        return kernel, (up(s, job["BM"]), h), (q, k, v, o, 1.44 / d**0.5, s * d, d, s), constants
    if job["kernel"] == "softmax":
        m, n = job["M"], job["N"]
        return kernel, (m,), (tensor("x", m, n), tensor("y", m, n), n, n), constants
    if job["kernel"] == "layer_norm":
        m, n = job["M"], job["N"]
        return (
            kernel,
            (m,),
            (tensor("x", m, n), tensor("w", n), tensor("bi", n), tensor("y", m, n), n, n, 1e-5),
            constants,
        )
    if job["kernel"] == "rows_softmax":
        m, n = job["M"], job["N"]
        return kernel, (up(m, job["BM"]),), (tensor("x", m, n), tensor("y", m, n), m, n, n), constants
    if job["kernel"] == "rms_norm":
        m, n = job["M"], job["N"]
        return kernel, (m,), (tensor("x", m, n), tensor("w", n), tensor("y", m, n), n, n, 1e-6), constants
    if job["kernel"] == "rope":
        m, h, half = job["M"], job["H"], job["HALF"]
        x, y, angles = tensor("x", m, h, 2 * half), tensor("y", m, h, 2 * half), tensor("r", m, half)
        return kernel, (m,), (x, angles, angles, y, h, 2 * half * h), constants
    if job["kernel"] == "transpose":
        m, n = job["M"], job["N"]
        grid = (up(m, job["BM"]) * up(n, job["BN"]),)
        return kernel, grid, (tensor("x", m, n), tensor("y", n, m), m, n), constants
    if job["kernel"] == "column_sum_parts":
        m, n = job["M"], job["N"]
        grid = (up(n, job["BN"]), job["SPLIT"])
        return kernel, grid, (tensor("x", m, n), tensor("sum", n, of=torch.float32), m, n, n), constants
    if job["kernel"] == "silu_mul":
        n = job["M"]
        return kernel, (up(n, job["BLOCK"]),), (tensor("x", n), tensor("g", n), tensor("y", n), n), constants
    m, n = job["M"], job["N"]
    return kernel, (up(n, job["BN"]),), (tensor("x", m, n), tensor("y", n), m, n, n), constants


def marker(folder: str, job: dict[str, Any]) -> str:
    """The file that says that a job's kernel is in Triton's cache."""
    small = {k: v for k, v in job.items() if k not in ("M", "N", "K", "H", "S")}
    return os.path.join(folder, hashlib.sha1(repr(sorted(small.items())).encode()).hexdigest())


def compile_share(share: int, of: int, wanted: list[dict[str, Any]], folder: str) -> None:
    """A worker: compile every of-th job into Triton's cache on disk, without tensors on the GPU."""
    for job in wanted[share::of]:
        if os.path.exists(marker(folder, job)):
            continue
        try:
            kernel, grid, arguments, constants = prepare(job, None)
            kernel.warmup(
                *arguments, **constants, num_warps=job["warps"], num_stages=job["stages"], grid=grid
            )
        except Exception as error:
            print(type(error).__name__, str(error)[:100], file=sys.stderr)
        open(marker(folder, job), "w").close()


def measure(job: dict[str, Any], cache: dict[Any, Any]) -> dict[str, Any]:
    import torch

    kernel, grid, arguments, constants = prepare(job, cache)
    programs = 1
    for size in grid:
        programs *= size
    row: dict[str, Any] = dict(
        kernel=job["kernel"], dtype=job["dtype"], warps=job["warps"], stages=job["stages"], grid=programs
    )
    row.update({f"p_{k}": job[k] for k in ("M", "N", "K", "H", "S") if k in job})
    row.update({f"m_{k}": int(v) for k, v in constants.items()})

    def launch() -> Any:
        return kernel[grid](*arguments, **constants, num_warps=job["warps"], num_stages=job["stages"])

    flush = cache.setdefault("flush", torch.empty(1 << 28, dtype=torch.int8, device="cuda"))
    return row | driven(launch, flush, at_least=3, seconds=0.06)


def driven(launch: Callable[[], Any], flush: Any, at_least: int, seconds: float) -> dict[str, Any]:
    """What the driver says of a launch, and its median time with a cold L2 (`flush` is a tensor larger than that); where
    it is refused, what was asked for."""
    import torch
    from cuda.bindings import driver

    try:
        compiled = launch()
        torch.cuda.synchronize()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error)[:150]}"}
    row = dict(shared=compiled.metadata.shared, regs=compiled.n_regs, spills=compiled.n_spills)
    function = driver.CUfunction(int(compiled.function))
    _, row["ctas_per_sm"] = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        function, 32 * compiled.metadata.num_warps, row["shared"]
    )
    times: list[float] = []
    stop = time.monotonic() + seconds
    while len(times) < at_least or (time.monotonic() < stop and len(times) < 25):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        launch()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    row["ms"] = round(statistics.median(times), 5)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out")
    parser.add_argument("--set", choices=("first", "second", "third"), default="first")
    parser.add_argument("--per-problem", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--compile-share", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--ready", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.compile_share is not None:
        wanted = jobs(given.per_problem, given.set)
        compile_share(given.compile_share, given.workers, wanted, given.ready)
        return
    began = time.monotonic()
    folder = tempfile.mkdtemp()
    command = [sys.executable, __file__, given.out, "--per-problem", str(given.per_problem)]
    command += ["--workers", str(given.workers), "--ready", folder, "--set", given.set]
    workers = [subprocess.Popen([*command, "--compile-share", str(i)]) for i in range(given.workers)]
    wanted = jobs(given.per_problem, given.set)
    columns = [
        "kernel",
        "dtype",
        *(f"p_{x}" for x in "MNKHS"),
        *(f"m_{x}" for x in CONSTANTS),
        "warps",
        "stages",
        "grid",
        "shared",
        "regs",
        "spills",
        "ctas_per_sm",
        "ms",
        "error",
    ]
    cache: dict[Any, Any] = {}
    done = 0
    with open(given.out, "w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        while wanted and time.monotonic() - began < given.seconds:
            ready = [job for job in wanted if os.path.exists(marker(folder, job))]
            if not ready:
                if all(worker.poll() is not None for worker in workers):
                    break
                time.sleep(0.5)
            # One problem after the other, so that its tensors are made once.
            for job in sorted(
                ready, key=lambda j: (j["kernel"], j["dtype"], str([j.get(x) for x in "MNKHS"]))
            ):
                if time.monotonic() - began > given.seconds:
                    break
                wanted.remove(job)
                try:
                    writer.writerow(measure(job, cache))
                    done += 1
                except Exception as error:
                    print(type(error).__name__, str(error)[:200], job, flush=True)
            file.flush()
    for worker in workers:
        worker.kill()
    print(f"{done} of {done + len(wanted)} launches after {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
