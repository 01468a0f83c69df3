"""TL406: a last wave that leaves most of the GPU idle, and is a good part of the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings
from tritonlint_rules.support.say import counted, percent
from tritonlint_rules.support.survey import Entry, all_entries, assumptions, by_config, certainty, lower

CODE, NAME = "TL406", "partial-last-wave"
# A tenth of the machine's time; less is within what clocks and caches vary from run to run.
LOST = 0.1


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        for group in by_config(listed):
            entry = group[0]
            waves = entry.of.estimate.waves if entry.of.estimate is not None else None
            if waves is None or not entry.of.estimate.fits or waves.full < 1:
                continue
            if waves.last <= 0 or 1 - waves.efficiency < LOST:
                continue
            yield _draft(entry)


def _draft(entry: Entry) -> Draft:
    estimate = entry.of.estimate
    waves = estimate.waves
    rest = waves.programs - waves.full * waves.per_wave
    needed = waves.full + 1
    return Draft(
        place=entry.place,
        severity="info",
        # Which CTA takes which place is up to the hardware; programs of unequal length blur the waves.
        certainty=lower(certainty(entry), "likely"),
        message=(
            f"last wave {percent(waves.last)} on {{gpus}}: {rest:,} of {waves.per_wave:,} places, "
            f"{counted(waves.programs, 'program')} in {counted(needed, 'wave')}, efficiency "
            f"{percent(waves.efficiency)}"
        ),
        gpu=entry.gpu,
        config=config_values(entry.of.candidate),
        of=entry.of,
        assumptions=assumptions(entry),
        help=(
            "a tile size with another number of programs; or a persistent grid of as many programs as places, "
            f"{waves.per_wave:,}, each taking several tiles (two pools of them, for long and for short work, where it is "
            "uneven); or stream-K"
        ),
    )


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="info",
    what="The last wave of programs fills only part of the GPU, and there are so few waves that it shows.",
    why=(
        "Programs start in waves of as many as fit at once: CTAs per SM times SMs. The last wave takes as "
        "long as a full one, however few programs it has. With 1.1 waves nearly half of the time is lost, "
        "with 20.1 waves under a twentieth."
    ),
    example=(
        "```text\n120 programs on 108 SMs with 1 CTA each: 2 waves, the second one 11% full, efficiency "
        "56%\n```"
    ),
    better=(
        "Another tile size, so that the programs fill whole waves; or as many programs as places, each "
        "taking several tiles."
    ),
    when_not="Programs that take unequal time (causal attention, ragged batches) overlap anyway.",
    source="Waves: programs / (CTAs per SM x SMs); CTAs per SM as NVIDIA's occupancy calculator counts them.",
    at_most="info",
    check=check,
    valid=(
        samples.miss(
            samples.launched_gemm("128x256x64", "num_warps=8, num_stages=3", sizes="M=8192, N=8192, K=4096"),
            "2,048 programs: many waves, so the last one hardly counts",
        ),
        samples.miss(
            samples.launched_gemm("128x256x64", "num_warps=8, num_stages=3", sizes="K=4096"),
            "M and N are not known",
        ),
        samples.miss(
            samples.launched_gemm("128x256x64", "num_warps=8, num_stages=3", sizes="M=1152, N=3072, K=4096"),
            "108 programs on 108 SMs: one full wave",
        ),
    ),
    invalid=(
        samples.hit(
            samples.launched_gemm("128x256x64", "num_warps=8, num_stages=3", sizes="M=1280, N=3072, K=4096"),
            "gemm[grid]",
            "11%",
            severity="info",
        ),
        samples.hit(
            samples.launched_gemm("128x256x64", "num_warps=8, num_stages=3", sizes="M=1280, N=3072, K=4096")
            .replace("import triton\n", "import triton as tt\n")
            .replace("triton.cdiv", "tt.cdiv")
            .replace("@triton.jit", "@tt.jit"),
            "gemm[grid]",
            "120 programs",
            why="triton under another name",
        ),
    ),
)
