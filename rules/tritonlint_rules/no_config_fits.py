"""TL104: a list of which nothing runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tritonlint.finding import Certainty, Finding, Related
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.nearest import nearest_fit
from tritonlint_rules.support.places import Place, of_tuning
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
        over = [
            _least(pairs) for group in groups if (pairs := [pair for one in group for pair in _most(one)])
        ]
        if not over:
            continue  # compile errors only: the rules for those speak
        yield _draft(context, groups, over)


def _ratio(pair: tuple[Entry, Overrun]) -> float:
    return pair[1].need / pair[1].limit


def _most(entry: Entry) -> list[tuple[Entry, Overrun]]:
    """What it overruns most, of what it overruns for sure."""
    found = [(entry, overrun) for overrun in overruns(entry) if overrun.sure]
    return [max(found, key=_ratio)] if found else []


def _least(pairs: Sequence[tuple[Entry, Overrun]]) -> tuple[Entry, Overrun]:
    """What comes nearest to fitting: of the values that a launch may give a config, of the configs of a list."""
    return min(pairs, key=_ratio)


def _draft(context: Context, groups: list[list[Entry]], over: list[tuple[Entry, Overrun]]) -> Draft:
    """`over`: each config that overruns something, with the values with which it comes nearest."""
    entry, least = _least(over)
    tuning = entry.plan.tuning
    assert tuning is not None
    count = len(groups)
    what = "the only config does not fit" if count == 1 else f"none of the {count} configs fits"
    refused = f"{count - len(over)} do not compile, " if count > len(over) else ""
    message = f"{what} on {{gpus}}: {refused}the least asks for {_amount(least)}"
    level: Certainty = entry.of.taken.certainty if entry.of.taken is not None else "proven"
    if any(assumptions(one) for one, _ in over):
        level = lower(level, "likely")
    if narrower_fits(context, entry, least.resource):
        level = "possible"
    places: dict[Place, list[tuple[Entry, Overrun]]] = {}
    for pair in over:
        places.setdefault(pair[0].place, []).append(pair)
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
        related=tuple(_related(place, pairs) for place, pairs in places.items()),
        help=f"{config_text(config.kwargs)} fits with {change.text}" if change and config else None,
    )


def _related(place: Place, pairs: list[tuple[Entry, Overrun]]) -> Related:
    """The config of one text, or the nearest of those that a comprehension makes."""
    entry, overrun = _least(pairs)
    config = entry.of.candidate.config
    named = f"{config_text(config.kwargs)}: " if config is not None else ""
    more = f", the least of {len(pairs)}" if len(pairs) > 1 else ""
    return Related(place.path, place.span, f"{named}{_amount(overrun)}{more}")


def _amount(overrun: Overrun) -> str:
    if overrun.resource == "shared memory":
        return f"{bytes_text(overrun.need)} of shared memory, {kilobytes(overrun.limit)} are there"
    if overrun.resource == "threads":
        return f"{overrun.need:,} threads, {overrun.limit:,} are allowed"
    return f"{overrun.need:,} columns of tensor memory, {overrun.limit:,} are there"


_BIG = samples.config("128x256x64", "num_warps=8, num_stages=4")
_BIGGER = samples.config("256x128x128", "num_warps=8, num_stages=3")
_SMALL = samples.config("64x64x32", "num_warps=4, num_stages=3")
_COUNTED = samples.tuned_gemm([samples.config("64x64x32", "num_warps=64"), _SMALL]).replace(
    "    for k in range", "    start = tl.load(c_ptr) // BLOCK_K\n    for k in range"
)
_TWO_DEPTHS = (
    samples.tuned_gemm([_BIG])
    .replace('"BLOCK_K": 64', '"OTHER": 64')
    .replace("BLOCK_K: tl.constexpr", "BLOCK_K: tl.constexpr, OTHER: tl.constexpr")
    .replace("(a, b, c, M, N, K)\n", "(a, b, c, M, N, K, BLOCK_K=128 if a.is_contiguous() else 64)\n")
    .replace("a.is_contiguous() else 64)\n\n", "")
)

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
            _COUNTED.replace(", c_ptr=*fp16", ""),
            "c_ptr is surely none of floats, which have no floor division: the other may run",
        ),
        samples.miss(samples.tuned_gemm([_BIG, _BIGGER]), "with 227 KB both fit", gpu="h100"),
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
            _TWO_DEPTHS, "@triton.autotune", "the least asks for 147,456", gpu="rtx3090", why="of two values"
        ),
        samples.hit(_COUNTED, "@triton.autotune", "1 do not compile, the least asks for 2,048 threads"),
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
