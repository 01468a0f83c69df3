"""A launch that does not fit only because operands of no given type are taken to have two bytes."""

from __future__ import annotations

import pytest
from tritonlint_rules.support import samples

from tritonlint.lint import lint_source
from tritonlint.settings import Settings

NO_TYPES = "a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp16, "
GEMM = samples.launched_gemm("128x256x64", "num_warps=8, num_stages=4")
ADDED = "acc = tl.dot(a, b, acc)"


def levels(source: str, code: str = "TL101") -> list[str]:
    result = lint_source(
        "example.py", source, Settings(), gpus=["rtx4090"], triton="3.9", certainty="possible"
    )
    assert not [problem for problem in result.problems if problem.internal]
    return [finding.certainty for finding in result.findings if finding.code == code]


def untyped(source: str) -> str:
    assert NO_TYPES in source
    return source.replace(NO_TYPES, "")


def scaled(source: str, scale: str) -> str:
    return (
        source.replace("c_ptr, M", "c_ptr, s_ptr, M")
        .replace("(a, b, c, M", "(a, b, c, s, M")
        .replace(ADDED, f"acc += {scale}")
    )


def test_a_default_type_is_believed_where_nothing_speaks_against_it() -> None:
    assert levels(untyped(GEMM)) == ["likely"]


@pytest.mark.parametrize(
    "scale",
    [
        "tl.dot(a, b) * tl.load(s_ptr + k)",
        "tl.dot(a, b).to(tl.float32) * 0.5",
        "tl.dot(a, b) * tl.load(s_ptr + cols)[None, :]",
    ],
)
def test_not_where_the_product_is_scaled_as_that_of_quantised_operands(scale: str) -> None:
    assert levels(untyped(scaled(GEMM, scale))) == ["possible"]


def test_a_given_type_holds() -> None:
    source = scaled(GEMM, "tl.dot(a, b) * tl.load(s_ptr + k)")
    assert levels(source) == ["likely"]


def test_too_large_with_one_byte_is_too_large() -> None:
    source = scaled(GEMM, "tl.dot(a, b) * tl.load(s_ptr + k)")
    bigger = untyped(source).replace("BLOCK_K=64", "BLOCK_K=256")
    assert levels(bigger) == ["likely"]


def test_a_factor_that_is_no_data_is_no_scale() -> None:
    assert levels(untyped(scaled(GEMM, "tl.dot(a, b) * 0.125"))) == ["likely"]


def test_a_whole_list_is_judged_the_same_way() -> None:
    listed = samples.tuned_gemm([samples.config("128x256x64", "num_warps=8, num_stages=4")])
    assert levels(listed, "TL104") == ["proven"]
    source = untyped(scaled(listed, "tl.dot(a, b) * tl.load(s_ptr + k)"))
    assert levels(source, "TL104") == ["possible"]


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("FP8 = torch.float8_e5m2\n", "possible"),
        ("def quantise(x):\n    return x.to(torch.int8)\n", "possible"),
        ("def count(x):\n    return x.to(torch.int64)\n", "likely"),
        ("# fp8 is for later\n", "likely"),
    ],
)
def test_not_where_the_file_has_operands_of_one_byte(said: str, level: str) -> None:
    assert levels(untyped(GEMM) + "\n\n" + said) == [level]
    assert levels(GEMM + "\n\n" + said) == ["proven"], "given types hold"


FITS = samples.config("64x64x32", "num_warps=4, num_stages=3")
WIDE = samples.config("128x256x64", "num_warps=8, num_stages=4")


@pytest.mark.parametrize(
    ("above", "level"),
    [
        ("# good for int8\n        ", "possible"),
        ("# Good config for fp8 inputs.\n        ", "possible"),
        ("# good for int16\n        ", "likely"),
        ("# good for int8\n        " + FITS + ",\n        # and the rest\n        ", "likely"),
    ],
)
def test_not_where_the_list_says_that_a_config_is_for_operands_of_one_byte(above: str, level: str) -> None:
    source = untyped(samples.tuned_gemm([FITS, WIDE]))
    assert levels(source) == ["likely"]
    assert levels(source.replace(WIDE, above + WIDE)) == [level]
