"""TTGIR texts of small kernels, as they look right before the pipeliner, for the tests of the memory half."""

from __future__ import annotations

from tests.oracle.mlir import parse_module
from tritonlint.compiler.encodings import Blocked, Distributed
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.layout_properties import contig_per_thread_of, order_of


class Axis:
    """Pointers that run through memory as far as a thread of their layout goes; masks that do not narrow."""

    def contiguity(self, pointer: GValue) -> int:
        order = order_of(pointer.encoding, pointer.shape)
        return contig_per_thread_of(pointer.encoding, pointer.shape)[order[0]]

    def mask_alignment(self, mask: GValue) -> int:
        return 1 << 20

    def coalesced_layout(self, load: GOp) -> Distributed | Blocked:
        return load.result.encoding


MMA_V2 = """
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
"""
"""Encodings of a product of four warps on mma.sync."""


def product(body: str = "", loop_attrs: str = "", epilogue: str = "") -> Graph:
    """C[64, 64] = sum over A[64, 64] B[64, 64] in fp16 on mma.sync: tiles of 8192 bytes.

    `body` is put behind the two loads, `epilogue` behind the loop, whose result is %acc.
    """
    return parse_module(
        MMA_V2
        + """
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%pa: tensor<64x64x!tt.ptr<f16>, #blocked>, %pb: tensor<64x64x!tt.ptr<f16>, #blocked>, %pc: tensor<64x64x!tt.ptr<f32>, #blocked>, %n: i32, %step: tensor<64x64xi32, #blocked>) {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %acc:3 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero, %ap = %pa, %bp = %pb) -> (tensor<64x64xf32, #mma>, tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64x!tt.ptr<f16>, #blocked>) : i32 {
      %a = tt.load %ap : tensor<64x64x!tt.ptr<f16>, #blocked>
      %b = tt.load %bp : tensor<64x64x!tt.ptr<f16>, #blocked>
"""
        + body
        + """
      %ao = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %bo = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %ao, %bo, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %an = tt.addptr %ap, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %bn = tt.addptr %bp, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %d, %an, %bn : tensor<64x64xf32, #mma>, tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64x!tt.ptr<f16>, #blocked>
    } """
        + loop_attrs
        + """
    %out = ttg.convert_layout %acc#0 : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
"""
        + epilogue
        + """
    tt.store %pc, %out : tensor<64x64x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
"""
    )


TILE_BYTES = 64 * 64 * 2


def rings(graph: Graph) -> list[tuple[int, ...]]:
    """The shapes of the rings of buffers, in program order."""
    return [
        op.result.shape
        for op in graph.walk()
        if op.name == "ttg.local_alloc" and op.attrs.get("role") == "buffer"
    ]
