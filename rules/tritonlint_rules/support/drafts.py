"""Findings before the GPUs they hold for are put together.

A rule looks at one GPU after another. What it would say in the same words at the same place is said once,
with all the GPUs it holds for; `{gpus}` in the words stands for their names.

Where nobody chose the GPUs, nobody said that the program is for each of them: what one of them lacks is then
`possible` only, and what holds on some of them weighs one step less. `possible` is all that is said of files for other
chips as well, and what is said of one vendor's GPUs in files for the other's; and what is said of a launch that a test
expects to raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tritonlint.finding import SEVERITIES, Certainty, Finding, Fix, Related, Severity
from tritonlint.rule import Context, EstimateOf
from tritonlint.source.sites import Candidate
from tritonlint.source.values import DType, Known, OneOf
from tritonlint_rules.support.decorators import never_compiled
from tritonlint_rules.support.expected import is_expected
from tritonlint_rules.support.places import Place
from tritonlint_rules.support.say import listed
from tritonlint_rules.support.vendors import for_other_chips, for_vendor

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rule would say on one GPU. `lacks`: it rests on what that GPU does not have, and says nothing of the
    program on another."""

    place: Place
    severity: Severity
    certainty: Certainty
    message: str
    gpu: GpuProfile | None = None
    config: Mapping[str, Any] | None = None
    of: EstimateOf | None = None  # the launch whose estimate goes with it, made for what is shown alone
    assumptions: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    help: str | None = None
    fixes: tuple[Fix, ...] = ()
    tags: frozenset[str] = frozenset()
    lacks: bool = False


_STEP_DOWN: Mapping[Severity, Severity] = {"error": "warning", "warning": "info", "info": "info"}


def findings(code: str, name: str, context: Context, drafts: Iterable[Draft]) -> list[Finding]:
    """One finding for all drafts that say the same at the same place; none for what weighs too little to be shown, and
    none but TL312's of what Triton's decorator refuses."""
    if code != "TL312" and never_compiled(context.plan) is not None:
        return []
    least = SEVERITIES.index(context.least)
    groups: dict[tuple[Any, ...], list[Draft]] = {}
    if for_other_chips(context.path):
        drafts = [replace(draft, certainty="possible") for draft in drafts]
    elif vendor := for_vendor(context.path):
        drafts = [
            replace(draft, certainty="possible")
            if draft.gpu is not None and draft.gpu.vendor != vendor
            else draft
            for draft in drafts
        ]
    for draft in drafts if context.gpus_chosen else _weighed(context, list(drafts)):
        if draft.severity != "info" and is_expected(context, draft.place):
            draft = replace(draft, certainty="possible")
        if SEVERITIES.index(draft.severity) < least:
            continue
        config = tuple(sorted((key, repr(value)) for key, value in (draft.config or {}).items()))
        key = (draft.place, draft.severity, draft.certainty, draft.message, draft.help, config)
        groups.setdefault(key, []).append(draft)
    major, minor = context.triton
    made: list[Finding] = []
    for group in groups.values():
        first = group[0]
        names = list(dict.fromkeys(draft.gpu.name for draft in group if draft.gpu is not None))
        made.append(
            Finding(
                code=code,
                name=name,
                severity=first.severity,
                certainty=first.certainty,
                message=_with_names(first, names),
                path=first.place.path,
                span=first.place.span,
                kernel=context.plan.kernel.name,
                gpus=tuple(names),
                triton=f"{major}.{minor}",
                config=first.config,
                estimate=first.of.estimate if first.of is not None else None,
                assumptions=first.assumptions,
                related=first.related,
                help=first.help.replace("{gpus}", listed(names)) if first.help else None,
                fixes=first.fixes,
                tags=first.tags,
            )
        )
    return made


def _with_names(draft: Draft, names: list[str]) -> str:
    text = draft.message.replace("{gpus}", listed(names))
    # A bare target is its own name: "on sm_80", not "on sm_80 (sm_80)".
    return text.replace(f"{draft.gpu.arch} ({draft.gpu.arch})", draft.gpu.arch) if draft.gpu else text


def _weighed(context: Context, drafts: list[Draft]) -> Iterator[Draft]:
    """The drafts on GPUs that nobody chose. What is `possible` on some makes nothing that is known on others hold on
    all."""
    held: dict[tuple[Place, bool], set[str]] = {}  # place, whether more than possible -> GPUs
    for draft in drafts:
        if draft.gpu is not None:
            held.setdefault((draft.place, False), set()).add(draft.gpu.name)
            if draft.certainty != "possible":
                held.setdefault((draft.place, True), set()).add(draft.gpu.name)
    for draft in drafts:
        if draft.lacks:
            yield replace(draft, certainty="possible")
        elif draft.gpu is not None and len(held[draft.place, draft.certainty != "possible"]) < len(
            context.gpus
        ):
            yield replace(draft, severity=_STEP_DOWN[draft.severity])
        else:
            yield draft


def config_values(candidate: Candidate) -> dict[str, Any]:
    """The values that make the candidate what it is, as JSON can hold them: those of its config, or without
    one the compile-time values of the launch; then the options."""
    config = candidate.config
    return _with_options(candidate, _constants(candidate) if config is None else config.kwargs)


def launch_values(candidate: Candidate) -> dict[str, Any]:
    """The same with what the launch gives beside the config."""
    config = candidate.config
    return _with_options(
        candidate, {**_constants(candidate), **(config.kwargs if config is not None else {})}
    )


def _constants(candidate: Candidate) -> dict[str, Any]:
    return {name: known.value for name, known in candidate.constants.items() if isinstance(known, Known)}


def _with_options(candidate: Candidate, constants: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(constants)
    for name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
        known = getattr(candidate, name)
        if isinstance(known, Known) and (name in ("num_warps", "num_stages") or known.value not in (None, 1)):
            values[name] = known.value
    return {name: plain(value) for name, value in values.items() if is_plain(value)}


def plain(value: Any) -> Any:
    if isinstance(value, DType):
        return value.name
    return list(value) if isinstance(value, tuple) else value


def is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(is_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str, DType))


def known_int(knowledge: Any) -> int | None:
    """The number where it is exactly known."""
    value = knowledge.value if isinstance(knowledge, Known) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def possible_ints(knowledge: Any) -> tuple[int, ...]:
    """Every number that it can be, () where that is not known."""
    if isinstance(knowledge, OneOf):
        good = [value for value in knowledge.values if isinstance(value, int) and not isinstance(value, bool)]
        return tuple(good) if len(good) == len(knowledge.values) else ()
    number = known_int(knowledge)
    return () if number is None else (number,)
