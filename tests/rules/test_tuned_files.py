"""A tuned file is no list: its entries were chosen before, and are not tried against each other."""

from __future__ import annotations

import json

import pytest

from tritonlint.lint import lint_source
from tritonlint.settings import Settings

MOE = "E=8,N=4096,device_name=NVIDIA_A100-SXM4-80GB.json"
ENTRY = {
    "BLOCK_SIZE_M": 64,
    "BLOCK_SIZE_N": 64,
    "BLOCK_SIZE_K": 32,
    "GROUP_SIZE_M": 8,
    "num_warps": 4,
    "num_stages": 3,
}


def codes(name: str, content: object) -> list[tuple[str, str]]:
    result = lint_source(name, json.dumps(content), Settings(), triton="3.9", certainty="possible")
    assert not [problem for problem in result.problems if problem.internal]
    return [(finding.code, finding.severity) for finding in result.findings if finding.severity != "info"]


def test_the_same_entry_for_two_sizes_is_no_repetition() -> None:
    assert codes(MOE, {"1": ENTRY, "16": ENTRY}) == []


def test_one_entry_is_no_list_of_one() -> None:
    assert codes(MOE, {"1": ENTRY}) == []


def test_an_entry_that_does_not_fit_is_launched_all_the_same() -> None:
    big = ENTRY | {"BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 128, "num_stages": 5}
    assert codes(MOE, {"1": ENTRY, "16": big}) == [("TL101", "error")]
    assert codes(MOE, {"16": big}) == [("TL101", "error")]


@pytest.mark.parametrize("option", ["num_buffers_warp_spec", "waves_per_eu"])
def test_what_an_unknown_program_does_with_its_entries_is_its_own_affair(option: str) -> None:
    assert codes("4090.json", {"GEMV": {"(1, 64)": ENTRY | {option: 0}}}) == []


def test_options_of_a_gpu_that_is_not_known_are_not_judged_on_another() -> None:
    name = "E=128,N=512,device_name=AMD_Radeon_R9700,dtype=fp8_w8a8,block_shape=[128,128].json"
    assert codes(name, {"1": ENTRY | {"waves_per_eu": 2}}) == []


def test_a_tuned_entry_that_spills_has_won_all_the_same() -> None:
    name = "N=24576,K=7168,device_name=NVIDIA_L20,dtype=fp8_w8a8,block_shape=[128,128].json"
    large = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 128, "num_warps": 4, "num_stages": 2}
    assert codes(name, {"2048": ENTRY | large}) == []


def test_the_kernels_that_are_known_take_no_foreign_option() -> None:
    assert codes(MOE, {"1": ENTRY | {"waves_per_eu": 2}}) == [("TL207", "error")]


def test_lines_of_a_kernel_that_stands_in_no_file_are_not_shown() -> None:
    big = ENTRY | {"BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 128, "num_stages": 5}
    result = lint_source(MOE, json.dumps({"16": big}), Settings(), triton="3.9")
    (finding,) = (finding for finding in result.findings if finding.code == "TL101")
    assert "buffers x" in finding.message and not finding.related
