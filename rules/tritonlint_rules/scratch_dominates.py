"""TL505: scratch after the loop, not the loop's buffers, decides the shared memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.compiler.compiled import SharedPart
from tritonlint.finding import Finding, Severity
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings
from tritonlint_rules.support.grids import known_grid
from tritonlint_rules.support.parts import buffer_bytes, largest_scratch
from tritonlint_rules.support.places import note_of_line
from tritonlint_rules.support.say import bytes_text
from tritonlint_rules.support.survey import Entry, all_entries, assumptions, by_config, certainty

CODE, NAME = "TL505", "scratch-dominates"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        for group in by_config(listed):
            entry = group[0]
            if context.least != "info" and not _may_weigh(entry):
                continue
            estimate = entry.of.taken
            if estimate is None or not estimate.shared_exact:
                continue
            scratch = largest_scratch(estimate)
            buffers = buffer_bytes(estimate)
            if scratch is None or not buffers or scratch.shared_bytes <= buffers:
                continue
            if estimate.shared_bytes < scratch.shared_bytes:
                continue
            if not estimate.fits and estimate.shared_bytes <= entry.gpu.shared_bytes_per_cta:
                continue  # something else than memory is refused
            without = _ctas(entry, buffers)
            now = min(estimate.ctas_per_sm, _ctas(entry, estimate.shared_bytes))
            if estimate.fits and (estimate.limiter != "shared memory" or without <= now):
                continue
            yield _draft(entry, scratch, buffers)


def _may_weigh(entry: Entry) -> bool:
    """Whether the launch may not fit, or be known to wait for memory, which needs its grid."""
    return not entry.of.surely_fits or known_grid(entry.of.candidate) is not None


def _draft(entry: Entry, scratch: SharedPart, buffers: int) -> Draft:
    estimate = entry.of.estimate
    costs = "it does not fit" if not estimate.fits else f"{estimate.ctas_per_sm} CTAs/SM because of it"
    if estimate.fits and estimate.ctas_per_sm == 1:
        costs = "1 CTA/SM because of it"
    # Lost occupancy is a loss for certain only where the kernel waits for memory, or does not run at all.
    severity: Severity = "warning" if not estimate.fits or estimate.bound == "memory" else "info"
    return Draft(
        place=entry.place,
        severity=severity,
        certainty=certainty(entry),
        message=(
            f"scratch decides: {scratch.label} takes {bytes_text(scratch.shared_bytes)}, the loop's buffers "
            f"{bytes_text(buffers)}; {costs} on {{gpus}}"
        ),
        gpu=entry.gpu,
        config=config_values(entry.of.candidate),
        of=entry.of,
        assumptions=assumptions(entry),
        related=note_of_line(entry.plan, scratch.line, scratch.label),
        help=(
            "store the tile in parts, in a smaller type, or with another num_warps, whose layout needs no "
            "exchange"
        ),
    )


def _ctas(entry: Entry, shared: int) -> int:
    gpu = entry.gpu
    unit = gpu.shared_allocation_unit
    taken = -(-shared // unit) * unit + gpu.shared_bytes_reserved_per_cta
    by_shared = gpu.shared_bytes_per_sm // taken if taken else gpu.ctas_per_sm
    others: list[int] = [
        limit
        for name, limit in entry.of.taken.limits.items()
        if name != "shared memory" and limit is not None
    ]
    return min([by_shared, *others])


_TURNED = samples.HEAD + (
    "# tritonlint: assume x_ptr=*bf16, out_ptr=*fp32\n"
    "@triton.jit\n"
    "def sum_turned(x_ptr, out_ptr, count, SIDE: tl.constexpr):\n"
    "    i = tl.arange(0, SIDE)\n"
    "    acc = tl.zeros((SIDE, SIDE), dtype=tl.float32)\n"
    "    for one in tl.range(0, count, num_stages=2):\n"
    "        acc += tl.load(x_ptr + one * SIDE * SIDE + i[:, None] * SIDE + i[None, :])\n"
    "    tl.store(out_ptr + i[None, :] * SIDE + i[:, None], acc)\n\n\n"
    "def run(x, out, count):\n"
    "    sum_turned[(4096,)](x, out, count, SIDE=64, num_warps=4, maxnreg=64)\n"
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="warning",
    what=(
        "Shared memory that a layout conversion or a reduction needs is more than the loop's buffers, and "
        "costs a CTA per SM or the launch."
    ),
    why=(
        "Before a tile is stored, its values go from the tensor core's layout to one that stores whole "
        "lines; that exchange goes through shared memory and may need the whole tile at once. It is "
        "counted for the whole program, although the loop's buffers are dead by then. From Triton 3.5 on "
        "the exchange is swizzled and takes more for some tiles."
    ),
    example="```text\n256 x 128 fp16 tile, 8 warps, sm_86: 65,536 B of scratch, 24,576 B of buffers\n```",
    better="Store the tile in two halves, or convert it to the output's type first.",
    when_not="Where the kernel is compute-bound one CTA per SM is often the fastest: then it is an info.",
    source="Scratch of conversions, exact to the byte on compiled kernels of Triton 2.1 to 3.9.",
    check=check,
    valid=(
        samples.miss(
            samples.launched_gemm("128x128x64", "num_warps=4, num_stages=3"), "the buffers are larger"
        ),
        samples.miss(samples.launched_scale(), "no shared memory at all"),
        samples.miss(
            samples.launched_gemm("64x64x16", "num_warps=4, num_stages=2"),
            "scratch is larger, other limits are lower",
        ),
    ),
    invalid=(
        samples.hit(_TURNED, "sum_turned[(", "scratch decides", gpu="rtx3090"),
        samples.hit(
            _TURNED.replace("import triton.language as tl", "from triton import language as tl"),
            "sum_turned[(",
            "scratch decides",
            gpu="rtx3090",
            why="triton.language by another import",
        ),
    ),
)
