"""Rows of timed launches (measure_gpu.py, or a table of the same kind) as launches of the estimator."""

from __future__ import annotations

import csv
import json
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

HERE = pathlib.Path(__file__).parent
_TYPES = {"fp16": "fp16", "bf16": "bf16", "fp32": "fp32", "fp8": "fp8e4nv"}


@dataclass(frozen=True)
class Timed:
    """One launch: a job for the estimator, and what was measured."""

    group: str  # kernel and problem: launches that do the same
    kernel: str
    dtype: str
    job: dict[str, Any]
    ms: float
    row: dict[str, Any]

    @property
    def config(self) -> str:
        """What was chosen for it."""
        chosen = ", ".join(f"{name}={value}" for name, value in self.job["constants"].items())
        return f"{chosen}, num_warps={self.job['num_warps']}, num_stages={self.job['num_stages']}"


def timed_rows(
    path: str, kernels: str = str(HERE / "gpu_kernels.py"), gpu: str = "h200", *, refused: bool = False
) -> Iterator[Timed]:
    """The launches of a table that ran, or those that the driver `refused`, with a time of 0. `kernels` is the file
    that holds them."""
    for row in _rows(path):
        error = row.get("error") or ""
        if "OutOfResources" not in error if refused else error or not row["ms"]:
            continue
        shape = _whole if "types" in row else _ours if "p_M" in row else _plain
        types, values, constants, grid, size = shape(row)
        job = {
            "file": kernels,
            "kernel": row["kernel"],
            "types": types,
            "constants": constants,
            "values": values,
            "divisible_by_16": [
                name for name, of in types.items() if of.startswith("*") or values.get(name, 1) % 16 == 0
            ],
            "num_warps": int(row["warps"]),
            "num_stages": int(row["stages"]),
            "grid": grid,
            "gpu": gpu,
            "triton": "3.6",
        }
        dtype = row.get("dtype", "")
        group = " ".join(word for word in (row["kernel"], dtype, size) if word)
        yield Timed(group, row["kernel"], dtype, job, float(row.get("ms") or 0), row)


def _rows(path: str) -> Iterator[dict[str, Any]]:
    with open(path, newline="", encoding="utf-8") as file:
        if path.endswith(".jsonl"):
            yield from map(json.loads, file)
        else:
            yield from csv.DictReader(file)


Launch = tuple[dict[str, str], dict[str, Any], dict[str, Any], list[int], str]


def _whole(row: dict[str, Any]) -> Launch:
    """A row of held_out.py, which holds all that is asked."""
    return row["types"], row["values"], row["constants"], row["grid"], row["problem"]


def _constants(row: dict[str, str], names: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column, name in names.items():
        if row.get(column):
            value = int(float(row[column]))
            found[name] = bool(value) if name in ("CAUSAL", "B_BY_COLUMN") else value
    return found


def _ours(row: dict[str, str]) -> Launch:
    """A row of measure_gpu.py."""
    of = _TYPES[row["dtype"]]
    names = {column: column[2:] for column in row if column.startswith("m_")}
    constants = _constants(row, names)
    m, n, k, heads, length = (int(row[f"p_{x}"] or 0) for x in "MNKHS")
    kernel = row["kernel"]
    split = constants.get("SPLIT", 1)
    grid = [int(row["grid"] or split) // split, split]
    i32 = dict.fromkeys
    if kernel.startswith("gemm"):
        out = "fp32" if of == "fp32" or kernel == "gemm_split_k" else "bf16"
        by_column = constants.get("B_BY_COLUMN", False)
        values = dict(M=m, N=n, K=k, stride_a=k, stride_b=k if by_column else n, stride_c=n)
        types = {"a": f"*{of}", "b": f"*{of}", "c": f"*{out}"}
        types |= {"b": "*i8", "scales": "*fp32"} if kernel == "gemm_int8_weights" else {}
        return {**types, **i32(values, "i32")}, values, constants, grid, f"{m}x{n}x{k}"
    if kernel == "attention":
        d, rows = constants["D"], -(-length // constants["BM"])
        values = dict(head_stride=length * d, row_stride=d, length=length)
        types = {**dict.fromkeys("qkvo", f"*{of}"), "scale": "fp32", **i32(values, "i32")}
        causal = " causal" if constants["CAUSAL"] else ""
        return types, values, constants, [rows, heads], f"{heads}x{length}x{d}{causal}"
    if kernel in ("softmax", "layer_norm"):
        values = dict(columns=n, stride=n)
        types = dict.fromkeys(("x", "y") if kernel == "softmax" else ("x", "weight", "bias", "y"), f"*{of}")
        types |= {} if kernel == "softmax" else {"eps": "fp32"}
        return {**types, **i32(values, "i32")}, values, constants, grid, f"{m}x{n}"
    if kernel == "rms_norm":
        values = dict(columns=n, stride=n)
        types = {**dict.fromkeys(("x", "weight", "y"), f"*{of}"), "eps": "fp32", **i32(values, "i32")}
        return types, values, constants, grid, f"{m}x{n}"
    if kernel == "rope":
        half = constants["HALF"]
        values = dict(heads=heads, stride=2 * half * heads)
        types = {**dict.fromkeys(("x", "cosines", "sines", "y"), f"*{of}"), **i32(values, "i32")}
        return types, values, constants, grid, f"{m}x{heads}x{2 * half}"
    if kernel == "transpose":
        values = dict(rows=m, columns=n)
        return {"x": f"*{of}", "y": f"*{of}", **i32(values, "i32")}, values, constants, grid, f"{m}x{n}"
    if kernel == "silu_mul":
        types = {"x": f"*{of}", "gate": f"*{of}", "y": f"*{of}", "n": "i32"}
        return types, dict(n=m), constants, grid, str(m)
    values = dict(rows=m, columns=n, stride=n)
    out = "fp32" if kernel == "column_sum_parts" else of
    return {"x": f"*{of}", "y": f"*{out}", **i32(values, "i32")}, values, constants, grid, f"{m}x{n}"


def _plain(row: dict[str, str]) -> Launch:
    """A row of a table without columns of sizes: products of 4096^3, attention of 64 heads and 4096 positions, 2^27
    elements elsewhere."""
    of = _TYPES[row["dtype"]]
    names = {column: column[2:] for column in row if column.startswith("m_")}
    constants = _constants(row, names)
    kernel = row["kernel"]
    grid = [int(float(row["grid"] or 1))]
    if kernel.startswith("gemm"):
        values = dict(M=4096, N=4096, K=4096, sxm=4096, swk=4096, sym=4096)
        out = "fp32" if of == "fp32" else "fp16"
        types = {"x": f"*{of}", "w": f"*{of}", "y": f"*{out}", **dict.fromkeys(values, "i32")}
        return types, values, constants, grid, "4096x4096x4096"
    if kernel == "attention":
        d = constants["D"]
        values = dict(sh=4096 * d, sm=d, S=4096)
        types = {**dict.fromkeys("qkvo", f"*{of}"), "scale": "fp32", **dict.fromkeys(values, "i32")}
        return types, values, constants, [4096 // constants["BM"], 64], f"64x4096x{d}"
    block = constants["BLOCK"]
    if kernel == "rmsnorm":
        values = dict(n=block, stride=block)
        types = {"x": f"*{of}", "g": f"*{of}", "y": f"*{of}", "eps": "fp32", **dict.fromkeys(values, "i32")}
        return types, values, constants, grid, str(block)
    return dict.fromkeys("xyz", f"*{of}") | {"n": "i32"}, dict(n=1 << 27), constants, grid, "2^27"
