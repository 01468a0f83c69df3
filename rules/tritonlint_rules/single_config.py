"""TL308: a list of one config has nothing to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import AutotuneSite
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.names import plain_tuner
from tritonlint_rules.support.places import of_tuning
from tritonlint_rules.support.say import listed
from tritonlint_rules.support.survey import tuner_of

CODE, NAME = "TL308", "single-config"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        tuning = tuner_of(plan)
        if tuning is None or not tuning.resolved or tuning.alternatives or len(tuning.configs) != 1:
            continue
        if not plain_tuner(plan, tuning):
            continue
        config = tuning.configs[0]
        chosen = config.spread is not None or not _inside(tuning)
        # A key promises that something is chosen again; without one, a list of one only holds the settings.
        promised = bool(tuning.key) and not chosen and not config.pre_hook
        keys = listed(tuning.key or ())
        message = "one config: nothing is benchmarked"
        yield Draft(
            place=of_tuning(plan, tuning),
            severity="warning" if promised else "info",
            certainty="proven",
            message=f"{message}, and key=[{keys}] has no effect" if tuning.key else message,
            gpu=gpu,
            help="give its values at the launch, or as heuristics: every call is a little cheaper",
        )


def _inside(tuning: AutotuneSite) -> bool:
    """Whether the list is written in the decorator itself."""
    span = tuning.configs[0].span
    return tuning.span.line <= span.line and span.end_line <= tuning.span.end_line


_ONE = samples.tuned_scale([samples.block(1024, "num_warps=8")], 'key=["n"]')

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="warning",
    what="`triton.autotune` with a list of exactly one config.",
    why=(
        "With one config the tuner launches it without timing anything; the key and the hooks for tuning "
        "do nothing. Each call still goes through the tuner's Python. A warning where a key is given, "
        "which promises a choice; else an info."
    ),
    example='```python\n@triton.autotune([triton.Config({"BLOCK": 1024}, num_warps=8)], key=["n"])\n```',
    better="```python\nscale[grid](x, y, n, BLOCK=1024, num_warps=8)\n```",
    when_not="A list that other devices or a debug switch make longer.",
    source="Triton's tuner, read in 2.1 to 3.9.",
    check=check,
    valid=(
        samples.miss(
            samples.tuned_scale([samples.block(512), samples.block(1024)], 'key=["n"]'), "two configs"
        ),
        samples.miss(
            samples.tuned_scale([samples.block(512)]).replace("configs=[", "configs=MORE + ["),
            "the rest of the list is not known",
        ),
        samples.miss(samples.launched_scale("BLOCK=1024, num_warps=8"), "no tuner at all"),
    ),
    invalid=(
        samples.hit(_ONE, "@triton.autotune", "n", severity="warning"),
        samples.hit(_ONE.replace('key=["n"]', "key=[]"), "@triton.autotune", "one config", severity="info"),
        samples.hit(
            _ONE.replace("@triton.autotune", "@tune").replace(
                "import triton\n", "import triton\nfrom triton import autotune as tune\n"
            ),
            "@tune",
            "n",
            why="autotune under another name",
        ),
    ),
)
