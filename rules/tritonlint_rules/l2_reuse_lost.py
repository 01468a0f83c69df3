"""TL509: an order of programs that reads the same data from memory again and again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.places import of_launch
from tritonlint_rules.support.say import milliseconds
from tritonlint_rules.support.survey import Entry, all_entries, assumptions, certainty, lower

CODE, NAME = "TL509", "l2-reuse-lost"
TIMES = 3.0  # the least data, read so often from memory


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        timed = [entry for entry in listed if _is_timed(entry)]
        if not timed:
            continue
        best = min(timed, key=lambda entry: entry.of.estimate.time_ms.known)
        estimate = best.of.estimate
        if (
            estimate.bytes_dram < TIMES * estimate.bytes_min
            or estimate.time_ms.memory < estimate.time_ms.compute
        ):
            continue
        yield _draft(best)


def _is_timed(entry: Entry) -> bool:
    estimate = entry.of.estimate
    return bool(
        estimate is not None
        and estimate.fits
        and estimate.time_ms is not None
        and estimate.bytes_dram
        and estimate.bytes_min
        and estimate.compiled is not None
        and any(dot.in_loop for dot in estimate.compiled.dots)
    )


def _draft(entry: Entry) -> Draft:
    estimate = entry.of.estimate
    return Draft(
        place=of_launch(entry.plan),
        severity="info",
        certainty=lower(certainty(entry), "likely"),
        message=(
            f"{estimate.bytes_dram / estimate.bytes_min:.1f}x the least data comes from memory on "
            f"{{gpus}}: the programs of a wave share too little of it in L2 "
            f"({milliseconds(estimate.time_ms.memory)} of memory, "
            f"{milliseconds(estimate.time_ms.compute)} of arithmetic)"
        ),
        gpu=entry.gpu,
        of=entry.of,
        assumptions=assumptions(entry),
        help="number the programs in groups of rows (GROUP_M in Triton's matmul tutorial)",
    )


_LARGE = samples.launched_gemm("64x64x32", "num_warps=4, num_stages=3", sizes="M=16384, N=16384, K=16384")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="info",
    what=(
        "A matrix product whose order of programs reads its operands from memory several times, and waits "
        "for it."
    ),
    why=(
        "The programs that run at the same time share what they read in L2. In row order a wave covers "
        "one strip of rows and the whole width, so that all of B passes through L2 for each strip. In "
        "groups of rows a wave covers a square, and needs the least of both."
    ),
    example="```python\npid_m, pid_n = tl.program_id(0), tl.program_id(1)\n```",
    better=(
        "```python\n"
        "pid = tl.program_id(0)\n"
        "group = pid // (GROUP_M * tiles_n)\n"
        "pid_m = group * GROUP_M + pid % GROUP_M\n"
        "pid_n = (pid % (GROUP_M * tiles_n)) // GROUP_M\n"
        "```"
    ),
    when_not="Matrices that fit into L2 (50 MB on an H100).",
    source="Waves of programs against an L2 with least-recently-used strips.",
    at_most="info",
    check=check,
    valid=(
        samples.miss(
            samples.launched_gemm("128x128x32", "num_warps=4"), "96 MB, mostly held by L2", gpu="h100"
        ),
        samples.miss(samples.launched_gemm("128x128x32", sizes="K=64"), "M and N are not known"),
        samples.miss(samples.launched_scale(), "no product"),
    ),
    invalid=(
        samples.hit(_LARGE, "gemm[grid]", "least data", gpu="rtx3070", severity="info"),
        samples.hit(
            _LARGE.replace("import triton.language as tl", "from triton import language as tl"),
            "gemm[grid]",
            "L2",
            gpu="rtx3070",
            why="triton.language by another import",
        ),
    ),
)
