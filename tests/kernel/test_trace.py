"""What a trace holds: operations, types, loops, branches, calls."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tracing import names, only, traced, walk

from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import Type
from tritonlint.kernel.trace import ArgumentSpec, trace
from tritonlint.source import parse_file, plans, read
from tritonlint.source.sites import Platform
from tritonlint.source.values import DType

MATMUL = """
@triton.jit
def kernel(a, b, c, K, s, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr, NS: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, BK)
    p = a + i[:, None] * s + k[None, :]
    q = b + k[:, None] * s + j[None, :]
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in tl.range(0, K, BK, num_stages=NS):
        acc += tl.dot(tl.load(p), tl.load(q))
        p += BK
        q += BK * s
    tl.store(c + i[:, None] * s + j[None, :], acc.to(c.dtype.element_ty))
"""
TYPES = {"a": "*fp16", "b": "*fp16", "c": "*bf16", "K": "i32", "s": "i32"}
SIZES = {"M": 64, "N": 32, "BK": 16, "NS": 4}


def test_a_sum_with_a_dot_becomes_its_accumulator() -> None:
    """acc += dot(a, b) is one operation, as Triton's pass "combine" leaves it."""
    found = traced(MATMUL, TYPES, SIZES)
    assert found.complete
    dot = only(found, "tt.dot")
    assert [v.type for v in dot.operands] == [
        Type("fp16", (64, 16)),
        Type("fp16", (16, 32)),
        Type("fp32", (64, 32)),
    ]
    assert dot.attrs["input_precision"] == "tf32"
    assert "arith.addf" not in names(found)


def test_a_dot_takes_in_one_sum_after_another() -> None:
    """zeros + dot, then + a mask: the dot stands where the last summand is known."""
    found = traced(
        """
        @triton.jit
        def kernel(a, b, c, M: tl.constexpr):
            i = tl.arange(0, M)
            x = tl.load(a + i[:, None] * M + i[None, :])
            y = tl.load(b + i[:, None] * M + i[None, :])
            product = tl.zeros((M, M), dtype=tl.float32)
            product += tl.dot(x, y)
            product += tl.where(i[:, None] >= i[None, :], 0, float("-inf"))
            tl.store(c + i[:, None] * M + i[None, :], product)
        """,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32"},
        {"M": 32},
    )
    order = names(found)
    assert order.count("tt.dot") == 1 and "arith.addf" not in order
    assert order.index("tt.dot") > order.index("arith.select")


def test_a_loop_carries_what_its_body_changes() -> None:
    """Pointers and accumulator are carried, in the order in which the names were first bound; options are kept."""
    loop = only(traced(MATMUL, TYPES, SIZES), "scf.for")
    assert [v.type for v in loop.results] == [
        Type("*fp16", (64, 16)),
        Type("*fp16", (16, 32)),
        Type("fp32", (64, 32)),
    ]
    assert loop.attrs["num_stages"] == 4


def test_releases_up_to_3_4_carry_in_the_order_of_assignment() -> None:
    """The accumulator is assigned first in the body."""
    loop = only(traced(MATMUL, TYPES, SIZES, release=(3, 4)), "scf.for")
    assert loop.results[0].type == Type("fp32", (64, 32))


def test_lines_are_those_of_the_source() -> None:
    """Each operation says which line asked for it."""
    assert only(traced(MATMUL, TYPES, SIZES), "tt.dot").line == 13


def test_arguments_keep_what_the_launcher_found() -> None:
    """Constants are no arguments; divisibility is kept."""
    function = traced(MATMUL, TYPES, SIZES).function
    assert [a.name for a in function.arguments] == ["a", "b", "c", "K", "s"]
    assert {a.divisibility for a in function.arguments} == {16}
    assert [v.type.element for v in function.body.args] == ["*fp16", "*fp16", "*bf16", "i32", "i32"]


def test_a_loop_of_one_trip_is_no_loop() -> None:
    """Bounds that are constants are looked at, as the canonicalizer does it."""
    text = """
    @triton.jit
    def kernel(x, N: tl.constexpr):
        for k in range(0, N, 16):
            tl.store(x + k, 1.0)
    """
    assert "scf.for" not in names(traced(text, {"x": "*fp32"}, {"N": 16}))
    assert "scf.for" in names(traced(text, {"x": "*fp32"}, {"N": 32}))
    assert names(traced(text, {"x": "*fp32"}, {"N": 0})) == ["tt.return"]


def test_compile_time_branches_leave_one_side() -> None:
    """An `if` on a constexpr, on None and on a dtype."""
    text = """
    @triton.jit
    def kernel(x, y, FLAG: tl.constexpr, T: tl.constexpr):
        if FLAG and T == tl.float16:
            tl.store(x, 1.0)
        elif y is None:
            tl.store(x + 1, 2.0)
    """
    assert names(traced(text, {"x": "*fp32"}, {"y": None, "FLAG": True, "T": DType("fp16")})) == [
        "tt.store",
        "tt.return",
    ]
    assert "tt.addptr" in names(traced(text, {"x": "*fp32"}, {"y": None, "FLAG": True, "T": DType("fp32")}))
    assert names(traced(text, {"x": "*fp32", "y": "*fp32"}, {"FLAG": False, "T": DType("fp32")})) == [
        "tt.return"
    ]


def test_run_time_branches_carry_what_differs() -> None:
    """Values from outside become a select, others come out of the scf.if."""
    text = """
    @triton.jit
    def kernel(x, n):
        if n > 3:
            a = tl.load(x)
            b = 1
        else:
            a = tl.load(x + 1)
            b = 2
        tl.store(x, a + b)
    """
    found = traced(text, {"x": "*fp32", "n": "i32"})
    branch = only(found, "scf.if")
    assert [v.type for v in branch.results] == [Type("fp32")]
    assert only(found, "arith.select").results[0].type == Type("i32")


def test_an_early_return_ends_the_kernel_in_one_branch() -> None:
    """What follows is done otherwise."""
    text = """
    @triton.jit
    def kernel(x, n):
        if n > 3:
            return
        tl.store(x, 1.0)
    """
    branch = only(traced(text, {"x": "*fp32", "n": "i32"}), "cf.cond_br")
    assert branch.attrs["returns_when"] is True
    assert [op.name for op in branch.blocks[0].ops] == ["tt.return"]


def test_callees_are_inlined_and_noinline_ones_stay() -> None:
    """Also functions given as arguments, with defaults and several results."""
    text = """
    @triton.jit
    def pair(a, b=2):
        return a + b, a * b

    @triton.jit(noinline=True)
    def apart(a):
        return a + 1

    @triton.jit
    def kernel(x, n, f: tl.constexpr):
        p, q = pair(n)
        tl.store(x, p + q + apart(n))
    """
    found = traced(text, {"x": "*i32", "n": "i32"}, {"f": 1})
    assert found.complete
    call = only(found, "tt.call")
    assert call.attrs["callee"].noinline
    assert [op.name for op in walk(call.attrs["callee"].body) if op.name != "arith.constant"] == [
        "arith.addi",
        "tt.return",
    ]


def test_reductions_hold_their_combining_region() -> None:
    """tl.sum, tl.max with indices, and a user's combine function."""
    text = """
    @triton.jit
    def mine(a, b):
        return a * b + 1.0

    @triton.jit
    def kernel(x, B: tl.constexpr):
        v = tl.load(x + tl.arange(0, B))
        tl.store(x, tl.reduce(v, 0, mine))
    """
    reduce = only(traced(text, {"x": "*fp32"}, {"B": 32}), "tt.reduce")
    assert [op.name for op in reduce.blocks[0].ops] == ["arith.mulf", "arith.addf", "tt.reduce.return"]


def test_descriptors_need_hardware() -> None:
    """Below sm_90 they become pointers and masks."""
    text = """
    @triton.jit
    def kernel(x, n, B: tl.constexpr):
        d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [B, B])
        d.store([0, 0], d.load([n, 0]) + 1.0)
    """
    kept = names(traced(text, {"x": "*fp32", "n": "i32"}, {"B": 16}))
    assert "tt.descriptor_load" in kept and "tt.load" not in kept
    lowered = names(traced(text, {"x": "*fp32", "n": "i32"}, {"B": 16}, arch="sm_80"))
    assert "tt.load" in lowered and "tt.make_tensor_descriptor" not in lowered


def test_host_descriptors_are_arguments() -> None:
    """One value with hardware for it; pointer, sizes and strides without."""
    text = """
    @triton.jit
    def kernel(d, x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B)[:, None] + tl.arange(0, B)[None, :], d.load([0, 0]))
    """
    types = {"d": "tensordesc<fp16[16,16]>", "x": "*fp16"}
    assert only(traced(text, types, {"B": 16}), "tt.descriptor_load").operands[0].type == Type(
        "tensordesc<fp16>", (16, 16)
    )
    assert "tt.load" in names(traced(text, types, {"B": 16}, arch="sm_86"))


def test_hints_stand_on_the_operation_that_makes_the_value() -> None:
    """tl.multiple_of on a value, and on an argument."""
    text = """
    @triton.jit
    def kernel(x, n, s, B: tl.constexpr):
        i = tl.max_contiguous(tl.multiple_of(tl.arange(0, B) % n, B), B)
        s = tl.multiple_of(s, 8)
        tl.store(x + i * s, 1.0)
    """
    found = traced(text, {"x": "*fp32", "n": "i32", "s": "i32"}, {"B": 32})
    attrs = only(found, "arith.remsi").attrs
    assert attrs["tt.divisibility"] == (32,) and attrs["tt.contiguity"] == (32,)


@pytest.mark.parametrize(("release", "op"), [((3, 8), "arith.extf"), ((3, 9), "arith.cmpf")])
def test_numbers_in_comparisons_by_release(release: tuple[int, int], op: str) -> None:
    """Up to 3.8 `h > 0.5` compares in fp32; since 3.9 in the type of the tensor."""
    text = """
    @triton.jit
    def kernel(x, y, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(y + i, tl.load(x + i) > 0.5)
    """
    found = names(traced(text, {"x": "*fp16", "y": "*i1"}, {"B": 32}, release=release))
    assert op in found
    assert ("arith.extf" in found) == (release < (3, 9))


def test_device_functions_handed_on_by_a_module_are_the_real_ones(tmp_path: Path) -> None:
    """A package that has placeholders for the absence of Triton."""
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "compat.py").write_text(
        "from .found import HAS\n"
        "if HAS:\n    import triton\n    import triton.language as tl\n"
        "    import triton.language.extra.libdevice as tldevice\n"
        "else:\n    triton = tl = tldevice = object()\n"
    )
    file = package / "kernels.py"
    file.write_text(
        "from .compat import triton, tl, tldevice\n"
        "@triton.jit\ndef kernel(x, N: tl.constexpr):\n"
        "    i = tl.arange(0, N)\n    tl.store(x + i, tldevice.erf(tl.load(x + i)))\n"
    )
    (plan,) = plans(parse_file(read(str(file))), Platform("sm_90", (3, 9)))
    found = trace(
        plan.kernel, {"x": ArgumentSpec("*fp32", True)}, {"N": 64}, target=Target("sm_90"), release=(3, 9)
    )
    assert found.complete
    assert "tt.extern_elementwise" in names(found)


def test_the_type_of_a_scalar_is_one_to_cast_to() -> None:
    """tl.cast(x, y.type): the type of a scalar names its element."""
    found = traced(
        """
        @triton.jit
        def kernel(a, n, M: tl.constexpr):
            rest = n % M
            if rest == 0:
                rest = tl.cast(M, rest.type)
            tl.store(a, rest)
        """,
        {"a": "*i64", "n": "i64"},
        {"M": 8},
    )
    assert found.complete
    assert only(found, "arith.select").results[0].type == Type("i64")


def test_device_functions_may_be_looked_for_at_import_time() -> None:
    """A module that is loaded from its spec, for releases that have libdevice in other places."""
    found = traced(
        """
        import importlib.util

        def find(name):
            for place in ("triton.language.extra.libdevice", "triton.language.math"):
                if spec := importlib.util.find_spec(place):
                    module = importlib.util.module_from_spec(spec)
                    assert spec.loader is not None
                    spec.loader.exec_module(module)
                    return getattr(module, name)
            raise ImportError(name)

        rsqrt = find("rsqrt")

        @triton.jit
        def kernel(x, N: tl.constexpr):
            i = tl.arange(0, N)
            tl.store(x + i, rsqrt(tl.load(x + i)))
        """,
        {"x": "*fp32"},
        {"N": 64},
    )
    assert found.complete
    assert "tt.extern_elementwise" in names(found)


def test_hints_for_a_carried_value_hold_before_the_loop() -> None:
    """The front end visits a body once with the values from before the loop, and leaves its hints there."""
    found = traced(
        """
        @triton.jit
        def kernel(a, o, K, B: tl.constexpr):
            p = tl.load(a).to(tl.pointer_type(tl.float16)) + tl.arange(0, B)
            total = tl.zeros((B,), tl.float32)
            for k in range(K):
                tl.multiple_of(p, 16)
                total += tl.load(p)
                p += B
            tl.store(o + tl.arange(0, B), total)
        """,
        {"a": "*i64", "o": "*fp32", "K": "i32"},
        {"B": 64},
    )
    loop = only(found, "scf.for")
    first = next(op for op in walk(found.function.body) if op.results and op.results[0] is loop.operands[3])
    assert (first.name, first.attrs.get("tt.divisibility")) == ("tt.addptr", (16,))


def test_a_block_is_cast_to_the_element_of_another_blocks_type() -> None:
    """`w.to(x.type)` with blocks of other shapes."""
    found = traced(
        """
        @triton.jit
        def kernel(a, b, c, M: tl.constexpr, N: tl.constexpr):
            x = tl.load(a + tl.arange(0, M))
            w = tl.load(b + tl.arange(0, N)).to(x.type)
            tl.store(c + tl.arange(0, N), w)
        """,
        {"a": "*bf16", "b": "*fp32", "c": "*bf16"},
        {"M": 64, "N": 32},
    )
    assert found.complete
    assert only(found, "arith.truncf").results[0].type == Type("bf16", (32,))


@pytest.mark.parametrize(
    ("release", "argument", "complete"), [((3, 9), "B", True), ((3, 1), "B", False), ((3, 9), "n", False)]
)
def test_functions_of_math_are_called_on_constants(
    release: tuple[int, int], argument: str, complete: bool
) -> None:
    """Not before 3.2, where such a call is refused, and not on a value of the run time."""
    found = traced(
        f"""
        import math
        @triton.jit
        def kernel(o, n, B: tl.constexpr):
            scale = 1.0 / math.sqrt({argument})
            tl.store(o + tl.arange(0, 2 ** math.ceil(math.log2({argument}))), scale)
        """,
        {"o": "*fp32", "n": "i32"},
        {"B": 50},
        release=release,
    )
    assert found.complete is complete
