"""TL404: a grid with which nothing is launched, and nothing raised."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from tritonlint.finding import Finding, Severity
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings, known_int
from tritonlint_rules.support.grids import known_grid, launcher_counts, runs_nothing, taken
from tritonlint_rules.support.places import of_grid
from tritonlint_rules.support.say import shape_text
from tritonlint_rules.support.survey import Entry, all_entries, by_config, in_all, list_certainty, lower

CODE, NAME = "TL404", "empty-grid"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        for group in by_config(listed):
            found = [
                draft
                for entry in group
                if entry.plan.launch is not None and (draft := _of_entry(entry, context.triton)) is not None
            ]
            if found:
                draft = found[0]
                yield replace(draft, certainty=lower(draft.certainty, in_all(group, found)))
                break


def _of_entry(entry: Entry, triton: tuple[int, int]) -> Draft | None:
    candidate = entry.of.candidate
    axes = [number for axis in (candidate.grid or ())[:3] if (number := known_int(axis)) is not None]
    grid = known_grid(candidate)
    empty = [axis for axis in axes if axis <= 0]
    if not all(taken(axis) for axis in axes):
        return None
    if grid is not None and not runs_nothing(grid, entry.gpu.vendor, triton):
        return None
    help_text = None
    severity: Severity = "warning"
    if empty:
        what = f"a grid axis of {empty[0]}"
    elif grid:
        severity = "error"
        total, counted = math.prod(grid), launcher_counts(grid)
        what = f"a grid of {shape_text(grid)} is {total:,} programs, 2^31 or more"
        help_text = f"the launcher multiplies the axes in 32 bits: it sees {counted:,}"
    else:
        return None
    return Draft(
        place=of_grid(entry.plan),
        severity=severity,
        certainty=lower("likely" if candidate.assumptions else "proven", list_certainty(entry)),
        message=f"{what}: nothing runs and nothing is raised, the outputs stay as they were",
        gpu=entry.gpu,
        config=config_values(candidate) if candidate.config is not None else None,
        assumptions=candidate.assumptions,
        help=help_text,
    )


_CORES = samples.launched_scale(grid="(min(cores(), triton.cdiv(n, 1024)),)").replace(
    "def run(",
    "def cores():\n    if torch.cuda.is_available():\n"
    "        return torch.cuda.get_device_properties(0).multi_processor_count\n"
    "    return 0\n\n\ndef run(",
)
_HUGE = samples.launched_scale(grid="(65536 * 4, 32768)")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="A grid with an axis of zero or less, or with 2^31 programs or more that wrap around to zero or less.",
    why=(
        "Triton's launcher computes `gridX * gridY * gridZ > 0` in 32-bit integers and launches only if "
        "it holds. A product of 2^31 or more wraps around. Where that gives zero or less the kernel is not "
        "launched, no error is raised, and the outputs keep what was in their memory; where it gives more, "
        "as 200,000 x 30,000 does, all programs run. AMD's launcher launches negative products since 3.6."
    ),
    example="```python\nscale[(131072, 32768)](x, y, n)  # 2^32 programs: nothing runs\n```",
    better="```python\nscale[(131072, 8192)](x, y, n)  # each program does four tiles\n```",
    when_not="An axis of zero is right where the data may be empty.",
    source=(
        "Triton's launchers, read in 2.1 to 3.9; products of 2^31 and 2^32, zero and negative axes run on "
        "an H200."
    ),
    check=check,
    valid=(
        samples.miss(samples.launched_scale(grid="(65536, 32767)"), "just below 2^31"),
        samples.miss(samples.launched_scale(grid="(200000, 30000)"), "wraps to a number above zero: all run"),
        samples.miss(samples.launched_scale(grid="(2**31, 1)"), "no int of C: raises OverflowError, TL401"),
        samples.miss(samples.launched_scale(grid="(65536, 32768)"), "launched", gpu="mi300x"),
        samples.miss(samples.launched_scale(grid="(1,)"), "one program"),
        samples.miss(samples.launched_scale(grid="(n // 1024,)"), "n is not known"),
        samples.miss(_CORES, "a helper gives 0 only where there is no such GPU"),
    ),
    invalid=(
        samples.hit(_HUGE, "scale[(", "2^31", severity="error"),
        samples.hit(samples.launched_scale(grid="(65536, 32768)"), "scale[(", "2,147,483,648 programs"),
        samples.hit(
            samples.launched_scale(grid="(65536, 65536)"), "scale[(", "4,294,967,296 programs", gpu="mi300x"
        ),
        samples.hit(
            samples.launched_scale(grid="(65536, 32768)"), "scale[(", "2^31", gpu="mi300x", triton="3.5"
        ),
        samples.hit(samples.launched_scale(grid="(0,)"), "scale[(", "0", severity="warning"),
        samples.hit(
            samples.launched_scale(grid="(ROWS // 1024, 1)", before="ROWS = 1000\n\n\n").replace(
                "import triton.language as tl", "from triton import language as tl"
            ),
            "scale[(",
            "nothing runs",
            why="computed, and triton.language by another import",
        ),
    ),
)
