"""TL903: a comment that hides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tritonlint import fixes
from tritonlint.finding import Edit, Finding, Fix
from tritonlint.rule import FileContext, Rule, SuppressionUse
from tritonlint.span import Span
from tritonlint_rules.support import samples
from tritonlint_rules.support.say import listed

CODE, NAME = "TL903", "unused-suppression"


def check_file(context: FileContext) -> Iterable[Finding]:
    return list(_findings(context))


def _findings(context: FileContext) -> Iterator[Finding]:
    for use in context.suppressions:
        rules = use.suppression.rules
        names = [rules[place] for place in use.unused]
        if not names and not (use.nothing_ignored and not rules):
            continue
        every = len(names) == len(rules)
        what = (
            f"{listed(names)} {'is' if len(names) == 1 else 'are'} not found here"
            if names
            else "nothing is found here"
        )
        edit = _without_comment(context, use) if every else _without_names(context, use)
        yield Finding(
            CODE,
            NAME,
            "warning",
            "proven",
            f"{what}: the comment hides nothing" if every else what,
            context.path,
            use.suppression.span if every else use.suppression.rule_spans[use.unused[0]],
            fixes=(Fix("remove it", True, (edit,)),) if edit else (),
            tags=frozenset({"unnecessary"}),
        )


def _without_comment(context: FileContext, use: SuppressionUse) -> Edit | None:
    """The comment taken out: with its line where nothing else stands there, else with the blanks before
    it."""
    span = use.suppression.span
    lines = context.source.split("\n")
    if span.line > len(lines):
        return None
    line = lines[span.line - 1].rstrip("\r")
    before, after = line[: span.column - 1], line[span.end_column - 1 :]
    if after.strip():
        if before.rstrip().endswith("#") or not after.lstrip().startswith("#"):
            return None  # another sentence in the same comment
        return Edit(span, "")
    if not before.strip():
        if span.line < len(lines):
            return Edit(Span(span.line, 1, span.line + 1, 1), "")
        return Edit(replace(span, column=1), "")
    return Edit(replace(span, column=len(before.rstrip()) + 1), "")


def _without_names(context: FileContext, use: SuppressionUse) -> Edit | None:
    suppression = use.suppression
    kept = [name for place, name in enumerate(suppression.rules) if place not in use.unused]
    spans = suppression.rule_spans
    whole = Span(spans[0].line, spans[0].column, spans[-1].end_line, spans[-1].end_column)
    return Edit(whole, ", ".join(kept)) if fixes.text_at(context.source, whole) else None


_FINE = samples.launched_scale("BLOCK=1024, num_warps=8")
_LAUNCH = "num_warps=8)\n"
_BAD = samples.launched_scale("BLOCK=1024, num_warps=6")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="warning",
    what="A `# tritonlint: ignore` comment, or one rule of it, that hides no finding.",
    why=(
        "What it was for is gone; if it comes back, nobody will see it. Old comments also make readers "
        "expect a fault."
    ),
    example="```python\nscale[grid](x, y, n, BLOCK=1024)  # tritonlint: ignore[TL101]\n```",
    better="```python\nscale[grid](x, y, n, BLOCK=1024)\n```",
    when_not="Only rules that ran are judged: with `--select` or on another GPU a comment may be needed.",
    source="What the comments of the file hid in this run.",
    check_file=check_file,
    fixable="safe",
    valid=(
        samples.miss(
            _BAD.replace("num_warps=6)", "num_warps=6)  # tritonlint: ignore[TL204]"), "it hides a finding"
        ),
        samples.miss(
            _BAD.replace(
                "    scale[",
                "    # tritonlint: ignore-next-line[num-warps-not-power-of-two] on purpose\n    scale[",
            ),
            "by name, on the line before",
        ),
        samples.miss("# tritonlint: ignore-file[TL2]\n" + _BAD, "a family, for the file"),
    ),
    invalid=(
        samples.hit(
            _FINE.replace(_LAUNCH, "num_warps=8)  # tritonlint: ignore[TL101]\n"),
            "ignore[",
            "TL101",
            severity="warning",
        ),
        samples.hit(
            _BAD.replace("num_warps=6)", "num_warps=6)  # tritonlint: ignore[TL204, TL101]"),
            "ignore[",
            "TL101",
        ),
        samples.hit(
            _FINE.replace(
                "    scale[", "    # tritonlint: ignore-next-line[shared-memory-exceeded]\n    scale["
            ).replace("import triton.language as tl", "from triton import language as tl"),
            "ignore-next-line",
            "shared-memory-exceeded",
            why="a line of its own",
        ),
    ),
)
