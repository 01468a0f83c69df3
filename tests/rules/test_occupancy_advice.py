"""Whether more CTAs are advised, and what is said of too few programs."""

from __future__ import annotations

from tritonlint_rules.support import samples

from tritonlint.finding import Finding
from tritonlint.lint import lint_source
from tritonlint.settings import Settings


def found(code: str, source: str, gpu: str) -> Finding:
    result = lint_source("a.py", source, Settings(), gpus=[gpu], triton="3.6")
    return next(finding for finding in result.findings if finding.code == code)


def test_what_mostly_waits_is_not_compute_bound() -> None:
    """One CTA with four stages: its chain of loads and products takes longer than the tensor cores need."""
    gemm = samples.launched_gemm("32x128x128", "num_warps=4, num_stages=4")
    advice = found("TL501", gemm, "h200")
    assert advice.help is not None and advice.help.startswith("waits are the largest part (")
    assert advice.estimate.time_ms.largest == "waits"
    assert "num_stages=3 gives 2 CTAs" in advice.help and " instead of " in advice.help
    assert not any("compute-bound" in step for step in advice.estimate.steps)


def test_a_step_that_is_hardly_faster_is_not_named() -> None:
    """Two CTAs with two stages each: what the second one hides, the third stage hid."""
    gemm = samples.launched_gemm("128x64x128", "num_warps=4, num_stages=3")
    advice = found("TL501", gemm, "h200")
    assert advice.help is not None and advice.help.startswith("waits are the largest part (")
    assert "no step to more CTAs makes it faster" in advice.help


def test_a_unit_that_is_busy_is_named() -> None:
    gemm = samples.launched_gemm("128x128x64", "num_warps=4, num_stages=3")
    advice = found("TL501", gemm, "h200")
    assert advice.help is not None and advice.help.startswith("shared memory takes longest (")


def test_arithmetic_that_takes_longest_is_compute_bound() -> None:
    gemm = samples.launched_gemm("128x64x32", "num_warps=4, num_stages=2")
    advice = found("TL501", gemm, "rtx3070")
    assert advice.help is not None and advice.help.startswith("compute-bound (")


def test_ways_out_of_a_grid_that_is_too_small() -> None:
    few = found(
        "TL405", samples.launched_gemm("128x128x64", "num_warps=4", sizes="M=256, N=256, K=4096"), "h200"
    )
    assert few.help is not None
    assert (
        "split over 33 programs (split-K, split-KV)" in few.help and "a second kernel beside it" in few.help
    )
    last = found(
        "TL406", samples.launched_gemm("128x256x64", "num_warps=8", sizes="M=1280, N=3072, K=4096"), "a100"
    )
    assert last.help is not None and "a persistent grid of as many programs as places, 108," in last.help
