"""TL304: reset_to_zero or restore_value names no argument of the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Certainty, Finding, Severity
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.names import name_fixes, named, near, parameter_names
from tritonlint_rules.support.places import of_tuning
from tritonlint_rules.support.say import listed

CODE, NAME = "TL304", "unknown-restored-argument"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    plan, tuning = context.plan, context.plan.tuning
    if tuning is None:
        return
    names = parameter_names(plan)
    raises_at_once = context.triton < (3, 2) or context.triton >= (3, 9)
    tuned = len(tuning.configs) != 1
    severity: Severity = "error" if raises_at_once or tuned else "warning"
    level: Certainty = "proven" if tuning.own else "possible"
    error = "ValueError when the module is imported" if raises_at_once else "KeyError when the tuning starts"
    for where in ("reset_to_zero", "restore_value"):
        given = getattr(tuning, where)
        unknown = list(dict.fromkeys(name for name in given if name not in names))
        if not unknown:
            continue
        one = len(unknown) == 1
        what = "which is no argument" if one else "which are no arguments"
        instead = near(unknown[0], [name for name in names if name not in given])
        yield Draft(
            place=of_tuning(plan, tuning),
            severity=severity,
            certainty=level,
            message=f"{where} names {listed(unknown)}, {what} of {plan.kernel.name}: {error}",
            related=named(plan, tuning, where, unknown),
            help=f"did you mean {instead}?" if instead else f"arguments: {listed(names[:8])}",
            fixes=name_fixes(context, plan, tuning, where, unknown[0], instead) if one else (),
        )


_IN_PLACE = samples.HEAD + (
    "# tritonlint: assume x_ptr=*fp32\n"
    "@triton.autotune(\n"
    '    configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})],\n'
    "    key=[],\n"
    '    restore_value=["x_ptr"],\n'
    ")\n"
    "@triton.jit\n"
    "def double(x_ptr, n, BLOCK: tl.constexpr):\n"
    "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)\n"
)
_WRONG = _IN_PLACE.replace('["x_ptr"]', '["x"]')

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="A name in `reset_to_zero` or `restore_value` that is no parameter of the kernel.",
    why=(
        "Both say which tensors are put back between the runs of a tuning. An unknown name raises: up to "
        "3.1 and from 3.9 on where the kernel is decorated, in between in the hook before the first run."
    ),
    example=(
        "```python\n"
        '@triton.autotune(configs, key=[], restore_value=["x"])\n'
        "@triton.jit\n"
        "def double(x_ptr, n, ...): ...\n"
        "```"
    ),
    better='```python\n@triton.autotune(configs, key=[], restore_value=["x_ptr"])\n```',
    when_not=(
        "With one config nothing is benchmarked, so that up to 3.8 nothing happens: then it is a warning."
    ),
    source="Triton's tuner, read in all releases from 2.1 to 3.9; run on an H200 with 3.6.",
    check=check,
    fixable="unsafe",
    valid=(
        samples.miss(_IN_PLACE, "the argument's name"),
        samples.miss(_IN_PLACE.replace('restore_value=["x_ptr"]', "restore_value=None"), "nothing named"),
        samples.miss(_IN_PLACE.replace('["x_ptr"]', "NAMES"), "which names is not known"),
    ),
    invalid=(
        samples.hit(_WRONG, "@triton.autotune", "restore_value names x,", severity="error"),
        samples.hit(
            _WRONG.replace("restore_value", "reset_to_zero"), "@triton.autotune", "KeyError", triton="3.6"
        ),
        samples.hit(
            _WRONG.replace("@triton.autotune", "@tune").replace(
                "import triton\n", "import triton\nfrom triton import autotune as tune\n"
            ),
            "@tune",
            "x",
            why="autotune under another name",
        ),
    ),
)
