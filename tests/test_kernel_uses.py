"""What a parameter is, by what the kernel does with it."""

from __future__ import annotations

from dataclasses import replace

from tests.samples import ADD, GEMM, HEAD, kernel
from tritonlint.kernel_uses import Uses, kernel_uses, uses_of


def uses(body: str, parameters: str = "x, y, n, BLOCK: tl.constexpr", more: str = "") -> Uses:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return uses_of(kernel(f"{HEAD}{more}@triton.jit\ndef k({parameters}):\n{lines}", "k"))


def test_what_is_loaded_from_is_a_pointer_and_what_is_compared_with_a_range_an_integer() -> None:
    found = uses_of(kernel(ADD, "add"))
    assert set(found.pointers) == {"x_ptr", "y_ptr", "out_ptr"}
    assert "n" in found.integers
    assert not found.has_dot


def test_pointers_are_followed_through_variables_and_strides_are_seen() -> None:
    found = uses_of(kernel(GEMM, "gemm"))
    assert set(found.pointers) == {"a_ptr", "b_ptr", "c_ptr"}
    assert found.has_dot
    assert found.strides["a_ptr"] == {"stride_am", "stride_ak"}
    assert found.strides["c_ptr"] == {"stride_cm", "stride_cn"}
    assert not found.unit_stride


def test_a_range_that_nothing_multiplies_is_the_innermost_dimension() -> None:
    found = uses(
        "rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "cols = tl.arange(0, 64)\n"
        "tl.store(y + cols, tl.load(x + rows[:, None] * n + cols[None, :]))"
    )
    assert found.unit_stride == {"x", "y"}
    assert found.strides == {"x": {"n"}}


def test_an_integer_may_stand_first_in_an_address() -> None:
    found = uses("o = n * BLOCK + tl.arange(0, BLOCK)\ntl.store(o + y, tl.load(n + x + tl.arange(0, BLOCK)))")
    assert set(found.pointers) == {"x", "y"}
    assert "n" in found.integers


def test_indices_are_pointers_whose_data_stands_in_an_address() -> None:
    found = uses("i = tl.load(x + tl.arange(0, BLOCK))\ntl.store(y + i * n, 1.0)")
    assert found.indices == {"x"}


def test_what_bounds_a_loop_or_a_range_is_whole_numbers() -> None:
    found = uses(
        "start = tl.load(x)\n"
        "stop = tl.load(x + 1)\n"
        "for i in range(start, stop, BLOCK):\n"
        "    offs = i + tl.arange(0, BLOCK)\n"
        "    tl.store(y + offs, 1.0, mask=offs < tl.load(n + 3))\n"
    )
    assert found.indices == {"x", "n"}


def test_data_compared_with_data_may_be_anything() -> None:
    found = uses("offs = tl.arange(0, BLOCK)\nv = tl.load(x + offs)\ntl.store(y + offs, v > tl.load(n))")
    assert found.indices == set()


def test_the_place_of_a_maximum_tells_nothing_of_the_data() -> None:
    found = uses(
        "offs = tl.arange(0, BLOCK)\n"
        "best = tl.argmax(tl.load(x + offs), axis=0)\n"
        "tl.store(y + best, tl.where(offs == best, 0.0, 1.0))\n"
    )
    assert found.indices == set()


def test_helpers_are_looked_into() -> None:
    helper = "@triton.jit\ndef get(p, o):\n    return tl.load(p + o)\n\n\n"
    found = uses("tl.store(y + tl.arange(0, BLOCK), get(x, tl.arange(0, BLOCK)) * n)", more=helper)
    assert set(found.pointers) == {"x", "y"}


def test_block_pointers_name_their_innermost_stride_by_their_order() -> None:
    body = (
        "p = tl.make_block_ptr(x, (n, n), (s, t), (0, 0), (BLOCK, BLOCK), {order})\ntl.store(y, tl.load(p))"
    )
    row = uses(body.format(order="(1, 0)"), "x, y, n, s, t, BLOCK: tl.constexpr")
    column = uses(body.format(order="(0, 1)"), "x, y, n, s, t, BLOCK: tl.constexpr")
    assert row.last_strides == {"x": "t"} and column.last_strides == {"x": "s"}
    assert set(row.pointers) == {"x", "y"}


def test_descriptors_and_factors_of_data() -> None:
    found = uses("v = d.load([0, 0])\ntl.store(y, v * scale)", "d, y, scale")
    assert found.descriptors == {"d"}
    assert "scale" in found.floats


def test_an_element_type_asked_for_makes_a_pointer() -> None:
    found = uses("z = tl.zeros((BLOCK,), dtype=x.dtype.element_ty)\ntl.store(y + tl.arange(0, BLOCK), z)")
    assert set(found.pointers) == {"x", "y"}


def test_odd_kernels_give_few_uses_and_no_error() -> None:
    deep = "x" + " + x" * 400
    assert uses(f"y = {deep}\nfor i in [1, 2]:\n    del y\nlambda: 0\n(a, *b) = x") is not None


DOT = (
    "i = tl.arange(0, BLOCK)\n"
    "acc = tl.zeros((BLOCK, BLOCK), dtype={sum})\n"
    "for k in range(0, n, BLOCK):\n"
    "    acc += tl.dot(tl.load(x + i[:, None] * n + i[None, :] + k), tl.load(y + i[:, None] * n + i[None, :] + k))\n"
    "tl.store(z + i[:, None] * n + i[None, :], {stored})"
)


def test_a_sum_in_int32_shows_that_its_operands_are_small_integers() -> None:
    parameters = "x, y, z, s, n, BLOCK: tl.constexpr"
    assert uses(DOT.format(sum="tl.int32", stored="acc"), parameters).whole == {"x", "y"}
    assert uses(DOT.format(sum="tl.float32", stored="acc"), parameters).whole == set()
    given = "tl.store(z + tl.arange(0, 16), tl.dot(tl.load(x + tl.arange(0, 16)), tl.load(y), out_dtype=tl.int32))"
    assert uses(given, parameters).whole == {"x", "y"}


def test_a_scaled_product_shows_that_its_operands_are_quantised() -> None:
    parameters = "x, y, z, s, n, BLOCK: tl.constexpr"
    for stored in ("acc * tl.load(s)", "acc.to(tl.float32) * 2.0", "tl.load(s + i)[:, None] * acc"):
        assert uses(DOT.format(sum="tl.float32", stored=stored), parameters).quantised == {"x", "y"}, stored
    for stored in (
        "acc * 2.0",
        "acc.to(tl.float16)",
        "acc + tl.load(s)",
        "acc * (1.0 / tl.sum(acc, 1)[:, None])",
    ):
        assert uses(DOT.format(sum="tl.float32", stored=stored), parameters).quantised == set(), stored


HELPED = (
    f"{HEAD}@triton.jit\ndef read(p, i):\n    return tl.load(p + i)\n\n\n"
    "@triton.jit\ndef k(x, y, n):\n"
    "    offs = tl.arange(0, 64)\n    read(x, offs)\n    read(x, offs)\n    read(y, offs * n)\n"
)


def test_what_a_helper_does_is_done_for_each_of_its_arguments() -> None:
    found = uses_of(kernel(HELPED, "k"))
    assert set(found.pointers) == {"x", "y"}
    assert found.strides == {"y": {"n"}} and found.unit_stride == {"x"}


def test_uses_are_kept_for_another_reading_until_a_helper_is_another_one() -> None:
    first = kernel(HELPED, "k")
    other = kernel(HELPED.replace("tl.load(p + i)", "p * i"), "k")
    kept = kernel_uses(first)
    assert kernel_uses(replace(first)) is kept
    assert not kernel_uses(replace(first, scope=other.scope)).pointers
    assert set(kernel_uses(first).pointers) == {"x", "y"}
