"""TL401: a grid with an axis that the GPU does not take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings
from tritonlint_rules.support.grids import clusters, known_grid, least, runs_nothing
from tritonlint_rules.support.places import of_grid
from tritonlint_rules.support.say import shape_text
from tritonlint_rules.support.survey import Entry, all_entries, by_config, in_all, list_certainty, lower

CODE, NAME = "TL401", "grid-too-large"
_LIMITS = (2**31 - 1, 65535, 65535)


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        for group in by_config(listed):
            found = [
                draft
                for entry in group
                if entry.gpu.vendor == "nvidia"
                and entry.plan.launch is not None
                and (draft := _of_entry(entry, context.triton)) is not None
            ]
            if found:
                draft = found[0]
                yield replace(draft, certainty=lower(draft.certainty, in_all(group, found)))
                break


def _of_entry(entry: Entry, triton: tuple[int, int]) -> Draft | None:
    candidate = entry.of.candidate
    grid = known_grid(candidate)
    if grid is not None and runs_nothing(grid, entry.gpu.vendor, triton):
        return None  # nothing is raised: TL404
    for axis, limit in enumerate(_LIMITS):
        low = least(candidate, axis)
        count = low * (clusters(candidate) if axis == 0 else 1) if low is not None else None
        if count is None or count <= limit:
            continue
        whole = f" (grid {shape_text(grid)})" if grid is not None else ""
        return Draft(
            place=of_grid(entry.plan),
            severity="error",
            certainty=lower("likely" if candidate.assumptions else "proven", list_certainty(entry)),
            message=f"grid axis {'xyz'[axis]} is {count:,}{whole}, the most is {limit:,}: the launch raises",
            gpu=entry.gpu,
            config=config_values(candidate) if candidate.config is not None else None,
            assumptions=candidate.assumptions,
            help="put the large count on axis x, or let each program do several" if axis else None,
        )
    return None


_TALL = samples.launched_scale(grid="(2, 70_000)")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="A grid with more than 65,535 programs on axis y or z, or more than 2,147,483,647 on x.",
    why=(
        "The driver refuses the launch: `Triton Error [CUDA]: invalid argument`. Only axis x takes large "
        "numbers, and none above 2^31 - 1: the launcher raises OverflowError for those."
    ),
    example="```python\nper_sample[(2, 70_000)](x, y)\n```",
    better=(
        "```python\nper_sample[(70_000, 2)](x, y)  # and program_id(0) and (1) exchanged in the kernel\n```"
    ),
    when_not="AMD GPUs take larger y and z.",
    source="CUDA's limits; a grid of (1, 65536) run on an H200.",
    check=check,
    valid=(
        samples.miss(samples.launched_scale(grid="(2, 65_535)"), "exactly the most"),
        samples.miss(samples.launched_scale(grid="(70_000, 2)"), "axis x takes it"),
        samples.miss(samples.launched_scale(grid="(2, n)"), "n is not known"),
        samples.miss(samples.launched_scale(grid="(65536, 65536)"), "2^32: nothing is raised, TL404"),
        samples.miss(_TALL, "another vendor", gpu="mi300x"),
    ),
    invalid=(
        samples.hit(_TALL, "scale[(", "70,000", severity="error"),
        samples.hit(samples.launched_scale(grid="(2**31,)"), "scale[(", "2,147,483,648", why="no int of C"),
        samples.hit(
            samples.launched_scale(grid="(65537, 65537)"), "scale[(", "65,537", why="131,073 in 32 bits"
        ),
        samples.hit(samples.launched_scale(grid="(2, 1, 65536)"), "scale[(", "65,536", why="axis z"),
        samples.hit(
            samples.launched_scale(grid="(1, triton.cdiv(ROWS, 4))", before="ROWS = 262144\n\n\n")
            .replace("import triton\n", "import triton as tt\n")
            .replace("triton.cdiv", "tt.cdiv")
            .replace("@triton.jit", "@tt.jit"),
            "scale[(",
            "65,536",
            why="computed, and triton under another name",
        ),
    ),
)
