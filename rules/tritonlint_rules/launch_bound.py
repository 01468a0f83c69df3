"""TL507: the launch itself takes longer than what it does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.places import of_launch
from tritonlint_rules.support.say import milliseconds
from tritonlint_rules.support.survey import all_entries, assumptions, certainty, lower

CODE, NAME = "TL507", "launch-bound"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        timed = [
            entry
            for entry in listed
            if entry.of.estimate is not None
            and entry.of.estimate.fits
            and entry.of.estimate.time_ms is not None
        ]
        if not timed or not all(entry.of.estimate.bound == "launch" for entry in timed):
            continue
        entry = timed[0]
        times = entry.of.estimate.time_ms
        yield Draft(
            place=of_launch(entry.plan),
            severity="info",
            certainty=lower(certainty(entry), "likely"),
            message=(
                f"launch-bound on {{gpus}}: about {milliseconds(times.launch)} to launch, "
                f"{milliseconds(max(times.compute, times.memory))} of work"
            ),
            gpu=entry.gpu,
            of=entry.of,
            assumptions=assumptions(entry),
            help="fuse it with its neighbours, batch several in one launch, or replay it from a CUDA graph",
        )


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="info",
    what="With the sizes that are known, the work is less than the least time of a launch.",
    why=(
        "Starting a kernel takes a few microseconds, whatever it does. Below that, tiles and warps make "
        "no difference; fewer launches do."
    ),
    example=(
        "```text\n"
        "a 64 x 64 x 64 product on an RTX 3070: 0.013 us of arithmetic, 0.05 us of memory, 5 us to "
        "launch\n"
        "```"
    ),
    better="A fused kernel, a batched one, or a CUDA graph.",
    when_not="A kernel that runs once.",
    source="The launch floor of the GPU's profile; roofline as in TL506.",
    at_most="info",
    check=check,
    valid=(
        samples.miss(
            samples.launched_gemm("128x128x32", "num_warps=4"), "4096^3 is work enough", gpu="rtx3070"
        ),
        samples.miss(samples.launched_gemm("64x64x32", sizes="K=64"), "M and N are not known", gpu="rtx3070"),
    ),
    invalid=(
        samples.hit(
            samples.launched_gemm("64x64x32", sizes="M=64, N=64, K=64"),
            "gemm[grid]",
            "launch-bound",
            gpu="rtx3070",
            severity="info",
        ),
        samples.hit(
            samples.launched_gemm("64x64x32", sizes="M=64, N=64, K=64").replace(
                "import triton.language as tl", "from triton import language as tl"
            ),
            "gemm[grid]",
            "5 us",
            gpu="rtx3070",
            why="triton.language by another import",
        ),
    ),
)
