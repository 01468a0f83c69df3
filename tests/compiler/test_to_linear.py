"""Linear layouts of encodings, as the comments and tests of Triton's own LinearLayoutConversions write them
out."""

from __future__ import annotations

from tritonlint.compiler import layout_properties as properties
from tritonlint.compiler.encodings import (
    AmdMfma,
    AmdWmma,
    Blocked,
    CtaLayout,
    DotOperand,
    Linear,
    NvidiaMma,
    Slice,
    cta_layout,
    cta_of,
    shape_per_cta,
)
from tritonlint.compiler.linear import LinearLayout, unpack
from tritonlint.compiler.to_linear import to_linear


def _indices(bases: tuple[int, ...], shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [unpack(basis, shape) for basis in bases]


def test_blocked_fills_registers_lanes_warps() -> None:
    encoding = Blocked((1, 4), (8, 4), (4, 1), (1, 0))
    layout = to_linear(encoding, (64, 32))
    assert _indices(layout.register, (64, 32)) == [(0, 1), (0, 2), (0, 16), (32, 0)]
    assert _indices(layout.lane, (64, 32)) == [(0, 4), (0, 8), (1, 0), (2, 0), (4, 0)]
    assert _indices(layout.warp, (64, 32)) == [(8, 0), (16, 0)]


def test_a_tile_beyond_the_tensor_is_copies() -> None:
    layout = to_linear(Blocked((1,), (32,), (4,), (0,)), (8,))
    assert layout.lane == (1, 2, 4, 0, 0)
    assert layout.warp == (0, 0)


def test_mma_v2_accumulator() -> None:
    layout = to_linear(NvidiaMma(2, (1, 1), (16, 8)), (16, 8))
    assert _indices(layout.register, (16, 8)) == [(0, 1), (8, 0)]
    assert _indices(layout.lane, (16, 8)) == [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]


def test_wgmma_warps_go_down_first() -> None:
    layout = to_linear(NvidiaMma(3, (4, 2), (16, 64, 16)), (64, 128))
    assert _indices(layout.warp, (64, 128)) == [(16, 0), (32, 0), (0, 64)]


def test_operand_a_of_mma_v2_is_copied_along_n() -> None:
    operand = DotOperand(0, NvidiaMma(2, (2, 2), (16, 8)), 2)
    layout = to_linear(operand, (32, 16))
    assert _indices(layout.register, (32, 16)) == [(0, 1), (8, 0), (0, 8)]
    assert _indices(layout.warp, (32, 16)) == [(0, 0), (16, 0)]


def test_operand_without_tensor_core_holds_the_depth() -> None:
    parent = Blocked((1, 4), (8, 4), (4, 1), (1, 0))
    layout = to_linear(DotOperand(0, parent), (32, 16))
    assert _indices(layout.register, (32, 16))[:4] == [(0, 1), (0, 2), (0, 4), (0, 8)]


def test_slice_drops_a_dimension_and_copies_of_registers() -> None:
    parent = Blocked((2, 4), (8, 4), (4, 1), (1, 0))
    layout = to_linear(Slice(1, parent), (128,))
    assert layout.register == (1, 64)
    assert layout.lane == (0, 0, 2, 4, 8)
    assert layout.warp == (16, 32)


def test_mfma_holds_four_rows() -> None:
    layout = to_linear(AmdMfma(3, (1, 1), (32, 32, 8), False), (32, 32))
    assert _indices(layout.register, (32, 32)) == [(1, 0), (2, 0), (8, 0), (16, 0)]
    assert _indices(layout.lane, (32, 32)) == [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (4, 0)]


def test_wmma_of_the_first_generation_skips_rows() -> None:
    layout = to_linear(AmdWmma(1, (1, 1), False), (16, 16))
    assert _indices(layout.register, (16, 16)) == [(2, 0), (4, 0), (8, 0)]
    assert _indices(layout.lane, (16, 16)) == [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0)]


def test_linear_follows_a_larger_shape() -> None:
    encoding = Linear(LinearLayout((8,), (1,), (2, 4), ()))
    assert to_linear(encoding, (32,)).register == (1, 8, 16)
    assert to_linear(encoding, (2,)).lane == (0, 0)


def test_cluster_halves_the_tensor() -> None:
    cta = cta_layout((2, 1), (2, 1), (1, 0))
    assert cta == CtaLayout(2, ((1, 0),))
    encoding = Blocked((1, 1), (1, 32), (4, 1), (1, 0), cta)
    layout = to_linear(encoding, (16, 32))
    assert _indices(layout.block, (16, 32)) == [(8, 0)]
    assert shape_per_cta((16, 32), cta) == (8, 32)
    assert cta_layout((1, 1), (1, 1), (1, 0)) is None


def test_operands_are_not_cut_along_the_depth() -> None:
    cta = cta_layout((2, 2), (2, 2), (1, 0))
    parent = NvidiaMma(2, (2, 2), (16, 8), cta_layout=cta)
    found = cta_of(DotOperand(0, parent, 2))
    assert found is not None and found.split == (2, 1)


def test_properties_of_an_accumulator() -> None:
    encoding = NvidiaMma(2, (2, 2), (16, 8))
    shape = (64, 64)
    assert properties.order_of(encoding, shape) == (1, 0)
    assert properties.threads_per_warp_of(encoding, shape) == (8, 4)
    assert properties.warps_per_cta_of(encoding, shape) == (2, 2)
    assert properties.contig_per_thread_of(encoding, shape) == (1, 2)
    assert properties.elements_per_thread(encoding, shape) == 32
    assert not properties.has_broadcast(encoding, shape)


def test_contiguity_ends_with_its_dimension() -> None:
    """A register that steps to the next column does not lengthen a whole column."""
    encoding = Blocked((8, 2), (16, 4), (1, 2), (0, 1))
    assert properties.contig_per_thread_of(encoding, (8, 32)) == (8, 2)


def test_memory_order_follows_lanes_where_threads_hold_one_element() -> None:
    encoding = Blocked((1, 1), (32, 1), (1, 4), (0, 1))
    assert properties.order_for_memory(encoding, (32, 4)) == (0, 1)
