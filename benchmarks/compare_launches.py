"""Are the rows of `tritonlint verify`, made without a GPU, those of real launches?

    python benchmarks/compare_launches.py write launches.py               200 launches as plain source
    python benchmarks/compare_launches.py launch launches.py real.jsonl   on the GPU: needs torch and Triton, nothing else
    python benchmarks/compare_launches.py compare launches.py real.jsonl --gpu h200 [--python F]

The source is what both read: the GPU runs it through triton.jit as it stands, verify finds its launches and compiles
them. Compared are shared bytes, registers and spills of each launch, and whether a launch that the driver refuses is said
not to fit; the releases of Triton must be the same. Exit status 1 where anything differs.

    python benchmarks/compare_launches.py recorded launches.py real.jsonl [--count 200]

writes both files from the tables of an H200 in data/, so that no GPU is needed: launches spread over all that were timed
there, with what the driver said of them. These rows have shared bytes, registers and spills of Triton 3.6.0.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

KERNELS = pathlib.Path(__file__).with_name("gpu_kernels.py")
TABLES = tuple(KERNELS.with_name("data") / name for name in ("h200.csv", "h200_second.csv", "h200_third.csv"))
RECORDED_WITH = "3.6.0"
COUNT = 200
_TORCH = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp8e4nv": "float8_e4m3fn", "i8": "int8"}
T = TypeVar("T")


def launches() -> Iterator[tuple[str, list[str], str]]:
    """(kernel, tensors as source, the call as source); sizes and strides of every kind of specialization."""
    warps_stages = ((4, 3), (8, 3), (4, 2), (8, 4), (2, 5))
    for dtype in ("float16", "bfloat16", "float32"):
        tiles = ((128, 128, 64), (64, 256, 32), (128, 64, 64), (32, 64, 128), (256, 128, 64))
        for (m, n, k), (warps, stages), by_column in itertools.product(
            tiles, warps_stages[:4], (False, True)
        ):
            for size in (1024, 1000) if warps == 4 and not by_column else (1024,):
                side = [
                    f"{name} = torch.empty(({size}, {size}), dtype=torch.{dtype}, device='cuda')"
                    for name in "abc"
                ]
                count = -(-size // m) * -(-size // n)
                call = f"gemm[({count},)](a, b, c, {', '.join([str(size)] * 6)}, BM={m}, BN={n}, BK={k}, GROUP=8, "
                yield "gemm", side, call + f"B_BY_COLUMN={by_column}, num_warps={warps}, num_stages={stages})"
    for (m, n, k), (warps, stages) in itertools.product(
        ((64, 64, 64), (128, 128, 32), (32, 128, 64)), warps_stages[:3]
    ):
        tensors = [
            "a = torch.empty((1024, 1024), dtype=torch.float16, device='cuda')",
            "b = torch.empty((1024, 1024), dtype=torch.int8, device='cuda')",
            "s = torch.empty((1024,), dtype=torch.float32, device='cuda')",
            "c = torch.empty((1024, 1024), dtype=torch.float16, device='cuda')",
        ]
        call = f"gemm_int8_weights[({1024 // m * 1024 // n},)](a, b, s, c, {', '.join(['1024'] * 6)}, "
        yield (
            "gemm_int8_weights",
            tensors,
            call + f"BM={m}, BN={n}, BK={k}, num_warps={warps}, num_stages={stages})",
        )
    for (m, n, d), (warps, stages), causal, dtype in itertools.product(
        ((128, 64, 64), (64, 64, 128), (32, 32, 64)), warps_stages[:3], (False, True), ("float16", "bfloat16")
    ):
        tensors = [
            f"{name} = torch.zeros((4, 1024, {d}), dtype=torch.{dtype}, device='cuda')" for name in "qkvo"
        ]
        call = (
            f"attention[({1024 // m}, 4)](q, k, v, o, 0.125, {1024 * d}, {d}, 1024, BM={m}, BN={n}, D={d}, "
        )
        yield "attention", tensors, call + f"CAUSAL={causal}, num_warps={warps}, num_stages={stages})"
    for columns, warps, dtype in itertools.product(
        (1000, 1024, 4096, 16384), (1, 4, 8, 16), ("float16", "float32")
    ):
        block = 1 << (columns - 1).bit_length()
        tensors = [
            f"{name} = torch.zeros((64, {columns}), dtype=torch.{dtype}, device='cuda')" for name in "xy"
        ]
        yield (
            "softmax",
            tensors,
            f"softmax[(64,)](x, y, {columns}, {columns}, BLOCK={block}, num_warps={warps})",
        )
        rows = [f"{name} = torch.zeros(({columns},), dtype=torch.{dtype}, device='cuda')" for name in "wb"]
        call = f"layer_norm[(64,)](x, w, b, y, {columns}, {columns}, 1e-5, BLOCK=1024, num_warps={warps})"
        yield "layer_norm", tensors + rows, call
        flat = [
            f"{name} = torch.zeros(({64 * columns},), dtype=torch.{dtype}, device='cuda')" for name in "xgy"
        ]
        grid = -(-64 * columns // 1024)
        yield "silu_mul", flat, f"silu_mul[({grid},)](x, g, y, {64 * columns}, BLOCK=1024, num_warps={warps})"
    for m, n, warps in itertools.product((16, 32, 64), (32, 64, 1), (1, 4, 8)):
        tensors = [
            "x = torch.zeros((512, 1024), dtype=torch.float32, device='cuda')",
            "y = torch.zeros((1024,), dtype=torch.float32, device='cuda')",
        ]
        call = f"column_sum[({1024 // n},)](x, y, 512, 1024, 1024, BM={m}, BN={n}, num_warps={warps})"
        yield "column_sum", tensors, call


def recorded(tables: Sequence[pathlib.Path], count: int) -> tuple[str, list[dict[str, Any]]]:
    """(source, what the driver said of each launch) of launches that measure_gpu.py timed."""
    sys.path.insert(0, str(KERNELS.parents[1]))
    from benchmarks.timed_rows import timed_rows

    every = [timed for table in tables for timed in timed_rows(str(table))]
    chosen = _spread(every, count)
    calls = []
    told = []
    for number, timed in enumerate(chosen):
        job, row = timed.job, timed.row
        tensors = []
        given = []
        for name, of in job["types"].items():
            if of.startswith("*"):
                tensors.append(f"{name} = torch.empty((4096,), dtype=torch.{_TORCH[of[1:]]}, device='cuda')")
            given.append(f"{name}={name if of.startswith('*') else job['values'].get(name, 0.5)}")
        given += [f"{name}={value!r}" for name, value in job["constants"].items()]
        given += [f"{name}={job[name]}" for name in ("num_warps", "num_stages")]
        calls.append((tensors, f"{job['kernel']}[{tuple(job['grid'])}]({', '.join(given)})"))
        numbers = {"shared": int(row["shared"]), "registers": int(row["regs"]), "spills": int(row["spills"])}
        told.append({"run": f"run_{number:03}", "triton": RECORDED_WITH, **numbers})
    return _written(calls), told


def source() -> str:
    """The kernels, and a function for each launch, spread over all that there are."""
    return _written([(tensors, call) for _, tensors, call in _spread(list(launches()), COUNT)])


def _spread(every: Sequence[T], count: int) -> list[T]:
    return [every[number * len(every) // count] for number in range(min(count, len(every)))]


def _written(calls: Sequence[tuple[list[str], str]]) -> str:
    parts = ["import torch\n", KERNELS.read_text(encoding="utf-8")]
    for number, (tensors, call) in enumerate(calls):
        body = "".join(f"    {line}\n" for line in (*tensors, f"return {call}"))
        parts.append(f"\n\ndef run_{number:03}():\n{body}")
    return "".join(parts)


def launch(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    """What the driver says of each launch."""
    import torch
    import triton

    spec = importlib.util.spec_from_file_location("launches", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in sorted(name for name in vars(module) if name.startswith("run_")):
        row: dict[str, Any] = {"run": name, "triton": triton.__version__, "gpu": torch.cuda.get_device_name()}
        try:
            kernel = vars(module)[name]()
            torch.cuda.synchronize()
            row.update(shared=kernel.metadata.shared, registers=kernel.n_regs, spills=kernel.n_spills)
        except triton.runtime.errors.OutOfResources as error:
            row["refused"] = str(error)
        yield row


def compare(path: pathlib.Path, real: pathlib.Path, gpu: str, python: str) -> int:
    """Prints what differs; how many launches do."""
    from tritonlint.result_cache import cache_folder
    from tritonlint.settings import Resolver
    from tritonlint.verify.engine import Engine, Interpreter
    from tritonlint.verify.run import Wanted, verify
    from tritonlint.verify.store import Store

    told = [json.loads(line) for line in real.read_text(encoding="utf-8").splitlines()]
    with Engine(Interpreter(python), 2) as engine:
        if engine.triton() != told[0]["triton"]:
            sys.exit(f"launched with Triton {told[0]['triton']}, here is {engine.triton()}")
        report = verify(Wanted([str(path)], [gpu]), Resolver(isolated=True), engine, Store(cache_folder()))
    at = _launch_lines(path.read_text(encoding="utf-8"))
    wrong = 0
    for row in told:
        mine = [one for one in report.rows if one.line == at[row["run"]]]
        found = mine[0] if len(mine) == 1 else None
        if found is None or found.compiled is None:
            why = found.reason if found is not None else f"{len(mine)} rows of verify"
            print(f"{row['run']}: {why}")
            wrong += 1
            continue
        compiled = found.compiled
        if "refused" in row:
            same = not compiled["fits"]
        else:
            same = (compiled["shared_bytes"], compiled["registers"], compiled["spills"]) == (
                row["shared"], row["registers"], row["spills"]
            )  # fmt: skip
        if not same:
            wrong += 1
            print(f"{row['run']}: launched {row}, verified {compiled}")
    print(f"{len(told) - wrong} of {len(told)} launches equal")
    return wrong


def _launch_lines(text: str) -> dict[str, int]:
    """The line of the launch of each function."""
    found: dict[str, int] = {}
    name = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("def "):
            name = line[4 : line.index("(")]
        elif name.startswith("run_") and line.startswith("    return "):
            found[name] = number
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("write", "launch", "compare", "recorded"))
    parser.add_argument("launches", type=pathlib.Path)
    parser.add_argument("real", type=pathlib.Path, nargs="?")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--python", default=sys.executable, help="whose Triton compiles, for compare")
    parser.add_argument("--count", type=int, default=COUNT, help="launches, for recorded")
    options = parser.parse_args()
    if options.what == "write":
        options.launches.write_text(source(), encoding="utf-8")
        return 0
    if options.real is None:
        parser.error("the file of the real launches is needed")
    if options.what == "recorded":
        text, told = recorded(TABLES, options.count)
        options.launches.write_text(text, encoding="utf-8")
        options.real.write_text("".join(f"{json.dumps(row)}\n" for row in told), encoding="utf-8")
        return 0
    if options.what == "launch":
        with options.real.open("w", encoding="utf-8") as file:
            for row in launch(options.launches):
                file.write(json.dumps(row) + "\n")
        return 0
    return int(bool(compare(options.launches, options.real, options.gpu, options.python)))


if __name__ == "__main__":
    sys.exit(main())
