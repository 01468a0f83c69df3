"""TL308: a list of one config has nothing to choose from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import AutotuneSite, Config
from tritonlint.source.text import Lines, split_lines
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.places import of_tuning
from tritonlint_rules.support.say import listed
from tritonlint_rules.support.survey import tuner_of

CODE, NAME = "TL308", "single-config"
_NAMED = re.compile(r"^\w+\s*=\s*")  # of a keyword argument


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        tuning = tuner_of(plan)
        if tuning is None or not tuning.resolved or tuning.alternatives or len(tuning.configs) != 1:
            continue
        if not tuning.own:
            continue
        config = tuning.configs[0]
        chosen = config.spread is not None or not _inside(tuning)
        # A key promises that something is chosen again; without one, a list of one only holds the settings, and
        # so does one whose values are named elsewhere.
        promised = bool(tuning.key) and not chosen and not config.pre_hook and _spelled_out(context, config)
        keys = listed(tuning.key or ())
        message = "one config: nothing is benchmarked"
        yield Draft(
            place=of_tuning(plan, tuning),
            severity="warning" if promised else "info",
            certainty="proven",
            message=f"{message}, and key=[{keys}] has no effect" if tuning.key else message,
            gpu=gpu,
            help="give its values at the launch, or as heuristics: every call is a little cheaper",
        )


def _inside(tuning: AutotuneSite) -> bool:
    """Whether the list is written in the decorator itself."""
    span = tuning.configs[0].span
    return tuning.span.line <= span.line and span.end_line <= tuning.span.end_line


def _spelled_out(context: Context, config: Config) -> bool:
    """Whether every value stands in the config as a literal."""
    if config.path not in ("", context.path):
        return False
    lines = Lines(split_lines(context.source))
    try:
        for span in config.argument_spans.values():
            ast.literal_eval(_NAMED.sub("", lines.text_of(span).strip()))
    except (ValueError, SyntaxError):
        return False
    return True


_ONE = samples.tuned_scale([samples.block(1024, "num_warps=8")], 'key=["n"]')

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="warning",
    what="`triton.autotune` with a list of exactly one config.",
    why=(
        "With one config the tuner launches it without timing anything; the key and the hooks for tuning "
        "do nothing. Each call still goes through the tuner's Python. A warning where a key is given, "
        "which promises a choice; else an info."
    ),
    example='```python\n@triton.autotune([triton.Config({"BLOCK": 1024}, num_warps=8)], key=["n"])\n```',
    better="```python\nscale[grid](x, y, n, BLOCK=1024, num_warps=8)\n```",
    when_not="A list that other devices or a debug switch make longer.",
    source="Triton's tuner, read in 2.1 to 3.9.",
    check=check,
    valid=(
        samples.miss(
            samples.tuned_scale([samples.block(512), samples.block(1024)], 'key=["n"]'), "two configs"
        ),
        samples.miss(
            samples.tuned_scale([samples.block(512)]).replace("configs=[", "configs=MORE + ["),
            "the rest of the list is not known",
        ),
        samples.miss(samples.launched_scale("BLOCK=1024, num_warps=8"), "no tuner at all"),
        samples.miss(
            samples.tuned_scale(["triton.Config({}, num_warps=w) for w in (4, 8)"]).replace("8),\n", "8)\n"),
            "a comprehension over two values",
        ),
    ),
    invalid=(
        samples.hit(_ONE, "@triton.autotune", "n", severity="warning"),
        samples.hit(_ONE.replace('key=["n"]', "key=[]"), "@triton.autotune", "one config", severity="info"),
        samples.hit(
            _ONE.replace("num_warps=8", "num_warps=WARPS")
            .replace("\n@triton.autotune", '\nWARPS = int(os.getenv("WARPS", "8"))\n\n\n@triton.autotune')
            .replace("import torch", "import os\n\nimport torch"),
            "@triton.autotune",
            "one config",
            severity="info",
            why="a knob: the list holds it and chooses nothing",
        ),
        samples.hit(
            _ONE.replace("@triton.autotune", "@tune").replace(
                "import triton\n", "import triton\nfrom triton import autotune as tune\n"
            ),
            "@tune",
            "n",
            why="autotune under another name",
        ),
    ),
)
