"""What `# tritonlint: ignore` comments hide, and which of them hide nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tritonlint.finding import Finding
from tritonlint.registry import Registry, UnknownRuleError
from tritonlint.rule import Rule, SuppressionUse
from tritonlint.source.comments import Suppression


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that a comment hides."""

    finding: Finding
    by: Suppression


@dataclass(frozen=True, slots=True)
class Applied:
    shown: tuple[Finding, ...]
    hidden: tuple[Suppressed, ...]
    uses: tuple[SuppressionUse, ...]


def apply(
    findings: Iterable[Finding],
    suppressions: Sequence[Suppression],
    rules: Sequence[Rule],
    registry: Registry,
    require_reasons: bool = False,
) -> Applied:
    """Takes out what a comment hides. A comment holds where the finding starts, and on the last line of a
    statement that goes over several. With `require_reasons` a comment without a reason hides nothing.

    `rules` are those that ran: a comment for a rule that did not run is not called unused.
    """
    covers = [[_codes(name, registry) for name in suppression.rules] for suppression in suppressions]
    ran = {rule.code for rule in rules}
    all_ran = all(rule.code in ran for rule in registry.rules)
    used: list[set[int]] = [set() for _ in suppressions]
    any_used = [False] * len(suppressions)
    shown: list[Finding] = []
    hidden: list[Suppressed] = []
    for finding in findings:
        by: Suppression | None = None
        for number, suppression in enumerate(suppressions):
            if not _holds(suppression, finding) or (require_reasons and not suppression.reason):
                continue
            if not suppression.rules:
                any_used[number] = True
                by = by or suppression
            for place, codes in enumerate(covers[number]):
                if codes is not None and finding.code in codes:
                    used[number].add(place)
                    any_used[number] = True
                    by = by or suppression
        if by is None:
            shown.append(finding)
        else:
            hidden.append(Suppressed(finding, by))
    uses = tuple(
        SuppressionUse(
            suppression,
            unused=tuple(
                place
                for place, codes in enumerate(covers[number])
                if codes is not None and place not in used[number] and codes <= ran
            ),
            unknown=tuple(place for place, codes in enumerate(covers[number]) if codes is None),
            nothing_ignored=not any_used[number] and all_ran,
        )
        for number, suppression in enumerate(suppressions)
    )
    return Applied(tuple(shown), tuple(hidden), uses)


def _codes(name: str, registry: Registry) -> frozenset[str] | None:
    try:
        return registry.codes(name)
    except UnknownRuleError:
        return None


def _holds(suppression: Suppression, finding: Finding) -> bool:
    if suppression.line == 0:
        return True
    if finding.span.line == suppression.line:
        return True
    return suppression.kind == "ignore" and finding.span.end_line == suppression.line
