"""Half-typed code costs one statement, not the file."""

from __future__ import annotations

from tritonlint.source import parse_file, read
from tritonlint.source.regions import parse


def names(text: str) -> list[str]:
    return [getattr(one, "name", type(one).__name__) for one in parse(text, "a.py").statements]


def test_the_statements_around_an_error_are_kept() -> None:
    text = (
        "import triton\n\n@triton.jit\ndef a(x):\n    pass\n\ny = foo(\n\n@triton.jit\ndef b(x):\n    pass\n"
    )
    parsed = parse(text, "a.py")
    assert names(text) == ["Import", "a", "b"]
    assert [statement.lineno for statement in parsed.statements] == [1, 4, 10]
    assert len(parsed.problems) == 1
    assert parsed.problems[0].span.line == 7


def test_a_decorator_belongs_to_its_def() -> None:
    parsed = parse("x = (\n@decorate(\n    1,\n)\n@other\ndef f():\n    return 1\n", "a.py")
    assert [getattr(one, "name", "") for one in parsed.statements] == ["f"]
    assert len(parsed.statements[0].decorator_list) == 2  # type: ignore[attr-defined]


def test_else_and_closing_brackets_stay_with_their_statement() -> None:
    text = "def (:\nif x:\n    a = 1\nelse:\n    a = 2\nb = [\n    1,\n]\n"
    assert names(text) == ["If", "Assign"]


def test_a_name_that_is_a_keyword_elsewhere_begins_a_statement() -> None:
    assert names("def f():\n    return 1\ncase = 64\nmatch = 3\nx = (\n") == ["f", "Assign", "Assign"]


def test_whole_files_are_not_cut() -> None:
    parsed = parse('text = """\nx = (\n"""\ny = 1\n', "a.py")
    assert len(parsed.statements) == 2 and parsed.problems == ()


def test_deep_nesting_is_a_problem_and_no_crash() -> None:
    for text in ("(" * 5000 + ")" * 5000, "-" * 100_000 + "1", "[" * 100_000, "if x:\n" * 90):
        parsed = parse("import triton\n" + text, "a.py")
        assert len(parsed.problems) <= 1


def test_the_place_of_an_error_is_a_line_and_a_column() -> None:
    module = parse_file(read("a.py", "import triton\nx = 1 +\n"))
    (problem,) = module.problems
    assert (problem.kind, problem.span.line) == ("syntax", 2)
    assert problem.span.column >= 7
