"""TL405: fewer programs than multiprocessors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.grids import clusters, known_grid, programs
from tritonlint_rules.support.places import of_grid
from tritonlint_rules.support.say import counted, percent, shape_text
from tritonlint_rules.support.survey import Entry, all_entries, never_runs

CODE, NAME = "TL405", "idle-multiprocessors"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        counts = [
            (total * clusters(entry.of.candidate), entry)
            for entry in listed
            if (total := programs(entry.of.candidate)) is not None and not never_runs(entry)
        ]
        # The tuner may take the config with the most programs; only when that one leaves some idle, all do.
        if not counts or len(counts) < sum(not never_runs(entry) for entry in listed):
            continue
        most, entry = max(counts, key=lambda pair: pair[0])
        sms = entry.gpu.multiprocessors
        if sms is None or not 0 < most < sms:
            continue
        grid = known_grid(entry.of.candidate) or ()
        unit = "SMs" if entry.gpu.vendor == "nvidia" else "CUs"
        shape = f" ({shape_text(grid)})" if len(grid) > 1 else ""
        at_most = "at most " if len({count for count, _ in counts}) > 1 else ""
        yield Draft(
            place=of_grid(entry.plan),
            severity="info",
            certainty="likely" if entry.of.candidate.assumptions or entry.plan.assumed else "proven",
            message=(
                f"{at_most}{counted(most, 'program')}{shape} on the {sms} {unit} of {{gpus}}: "
                f"{sms - most} stay idle ({percent(1 - most / sms)})"
            ),
            gpu=entry.gpu,
            of=entry.of,
            assumptions=entry.of.candidate.assumptions,
            help=_help(most, sms, dots=bool(entry.of.estimate is not None and _dots(entry))),
        )


def _dots(entry: Entry) -> bool:
    compiled = entry.of.estimate.compiled
    return compiled is not None and bool(compiled.dots)


def _help(programs: int, sms: int, *, dots: bool) -> str:
    """The ways to more programs, the cheapest first; last, what else the rest of the GPU can do."""
    parts = -(-sms // programs)
    split = (
        f"the reduction split over {parts} programs (split-K, split-KV)"
        if dots
        else f"each row over {parts} programs"
    )
    return f"smaller tiles, or {split}, give more of them; else a second kernel beside it uses the rest"


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="info",
    what="The grid has fewer programs than the GPU has multiprocessors, whatever config is taken.",
    why=(
        "A program runs on one multiprocessor from start to end. With fewer programs than "
        "multiprocessors, the rest of the GPU does nothing while this kernel runs, and its memory "
        "bandwidth cannot be reached either."
    ),
    example=(
        "```python\nreduce[(256 // 128, 256 // 128)](part, out)  # 4 programs on a B200 with 148 SMs\n```"
    ),
    better="```python\nreduce[(256 // 16, 256 // 16)](part, out, TILE_M=16, TILE_N=16)  # 256 programs\n```",
    when_not="A tiny kernel, one that runs beside others on purpose, or one whose size is set by the data.",
    source="Multiprocessors of each GPU, in its profile.",
    at_most="info",
    check=check,
    valid=(
        samples.miss(samples.launched_scale(grid="(108,)"), "exactly one program for each of 108 SMs"),
        samples.miss(samples.launched_scale(grid="(4,)"), "a plain target has no number of SMs", gpu="sm_80"),
        samples.miss(samples.launched_scale(), "n is not known, so the grid is not either"),
        samples.miss(samples.launched_scale(grid="(2, 64)"), "128 programs in two dimensions"),
    ),
    invalid=(
        samples.hit(samples.launched_scale(grid="(4,)"), "scale[(", "4", severity="info"),
        samples.hit(samples.launched_scale(grid="(107,)"), "scale[(", "107", why="one SM idle"),
        samples.hit(
            samples.launched_scale(grid="(4,)")
            .replace("import triton\n", "import triton as tt\n")
            .replace("@triton.jit", "@tt.jit"),
            "scale[(",
            "104",
            why="triton under another name",
        ),
    ),
)
