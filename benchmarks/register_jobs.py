"""The launches of register_kernels.py that are compiled for the fit: as job lines for compile_registers.py.

python benchmarks/register_jobs.py > jobs.jsonl
"""

from __future__ import annotations

import ast
import itertools
import json
import pathlib
from collections.abc import Iterator
from typing import Any

FILE = pathlib.Path(__file__).with_name("register_kernels.py")
FLOATS = {"scale", "lr", "beta1", "beta2", "eps", "decay", "step", "rate", "smoothing"}
WIDE = {
    "mean_out",
    "rstd_out",
    "mean_in",
    "rstd_in",
    "lse",
    "delta",
    "m",
    "v",
    "scale_out",
    "sa_ptr",
    "sb_ptr",
    "loss",
}
INTEGERS = {"ids": "*i32", "slots": "*i32", "labels": "*i32"}

Sizes = dict[str, tuple[Any, ...]]
ROW: Sizes = {"BLOCK": (512, 1024, 4096, 8192, 16384)}
FLAT: Sizes = {"BLOCK": (256, 1024, 4096)}
WARPS = (1, 2, 4, 8)
TILE: Sizes = {"BM": (16, 64), "BN": (32, 128)}
# kernel: compile-time sizes, element types of its pointers, numbers of warps
LAUNCHES: dict[str, tuple[Sizes, tuple[str, ...], tuple[int, ...]]] = {
    "add_vectors": (FLAT, ("fp16", "fp32"), WARPS),
    "scaled_copy": (FLAT, ("fp32",), (4,)),
    "gelu_exact": (FLAT, ("bf16", "fp32"), (4,)),
    "gelu_tanh_gate": (FLAT, ("bf16",), WARPS),
    "silu_gate_backward": ({"BLOCK": (256, 1024, 4096, 8192)}, ("bf16",), (1, 2, 4, 8, 16)),
    "adam_step": (FLAT, ("bf16", "fp32"), WARPS),
    "dropout_mask": (FLAT, ("fp32",), (4,)),
    "add_bias_tile": (TILE, ("fp16", "fp32"), (1, 2, 4)),
    "transpose_tile": ({"BM": (16, 64, 128), "BN": (32, 64, 128)}, ("fp16", "fp32"), WARPS),
    "strided_copy": (FLAT, ("fp16",), (4,)),
    "rotate_pairs": ({"BH": (4, 32), "HALF": (32, 64)}, ("bf16",), WARPS),
    "softmax_row": (ROW, ("fp16", "fp32"), (4, 8, 16)),
    "softmax_rows_tile": ({"BM": (1, 4, 16), "BN": (256, 1024)}, ("fp16", "fp32"), WARPS),
    "softmax_backward": (ROW, ("bf16",), (4, 8)),
    "softmax_online": (ROW, ("bf16", "fp32"), (4, 8)),
    "rms_norm_residual": (ROW, ("bf16",), (4, 8, 16)),
    "layer_norm_row": (ROW, ("fp16", "fp32"), (4, 8, 16)),
    "layer_norm_backward_rows": (ROW, ("fp16", "fp32"), (2, 4, 8, 16, 32)),
    "layer_norm_loops": (ROW, ("fp16", "fp32"), (4, 8)),
    "group_norm_tile": ({"CG": (4, 16), "BP": (256, 1024)}, ("fp16", "fp32"), WARPS),
    "cross_entropy_row": (ROW, ("bf16", "fp32"), (4, 8, 16, 32)),
    "sum_columns": (TILE, ("fp16", "fp32"), WARPS),
    "sum_rows": (TILE, ("fp16", "fp32"), WARPS),
    "mean_and_variance": (TILE, ("fp32",), (4,)),
    "argmax_row": (ROW, ("fp32",), (4, 8)),
    "matrix_vector": ({"BM": (1, 4, 16), "BN": (128, 256, 512)}, ("fp16", "fp32"), WARPS),
    "decode_by_sums": ({"BN": (16, 64), "D": (64, 128)}, ("fp16", "fp32"), (2, 4)),
    "merge_splits": ({"D": (64, 128)}, ("fp32",), (2, 4)),
    "cumulative_sum": ({"BM": (1, 4, 16), "BN": (128, 256, 1024)}, ("fp16", "fp32"), WARPS),
    "linear_recurrence": ({"BT": (64, 256), "BD": (16, 32)}, ("fp32",), WARPS),
    "state_steps": ({"BD": (32, 128), "N": (16, 64)}, ("bf16", "fp32"), (2, 4)),
    "sort_row": ({"BM": (1, 8), "BN": (64, 512)}, ("fp16", "fp32"), (4,)),
    "count_values": ({"BLOCK": (256, 2048), "BINS": (64, 256)}, ("i32",), (4,)),
    "gather_embedding": ({"BT": (1, 16), "BD": (128, 512)}, ("fp16", "fp32"), WARPS),
    "scatter_add_rows": (FLAT, ("fp16", "fp32"), WARPS),
    "scatter_add_tile": ({"BT": (4, 16), "BD": (64, 256)}, ("fp16", "fp32"), WARPS),
    "store_paged": ({"PAGE": (16,), "BLOCK": (512, 2048)}, ("fp16",), (4,)),
    "convolve_depthwise": ({"W": (4,), "BT": (8, 64), "BD": (64, 128)}, ("bf16",), (4,)),
    "max_pool": ({"K": (2, 3), "BH": (8, 32), "BW": (32, 64)}, ("fp32",), (4,)),
    "quantize_row": ({"LIMIT": (127,), **ROW}, ("bf16",), (1, 2, 4, 8, 16)),
    "quantize_groups": ({"LIMIT": (448,), "G": (64, 128), "BG": (1, 16)}, ("bf16",), (1, 4)),
    "unpack_int4": ({"G": (64,), "BK": (32, 64), "BN": (64, 128)}, ("fp16",), WARPS),
    "product_epilogue": (
        {"BM": (64, 128), "BN": (64, 128, 256), "BK": (32, 64), "ACT": (0, 2)}, ("fp16", "fp32"), (4, 8)
    ),
    "two_products": ({"BM": (32, 64, 128), "BN": (64, 128), "BK": (32, 64)}, ("bf16",), (4, 8)),
    "product_block_scales": ({"BM": (16, 64, 128), "BN": (64, 128), "BK": (128,)}, ("fp8e4nv", "i8"), (4, 8)),
    "product_descriptors": ({"BM": (64, 128), "BN": (64, 128, 256), "BK": (64,)}, ("fp16",), (4, 8)),
    "attention_causal": (
        {"BM": (64, 128), "BN": (32, 64, 128), "D": (64, 128), "CAUSAL": (True,)}, ("fp16",), (4, 8)
    ),
    "attention_backward_keys": ({"BM": (32, 64), "BN": (64, 128), "D": (64, 128)}, ("bf16",), (4, 8)),
    "product_of_nibbles": (
        {"BM": (16, 64), "BN": (32, 64, 128), "BK": (32, 64, 128)}, ("fp16",), (4, 8)
    ),
    "decode_products": ({"G": (16,), "BN": (16, 64, 128), "D": (64, 128)}, ("bf16",), WARPS),
    "chunk_products": ({"BT": (32, 64), "DK": (64, 128), "DV": (32, 64)}, ("bf16",), (4, 8)),
}  # fmt: skip
EIGHT_BIT_RESULTS = {"quantize_row": "i8", "quantize_groups": "fp8e4nv"}
HALF_RESULTS = ("product_block_scales",)


def jobs() -> Iterator[dict[str, Any]]:
    """Every launch, for 1 or 3 stages in turns where the kernel has a loop."""
    functions = {f.name: f for f in ast.parse(FILE.read_text()).body if isinstance(f, ast.FunctionDef)}
    for kernel, (sizes, elements, warps) in LAUNCHES.items():
        parameters = functions[kernel].args.args
        loops = any(isinstance(node, ast.For) for node in ast.walk(functions[kernel]))
        products = itertools.product(itertools.product(*sizes.values()), elements, warps)
        for number, (values, element, count) in enumerate(products):
            consts = dict(zip(sizes, values, strict=True))
            types = {
                p.arg: _type(kernel, p.arg, element, functions[kernel], consts)
                for p in parameters
                if p.annotation is None
            }
            stages = (3, 4, 2)[number % 3] if loops else 3
            yield {
                "project": "own",
                "file": FILE.name,
                "kernel": kernel,
                "line": functions[kernel].lineno,
                "sig": types | dict.fromkeys(consts, "constexpr"),
                "consts": consts,
                "div": [name for name, kind in types.items() if kind[0] in "*i"],
                "num_warps": count,
                "num_stages": stages,
                "num_ctas": 1,
            }


def _type(kernel: str, name: str, element: str, function: ast.FunctionDef, consts: dict[str, Any]) -> str:
    """A pointer where the kernel loads or stores through it."""
    if kernel == "product_descriptors" and name in ("a", "b", "c"):
        rows, columns = {"a": ("BM", "BK"), "b": ("BN", "BK"), "c": ("BM", "BN")}[name]
        return f"tensordesc<{element}[{consts[rows]}, {consts[columns]}]>"
    if name in INTEGERS:
        return INTEGERS[name]
    if name in FLOATS and not (kernel == "chunk_products" and name == "decay"):
        return "fp32"
    if name not in _pointers(function):
        return "i32"
    if name == "q" and kernel in EIGHT_BIT_RESULTS:
        return f"*{EIGHT_BIT_RESULTS[kernel]}"
    if name == "c" and kernel in HALF_RESULTS:
        return "*fp16"
    if kernel == "unpack_int4" and name in ("w", "zeros"):
        return "*i32"
    if kernel == "product_of_nibbles" and name == "w":
        return "*i8"
    wide = name in WIDE and (kernel == "adam_step" or name not in ("m", "v"))
    return "*fp32" if wide else f"*{element}"


def _pointers(function: ast.FunctionDef) -> set[str]:
    """Parameters that stand as the base of an address: the leftmost name of what is loaded, stored or moved on."""
    arguments = {p.arg for p in function.args.args if p.annotation is None}
    found: set[str] = set()
    for node in ast.walk(function):
        is_access = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("load", "store", "atomic_add")
        )
        starts = (
            [node.args[0]]
            if is_access and node.args
            else [node.value]
            if isinstance(node, ast.Assign)
            else []
        )
        for start in starts:
            leftmost = start
            while isinstance(leftmost, ast.BinOp):
                leftmost = leftmost.left
            if (
                isinstance(leftmost, ast.Name)
                and leftmost.id in arguments
                and (is_access or start is not leftmost)
            ):
                found.add(leftmost.id)
    return found


if __name__ == "__main__":
    for job in jobs():
        print(json.dumps(job))
