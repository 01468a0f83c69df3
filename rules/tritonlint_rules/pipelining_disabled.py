"""TL510: something in the loop keeps it from being pipelined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings, known_int
from tritonlint_rules.support.memory import operations
from tritonlint_rules.support.places import of_kernel, of_line
from tritonlint_rules.support.survey import Entry, all_entries, assumptions, certainty

CODE, NAME = "TL510", "pipelining-disabled"
_STOPPERS = {
    "tt.print": "a print",
    "tt.assert": "an assert",
    "gpu.barrier": "a barrier",
    "ttg.barrier": "a barrier",
}


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    held: dict[int, bool] = {}
    for listed in all_entries(context):
        stopped = [entry for entry in listed if _holds_a_stopper(entry, held) and _stopped(entry)]
        if not stopped:
            continue
        entry = stopped[0]
        line, what = _statement(entry)
        stages = known_int(entry.of.candidate.num_stages)
        place = of_line(context, line) if line else of_kernel(entry.plan)
        yield Draft(
            place=place,
            severity="warning",
            certainty=certainty(entry),
            message=(
                f"{what or entry.of.taken.compiled.pipelining_off} in the loop: its loads are not "
                f"pipelined on {{gpus}}, num_stages={stages} has no effect"
            ),
            gpu=entry.gpu,
            of=entry.of,
            assumptions=assumptions(entry),
            help="take it out, or put it behind a constexpr switch",
        )


def _holds_a_stopper(entry: Entry, held: dict[int, bool]) -> bool:
    """Whether anything in the kernel can stop the pipeliner; `held` keeps the answers by trace."""
    trace = entry.of.trace
    if trace is None:
        return False
    if id(trace) not in held:
        held[id(trace)] = any(
            op.name in _STOPPERS or op.name in ("tt.debug_barrier", "tt.call")
            for op in operations(trace.function.body)
        )
    return held[id(trace)]


def _stopped(entry: Entry) -> bool:
    estimate = entry.of.taken
    stages = known_int(entry.of.candidate.num_stages)
    if estimate is None or estimate.compiled is None or not estimate.compiled.pipelining_off:
        return False
    return stages is None or stages > 1


def _statement(entry: Entry) -> tuple[int, str]:
    """Line and kind of the first statement that stops a loop with a dot."""
    if entry.of.trace is None:
        return 0, ""
    for loop in operations(entry.of.trace.function.body):
        if loop.name != "scf.for":
            continue
        inside = [op for block in loop.blocks for op in operations(block)]
        if any(op.name in ("tt.dot", "tt.dot_scaled") for op in inside):
            for op in inside:
                if op.name in _STOPPERS and not op.path:
                    return op.line, _STOPPERS[op.name]
    return 0, ""


_PRINT = samples.launched_gemm("128x128x64", "num_warps=8, num_stages=3").replace(
    "        acc = tl.dot(a, b, acc)\n", '        acc = tl.dot(a, b, acc)\n        tl.device_print("k", k)\n'
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="warning",
    what="A `device_print`, a `device_assert` or a barrier inside of a loop with a dot.",
    why=(
        "From Triton 3.7 on the pipeliner leaves such a loop alone (from 3.3 on if it is a barrier): "
        "every load is waited for in turn. A 128 x 128 x 64 product on sm_80 then uses 16,384 B of shared "
        "memory instead of 65,536, and runs a few times slower."
    ),
    example=(
        "```python\n"
        "for k in range(0, K, BLOCK_K):\n"
        '    tl.device_print("k", k)\n'
        "    acc = tl.dot(a, b, acc)\n"
        "```"
    ),
    better='```python\nif DEBUG:  # constexpr\n    tl.device_print("k", k)\n```',
    when_not="While debugging. Asserts are compiled only with `debug=True` or TRITON_DEBUG.",
    source="Triton's pipeliner, read from 3.3 on, compiled with 3.0 to 3.9.",
    check=check,
    valid=(
        samples.miss(_PRINT, "a print did not matter before 3.7", triton="3.6"),
        samples.miss(
            _PRINT.replace('        tl.device_print("k", k)\n', '    tl.device_print("acc", acc)\n'),
            "after the loop",
        ),
        samples.miss(
            _PRINT.replace(
                '        tl.device_print("k", k)\n',
                '        if DEBUG:\n            tl.device_print("k", k)\n',
            ).replace("BLOCK_K: tl.constexpr", "BLOCK_K: tl.constexpr, DEBUG: tl.constexpr = False"),
            "switched off",
        ),
    ),
    invalid=(
        samples.hit(_PRINT, "device_print", "a print", severity="warning"),
        samples.hit(
            _PRINT.replace("tl.", "L.").replace(
                "import triton.language as tl", "from triton import language as L"
            ),
            "device_print",
            "num_stages=3",
            why="triton.language under another name",
        ),
    ),
)
