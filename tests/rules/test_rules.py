"""Every rule: its texts, its examples as tests, and its fixes applied and linted again."""

from __future__ import annotations

import re
from functools import cache

import pytest
from tritonlint_rules import RULES

from tritonlint import fixes
from tritonlint.finding import Finding
from tritonlint.lint import FileResult, lint_source
from tritonlint.rule import Case, Rule
from tritonlint.settings import Settings

CODES = [rule.code for rule in RULES]
HITS = [
    pytest.param(rule, case, id=f"{rule.code}-{n}") for rule in RULES for n, case in enumerate(rule.invalid)
]
MISSES = [
    pytest.param(rule, case, id=f"{rule.code}-{n}") for rule in RULES for n, case in enumerate(rule.valid)
]


@cache
def lint_text(code: str, gpu: str, triton: str) -> FileResult:
    return lint_source("example.py", code, Settings(), gpus=[gpu], triton=triton)


def lint(case: Case, code: str | None = None) -> FileResult:
    return lint_text(case.code if code is None else code, case.gpu, case.triton)


def of_rule(rule: Rule, case: Case) -> list[Finding]:
    result = lint(case)
    assert not [problem for problem in result.problems if problem.internal], result.problems
    return [finding for finding in result.findings if finding.code == rule.code]


@pytest.mark.parametrize(("rule", "case"), HITS)
def test_an_invalid_example_is_found(rule: Rule, case: Case) -> None:
    found = of_rule(rule, case)
    assert found, f"nothing found; {case.why}"
    placed = [finding for finding in found if case.line is None or finding.span.line == case.line]
    assert placed, f"expected line {case.line}, found {[finding.span for finding in found]}"
    said = [finding for finding in placed if case.contains in finding.message]
    assert said, f"{case.contains!r} not in {[finding.message for finding in placed]}"
    if case.severity is not None:
        assert said[0].severity == case.severity
    assert said[0].name == rule.name


@pytest.mark.parametrize(("rule", "case"), MISSES)
def test_a_near_miss_is_not_found(rule: Rule, case: Case) -> None:
    assert [finding.message for finding in of_rule(rule, case)] == [], case.why


@pytest.mark.parametrize(("rule", "case"), HITS)
def test_a_fix_removes_the_finding_and_adds_none(rule: Rule, case: Case) -> None:
    """Each fix of each example is applied alone; an info about the new config is no harm."""
    before = lint(case)
    own = [finding for finding in before.findings if finding.code == rule.code]
    for finding in own:
        for fix in finding.fixes:
            code = fixes.apply(case.code, fix.edits)
            after = lint(case, code)
            left = [f for f in after.findings if f.code == rule.code and f.message == finding.message]
            same = [f for f in own if f.message == finding.message]
            assert len(left) < len(same), f"{fix.title} does not remove {finding.message}"
            new = {(f.code, f.message) for f in after.findings if f.severity != "info"}
            old = {(f.code, f.message) for f in before.findings}
            assert new <= old, f"{fix.title} adds {new - old}"


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_a_rule_is_documented(rule: Rule) -> None:
    for text in (rule.what, rule.why, rule.example, rule.better, rule.when_not, rule.source):
        assert len(text.split()) >= 1 and text == text.strip()
    assert len(rule.what) > 40 and len(rule.why) > 60
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_a_rule_has_near_misses_and_an_alias(rule: Rule) -> None:
    """As many near misses as hits keeps a rule from being tried only on what it should find."""
    assert len(rule.valid) >= 2 and rule.invalid
    assert len(rule.valid) >= len(rule.invalid)
    assert all(case.why for case in rule.valid)


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_fixable_says_what_the_examples_show(rule: Rule) -> None:
    if rule.fixable == "no":
        for case in rule.invalid:
            assert all(not finding.fixes for finding in of_rule(rule, case))


def test_codes_and_names_are_unique() -> None:
    assert len(set(CODES)) == len(CODES)
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert sorted(CODES) == CODES


def test_rules_are_made_on_first_use() -> None:
    """`import tritonlint_rules` alone loads no rule."""
    import subprocess
    import sys

    code = (
        "import sys, tritonlint_rules; print([m for m in sys.modules if m.startswith('tritonlint_rules.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_rules_load_nothing_heavy() -> None:
    """The texts are printed by commands that lint nothing."""
    import subprocess
    import sys

    shown = "'pydantic' in sys.modules, 'libcst' in sys.modules"
    code = f"import sys, tritonlint_rules; tritonlint_rules.RULES; print({shown})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
