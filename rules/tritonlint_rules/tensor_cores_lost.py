"""TL503: a dot that does not get the tensor cores that the GPU has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.compiler.compiled import DotFact
from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings
from tritonlint_rules.support.places import note_of_line
from tritonlint_rules.support.survey import (
    Entry,
    all_entries,
    assumptions,
    by_config,
    by_place,
    certainty,
    never_runs,
)

CODE, NAME = "TL503", "tensor-cores-lost"
_NAMES = {
    "none": "no tensor cores",
    "mma_v1": "mma_v1",
    "mma_v2": "mma.sync (mma_v2)",
    "wgmma": "wgmma",
    "tcgen05": "tcgen05",
    "mfma": "mfma",
    "wmma": "wmma",
}


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        for groups in by_place(by_config(listed)):
            lost = [(group[0], dot) for group in groups if (dot := _lost(group[0])) is not None]
            if not lost:
                continue
            entry, dot = lost[0]
            what = f"a {dot.m}x{dot.n}x{dot.k} dot of {dot.a_type}"
            message = f"{what} runs with {_NAMES[dot.tensor_cores]} on {{gpus}}: {dot.why}"
            if len(groups) > 1:
                message = f"{len(lost)} of {len(groups)} configs: {message}"
            yield Draft(
                place=entry.place,
                severity="info",
                certainty=certainty(entry),
                message=message,
                gpu=entry.gpu,
                config=config_values(entry.of.candidate) if len(groups) == 1 else None,
                of=entry.of,
                assumptions=assumptions(entry),
                related=note_of_line(entry.plan, dot.line, "the dot"),
            )


def _lost(entry: Entry) -> DotFact | None:
    """The first dot in a loop (else anywhere) with a reason for not being the best."""
    estimate = entry.of.estimate
    if estimate is None or estimate.compiled is None or never_runs(entry):
        return None
    dots: list[DotFact] = [dot for dot in estimate.compiled.dots if dot.why]
    return next((dot for dot in dots if dot.in_loop), dots[0] if dots else None)


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="info",
    what=(
        "A dot that runs on older tensor cores than the GPU's own, or on none at all, and the condition "
        "that failed."
    ),
    why=(
        "Hopper's wgmma needs `num_warps` a multiple of 4, BLOCK_M of 64 and BLOCK_N of 8, and operands "
        "in the right order; Blackwell's tcgen05 needs 4 or 8 warps. What does not meet them falls back "
        "to mma.sync without a word, at about "
        'half the rate. fp32 with `input_precision="ieee"`, fp64 on most GPUs, and anything on sm_70 and '
        "sm_75 with Triton "
        "3.3 or newer run on the ordinary units, many times slower."
    ),
    example='```python\ntriton.Config({"BLOCK_M": 32, ...}, num_warps=4)  # on Hopper: mma_v2\n```',
    better='```python\ntriton.Config({"BLOCK_M": 64, ...}, num_warps=4)  # wgmma\n```',
    when_not="Small batches (decoding) have no 64 rows to give; then the older instruction is right.",
    source="Triton's choice of instruction, read and compiled in 2.1 to 3.9.",
    at_most="info",
    check=check,
    valid=(
        samples.miss(samples.launched_gemm("64x64x32", "num_warps=4"), "all conditions hold", gpu="h100"),
        samples.miss(samples.launched_gemm("32x64x32", "num_warps=4"), "mma_v2 is the best that Ampere has"),
        samples.miss(samples.launched_scale(), "no dot"),
    ),
    invalid=(
        samples.hit(
            samples.launched_gemm("32x64x32", "num_warps=4"),
            "gemm[grid]",
            "mma_v2",
            gpu="h100",
            severity="info",
        ),
        samples.hit(
            samples.launched_gemm("128x128x64", "num_warps=16"),
            "gemm[grid]",
            "mma_v2",
            gpu="b200",
            severity="info",
        ),
        samples.hit(
            samples.launched_gemm("64x64x32", "num_warps=2").replace(
                "import triton.language as tl", "from triton import language as tl"
            ),
            "gemm[grid]",
            "mma_v2",
            gpu="h100",
            why="triton.language by another import",
        ),
    ),
)
