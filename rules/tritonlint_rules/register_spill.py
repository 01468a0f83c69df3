"""TL502: more registers than a thread has."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding, Severity
from tritonlint.rule import Context, EstimateOf, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings, known_int
from tritonlint_rules.support.nearest import search
from tritonlint_rules.support.survey import (
    Entry,
    all_entries,
    assumptions,
    by_config,
    by_place,
    certainty,
    lower,
    never_runs,
)
from tritonlint_rules.support.widths import narrower_spills

CODE, NAME = "TL502", "register-spill"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    if context.least != "info" and not any(map(_may_weigh, itertools.chain(*all_entries(context)))):
        return
    for listed in all_entries(context):
        for groups in by_place(by_config(listed)):
            spilling = [group[0] for group in groups if all(_spills(entry) for entry in group)]
            if spilling:
                yield _draft(context, spilling, len(groups))


def _may_weigh(entry: Entry) -> bool:
    """Whether spills may be certain that nobody asked for."""
    if not entry.of.known or _asked_for(entry):
        return False
    most = entry.of.at_most
    return most is None or not most.registers_suffice


def _spills(entry: Entry) -> bool:
    estimate = entry.of.taken
    # A kernel that is refused anyway has other worries.
    return estimate is not None and estimate.spills != "no" and not never_runs(entry)


def _draft(context: Context, spilling: list[Entry], of: int) -> Draft:
    entry = max(spilling, key=lambda one: (one.of.taken.spills == "certain", one.of.taken.registers or 0))
    estimate = entry.of.estimate
    certain = estimate.spills == "certain"
    most = entry.gpu.registers_per_thread_max
    held = _held(entry)
    message = "registers spill on {gpus}: "
    if certain and held:
        message += f"{held}, a thread has {most}"
    elif certain:
        message += f"the values that are live at once need more than {most} registers a thread"
    else:
        message += f"about {estimate.registers} registers a thread, of {most}"
    if of > 1:
        message = f"{len(spilling)} of {of} configs: {message}"
    severity: Severity = "warning" if certain and not _asked_for(entry) and _large(context, entry) else "info"
    return Draft(
        place=entry.place,
        severity=severity,
        certainty=lower(certainty(entry), "proven" if certain else "likely"),
        message=message,
        gpu=entry.gpu,
        config=config_values(entry.of.candidate) if of == 1 else None,
        of=entry.of,
        assumptions=assumptions(entry),
        help=_help(context, entry) if of == 1 else None,
    )


def _asked_for(entry: Entry) -> bool:
    """maxnreg below what is needed is a choice: occupancy for spills. An entry of a tuned file has won against others
    that spill less."""
    won = entry.of.candidate.config is not None and not entry.in_list
    return won or known_int(entry.of.candidate.maxnreg) is not None


def _large(context: Context, entry: Entry) -> bool:
    """Whether it would spill whatever the types are: the accumulators alone go over, or the values do with narrow
    elements as well."""
    return bool(_held(entry)) or narrower_spills(context, entry)


def _held(entry: Entry) -> str:
    """ "the 128x256 accumulator alone takes 256 a thread with num_warps=4", where that is what goes over."""
    registers, tile = _largest_accumulator(entry)
    if registers <= entry.gpu.registers_per_thread_max:
        return ""
    warps = known_int(entry.of.candidate.num_warps)
    return f"the {tile} accumulator alone takes {registers} a thread with num_warps={warps}"


def _largest_accumulator(entry: Entry) -> tuple[int, str]:
    """Registers a thread of the largest accumulator that is kept in registers, and its tile; 0 where there is none."""
    estimate = entry.of.taken
    compiled = estimate.compiled
    best: tuple[int, str] = (0, "")
    for dot in compiled.dots if compiled is not None else ():
        words = 2 if dot.accumulator in ("fp64", "i64") else 1
        each = dot.m * dot.n * max(1, dot.batch) * words // max(1, estimate.threads)
        if dot.tensor_cores != "tcgen05" and each > best[0]:
            best = (each, f"{dot.m}x{dot.n}")
    return best


def _help(context: Context, entry: Entry) -> str | None:
    def clean(of: EstimateOf) -> bool:
        other = of.taken
        return bool(
            other is not None and other.fits and other.spills == "no" and not (of.trace and of.trace.errors)
        )

    # More warps share the same tile; a smaller one would be read more often.
    change = search(context, entry, clean, frozenset(("num_warps",)))
    change = change or search(context, entry, clean, frozenset(("tile",)))
    if change is None:
        return None
    registers = change.of.taken.registers
    return f"{change.text}{f' takes about {registers} registers' if registers else ''} and does not spill"


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="info",
    what="A program keeps more values live than its threads have registers, so that some go to local memory.",
    why=(
        "A thread has at most 255 registers. What does not fit is stored to local memory (L1, L2, DRAM) "
        "and loaded back, often in the innermost loop. An fp32 accumulator takes BLOCK_M x BLOCK_N / "
        "threads of them; from 256 on it always spills, except on sm_100, where tensor memory holds it. A "
        "warning where that is certain; near the edge an info, since a few spilled registers may not "
        "matter."
    ),
    example="```text\n128 x 256 accumulator, num_warps=4: 256 registers a thread of 255\n```",
    better="```text\n128 x 256 accumulator, num_warps=8: 128 registers a thread\n```",
    when_not="A spill outside of the loop, or `maxnreg` set on purpose.",
    source="Registers and spills of 74 compiled kernels (Triton 3.9) and 390 launches on an H200.",
    check=check,
    valid=(
        samples.miss(samples.launched_gemm("128x256x32", "num_warps=8, num_stages=3"), "128 a thread"),
        samples.miss(
            samples.launched_gemm("256x128x32", "num_warps=4, num_stages=3"),
            "tensor memory holds it",
            gpu="b200",
        ),
        samples.miss(samples.launched_scale("BLOCK=1024, num_warps=4"), "8 elements a thread"),
    ),
    invalid=(
        samples.hit(
            samples.launched_gemm("128x256x32", "num_warps=4, num_stages=3"),
            "gemm[grid]",
            "256",
            severity="warning",
        ),
        samples.hit(
            samples.tuned_gemm(
                [samples.config("64x64x32"), samples.config("256x256x32", "num_warps=4, num_stages=2")]
            ),
            "256, ",
            "512",
            severity="warning",
        ),
        samples.hit(
            samples.launched_gemm("128x256x32", "num_warps=4, num_stages=3").replace(
                "import triton.language as tl", "from triton import language as tl"
            ),
            "gemm[grid]",
            "256",
            why="triton.language by another import",
        ),
    ),
)
