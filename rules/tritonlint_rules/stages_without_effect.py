"""TL504: configs that differ only in num_stages, where num_stages changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding, Related
from tritonlint.kernel.ir import Function
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.memory import operations
from tritonlint_rules.support.places import of_config, of_tuning
from tritonlint_rules.support.say import config_text, counted
from tritonlint_rules.support.survey import Entry, all_entries, assumptions, by_config, lower

CODE, NAME = "TL504", "stages-without-effect"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        tuning = listed[0].plan.tuning if listed else None
        if tuning is None or tuning.alternatives or len(tuning.configs) < 2:
            continue
        groups = by_config([entry for entry in listed if entry.in_list])
        alike: dict[str, list[list[Entry]]] = {}
        for group in groups:
            config = group[0].of.candidate.config
            if config is None or config.pre_hook:
                continue
            identity = repr(
                (sorted(config.kwargs.items()), config.num_warps, config.num_ctas, config.maxnreg)
            )
            alike.setdefault(identity, []).append(group)
        # Only of configs that differ in nothing else it matters what the stages do.
        same = [
            [group[0] for group in found if _no_effect(group) is not None]
            for found in alike.values()
            if len({_stages(group[0]) for group in found}) > 1
        ]
        wasted = [entries for entries in same if len({_stages(entry) for entry in entries}) > 1]
        wasted.sort(key=lambda entries: listed.index(entries[0]))
        if wasted:
            yield _draft(wasted, len(groups))


def _draft(wasted: list[list[Entry]], of: int) -> Draft:
    first = wasted[0][0]
    tuning = first.plan.tuning
    config = first.of.candidate.config
    assert tuning is not None and config is not None
    superfluous = sum(len({_stages(entry) for entry in entries}) - 1 for entries in wasted)
    stages = "/".join(str(number) for number in sorted({_stages(entry) for entry in wasted[0]}))
    reason = _no_effect([first]) or ""
    related = []
    for entry in wasted[0][1:]:
        if entry.of.candidate.config is not None:
            place = of_config(entry.plan, entry.of.candidate.config)
            related.append(Related(place.path, place.span, f"num_stages={_stages(entry)}: the same kernel"))
    level = lower("likely" if assumptions(first) else "proven", "likely" if tuning.prune else "proven")
    return Draft(
        place=of_tuning(first.plan, tuning),
        severity="warning",
        certainty=level,
        message=(
            f"num_stages has no effect on {{gpus}}, {reason}: {counted(superfluous, 'config')} of {of} "
            f"{'is' if superfluous == 1 else 'are'} compiled and timed for nothing "
            f"({config_text({**config.kwargs, 'num_warps': config.num_warps})}, num_stages={stages})"
        ),
        gpu=first.gpu,
        of=first.of,
        assumptions=assumptions(first),
        related=tuple(related),
        help="keep one num_stages for each tile, or give a loop its own with tl.range(..., num_stages=k)",
    )


def _stages(entry: Entry) -> int:
    config = entry.of.candidate.config
    assert config is not None
    return max(config.num_stages, 1)


def _no_effect(group: list[Entry]) -> str | None:
    """Why num_stages changes nothing for a config, or None where it does or that is not known."""
    reasons: set[str] = set()
    for entry in group:
        trace = entry.of.trace
        if trace is None or not trace.complete:
            return None
        reason = _of_kernel(entry, trace.function)
        if reason is None:
            return None
        reasons.add(reason)
    return min(reasons) if reasons else None


def _of_kernel(entry: Entry, function: Function) -> str | None:
    loops = [op for op in operations(function.body) if op.name in ("scf.for", "scf.while")]
    if not loops:
        return "the kernel has no loop"
    if entry.gpu.vendor != "nvidia":
        return None
    own = [op for op in loops if op.attrs.get("num_stages")]
    if own:
        return None
    with_dot = [
        op
        for op in loops
        if any(
            inner.name in ("tt.dot", "tt.dot_scaled") for block in op.blocks for inner in operations(block)
        )
    ]
    if not with_dot:
        return "no loop has a dot"
    estimate = entry.of.taken
    if estimate is None or estimate.compiled is None or not estimate.shared_exact or _stages(entry) < 2:
        return None
    loads = [load for load in estimate.compiled.loads if load.in_loop]
    if not any(load.buffers for load in loads) and not any(
        dot.tensor_cores in ("wgmma", "tcgen05") for dot in estimate.compiled.dots
    ):
        return "no load of its loops is pipelined"
    return None


_STAGES = samples.tuned_scale([samples.block(1024, f"num_stages={stages}") for stages in (2, 3, 4)])
_LOOP = (
    "@triton.jit\n"
    "def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
    "    acc = tl.zeros((BLOCK,), dtype=tl.float32)\n"
    "    for start in range(0, n, BLOCK):\n"
    "        acc += tl.load(x_ptr + start + tl.arange(0, BLOCK))\n"
    "    tl.store(out_ptr, tl.sum(acc, 0))\n"
)
_SUM = (
    samples.HEAD
    + "# tritonlint: assume x_ptr=*fp32, out_ptr=*fp32\n"
    + samples.autotune([samples.block(1024, f"num_stages={stages}") for stages in (2, 4)])
    + _LOOP
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="warning",
    what="A list that tries several `num_stages` for a kernel in which nothing is pipelined.",
    why=(
        "`num_stages` of a launch sets how many loads of a loop are in flight, and on NVIDIA only in "
        "loops with a dot. In a kernel without such a loop all values compile to the same code, so each "
        "further one is compiled and timed for nothing, every time the kernel is tuned."
    ),
    example=(
        "```python\n"
        '[triton.Config({"BLOCK": b}, num_stages=s) for b in (512, 1024) for s in (2, 3, 4)]  # '
        "elementwise\n"
        "```"
    ),
    better=(
        '```python\n[triton.Config({"BLOCK": b}, num_warps=w) for b in (512, 1024) for w in (2, 4, 8)]\n```'
    ),
    when_not=(
        "Loops of AMD kernels are pipelined without a dot too; there only kernels without a loop are judged."
    ),
    source="Triton's pipeliner, read in 2.1 to 3.9; loops without a dot compiled with 3.0 to 3.9.",
    check=check,
    valid=(
        samples.miss(
            samples.tuned_gemm([samples.config("64x64x32", f"num_stages={s}") for s in (2, 3)]),
            "a loop with a dot",
        ),
        samples.miss(
            samples.tuned_scale([samples.block(512, "num_stages=2"), samples.block(1024, "num_stages=3")]),
            "the tiles differ too",
        ),
        samples.miss(
            _SUM.replace("range(0, n, BLOCK)", "tl.range(0, n, BLOCK, num_stages=S)").replace(
                "BLOCK: tl.constexpr", "BLOCK: tl.constexpr, S: tl.constexpr = 3"
            ),
            "the loop has its own",
        ),
    ),
    invalid=(
        samples.hit(_STAGES, "@triton.autotune", "2 configs of 3", severity="warning"),
        samples.hit(_SUM, "@triton.autotune", "no loop has a dot"),
        samples.hit(
            _STAGES.replace("@triton.autotune", "@tune").replace(
                "import triton\n", "import triton\nfrom triton import autotune as tune\n"
            ),
            "@tune",
            "no loop",
            why="autotune under another name",
        ),
    ),
)
