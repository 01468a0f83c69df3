"""Linear layouts: solving, copies, reshaping."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tritonlint.compiler import linear as ll

ROWS = ll.LinearLayout((4, 8), (4, 8), (16, 1), (2,))


def test_positions_have_the_first_dimension_lowest() -> None:
    assert ll.pack((3, 5), (4, 8)) == 3 | 5 << 2
    assert ll.unpack(3 | 5 << 2, (4, 8)) == (3, 5)


@given(st.lists(st.integers(1, 255), max_size=10), st.integers(0, 255))
def test_a_span_answers_with_inputs_that_make_the_vector(vectors: list[int], wanted: int) -> None:
    """What `solve` names adds up to the vector, and uses no dependent input."""
    span = ll.Span(vectors)
    made_of = span.solve(wanted)
    if made_of is not None:
        total = 0
        for index, vector in enumerate(vectors):
            if made_of >> index & 1:
                total ^= vector
                assert index not in span.free
        assert total == wanted


def test_nothing_moves_between_equal_layouts() -> None:
    assert ll.farthest_move(ROWS, ROWS) is None


def test_swapped_registers_are_only_reordered() -> None:
    swapped = ll.LinearLayout((4, 8), (8, 4), ROWS.lane, ROWS.warp)
    assert ll.farthest_move(ROWS, swapped) == ll.REGISTER


def test_a_lane_for_a_register_moves_inside_the_warp() -> None:
    other = ll.LinearLayout((4, 8), (16, 8), (4, 1), ROWS.warp)
    assert ll.farthest_move(ROWS, other) == ll.LANE


def test_a_warp_for_a_lane_moves_between_warps() -> None:
    other = ll.LinearLayout((4, 8), (4, 8), (16, 2), (1,))
    assert ll.farthest_move(ROWS, other) == ll.WARP


def test_copies_in_the_same_place_stay() -> None:
    """Where both sides hold copies in the same warps, nothing crosses warps."""
    a = ll.LinearLayout((8,), (1,), (2, 4), (0, 0))
    b = ll.LinearLayout((8,), (2,), (1, 4), (0, 0))
    assert ll.farthest_move(a, b) == ll.LANE


def test_free_masks_name_the_copies() -> None:
    layout = ll.LinearLayout((8,), (1, 0), (2, 4), (4,))
    assert ll.free_masks(layout) == (2, 0, 1, 0)


def test_reshape_goes_by_rows() -> None:
    """Element (1, 0) of 4 x 8 is element 8 of 32."""
    flat = ll.reshape(ll.LinearLayout((4, 8), (1, 4), (), ()), (32,))
    assert flat.register == (8, 1)
    assert ll.reshape(flat, (4, 8)).register == (1, 4)


def test_transpose_renames_dimensions() -> None:
    turned = ll.transpose(ROWS, (1, 0))
    assert turned.shape == (8, 4)
    assert ll.transpose(turned, (1, 0)) == ROWS


def test_join_and_split_are_inverse() -> None:
    joined = ll.split_register(ROWS, 1)
    assert joined.shape == (4, 16)
    assert ll.merge_register(joined, 1) == ROWS


def test_split_needs_the_neighbour_in_a_register() -> None:
    assert ll.merge_register(ll.LinearLayout((4,), (2,), (1,), ()), 0) is None
