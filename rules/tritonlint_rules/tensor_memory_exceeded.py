"""TL103: more tensor memory than an SM has."""

from __future__ import annotations

from collections.abc import Iterable

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.exceeded import Excess, excesses
from tritonlint_rules.support.nearest import fix_for, nearest_fit
from tritonlint_rules.support.survey import Entry, assumptions

CODE, NAME = "TL103", "tensor-memory-exceeded"


def check(context: Context) -> Iterable[Finding]:
    drafts = (_draft(context, excess) for excess in excesses(context, "tensor memory"))
    return findings(CODE, NAME, context, drafts)


def _draft(context: Context, excess: Excess) -> Draft:
    entry, overrun = excess.entry, excess.overrun
    message = f"tensor memory: {overrun.need:,} columns exceed {overrun.limit} on {{gpus}}"
    tiles = _accumulators(entry)
    message += f": accumulator {tiles}" if tiles else ""
    message += f", with {excess.values}" if excess.values else ""
    change = nearest_fit(context, entry) if excess.of == 1 else None
    if change is not None and not excess.fits_with(change.changes):
        change = None
    help_text = None
    if change is not None:
        help_text = f"{change.text} needs {change.of.taken.tensor_memory_columns} columns and fits"
    return excess.draft(
        message,
        excess.certainty,
        assumptions(entry),
        help_text=help_text,
        fix=fix_for(context, entry, change) if change is not None and entry.in_list else None,
    )


def _accumulators(entry: Entry) -> str:
    compiled = entry.of.taken.compiled
    if compiled is None:
        return ""
    tiles = [f"{dot.m}x{dot.n} {dot.accumulator}" for dot in compiled.dots if dot.tensor_cores == "tcgen05"]
    return ", ".join(dict.fromkeys(tiles))


_CONVERTED = samples.launched_gemm("256x256x32", "num_warps=8, num_stages=3").replace(
    "+ (k + deep)[None, :])", "+ (k + deep)[None, :]).to(tl.float16)"
)
_INT = _CONVERTED.replace("a_ptr=*fp16", "a_ptr=*i16")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="A launch that needs more than 512 columns of tensor memory (sm_100 and its family).",
    why=(
        "On Blackwell the tensor cores keep their accumulator in a memory of its own: 512 columns of 128 "
        "lanes a multiprocessor. An M x N accumulator takes N columns for each 128 rows, twice that where "
        "it is double-buffered, and operands that are converted in the loop lie there too. What goes over "
        "compiles and is refused at the launch."
    ),
    example=(
        "```text\n256 x 256 fp32 accumulator: 512 columns; a converted 256 x 32 operand on top: 1,024\n```"
    ),
    better="A smaller output tile, 128 x 256; or the operand in its final type before the loop.",
    when_not="Never: the launch is refused.",
    source="30 measured kernels, Triton 3.3 to 3.9; allocated in powers of two from 32.",
    check=check,
    fixable="unsafe",
    valid=(
        samples.miss(
            samples.launched_gemm("256x256x32", "num_warps=8, num_stages=3"),
            "exactly 512 columns",
            gpu="b200",
        ),
        samples.miss(_INT, "no tensor memory before sm_100", gpu="h100"),
        samples.miss(_INT.replace("256", "128"), "128 x 128 takes a quarter", gpu="b200"),
    ),
    invalid=(
        samples.hit(_INT, "gemm[grid]", "512", gpu="b200", severity="error"),
        samples.hit(
            _INT.replace("import triton.language as tl", "from triton import language as tl"),
            "gemm[grid]",
            "256x256",
            gpu="b200",
            why="triton.language by another import",
        ),
    ),
)
