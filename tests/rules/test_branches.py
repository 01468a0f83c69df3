"""A launch that several branches give values for: each that overruns is named."""

from __future__ import annotations

from tests import samples
from tritonlint.finding import Finding
from tritonlint.lint import lint_source
from tritonlint.settings import Settings

LAUNCH = """

def launch(a, b, c, M, N, K, small, tiny):
    tile = 256 if {0} else 128{1}
    # tritonlint: assume a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp16
    gemm[(1,)](a, b, c, M, N, K, K, 1, N, 1, N, 1, BLOCK_M=128, BLOCK_N=tile, BLOCK_K=64,
         GROUP_M=8, num_warps=8, num_stages=5)
"""


def found(source: str, *gpus: str) -> Finding:
    result = lint_source("case.py", source, Settings(), gpus=gpus or ("rtx4090",), certainty="possible")
    (finding,) = (finding for finding in result.findings if finding.code == "TL101")
    return finding


def test_the_largest_is_said_with_its_values_and_the_others_beside_it() -> None:
    finding = found(samples.GEMM + LAUNCH.format("small", ""))
    assert finding.message.endswith(", with BLOCK_N=256; 1 other branch too")
    assert any(note.message.startswith("with BLOCK_N=128: smem 131,072 B") for note in finding.related)
    assert finding.certainty == "likely"


def test_where_a_branch_fits_the_rest_is_possible() -> None:
    finding = found(samples.GEMM + LAUNCH.format("small", " if tiny else 32"), "rtx4090")
    assert finding.message.endswith(", with BLOCK_N=256; 1 other branch too")
    assert finding.certainty == "possible"


def test_a_launch_without_branches_names_no_values() -> None:
    finding = found(samples.GEMM + LAUNCH.format("True", ""))
    assert "with" not in finding.message and "branch" not in finding.message
