"""The text buffer: lines as the protocol cuts them, edits in three encodings, anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tritonlint_server.buffer import Buffer
from tritonlint_server.positions import Encoding, column_of, split_with_ends, units_of

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
# Line ends of the protocol, what other tools take for line ends, and characters of one to four bytes.
text = st.text(st.sampled_from("ab\t \r\n\f\v\x1c\x85\u2028\u2029éß文🚀\u0301"), max_size=14)
place = st.tuples(st.integers(-1, 6), st.integers(-1, 8))


def plain_edit(old: str, start: tuple[int, int], end: tuple[int, int], new: str, encoding: Encoding) -> str:
    """The edit on the whole text, by offsets."""
    lines = split_with_ends(old)

    def offset(at: tuple[int, int]) -> int:
        line, units = at
        if line < 0:
            return 0
        if line >= len(lines):
            return len(old)
        return sum(map(len, lines[:line])) + column_of(lines[line], units, encoding)

    low, high = sorted((offset(start), offset(end)))
    return old[:low] + new + old[high:]


@given(text, st.lists(st.tuples(place, place, text), max_size=4), st.sampled_from(ENCODINGS))
def test_edits(
    old: str, edits: list[tuple[tuple[int, int], tuple[int, int], str]], encoding: Encoding
) -> None:
    """Every edit gives the text and the lines that it gives on the whole text, also outside of the text."""
    buffer = Buffer(old)
    for start, end, new in edits:
        expected = plain_edit(buffer.text, start, end, new, encoding)
        buffer.edit(start, end, new, encoding)
        assert buffer.text == expected
        assert buffer.lines == split_with_ends(expected)


@given(text)
def test_lines_join_to_the_text(value: str) -> None:
    """Only a line feed, a carriage return and both together end a line; nothing is lost."""
    lines = split_with_ends(value)
    assert "".join(lines) == value
    assert len(lines) == value.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1


@given(text.filter(lambda value: "\r" not in value and "\n" not in value), st.sampled_from(ENCODINGS))
def test_columns_go_there_and_back(line: str, encoding: Encoding) -> None:
    """The units before each code point lead back to it."""
    for column in range(len(line) + 1):
        assert column_of(line, units_of(line, column, encoding), encoding) == column


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 9), ("utf-16", 7), ("utf-32", 6)])
def test_an_emoji_before_the_column(encoding: Encoding, units: int) -> None:
    """An emoji is four bytes, two units or one code point."""
    line = 'x="🚀";f'
    assert units_of(line, 6, encoding) == units
    assert column_of(line, units, encoding) == 6


def test_the_middle_of_a_character_is_its_start() -> None:
    """A place inside a character cannot cut it."""
    assert column_of("🚀x", 1, "utf-16") == 0
    assert [column_of("🚀x", units, "utf-8") for units in (1, 2, 3, 4)] == [0, 0, 0, 1]


def test_lone_surrogates_do_no_harm() -> None:
    """JSON can carry half of a character."""
    assert units_of("\ud83d x", 2, "utf-16") == 2
    assert column_of("\ud83d x", 2, "utf-8") == 0
