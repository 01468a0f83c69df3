"""TL309: an empty list of configs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding, Severity
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.places import of_tuning

CODE, NAME = "TL309", "no-configs"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        tuning = plan.tuning
        if tuning is None or not tuning.resolved or tuning.alternatives or tuning.configs:
            continue
        if not tuning.own:
            continue
        stages = 3 if context.triton >= (3, 3) else 2
        severity: Severity = "error" if plan.missing else "warning"
        yield Draft(
            place=of_tuning(plan, tuning),
            severity=severity,
            certainty="proven",
            message=(
                f"no configs on {{gpus}}: the kernel runs with num_warps=4, num_stages={stages} "
                "and no compile-time values of a config"
            ),
            gpu=gpu,
            help="add a config, or take the decorator off",
        )


_NONE = samples.tuned_scale([]).replace("configs=[\n    ]", "configs=[]")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="`triton.autotune` with an empty list of configs.",
    why=(
        "The tuner takes an empty list for one default config, `Config({})`. Nothing is tuned, and a "
        "parameter that the configs were to give is missing. Often a filter has left nothing over."
    ),
    example='```python\n@triton.autotune(configs=[c for c in CONFIGS if c.num_warps > 64], key=["n"])\n```',
    better='```python\n@triton.autotune(configs=[c for c in CONFIGS if c.num_warps <= 8], key=["n"])\n```',
    when_not="Never on purpose.",
    source="Triton's tuner, read in 2.1 to 3.9; run on an H200.",
    check=check,
    valid=(
        samples.miss(samples.tuned_scale([samples.block(1024)]), "one is a list"),
        samples.miss(_NONE.replace("configs=[]", "configs=LIST"), "the list is not known"),
    ),
    invalid=(
        samples.hit(_NONE, "@triton.autotune", "no configs"),
        samples.hit(
            _NONE.replace("configs=[]", "configs=[c for c in () if c]")
            .replace("import triton\n", "import triton as tt\n")
            .replace("@triton.", "@tt.")
            .replace("triton.cdiv", "tt.cdiv"),
            "@tt.autotune",
            "no configs",
            why="a filter that leaves nothing, and triton under another name",
        ),
    ),
)
