"""TL310: a hook that the tuner cannot call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tritonlint.finding import Certainty, Finding
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import AutotuneSite, LaunchPlan
from tritonlint.span import Span
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.names import parameter_names
from tritonlint_rules.support.places import Place, of_config_value, of_tuning
from tritonlint_rules.support.survey import lower

CODE, NAME = "TL310", "prune-hook-signature"
_NEEDS_KWARGS = "def prune(configs, named_args, **kwargs) works in every release"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    plan = context.plan
    tuning = plan.tuning
    if tuning is None:
        return
    level: Certainty = "proven" if tuning.own else "possible"
    yield from _config_hooks(context, level, tuning)
    if len(tuning.configs) == 1:
        return  # no other hook is called for one config
    yield from _tuner_hooks(context, level, tuning)
    major, minor = context.triton
    hook = tuning.prune_hook
    if isinstance(hook, (ast.FunctionDef, ast.Lambda)):
        problem = _problem(hook.args, context.triton)
        if problem is not None:
            call = "(configs, named_args, **kwargs)" if context.triton >= (3, 0) else "(configs, named_args)"
            yield Draft(
                place=_place(context, plan, tuning, hook),
                severity="error",
                certainty=level,
                message=f"early_config_prune is called as f{call} in Triton {major}.{minor}: {problem}",
                help=_NEEDS_KWARGS,
            )
    model = tuning.perf_model
    if isinstance(model, (ast.FunctionDef, ast.Lambda)) and _is_asked(tuning):
        problem = _model_problem(model.args, plan, tuning, context.triton)
        if problem is not None:
            yield Draft(
                place=_place(context, plan, tuning, model),
                severity="error",
                # How many configs are left for it then hangs on the other hook.
                certainty="possible" if hook is not None or tuning.prune == "early_config_prune" else level,
                message=(
                    f"perf_model is called with keywords only in Triton {major}.{minor}, those of the launch "
                    f"and of the config: {problem}"
                ),
                help="def model(BLOCK, num_warps, **kwargs): name what you need and take the rest",
            )


def _config_hooks(context: Context, level: Certainty, tuning: AutotuneSite) -> Iterator[Draft]:
    major, minor = context.triton
    for config in tuning.configs:
        hook = config.hook
        problem = _uncallable(hook.args, 1) if isinstance(hook, (ast.FunctionDef, ast.Lambda)) else None
        if problem is None:
            continue
        here = _stands_here(context, hook)
        yield Draft(
            place=Place(context.path, _name_span(hook))
            if here
            else of_config_value(context, context.plan, config, "pre_hook"),
            severity="error",
            certainty=lower(level, "possible" if tuning.alternatives else "proven"),
            message=f"pre_hook of a config is called as f(nargs) in Triton {major}.{minor}: {problem}",
            help="def hook(nargs): a dict of all arguments, those of the config too",
        )


def _tuner_hooks(context: Context, level: Certainty, tuning: AutotuneSite) -> Iterator[Draft]:
    if context.triton < (3, 0):
        return  # the decorator takes none
    major, minor = context.triton
    calls = {
        "pre_hook": (tuning.pre_hook, ((), ("reset_only",)), "f(nargs) and f(nargs, reset_only=True)"),
        "post_hook": (tuning.post_hook, (("exception",),), "f(nargs, exception=...)"),
    }
    for name, (hook, ways, text) in calls.items():
        if not isinstance(hook, (ast.FunctionDef, ast.Lambda)):
            continue
        problem = next((said for way in ways if (said := _uncallable(hook.args, 1, way))), None)
        if problem is not None:
            yield Draft(
                place=_place(context, context.plan, tuning, hook),
                severity="error",
                certainty=level,
                message=f"{name} is called as {text} in Triton {major}.{minor}: {problem}",
                help=f"def {name}(nargs, {'reset_only=False' if name == 'pre_hook' else 'exception'})",
            )


def _uncallable(arguments: ast.arguments, positional: int, keywords: tuple[str, ...] = ()) -> str | None:
    """Why a call with so many arguments by position, and these keywords, raises TypeError."""
    named = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if len(named) < positional and arguments.vararg is None:
        given = "one is" if positional == 1 else f"{positional} are"
        return f"it takes {len(named)} positional argument{'' if len(named) == 1 else 's'}, {given} given"
    by_name = {argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)} - set(
        named[:positional]
    )
    unknown = [name for name in keywords if name not in by_name]
    if unknown and arguments.kwarg is None:
        return f"it does not take {', '.join(unknown)}"
    needed = [*named[positional : len(named) - len(arguments.defaults)], *_required_keywords(arguments)]
    missing = [name for name in needed if name not in keywords]
    return f"nothing is given for {', '.join(missing)}" if missing else None


def _always(triton: tuple[int, int]) -> tuple[str, ...]:
    """What `kernel[grid](...)` adds to the keywords of every launch."""
    return ("grid", "warmup") if triton >= (2, 3) else ("grid",)


def _problem(arguments: ast.arguments, triton: tuple[int, int]) -> str | None:
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    needed = len(positional) - len(arguments.defaults)
    if len(positional) < 2 and arguments.vararg is None:
        taken = f"it takes {len(positional)} positional argument{'' if len(positional) == 1 else 's'}"
        return f"{taken}, two are given"
    further = positional[2:needed]
    if triton < (3, 0):
        missing = [*further, *_required_keywords(arguments)]
        return f"nothing is given for {', '.join(missing)}" if missing else None
    if arguments.kwarg is None:
        return _left_over({*positional[2:], *(argument.arg for argument in arguments.kwonlyargs)}, triton)
    return None


def _model_problem(
    arguments: ast.arguments, plan: LaunchPlan, tuning: AutotuneSite, triton: tuple[int, int]
) -> str | None:
    named = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    needed = named[: len(named) - len(arguments.defaults)]
    if arguments.posonlyargs:
        return "it takes positional arguments"
    given = {*parameter_names(plan), *_always(triton), "num_warps", "num_stages"}
    given |= {"num_ctas", "maxnreg"} if triton >= (2, 2) else set()
    given |= {name for config in tuning.configs for name in config.kwargs}
    given |= set(plan.launch.options) if plan.launch is not None else set()
    missing = [name for name in (*needed, *_required_keywords(arguments)) if name not in given]
    if missing:
        return f"nothing is given for {', '.join(missing)}"
    if arguments.kwarg is None:
        return _left_over({*named, *(argument.arg for argument in arguments.kwonlyargs)}, triton)
    return None


def _required_keywords(arguments: ast.arguments) -> list[str]:
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [argument.arg for argument, default in pairs if default is None]


def _left_over(named: set[str], triton: tuple[int, int]) -> str | None:
    left = [name for name in _always(triton) if name not in named]
    verb = "is" if len(left) == 1 else "are"
    return f"it takes no **kwargs, but {' and '.join(left)} {verb} always among them" if left else None


def _is_asked(tuning: AutotuneSite) -> bool:
    """Whether the model is called at all: only where more configs are left than it keeps."""
    count, top_k = len(tuning.configs), tuning.top_k
    if top_k is None or not tuning.resolved:
        return False
    return count > (max(1, int(count * top_k)) if isinstance(top_k, float) and top_k <= 1.0 else top_k)


def _place(
    context: Context, plan: LaunchPlan, tuning: AutotuneSite, hook: ast.FunctionDef | ast.Lambda
) -> Place:
    return Place(context.path, _name_span(hook)) if _stands_here(context, hook) else of_tuning(plan, tuning)


def _stands_here(context: Context, hook: ast.FunctionDef | ast.Lambda) -> bool:
    lines = context.source.splitlines()
    line = lines[hook.lineno - 1] if hook.lineno <= len(lines) else ""
    return isinstance(hook, ast.FunctionDef) and f"def {hook.name}" in line


def _name_span(hook: ast.FunctionDef | ast.Lambda) -> Span:
    length = len("def ") + len(getattr(hook, "name", ""))
    return Span(hook.lineno, hook.col_offset + 1, hook.lineno, hook.col_offset + 1 + length)


_HOOKED = (
    samples.HEAD
    + "def prune(configs, named_args, **kwargs):\n"
    + '    return [c for c in configs if c.kwargs["BLOCK"] <= named_args["n"]] or configs[:1]\n\n\n'
    + samples.tuned_scale(
        [samples.block(256), samples.block(1024)],
        'key=["n"],\n    prune_configs_by={"early_config_prune": prune}',
    ).removeprefix(samples.HEAD)
)
_BARE = _HOOKED.replace("named_args, **kwargs", "named_args")
_MODEL = (
    samples.HEAD
    + "def cost(BLOCK, num_warps, **kwargs):\n    return BLOCK / num_warps\n\n\n"
    + samples.tuned_scale(
        [samples.block(256), samples.block(512), samples.block(1024)],
        'key=["n"],\n    prune_configs_by={"perf_model": cost, "top_k": 2}',
    ).removeprefix(samples.HEAD)
)
_FEW = _MODEL.replace("num_warps, **kwargs", "num_warps")
_CONFIG_HOOK = (
    samples.HEAD
    + "def clear(nargs):\n"
    + '    nargs["x_ptr"].zero_()\n\n\n'
    + samples.tuned_scale(
        ['triton.Config({"BLOCK": 256}, pre_hook=clear)', 'triton.Config({"BLOCK": 512}, pre_hook=clear)']
    ).removeprefix(samples.HEAD)
)
_TUNER_HOOKS = (
    samples.HEAD
    + "def before(nargs, reset_only=False):\n    pass\n\n\n"
    + "def after(nargs, exception):\n    pass\n\n\n"
    + samples.tuned_scale(
        [samples.block(256), samples.block(512)],
        'key=["n"],\n    pre_hook=before,\n    post_hook=after',
    ).removeprefix(samples.HEAD)
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "An `early_config_prune` or `perf_model` function, or a `pre_hook` or `post_hook`, whose parameters do not fit "
        "the tuner's call."
    ),
    why=(
        "Up to 2.3 it is called with the configs and a dict of the positional arguments. From 3.0 on "
        "every keyword of the launch comes too, among them always `grid` and `warmup`, so a hook without "
        "`**kwargs` raises a TypeError at the first launch. `perf_model` gets keywords only, in every release: "
        "all of the launch and of the config. It is asked where more configs are left than `top_k`. The `pre_hook` of "
        "a config gets one dict of all arguments, before every launch; those of the decorator get it too, with the "
        "keywords `reset_only` (pre_hook, sometimes) and `exception` (post_hook)."
    ),
    example="```python\ndef prune(configs, named_args): ...\n```",
    better="```python\ndef prune(configs, named_args, **kwargs): ...\n```",
    when_not="The hook is a partial or a method with arguments bound: it is not read.",
    source="Triton's tuner, read in all releases from 2.1 to 3.9.",
    check=check,
    valid=(
        samples.miss(_HOOKED, "takes keywords"),
        samples.miss(_BARE, "no keywords are passed before 3.0", triton="2.1"),
        samples.miss(
            _BARE.replace('"early_config_prune": prune', '"early_config_prune": HOOKS[0]'),
            "which function is not known",
        ),
        samples.miss(_MODEL, "a model that takes what it needs and the rest"),
        samples.miss(_FEW.replace('"top_k": 2', '"top_k": 3'), "nothing is left out, so it is never asked"),
        samples.miss(
            _FEW.replace(', "top_k": 2', ""), "without top_k all configs stay, and it is never asked"
        ),
        samples.miss(_CONFIG_HOOK, "takes the one dict that it is given"),
        samples.miss(_CONFIG_HOOK.replace("(nargs)", "(nargs, value=0)"), "what it takes more has a default"),
        samples.miss(
            _CONFIG_HOOK.replace("(nargs)", "(*given)").replace('nargs["x_ptr"].zero_()', "pass"),
            "takes anything",
        ),
        samples.miss(
            _CONFIG_HOOK.replace("def clear(nargs)", "def clear(value, nargs)")
            .replace("=clear", "=functools.partial(clear, 0)")
            .replace("import triton\n", "import functools\nimport triton\n", 1),
            "one argument is bound",
        ),
        samples.miss(_TUNER_HOOKS, "take what they are given"),
        samples.miss(
            _TUNER_HOOKS.replace("nargs, reset_only=False", "nargs, **how").replace(
                "nargs, exception", "*args, exception"
            ),
            "take any keyword",
        ),
    ),
    invalid=(
        samples.hit(_BARE, "def prune", "**kwargs", severity="error"),
        samples.hit(_FEW, "def cost", "grid and warmup", severity="error"),
        samples.hit(
            _MODEL.replace("def cost(BLOCK, ", "def cost(BLOCK, LANES, "), "def cost", "LANES", triton="2.1"
        ),
        samples.hit(
            _HOOKED.replace("configs, named_args, **kwargs", "configs, **kwargs"),
            "def prune",
            "two are given",
        ),
        samples.hit(
            _CONFIG_HOOK.replace("(nargs)", "()").replace('nargs["x_ptr"].zero_()', "pass"),
            "def clear",
            "one is given",
            severity="error",
            why="called with the arguments of the launch",
        ),
        samples.hit(
            _CONFIG_HOOK.replace("=clear", "=lambda nargs, value: None"),
            "pre_hook=lambda",
            "nothing is given for value",
        ),
        samples.hit(
            _TUNER_HOOKS.replace(", reset_only=False", ""), "def before", "it does not take reset_only"
        ),
        samples.hit(
            _TUNER_HOOKS.replace("nargs, exception", "nargs"), "def after", "it does not take exception"
        ),
        samples.hit(
            _BARE.replace("@triton.autotune", "@tune").replace(
                "import triton\n", "import triton\nfrom triton import autotune as tune\n"
            ),
            "def prune",
            "grid",
            why="autotune under another name",
        ),
    ),
)
