"""TL303: an autotune key that is no argument of the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Certainty, Finding, Severity
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.names import name_fixes, named, near, parameter_names
from tritonlint_rules.support.places import of_tuning
from tritonlint_rules.support.say import listed

CODE, NAME = "TL303", "unknown-key"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    plan, tuning = context.plan, context.plan.tuning
    if tuning is None or not tuning.key:
        return
    names = parameter_names(plan)
    unknown = list(dict.fromkeys(name for name in tuning.key if name not in names))
    if not unknown:
        return
    major, minor = context.triton
    silent = (3, 2) <= context.triton < (3, 9)
    severity: Severity = "warning" if silent else "error"
    level: Certainty = "proven" if tuning.own else "possible"
    then = (
        "that is ignored, so the kernel is never tuned again for it"
        if silent
        else "the decorator raises ValueError when the module is imported"
    )
    one = len(unknown) == 1
    what = "which is no argument" if one else "which are no arguments"
    instead = near(unknown[0], [name for name in names if name not in tuning.key])
    yield Draft(
        place=of_tuning(plan, tuning),
        severity=severity,
        certainty=level,
        message=(
            f"key names {listed(unknown)}, {what} of {plan.kernel.name}: in Triton {major}.{minor} {then}"
        ),
        related=named(plan, tuning, "key", unknown),
        help=f"did you mean {instead}?" if instead else f"arguments: {listed(names[:8])}",
        fixes=name_fixes(context, plan, tuning, "key", unknown[0], instead) if one else (),
    )


_WRONG = samples.tuned_scale([samples.block(256), samples.block(1024)], 'key=["N"]')

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="A name in `key=[...]` of `triton.autotune` that is no parameter of the kernel.",
    why=(
        "The key says for which argument values the kernel is tuned again. Up to 3.1 and from 3.9 on, an "
        "unknown name raises a ValueError where the kernel is decorated, so the module cannot be "
        "imported. From 3.2 to 3.8 it is dropped in silence: the kernel is tuned once, and what was best "
        "for the first size is used for all."
    ),
    example=(
        "```python\n"
        '@triton.autotune(configs, key=["N"])\n'
        "@triton.jit\n"
        "def scale(x_ptr, n, BLOCK: tl.constexpr): ...\n"
        "```"
    ),
    better='```python\n@triton.autotune(configs, key=["n"])\n```',
    when_not="A tuner of the project's own may take other names.",
    source=(
        "Triton's tuner, read in all releases from 2.1 to 3.9; torchao 0.18 has this mistake in "
        "float8_rowwise.py."
    ),
    check=check,
    fixable="unsafe",
    valid=(
        samples.miss(
            samples.tuned_scale([samples.block(256), samples.block(1024)], 'key=["n"]'), "an argument"
        ),
        samples.miss(
            samples.tuned_scale([samples.block(256), samples.block(1024)], 'key=["BLOCK"]'),
            "a compile-time argument is one too",
        ),
        samples.miss(
            samples.tuned_scale([samples.block(256), samples.block(1024)], "key=[]"), "no key at all"
        ),
        samples.miss(
            samples.tuned_scale([samples.block(256), samples.block(1024)], "key=KEYS"),
            "which names is not known",
        ),
    ),
    invalid=(
        samples.hit(_WRONG, "@triton.autotune", "N", severity="error"),
        samples.hit(
            _WRONG,
            "@triton.autotune",
            "ignored",
            triton="3.6",
            severity="warning",
            why="silent in 3.2 to 3.8",
        ),
        samples.hit(_WRONG, "@triton.autotune", "ValueError", triton="3.1", severity="error"),
        samples.hit(
            _WRONG.replace("@triton.autotune", "@autotune").replace(
                "import triton\n", "import triton\nfrom triton import autotune\n"
            ),
            "@autotune",
            "N",
            why="autotune by its own name",
        ),
    ),
)
