"""Tuned files as plans: each entry a candidate of the family's kernel, on the device that the file names."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tritonlint.source.families import SOURCES
from tritonlint.source.module import parse_file
from tritonlint.source.nodes import walk
from tritonlint.source.shared_platform import question
from tritonlint.source.sites import (
    AutotuneSite,
    Candidate,
    Config,
    KernelSource,
    LaunchPlan,
    Platform,
)
from tritonlint.source.text import SourceFile
from tritonlint.source.tuned import OPTIONS, Entry, TunedFile
from tritonlint.source.tuning_sites import default_stages
from tritonlint.source.values import DType, Knowledge, Known
from tritonlint.span import Span

# Keywords of the families' launches that do not change what the compiler makes of this program.
_HOST_ONLY = frozenset({"GROUP_SIZE_M", "SPLIT_K", "USE_TMA"})
_UNKNOWN = "import triton\n\n\n@triton.jit\ndef unknown():\n    pass\n"


def tuned_plans(tuned: TunedFile, platform: Platform) -> tuple[LaunchPlan, ...]:
    """The plan of a tuned file: none where it holds no config."""
    if not tuned.entries:
        return ()
    name, text = SOURCES.get(tuned.family, ("", _UNKNOWN))
    kernel = replace(_kernel(name, text, platform.triton), path=tuned.path)
    names = {parameter.name for parameter in kernel.parameters}
    stages = default_stages(platform.triton)
    configs = tuple(_config(entry, stages) for entry in tuned.entries)
    span = Span(1, 1, 1, 1)
    site = AutotuneSite(span, configs, True, None, False, (), path=tuned.path, tuned_file=True)
    candidates: list[Candidate] = []
    if name:
        for entry, config in zip(tuned.entries, configs, strict=True):
            candidate = _candidate(tuned, entry, config, names, platform)
            if candidate is not None:
                candidates.append(candidate)
    device = _device(tuned)
    assumed: dict[str, Any] = {"gpu": device} if device else {}
    return (LaunchPlan(kernel, (), site, None, tuple(candidates) if device else (), assumed=assumed),)


def _device(tuned: TunedFile) -> str | None:
    """The profile or target of the file's device."""
    if tuned.device is None:
        return None
    from tritonlint.gpu.names import resolve

    return resolve(tuned.device)


@lru_cache(maxsize=16)
def _kernel(name: str, text: str, triton: tuple[int, int]) -> KernelSource:
    """The kernel of a family's program, without a path. The programs ask nothing of the platform, so that all files and
    GPUs share it."""
    from tritonlint.source.interpreter import Interpreter
    from tritonlint.source.kernel_sources import kernel_source
    from tritonlint.source.kernels import Kernel

    module = parse_file(SourceFile("", text))
    for statement in module.statements:
        for node in walk(statement):
            # The program is not in the file: whatever is said of it stands at the file's start.
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = 1  # type: ignore[attr-defined]
                node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    interp = Interpreter(module, Platform("", triton))
    function = next(one for one in module.statements if isinstance(one, ast.FunctionDef))
    return kernel_source(interp, Kernel(name, function, interp.main, None))


def _config(entry: Entry, stages: int) -> Config:
    """`stages`: where the entry names none."""
    values = {key: value for key, value in entry.values.items() if _is_plain(value)}
    kwargs = {key: value for key, value in values.items() if key not in OPTIONS}
    given = frozenset(key for key in values if key in OPTIONS)
    return Config(
        kwargs,
        values.get("num_warps", 4),
        values.get("num_stages", stages),
        values.get("num_ctas", 1),
        values.get("maxnreg"),
        entry.span,
        entry.value_spans
        if len(values) == len(entry.values)
        else {key: entry.value_spans[key] for key in values},
        given,
    )


@question
def _own_float8(platform: Platform) -> bool:
    """Whether the target has an eight-bit format of its own."""
    return platform.arch == "gfx942"


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _candidate(
    tuned: TunedFile, entry: Entry, config: Config, names: set[str], platform: Platform
) -> Candidate | None:
    sizes = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")
    if any(type(config.kwargs.get(size)) is not int for size in sizes) or config.kwargs.get("USE_TMA"):
        return None  # the descriptor form is another program
    quant = _quantisation(tuned.dtype)
    if quant is None:
        return None
    mode, a_type, b_type = quant
    if a_type.startswith("fp8") and _own_float8(platform):
        a_type = b_type = "fp8e4b8"
    block = tuned.block_shape if tuned.block_shape is not None and len(tuned.block_shape) == 2 else None
    constants: dict[str, Knowledge] = {
        "GROUP_N": Known(block[0] if block else 0),
        "GROUP_K": Known(block[1] if block else 128 if mode == 3 else 0),
        "QUANT": Known(mode),
        "OUT": Known(DType("bf16")),
        "TOP_K": Known(2),
    }
    for size in sizes:
        constants[size] = Known(config.kwargs[size])
    if tuned.family == "fused-moe" and block is not None:
        # The launcher clamps the inner tile to the quantisation block.
        constants["BLOCK_SIZE_K"] = Known(min(config.kwargs["BLOCK_SIZE_K"], *block))
    types = {"a_ptr": f"*{a_type}", "b_ptr": f"*{b_type}", "c_ptr": "*bf16", "a_scale_ptr": "*fp32",
             "b_scale_ptr": "*fp32" if mode == 1 else "*bf16", "weight_ptr": "*fp32", "token_ptr": "*i32",
             "expert_ptr": "*i32", "padded_ptr": "*i32"}  # fmt: skip
    extra: dict[str, Knowledge] = {
        key: Known(value)
        for key, value in config.kwargs.items()
        if key not in names and key not in _HOST_ONLY
    }
    assumptions = (f"the {tuned.family} kernel, {tuned.dtype or 'bf16'} operands (file name)",)
    return Candidate(
        config,
        {name: value for name, value in constants.items() if name in names},
        {name: value for name, value in types.items() if name in names},
        {},
        Known(config.num_warps),
        Known(config.num_stages),
        Known(config.num_ctas),
        Known(config.maxnreg),
        extra,
        None,
        "",
        assumptions,
    )


def _quantisation(dtype: str) -> tuple[int, str, str] | None:
    """(mode of the kernel, type of A, type of B) of a file name's dtype; None where it is not known."""
    known = {
        "": (0, "bf16", "bf16"), "bf16": (0, "bf16", "bf16"), "bfloat16": (0, "bf16", "bf16"),
        "float16": (0, "fp16", "fp16"), "fp8_w8a8": (1, "fp8e4nv", "fp8e4nv"), "float8": (1, "fp8e4nv", "fp8e4nv"),
        "int8_w8a8": (1, "i8", "i8"), "int8_w8a16": (2, "bf16", "i8"), "int4_w4a16": (3, "bf16", "u8"),
    }  # fmt: skip
    return known.get(dtype)
