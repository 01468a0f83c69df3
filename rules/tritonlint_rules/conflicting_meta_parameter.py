"""TL302: the same parameter or option given twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import AutotuneSite, LaunchPlan
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.names import sure_launch
from tritonlint_rules.support.places import of_argument, of_config, of_config_value
from tritonlint_rules.support.say import listed

CODE, NAME = "TL302", "conflicting-meta-parameter"
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        tuning = plan.tuning
        if tuning is None or not tuning.configs or not tuning.own:
            continue
        yield from _at_launch(context, plan, tuning)
        yield from _in_config(context, plan, tuning)


def _at_launch(context: Context, plan: LaunchPlan, tuning: AutotuneSite) -> Iterator[Draft]:
    """What the launch gives and every config of the list as well."""
    launch = plan.launch
    if launch is None:
        return
    several = len(tuning.configs) > 1
    certain = sure_launch(context, plan)
    twice = [name for name in launch.arguments if all(name in config.kwargs for config in tuning.configs)]
    some = [
        name
        for name in launch.arguments
        if name not in twice and any(name in config.kwargs for config in tuning.configs)
    ]
    for name in (*twice, *some):
        by_position = launch.arguments[name].by_position
        raises = (
            "ValueError: Conflicting meta-parameters"
            if several and not by_position
            else "TypeError: multiple values"
        )
        sure = certain and (name in twice or not (tuning.alternatives or tuning.prune))
        yield Draft(
            place=of_argument(context, plan, name),
            severity="error",
            certainty="proven" if sure else "possible",
            message=f"{name} is given by the config and at the launch: the launch raises {raises}",
            help=f"leave {name} out of the launch, or out of the configs",
        )
    options = [name for name in _OPTIONS if name in launch.options and _passed(name, tuning)]
    if options:
        yield Draft(
            place=of_argument(context, plan, options[0]),
            severity="error",
            certainty="proven" if certain else "possible",
            message=(
                f"{listed(options)} at the launch of a tuned kernel: every config has its own, "
                "the launch raises TypeError: multiple values"
            ),
            help="give it in the configs",
        )


def _passed(name: str, tuning: AutotuneSite) -> bool:
    """Whether the tuner passes the option itself: always, but for maxnreg, which it leaves out while it is
    None."""
    return name != "maxnreg" or all(config.maxnreg is not None for config in tuning.configs)


def _in_config(context: Context, plan: LaunchPlan, tuning: AutotuneSite) -> Iterator[Draft]:
    """`num_warps` in the dict: the argument of Config, or its default, comes after it and wins."""
    for config in tuning.configs:
        lost = [name for name in _OPTIONS[:3] if name in config.kwargs and name not in config.unknown]
        raises = context.triton < (3, 0)  # both are passed on
        lost = [name for name in lost if raises or config.kwargs[name] != getattr(config, name)]
        if lost:
            values = {
                "num_warps": config.num_warps,
                "num_stages": config.num_stages,
                "num_ctas": config.num_ctas,
            }
            given = [f"{name}={config.kwargs[name]}" for name in lost]
            used = [f"{name}={values[name]}" for name in lost]
            yield Draft(
                place=(
                    of_config_value(context, plan, config, lost[0])
                    if len(lost) == 1
                    else of_config(plan, config)
                ),
                severity="error" if raises else "warning",
                certainty="proven",
                message=(
                    f"{listed(given)} in the config's dict is given twice, with {listed(used)} of Config itself: "
                    "the launch raises TypeError"
                    if raises
                    else f"{listed(given)} in the config's dict has no effect: {listed(used)} of Config itself "
                    "is used"
                ),
                help=f"triton.Config({{...}}, {', '.join(given)})",
            )


_TWICE = samples.tuned_scale(
    [samples.block(512), samples.block(1024)],
    launch=(
        'def run(x, y, n):\n    scale[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n, BLOCK=512)\n'
    ),
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "A parameter or option that the configs set and the launch passes too; or an option in a config's "
        "dict beside the argument of `Config` of the same name."
    ),
    why=(
        "With several configs the tuner raises `ValueError: Conflicting meta-parameters`, with one the "
        "call gets two values for a keyword. `num_warps` at the launch is silently overridden while "
        "tuning and raises in the launch after it. In the dict of a config it is overridden by `Config`'s "
        "own, also when that is only the default of 4."
    ),
    example="```python\nscale[grid](x, y, n, BLOCK=512)  # the configs set BLOCK\n```",
    better="```python\nscale[grid](x, y, n)\n```",
    when_not="Heuristics may set what the launch passes: they win without a word.",
    source="Triton's tuner, read in 2.1 to 3.9; each mistake run on an H200.",
    check=check,
    valid=(
        samples.miss(
            samples.tuned_scale(['triton.Config({"BLOCK": 512, "num_warps": 4})', samples.block(1024)]),
            "from 3.0 on one of the two is passed on, and they are equal",
        ),
        samples.miss(
            samples.tuned_scale([samples.block(512), samples.block(1024)]), "only the configs give it"
        ),
        samples.miss(
            samples.tuned_scale([samples.block(512, "num_stages=5"), samples.block(1024)]).replace(
                "BLOCK: tl.constexpr", "BLOCK: tl.constexpr, num_stages: tl.constexpr"
            ),
            "a parameter with the name of an option gets what Config says",
        ),
        samples.miss(samples.launched_scale("BLOCK=512, num_warps=8"), "no tuner"),
        samples.miss(
            samples.tuned_scale(
                ['triton.Config({"BLOCK": 512, "num_warps": 4}, num_warps=4)', samples.block(1024)]
            ),
            "given twice, with the same value",
        ),
        samples.miss(
            samples.tuned_scale(
                [samples.block(512), samples.block(1024)],
                launch=(
                    "def run(x, y, n, **kw):\n"
                    '    scale[lambda m: (triton.cdiv(n, m["BLOCK"]),)](x, y, n, **kw)\n'
                ),
            ),
            "what the splat holds is not known",
        ),
    ),
    invalid=(
        samples.hit(
            samples.tuned_scale(
                ['triton.Config({"BLOCK": 512, "num_stages": 5})', samples.block(1024)]
            ).replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr, num_stages: tl.constexpr"),
            "512",
            "num_stages=3 of Config itself",
            severity="warning",
            why="a parameter of that name gets what Config itself says too",
        ),
        samples.hit(_TWICE, "BLOCK=512", "BLOCK", severity="error"),
        samples.hit(_TWICE.replace("BLOCK=512", "num_warps=8"), "num_warps=8", "num_warps", severity="error"),
        samples.hit(
            samples.tuned_scale(['triton.Config({"BLOCK": 512, "num_warps": 8})', samples.block(1024)]),
            "512",
            "num_warps=8",
            severity="warning",
        ),
        samples.hit(
            samples.tuned_scale(['triton.Config({"BLOCK": 512, "num_warps": 4})', samples.block(1024)]),
            "512",
            "TypeError",
            triton="2.1",
            severity="error",
            why="up to 2.3 both are passed on",
        ),
        samples.hit(
            _TWICE.replace("import triton\n", "import triton as tt\n")
            .replace("triton.", "tt.")
            .replace("import tt.language as tl", "import triton.language as tl"),
            "BLOCK=512",
            "BLOCK",
            why="triton under another name",
        ),
    ),
)
