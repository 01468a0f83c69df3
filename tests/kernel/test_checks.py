"""What the front end refuses, and what cannot be traced."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hypothesis import given, settings
from hypothesis import strategies as st
from tracing import names, traced

DOT = """
@triton.jit
def kernel(x, y, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.load(x + tl.arange(0, M)[:, None] + tl.arange(0, K)[None, :])
    b = tl.load(x + tl.arange(0, K)[:, None] + tl.arange(0, N)[None, :])
    tl.store(y + tl.arange(0, M)[:, None] + tl.arange(0, N)[None, :], tl.dot(a, b))
"""


def refused(text: str, types: dict[str, str], constants: dict[str, Any], **more: Any) -> str:
    """The kind of the one refusal, "" where there is none."""
    found = traced(text, types, constants, **more)
    assert len(found.errors) <= 1 and not found.gaps
    return found.errors[0].kind if found.errors else ""


@pytest.mark.parametrize(
    ("release", "element", "sizes", "kind"),
    [
        ((3, 4), "fp16", (16, 16, 16), ""),
        ((3, 4), "fp16", (8, 16, 16), "dot-too-small"),
        ((3, 5), "fp16", (8, 16, 16), ""),
        ((3, 5), "fp16", (16, 16, 8), "dot-too-small"),
        ((3, 7), "fp32", (16, 16, 8), "dot-too-small"),
        ((3, 8), "fp32", (16, 16, 8), ""),
        ((3, 3), "i8", (16, 16, 16), "dot-too-small"),
        ((3, 2), "i8", (16, 16, 16), ""),
        ((2, 3), "i8", (16, 16, 16), "dot-too-small"),
    ],
)
def test_smallest_dot(release: tuple[int, int], element: str, sizes: tuple[int, int, int], kind: str) -> None:
    """By release and type (facts: smallest dot)."""
    out = "*i32" if element == "i8" else "*fp32"
    constants = dict(zip("MNK", sizes, strict=True))
    assert refused(DOT, {"x": f"*{element}", "y": out}, constants, release=release) == kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("tl.arange(0, 100)", "block-not-power-of-two"),
        ("tl.arange(8, 8)", "arange-bounds"),
        ("tl.arange(0, n)", "arange-bounds"),
        ("tl.zeros((3, 4), tl.float32)", "block-not-power-of-two"),
        ("tl.arange(0, 2048)[:, None] + tl.arange(0, 1024)[None, :]", "tensor-too-large"),
        ("tl.static_assert(B == 1, 'B must be 1')", "static-assert"),
        ("tl.load(n)", "type"),
        ("tl.arange(0, 8) + tl.arange(0, 16)", "shape"),
        ("tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))", "removed"),
    ],
)
def test_refusals_have_a_kind_and_a_line(body: str, kind: str) -> None:
    """Each check of the front end, on the line that it is about."""
    text = f"@triton.jit\ndef kernel(x, n, B: tl.constexpr):\n    tl.store(x, 1.0)\n    {body}\n"
    found = traced(text, {"x": "*fp32", "n": "i32"}, {"B": 64})
    assert [(e.kind, e.line) for e in found.errors] == [(kind, 6)]


@pytest.mark.parametrize(
    ("release", "element", "has_it"),
    [
        ((3, 1), "fp8e4nv", ""),
        ((3, 2), "fp8e4nv", ""),
        ((3, 2), "fp8e4b8", "gfx942"),
        ((3, 3), "fp8e4nv", "gfx942 gfx950"),
        ((3, 4), "fp8e4nv", "gfx942 gfx950 gfx1201"),
        ((3, 5), "fp8e4nv", "gfx90a gfx942 gfx950 gfx1100 gfx1201"),
        ((3, 5), "fp8e4b15", ""),
    ],
)
def test_fp8_on_amd(release: tuple[int, int], element: str, has_it: str) -> None:
    """As compiled for each target with each release; from 3.5 on what the hardware lacks is emulated."""
    full = {"fp8e4nv": "float8e4nv", "fp8e4b8": "float8e4b8", "fp8e4b15": "float8e4b15"}[element]
    text = f"""
@triton.jit
def kernel(x, y):
    i = tl.arange(0, 64)
    tl.store(y + i, tl.load(x + i).to(tl.{full}).to(tl.float32))
"""
    for arch in ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"):
        kind = refused(text, {"x": "*bf16", "y": "*fp32"}, {}, arch=arch, release=release)
        assert kind == ("" if arch in has_it else "dtype-unsupported")


@pytest.mark.parametrize(("release", "kind"), [((2, 1), ""), ((2, 2), "type")])
def test_a_product_asked_for_in_bf16(release: tuple[int, int], kind: str) -> None:
    """2.1 gives fp32 all the same; later releases refuse it."""
    text = DOT.replace("tl.dot(a, b)", "tl.dot(a, b, out_dtype=tl.bfloat16)")
    sizes = {"M": 16, "N": 16, "K": 16}
    assert refused(text, {"x": "*bf16", "y": "*fp32"}, sizes, release=release) == kind


def test_fp8_by_target() -> None:
    """fp8e4nv needs sm_89."""
    text = "@triton.jit\ndef kernel(x, y):\n    tl.store(y, tl.load(x).to(tl.float32))\n"
    assert refused(text, {"x": "*fp8e4nv", "y": "*fp32"}, {}, arch="sm_80") == "dtype-unsupported"
    assert refused(text, {"x": "*fp8e4nv", "y": "*fp32"}, {}, arch="sm_89") == ""


def test_the_largest_tensor_of_2_1() -> None:
    """131072 elements there, 1048576 later."""
    text = "@triton.jit\ndef kernel(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 1.0)\n"
    assert refused(text, {"x": "*fp32"}, {"B": 262144}, release=(2, 1)) == "tensor-too-large"
    assert refused(text, {"x": "*fp32"}, {"B": 262144}, release=(2, 2)) == ""


def test_an_unknown_call_is_a_gap_and_the_trace_goes_on() -> None:
    """With line, construct and reason; what depends on it is left out."""
    text = """
    import somewhere

    @triton.jit
    def kernel(x, y):
        a = somewhere.magic(x)
        tl.store(y, 1.0)
        tl.store(y + 1, a)
    """
    found = traced(text, {"x": "*fp32", "y": "*fp32"})
    assert not found.complete and not found.errors
    assert found.gaps[0].line == 8 and "somewhere.magic" in found.gaps[0].construct
    assert names(found).count("tt.store") == 1


def test_a_missing_constant_is_a_gap() -> None:
    """Nothing is guessed for a constexpr parameter that nobody gives."""
    text = "@triton.jit\ndef kernel(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 1.0)\n"
    found = traced(text, {"x": "*fp32"})
    assert "B" in found.gaps[0].reason and not found.errors


def test_type_errors_after_a_gap_are_not_claimed() -> None:
    """Where something was unknown before, a mismatch may be the tracer's own doing."""
    text = """
    @triton.jit
    def kernel(x, B: tl.constexpr, C: tl.constexpr):
        if C:
            a = tl.arange(0, 16)
        else:
            a = tl.arange(0, 32)
        tl.store(x + a, tl.arange(0, 16))
    """
    found = traced(text, {"x": "*fp32"}, {"B": 16})
    assert found.gaps and not found.errors


@pytest.mark.parametrize(
    "text",
    [
        "@triton.jit\ndef kernel(x):\n    kernel(x)\n",
        "@triton.jit\ndef kernel(x):\n    for i in tl.static_range(10**9):\n        tl.store(x + i, 1.0)\n",
        "@triton.jit\ndef kernel(x):\n    for i in tl.static_range(3000):\n"
        "        for j in tl.static_range(3000):\n            tl.store(x + i, j)\n",
        "@triton.jit\ndef kernel(x):\n    y = 2 ** 10 ** 9\n    tl.store(x, 1.0)\n",
        "@triton.jit\ndef kernel(x):\n    y: tl.constexpr = 'a' * 10 ** 10\n",
    ],
)
def test_what_does_not_end_stops_with_a_reason(text: str) -> None:
    """Recursion, huge unrolls and huge numbers."""
    found = traced(text, {"x": "*fp32"}, step_budget=20_000)
    assert found.gaps and found.gaps[0].reason


PIECES = st.sampled_from(
    [
        "x", "n", "B", "None", "0", "1.5", "'s'", "tl.float16", "tl.arange(0, B)", "tl.load(x)", "x + n", "n // 0",
        "tl.zeros((B, B), tl.float32)", "(1, n)", "[x, 2]", "x[0]", "n[:, None]", "not n", "-x", "n if n else x",
        "tl.sum(n)", "tl.dot(x, x)", "lambda: 1", "x.dtype.element_ty", "n.to(x)", "tl.nothing(1)", "min(n, B)",
        "tl.load(x + tl.arange(0, B), mask=n)", "f'{n}'", "{1: n}", "(yield)", "tl.where(n, x, n)", "n @ x", "B ** B",
        "tl.reshape(n, (B,))", "tl.cat(n, n)", "tl.atomic_add(x, n)", "tl.reduce(n, 0, x)", "x < n < B", "*n",
    ]
)  # fmt: skip


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "n"]), PIECES), min_size=1, max_size=6), st.integers(0, 3)
)
def test_nonsense_never_raises(parts: list[tuple[str, str]], shape: int) -> None:
    """Whatever stands in a kernel, there is a trace."""
    lines = [f"{name} = {piece}" for name, piece in parts]
    heads = ["", "for k in range(n):", "while n:", "if n:"]
    body = "\n".join(("        " if shape else "    ") + line for line in lines)
    text = f"@triton.jit\ndef kernel(x, n, B: tl.constexpr):\n    {heads[shape] or 'pass'}\n{body}\n"
    try:
        compile(text, "kernel", "exec")
    except SyntaxError:
        return
    found = traced(text, {"x": "*fp32", "n": "i32"}, {"B": 16}, step_budget=5_000)
    assert found.function.name == "kernel"
