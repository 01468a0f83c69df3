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


def test_a_change_for_one_branch_is_not_said_of_all() -> None:
    several = LAUNCH.format("small", "").replace("num_stages=5", "num_stages=8 if small else 4")
    source = samples.GEMM + several.replace("256 if small else 128", "64 if small else 256")
    finding = found(source)
    assert ", with BLOCK_N=64, num_stages=8; 1 other branch too" in finding.message
    assert finding.help is not None and finding.help.startswith("with BLOCK_N=64: num_stages=")
    assert not finding.fixes


def test_a_change_that_is_enough_for_every_branch_names_none() -> None:
    finding = found(samples.GEMM + LAUNCH.format("small", ""))
    assert finding.help is not None and finding.help.startswith("num_stages=")
    assert finding.fixes


def test_of_many_branches_some_are_named_and_the_rest_counted() -> None:
    many = "8 if M > 4 else 7 if M > 3 else 6 if M > 2 else 5 if M > 1 else 4"
    finding = found(samples.GEMM + LAUNCH.format("True", "").replace("num_stages=5", f"num_stages=({many})"))
    assert finding.message.endswith(", with num_stages=8; 4 other branches too")
    named = [note.message for note in finding.related if note.message.startswith("with ")]
    assert len(named) == 3 and named[-1].endswith(" B, and 1 more")


def test_a_branch_that_alone_overruns_is_named() -> None:
    finding = found(samples.GEMM + LAUNCH.format("small", "").replace("num_stages=5", "num_stages=4"))
    assert finding.message.endswith(", with BLOCK_N=256") and finding.certainty == "possible"


TUNED = """@triton.autotune(
    [triton.Config({"BLOCK_M": 128, "BLOCK_N": n}, num_warps=8, num_stages=6) for n in (16, 64, 256)], ["M"]
)
@triton.jit"""
TUNED_LAUNCH = """

def launch(a, b, c, M, N, K, deep):
    assert deep in {32, 64}
    # tritonlint: assume a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp16
    gemm[(1,)](a, b, c, M, N, K, K, 1, N, 1, N, 1, BLOCK_K=deep, GROUP_M=8)
"""


def test_configs_that_overrun_with_some_values_only_are_not_counted_among_the_others() -> None:
    source = samples.GEMM.replace("@triton.jit", TUNED) + TUNED_LAUNCH
    result = lint_source("case.py", source, Settings(), gpus=("rtx4090",), certainty="possible")
    never, may = sorted(
        (finding for finding in result.findings if finding.code == "TL101"),
        key=lambda finding: finding.certainty == "possible",
    )
    assert never.message.startswith("1 of 3 configs never run: smem 245,760 B")
    assert "BLOCK_N=256, num_warps=8, num_stages=6, BLOCK_K=64; 1 other branch too" in never.message
    assert never.certainty == "likely"
    assert may.message.startswith("1 of 3 configs may not run: smem 122,880 B")
    assert may.message.endswith("BLOCK_N=64, num_warps=8, num_stages=6, BLOCK_K=64")
    assert may.certainty == "possible" and not may.tags
