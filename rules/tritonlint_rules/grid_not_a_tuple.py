"""TL407: a grid that is a number, or holds something that is no integer."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tritonlint import fixes
from tritonlint.finding import Finding, Fix, Severity
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import Grid
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.places import of_grid

CODE, NAME = "TL407", "grid-not-a-tuple"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        launch = plan.launch
        if launch is None or launch.grid is None:
            continue
        problem: tuple[str, Severity, str] | None = None
        problems = {candidate.grid_problem for candidate in plan.candidates}
        if "not-a-tuple" in problems or launch.grid.form == "scalar":
            problem = (
                "the grid is a number: the launch raises TypeError",
                "error",
                "write it as a tuple, `(n,)`",
            )
        elif "float" in problems or _divides(launch.grid):
            problem = (
                "the grid holds a float: the launch raises TypeError",
                "error",
                "divide with `//` or `triton.cdiv`",
            )
        elif "tuple" in problems:
            problem = (
                "the grid holds a tuple: the launch raises TypeError",
                "error",
                "its entries are integers: the inner tuple may be the grid",
            )
        elif any(candidate.grid is not None and len(candidate.grid) > 3 for candidate in plan.candidates):
            problem = (
                "the grid has more than three entries: the rest is ignored",
                "warning",
                "there are three axes",
            )
        elif any(candidate.grid == () for candidate in plan.candidates):
            problem = (
                "the grid is empty: the launch raises IndexError",
                "error",
                "write it as a tuple, `(1,)`",
            )
        if problem is None:
            continue
        message, severity, help_text = problem
        fix = _fix(context, launch.grid, message)
        yield Draft(
            place=of_grid(plan),
            severity=severity,
            certainty="proven",
            message=message,
            gpu=gpu,
            help=help_text,
            fixes=(fix,) if fix else (),
        )


def _divides(grid: Grid) -> bool:
    """Whether an axis is written as a true division, which is a float whatever is divided."""
    try:
        node = ast.parse(grid.text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return False
    node = node.body if isinstance(node, ast.Lambda) else node
    axes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
    return any(isinstance(axis, ast.BinOp) and isinstance(axis.op, ast.Div) for axis in axes[:3])


def _fix(context: Context, grid: Grid, message: str) -> Fix | None:
    if not message.startswith("the grid is a number") or not grid.text.isdigit():
        return None
    edit = fixes.replace_text(context.source, grid.span, grid.text, f"({grid.text},)")
    return Fix(f"({grid.text},)", True, (edit,)) if edit else None


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="A grid that is a plain number, has a float or a tuple in it, is empty, or has more than three entries.",
    why=(
        "The launcher takes the length of the grid and its first three entries. A number has no length "
        "and a float is no count: both raise a TypeError. A fourth entry is ignored in silence."
    ),
    example="```python\nscale[128](x, y, n)\nscale[(n / 1024,)](x, y, n)\n```",
    better="```python\nscale[(128,)](x, y, n)\nscale[(triton.cdiv(n, 1024),)](x, y, n)\n```",
    when_not="A list works as well as a tuple.",
    source="Triton's launcher, read in 2.1 to 3.9; each form run on an H200.",
    check=check,
    fixable="safe",
    valid=(
        samples.miss(samples.launched_scale(grid="(128,)"), "a tuple of one"),
        samples.miss(samples.launched_scale(grid="[128]"), "a list works"),
        samples.miss(samples.launched_scale(grid="(128, 1, 1)"), "three axes"),
        samples.miss(
            samples.launched_scale(grid="g").replace("def run(", "def run(g, "), "what g is, is not known"
        ),
        samples.miss(samples.launched_scale(grid="(int(n / 1024),)"), "made whole again"),
        samples.miss(
            samples.launched_scale(grid="(*SIZES, 1)", before="SIZES = (4, n)\n\n\n"), "taken apart"
        ),
        samples.miss(
            samples.launched_scale(grid="(SIZES[0], 1)", before="SIZES = (4, 2)\n\n\n"), "one of them"
        ),
    ),
    invalid=(
        samples.hit(samples.launched_scale(grid="128"), "scale[128]", "number", severity="error"),
        samples.hit(samples.launched_scale(grid="(4096 / 1024,)"), "scale[(", "float", severity="error"),
        samples.hit(samples.launched_scale(grid="(n / 1024,)"), "scale[(", "float", why="n is not known"),
        samples.hit(samples.launched_scale(grid="((n, 1),)"), "scale[(", "holds a tuple", severity="error"),
        samples.hit(samples.launched_scale(grid="lambda meta: ((1, n), 2)"), "scale[lambda", "holds a tuple"),
        samples.hit(samples.launched_scale(grid="(128, 1, 1, 2)"), "scale[(", "three", severity="warning"),
        samples.hit(
            samples.launched_scale(grid="SIZE", before="SIZE = 256\n\n\n").replace(
                "import triton.language as tl", "from triton import language as tl"
            ),
            "scale[SIZE]",
            "number",
            why="a constant of the module",
        ),
    ),
)
