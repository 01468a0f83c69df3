"""Kinds of conversions, and epilogues whose bytes were measured."""

from __future__ import annotations

import pytest

from tritonlint.compiler.blocked import blocked
from tritonlint.compiler.conversion import conversion, is_free, same_layout, scratch_bytes, through_buffer
from tritonlint.compiler.encodings import Blocked, DotOperand, NvidiaMma
from tritonlint.compiler.releases import release
from tritonlint.compiler.target import Target

SM80, SM90 = Target("sm_80"), Target("sm_90")


def _store(shape: tuple[int, int], bits: int, warps: int) -> Blocked:
    return blocked(shape, (1, 128 // bits), (1, 0), warps, 32)


def test_equal_encodings_cost_nothing() -> None:
    encoding = Blocked((4,), (32,), (4,), (0,))
    assert conversion(encoding, encoding, (512,), "fp32", SM80, release(3, 9)).kind == "none"


def test_encodings_that_place_alike_cost_nothing_since_linear_layouts() -> None:
    """One warp of 32 single elements is one warp of 8 x 4 of them, row by row."""
    a, b = Blocked((1, 4), (32, 1), (1, 1), (1, 0)), Blocked((1, 4), (32, 1), (1, 1), (0, 1))
    assert same_layout(a, b, (32, 4)) or is_free(a, b, (32, 4))
    assert scratch_bytes(a, b, (32, 4), "fp32", SM80, release(3, 9)) == 0
    assert scratch_bytes(a, b, (32, 4), "fp32", SM80, release(3, 0)) > 0


def test_shuffles_came_with_3_3() -> None:
    a = Blocked((1,), (32,), (1,), (0,))
    b = Blocked((2,), (32,), (1,), (0,))
    assert conversion(a, b, (64,), "fp32", SM80, release(3, 2)).kind == "shared"
    assert conversion(a, b, (64,), "fp32", SM80, release(3, 9)).kind == "shuffle"


@pytest.mark.parametrize(
    ("shape", "warps", "source", "element", "padded", "swizzled"),
    [
        ((128, 128), 4, NvidiaMma(2, (2, 2), (16, 8)), "fp16", 8704, 16384),
        ((128, 128), 4, NvidiaMma(2, (2, 2), (16, 8)), "fp32", 16896, 16384),
        ((256, 128), 8, NvidiaMma(2, (4, 2), (16, 8)), "fp16", 17408, 65536),
        ((64, 64), 4, NvidiaMma(2, (2, 2), (16, 8)), "fp16", 4608, 8192),
    ],
)
def test_epilogues_of_sm_80(
    shape: tuple[int, int], warps: int, source: NvidiaMma, element: str, padded: int, swizzled: int
) -> None:
    """A row-major store of an accumulator, measured with 3.4 and 3.9."""
    target = _store(shape, 16 if element == "fp16" else 32, warps)
    assert scratch_bytes(source, target, shape, element, SM80, release(3, 4)) == padded
    assert scratch_bytes(source, target, shape, element, SM80, release(3, 9)) == swizzled


def test_epilogue_of_sm_90_uses_matrix_stores() -> None:
    source = NvidiaMma(3, (4, 1), (16, 128, 16))
    target = _store((128, 128), 16, 4)
    assert scratch_bytes(source, target, (128, 128), "fp16", SM90, release(3, 9)) == 8192


def test_a_chained_operand_stays_in_registers() -> None:
    """Up to 3.1 this shortcut left one element of scratch."""
    source = NvidiaMma(2, (4, 1), (16, 8))
    target = DotOperand(0, source, 2)
    assert scratch_bytes(source, target, (64, 64), "fp16", SM80, release(3, 9)) == 0
    assert scratch_bytes(source, target, (64, 64), "fp16", SM80, release(3, 0)) == 2


def test_operands_go_through_a_buffer_up_to_3_2() -> None:
    source, target = _store((64, 64), 16, 4), DotOperand(0, NvidiaMma(2, (2, 2), (16, 8)), 2)
    assert through_buffer(source, target, (64, 64), "fp16", SM80, release(3, 2))
    assert not through_buffer(source, target, (64, 64), "fp16", SM80, release(3, 3))
