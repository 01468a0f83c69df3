"""TL307: a parameter that nobody gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.names import near, sure_launch
from tritonlint_rules.support.places import of_config, of_launch
from tritonlint_rules.support.say import listed

CODE, NAME = "TL307", "missing-meta-parameter"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        for config in plan.tuning.configs if plan.tuning is not None else ():
            if config.bare:
                yield Draft(
                    place=of_config(plan, config),
                    severity="error",
                    certainty="proven",
                    message="the config is given no dict of values: it raises TypeError: 'kwargs' is missing",
                    gpu=gpu,
                    help="an empty one will do: `triton.Config({}, ...)`",
                )
        if plan.launch is None or plan.launch.splat_unknown or not plan.missing:
            continue
        tuned = plan.tuning is not None
        if tuned and plan.tuning is not None and not plan.tuning.resolved:
            continue
        givers = ["the launch"]
        givers += ["the configs"] if tuned else []
        givers += ["the heuristics"] if plan.heuristics else []
        names = plan.missing
        meant = [name for name in plan.unknown if near(name, list(names))]
        yield Draft(
            place=of_launch(plan),
            severity="error",
            certainty="proven" if sure_launch(context, plan) else "possible",
            message=(
                f"nobody gives {listed(names)} of {plan.kernel.name} (not {' nor '.join(givers)}): "
                "the launch raises TypeError"
            ),
            gpu=gpu,
            help=f"{meant[0]} was given: did you mean {near(meant[0], list(names))}?" if meant else None,
        )


_BARE = samples.launched_scale("num_warps=4")
_EMPTY = (
    samples.tuned_scale(["triton.Config({}, num_warps=4)", "triton.Config({}, num_warps=8)"])
    .replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr = 256")
    .replace('meta["BLOCK"]', "256")
)
_STAGED = samples.tuned_scale(
    [samples.block(512, "num_stages=2"), samples.block(1024, "num_stages=3")]
).replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr, num_stages: tl.constexpr")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "A parameter without default, often a `tl.constexpr`, that neither launch, nor config, nor heuristic gives; a "
        "`triton.Config` without its dict."
    ),
    why=(
        "The launcher binds arguments as Python does: `TypeError: missing a required argument`, at every "
        "launch."
    ),
    example="```python\nscale[grid](x, y, n)  # BLOCK: tl.constexpr has no value\n```",
    better="```python\nscale[grid](x, y, n, BLOCK=1024)\n```",
    when_not="A wrapper around the kernel gives the parameter.",
    source="Triton's launcher, read in 2.1 to 3.9.",
    check=check,
    valid=(
        samples.miss(samples.launched_scale("1024"), "given by position"),
        samples.miss(
            _BARE.replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr = 1024"), "the kernel has a default"
        ),
        samples.miss(samples.tuned_scale([samples.block(512), samples.block(1024)]), "the configs give it"),
        samples.miss(_EMPTY, "an empty dict, and the kernel has a default"),
        samples.miss(_STAGED, "an option of the configs reaches a parameter of its name"),
        samples.miss(
            _BARE.replace("BLOCK: tl.constexpr", "num_warps: tl.constexpr, BLOCK: tl.constexpr = 1024"),
            "and one of the launch",
        ),
        samples.miss(
            samples.launched_scale("**more").replace("def run(x, y, n)", "def run(x, y, n, **more)"),
            "the splat may hold it",
        ),
    ),
    invalid=(
        samples.hit(_BARE, "scale[(", "BLOCK", severity="error"),
        samples.hit(
            samples.tuned_scale(["triton.Config({}, num_warps=4)", "triton.Config({}, num_warps=8)"]).replace(
                'meta["BLOCK"]', "256"
            ),
            "scale[lambda",
            "BLOCK",
            why="the configs do not give it either",
        ),
        samples.hit(
            _BARE.replace("tl.constexpr", "constexpr").replace(
                "import triton\n", "import triton\nfrom triton.language import constexpr\n"
            ),
            "scale[(",
            "BLOCK",
            why="constexpr by its own name",
        ),
        samples.hit(
            _EMPTY.replace("{}, num_warps=8", "num_warps=8"), "num_warps=8", "no dict", severity="error"
        ),
        samples.hit(
            _STAGED,
            "scale[lambda",
            "num_stages",
            triton="2.3",
            why="up to 2.3 the launcher keeps options to itself",
        ),
        samples.hit(
            samples.launched_scale("BLOCK=1024").replace("(x, y, n, ", "(x, y, "),
            "scale[(",
            "gives n",
            why="an argument of the run time",
        ),
    ),
)
