"""TL403: a grid that reads a name which the launch does not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from tritonlint import fixes
from tritonlint.finding import Certainty, Finding, Fix
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import LaunchPlan
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.names import parameter_names, sure_launch
from tritonlint_rules.support.places import Place
from tritonlint_rules.support.say import listed

CODE, NAME = "TL403", "grid-unknown-meta"
_OPTIONS = frozenset(("num_warps", "num_stages", "num_ctas", "maxnreg"))


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    plan = context.plan
    launch = plan.launch
    if launch is None or launch.grid is None or not launch.grid.meta_keys:
        return
    names = parameter_names(plan)
    path = launch.path or plan.kernel.path
    level: Certainty = "proven" if sure_launch(context, plan) else "possible"
    for key, span in launch.grid.meta_keys.items():
        if key in names or key in _OPTIONS or key in launch.options:
            continue
        given = [name for name in names if _is_meta(plan, name)] or names
        close = difflib.get_close_matches(key.upper(), [name.upper() for name in given], n=1, cutoff=0.5)
        instead = next((name for name in given if close and name.upper() == close[0]), None)
        if instead is None and len(given) == 1:
            instead = given[0]
        fix: tuple[Fix, ...] = ()
        if instead is not None and path == context.path:
            edit = fixes.replace_string(context.source, span, instead)
            fix = (Fix(f'"{key}" -> "{instead}"', False, (edit,)),) if edit else ()
        yield Draft(
            place=Place(path, span),
            severity="error",
            certainty=level,
            message=(
                f"the grid reads {key}, which is no parameter of {plan.kernel.name}: the launch raises "
                "KeyError"
            ),
            help=f"did you mean {instead}?" if instead else f"there are {listed(names[:8])}",
            fixes=fix,
        )


def _is_meta(plan: LaunchPlan, name: str) -> bool:
    return any(parameter.name == name and parameter.constexpr for parameter in plan.kernel.parameters)


_WRONG = samples.launched_scale(grid='lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)')

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what='A callable grid that reads `meta["NAME"]` where the kernel has no parameter NAME.',
    why=(
        "The grid is called with the kernel's arguments by name, those of the config among them. A name "
        "that is not there raises a KeyError at every launch."
    ),
    example=(
        '```python\ngrid = lambda meta: (triton.cdiv(n, meta["block_size"]),)  # the kernel has BLOCK\n```'
    ),
    better='```python\ngrid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)\n```',
    when_not="A wrapper around the kernel adds the name.",
    source="Triton's launcher, read in 2.1 to 3.9; run on an H200.",
    check=check,
    fixable="unsafe",
    valid=(
        samples.miss(
            samples.launched_scale(grid='lambda meta: (triton.cdiv(n, meta["BLOCK"]),)'),
            "the kernel's parameter",
        ),
        samples.miss(
            samples.launched_scale(grid='lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)'),
            "ordinary arguments are there too",
        ),
        samples.miss(
            samples.launched_scale(
                grid='lambda meta: (triton.cdiv(n, sizes["tile"]),)', before='sizes = {"tile": 64}\n\n\n'
            ),
            "another dict",
        ),
    ),
    invalid=(
        samples.hit(_WRONG, "scale[", "BLOCK_SIZE", severity="error"),
        samples.hit(
            samples.tuned_scale([samples.block(256), samples.block(512)]).replace(
                'meta["BLOCK"]', 'meta["block"]'
            ),
            "scale[",
            "block",
        ),
        samples.hit(
            _WRONG.replace("import triton\n", "import triton as tt\n")
            .replace("triton.cdiv", "tt.cdiv")
            .replace("@triton.jit", "@tt.jit"),
            "scale[",
            "BLOCK_SIZE",
            why="triton under another name",
        ),
    ),
)
