"""Bytes to text, places in code points, and files that cannot be read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tritonlint.source import parse_file, read
from tritonlint.source.text import MAX_BYTES, Lines, split_lines
from tritonlint.span import Span


def test_a_byte_order_mark_is_no_text() -> None:
    file = read("a.py", b"\xef\xbb\xbfimport triton\n")
    assert file.text == "import triton\n"
    assert not file.problems
    assert len(parse_file(file).statements) == 1


def test_an_encoding_comment_is_followed() -> None:
    file = read("a.py", "# coding: latin-1\nname = 'caf\xe9'  # triton\n".encode("latin-1"))
    assert "caf\xe9" in file.text
    assert not file.problems


@pytest.mark.parametrize(
    ("data", "words", "line"),
    [
        (b"import triton\nx = '\xff'\n", "0xff cannot be decoded", 2),
        (b"import triton\n\nx = 1\0\n", "null bytes", 3),
        (b"# coding: klingon\nimport triton\n", "unknown encoding", 1),
    ],
)
def test_what_python_refuses_is_a_problem_and_the_rest_is_read(data: bytes, words: str, line: int) -> None:
    file = read("a.py", data)
    assert [problem.kind for problem in file.problems] == ["syntax"]
    assert words in file.problems[0].message
    assert file.problems[0].span.line == line
    assert "import triton" in file.text


def test_an_empty_file_is_nothing() -> None:
    module = parse_file(read("a.py", b""))
    assert module.statements == () and module.problems == ()


def test_a_file_that_never_says_triton_is_not_parsed() -> None:
    assert parse_file(read("a.py", "def (:\n")).problems == ()


def test_a_huge_file_is_named_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.py"
    with path.open("wb") as out:
        out.truncate(MAX_BYTES + 1)
    file = read(path)
    assert file.text == ""
    assert file.problems[0].kind == "unreadable"


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    assert read(tmp_path / "none.py").problems[0].kind == "unreadable"
    assert read(tmp_path).problems[0].kind == "unreadable"


def test_columns_count_code_points() -> None:
    text = "s = '\u00e4\U0001f600'; f(1)"
    lines = Lines(split_lines(text))
    call = ast.parse(text).body[1]
    assert lines.span(call) == Span(1, 11, 1, 15)
    assert lines.text_of(lines.span(call)) == "f(1)"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_kind(end: str) -> None:
    module = parse_file(read("a.py", f"import triton{end}{end}x = 1{end}".encode()))
    assert [statement.lineno for statement in module.statements] == [1, 3]
    assert module.lines.line_span(3) == Span(3, 1, 3, 6)
