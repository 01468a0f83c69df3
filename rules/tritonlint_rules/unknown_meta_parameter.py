"""TL301: a config or a launch gives a parameter that the kernel does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Certainty, Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings
from tritonlint_rules.support.launch_options import everywhere_known
from tritonlint_rules.support.names import near, parameter_names, sure_launch
from tritonlint_rules.support.places import of_config, of_config_value, of_launch
from tritonlint_rules.support.say import counted, listed
from tritonlint_rules.support.survey import all_entries, by_config

CODE, NAME = "TL301", "unknown-meta-parameter"


def check(context: Context) -> Iterable[Finding]:
    yield from findings(CODE, NAME, context, _drafts(context))
    yield from findings(CODE, NAME, context, _surplus(context))


def _surplus(context: Context) -> Iterator[Draft]:
    """More arguments by position than the kernel has parameters."""
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        launch = plan.launch
        if launch is None or launch.splat_unknown or not launch.surplus:
            continue
        taken = len(plan.kernel.parameters)
        yield Draft(
            place=of_launch(plan),
            severity="error",
            certainty="proven" if sure_launch(context, plan) else "possible",
            message=(
                f"the launch gives {taken + launch.surplus} arguments by position, but {plan.kernel.name} has "
                f"{counted(taken, 'parameter')}: it raises TypeError"
            ),
            gpu=gpu,
        )


def _drafts(context: Context) -> Iterator[Draft]:
    for entries in all_entries(context):
        for group in by_config([entry for entry in entries if entry.in_list]):
            entry = group[0]
            config, tuning = entry.of.candidate.config, entry.plan.tuning
            if config is None or tuning is None:
                continue
            names = parameter_names(entry.plan)
            unknown = [name for name in config.kwargs if name not in names and not everywhere_known(name)]
            if not unknown:
                continue
            level: Certainty = "proven" if tuning.own else "possible"
            if tuning.alternatives or tuning.prune:
                level = "possible"
            closest = near(unknown[0], [name for name in names if name not in config.kwargs])
            yield Draft(
                place=(
                    of_config_value(context, entry.plan, config, unknown[0])
                    if len(unknown) == 1
                    else of_config(entry.plan, config)
                ),
                severity="error",
                certainty=level,
                message=(
                    f"the config gives {listed(unknown)}, but {entry.plan.kernel.name} has no such "
                    f"{'parameter' if len(unknown) == 1 else 'parameters'}"
                ),
                gpu=entry.gpu,
                config=config_values(entry.of.candidate),
                help=f"did you mean {closest}?" if closest else None,
            )


_WRONG = samples.tuned_scale(['triton.Config({"BLOCK_SIZE": 512})', 'triton.Config({"BLOCK_SIZE": 1024})'])

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "A name in a config's dict is neither a parameter of the kernel nor a launch option; or a launch gives more "
        "arguments by position than the kernel has parameters."
    ),
    why=(
        "The tuner passes every name of the dict to the kernel as a keyword. One that the kernel lacks "
        "raises, and the tuner does not catch that; often the parameter that was meant is then missing as "
        "well."
    ),
    example=(
        '```python\n@triton.autotune([triton.Config({"BLOCK_SIZE": 512})], key=["n"])\n@triton.jit\n'
        "def scale(x_ptr, n, BLOCK: tl.constexpr): ...\n```"
    ),
    better='```python\n@triton.autotune([triton.Config({"BLOCK": 512})], key=["n"])\n```',
    when_not=(
        "AMD's options (`waves_per_eu`, `matrix_instr_nonkdim`, `kpack`) belong in the dict; where the "
        "backend does not know them, TL207 says so. A tuner of the project's own may use further names."
    ),
    source="Triton's tuner and launcher, read in 2.1 to 3.9; run on an H200.",
    check=check,
    valid=(
        samples.miss(samples.tuned_scale([samples.block(512), samples.block(1024)]), "the parameter's name"),
        samples.miss(
            samples.tuned_scale(['triton.Config({"BLOCK": 512, "waves_per_eu": 2})', samples.block(1024)]),
            "a launch option in the dict",
            gpu="mi300x",
        ),
        samples.miss(
            samples.tuned_scale(["triton.Config({NAME: 512})", samples.block(1024)]), "the name is not known"
        ),
        samples.miss(
            samples.launched_scale("*more").replace("def run(x, y, n)", "def run(x, y, n, *more)"),
            "how many there are is not known",
        ),
    ),
    invalid=(
        samples.hit(_WRONG, "512", "BLOCK_SIZE", severity="error"),
        samples.hit(_WRONG, "1024", "BLOCK_SIZE", why="each config says it"),
        samples.hit(
            _WRONG.replace("triton.Config(", "Config(").replace(
                "import triton\n", "import triton\nfrom triton import Config\n"
            ),
            "512",
            "BLOCK_SIZE",
            why="Config by its own name",
        ),
        samples.hit(
            samples.launched_scale("1024, 4"),
            "scale[(",
            "5 arguments by position, but scale has 4 parameters",
            why="one argument too many",
        ),
    ),
)
