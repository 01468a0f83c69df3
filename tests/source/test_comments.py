"""`# tritonlint:` comments."""

from __future__ import annotations

import pytest

from tritonlint.source import parse_file, read
from tritonlint.source.comments import Comments, parse_value, read_comments


def comments(text: str) -> Comments:
    return parse_file(read("a.py", "import triton\n" + text)).comments


def test_ignore_on_a_line_with_a_reason() -> None:
    (found,) = comments("x = 1  # tritonlint: ignore[TL101, occupancy-limited] tuned by hand\n").suppressions
    assert found.kind == "ignore" and found.line == 2
    assert found.rules == ("TL101", "occupancy-limited")
    assert found.reason == "tuned by hand"
    assert found.rule_spans[1].column - found.rule_spans[0].column == len("TL101, ")


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("# tritonlint: ignore-next-line[TL101]\nx = 1\n", "ignore-next-line", 3),
        ("# tritonlint: ignore-file[TL101] generated\n", "ignore-file", 0),
        ("#tritonlint:ignore[TL101]\n", "ignore", 2),
        ("x = 1  # noqa  # tritonlint: ignore[TL101]\n", "ignore", 2),
    ],
)
def test_the_line_that_a_suppression_holds_for(text: str, kind: str, line: int) -> None:
    (found,) = comments(text).suppressions
    assert (found.kind, found.line) == (kind, line)


def test_ignore_without_rules_is_every_rule() -> None:
    (found,) = comments("x = 1  # tritonlint: ignore\n").suppressions
    assert found.rules == ()


@pytest.mark.parametrize(
    "text",
    [
        "# tritonlint: ignore[TL101\n",
        "# tritonlint: ignore[]\n",
        "# tritonlint: ignroe[TL101]\n",
        "# tritonlint: assume M\n",
        "# tritonlint: assume\n",
        "# tritonlint:\n",
    ],
)
def test_what_is_not_understood_is_said(text: str) -> None:
    found = comments(text)
    assert [problem.kind for problem in found.problems] == ["comment"]
    assert not found.suppressions and not found.assumptions


def test_text_is_no_comment() -> None:
    assert (
        comments('x = "# tritonlint: ignore[TL101]"\n"""\n# tritonlint: ignore[TL102]\n"""\n') == Comments()
    )


def test_assume_takes_numbers_types_and_names() -> None:
    (found,) = comments(
        "x = 1\n# tritonlint: assume M=4096, K=1_024, x_ptr=*fp16, d=tensordesc<fp16[64, 64]>, gpu=h100, OK=true\n"
    ).assumptions
    assert dict(found.values) == {
        "M": 4096, "K": 1024, "x_ptr": "*fp16", "d": "tensordesc<fp16[64, 64]>", "gpu": "h100", "OK": True,
    }  # fmt: skip
    assert found.scope == "next"


def test_the_scope_of_assume() -> None:
    top = read_comments("# tritonlint: assume M=1\nimport triton\n", "a.py", 2).assumptions
    line = comments("f[1](x)  # tritonlint: assume M=1\n").assumptions
    assert top[0].scope == "file"
    assert line[0].scope == "line"


def test_half_typed_code_keeps_its_comments() -> None:
    found = comments("x = (\n# tritonlint: ignore-file[TL101]\ny = 1  # tritonlint: ignore[TL102]\n")
    assert {one.rules for one in found.suppressions} == {("TL101",), ("TL102",)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x10", 16),
        ("-3", -3),
        ("1e-5", 1e-5),
        ("none", None),
        ("'a b'", "a b"),
        ("[1, 2]", [1, 2]),
        ("fp16", "fp16"),
    ],
)
def test_values(text: str, value: object) -> None:
    assert parse_value(text) == value
