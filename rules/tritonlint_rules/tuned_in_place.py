"""TL306: tuning runs the kernel many times, and each run changes what the next one reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tritonlint import fixes
from tritonlint.finding import Certainty, Finding, Fix, Related
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import AutotuneSite, LaunchPlan
from tritonlint.span import Span
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.memory import Update, updates
from tritonlint_rules.support.places import of_line, of_tuning
from tritonlint_rules.support.say import listed
from tritonlint_rules.support.survey import entries, lower, tuner_of

CODE, NAME = "TL306", "tuned-in-place"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        tuning = tuner_of(plan)
        if tuning is None or len(tuning.configs) < 2:
            continue  # nothing is benchmarked
        both = [name for name in tuning.reset_to_zero if name in tuning.restore_value]
        if both:
            yield _zeroed_and_restored(plan, tuning, both)
        # A hook may put back whatever it likes.
        hooks = any(config.pre_hook for config in tuning.configs) or {"pre_hook", "post_hook"} & tuning.extra
        if hooks:
            continue
        found: dict[str, Update] = {}
        partial = False
        seen: set[int] = set()
        for entry in entries(context, gpu):
            trace = entry.of.trace
            if trace is None or trace.errors or id(trace) in seen:
                continue
            seen.add(id(trace))
            partial = partial or bool(trace.gaps)
            for update in updates(trace.function):
                found.setdefault(update.argument, update)
        lost = [
            update
            for name, update in found.items()
            if name not in tuning.restore_value and name not in tuning.reset_to_zero
        ]
        if lost:
            yield _draft(context, plan, tuning, lost, partial)


def _draft(
    context: Context, plan: LaunchPlan, tuning: AutotuneSite, lost: list[Update], partial: bool
) -> Draft:
    stores = [update.argument for update in lost if update.kind == "store"]
    atomics = [update.argument for update in lost if update.kind != "store"]
    what: list[str] = []
    if stores:
        what.append(f"{listed(stores)} {'is' if len(stores) == 1 else 'are'} read and written in place")
    if atomics:
        what.append(f"atomics add to {listed(atomics)}")
    level: Certainty = "likely" if partial or tuning.prune else "proven"
    if tuning.alternatives or not tuning.resolved:
        level = lower(level, "likely")
    count = len(tuning.configs)
    wanted = [f"restore_value={_names(stores)}"] if stores else []
    wanted += [f"reset_to_zero={_names(atomics)}"] if atomics else []
    can_restore = context.triton >= (2, 2) or not stores
    return Draft(
        place=of_tuning(plan, tuning),
        severity="error",
        certainty=level,
        message=(
            f"{listed(what)}: the tuner runs {plan.kernel.name} many times for each of {count} configs, "
            "and every run changes the data of the next"
        ),
        related=tuple(
            Related(place.path, place.span, f"{update.argument}: {update.kind}")
            for update in lost
            if (place := of_line(context, update.line)) and update.line
        ),
        help=f"{', '.join(wanted)} puts it back between the runs"
        if can_restore
        else "restore_value, which puts it back between the runs, came with Triton 2.2",
        fixes=_fixes(context, plan, tuning, stores, atomics) if can_restore else (),
    )


def _names(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _fixes(
    context: Context, plan: LaunchPlan, tuning: AutotuneSite, stores: list[str], atomics: list[str]
) -> tuple[Fix, ...]:
    """Adds what is missing, where that is one argument and the decorator has none of that name yet."""
    if plan.kernel.path != context.path or (stores and atomics):
        return ()
    name, wanted = ("restore_value", stores) if stores else ("reset_to_zero", atomics)
    given = list(getattr(tuning, name))
    edit = fixes.set_argument(context.source, _call(context, tuning), name, _names([*given, *wanted]))
    # That a sum starts at zero is what an atomic add says; only the caller knows whether it does.
    return (Fix(f"{name}={_names([*given, *wanted])}", bool(stores), (edit,)),) if edit else ()


def _call(context: Context, tuning: AutotuneSite) -> Span:
    """The call without the "@" before it."""
    text = fixes.text_at(context.source, tuning.span)
    return replace(tuning.span, column=tuning.span.column + 1) if text.startswith("@") else tuning.span


def _zeroed_and_restored(plan: LaunchPlan, tuning: AutotuneSite, both: list[str]) -> Draft:
    return Draft(
        place=of_tuning(plan, tuning),
        severity="error",
        certainty="proven",
        message=(
            f"{listed(both)} in reset_to_zero and in restore_value: it is set to zero first, "
            "and the zeros are what is restored"
        ),
        help="keep restore_value for data that is read, reset_to_zero for a sum that starts at zero",
    )


_KERNEL = (
    "@triton.jit\n"
    "def double(x_ptr, n, BLOCK: tl.constexpr):\n"
    "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    x = tl.load(x_ptr + i, mask=i < n)\n"
    "    tl.store(x_ptr + i, x * 2, mask=i < n)\n"
)
_ASSUME = "# tritonlint: assume x_ptr=*fp32, total_ptr=*fp32\n"
_TWO = [samples.block(256), samples.block(1024)]
_IN_PLACE = samples.HEAD + _ASSUME + samples.autotune(_TWO) + _KERNEL
_SUM = (
    samples.HEAD
    + _ASSUME
    + samples.autotune(_TWO)
    + (
        "@triton.jit\n"
        "def total(x_ptr, total_ptr, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.atomic_add(total_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))\n"
    )
)
_LOCK = (
    samples.HEAD
    + _ASSUME
    + samples.autotune(_TWO)
    + (
        "@triton.jit\n"
        "def guarded(x_ptr, lock_ptr, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    while tl.atomic_cas(lock_ptr, 0, 1) == 1:\n"
        "        pass\n"
        "    tl.store(x_ptr + i, i, mask=i < n)\n"
        "    tl.atomic_xchg(lock_ptr, 0)\n"
    )
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "An autotuned kernel that changes an argument it also reads (or adds to it with atomics), where "
        "the decorator does not say that it is to be put back."
    ),
    why=(
        "To time a config the tuner runs the kernel again and again on the caller's own tensors. A kernel "
        "that doubles its input doubles it dozens of times; on an H200 the first call of such a kernel "
        "gave 15,755 instead of 5, with no error. Only the first call for each key is wrong, which makes "
        "it hard to find."
    ),
    example=(
        "```python\n"
        '@triton.autotune(configs, key=["n"])\n'
        "@triton.jit\n"
        "def step(param_ptr, grad_ptr, n, BLOCK: tl.constexpr): ...  # param = load(param_ptr); "
        "store(param_ptr)\n"
        "```"
    ),
    better='```python\n@triton.autotune(configs, key=["n"], restore_value=["param_ptr"])\n```',
    when_not=(
        "A kernel that gives the same result when run twice: a clamp, a selection, a copy onto itself are "
        "told apart. Reported only where the store goes to the address of the load; hooks in the configs "
        "or the decorator are taken to put things back."
    ),
    source=(
        "Triton's tuner, read in 2.1 to 3.9; run on an H200 with 3.6. Found by tracing loads, stores and "
        "atomics."
    ),
    check=check,
    fixable="safe",
    valid=(
        samples.miss(
            _IN_PLACE.replace("    key=[],\n", '    key=[],\n    restore_value=["x_ptr"],\n'),
            "it is put back",
        ),
        samples.miss(
            _SUM.replace("    key=[],\n", '    key=[],\n    reset_to_zero=["total_ptr"],\n'),
            "it starts at zero",
        ),
        samples.miss(samples.tuned_scale(_TWO), "reads one tensor and writes another"),
        samples.miss(
            samples.HEAD + _ASSUME + samples.autotune(_TWO[:1]) + _KERNEL,
            "one config: nothing is benchmarked",
        ),
        samples.miss(_IN_PLACE.replace("x * 2", "tl.maximum(x, 0.0)"), "a clamp settles with the first run"),
        samples.miss(_IN_PLACE.replace("x * 2", "tl.where(x > 0, x, 0.0)"), "so does a selection"),
        samples.miss(_LOCK, "a lock, which is free again at the end"),
        samples.miss(
            _IN_PLACE.replace('"BLOCK": 256}', '"BLOCK": 256}, pre_hook=fill'), "a hook may put it back"
        ),
    ),
    invalid=(
        samples.hit(_IN_PLACE, "@triton.autotune", "x_ptr", severity="error"),
        samples.hit(_SUM, "@triton.autotune", "total_ptr", severity="error"),
        samples.hit(
            _IN_PLACE.replace("x * 2", "tl.where(x > 0, x, -x * 2)"),
            "@triton.autotune",
            "x_ptr",
            why="a selection of something computed from it",
        ),
        samples.hit(
            _IN_PLACE.replace(
                "@triton.autotune",
                "@triton.jit(noinline=True)\ndef put(x_ptr, i, n, factor):\n"
                "    x = tl.load(x_ptr + i, mask=i < n)\n"
                "    tl.store(x_ptr + i, x * factor, mask=i < n)\n\n\n@triton.autotune",
            ).replace(
                "    x = tl.load(x_ptr + i, mask=i < n)\n    tl.store(x_ptr + i, x * 2, mask=i < n)\n",
                "    put(x_ptr, i, n, 2.0)\n",
            ),
            "@triton.autotune",
            "x_ptr",
            why="the store is in a function that is not inlined",
        ),
        samples.hit(
            _IN_PLACE.replace(
                "    key=[],\n", '    key=[],\n    restore_value=["x_ptr"],\n    reset_to_zero=["x_ptr"],\n'
            ),
            "@triton.autotune",
            "zeros",
            why="both, in the order that loses the data",
        ),
        samples.hit(
            _IN_PLACE.replace("tl.", "T.").replace(
                "import triton.language as tl", "import triton.language as T"
            ),
            "@triton.autotune",
            "x_ptr",
            why="triton.language under another name",
        ),
    ),
)
