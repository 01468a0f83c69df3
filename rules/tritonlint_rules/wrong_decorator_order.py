"""TL312: decorators in an order that Triton does not take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding, Related
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import DecoratorUse, LaunchPlan
from tritonlint_rules.support import samples
from tritonlint_rules.support.decorators import never_compiled
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.places import Place

CODE, NAME = "TL312", "wrong-decorator-order"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    plan = context.plan
    uses = [use for use in plan.decorators if use.kind in ("jit", "autotune", "heuristics")]
    jit = [place for place, use in enumerate(uses) if use.kind == "jit"]
    tuners = [use for use in uses if use.kind == "autotune"]
    bare = never_compiled(plan)
    if bare is not None:
        yield Draft(
            place=_place(plan, bare),
            severity="error",
            certainty="proven",
            message=(
                f"{bare.kind} is given the plain function {plan.kernel.name}, which no jit compiled: it raises "
                "AttributeError: no attribute 'arg_names'"
            ),
            help="it belongs above the @triton.jit of a kernel, not above the function that launches one",
        )
        return
    if jit and jit[0] < len(uses) - 1:
        below = uses[jit[0] + 1]
        yield Draft(
            place=_place(plan, uses[jit[0]]),
            severity="error",
            certainty="proven",
            message=(
                f"jit stands above {below.kind}: it compiles functions, and {below.kind} gives it "
                "something else"
            ),
            related=(_related(plan, below, f"{below.kind} has to stand above jit"),),
            help="order from top to bottom: autotune, heuristics, jit",
        )
    if len(tuners) > 1:
        yield Draft(
            place=_place(plan, tuners[0]),
            severity="error",
            certainty="proven",
            message=(
                f"{plan.kernel.name} is tuned twice: both tuners pass their own num_warps and num_stages, "
                "the launch raises TypeError: multiple values"
            ),
            related=tuple(_related(plan, use, "tuned here too") for use in tuners[1:]),
            help="put all configs in one list",
        )


def _place(plan: LaunchPlan, use: DecoratorUse) -> Place:
    return Place(use.path or plan.kernel.path, use.span)


def _related(plan: LaunchPlan, use: DecoratorUse, message: str) -> Related:
    return Related(use.path or plan.kernel.path, use.span, message)


_TWO = [samples.block(512), samples.block(1024)]
_GOOD = samples.tuned_scale(_TWO)
_SECOND = samples.autotune([samples.block(256), samples.block(2048)])
_TWICE = _GOOD.replace("@triton.jit", _SECOND + "@triton.jit")
_BARE = samples.launched_scale() + (
    "\n\n"
    + samples.autotune(_TWO, 'key=["n"]')
    + 'def tuned(x, y, n):\n    scale[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n, BLOCK=1024)\n'
)
_NAMED = "tune = " + samples.autotune(_TWO).removeprefix("@") + "\n\n"
_BARE_BY_NAME = samples.file(_NAMED + "@tune\ndef tuned(x, y, n): ...\n")
_CALLED = samples.launched_scale(before=_NAMED + "scale = tune(scale)\n\n\n").replace(", BLOCK=1024", "")
_HEURISTIC = '@triton.heuristics({"EVEN": lambda args: args["n"] % 1024 == 0})\n'

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "`triton.jit` above another of Triton's decorators, two `triton.autotune` on one kernel, or a tuner on a "
        "function without `triton.jit`."
    ),
    why=(
        "`jit` takes a Python function; given a tuner it fails where the module is imported. Two tuners "
        "each pass all launch options, so that the inner one gets every option twice. A tuner reads the names of the "
        "kernel's arguments off what `jit` makes; a plain function has none."
    ),
    example=(
        "```python\n"
        "@triton.autotune(LARGE, key=[])\n"
        "@triton.autotune(SMALL, key=[])\n"
        "@triton.jit\n"
        "def scale(...): ...\n"
        "```"
    ),
    better="```python\n@triton.autotune(LARGE + SMALL, key=[])\n@triton.jit\ndef scale(...): ...\n```",
    when_not=(
        "Never. Heuristics may stand above or below a tuner; above it they do not see the config's values."
    ),
    source="Triton's decorators, read in 2.1 to 3.9; PyTorch issue 143519.",
    check=check,
    valid=(
        samples.miss(_GOOD, "a tuner above jit"),
        samples.miss(
            _GOOD.replace("@triton.jit", _HEURISTIC + "@triton.jit").replace(
                "BLOCK: tl.constexpr", "BLOCK: tl.constexpr, EVEN: tl.constexpr"
            ),
            "autotune, heuristics, jit",
        ),
        samples.miss(
            _GOOD.replace("@triton.autotune", "@record\n@triton.autotune"), "a decorator of its own on top"
        ),
        samples.miss(
            samples.launched_scale().replace("@triton.jit", "@wrap_jit_func\n@triton.jit"),
            "a wrapper of what jit makes, with jit in its name",
        ),
        samples.miss(_GOOD.replace("@triton.jit", "@compiled"), "a decorator of its own may compile"),
        samples.miss(
            _BARE.replace("@triton.autotune", "@tuned_with"),
            "a tuner of its own may take what it launches with",
        ),
        samples.miss(_CALLED, "a kernel that is tuned by a call"),
    ),
    invalid=(
        samples.hit(_TWICE, "@triton.autotune", "tuned twice", severity="error"),
        samples.hit(
            samples.HEAD + "@triton.jit\n" + samples.autotune(_TWO) + _GOOD[_GOOD.index("def scale") :],
            "@triton.jit",
            "jit stands above",
        ),
        samples.hit(
            _TWICE.replace("@triton.autotune", "@autotune").replace(
                "import triton\n", "import triton\nfrom triton import autotune\n"
            ),
            "@autotune",
            "tuned twice",
            why="autotune by its own name",
        ),
        samples.hit(_BARE, "@triton.autotune", "no jit compiled", severity="error"),
        samples.hit(
            _BARE_BY_NAME, "@tune", "no jit compiled", severity="error", why="a tuner by a name of its own"
        ),
        samples.hit(
            _CALLED.replace("@triton.jit\n", ""),
            "tune = triton",
            "no jit compiled",
            why="a tuner that is called",
        ),
        samples.hit(
            _CALLED.replace("tune(scale)", "tune(tune(scale))"),
            "tune = triton",
            "tuned twice",
            why="by calls",
        ),
    ),
)
