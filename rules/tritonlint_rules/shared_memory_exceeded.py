"""TL101: a launch asks for more shared memory than one program can have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding, Fix, Related
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings
from tritonlint_rules.support.exceeded import Excess, excesses
from tritonlint_rules.support.nearest import Change, fix_for, nearest_fit, repeats_another
from tritonlint_rules.support.parts import breakdown
from tritonlint_rules.support.places import note_of_line
from tritonlint_rules.support.say import bytes_text, config_text, counted, kilobytes, listed
from tritonlint_rules.support.survey import Entry, Over, assumptions, never_runs, telling

CODE, NAME = "TL101", "shared-memory-exceeded"
_MANY = 3  # other branches that are named


def check(context: Context) -> Iterable[Finding]:
    drafts = (_draft(context, excess) for excess in excesses(context, "shared memory"))
    return findings(CODE, NAME, context, drafts)


def _draft(context: Context, excess: Excess) -> Draft:
    entry, overrun, over = excess.entry, excess.overrun, excess.over
    parts = breakdown(entry.of.taken)
    need = ("at least " if overrun.at_least else "") + bytes_text(overrun.need)
    message = f"smem {need} exceeds {kilobytes(overrun.limit)} on {{gpus}}"
    message += f": {parts}" if parts else ""
    others = excess.most.others
    message += f", with {excess.values}" if excess.values else ""
    if others:
        message += f"; {counted(len(others), 'other branch', 'other branches')} too"
    change = nearest_fit(context, entry) if overrun.sure and len(over) == 1 else None
    for_all = change is not None and excess.fits_with(change.changes)
    return excess.draft(
        message,
        excess.certainty,
        assumptions(entry),
        help_text=_help(excess, change, for_all),
        related=(*_related(over), *_branches(excess)),
        fix=_fix(context, entry, change) if for_all else None,
        tags=frozenset({"unnecessary"})
        if entry.in_list and excess.most.in_all and never_runs(entry)
        else frozenset(),
    )


def _related(over: tuple[Over, ...]) -> tuple[Related, ...]:
    entry = over[0].entry
    compiled = entry.of.taken.compiled
    if compiled is None or len(over) > 1:
        return ()
    places: list[Related] = []
    for part in compiled.parts:
        if part.live_at_peak and part.line and part.shared_bytes * 8 >= entry.of.taken.shared_bytes:
            places += note_of_line(entry.plan, part.line, f"{part.label}: {bytes_text(part.shared_bytes)}")
    return tuple(places)


def _branches(excess: Excess) -> Iterator[Related]:
    """What the launch asks for with the values of other branches."""
    others = excess.most.others if len(excess.over) == 1 else ()
    for count, (entry, overrun) in enumerate(others[:_MANY], 1):
        place, values = entry.place, telling(entry, [excess.entry])
        need = ("at least " if overrun.at_least else "") + bytes_text(overrun.need)
        more = f", and {len(others) - _MANY} more" if count == _MANY < len(others) else ""
        yield Related(place.path, place.span, f"with {config_text(values)}: smem {need}{more}")


def _help(excess: Excess, change: Change | None, for_all: bool) -> str | None:
    """`for_all`: whether the change is enough with the values of other branches, too."""
    entry, over = excess.entry, excess.over
    if len(over) > 1:
        others = [one.entry for one in over if one.entry is not entry]
        rest = "; ".join(config_text(config_values(one.of.candidate)) for one in others[:3])
        more = f" and {counted(len(others) - 3, 'more', 'more')}" if len(others) > 3 else ""
        do = "may" if not excess.most.in_all else "does" if len(others) == 1 else "do"
        return f"so {do} {rest}{more}; each costs a compile in every tuning run"
    if change is None:
        return None
    text = f"{change.text} needs {bytes_text(change.of.taken.shared_bytes)} and fits"
    if not for_all:
        kept = {name: value for name, value in excess.most.values.items() if name not in change.changes}
        return f"with {config_text(kept) or excess.values}: {text}"
    if repeats_another(entry, change.changes):
        return f"{text}; the list has that config already, so this one can go"
    if change.kind == "tile" and entry.of.candidate.config is None:
        return f"{text} (where the grid is counted in {listed(change.changes)}, it changes too)"
    return text


def _fix(context: Context, entry: Entry, change: Change | None) -> Fix | None:
    if change is None:
        return None
    grid = entry.plan.launch.grid if entry.plan.launch is not None else None
    if change.kind == "tile" and entry.of.candidate.config is None and (grid is None or not grid.meta_keys):
        return None  # a grid that counts in its own numbers would then leave elements out
    return fix_for(context, entry, change)


_FITS = samples.config("128x128x32", "num_warps=8, num_stages=3")
_BIG = samples.config("128x256x64", "num_warps=8, num_stages=5")
_SWEEP = """triton.Config({"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}, num_warps=8, num_stages=s)
        for s in (2, 3, 4, 5, 6)"""
_COMPREHENSION = samples.tuned_gemm([_SWEEP]).replace("6),\n    ],", "6)\n    ],")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "A launch or a config that needs more shared memory (LDS on AMD) than the GPU gives to one "
        "program. The number is the compiler's own: how many buffers each load of a pipelined loop gets "
        "in that Triton release on that target, what conversions and reductions need beside them, and "
        "which of it is live at the same time."
    ),
    why=(
        "The driver refuses the launch: `OutOfResources: out of resource: shared memory`. The autotuner "
        "counts such a config as infinitely slow, so in a list it only costs its compile time, each time "
        "the kernel is tuned; that is a warning. A direct launch stops the program; that is an error."
    ),
    example=(
        "```python\n"
        "# on an RTX 3070: 3 buffers x (128x64 + 64x256) x 2 B = 147,456 B of 101,376\n"
        'triton.Config({"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}, num_warps=8, num_stages=4)\n'
        "```"
    ),
    better=(
        "```python\n"
        'triton.Config({"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}, num_warps=8, num_stages=3)\n'
        "```\n"
        "Fewer stages cost the least. Then a smaller reduction tile (`BLOCK_K`), then a smaller output tile."
    ),
    when_not=(
        "A list that serves several GPUs may hold configs for the large ones on purpose: leave the small "
        "GPU out of `gpus`, or prune by device. A config that a hook (`early_config_prune`) takes out is "
        "reported as `possible` only, which is not shown by default."
    ),
    source=(
        "Buffers per load: measured on compiled kernels for Triton 2.1 to 3.9, see `tritonlint estimate` "
        "for each step. Limits: the opt-in shared memory per block of each GPU, in its profile."
    ),
    check=check,
    fixable="safe",
    valid=(
        samples.miss(
            samples.launched_gemm("128x256x64", "num_warps=8, num_stages=4"), "147,456 B fit on an A100"
        ),
        samples.miss(
            samples.launched_gemm("128x256x64", "num_warps=8, num_stages=3"),
            "stages 3 makes 2 buffers before Hopper: 98,304 of 101,376 B",
            gpu="rtx3070",
        ),
        samples.miss(
            samples.tuned_gemm([_FITS, samples.config("128x256x64", "num_warps=8, num_stages=4")]),
            "the large config fits here too",
        ),
        samples.miss(
            samples.launched_gemm("128x256x64", "num_warps=8, num_stages=STAGES").replace(
                "def matmul(a, b, c, M, N, K)", "def matmul(a, b, c, M, N, K, STAGES)"
            ),
            "how many stages cannot be told: the caller says",
            gpu="rtx3070",
        ),
    ),
    invalid=(
        samples.hit(
            samples.launched_gemm("128x256x64", "num_warps=8, num_stages=4"),
            "gemm[grid]",
            "147,456",
            gpu="rtx3070",
            severity="error",
        ),
        samples.hit(samples.tuned_gemm([_FITS, _BIG]), "num_stages=5", "196,608", severity="warning"),
        samples.hit(
            samples.tuned_gemm([_FITS, _BIG])
            .replace("import triton\n", "import triton as tr\n")
            .replace("triton.", "tr.")
            .replace("import tr.language as tl", "import triton.language as tl"),
            "num_stages=5",
            "196,608",
            why="triton under another name",
        ),
        samples.hit(
            _COMPREHENSION, "triton.Config(", "2 of 5 configs", why="one finding for a comprehension"
        ),
    ),
)
