"""TL902: a list or launch whose values cannot be known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tritonlint.finding import Finding
from tritonlint.kernel.ir import CompileError
from tritonlint.rule import Context, FileContext, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.places import of_launch, of_tuning_argument
from tritonlint_rules.support.say import listed
from tritonlint_rules.support.survey import Entry, all_entries, known

CODE, NAME = "TL902", "unresolved-config"
_OF_THE_LANGUAGE = ("removed", "unknown-option")
_ASSUME = "`# tritonlint: assume {}` on the line above says what to assume"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _refused(entries: Sequence[Entry]) -> CompileError | None:
    """What the release no longer, or not yet, has in its language, where that stops every candidate. The rules about
    tiles, types and dots speak for themselves."""
    errors = [error for entry in entries if entry.of.trace is not None for error in entry.of.trace.errors[:1]]
    gone = [error for error in errors if error.kind in _OF_THE_LANGUAGE]
    return gone[0] if gone and len(gone) == len(entries) else None


def check_file(context: FileContext) -> Iterable[Finding]:
    """What takes too many steps to evaluate."""
    return [
        Finding(
            CODE,
            NAME,
            "info",
            "proven",
            problem.message,
            problem.path or context.path,
            problem.span,
            kernel=problem.kernel,
        )
        for problem in context.problems
        if problem.kind == "unresolved"
    ]


def _is_called(context: Context) -> bool:
    """Whether the kernel is called like a function somewhere in the file: a launch has a grid in brackets."""
    name = re.escape(context.plan.kernel.name)
    return context.says(re.compile(rf"(?<!def )(?<![\w.]){name}\("))


def _drafts(context: Context) -> Iterator[Draft]:
    plan = context.plan
    tuning = plan.tuning
    if tuning is not None and not tuning.resolved:
        count = len(tuning.configs)
        rest = f"; {count} of its configs are known and linted" if count else ""
        yield Draft(
            place=of_tuning_argument(plan, tuning, "configs"),
            severity="info",
            certainty="proven",
            message=(
                f"the configs cannot be known from the source: {tuning.reason or 'they are computed'}{rest}"
            ),
        )
        return
    if plan.launch is None and tuning is None and _is_called(context):
        return  # its callers give it its values, and its costs are theirs
    what = "this launch" if plan.launch is not None else f"a launch of {plan.kernel.name}"
    for listed_entries in all_entries(context):
        refused = _refused(listed_entries)
        if refused is not None:
            yield Draft(
                place=of_launch(plan),
                severity="info",
                certainty="proven",
                message=f"what {what} costs cannot be known, it does not compile: line {refused.line}: "
                f"{refused.message}",
            )
            return
        if not listed_entries or any(known([entry]) for entry in listed_entries):
            continue  # what is known is judged
        unknown = dict.fromkeys(reason for entry in listed_entries for reason in entry.of.unknown)
        if unknown:
            reasons = list(unknown)
            more = f" and {len(reasons) - 3} more" if len(reasons) > 3 else ""
            names = [reason.split(" ", 1)[0].strip("`:") for reason in reasons[:3]]
            parameters = {parameter.name for parameter in plan.kernel.parameters}
            known_names = [f"{name}=..." for name in names if name in parameters]
            yield Draft(
                place=of_launch(plan),
                severity="info",
                certainty="proven",
                message=f"what {what} costs cannot be known: {listed(reasons[:3])}{more}",
                help=_ASSUME.format(", ".join(known_names)) if known_names else None,
            )
            return


_EVERY = """def every():
    found = []
    for a in range(LIMIT):
        for b in range(LIMIT):
            if a * b == 4:
                found.append(triton.Config({"BLOCK": a * 256}))
    return found


@triton.autotune"""
_COMPUTED = (
    samples.tuned_scale([samples.block(1024)])
    .replace("configs=[", "configs=every() + [")
    .replace("@triton.autotune", _EVERY)
)

_HELPER = "@triton.jit\ndef helper(x, S: tl.constexpr):\n    return x * S\n\n\n"

_BLOCK_POINTER = samples.launched_scale("BLOCK=1024").replace(
    "    live = i < n\n    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=live) * 2.0, mask=live)\n",
    "    x = tl.make_block_ptr(x_ptr, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))\n"
    "    tl.store(y_ptr + i, tl.load(x, boundary_check=(0,)), mask=i < n)\n",
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="info",
    what=(
        "An autotune list, or a compile-time value of a launch, that the source does not tell; or a kernel in a "
        "language that the release does not speak."
    ),
    why=(
        "What is not known is not judged: no finding here does not mean that all is well. `tritonlint "
        "configs` lists every place with the reason."
    ),
    example='```python\n@triton.autotune(configs=load_configs("tuned.yaml"), key=["N"])\n```',
    better="```python\n# tritonlint: assume BLOCK=1024\nkernel[grid](x, n, BLOCK=block)\n```",
    when_not="Where only the caller can know: an assumption for the usual case makes the linter say more.",
    source="tritonlint's own evaluator.",
    at_most="info",
    check=check,
    check_file=check_file,
    valid=(
        samples.miss(samples.launched_scale("BLOCK=1024"), "all is known"),
        samples.miss(
            samples.launched_scale("BLOCK=2 ** 10 // SPLIT", before="SPLIT = 2\n\n\n"),
            "computed from constants",
        ),
        samples.miss(_COMPUTED.replace("LIMIT", "10"), "a list that a function computes"),
        samples.miss(
            samples.launched_scale("BLOCK=1024")
            .replace("@triton.jit", _HELPER + "@triton.jit", 1)
            .replace("mask=live) * 2.0", "mask=live) * 2.0 + helper(i, 3)"),
            "a function that a kernel calls: the caller says what its values are",
        ),
        samples.miss(_BLOCK_POINTER, "block pointers are there up to 3.8", triton="3.8"),
    ),
    invalid=(
        samples.hit(
            samples.tuned_scale([samples.block(1024)]).replace("configs=[", "configs=load() + ["),
            "configs=load()",
            severity="info",
        ),
        samples.hit(
            samples.launched_scale("BLOCK=size")
            .replace("def run(x, y, n)", "def run(x, y, n, size)")
            .replace("import triton\n", "import triton as tt\n")
            .replace("triton.cdiv", "tt.cdiv")
            .replace("@triton.jit", "@tt.jit"),
            "scale[(",
            severity="info",
            why="a parameter of the caller, and triton under another name",
        ),
        samples.hit(
            samples.HEAD + _HELPER,
            "def helper",
            severity="info",
            contains="what a launch of helper costs cannot be known",
            why="nothing in the file launches or calls it",
        ),
        samples.hit(_BLOCK_POINTER, "scale[(", "block pointers have been removed", severity="info"),
        samples.hit(
            _COMPUTED.replace("LIMIT", "1000"),
            "configs=",
            severity="info",
            contains="too many steps",
            why="a list that no reader would work out either",
        ),
    ),
)
