"""TL508: a config that another one of the list beats in every respect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding, Related
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings
from tritonlint_rules.support.places import of_config, of_tuning
from tritonlint_rules.support.say import config_text, counted
from tritonlint_rules.support.survey import (
    Entry,
    all_entries,
    assumptions,
    by_config,
    certainty,
    lower,
    never_runs,
)

CODE, NAME = "TL508", "dominated-config"
CLEAR = 1.5  # how much worse at least one number has to be; the model is not exact
_CORES = ("none", "mma_v1", "mma_v2", "mfma", "wmma", "wgmma", "tcgen05")
_SPILLS = ("no", "likely", "certain")


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        tuning = listed[0].plan.tuning if listed else None
        if tuning is None or tuning.alternatives:
            continue
        entries = [group[0] for group in by_config(listed) if group[0].in_list and _is_known(group[0])]
        beaten = [(entry, by) for entry in entries if (by := _beaten_by(entry, entries)) is not None]
        if not beaten:
            continue
        entry, by = beaten[0]
        config, better = entry.of.candidate.config, by.of.candidate.config
        assert config is not None and better is not None
        related = []
        for one, other in beaten[:8]:
            if one.of.candidate.config is not None:
                place = of_config(one.plan, one.of.candidate.config)
                text = f"beaten by {config_text(config_values(other.of.candidate))}"
                related.append(Related(place.path, place.span, text))
        yield Draft(
            place=of_tuning(entry.plan, tuning),
            severity="info",
            certainty=lower(certainty(entry), "likely"),
            message=(
                f"{counted(len(beaten), 'config')} of {len(tuning.configs)} cannot win on {{gpus}}: "
                f"{config_text(config_values(entry.of.candidate))} {_worse(entry, by)} than "
                f"{config_text(config_values(by.of.candidate))}"
            ),
            gpu=entry.gpu,
            of=entry.of,
            assumptions=assumptions(entry),
            related=tuple(related),
            help="each costs a compile and a benchmark in every tuning run",
        )


def _is_known(entry: Entry) -> bool:
    estimate = entry.of.estimate
    return (
        estimate is not None
        and not never_runs(entry)
        and estimate.fits
        and estimate.bytes_tiled is not None
        and estimate.waves is not None
    )


def _numbers(entry: Entry) -> tuple[float, ...]:
    """What makes a config slow, less is better: bytes moved, waves' loss, tensor cores, spills, occupancy."""
    estimate = entry.of.estimate
    return (
        float(estimate.bytes_tiled),
        1.0 / max(estimate.waves.efficiency, 1e-6),
        float(len(_CORES) - _CORES.index(estimate.tensor_cores)),
        float(1 + _SPILLS.index(estimate.spills)),
        1.0 / max(estimate.occupancy, 1e-6),
        1.0 / max(_stages(entry), 1),
    )


def _stages(entry: Entry) -> int:
    config = entry.of.candidate.config
    return config.num_stages if config is not None else 1


def _beaten_by(entry: Entry, entries: list[Entry]) -> Entry | None:
    own = _numbers(entry)
    for other in entries:
        theirs = _numbers(other)
        if other is entry or any(a < b for a, b in zip(own, theirs, strict=True)):
            continue
        if _clearly_more(own[0], theirs[0]) or own[3] > theirs[3]:
            return other
    return None


def _clearly_more(one: float, other: float) -> bool:
    """A kernel that moves nothing is no measure (nor is one whose loop never runs)."""
    return one >= CLEAR * other > 0


def _worse(entry: Entry, by: Entry) -> str:
    one, other = entry.of.estimate, by.of.estimate
    if _clearly_more(one.bytes_tiled, other.bytes_tiled):
        return (
            f"moves {one.bytes_tiled / other.bytes_tiled:.1f}x the bytes, and is no better in anything else,"
        )
    return "spills registers, and is no better in anything else,"


_SPILLING = [
    samples.config("128x256x32", "num_warps=8, num_stages=3"),
    samples.config("128x256x32", "num_warps=4, num_stages=3"),
]

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="warning",
    what=(
        "A config that moves clearly more bytes (or spills), and is no better in waves, tensor cores, "
        "occupancy or stages than another one of the same list."
    ),
    why="It cannot be the fastest by what is known, yet it is compiled and timed in every tuning run.",
    example=(
        "```text\n32 x 32 tiles beside 128 x 128 ones for a 8192^3 product: 4x the bytes, nothing gained\n```"
    ),
    better="Take it out of the list, or keep it for the small sizes it is good for.",
    when_not=(
        "The sizes assumed are not those that matter. It is said as an info, since a model is not a "
        "measurement."
    ),
    source="tritonlint's model: tiled bytes, waves, occupancy, spills.",
    at_most="info",
    check=check,
    valid=(
        samples.miss(
            samples.tuned_gemm(
                [
                    samples.config("128x128x32", "num_warps=4, num_stages=3"),
                    samples.config("64x64x32", "num_warps=4, num_stages=3"),
                ]
            ),
            "the smaller tile has the higher occupancy",
        ),
        samples.miss(samples.tuned_gemm(_SPILLING, sizes="K=64"), "M and N are not known"),
    ),
    invalid=(
        samples.hit(samples.tuned_gemm(_SPILLING), "@triton.autotune", "1 config of 2", severity="info"),
        samples.hit(
            samples.tuned_gemm(_SPILLING)
            .replace("@triton.autotune", "@tune")
            .replace("import triton\n", "import triton\nfrom triton import autotune as tune\n"),
            "@tune",
            "spills",
            why="autotune under another name",
        ),
    ),
)
