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
