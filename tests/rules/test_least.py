"""What a run that shows no notes leaves out."""

from __future__ import annotations

import pytest

from tritonlint.finding import SEVERITIES
from tritonlint.lint import lint_source
from tritonlint.registry import registry
from tritonlint.rule import Case, Rule
from tritonlint.settings import Settings

CASES = [(rule, case) for rule in registry().rules for case in rule.invalid[:2]]


@pytest.mark.parametrize(("rule", "case"), CASES, ids=lambda one: getattr(one, "code", "")[:5])
def test_leaving_out_notes_changes_nothing_else(rule: Rule, case: Case) -> None:
    """All other findings are the same, and no rule weighs more than it says."""
    arguments = {"gpus": [case.gpu], "triton": case.triton, "certainty": "possible"}
    whole = lint_source("case.py", case.code, Settings(), **arguments)
    shown = lint_source("case.py", case.code, Settings(), **arguments, least="warning")
    weighing = [finding for finding in whole.findings if finding.severity != "info"]
    assert [finding for finding in shown.findings if finding.severity != "info"] == weighing
    assert not shown.problems
    known = {rule.code: rule for rule in registry().rules}
    for finding in weighing:
        at_most = known[finding.code].at_most
        assert SEVERITIES.index(finding.severity) <= SEVERITIES.index(at_most)


def test_nothing_is_compiled_where_bounds_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small launch fits whatever the compiler makes of it."""

    def compiled(*_: object) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr("tritonlint.launch_model.Model.compiled", compiled)
    rule = next(rule for rule in registry().rules if rule.code == "TL501")
    case = rule.valid[0]
    result = lint_source("case.py", case.code, Settings(), gpus=[case.gpu], least="warning")
    assert not result.problems
