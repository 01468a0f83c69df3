"""Offsets of shared memory: lifetimes, alignment, order."""

from hypothesis import given
from hypothesis import strategies as st

from tritonlint.compiler.allocate import Buffer, allocate, live_peak

SPANS = st.tuples(
    st.integers(1, 4096), st.sampled_from([8, 16, 128, 1024]), st.integers(0, 30), st.integers(1, 12)
)


def buffers_of(spans: list[tuple[int, int, int, int]]) -> list[Buffer]:
    return [Buffer(size, alignment, start, start + length) for size, alignment, start, length in spans]


def test_nothing_to_place() -> None:
    """A kernel without buffers needs no bytes; a buffer of no bytes is none."""
    assert allocate([]) == 0
    assert allocate([Buffer(0, 16, 0, 5)]) == 0


def test_buffers_of_different_times_share_memory() -> None:
    """Two buffers that are never live together need the larger one's bytes."""
    assert allocate([Buffer(4096, 16, 0, 5), Buffer(1024, 16, 5, 9)]) == 4096


def test_buffers_of_one_time_stand_side_by_side() -> None:
    """Two buffers that are live together need the sum."""
    assert allocate([Buffer(4096, 16, 0, 6), Buffer(1024, 16, 5, 9)]) == 5120


def test_the_total_is_not_rounded_up() -> None:
    """Eight bytes of barriers behind a tile add eight bytes."""
    assert allocate([Buffer(32768, 1024, 0, 9), Buffer(8, 16, 0, 9)]) == 32776


def test_the_largest_is_placed_first() -> None:
    """By falling size a small buffer stands behind a large one; in program order alignment leaves a hole."""
    small, large = Buffer(8, 16, 0, 9), Buffer(2048, 1024, 0, 9)
    assert allocate([small, large], largest_first=True) == 2056
    small, large = Buffer(8, 16, 0, 9), Buffer(2048, 1024, 0, 9)
    assert allocate([small, large], largest_first=False) == 1024 + 2048


@given(st.lists(SPANS, max_size=12), st.booleans())
def test_no_two_live_buffers_overlap(spans: list[tuple[int, int, int, int]], largest_first: bool) -> None:
    """Whatever the lifetimes: live buffers stand apart, offsets are aligned, the total covers all."""
    buffers = buffers_of(spans)
    total = allocate(buffers, largest_first=largest_first)
    for position, one in enumerate(buffers):
        assert one.offset % one.alignment == 0
        assert one.offset + one.size <= total
        for other in buffers[position + 1 :]:
            assert not (one.live_with(other) and one.overlaps(other))


@given(st.lists(SPANS, max_size=12))
def test_no_placement_is_below_the_peak(spans: list[tuple[int, int, int, int]]) -> None:
    """The peak of what is live bounds the total from below."""
    buffers = buffers_of(spans)
    assert live_peak(buffers) <= allocate(buffers)
