"""The examples of each rule, run as the built-in ones are. Needs the package installed next to tritonlint."""

import pytest

from tritonlint.lint import lint_source
from tritonlint.settings import Settings
from tritonlint_house_rules import RULES


def found(rule, case):
    result = lint_source("example.py", case.code, Settings(), gpus=[case.gpu], triton=case.triton)
    return [finding for finding in result.findings if finding.code == rule.code]


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule in RULES for case in rule.invalid])
def test_found(rule, case):
    assert any(case.contains in finding.message and finding.span.line == case.line for finding in found(rule, case))


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule in RULES for case in rule.valid])
def test_not_found(rule, case):
    assert not found(rule, case), case.why
