"""TL506: the launch waits for memory, not for arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.places import of_launch
from tritonlint_rules.support.say import milliseconds
from tritonlint_rules.support.survey import Entry, all_entries, assumptions, certainty, lower

CODE, NAME = "TL506", "memory-bound"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        timed = [
            entry
            for entry in listed
            if entry.of.estimate is not None and entry.of.estimate.time_ms is not None
        ]
        timed = [entry for entry in timed if entry.of.estimate.fits]
        if not timed:
            continue
        best = min(timed, key=lambda entry: entry.of.estimate.time_ms.known)
        if best.of.estimate.bound == "memory":
            yield _draft(best, len(timed))


def _draft(entry: Entry, of: int) -> Draft:
    estimate = entry.of.estimate
    times = estimate.time_ms
    moved = estimate.bytes_dram or estimate.bytes_min or 0
    best = "the best config takes " if of > 1 else ""
    return Draft(
        place=of_launch(entry.plan),
        severity="info",
        certainty=lower(certainty(entry), "likely"),
        message=(
            f"memory-bound on {{gpus}}: {best}{milliseconds(times.memory)} for {moved / 1e6:,.1f} MB, "
            f"{milliseconds(times.compute)} of arithmetic"
        ),
        gpu=entry.gpu,
        of=entry.of,
        assumptions=assumptions(entry),
        help=_help(entry),
    )


def _help(entry: Entry) -> str:
    estimate = entry.of.estimate
    least, moved = estimate.bytes_min, estimate.bytes_dram
    if least and moved and moved > 1.5 * least:
        times = f"{moved / least:.1f}x the least that has to be moved"
        return f"{times}: larger tiles or a grouped order read it less often"
    return (
        "near the least that has to be moved: fusing with the next kernel, or a smaller type, is what is left"
    )


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="info",
    what="With the sizes that are known, moving the data takes longer than computing with it.",
    why=(
        "A GPU has a balance of operations to bytes, about 100 to 300 FLOP a byte in half precision. A "
        "kernel below it waits for memory, and no tile size makes its arithmetic matter. What helps is "
        "fewer bytes."
    ),
    example="```text\nfp16 add of 2^24 elements on an RTX 3070: 225 us of memory, 0.4 us of arithmetic\n```",
    better="Fuse it with its neighbours, read each element once, keep data in a smaller type.",
    when_not="Elementwise kernels are memory-bound by nature.",
    source="Roofline: bytes that reach DRAM, with reuse in L2, over the bandwidth of the profile.",
    at_most="info",
    check=check,
    valid=(
        samples.miss(
            samples.launched_gemm("128x128x32", "num_warps=4, num_stages=3"),
            "4096^3 is compute-bound with L2",
        ),
        samples.miss(samples.launched_scale(), "n is not known"),
    ),
    invalid=(
        samples.hit(
            samples.launched_scale().replace("y_ptr=*fp32", "y_ptr=*fp32, n=16777216"),
            "scale[(",
            "134.2 MB",
            severity="info",
        ),
        samples.hit(
            samples.launched_scale()
            .replace("y_ptr=*fp32", "y_ptr=*fp32, n=16777216")
            .replace("import triton.language as tl", "from triton import language as tl"),
            "scale[(",
            "memory-bound",
            why="triton.language by another import",
        ),
    ),
)
