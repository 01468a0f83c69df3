"""The least change that fits is found for any number of stages, in few tries."""

from __future__ import annotations

import pytest

from tests import samples
from tritonlint.lint import lint_source
from tritonlint.settings import Settings

LAUNCH = """

def launch(a, b, c, M, N, K):
    # tritonlint: assume a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp16
    gemm[(1,)](a, b, c, M, N, K, K, 1, N, 1, N, 1, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64,
         GROUP_M=8, num_warps=8, num_stages={})
"""


@pytest.mark.parametrize("stages", [9, 31, 1000])
def test_as_many_stages_as_fit_are_said(stages: int) -> None:
    result = lint_source("case.py", samples.GEMM + LAUNCH.format(stages), Settings(), gpus=["rtx4090"])
    (finding,) = (finding for finding in result.findings if finding.code == "TL101")
    assert finding.help is not None and finding.help.startswith("num_stages=4 ")


WHOLE = """

@triton.jit
def scores(q, k, o, T, DIMS, BT: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BT + tl.arange(0, BT)
    cols = tl.arange(0, BK){}
    acc = tl.zeros((BT, BT), tl.float32)
    a = tl.load(q + rows[:, None] * DIMS + cols[None, :], cols[None, :] < DIMS, 0.0)
    for j in range(0, T, BT):
        b = tl.load(k + (j + tl.arange(0, BT))[:, None] * DIMS + cols[None, :], cols[None, :] < DIMS, 0.0)
        acc += tl.dot(a, tl.trans(b))
    tl.store(o + rows[:, None] * T + tl.arange(0, BT)[None, :], acc)


def launch(q, k, o, T, DIMS):
    # tritonlint: assume q=*fp16, k=*fp16, o=*fp32
    scores[(T,)](q, k, o, T, DIMS, BT=128, BK=512, num_warps=8, num_stages=1)
"""


@pytest.mark.parametrize(("more", "said"), [("", "BT="), (" + BK * tl.program_id(1)", "BK=")])
def test_a_tile_that_is_a_whole_dimension_is_not_made_smaller(more: str, said: str) -> None:
    """With half of BK the kernel would read half of each row, unless it counts in BK."""
    source = "import triton\nimport triton.language as tl\n" + WHOLE.format(more)
    result = lint_source("case.py", source, Settings(), gpus=["rtx4090"])
    (finding,) = (finding for finding in result.findings if finding.code == "TL101")
    assert finding.help is not None and finding.help.startswith(said)
