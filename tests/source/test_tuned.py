"""Tuned JSON files."""

from __future__ import annotations

import json

import pytest

from tritonlint.arguments import arguments_of
from tritonlint.compiler.compile import compiled
from tritonlint.compiler.compiled import Compiled
from tritonlint.compiler.options import Options
from tritonlint.compiler.target import Target
from tritonlint.kernel.trace import trace
from tritonlint.source import parse_file, read, read_plans
from tritonlint.source.families import SOURCES
from tritonlint.source.reading import Reading
from tritonlint.source.tuned import read_tuned
from tritonlint.source.values import DType
from tritonlint.span import Span

from .reading import H100, known

ENTRY = {
    "BLOCK_SIZE_M": 64,
    "BLOCK_SIZE_N": 128,
    "BLOCK_SIZE_K": 256,
    "GROUP_SIZE_M": 8,
    "num_warps": 4,
    "num_stages": 3,
}
MOE = "E=8,N=7168,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8,block_shape=[128,128].json"


def reading(name: str, document: object) -> Reading:
    return read_plans(parse_file(read(name, json.dumps(document, indent=1))), H100)


def test_a_fused_moe_file() -> None:
    (plan,) = reading(MOE, {"triton_version": "3.4.0", "1": ENTRY, "4096": {**ENTRY, "num_warps": 8}}).plans
    assert plan.kernel.name == "fused_moe" and plan.assumed == {"gpu": "h100"}
    assert plan.tuning is not None and plan.tuning.tuned_file
    assert [config.num_warps for config in plan.tuning.configs] == [4, 8]
    candidate = plan.candidates[0]
    assert candidate.types["a_ptr"] == candidate.types["b_ptr"] == "*fp8e4nv"
    assert known(candidate.constants["BLOCK_SIZE_K"]) == 128  # clamped to the quantisation block
    assert known(candidate.constants["GROUP_K"]) == 128


@pytest.mark.parametrize(
    ("dtype", "a", "b"),
    [("", "*bf16", "*bf16"), ("dtype=int8_w8a16", "*bf16", "*i8"), ("dtype=int8_w8a8", "*i8", "*i8")],
)
def test_operand_types_follow_the_name(dtype: str, a: str, b: str) -> None:
    name = ",".join(part for part in ("E=8,N=64,device_name=NVIDIA_A100-SXM4-80GB", dtype) if part) + ".json"
    (plan,) = reading(name, {"1": ENTRY}).plans
    assert (plan.candidates[0].types["a_ptr"], plan.candidates[0].types["b_ptr"]) == (a, b)


def test_a_block_scaled_product() -> None:
    name = "N=512,K=7168,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128,128].json"
    (plan,) = reading(name, {"1": {**ENTRY, "waves_per_eu": 2}}).plans
    assert plan.kernel.name == "block_scaled_gemm" and plan.assumed == {"gpu": "mi300x"}
    assert known(plan.candidates[0].extra["waves_per_eu"]) == 2
    assert known(plan.candidates[0].constants["BLOCK_SIZE_K"]) == 256


def test_other_shapes_are_listed_without_a_kernel() -> None:
    nested = {
        "any": {"small": ENTRY, "large": [ENTRY, {"comment": "none"}]},
        "M_LEQ_8": {"num_warps": 2, "BLOCK_M": 16},
    }
    (plan,) = reading("gfx942-GEMM.json", nested).plans
    assert plan.kernel.name == "" and plan.candidates == ()
    assert plan.tuning is not None and len(plan.tuning.configs) == 3
    assert plan.assumed == {"gpu": "gfx942"}


def test_where_entries_and_values_stand() -> None:
    text = '{\n "1": {"BLOCK_SIZE_M": 64, "num_warps": 4},\n "é": {"num_warps": 8}\n}'
    tuned = read_tuned(read("a.json", text))
    assert tuned is not None
    first, second = tuned.entries
    assert first.span == Span(2, 2, 2, 43) and first.keys == ("1",)
    assert first.value_spans["num_warps"] == Span(2, 41, 2, 42)
    assert second.value_spans["num_warps"] == Span(3, 21, 3, 22)


@pytest.mark.parametrize(
    "document", [{}, [], {"a": 1}, {"a": {"b": "num_warps"}}, "num_warps", {"num_warps": "x"}]
)
def test_files_without_configs(document: object) -> None:
    assert reading("a.json", document) == Reading(())


@pytest.mark.parametrize(
    "text",
    [
        '{"num_warps": 4',
        '{"num_warps": 4,}',
        "{'num_warps': 4}",
        '{"num_warps": 4} x',
        '{"num_warps": 04}',
        '{"num_warps": 4, "GROUP": [01]}',
        '"num_"' + "[" * 500,
    ],
)
def test_broken_files_are_a_problem(text: str) -> None:
    found = read_plans(
        parse_file(read("a.json", text if '"num_' in text else '{"num_warps": 1, ' + text)), H100
    )
    assert [problem.kind for problem in found.problems] == ["syntax"]
    assert found.plans == ()


def test_an_unknown_device_gives_no_candidates() -> None:
    (plan,) = reading("E=8,N=64,device_name=Radeon_8060S_Graphics.json", {"1": ENTRY}).plans
    assert plan.candidates == () and plan.assumed == {}


def _answers(group: str) -> list[Compiled]:
    """What the compiler makes of some configs of both programs, with this for the size of a group."""
    found: list[Compiled] = []
    types = {
        "a_ptr": "*bf16",
        "b_ptr": "*bf16",
        "c_ptr": "*bf16",
        "a_scale_ptr": "*fp32",
        "b_scale_ptr": "*fp32",
    }
    for _, text in SOURCES.values():
        text = text.replace("8 * blocks_n", f"{group} * blocks_n").replace("* 8\n", f"* {group}\n")
        module = parse_file(read("family.py", text.replace("first_m, 8)", f"first_m, {group})")))
        (plan,) = read_plans(module, H100).plans
        for size, warps in ((16, 4), (64, 4), (128, 8)):
            constants = {
                "GROUP_N": 128, "GROUP_K": 128, "QUANT": 0, "OUT": DType("bf16"), "TOP_K": 2,
                "BLOCK_SIZE_M": size, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64,
            }  # fmt: skip
            for arch in ("sm_80", "sm_90", "gfx942"):
                arguments = arguments_of(
                    plan.kernel, constants=constants, types=types, values={}, defaults={}
                )
                given = {**constants, **arguments.constants}
                traced = trace(plan.kernel, arguments.specs, given, target=Target(arch), release=(3, 9))
                assert traced.complete
                found.append(compiled(traced, Options(num_warps=warps, num_stages=3), Target(arch), (3, 9)))
    return found


def test_in_which_order_programs_take_tiles_changes_nothing() -> None:
    assert _answers("8") == _answers("1") == _answers("64")


@pytest.mark.parametrize("key", ["num_warps", "num\\u005fwarps"])
def test_an_integer_that_python_does_not_read_is_a_problem_of_the_file(key: str) -> None:
    text = '{"1": {"BLOCK_SIZE_M": 64, "KEY": 1}}'.replace("KEY", key).replace(
        ": 1}", ": " + "1" * 5000 + "}"
    )
    found = read_tuned(read("E=8,N=64,device_name=NVIDIA_H100.json", text))
    assert found is not None and not found.entries
    (problem,) = found.problems
    assert problem.message == "not read: an integer of 5,000 characters"
