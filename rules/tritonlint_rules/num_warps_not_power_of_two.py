"""TL204: a number of warps that is no power of two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Certainty, Finding, Fix
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings, possible_ints
from tritonlint_rules.support.nearest import edit_value
from tritonlint_rules.support.places import of_value
from tritonlint_rules.support.survey import all_entries, by_config, by_place, list_certainty, lower

CODE, NAME = "TL204", "num-warps-not-power-of-two"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        for groups in by_place(by_config(listed)):
            for group in groups:
                entry = group[0]
                options = [one for each in group for one in possible_ints(each.of.candidate.num_warps)]
                bad = [warps for warps in options if warps < 1 or warps & (warps - 1)]
                if not bad:
                    continue
                warps = bad[0]
                level: Certainty = "proven" if len(bad) == len(options) else "possible"
                fix = None
                near = 1 << max(warps, 1).bit_length() - 1
                edit = edit_value(context, entry, "num_warps", near)
                if edit:
                    fix = Fix(f"num_warps={near}", False, (edit,))
                yield Draft(
                    place=of_value(context, entry.plan, entry.of.candidate, "num_warps"),
                    severity="error",
                    certainty=lower(
                        "likely" if entry.of.candidate.assumptions and level == "proven" else level,
                        list_certainty(entry),
                    ),
                    message=f"num_warps={warps} is not a power of two",
                    gpu=entry.gpu,
                    config=config_values(entry.of.candidate),
                    assumptions=entry.of.candidate.assumptions,
                    help=f"{near} and {2 * near} are",
                    fixes=(fix,) if fix else (),
                )
                break


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="`num_warps` is no power of two (or less than one).",
    why=(
        "Tiles are spread over the warps by halving, so their number has to be 1, 2, 4, 8, 16 or 32. The "
        "compiler raises `AssertionError: num_warps must be a power of 2`, which the autotuner does not "
        "catch: tuning stops there."
    ),
    example='```python\ntriton.Config({"BLOCK": 1024}, num_warps=6)\n```',
    better='```python\ntriton.Config({"BLOCK": 1024}, num_warps=8)\n```',
    when_not="Never.",
    source="Triton's launch options, read in 2.1 to 3.9; num_warps=3 tried on an H200.",
    check=check,
    fixable="unsafe",
    valid=(
        samples.miss(samples.launched_scale("BLOCK=1024, num_warps=1"), "one is a power of two"),
        samples.miss(
            samples.launched_scale("BLOCK=1024, num_warps=min(8, 1024 // 32)"), "computed, and a power of two"
        ),
        samples.miss(
            samples.launched_scale("BLOCK=1024, num_warps=w").replace(
                "def run(x, y, n)", "def run(x, y, n, w)"
            ),
            "the caller says how many",
        ),
    ),
    invalid=(
        samples.hit(samples.launched_scale("BLOCK=1024, num_warps=6"), "scale[(", "6", severity="error"),
        samples.hit(
            samples.tuned_scale([samples.block(1024, "num_warps=4"), samples.block(1024, "num_warps=12")]),
            "num_warps=12",
            "12",
            severity="error",
            why="the tuner does not catch it",
        ),
        samples.hit(
            samples.launched_scale("BLOCK=1024, num_warps=3")
            .replace("import triton\n", "import triton as t\n")
            .replace("triton.cdiv", "t.cdiv")
            .replace("@triton.jit", "@t.jit"),
            "scale[(",
            "3",
            why="triton under another name",
        ),
    ),
)
