"""What a thread keeps in the places of a kernel, told from its graph."""

from __future__ import annotations

import pytest

from tests.compiler.loop_text import product
from tests.compiler.ttir_text import named
from tests.oracle.mlir import parse_module
from tritonlint.compiler.graph import Graph
from tritonlint.compiler.register_lives import ahead_of, fragments_of, lives_of
from tritonlint.compiler.register_need import need_of

ENCODINGS = """
#tile = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#rows = #ttg.slice<{dim = 1, parent = #tile}>
#columns = #ttg.slice<{dim = 0, parent = #tile}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
"""


def kernel(body: str) -> Graph:
    attributes = '"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32'
    pointers = "tensor<64x64x!tt.ptr<f32>, #tile>"
    return parse_module(
        f"{ENCODINGS}module attributes {{{attributes}}} {{\n"
        f"  tt.func public @kernel(%p: {pointers}, %q: {pointers}, %n: i32) {{\n{body}\n    tt.return\n  }}\n}}\n"
    )


def test_operands_are_read_up_to_one_step_ahead() -> None:
    """Tiles of 64 x 64 in fp16, two by two warps: 32 words of each operand in 4 steps along K. While one is multiplied,
    three quarters of another one are there on average."""
    (dot,) = named(product(), "tt.dot")
    assert (fragments_of(dot), ahead_of(dot)) == (16, 12)


@pytest.mark.parametrize("written_between", [True, False])
def test_an_operand_that_is_read_before_the_other_one_is_written_is_there_as_a_whole(
    written_between: bool,
) -> None:
    """As with weights that are unpacked in registers: 16 x 128 of fp16 were 32 of 146 registers on sm_80."""
    memory = "!ttg.memdesc<64x64xf32, #shared, #smem>"
    operands = [
        f"tensor<64x64xf32, #ttg.dot_op<{{opIdx = {at}, parent = #mma, kWidth = 1}}>>" for at in (0, 1)
    ]
    write = f"%w = ttg.local_alloc %y : (tensor<64x64xf32, #tile>) -> {memory}"
    read = f"%a = ttg.local_load %v : {memory} -> {operands[0]}"
    graph = kernel(f"""    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f32>, #tile>
    %y = tt.load %q : tensor<64x64x!tt.ptr<f32>, #tile>
    %v = ttg.local_alloc %x : (tensor<64x64xf32, #tile>) -> {memory}
    {read if written_between else write}
    {write if written_between else read}
    %b = ttg.local_load %w : {memory} -> {operands[1]}
    %d = tt.dot %a, %b, %zero : {operands[0]} * {operands[1]} -> tensor<64x64xf32, #mma>""")
    (dot,) = named(graph, "tt.dot")
    lives = lives_of(graph, None)
    assert lives.streamed == set(dot.operands[:2])
    assert lives.waiting == ({dot.operands[0]} if written_between else set())


@pytest.mark.parametrize(
    ("axis", "shape", "encoding", "fixed"), [(1, "64x1", "rows", 4), (0, "1x64", "columns", 1)]
)
def test_a_mask_in_a_loop_keeps_an_index_for_each_access(
    axis: int, shape: str, encoding: str, fixed: int
) -> None:
    """4 rows of a thread are 4 indices; 8 columns in one piece are one access, and one index."""
    graph = kernel(f"""    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #{encoding}>
    %e = tt.expand_dims %r {{axis = {axis} : i32}} : tensor<64xi32, #{encoding}> -> tensor<{shape}xi32, #tile>
    scf.for %i = %c0 to %n step %c1 : i32 {{
      %s = tt.splat %i : i32 -> tensor<{shape}xi32, #tile>
      %m = arith.cmpi slt, %e, %s : tensor<{shape}xi32, #tile>
      %b = tt.broadcast %m : tensor<{shape}xi1, #tile> -> tensor<64x64xi1, #tile>
      %x = tt.load %p, %b : tensor<64x64x!tt.ptr<f32>, #tile>
      tt.store %q, %x : tensor<64x64x!tt.ptr<f32>, #tile>
    }}""")
    assert max(point.fixed for point in need_of(graph).points) == fixed


@pytest.mark.parametrize(("other", "kept"), [("%large", 0), ("%x", 32)])
def test_a_choice_between_constants_is_made_where_it_is_needed(other: str, kept: int) -> None:
    """The mask is enough; a choice of what was loaded is 64 x 64 words for 128 threads."""
    tile, elsewhere = "tensor<64x64xf32, #tile>", "tensor<64x64xf32, #other>"
    graph = kernel(f"""    %zero = arith.constant dense<0.000000e+00> : {tile}
    %large = arith.constant dense<1.000000e+09> : {tile}
    %x = tt.load %p : tensor<64x64x!tt.ptr<f32>, #tile>
    %m = arith.cmpf olt, %x, %zero : {tile}
    %z = arith.select %m, %zero, {other} : tensor<64x64xi1, #tile>, {tile}
    %y = ttg.convert_layout %x : {tile} -> {elsewhere}
    %t = arith.addf %y, %y : {elsewhere}
    %v = ttg.convert_layout %t : {elsewhere} -> {tile}
    %w = arith.addf %v, %z : {tile}
    tt.store %q, %w : tensor<64x64x!tt.ptr<f32>, #tile>""")
    assert max(point.kept for point in need_of(graph).points) == kept
