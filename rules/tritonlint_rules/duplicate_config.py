"""TL305: the same config twice in a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tritonlint import fixes
from tritonlint.finding import Finding, Fix, Related
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import AutotuneSite, Config, LaunchPlan
from tritonlint.source.values import Bounded, Known, OneOf, Unknown
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.places import of_config
from tritonlint_rules.support.say import config_text, counted, listed
from tritonlint_rules.support.survey import tuner_of

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile

CODE, NAME = "TL305", "duplicate-config"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        tuning = tuner_of(plan)
        # Of the branches of a condition that was not decided only one is the list.
        if tuning is None or tuning.alternatives or len(tuning.configs) < 2:
            continue
        yield from _of_list(context, plan, tuning, gpu)


def _of_list(context: Context, plan: LaunchPlan, tuning: AutotuneSite, gpu: GpuProfile) -> Iterator[Draft]:
    seen: dict[str, Config] = {}
    twice: dict[Any, list[tuple[Config, Config]]] = {}
    for config in tuning.configs:
        first = seen.setdefault(_identity(context, plan, config, gpu), config)
        if first is not config:
            twice.setdefault(of_config(plan, config), []).append((config, first))
    for place, pairs in twice.items():
        config, first = pairs[0]
        values = config_text(_shown(config))
        other = of_config(plan, first)
        if len(pairs) == 1 and other != place:
            message = f"the same config again: {values}"
        else:
            total = sum(of_config(plan, one) == place for one in tuning.configs)
            again = f"{counted(len(pairs), 'config')} of {total} made here"
            message = f"{again} {_is(len(pairs))} there already: {values}"
        help_text = None
        if config.num_stages != first.num_stages:
            help_text = "num_stages of 0 and 1 are the same loop without pipelining"
        elif config.kwargs != first.kwargs:
            help_text = f"{listed(_set_over(config, first))} is what the heuristics make of it"
        alone = other != place and len(pairs) == 1 and config.kwargs == first.kwargs
        # Where one would be left, only the author knows what was to be tuned.
        fix = _fix(context, config, place.path) if alone and len(tuning.configs) > 2 else None
        yield Draft(
            place=place,
            severity="warning",
            certainty="proven",
            message=message,
            gpu=gpu,
            config=_shown(config),
            related=(Related(other.path, other.span, "first given here"),) if other != place else (),
            help=help_text,
            fixes=(fix,) if fix else (),
            tags=frozenset({"unnecessary"}) if other != place else frozenset(),
        )


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _identity(context: Context, plan: LaunchPlan, config: Config, gpu: GpuProfile) -> str:
    """What the compiler is given: heuristics set their parameters over the config's (they may read the config's
    own value, so only one that is known replaces it), and a loop with one stage or none is not pipelined."""
    kwargs = dict(config.kwargs)
    for name in plan.heuristics:
        given = [one.constants.get(name) for one in plan.candidates if one.config is config]
        if name in kwargs and given and all(isinstance(value, Known) for value in given):
            kwargs[name] = given
    if not all(map(_is_told, (*kwargs.values(), *config.extra.values()))):
        return f"{id(config)}"  # two values that are not known need not be equal
    one_stage = gpu.vendor == "nvidia" or context.triton >= (3, 6)
    stages = max(config.num_stages, 1) if one_stage else config.num_stages
    return repr(
        (
            sorted(kwargs.items()),
            config.num_warps,
            stages,
            config.num_ctas,
            config.maxnreg,
            sorted(config.extra.items(), key=str),
            config.pre_hook,
        )
    )


def _is_told(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_told, value))
    return not isinstance(value, (OneOf, Bounded, Unknown))


def _set_over(config: Config, first: Config) -> list[str]:
    return [name for name, value in config.kwargs.items() if first.kwargs.get(name) != value]


def _shown(config: Config) -> dict[str, Any]:
    return {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}


def _fix(context: Context, config: Config, path: str) -> Fix | None:
    if path != context.path or config.spread is not None or config.pre_hook:
        return None
    edit = fixes.remove_element(context.source, config.span)
    return Fix("remove the repeated config", True, (edit,)) if edit else None


_TWICE = samples.tuned_scale([samples.block(256, "num_warps=4"), samples.block(512), samples.block(256)])
_HEURISTIC = samples.tuned_scale([samples.block(256), samples.block(512), samples.block(1024)]).replace(
    "@triton.jit", '@triton.heuristics({"BLOCK": lambda args: min(args["BLOCK"], CAP)})\n@triton.jit'
)
_CLAMPED = samples.tuned_gemm(
    [
        samples.config("64x64x32", "num_stages=max(s, 1)") + "\n        for s in (0, 1, 2)",
    ]
).replace("2),\n    ],", "2)\n    ],")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="warning",
    what="Two configs of a list that compile to the same kernel, also after defaults and clamping.",
    why=(
        "The tuner compiles and times both: seconds of compiling and a run of the benchmark each time the "
        "key changes, and of two equal times one is taken by chance."
    ),
    example=(
        '```python\ntriton.Config({"BLOCK": 256}, num_warps=4),\ntriton.Config({"BLOCK": 256}),  # 4 is '
        "the default\n```"
    ),
    better=(
        "```python\n"
        'triton.Config({"BLOCK": 256}, num_warps=4),\n'
        'triton.Config({"BLOCK": 256}, num_warps=8),\n'
        "```"
    ),
    when_not="Configs that differ only in their `pre_hook`.",
    source="Defaults of Config by release, read in 2.1 to 3.9.",
    check=check,
    fixable="safe",
    valid=(
        samples.miss(
            samples.tuned_scale([samples.block(256, "num_warps=4"), samples.block(256, "num_warps=8")]),
            "another number of warps",
        ),
        samples.miss(
            samples.tuned_scale([samples.block(256, "num_stages=2"), samples.block(256)]),
            "the default is 3 in this release",
        ),
        samples.miss(
            samples.tuned_scale([samples.block(256, "num_ctas=1"), samples.block(512)]), "another tile"
        ),
        samples.miss(
            samples.tuned_scale(["a, b"]).replace(
                "configs=[\n        a, b,\n    ]",
                'configs=[triton.Config({"BLOCK": 64 * (1 if FAST else 2)}), triton.Config({"BLOCK": 64})]',
            ),
            "whether they are equal hangs on FAST",
        ),
        samples.miss(
            _HEURISTIC.replace("CAP", 'args["n"]'), "the heuristic keeps the config's value where n is larger"
        ),
        samples.miss(_HEURISTIC.replace("CAP", "512").replace("1024", "128"), "none is clamped"),
        samples.miss(
            samples.tuned_scale([samples.block("pick(1)"), samples.block("pick(2)")]).replace(
                "import triton\n", "import triton\nfrom elsewhere import pick\n"
            ),
            "what pick gives is not known",
        ),
    ),
    invalid=(
        samples.hit(_TWICE, "256})", "BLOCK=256", severity="warning", why="num_warps=4 is the default"),
        samples.hit(
            samples.tuned_scale([samples.block(256, "num_stages=2"), samples.block(256)]),
            "256})",
            "BLOCK=256",
            triton="3.1",
            why="the default was 2 up to 3.2",
        ),
        samples.hit(
            _HEURISTIC.replace("CAP", "512"), "1024})", "BLOCK=1024", why="the heuristic makes it 512 as well"
        ),
        samples.hit(_CLAMPED, "triton.Config(", "1 config of 3", why="stages 0 and 1 are clamped to 1"),
        samples.hit(
            _TWICE.replace("triton.Config(", "C(").replace(
                "import triton\n", "import triton\nfrom triton import Config as C\n"
            ),
            "256})",
            "BLOCK=256",
            why="Config under another name",
        ),
    ),
)
