"""The rules that are installed, found through the entry-point group `tritonlint.rules`.

An entry point names a sequence of Rule records. The built-in ones come in by the same door; a package that
breaks is named and left out, the others go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from tritonlint.settings import near

if TYPE_CHECKING:
    from tritonlint.rule import Rule

GROUP = "tritonlint.rules"
_FAMILY = re.compile(r"[A-Z]+\d{0,2}")


class UnknownRuleError(LookupError):
    """No rule, family or name of that spelling."""


class NoRulesError(RuntimeError):
    """No rule could be loaded, so that nothing can be said of any file."""


@dataclass(frozen=True, slots=True)
class Registry:
    """Every rule by code. `problems` are entry points that could not be loaded, one sentence each."""

    rules: tuple[Rule, ...]
    problems: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Codes, names and families of every rule: all that may stand where a rule is named."""
        families = {rule.code[:size] for rule in self.rules for size in range(2, len(rule.code))}
        return (
            *(rule.code for rule in self.rules),
            *(rule.name for rule in self.rules),
            *sorted(families),
        )

    def find(self, name: str) -> Rule | None:
        """A rule by code or name."""
        wanted = name.strip().lower()
        return next((rule for rule in self.rules if wanted in (rule.code.lower(), rule.name.lower())), None)

    def codes(self, name: str) -> frozenset[str]:
        """The codes that a code, a family ("TL1") or a name stands for. Raises UnknownRuleError."""
        wanted = name.strip()
        if wanted.upper() == "ALL":
            return frozenset(rule.code for rule in self.rules)
        rule = self.find(wanted)
        if rule is not None:
            return frozenset((rule.code,))
        family = wanted.upper()
        if _FAMILY.fullmatch(family):
            found = frozenset(rule.code for rule in self.rules if rule.code.startswith(family))
            if found:
                return found
        raise UnknownRuleError(f"unknown rule {wanted!r}{near(wanted, self.names)}")

    def select(self, select: Iterable[str], ignore: Iterable[str]) -> tuple[Rule, ...]:
        """The rules to run. What is spelled more exactly wins: `--select TL101 --ignore TL1` runs TL101."""
        chosen = list(select)
        weight: dict[str, int] = {} if chosen else {rule.code: 0 for rule in self.rules}
        for name in chosen:
            for code in self.codes(name):
                weight[code] = max(weight.get(code, 0), self._exactness(name))
        for name in ignore:
            for code in self.codes(name):
                if self._exactness(name) >= weight.get(code, 1000):
                    del weight[code]
        return tuple(rule for rule in self.rules if rule.code in weight)

    def _exactness(self, name: str) -> int:
        return 100 if self.find(name) else len(name.strip())


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Loads every rule package once. Raises NoRulesError where there is none."""
    found: dict[str, Rule] = {}
    problems: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name != "builtin", point.name)):
        try:
            rules: Sequence[Rule] = tuple(point.load())
        except Exception as error:
            problems.append(f"rules of {point.value} cannot be loaded: {type(error).__name__}: {error}")
            continue
        for rule in rules:
            if rule.code in found:
                problems.append(f"rule {rule.code} of {point.value} is there already and was left out")
            else:
                found[rule.code] = rule
    if not found:
        # Without rules every file would pass: a run from sources that are not installed must not look clean.
        reason = problems[0] if problems else f"nothing installed offers the entry point {GROUP}"
        raise NoRulesError(f"no rules were found ({reason}): is tritonlint installed in this Python?")
    ordered = sorted(found.values(), key=lambda rule: rule.code)
    return Registry(tuple(ordered), tuple(problems))
