"""Types of arguments: what is given, what the launcher would find, and the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.samples import ADD, GEMM, HEAD, kernel
from tritonlint.arguments import Arguments, arguments_of
from tritonlint.jobs import check_type
from tritonlint.source.values import Knowledge, Known, Unknown

TILES = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8}


def found(
    source: str,
    name: str,
    *,
    constants: Mapping[str, Any] | None = None,
    values: Mapping[str, Knowledge] | None = None,
    **given: Any,
) -> Arguments:
    defaults: dict[str, Any] = {"types": {}, "defaults": {}}
    return arguments_of(
        kernel(source, name), constants=constants or {}, values=values or {}, **{**defaults, **given}
    )


def test_pointers_are_half_with_a_dot_and_single_without() -> None:
    gemm, add = found(GEMM, "gemm", constants=TILES), found(ADD, "add", constants={"BLOCK": 64})
    assert gemm.specs["a_ptr"].type == "*fp16" and gemm.specs["a_ptr"].divisible
    assert add.specs["x_ptr"].type == "*fp32"
    assert "a_ptr is *fp16 (default)" in gemm.assumptions


def test_integers_are_i32_and_divisible_and_the_innermost_stride_is_one() -> None:
    gemm = found(GEMM, "gemm", constants=TILES)
    assert gemm.specs["stride_am"].type == "i32" and gemm.specs["stride_am"].divisible
    assert gemm.constants == {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1}
    assert "stride_ak is 1 (innermost stride, default)" in gemm.assumptions


def test_the_launch_tells_which_stride_is_the_innermost() -> None:
    """b.T is passed with its strides the other way round."""
    texts = {"stride_bk": "b.stride(1)", "stride_bn": "b.stride(0)"}
    gemm = found(GEMM, "gemm", constants=TILES, launch_texts=texts)
    assert "stride_bk" in gemm.constants and "stride_bn" not in gemm.constants


def test_a_stride_that_is_given_a_type_is_a_run_time_argument() -> None:
    gemm = found(GEMM, "gemm", constants=TILES, types={"stride_ak": "i64"})
    assert gemm.specs["stride_ak"].type == "i64"
    assert "stride_ak" not in gemm.constants


def test_known_values_are_typed_as_the_launcher_does() -> None:
    values: dict[str, Knowledge] = {
        "M": Known(4096),
        "N": Known(100),
        "K": Known(1),
        "stride_am": Known(1 << 40),
        "stride_cm": Known(None),
    }
    gemm = found(GEMM, "gemm", constants=TILES, values=values)
    assert gemm.specs["M"].divisible and not gemm.specs["N"].divisible
    assert gemm.specs["stride_am"].type == "i64"
    assert gemm.constants["K"] == 1 and gemm.constants["stride_cm"] is None
    assert gemm.values == {"M": 4096, "N": 100, "stride_am": 1 << 40}
    assert not any("M is" in text for text in gemm.assumptions)


def test_a_job_says_what_is_divisible() -> None:
    add = found(ADD, "add", constants={"BLOCK": 64}, divisible=frozenset({"x_ptr"}))
    assert add.specs["x_ptr"].divisible and not add.specs["n"].divisible


def test_defaults_of_the_settings_go_by_name_or_pattern() -> None:
    add = found(ADD, "add", constants={"BLOCK": 64}, defaults={"x_ptr": "*i8", "*_ptr": "*bf16"})
    assert add.specs["x_ptr"].type == "*i8" and add.specs["y_ptr"].type == "*bf16"
    assert "y_ptr is *bf16 (settings)" in add.assumptions


def test_do_not_specialize_keeps_one_and_sixteen() -> None:
    source = ADD.replace("@triton.jit\n", '@triton.jit(do_not_specialize=["n"])\n')
    one = found(source, "add", constants={"BLOCK": 64}, values={"n": Known(1)})
    sixteen = found(source, "add", constants={"BLOCK": 64}, values={"n": Known(16)})
    assert "n" not in one.constants and one.specs["n"].type == "i32"
    assert not sixteen.specs["n"].divisible


def test_an_unknown_value_keeps_its_default_type() -> None:
    add = found(ADD, "add", constants={"BLOCK": 64}, values={"n": Unknown("it comes from the caller")})
    assert add.specs["n"].type == "i32"


def test_a_number_with_a_fraction_is_told_by_its_name_or_use() -> None:
    source = HEAD + (
        "@triton.jit\ndef norm(x, w, eps, B: tl.constexpr):\n"
        "    o = tl.arange(0, B)\n    v = tl.load(x + o)\n"
        "    tl.store(x + o, v * w / tl.sqrt(tl.sum(v * v) + eps))\n"
    )
    assert found(source, "norm").specs["eps"].type == "fp32"
    assert found(source, "norm").specs["w"].type == "fp32"


def test_booleans_go_by_the_name_of_a_signature_too() -> None:
    types = {"x_ptr": check_type("x_ptr", "*u1"), "n": check_type("n", "u1")}
    add = found(ADD, "add", constants={"BLOCK": 64}, types=types)
    assert add.specs["x_ptr"].type == "*i1" and add.specs["x_ptr"].divisible
    n = next(name for name in add.specs if add.specs[name].type == "i1")
    assert not add.specs[n].divisible
