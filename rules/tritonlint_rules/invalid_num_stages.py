"""TL209: a number of stages that the backend refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding, Fix
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings, possible_ints
from tritonlint_rules.support.nearest import edit_value
from tritonlint_rules.support.places import of_value
from tritonlint_rules.support.survey import all_entries, by_config, by_place, in_all, list_certainty, lower

CODE, NAME = "TL209", "invalid-num-stages"
_FROM, _BEFORE = (3, 2), (3, 6)


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    if not _FROM <= context.triton < _BEFORE:
        return
    major, minor = context.triton
    for listed in all_entries(context):
        if not listed or listed[0].gpu.vendor != "amd":
            continue
        for groups in by_place(by_config(listed)):
            for group in groups:
                entry = group[0]
                known = [one for each in group if (one := possible_ints(each.of.candidate.num_stages))]
                if not any(0 in numbers for numbers in known):
                    continue
                edit = edit_value(context, entry, "num_stages", 1)
                yield Draft(
                    place=of_value(context, entry.plan, entry.of.candidate, "num_stages"),
                    severity="error",
                    certainty=lower(
                        in_all(known, [one for one in known if one == (0,)]), list_certainty(entry)
                    ),
                    message=f"num_stages=0 does not compile for {entry.gpu.arch} with Triton {major}.{minor}",
                    gpu=entry.gpu,
                    config=config_values(entry.of.candidate),
                    help="num_stages=1 is the loop without pipelining, 2 is AMD's default",
                    fixes=(Fix("num_stages=1", True, (edit,)),) if edit else (),
                )
                break


_SWEEP = samples.tuned_gemm(
    [samples.config("64x64x64", "num_stages=0"), samples.config("64x64x64", "num_stages=2")]
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="`num_stages=0` on AMD with Triton 3.2 to 3.5.",
    why=(
        "Up to 3.1, 0 was the setting for a pipelined loop on AMD. 3.2 gave the number NVIDIA's meaning: "
        "3.2 and 3.3 raise "
        '"Triton AMD backend pipeliner has been updated", 3.4 and 3.5 fail in a pass. The autotuner '
        "catches neither, so "
        "the tuning stops. From 3.6 on 0 is the same as 1."
    ),
    example=(
        "```python\n"
        'triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64}, num_warps=4, num_stages=0)\n'
        "```"
    ),
    better=(
        "```python\n"
        'triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64}, num_warps=4, num_stages=2)\n'
        "```"
    ),
    when_not="NVIDIA takes any number; 0 is as 1 there.",
    source="Triton 3.0 to 3.9 compiled for gfx942; num_stages 0, -1 and 99 run on an H200.",
    check=check,
    fixable="safe",
    valid=(
        samples.miss(_SWEEP, "NVIDIA takes it", triton="3.4"),
        samples.miss(_SWEEP, "allowed again from 3.6 on", gpu="mi300x", triton="3.6"),
        samples.miss(_SWEEP, "AMD's own setting up to 3.1", gpu="mi300x", triton="3.1"),
    ),
    invalid=(
        samples.hit(_SWEEP, "num_stages=0", "num_stages=0", gpu="mi300x", triton="3.4", severity="error"),
        samples.hit(
            samples.launched_gemm("64x64x64", "num_stages=0"), "gemm[grid]", "3.3", gpu="mi300x", triton="3.3"
        ),
        samples.hit(
            _SWEEP.replace("triton.Config(", "C(").replace(
                "import triton\n", "import triton\nfrom triton import Config as C\n"
            ),
            "num_stages=0",
            "num_stages=0",
            gpu="mi300x",
            triton="3.2",
            why="Config under another name",
        ),
    ),
)
