"""TL501: one resource keeps the CTAs per SM low."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.estimate_record import WAITS
from tritonlint.finding import Finding
from tritonlint.rule import Context, EstimateOf, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings
from tritonlint_rules.support.nearest import Change, search
from tritonlint_rules.support.say import milliseconds, percent
from tritonlint_rules.support.survey import Entry, all_entries, assumptions, by_config, by_place, certainty

CODE, NAME = "TL501", "occupancy-limited"
LOW = 0.5
_ARITHMETIC = ("tensor cores", "instructions", "special functions")
_GAIN = 0.05  # of the time; what is told apart by less is not told apart
_SHORT = {"shared memory": "smem", "registers": "registers", "tensor memory": "tensor memory"}


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        for groups in by_place(by_config(listed)):
            low = [group[0] for group in groups if _is_low(group[0])]
            if low:
                yield _draft(context, min(low, key=lambda entry: entry.of.estimate.occupancy), len(groups))


def _is_low(entry: Entry) -> bool:
    estimate = entry.of.estimate
    return (
        estimate is not None
        and estimate.fits
        and estimate.ctas_per_sm > 0
        and estimate.occupancy < LOW
        and estimate.limiter in _SHORT
    )


def _draft(context: Context, entry: Entry, of: int) -> Draft:
    estimate = entry.of.estimate
    unit = "SM" if entry.gpu.vendor == "nvidia" else "CU"
    plural = "CTA" if estimate.ctas_per_sm == 1 else "CTAs"
    message = f"limiter: {_SHORT[estimate.limiter]}, {estimate.ctas_per_sm} {plural}/{unit}"
    if estimate.waves is not None:
        message += f", last wave {percent(estimate.waves.last or 1)}"
    message += f" on {{gpus}}; occupancy {percent(estimate.occupancy)}"
    return Draft(
        place=entry.place,
        severity="info",
        # Registers are an estimate until the assembler has spoken.
        certainty=certainty(entry, "likely" if estimate.limiter == "registers" else "proven"),
        message=message,
        gpu=entry.gpu,
        config=config_values(entry.of.candidate) if of == 1 else None,
        of=entry.of,
        assumptions=assumptions(entry),
        help=_help(context, entry) if of == 1 else None,
    )


def _help(context: Context, entry: Entry) -> str | None:
    """Occupancy hides the time of memory accesses and of other waits: it is worth something where the kernel waits."""
    estimate = entry.of.estimate
    times = estimate.time_ms
    if times is not None and times.largest == WAITS:
        waits = (
            f"waits are the largest part ({milliseconds(times.largest_ms)} of {milliseconds(times.known)})"
        )
        change = _more_ctas(context, entry, faster=True)
        if change is None:
            return f"{waits}: no step to more CTAs makes it faster; deeper pipelining or other tiles may"
        return f"{waits}: {_told(entry, change)}"
    if estimate.bound == "compute":
        if times.largest not in ("", *_ARITHMETIC):
            return f"{times.largest} takes longest ({milliseconds(times.largest_ms)}): more CTAs would not make it faster"
        return (
            f"compute-bound ({milliseconds(times.compute)} against {milliseconds(times.memory)} of memory): "
            "more CTAs would not make it faster"
        )
    if estimate.bound != "memory":
        return None
    change = _more_ctas(context, entry, faster=False)
    if change is None:
        return f"memory-bound: {estimate.near}" if estimate.near else None
    return f"memory-bound: {_told(entry, change)}"


def _more_ctas(context: Context, entry: Entry, *, faster: bool) -> Change | None:
    """The first step to more CTAs and more warps; where `faster`, one whose predicted time is less, too."""
    estimate = entry.of.estimate

    def more(of: EstimateOf) -> bool:
        other = of.estimate
        if other is None or not other.fits or other.spills != "no" or (of.trace and of.trace.errors):
            return False
        if other.ctas_per_sm <= estimate.ctas_per_sm or other.occupancy <= estimate.occupancy:
            return False
        return not faster or (
            other.time_ms is not None and other.time_ms.known < estimate.time_ms.known * (1 - _GAIN)
        )

    return search(context, entry, more)


def _told(entry: Entry, change: Change) -> str:
    other, times = change.of.estimate, entry.of.estimate.time_ms
    text = f"{change.text} gives {other.ctas_per_sm} CTAs, occupancy {percent(other.occupancy)}"
    if other.time_ms is not None and None not in (other.time_ms.total, times.total):
        text += f", about {milliseconds(other.time_ms.total)} instead of {milliseconds(times.total)}"
    return text


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="info",
    what=(
        "Under half of the warps that a multiprocessor can hold, and which resource keeps it there: "
        "shared memory, registers or tensor memory."
    ),
    why=(
        "A multiprocessor hides the wait for memory by running other warps. With few of them, a kernel "
        "that waits for memory stands still. A kernel that keeps the tensor cores busy does not need "
        "them: the fastest matrix products run one CTA per SM. So this is a fact, not a fault."
    ),
    example="```text\nlimiter: smem, 1 CTA/SM, last wave 26% on rtx3070; occupancy 8%\n```",
    better=(
        "Where the kernel is memory-bound, or mostly waits: the step that is named, tried in this order: "
        "num_stages, BLOCK_K, BLOCK_M or BLOCK_N, num_warps. Where it is compute-bound: leave it."
    ),
    when_not="Compute-bound kernels, and kernels whose loads are pipelined deep enough.",
    source=(
        "NVIDIA's occupancy calculator (cuda_occupancy.h), equal on all its cases; AMD: LLVM's occupancy "
        "line."
    ),
    at_most="info",
    check=check,
    valid=(
        samples.miss(samples.launched_scale("BLOCK=1024, num_warps=4"), "small programs, full occupancy"),
        samples.miss(
            samples.launched_gemm("64x64x32", "num_warps=NW").replace(
                "(a, b, c, M, N, K):", "(a, b, c, M, N, K, NW):"
            ),
            "how many warps cannot be told",
        ),
    ),
    invalid=(
        samples.hit(
            samples.launched_gemm("128x128x64", "num_warps=4, num_stages=3"),
            "gemm[grid]",
            "limiter: smem, 1 CTA/SM, last wave 26%",
            gpu="rtx3070",
            severity="info",
        ),
        samples.hit(
            samples.launched_gemm("128x128x64", "num_warps=4, num_stages=3")
            .replace("import triton.language as tl", "from triton import language as tl")
            .replace("@triton.jit", "@jit")
            .replace("import triton\n", "import triton\nfrom triton import jit\n"),
            "gemm[grid]",
            "smem",
            gpu="rtx3070",
            why="jit by its own name",
        ),
    ),
)
