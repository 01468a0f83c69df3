"""The passes over TTIR: common subexpressions, loop invariants, folding, unrolling."""

import pytest

from tests.compiler.ttir_text import kernel, named, product
from tritonlint.compiler.canonicalize import canonicalize
from tritonlint.compiler.combine import combine
from tritonlint.compiler.cse import cse
from tritonlint.compiler.layout_pipeline import clean_ttir
from tritonlint.compiler.licm import hoist_invariants
from tritonlint.compiler.releases import release
from tritonlint.compiler.target import Target
from tritonlint.compiler.unroll import unroll_loops

POINTERS = "%p: tensor<128x!tt.ptr<f32>>, %q: tensor<128x!tt.ptr<f32>>, %n: i32"


def test_equal_loads_are_one_unless_a_store_is_between() -> None:
    """Two loads of one pointer are merged, but not across a store, which may have changed the memory."""
    load = "    %{} = tt.load %p : tensor<128x!tt.ptr<f32>>\n"
    store = "    tt.store %q, %{} : tensor<128x!tt.ptr<f32>>\n"
    together = kernel(POINTERS, load.format("a") + load.format("b") + store.format("a") + store.format("b"))
    cse(together)
    assert len(named(together, "tt.load")) == 1
    apart = kernel(POINTERS, load.format("a") + store.format("a") + load.format("b") + store.format("b"))
    cse(apart)
    assert len(named(apart, "tt.load")) == 2


def loop(body: str) -> str:
    return (
        "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n"
        "    scf.for %i = %c0 to %n step %c1  : i32 {\n" + body + "    }\n"
    )


def test_a_load_leaves_a_loop_that_writes_nothing() -> None:
    """An invariant load moves in front of the loop, masked by whether the loop runs at all."""
    load_text = "      %a = tt.load %p : tensor<128x!tt.ptr<f32>>\n"
    print_text = '      tt.print " a: " {hex = false, isSigned = array<i32: 1>} : %a : tensor<128xf32>\n'
    graph = kernel(POINTERS, loop(load_text + print_text))
    reading = kernel(POINTERS, loop(load_text))
    hoist_invariants(reading, loads=True)
    (load,) = named(reading, "tt.load")
    assert load.parent is reading.func
    assert load.attrs["has_mask"]
    hoist_invariants(graph, loads=True)
    (load,) = named(graph, "tt.load")
    assert load.parent is not graph.func


def test_a_load_stays_in_a_loop_that_stores() -> None:
    """The store may write what the load reads."""
    body = (
        "      %a = tt.load %p : tensor<128x!tt.ptr<f32>>\n      tt.store %q, %a : tensor<128x!tt.ptr<f32>>\n"
    )
    graph = kernel(POINTERS, loop(body))
    hoist_invariants(graph, loads=True)
    (load,) = named(graph, "tt.load")
    assert load.parent is not graph.func


def test_a_sum_behind_a_dot_becomes_its_accumulator() -> None:
    """dot(a, b, 0) + c is dot(a, b, c)."""
    tile, arguments = (
        "tensor<32x32xf16>",
        "%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %c: tensor<32x32xf32>, %p: tensor<32x32x!tt.ptr<f32>>",
    )
    body = f"""    %zero = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %d = tt.dot %a, %b, %zero, inputPrecision = tf32 : {tile} * {tile} -> tensor<32x32xf32>
    %s = arith.addf %d, %c : tensor<32x32xf32>
    tt.store %p, %s : tensor<32x32x!tt.ptr<f32>>"""
    graph = kernel(arguments, body)
    combine(graph)
    canonicalize(graph)
    (dot,) = named(graph, "tt.dot")
    assert dot.operands[2] is graph.body.args[2]
    assert not named(graph, "arith.addf")


@pytest.mark.parametrize("factor", [2, 3])
def test_an_unrolled_loop_keeps_what_is_left_over(factor: int) -> None:
    """The body is repeated; a second loop that is not pipelined takes the iterations that are left."""
    graph = product(loop_attrs=f"{{tt.loop_unroll_factor = {factor} : i32}}")
    unroll_loops(graph)
    first, rest = named(graph, "scf.for")
    assert sum(op.is_inside(first) for op in named(graph, "tt.dot")) == factor
    assert sum(op.is_inside(rest) for op in named(graph, "tt.dot")) == 1
    assert rest.attrs["num_stages"] == 1
    assert rest.operands[3] is first.results[0]
    assert rest.results[0].uses and not set(first.results[0].uses) - {rest}


@pytest.mark.parametrize(("version", "folds"), [((3, 2), False), ((3, 3), True)])
def test_a_zero_of_another_float_type_folds_from_3_3_on(version: tuple[int, int], folds: bool) -> None:
    """fp_to_fp of a constant was left alone before; a load's `other` then was no plain zero."""
    body = """    %zero = arith.constant dense<0.000000e+00> : tensor<128xf32>
    %z = tt.fp_to_fp %zero, rounding = rtne : tensor<128xf32> -> tensor<128xf8E5M2>
    tt.store %p, %z : tensor<128x!tt.ptr<f8E5M2>>"""
    graph = kernel("%p: tensor<128x!tt.ptr<f8E5M2>>", body)
    clean_ttir(graph, Target("sm_80"), release(*version))
    assert bool(named(graph, "tt.fp_to_fp")) is not folds
