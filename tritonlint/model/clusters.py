"""Whether a release and a GPU take a number of CTAs a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonlint.finding import Certainty

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile


def refused_clusters(gpu: GpuProfile, ctas: int, triton: tuple[int, int]) -> tuple[str, Certainty] | None:
    """Why `ctas` CTAs a cluster do not run, and how well that is known; None where they may.

    By release: refused with words, an abort of the process, an error of the assembler or one of the driver.
    Source: Triton 2.2 to 3.9 compiled for sm_80, sm_90 and gfx942; 3, 16 and 32 CTAs tried on an H200."""
    if ctas <= 1 or triton < (2, 2):
        return None
    if gpu.vendor == "amd":
        if gpu.arch.startswith("gfx125") and triton >= (3, 6):
            return None
        if triton >= (3, 5):
            return "clusters are not supported there, the launch raises", "proven"
        return None
    if gpu.capability < 90:
        if triton >= (3, 5):
            return f"clusters need sm_90 or newer, {gpu.arch} has none; the launch raises", "proven"
        if triton >= (3, 3):
            return f"clusters need sm_90 or newer; for {gpu.arch} the compiler aborts the process", "proven"
        return f"clusters need sm_90 or newer, {gpu.arch} has none", "likely"
    if ctas & (ctas - 1):
        if triton < (3, 0):
            return None
        return "not a power of two, the compiler fails", "proven"
    if ctas > 16:
        return "a cluster has at most 16 CTAs (8 where it is to be portable)", "proven"
    return None
