"""HOUSE001: every autotune list keeps one config that runs in 64 KB of shared memory.

A team that ships kernels for GPUs of all sizes may want that; it is nothing that Triton asks for.
"""

from __future__ import annotations

from collections.abc import Iterable

from tritonlint.finding import Finding
from tritonlint.rule import Case, Context, Rule

CODE, NAME = "HOUSE001", "no-portable-config"
LIMIT = 64 * 1024


def check(context: Context) -> Iterable[Finding]:
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        tuning = plan.tuning
        if tuning is None or not tuning.resolved or not tuning.configs:
            continue  # a list that is not known in full may hold what is missing here
        needs = []
        for one in context.estimates(gpu):
            if one.estimate is None or not one.estimate.shared_exact:
                break  # not known: say nothing
            needs.append(one.estimate.shared_bytes)
        else:
            if needs and min(needs) > LIMIT:
                yield Finding(
                    code=CODE,
                    name=NAME,
                    severity="warning",
                    certainty="likely",
                    message=f"no config runs in 64 KB on {gpu.name}: the least takes {min(needs):,} B",
                    path=plan.kernel.path,
                    span=tuning.span,
                    kernel=plan.kernel.name,
                    gpus=(gpu.name,),
                    help="add a small one, say 64 x 64 x 32 with num_stages=2",
                )


_KERNEL = '''\
import triton
import triton.language as tl


# tritonlint: assume a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp32
@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 128}, num_warps=8, num_stages=5),
        CONFIG,
    ],
    key=["K"],
)
@triton.jit
def product(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    deep = tl.arange(0, 64)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, 64):
        a = tl.load(a_ptr + i[:, None] * K + (k + deep)[None, :])
        b = tl.load(b_ptr + (k + deep)[:, None] * BLOCK + i[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + i[:, None] * BLOCK + i[None, :], acc)
'''

RULES = (
    Rule(
        code=CODE,
        name=NAME,
        severity="warning",
        what="An autotune list of which every config needs more than 64 KB of shared memory.",
        why="Our kernels run on everything from a T4 on; a list without a small config stops there.",
        example='```python\n[triton.Config({"BLOCK": 128}, num_warps=8, num_stages=5)]\n```',
        better='```python\n[..., triton.Config({"BLOCK": 64}, num_warps=4, num_stages=2)]\n```',
        when_not="A kernel for one GPU only.",
        source="64 KB is what a T4 gives to one program.",
        check=check,
        valid=(
            Case(
                _KERNEL.replace("CONFIG,", 'triton.Config({"BLOCK": 64}, num_warps=4, num_stages=2),'),
                why="the second one is small",
            ),
            Case(_KERNEL.replace("CONFIG,", "*more(),"), why="the list is not known in full"),
        ),
        invalid=(
            Case(
                _KERNEL.replace("CONFIG,", 'triton.Config({"BLOCK": 128}, num_warps=4, num_stages=4),'),
                line=6,
                contains="64 KB",
            ),
        ),
    ),
)
