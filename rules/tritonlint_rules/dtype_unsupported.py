"""TL206: a data type that the GPU, or the release for it, cannot compute with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tritonlint.finding import Finding
from tritonlint.kernel.ir import CompileError, Op
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings
from tritonlint_rules.support.errors import refusals
from tritonlint_rules.support.memory import operations
from tritonlint_rules.support.places import of_line
from tritonlint_rules.support.survey import Entry, all_entries, assumptions, list_certainty, lower
from tritonlint_rules.support.vendors import speaks_of_amd

CODE, NAME = "TL206", "dtype-unsupported"
_AMD_TYPES = ("fp8e4b8", "fp8e5b16")


def check(context: Context) -> Iterable[Finding]:
    refused = refusals(context, ("dtype-unsupported",), _message, _help, needs_types=True)
    return findings(CODE, NAME, context, [*(_lacking(context, draft) for draft in refused), *_dots(context)])


def _lacking(context: Context, draft: Draft) -> Draft:
    """Another GPU has the type, and there the same program runs. AMD's own types, in a file that speaks of AMD, are
    not for the others."""
    foreign = draft.gpu is not None and draft.gpu.vendor == "nvidia" and draft.message.startswith(_AMD_TYPES)
    foreign = foreign and speaks_of_amd(context)
    return replace(draft, lacks=True, certainty="possible" if foreign else draft.certainty)


def _message(entry: Entry, error: CompileError) -> str:
    dtype = error.values.get("dtype")
    if not isinstance(dtype, str):
        return error.message
    return f"{dtype} is not supported on {entry.gpu.arch} ({{gpus}})"


def _help(entry: Entry, error: CompileError) -> str | None:
    dtype = error.values.get("dtype")
    if dtype == "fp8e4nv":
        return "fp8e4nv needs sm_89 or newer; before, there are fp8e5 and fp8e4b15"
    return None


def _dots(context: Context) -> Iterator[Draft]:
    """Dots that pass the front end and fail in the back end."""
    for listed in all_entries(context):
        fine: set[int] = set()
        for entry in listed:
            trace = entry.of.trace
            if trace is None or trace.errors or id(trace) in fine:
                continue
            found = next(
                (
                    (op, reason)
                    for op in operations(trace.function.body)
                    if op.name == "tt.dot" and (reason := _refused(entry, op, context.triton))
                ),
                None,
            )
            if found is None:
                fine.add(id(trace))
                continue
            op, reason = found
            place = of_line(context, op.line, op.path) if op.line else entry.place
            yield Draft(
                place=place,
                severity="error",
                certainty=lower("likely" if assumptions(entry) else "proven", list_certainty(entry)),
                message=f"{reason} on {entry.gpu.arch} ({{gpus}})",
                gpu=entry.gpu,
                config=config_values(entry.of.candidate) if entry.in_list else None,
                assumptions=assumptions(entry),
                help="multiply and `tl.sum`, or convert the operands first",
                lacks=op.operands[0].type.element != "fp64",
            )
            break


def _refused(entry: Entry, op: Op, triton: tuple[int, int]) -> str | None:
    if entry.gpu.vendor != "nvidia" or len(op.operands) < 2:
        return None
    element = op.operands[0].type.element
    capability = entry.gpu.capability
    version = f"Triton {triton[0]}.{triton[1]}"
    if element == "i8" and capability < 80 and triton >= (3, 3):
        return f"a dot of int8 does not compile with {version}"
    if element == "i8" and capability == 70:
        return f"a dot of int8 does not compile with {version}"
    if element == "fp16" and capability in (70, 75) and triton == (3, 3):
        return f"a dot of fp16 does not compile with {version}"
    if element == "fp64" and triton < (3, 5):
        return f"a dot of fp64 does not compile with {version}"
    tf32 = str(op.attrs.get("input_precision", "")) == "tf32"
    if element == "fp32" and capability == 75 and (3, 0) <= triton <= (3, 2) and tf32:
        return f'a dot of fp32 crashes {version} without input_precision="ieee"'
    return None


_INT8 = (
    samples.launched_gemm("64x64x64", types="*i8")
    .replace("dtype=tl.float32", "dtype=tl.int32")
    .replace("c_ptr=*i8", "c_ptr=*i32")
)

_FNUZ = samples.launched_gemm("64x64x64", types="*fp8e4b8").replace("c_ptr=*fp8e4b8", "c_ptr=*fp16")

_EITHER = """import torch
import triton
import triton.language as tl


@triton.jit
def convert(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i).to(y_ptr.dtype.element_ty))


def to_fp8(x, dtype=torch.float8_e4m3fn):
    assert dtype in (torch.float8_e4m3fnuz, torch.float8_e4m3fn)
    y = torch.empty_like(x, dtype=dtype)
    convert[(1,)](x, y, BLOCK=1024)
    return y
"""

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="A data type, or a dot of that type, that the target does not have.",
    why=(
        "fp8e4nv exists from sm_89 on. Triton 3.3 took out the tensor cores of sm_70 and sm_75: dots of "
        "int8 no longer compile there. fp64 dots compile from 3.5 on."
    ),
    example="```python\nscores = tl.dot(q_int8, k_int8)  # on a T4 (sm_75) with Triton 3.9\n```",
    better="```python\nscores = tl.dot(q_int8.to(tl.float16), k_int8.to(tl.float16))\n```",
    when_not=(
        "The branch with that type is never taken on that GPU, and the linter cannot tell. AMD's own types in a "
        "file that speaks of AMD are reported as `possible` only, and so is every type where no GPU was named."
    ),
    source="Triton 2.1 to 3.9 compiled for sm_70 to sm_121.",
    check=check,
    valid=(
        samples.miss(_INT8, "Ampere has int8 tensor cores"),
        samples.miss(samples.launched_gemm("64x64x64"), "fp16 runs on a T4, without tensor cores", gpu="t4"),
        samples.miss(
            samples.launched_gemm("64x64x64", types="*fp8e4nv").replace("c_ptr=*fp8e4nv", "c_ptr=*fp16"),
            "sm_89 has it",
            gpu="rtx4090",
        ),
        samples.miss(_EITHER, "one of two types, and nobody says which", gpu="h100"),
        samples.miss('"""Kernels for ROCm."""\n\n' + _FNUZ, "AMD's type in a file for AMD's GPUs"),
    ),
    invalid=(
        samples.hit(_INT8, "acc = tl.dot", "int8", gpu="t4", severity="error"),
        samples.hit(_FNUZ, "gemm[grid]", "fp8e4b8", gpu="h100", severity="error"),
        samples.hit(
            samples.launched_gemm("64x64x64", types="*fp8e4nv").replace("c_ptr=*fp8e4nv", "c_ptr=*fp16"),
            "gemm[grid]",
            "fp8e4nv",
            severity="error",
        ),
        samples.hit(
            _INT8.replace("tl.", "L.").replace(
                "import triton.language as tl", "from triton import language as L"
            ),
            "acc = L.dot",
            "int8",
            gpu="t4",
            why="triton.language under another name",
        ),
    ),
)
