"""What remove-layout-conversions removes, repeats and moves."""

import pytest

from tests.compiler.ttir_text import named
from tests.oracle.mlir import parse_module
from tritonlint.compiler.graph import Graph
from tritonlint.compiler.releases import release
from tritonlint.compiler.remove_conversions import remove_conversions

ENCODINGS = """
#one = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#two = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
"""
ALL = [(2, 3), (3, 0), (3, 2), (3, 3), (3, 6), (3, 7), (3, 8), (3, 9)]


def tile(kind: str, encoding: str) -> str:
    return f"tensor<64x64x{kind}, #{encoding}>"


def kernel(arguments: str, body: str) -> Graph:
    attributes = '"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32'
    return parse_module(
        f"{ENCODINGS}module attributes {{{attributes}}} {{\n"
        f"  tt.func public @kernel({arguments}) {{\n{body}\n    tt.return\n  }}\n}}\n"
    )


@pytest.mark.parametrize("version", ALL)
def test_there_and_back_is_nothing(version: tuple[int, int]) -> None:
    """A value that is converted, worked on, and converted back is worked on where it is."""
    pointer = tile("!tt.ptr<f32>", "one")
    body = f"""    %x = tt.load %p : {pointer}
    %y = ttg.convert_layout %x : {tile("f32", "one")} -> {tile("f32", "two")}
    %z = arith.addf %y, %y : {tile("f32", "two")}
    %w = ttg.convert_layout %z : {tile("f32", "two")} -> {tile("f32", "one")}
    tt.store %q, %w : {pointer}"""
    graph = kernel(f"%p: {pointer}, %q: {pointer}", body)
    remove_conversions(graph, release(*version))
    assert not named(graph, "ttg.convert_layout")


@pytest.mark.parametrize("version", ALL)
def test_anchors_keep_their_encodings(version: tuple[int, int]) -> None:
    """Between a load and a store of different encodings exactly one conversion stays."""
    one, two = tile("!tt.ptr<f32>", "one"), tile("!tt.ptr<f32>", "two")
    body = f"""    %x = tt.load %p : {one}
    %y = arith.addf %x, %x : {tile("f32", "one")}
    %z = ttg.convert_layout %y : {tile("f32", "one")} -> {tile("f32", "two")}
    tt.store %q, %z : {two}"""
    graph = kernel(f"%p: {one}, %q: {two}", body)
    remove_conversions(graph, release(*version))
    assert len(named(graph, "ttg.convert_layout")) == 1


@pytest.mark.parametrize("version", ALL)
def test_what_is_made_from_nothing_is_made_again(version: tuple[int, int]) -> None:
    """An index tile in a second encoding is computed anew, which costs less than a trip through memory."""
    two = tile("!tt.ptr<i32>", "two")
    slice_one = "tensor<64xi32, #ttg.slice<{dim = 0, parent = #one}>>"
    body = f"""    %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : {slice_one}
    %e = tt.expand_dims %r {{axis = 0 : i32}} : {slice_one} -> tensor<1x64xi32, #one>
    %b = tt.broadcast %e : tensor<1x64xi32, #one> -> {tile("i32", "one")}
    %z = ttg.convert_layout %b : {tile("i32", "one")} -> {tile("i32", "two")}
    tt.store %q, %z : {two}"""
    graph = kernel(f"%q: {two}", body)
    remove_conversions(graph, release(*version))
    assert not named(graph, "ttg.convert_layout")


def test_a_loop_carries_the_encoding_that_is_used_in_it() -> None:
    """A carried value whose every use is converted is carried converted."""
    one = tile("!tt.ptr<f32>", "one")
    f_one, f_two = tile("f32", "one"), tile("f32", "two")
    body = f"""    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : {f_two}
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> ({f_two})  : i32 {{
      %x = tt.load %p : {one}
      %y = ttg.convert_layout %x : {f_one} -> {f_two}
      %z = arith.addf %acc, %y : {f_two}
      scf.yield %z : {f_two}
    }}
    %out = ttg.convert_layout %s : {f_two} -> {f_one}
    tt.store %q, %out : {one}"""
    graph = kernel(f"%p: {one}, %q: {one}, %n: i32", body)
    remove_conversions(graph, release(3, 9))
    assert not named(graph, "ttg.convert_layout")
    (loop,) = named(graph, "scf.for")
    assert loop.results[0].encoding == named(graph, "tt.load")[0].results[0].encoding
