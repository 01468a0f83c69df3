"""TL104: a list of which nothing runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Certainty, Finding, Related
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.nearest import nearest_fit
from tritonlint_rules.support.places import of_config, of_tuning
from tritonlint_rules.support.say import bytes_text, config_text, kilobytes
from tritonlint_rules.support.survey import (
    Entry,
    Overrun,
    all_entries,
    assumptions,
    by_config,
    lower,
    never_runs,
    overruns,
)
from tritonlint_rules.support.widths import narrower_fits

CODE, NAME = "TL104", "no-config-fits"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        tuning = listed[0].plan.tuning if listed else None
        if tuning is None or not tuning.resolved or not tuning.configs:
            continue
        groups = by_config([entry for entry in listed if entry.in_list])
        if not groups or not all(all(never_runs(entry) for entry in group) for group in groups):
            continue
        over = [(entry, overrun) for group in groups if (entry := group[0]) for overrun in _sure(entry)]
        if not over:
            continue  # compile errors only: the rules for those speak
        yield _draft(context, listed, groups, over)


def _sure(entry: Entry) -> list[Overrun]:
    return [overrun for overrun in overruns(entry) if overrun.sure]


def _draft(
    context: Context, listed: list[Entry], groups: list[list[Entry]], over: list[tuple[Entry, Overrun]]
) -> Draft:
    entry, least = min(over, key=lambda pair: pair[1].need / pair[1].limit)
    tuning = entry.plan.tuning
    assert tuning is not None
    count = len(groups)
    what = "the only config does not fit" if count == 1 else f"none of the {count} configs fits"
    message = f"{what} on {{gpus}}: the least asks for {_amount(least)}"
    level: Certainty = entry.of.taken.certainty if entry.of.taken is not None else "proven"
    if any(assumptions(one) for one, _ in over):
        level = lower(level, "likely")
    if narrower_fits(context, entry, least.resource):
        level = "possible"
    related: list[Related] = []
    for one, overrun in over:
        config = one.of.candidate.config
        if config is not None:
            place = of_config(one.plan, config)
            related.append(
                Related(place.path, place.span, f"{config_text(config.kwargs)}: {_amount(overrun)}")
            )
    change = nearest_fit(context, entry)
    config = entry.of.candidate.config
    return Draft(
        place=of_tuning(entry.plan, tuning),
        severity="error",
        certainty=level,
        message=message,
        gpu=entry.gpu,
        of=entry.of,
        assumptions=assumptions(entry),
        related=tuple(related),
        help=f"{config_text(config.kwargs)} fits with {change.text}" if change and config else None,
    )


def _amount(overrun: Overrun) -> str:
    if overrun.resource == "shared memory":
        return f"{bytes_text(overrun.need)} of shared memory, {kilobytes(overrun.limit)} are there"
    if overrun.resource == "threads":
        return f"{overrun.need:,} threads, {overrun.limit:,} are allowed"
    return f"{overrun.need:,} columns of tensor memory, {overrun.limit:,} are there"


_BIG = samples.config("128x256x64", "num_warps=8, num_stages=4")
_BIGGER = samples.config("256x128x128", "num_warps=8, num_stages=3")
_SMALL = samples.config("64x64x32", "num_warps=4, num_stages=3")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "No config of an autotune list can run on the GPU: each asks for more shared memory, threads or "
        "tensor memory."
    ),
    why=(
        "The autotuner skips a config that is refused. When all are, every one has been compiled for "
        "nothing, the first is launched all the same, and the program stops with `OutOfResources`."
    ),
    example=(
        "```python\n"
        "# on an RTX 3090 (99 KB)\n"
        "@triton.autotune(configs=[\n"
        '    triton.Config({"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}, num_warps=8, num_stages=4),\n'
        '    triton.Config({"BLOCK_M": 256, "BLOCK_N": 128, "BLOCK_K": 128}, num_warps=8, num_stages=3),\n'
        '], key=["N", "K"])\n'
        "```"
    ),
    better="Keep one small config at the end of the list, say 64 x 64 x 32 with 4 warps: it runs everywhere.",
    when_not=(
        "The kernel is never used on that GPU: leave it out of `gpus` in the settings. A list that could "
        "not be read in full is not judged."
    ),
    source="Triton's autotuner, read in 2.1 to 3.9; shared memory as in TL101.",
    check=check,
    valid=(
        samples.miss(samples.tuned_gemm([_BIG, _BIGGER, _SMALL]), "the last one fits", gpu="rtx3090"),
        samples.miss(samples.tuned_gemm([_BIG]), "fits on this GPU"),
        samples.miss(
            samples.tuned_gemm([_BIG, _BIGGER]).replace("    configs=[", "    configs=EXTRA + ["),
            "part of the list is not known",
            gpu="rtx3090",
        ),
    ),
    invalid=(
        samples.hit(
            samples.tuned_gemm([_BIG, _BIGGER]),
            "@triton.autotune",
            "147,456",
            gpu="rtx3090",
            severity="error",
        ),
        samples.hit(
            samples.tuned_gemm([_BIG]), "@triton.autotune", "147,456", gpu="rtx3090", why="a list of one"
        ),
        samples.hit(
            samples.tuned_gemm([_BIG, _BIGGER])
            .replace("import triton\n", "import triton\nfrom triton import autotune\n")
            .replace("@triton.autotune", "@autotune"),
            "@autotune",
            "147,456",
            gpu="rtx3090",
            why="autotune by its own name",
        ),
    ),
)
