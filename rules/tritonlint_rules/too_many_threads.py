"""TL102: more threads a program than the GPU takes."""

from __future__ import annotations

from collections.abc import Iterable

from tritonlint.finding import Certainty, Finding, Fix
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings, known_int
from tritonlint_rules.support.exceeded import Excess, excesses
from tritonlint_rules.support.nearest import edit_value
from tritonlint_rules.support.places import of_value
from tritonlint_rules.support.survey import Entry, assumptions, list_certainty, lower

CODE, NAME = "TL102", "too-many-threads"


def check(context: Context) -> Iterable[Finding]:
    drafts = (_draft(context, excess) for excess in excesses(context, "threads"))
    return findings(CODE, NAME, context, drafts)


def _draft(context: Context, excess: Excess) -> Draft:
    entry, overrun = excess.entry, excess.overrun
    warps = known_int(entry.of.candidate.num_warps)
    size = entry.gpu.warp_size
    after = overrun.need // size
    message = f"{overrun.need:,} threads exceed {overrun.limit:,} per program on {{gpus}}: "
    if warps is not None and after == warps:
        message += f"num_warps={warps} x {size} lanes"
    else:
        message += f"{after} warps after specialization (num_warps={warps}) x {size} lanes"
    highest = overrun.limit // size
    help_text = f"num_warps={highest} is the most here"
    if size != 32:
        help_text += f", since a warp has {size} lanes on this GPU"
    # Specialized warps come from the compiler model; otherwise the product is all there is to it.
    level: Certainty = "proven" if warps == after else "likely"
    return excess.draft(
        message,
        lower(lower(level, excess.most.at_most), list_certainty(entry)),
        assumptions(entry) if level != "proven" else entry.of.candidate.assumptions,
        help_text=help_text,
        fix=_fix(context, entry, highest) if excess.of == 1 and warps == after else None,
        place=of_value(context, entry.plan, entry.of.candidate, "num_warps"),
    )


def _fix(context: Context, entry: Entry, highest: int) -> Fix | None:
    edit = edit_value(context, entry, "num_warps", highest)
    # How a reduction is split over warps changes the order of its additions: the last bits may differ.
    return Fix(f"num_warps={highest}", False, (edit,)) if edit else None


_TUNED = samples.tuned_scale([samples.block(1024, "num_warps=4"), samples.block(4096, "num_warps=64")])

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="`num_warps` times the lanes of a warp is more than the threads that one program may have.",
    why=(
        "A program (CTA, workgroup) has at most 1,024 threads. A warp has 32 lanes on NVIDIA and RDNA, 64 "
        "on AMD's CDNA, so `num_warps=32` is the largest on the former and 16 on the latter. From Triton "
        "3.4 on the launch raises `OutOfResources: threads`; before, the driver answers `invalid "
        "argument`."
    ),
    example=(
        "```python\nrms_norm[(rows,)](x, y, BLOCK=16384, num_warps=32)  # 2,048 threads on an MI300X\n```"
    ),
    better="```python\nrms_norm[(rows,)](x, y, BLOCK=16384, num_warps=16)\n```",
    when_not="Never: the launch is refused.",
    source=(
        "Threads per block of each GPU; Triton's launcher, read in 2.1 to 3.9; `num_warps=64` tried on an "
        "H200."
    ),
    check=check,
    fixable="unsafe",
    valid=(
        samples.miss(samples.launched_scale("BLOCK=4096, num_warps=32"), "exactly 1,024 threads"),
        samples.miss(samples.launched_scale("BLOCK=4096, num_warps=16"), "16 x 64 lanes", gpu="mi300x"),
        samples.miss(
            samples.launched_scale("BLOCK=4096, num_warps=32"), "RDNA has warps of 32 lanes", gpu="gfx1100"
        ),
        samples.miss(
            samples.launched_scale("BLOCK=4096, num_warps=w").replace(
                "def run(x, y, n)", "def run(x, y, n, w)"
            ),
            "how many warps cannot be told",
        ),
    ),
    invalid=(
        samples.hit(samples.launched_scale("BLOCK=4096, num_warps=64"), "scale[(", "2,048", severity="error"),
        samples.hit(
            samples.launched_scale("BLOCK=4096, num_warps=32"),
            "scale[(",
            "2,048",
            gpu="mi300x",
            severity="error",
        ),
        samples.hit(_TUNED, "num_warps=64", "2,048", severity="warning", why="the tuner skips it"),
        samples.hit(
            _TUNED.replace("import triton\n", "import triton\nfrom triton import Config as C\n").replace(
                "triton.Config(", "C("
            ),
            "num_warps=64",
            "2,048",
            why="Config under another name",
        ),
    ),
)
