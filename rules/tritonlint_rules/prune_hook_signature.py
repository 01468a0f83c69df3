"""TL310: a pruning hook that the tuner cannot call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint.span import Span
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.names import plain_tuner
from tritonlint_rules.support.places import Place, of_tuning

CODE, NAME = "TL310", "prune-hook-signature"
_ALWAYS = ("grid", "warmup")  # what `kernel[grid](...)` adds to the keywords of every launch


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    plan = context.plan
    tuning = plan.tuning
    if tuning is None or not isinstance(tuning.prune_hook, (ast.FunctionDef, ast.Lambda)):
        return
    hook = tuning.prune_hook
    problem = _problem(hook.args, context.triton, len(tuning.configs))
    if problem is None:
        return
    here = _stands_here(context, hook)
    place = Place(context.path, _name_span(hook)) if here else of_tuning(plan, tuning)
    major, minor = context.triton
    call = "(configs, named_args, **kwargs)" if context.triton >= (3, 0) else "(configs, named_args)"
    yield Draft(
        place=place,
        severity="error",
        certainty="proven" if plain_tuner(plan, tuning) else "possible",
        message=f"early_config_prune is called as f{call} in Triton {major}.{minor}: {problem}",
        help="def prune(configs, named_args, **kwargs) works in every release",
    )


def _problem(arguments: ast.arguments, triton: tuple[int, int], configs: int) -> str | None:
    if configs == 1:
        return None  # never called
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    needed = len(positional) - len(arguments.defaults)
    if len(positional) < 2 and arguments.vararg is None:
        taken = f"it takes {len(positional)} positional argument{'' if len(positional) == 1 else 's'}"
        return f"{taken}, two are given"
    further = positional[2:needed]
    if triton < (3, 0):
        missing = [
            *further,
            *(a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None),
        ]
        return f"nothing is given for {', '.join(missing)}" if missing else None
    if arguments.kwarg is None:
        named = {*positional[2:], *(argument.arg for argument in arguments.kwonlyargs)}
        left = [name for name in _ALWAYS if name not in named]
        if left:
            return f"it takes no **kwargs, but {' and '.join(left)} are always among them"
    return None


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

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="An `early_config_prune` function whose parameters do not fit the tuner's call.",
    why=(
        "Up to 2.3 it is called with the configs and a dict of the positional arguments. From 3.0 on "
        "every keyword of the launch comes too, among them always `grid` and `warmup`, so a hook without "
        "`**kwargs` raises a TypeError at the first launch."
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
    ),
    invalid=(
        samples.hit(_BARE, "def prune", "**kwargs", severity="error"),
        samples.hit(
            _HOOKED.replace("configs, named_args, **kwargs", "configs, **kwargs"),
            "def prune",
            "two are given",
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
