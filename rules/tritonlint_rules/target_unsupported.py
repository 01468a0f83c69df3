"""TL208: a GPU that the Triton release does not compile for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tritonlint.finding import Finding
from tritonlint.kernel.ir import Block
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.places import of_kernel, of_launch
from tritonlint_rules.support.survey import entries

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile

CODE, NAME = "TL208", "target-unsupported"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    major, minor = context.triton
    for gpu in context.gpus:
        verdict = _verdict(gpu, context.triton)
        if verdict is None:
            continue
        reason, since = verdict
        traces = [entry.of.trace for entry in entries(context, gpu) if entry.of.trace is not None]
        if not any(_has_dot(trace.function.body) for trace in traces):
            continue
        plan = context.plan_on(gpu)
        yield Draft(
            place=of_launch(plan) if plan.launch is not None else of_kernel(plan),
            severity="error",
            certainty="proven",
            message=f"Triton {major}.{minor} does not compile a dot for {gpu.arch} ({{gpus}}): {reason}",
            gpu=gpu,
            help=f"Triton {since} is the first that does",
        )


def _verdict(gpu: GpuProfile, triton: tuple[int, int]) -> tuple[str, str] | None:
    if gpu.vendor == "nvidia" and gpu.capability >= 100 and triton < (3, 3):
        return "the compiler aborts the process (computeCapability not supported)", "3.3"
    if gpu.arch == "gfx950" and (3, 0) <= triton < (3, 2):
        return "the architecture came later", "3.2"
    return None


def _has_dot(block: Block) -> bool:
    return any(
        op.name in ("tt.dot", "tt.dot_scaled") or any(_has_dot(inner) for inner in op.blocks)
        for op in block.ops
    )


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="A kernel with a dot, for a GPU that is newer than the Triton release.",
    why=(
        "Up to 3.2, Triton picks the tensor-core instruction with a table that ends at Hopper: for "
        "Blackwell (sm_100, sm_120) the compiler aborts the whole Python process, with no exception to "
        "catch."
    ),
    example=(
        "```text\n"
        'Triton 3.2, RTX 5090 (sm_120): Assertion `false && "computeCapability not supported"` failed\n'
        "```"
    ),
    better="Triton 3.3 or newer; the matching PyTorch is 2.7.",
    when_not="Kernels without a dot compile there.",
    source="Triton 2.1 to 3.9 compiled for sm_70 to sm_121 and gfx90a to gfx1250.",
    check=check,
    valid=(
        samples.miss(samples.launched_gemm("64x64x32"), "3.3 knows Blackwell", gpu="rtx5090", triton="3.3"),
        samples.miss(samples.launched_gemm("64x64x32"), "Hopper was known", gpu="h100", triton="3.2"),
        samples.miss(samples.launched_scale(), "no dot in the kernel", gpu="rtx5090", triton="3.2"),
    ),
    invalid=(
        samples.hit(
            samples.launched_gemm("64x64x32"),
            "gemm[grid]",
            "sm_120",
            gpu="rtx5090",
            triton="3.2",
            severity="error",
        ),
        samples.hit(
            samples.launched_gemm("64x64x32").replace(
                "import triton.language as tl", "from triton import language as tl"
            ),
            "gemm[grid]",
            "sm_100",
            gpu="b200",
            triton="3.1",
            why="triton.language by another import",
        ),
    ),
)
