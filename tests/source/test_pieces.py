"""A text in pieces holds the statements that the whole text holds, and keeps those that an edit leaves alone."""

from __future__ import annotations

import ast
import random

import pytest

from tritonlint.source.pieces import NotInPiecesError, Pieces, pieces_of, syntax_problem
from tritonlint.source.regions import parse
from tritonlint.source.text import split_lines

TEXT = '''\
import triton

# above f
@decorated
def f(a):
    return a
    # at its end

TABLE = """
not = code
"""


class C:
    def g(self):
        return (1 +
2)

x = 1; y = 2
'''
SNIPPETS = (
    '"""', "\n", "#", "(", ")", ":", "x = 1\n", "\n\ndef f(a):\n    return a\n", "@d\n", '"', "'", "\\", "    ",
    "else:\n", "[", "a", ",", '\n"""\nabc\n"""\n', "\t", "if x:\n", "\r\n", "é", "\nclass C:\n  pass\n", 'f"{', "\f",
)  # fmt: skip


def statements(pieces: Pieces) -> list[tuple[str, int, int]]:
    return [
        (ast.dump(one), pieces.real(one.lineno), pieces.real(one.end_lineno or one.lineno))
        for piece in pieces.pieces
        for one in piece.statements
    ]


def is_the_whole(pieces: Pieces, text: str) -> None:
    whole = parse(text, "k.py")
    assert statements(pieces) == [
        (ast.dump(one), one.lineno, one.end_lineno or one.lineno) for one in whole.statements
    ]
    assert "\n".join(piece.text for piece in pieces.pieces) == "\n".join(split_lines(text))
    assert (pieces.error is None) == (not whole.problems)
    if pieces.error is not None:
        try:
            assert (syntax_problem(pieces.error, "k.py"),) == whole.problems
        except NotInPiecesError:
            assert whole.problems[0].span.line == 1
    for one, other in zip(pieces.pieces, pieces.pieces[1:], strict=False):
        assert one.end <= other.line


def test_a_comment_belongs_to_the_statement_below_it() -> None:
    pieces = pieces_of(TEXT)
    assert pieces.pieces[1].text.split("\n")[:2] == ["", "# above f"]
    is_the_whole(pieces, TEXT)


def test_a_string_with_lines_at_the_margin_is_one_piece() -> None:
    assert any(piece.parts > 1 and "not = code" in piece.text for piece in pieces_of(TEXT).pieces)


@pytest.mark.parametrize("insert", ["b", " + (1 +\n 2)", ""])
def test_what_an_edit_leaves_alone_stays_as_it_is(insert: str) -> None:
    before = pieces_of(TEXT)
    text = TEXT.replace("return a", f"return a{insert}")
    after = pieces_of(text, before)
    is_the_whole(after, text)
    changed = [one for one in before.pieces if one not in after.pieces]
    assert all("return a" in one.text for one in changed)


def test_a_line_more_moves_what_is_below_it_in_the_file_only() -> None:
    before = pieces_of(TEXT)
    after = pieces_of("\n\n" + TEXT, before)
    assert after.pinned[1:] == before.pinned[1:]
    assert [line - 2 for line in after.first_lines[1:]] == list(before.first_lines[1:])
    assert all(after.real(after.pin(line)) == line for line in range(1, TEXT.count("\n") + 2))


@pytest.mark.parametrize("seed", range(6))
def test_random_edits_give_what_the_whole_gives(seed: int) -> None:
    chosen = random.Random(seed)
    text, before = TEXT, None
    for _ in range(60):
        at = chosen.randrange(len(text) + 1)
        text = text[:at] + chosen.choice(SNIPPETS) + text[at + chosen.choice([0, 0, 0, 1, 3, 20]) :]
        try:
            before = pieces_of(text, before)
        except NotInPiecesError:
            before = None
            continue
        is_the_whole(before, text)
