"""Edits change the one thing that was asked for and leave layout and comments alone."""

from __future__ import annotations

import ast

import pytest

from tritonlint import fixes
from tritonlint.finding import Edit
from tritonlint.span import Span


def span_of(source: str, text: str, nth: int = 0) -> Span:
    at = -1
    for _ in range(nth + 1):
        at = source.index(text, at + 1)
    until = at + len(text)
    return Span(
        source.count("\n", 0, at) + 1,
        at - source.rfind("\n", 0, at),
        source.count("\n", 0, until) + 1,
        until - source.rfind("\n", 0, until),
    )


def after(source: str, edit: Edit | None) -> str:
    assert edit is not None
    changed = fixes.apply(source, (edit,))
    ast.parse(changed)
    return changed


LIST = """\
import triton

CONFIGS = [
    triton.Config({"B": 64}, num_warps=4),  # small
    # the big ones
    triton.Config({"B": 128}, num_warps=8),  # big
    triton.Config({"B": 256}, num_warps=8)  # last
]
"""


class TestSetArgument:
    def test_a_given_value_is_replaced_and_nothing_else(self) -> None:
        call = 'triton.Config({"B": 128}, num_warps=8)'
        edit = fixes.set_argument(LIST, span_of(LIST, call), "num_warps", "16")
        assert edit is not None and edit.text == "16"
        assert after(LIST, edit) == LIST.replace("128}, num_warps=8", "128}, num_warps=16")

    def test_a_missing_argument_is_added_at_the_end(self) -> None:
        call = 'triton.Config({"B": 128}, num_warps=8)'
        edit = fixes.set_argument(LIST, span_of(LIST, call), "num_stages", "3")
        assert after(LIST, edit) == LIST.replace("128}, num_warps=8", "128}, num_warps=8, num_stages=3")

    @pytest.mark.parametrize(
        ("before", "expected"),
        [
            ("f(\n    a,\n    b=1,  # one\n)\n", "f(\n    a,\n    b=1,  # one\n    c=2,\n)\n"),
            ("f(\n    a,\n    b=1\n)\n", "f(\n    a,\n    b=1,\n    c=2\n)\n"),
            ("f(a, b=1)\n", "f(a, b=1, c=2)\n"),
            ("f()\n", "f(c=2)\n"),
            ("f(\n    a,\n)\n", "f(\n    a,\n    c=2,\n)\n"),
            ("f(a, **more)\n", "f(a, **more, c=2)\n"),
        ],
    )
    def test_layout_is_kept(self, before: str, expected: str) -> None:
        edit = fixes.set_argument(before, span_of(before, before.rstrip("\n")), "c", "2")
        assert after(before, edit) == expected

    def test_a_dict_literal_takes_the_new_value(self) -> None:
        source = 'K = {"B": 64, "num_stages": 4}\n'
        edit = fixes.set_argument(source, span_of(source, source[4:-1]), "num_stages", "3")
        assert after(source, edit) == 'K = {"B": 64, "num_stages": 3}\n'

    def test_the_launch_is_told_from_what_it_calls(self) -> None:
        source = "def run(x):\n    k[(1,)](x, B=64)\n"
        edit = fixes.set_argument(source, span_of(source, "k[(1,)](x, B=64)"), "B", "32")
        assert after(source, edit) == "def run(x):\n    k[(1,)](x, B=32)\n"

    def test_windows_line_ends_stay(self) -> None:
        source = "f(\r\n    a,\r\n    b=1,\r\n)\r\n"
        edit = fixes.set_argument(source, Span(1, 1, 4, 2), "c", "2")
        assert after(source, edit) == "f(\r\n    a,\r\n    b=1,\r\n    c=2,\r\n)\r\n"

    def test_nothing_is_offered_where_there_is_no_call(self) -> None:
        assert fixes.set_argument(LIST, Span(1, 1, 1, 7), "c", "2") is None
        assert fixes.set_argument("def (", Span(1, 1, 1, 2), "c", "2") is None


class TestRemoveElement:
    def test_one_from_the_middle_goes_with_its_comment(self) -> None:
        edit = fixes.remove_element(LIST, span_of(LIST, 'triton.Config({"B": 128}, num_warps=8)'))
        gone = '    triton.Config({"B": 128}, num_warps=8),  # big\n'
        assert after(LIST, edit) == LIST.replace(gone, "")

    def test_the_first_one(self) -> None:
        edit = fixes.remove_element(LIST, span_of(LIST, 'triton.Config({"B": 64}, num_warps=4)'))
        gone = '    triton.Config({"B": 64}, num_warps=4),  # small\n'
        assert after(LIST, edit) == LIST.replace(gone, "")

    def test_the_last_one_leaves_the_comment_of_the_line_before(self) -> None:
        edit = fixes.remove_element(LIST, span_of(LIST, 'triton.Config({"B": 256}, num_warps=8)'))
        changed = after(LIST, edit)
        assert "256" not in changed and "# last" not in changed
        assert "# big" in changed and "# small" in changed

    @pytest.mark.parametrize(
        ("gone", "expected"),
        [("'a'", "K = ['b', 'c']\n"), ("'b'", "K = ['a', 'c']\n"), ("'c'", "K = ['a', 'b']\n")],
    )
    def test_on_one_line(self, gone: str, expected: str) -> None:
        source = "K = ['a', 'b', 'c']\n"
        assert after(source, fixes.remove_element(source, span_of(source, gone))) == expected

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("['a', 'b',  ]", "['a']"),
            ("['a', 'b',]", "['a']"),
            ("[\n    'a',\n    'b',\n]", "[\n    'a',\n]"),
            ("[\n    'a',  # one\n    'b',  # two\n]", "[\n    'a',  # one\n]"),
            ("['a',  # one\n 'b', ]", "['a',  # one\n ]"),
        ],
    )
    def test_the_last_one_with_a_comma_behind_it(self, source: str, expected: str) -> None:
        assert after(source, fixes.remove_element(source, span_of(source, "'b'"))) == expected

    def test_a_list_of_one_becomes_empty(self) -> None:
        source = "K = ['a']\n"
        assert after(source, fixes.remove_element(source, span_of(source, "'a'"))) == "K = []\n"


class TestStrings:
    def test_quotes_stay(self) -> None:
        source = "K = ['n', \"m\"]\n"
        assert (
            after(source, fixes.replace_string(source, span_of(source, "'n'"), "N")) == "K = ['N', \"m\"]\n"
        )
        assert (
            after(source, fixes.replace_string(source, span_of(source, '"m"'), "M")) == "K = ['n', \"M\"]\n"
        )

    def test_a_name_is_no_string(self) -> None:
        assert fixes.replace_string("K = [n]\n", Span(1, 6, 1, 7), "N") is None


def test_overlapping_edits_are_not_both_made() -> None:
    edits = (Edit(Span(1, 1, 1, 4), "x"), Edit(Span(1, 2, 1, 3), "y"), Edit(Span(1, 5, 1, 6), "z"))
    assert fixes.apply("abc def", edits) == "x zef"
