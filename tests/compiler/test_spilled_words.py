"""Words in local memory of launches that spill, against those of an H200 (Triton 3.6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tritonlint.compiler.register_lives import Family
from tritonlint.compiler.register_need import Need
from tritonlint.compiler.spilled_words import spilled_words

WGMMA = {"loop_peak": 0, "surely_held": 0, "loop_addresses": 0, "scalars": 9}


def need(
    family: Family, peak: int, held: int, addresses: int, accumulator: int, operands: int, batch: int
) -> Need:
    return Need(
        family=family, peak=peak, held=held, addresses=addresses, accumulator=accumulator, operands=operands,
        batch=batch, **WGMMA,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("of", "measured"),
    [
        (need("wgmma", 256, 256, 545, 256, 0, 0), 166),  # gemm 256x256x64, 8 warps: 164 to 186
        (
            replace(need("wgmma", 256, 256, 577, 256, 0, 0), copies=24),
            260,
        ),  # gemm in fp32, 256x256x32, 8 warps
        (need("wgmma", 512, 512, 1089, 512, 0, 0), 762),  # gemm 256x256x64, 4 warps
        (need("wgmma", 328, 204, 384, 128, 32, 64), 20),  # attention 128x64, heads of 128, 4 warps
        (need("wgmma", 560, 312, 768, 256, 16, 128), 190),  # attention 256x32, heads of 128, 4 warps
        (need("mma_v2", 128, 128, 530, 128, 256, 0), 56),  # gemm 64x128x128, 2 warps
        (need("mma_v2", 512, 512, 1089, 512, 256, 0), 1052),  # gemm 256x128x64, 2 warps
        (need("none", 768, 512, 96, 0, 0, 640), 318),  # a row of 16,384 of layer_norm, 1 warp
    ],
)
def test_words_of_real_launches(of: Need, measured: int) -> None:
    """Within a factor of 2, of words with 20 on top: fewer do not count."""
    assert abs(spilled_words(of, 255) - measured) <= measured + 20


def test_accumulators_wait_while_one_wgmma_runs() -> None:
    """It writes 128 words of a thread at most; others are not in registers meanwhile, whatever else there is."""
    assert spilled_words(need("wgmma", 256, 256, 0, 256, 0, 0), 255) >= 128
    assert spilled_words(need("mma_v2", 8, 8, 0, 8, 0, 0), 255) == 1


def test_families_without_a_model_spill_what_is_held_beyond_the_limit() -> None:
    assert spilled_words(need("tcgen05", 300, 300, 9, 0, 0, 0), 255) == 45
