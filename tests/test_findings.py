"""What becomes of findings: merged over GPUs, suppressed, other severities, fingerprints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tritonlint.finding import Finding, Related
from tritonlint.fingerprint import fingerprints, relative
from tritonlint.merge import merge
from tritonlint.registry import Registry, UnknownRuleError, registry
from tritonlint.settings import Settings
from tritonlint.severities import with_severities
from tritonlint.source.comments import Suppression, read_comments
from tritonlint.span import Span
from tritonlint.suppressions import Applied, apply

SPAN = Span(3, 5, 3, 20)


def finding(code: str = "TL101", **changes: Any) -> Finding:
    base = Finding(
        code, "name", "error", "proven", f"{code} here", "a.py", SPAN, "k", ("t4",), "3.9", {"B": 1}
    )
    return replace(base, **changes)


@pytest.fixture(scope="module")
def known() -> Registry:
    return registry()


class TestMerge:
    def test_the_same_on_two_gpus_is_one_finding(self) -> None:
        (one,) = merge([finding(gpus=("t4",)), finding(gpus=("a100", "t4"))])
        assert one.gpus == ("t4", "a100")
        assert one.message == "TL101 here" and one.related == ()

    def test_other_numbers_become_a_note(self) -> None:
        (one,) = merge([finding(gpus=("t4",)), finding(gpus=("l4",), message="163,840 B exceed on l4")])
        assert one.gpus == ("t4", "l4")
        assert one.message == "TL101 here (also on l4)"
        assert one.related == (Related("a.py", SPAN, "163,840 B exceed on l4"),)

    @pytest.mark.parametrize(
        "changes",
        [
            {"config": {"B": 2}}, {"kernel": "other"}, {"span": Span(4, 1, 4, 2)}, {"path": "b.py"},
            {"severity": "warning"}, {"certainty": "likely"}, {"code": "TL102"},
        ],
    )  # fmt: skip
    def test_what_differs_otherwise_stays_apart(self, changes: dict[str, Any]) -> None:
        assert len(merge([finding(), finding(**changes)])) == 2

    def test_assumptions_and_help_are_kept(self) -> None:
        first = finding(assumptions=("x is *fp16",))
        second = finding(gpus=("l4",), assumptions=("x is *fp16", "n is i32"), help="do this")
        (one,) = merge([first, second])
        assert one.assumptions == ("x is *fp16", "n is i32") and one.help == "on l4: do this"

    def test_notes_and_help_say_on_which_gpus_they_hold(self) -> None:
        every, some, rest = (Related("a.py", SPAN, text) for text in ("every", "some", "rest"))
        first = finding(gpus=("t4", "a100"), related=(every, some), help="fewer")
        second = finding(gpus=("l4",), message="other", related=(every, rest), help="fewer still")
        (one,) = merge([first, second])
        notes = [note.message for note in one.related]
        assert notes == ["every", "some on t4, a100", "rest on l4", "other"]
        assert one.help == "on t4, a100: fewer; on l4: fewer still"
        (same,) = merge([first, replace(second, help="fewer")])
        assert same.help == "fewer"


class TestSuppressions:
    def applied(self, text: str, *found: Finding, known: Registry, reasons: bool = False) -> Applied:
        suppressions = read_comments(text, "a.py", 1).suppressions
        return apply(found, suppressions, known.rules, known, reasons)

    def test_a_comment_holds_on_the_first_and_the_last_line(self, known: Registry) -> None:
        text = "1\n2\nx  # tritonlint: ignore[TL101]\n4\nx  # tritonlint: ignore[TL101]\n"
        assert self.applied(text, finding(), known=known).shown == ()
        assert self.applied(text, finding(span=Span(4, 1, 5, 2)), known=known).shown == ()
        assert len(self.applied(text, finding(span=Span(4, 1, 4, 2)), known=known).shown) == 1

    @pytest.mark.parametrize("rule", ["TL101", "tl101", "TL1", "shared-memory-exceeded", "ALL"])
    def test_codes_families_and_names(self, rule: str, known: Registry) -> None:
        done = self.applied(f"# tritonlint: ignore-file[{rule}]\n", finding(), known=known)
        assert done.shown == () and len(done.hidden) == 1

    def test_unused_and_unknown_are_told_apart(self, known: Registry) -> None:
        text = "1\n2\nx  # tritonlint: ignore[TL101, TL102, TL999]\n"
        (use,) = self.applied(text, finding(), known=known).uses
        assert use.unused == (1,) and use.unknown == (2,) and not use.nothing_ignored

    def test_a_rule_that_did_not_run_is_not_unused(self, known: Registry) -> None:
        suppressions = read_comments("x  # tritonlint: ignore[TL102]\n", "a.py", 1).suppressions
        rules = [rule for rule in known.rules if rule.code != "TL102"]
        (use,) = apply([], suppressions, rules, known).uses
        assert use.unused == ()

    def test_reasons_can_be_required(self, known: Registry) -> None:
        bare = "1\n2\nx  # tritonlint: ignore[TL101]\n"
        reasoned = "1\n2\nx  # tritonlint: ignore[TL101] tuned on an H200\n"
        assert len(self.applied(bare, finding(), known=known, reasons=True).shown) == 1
        assert self.applied(reasoned, finding(), known=known, reasons=True).shown == ()

    def test_without_rules_a_comment_hides_all(self, known: Registry) -> None:
        suppression = Suppression("ignore", (), (), "", SPAN, 3)
        done = apply([finding(), finding("TL201")], [suppression], known.rules, known)
        assert done.shown == () and len(done.hidden) == 2


class TestSeverities:
    def changed(
        self, severity: dict[str, Any], known: Registry, **changes: Any
    ) -> list[tuple[str, tuple[str, ...]]]:
        done = with_severities([finding(**changes)], Settings(severity=severity), known)
        return [(one.severity, one.gpus) for one in done]

    def test_by_code_family_or_name_the_exactest_wins(self, known: Registry) -> None:
        assert self.changed({"TL1": "info"}, known) == [("info", ("t4",))]
        assert self.changed({"TL1": "info", "TL101": "warning"}, known) == [("warning", ("t4",))]
        assert self.changed({"shared-memory-exceeded": "info"}, known) == [("info", ("t4",))]
        assert self.changed({"TL2": "info"}, known) == [("error", ("t4",))]

    def test_on_one_gpu_in_both_spellings(self, known: Registry) -> None:
        for severity in ({"TL101": {"t4": "info"}}, {"t4": {"TL101": "info"}}, {"T4": {"TL1": "info"}}):
            got = self.changed({**severity, "TL1": "warning"}, known, gpus=("t4", "l4"))
            assert got == [("info", ("t4",)), ("warning", ("l4",))]

    def test_off_drops_it(self, known: Registry) -> None:
        assert self.changed({"TL101": "off"}, known) == []
        assert self.changed({"TL101": {"t4": "off"}}, known, gpus=("t4", "l4")) == [("error", ("l4",))]


class TestRegistry:
    def test_every_built_in_rule_is_there_once(self, known: Registry) -> None:
        codes = [rule.code for rule in known.rules]
        assert codes == sorted(set(codes)) and "TL101" in codes
        assert known.problems == ()

    def test_the_exactest_selection_wins(self, known: Registry) -> None:
        def codes(select: list[str], ignore: list[str]) -> set[str]:
            return {rule.code for rule in known.select(select, ignore)}

        assert codes(["TL1"], []) == set(known.codes("TL1"))
        assert "TL101" not in codes([], ["TL101"]) and "TL102" in codes([], ["TL101"])
        assert codes(["TL101"], ["TL1"]) == {"TL101"}
        assert codes(["TL1"], ["TL101"]) == known.codes("TL1") - {"TL101"}
        assert codes(["TL101"], ["TL101"]) == set()

    def test_unknown_names_come_with_near_ones(self, known: Registry) -> None:
        with pytest.raises(UnknownRuleError, match="shared-memory-exceeded"):
            known.codes("shared-memory-exceded")
        for name in ("TL999", "TL8", "", "nonsense"):
            with pytest.raises(UnknownRuleError):
                known.codes(name)


class TestFingerprints:
    def test_lines_and_numbers_do_not_count(self) -> None:
        one = fingerprints([finding()])
        assert fingerprints([finding(span=Span(90, 1, 90, 2), message="other")]) == one
        assert fingerprints([finding(config={"B": 2})]) != one

    def test_equal_ones_are_numbered(self) -> None:
        names = fingerprints([finding(), finding(), finding("TL102")])
        assert len(set(names)) == 3


def test_reports_name_paths_without_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that reads a report resolves no ".."; what is not below the folder is named in full."""
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert relative("../sub/./a.py") == "a.py"
    assert relative("../a.py") == (tmp_path / "a.py").as_posix()
    assert relative("../a.py", tmp_path) == "a.py"
