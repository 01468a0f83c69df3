"""TL904: a comment that names no rule, or says nothing that is understood."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from tritonlint.finding import Edit, Finding, Fix
from tritonlint.rule import FileContext, Rule
from tritonlint_rules.support import samples

CODE, NAME = "TL904", "unknown-rule"


def check_file(context: FileContext) -> Iterable[Finding]:
    return list(_findings(context))


def _findings(context: FileContext) -> Iterator[Finding]:
    for problem in context.problems:
        if problem.kind == "comment":
            path = problem.path or context.path
            yield Finding(
                CODE, NAME, "warning", "proven", problem.message, path, problem.span, kernel=problem.kernel
            )
    for use in context.suppressions:
        for place in use.unknown:
            name = use.suppression.rules[place]
            span = use.suppression.rule_spans[place]
            close = difflib.get_close_matches(
                name.lower(), [one.lower() for one in context.rule_names], n=1, cutoff=0.7
            )
            instead = next((one for one in context.rule_names if close and one.lower() == close[0]), None)
            yield Finding(
                CODE,
                NAME,
                "warning",
                "proven",
                f"{name} is no rule, so the comment hides nothing of it",
                context.path,
                span,
                help=f"did you mean {instead}?" if instead else "`tritonlint rule` lists them",
                fixes=(Fix(f"{name} -> {instead}", False, (Edit(span, instead),)),) if instead else (),
            )


_BAD = samples.launched_scale("BLOCK=1024, num_warps=6")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="warning",
    what="A `# tritonlint:` comment that names a rule which does not exist, or that is no known comment.",
    why="It hides nothing and assumes nothing, though its author thinks so.",
    example="```python\nscale[grid](x, y, n)  # tritonlint: ignore[TL1O1]\n```",
    better="```python\nscale[grid](x, y, n)  # tritonlint: ignore[TL101]\n```",
    when_not="A rule of a plugin that is not installed here.",
    source="The rules that are installed.",
    check_file=check_file,
    fixable="unsafe",
    valid=(
        samples.miss(_BAD.replace("num_warps=6)", "num_warps=6)  # tritonlint: ignore[TL204]"), "a code"),
        samples.miss(
            _BAD.replace("num_warps=6)", "num_warps=6)  # tritonlint: ignore[num-warps-not-power-of-two]"),
            "a name",
        ),
        samples.miss(
            _BAD.replace("num_warps=6)", "num_warps=6)  # see tritonlint's TL999"),
            "no comment for tritonlint",
        ),
    ),
    invalid=(
        samples.hit(
            _BAD.replace("num_warps=6)", "num_warps=6)  # tritonlint: ignore[TL999]"),
            "ignore[",
            "TL999",
            severity="warning",
        ),
        samples.hit(
            _BAD.replace("num_warps=6)", "num_warps=6)  # tritonlint: ignore[num-warps-not-power-of-too]"),
            "ignore[",
            "num-warps-not-power-of-too",
        ),
        samples.hit(
            _BAD.replace("num_warps=6)", "num_warps=6)  # tritonlint: ignor[TL204]").replace(
                "import triton.language as tl", "from triton import language as tl"
            ),
            "ignor[",
            "ignor",
            why="no such comment",
        ),
    ),
)
