"""Outputs for other programs, and the text for people."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from tests.schemas import SARIF, validate
from tritonlint.finding import Edit, Finding, Fix, Related
from tritonlint.lint import FileProblem
from tritonlint.lint_many import Report
from tritonlint.output.github import render as github
from tritonlint.output.gitlab import render as gitlab
from tritonlint.output.json_report import report_object
from tritonlint.output.junit import render as junit
from tritonlint.output.render import render
from tritonlint.output.sarif import sarif_object
from tritonlint.output.style import Style
from tritonlint.output.text import excerpt_lines
from tritonlint.source.comments import Suppression
from tritonlint.span import Span
from tritonlint.suppressions import Suppressed

SOURCE = 'x = 1\n    s = "\U0001f642é"; bad(3)\nlast\n'
FINDING = Finding(
    code="TL101",
    name="shared-memory-exceeded",
    severity="error",
    certainty="likely",
    message="smem 147,456 B exceeds 99 KB on rtx3070: 100% of it",
    path="kernels/a b.py",
    span=Span(2, 15, 2, 21),
    kernel="gemm",
    gpus=("rtx3070",),
    triton="3.9",
    config={"BLOCK_M": 128},
    assumptions=("x_ptr is *fp16 (default)",),
    related=(Related("kernels/a b.py", Span(1, 1, 1, 2), "the load"),),
    help="num_stages=3 fits",
    fixes=(Fix("num_stages=3", True, (Edit(Span(2, 19, 2, 20), "4"),)),),
)


@pytest.fixture
def report() -> Report:
    warning = replace(FINDING, severity="warning", code="TL502", name="register-spill", fixes=(), help=None)
    hidden = Suppressed(
        replace(FINDING, code="TL103"), Suppression("ignore", (), (), "known", Span(1, 1, 1, 2), 1)
    )
    return Report(
        findings=(FINDING, warning, replace(FINDING, severity="info", code="TL501")),
        problems=(FileProblem("x.py", "cannot be read: why, not"),),
        suppressed=(hidden,),
        files=2,
        relevant=1,
        gpus=("rtx3070",),
        triton=("3.9",),
        targets=("rtx3070 (--gpu), Triton 3.9 (--triton)",),
        sources={"kernels/a b.py": SOURCE},
    )


class TestSarif:
    def test_it_is_valid(self, report: Report) -> None:
        """By the schema of the standard, in every shape that a report can take."""
        validate(sarif_object(report), SARIF)
        validate(sarif_object(replace(report, known=(replace(FINDING, code="TL102"),))), SARIF)
        validate(sarif_object(Report()), SARIF)
        outside = replace(FINDING, path="/elsewhere/k.py", estimate=None, config=None, kernel=None)
        validate(sarif_object(replace(report, findings=(outside,))), SARIF)

    def test_the_schema_refuses_what_is_wrong(self, report: Report) -> None:
        log = sarif_object(report)
        log["runs"][0]["results"][0]["level"] = "info"
        with pytest.raises(jsonschema.ValidationError):
            validate(log, SARIF)

    def test_places_are_relative_and_count_utf16(self, report: Report) -> None:
        (run,) = sarif_object(report)["runs"]
        place = run["results"][0]["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "kernels/a%20b.py", "uriBaseId": "%SRCROOT%"}
        # The emoji before it is one code point and two UTF-16 units.
        assert place["region"] == {"startLine": 2, "startColumn": 16, "endLine": 2, "endColumn": 22}
        assert run["columnKind"] == "utf16CodeUnits"

    def test_what_is_suppressed_says_why(self, report: Report) -> None:
        (run,) = sarif_object(report)["runs"]
        assert run["results"][-1]["suppressions"] == [{"kind": "inSource", "justification": "known"}]
        assert all("suppressions" not in result for result in run["results"][:-1])

    def test_a_baseline_gives_states(self, report: Report) -> None:
        (run,) = sarif_object(replace(report, known=(replace(FINDING, code="TL102"),)))["runs"]
        states = [result.get("baselineState") for result in run["results"]]
        assert states == ["new", "new", "new", "unchanged", None]

    def test_fingerprints_do_not_hang_on_lines(self, report: Report) -> None:
        def names(one: Report) -> list[Any]:
            return [result["partialFingerprints"] for result in sarif_object(one)["runs"][0]["results"]]

        moved = replace(report, findings=tuple(replace(f, span=Span(3, 1, 3, 2)) for f in report.findings))
        assert names(moved) == names(report)
        assert len({tuple(name.values()) for name in names(report)}) == 4

    def test_rules_bring_their_help(self, report: Report) -> None:
        (run,) = sarif_object(report)["runs"]
        rule = run["tool"]["driver"]["rules"][run["results"][0]["ruleIndex"]]
        assert rule["id"] == "TL101" and rule["help"]["markdown"].startswith("# TL101 ")


def test_github_annotations_are_escaped(report: Report) -> None:
    first, second, third, problem = github(report).splitlines()
    assert first == (
        "::error file=kernels/a b.py,line=2,endLine=2,title=TL101 shared-memory-exceeded,col=15,endColumn=21"
        "::smem 147,456 B exceeds 99 KB on rtx3070: 100%25 of it%0Anum_stages=3 fits"
    )
    assert second.startswith("::warning ") and third.startswith("::notice ")
    assert problem == "::error file=x.py::cannot be read: why, not"


def test_gitlab_entries_have_what_gitlab_asks_for(report: Report) -> None:
    entries = json.loads(gitlab(report))
    assert [entry["severity"] for entry in entries] == ["critical", "minor", "info"]
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["location"] == {"path": "kernels/a b.py", "lines": {"begin": 2, "end": 2}}
    assert len({entry["fingerprint"] for entry in entries}) == 3


def test_junit_counts_and_survives_control_characters(report: Report) -> None:
    odd = replace(report, findings=(replace(FINDING, message="a\x00b <&>"), *report.findings[1:]))
    root = ElementTree.fromstring(junit(odd).split("\n", 1)[1])
    assert root.get("tests") == "4" and root.get("failures") == "2" and root.get("errors") == "1"
    failure = root.find(".//failure")
    assert failure is not None and failure.get("message") == "a?b <&>"
    empty = ElementTree.fromstring(junit(Report()).split("\n", 1)[1])
    assert len(empty.findall(".//testcase")) == 1 and empty.get("failures") == "0"


def test_json_keeps_every_field(report: Report) -> None:
    first = report_object(report)["findings"][0]
    assert first["range"] == {"start": {"line": 2, "column": 15}, "end": {"line": 2, "column": 21}}
    assert first["fixes"] == [
        {
            "title": "num_stages=3",
            "safe": True,
            "edits": [
                {"range": {"start": {"line": 2, "column": 19}, "end": {"line": 2, "column": 20}}, "text": "4"}
            ],
        }
    ]
    assert first["estimate"] is None and first["config"] == {"BLOCK_M": 128}


def test_full_text(report: Report) -> None:
    text = render(replace(report, findings=(FINDING,)), "full", Style())
    assert text.splitlines()[:9] == [
        "error[TL101]: smem 147,456 B exceeds 99 KB on rtx3070: 100% of it (shared-memory-exceeded)",
        " --> kernels/a b.py:2:15",
        "  |",
        '2 | s = "\U0001f642é"; bad(3)',
        "  |            ^^^^^^",
        "  = see: kernels/a b.py:1:1: the load",
        "  = known: kernel gemm, on rtx3070, Triton 3.9, likely, if x_ptr is *fp16 (default)",
        "  = help: num_stages=3 fits",
        "",
    ]
    assert "1 error, 1 suppressed; --fix mends 1. 2 files read, 1 with Triton" in text


def test_concise_text_is_a_line_a_finding(report: Report) -> None:
    first = render(report, "concise", Style()).splitlines()[0]
    assert first == (
        "kernels/a b.py:2:15: error TL101 smem 147,456 B exceeds 99 KB on rtx3070: 100% of it "
        "[shared-memory-exceeded]"
    )


@pytest.mark.parametrize(
    ("source", "span", "text", "carets"),
    [
        ("abc = 1\n", Span(1, 1, 1, 4), "abc = 1", "^^^"),
        ("\tx = 1\n", Span(1, 2, 1, 3), "x = 1", "^"),
        ("a\tb\n", Span(1, 3, 1, 4), "a    b", "     ^"),
        ("f(\n  1,\n)\n", Span(1, 1, 3, 2), "f(", "^^"),
        ("漢字 = bad\n", Span(1, 6, 1, 9), "漢字 = bad", "       ^^^"),
        ("e\u0301 = bad\n", Span(1, 6, 1, 9), "e\u0301 = bad", "    ^^^"),
        ("abc", Span(1, 4, 1, 4), "abc", "   ^"),
    ],
)
def test_carets_stand_below_the_text(source: str, span: Span, text: str, carets: str) -> None:
    assert excerpt_lines(source, span) == (text, carets)


@pytest.mark.parametrize(
    ("span", "text", "carets"),
    [
        (Span(1, 1, 1, 4), "abc = function(argument, ano...", "^^^"),
        (Span(1, 7, 1, 60), "abc = function(argument, ano...", "      " + "^" * 25),
        (Span(1, 36, 1, 43), "...keyword=1)", "   ^^^^^^^"),
    ],
)
def test_an_excerpt_takes_no_more_room_than_there_is(span: Span, text: str, carets: str) -> None:
    line = "abc = function(argument, another,  keyword=1)\n"
    found = excerpt_lines(line, span, 31)
    assert found == (text, carets) and len(carets) <= 31


def test_a_terminal_gets_lines_that_it_can_show_and_nothing_else_does(report: Report) -> None:
    long = replace(
        FINDING,
        message="smem " + "a few more words " * 12,
        help="word " * 40,
        related=(Related("a/path/to/some.py", Span(1, 1, 1, 2), "a note " * 20),),
    )
    report = replace(report, findings=(long,), targets=("one of many targets, " * 9,))
    wide = render(report, "full", Style()).splitlines()
    assert max(map(len, wide)) > 150
    narrow = render(report, "full", Style(width=70)).splitlines()
    assert max(map(len, narrow)) <= 70
    shown = narrow[: narrow.index("")]
    assert max(map(len, shown)) <= 70
    assert " ".join(" ".join(shown).split()) == " ".join(" ".join(wide[: wide.index("")]).split())
    (first,) = (place for place, line in enumerate(shown) if "= help:" in line)
    assert shown[first + 1].index("word") == shown[first].index("word")
    coloured = render(report, "full", Style(True, 70)).splitlines()
    plain = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in coloured]
    assert plain == narrow


def test_no_excerpt_where_there_is_no_source() -> None:
    assert excerpt_lines("", Span(1, 1, 1, 2)) is None
    assert excerpt_lines("a\n", Span(9, 1, 9, 2)) is None
