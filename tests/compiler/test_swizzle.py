"""Instructions and spaces of the swizzled scheme."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tritonlint.compiler.linear import Span
from tritonlint.compiler.releases import release
from tritonlint.compiler.swizzle import (
    MATRIX,
    MATRIX_TRANSPOSED,
    PLAIN,
    amd_banks,
    intersection,
    nvidia_tiles,
)
from tritonlint.compiler.target import Target


def test_matrix_instructions_by_capability_and_width() -> None:
    assert nvidia_tiles(70, 16, False) == ([PLAIN], [PLAIN])
    assert nvidia_tiles(80, 16, False) == ([PLAIN], [PLAIN, MATRIX, MATRIX_TRANSPOSED])
    assert nvidia_tiles(90, 32, False) == ([PLAIN, MATRIX], [PLAIN, MATRIX])
    assert nvidia_tiles(90, 64, False) == ([PLAIN], [PLAIN])
    assert nvidia_tiles(90, 16, True)[1] == [PLAIN]


def test_banks_of_amd() -> None:
    assert amd_banks(Target("gfx950"), release(3, 9)) == 64
    assert amd_banks(Target("gfx950"), release(3, 7)) == 32
    assert amd_banks(Target("gfx942"), release(3, 9)) == 32


@given(st.lists(st.integers(1, 63), max_size=6), st.lists(st.integers(1, 63), max_size=6))
def test_an_intersection_lies_in_both_and_is_whole(first: list[int], second: list[int]) -> None:
    """Its dimension is that of the two less that of their sum."""
    found = intersection(first, second, 6)
    a, b = Span(first), Span(second)
    assert all(a.solve(v) is not None and b.solve(v) is not None for v in found)

    def rank(vectors: list[int]) -> int:
        return len(vectors) - len(Span(vectors).free)

    assert rank(found) == rank(first) + rank(second) - rank(first + second)
