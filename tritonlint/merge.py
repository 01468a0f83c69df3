"""One finding where the same was found more than once: on several GPUs, by way of several launches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tritonlint.finding import Finding, Related


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """Findings of the same rule at the same place about the same config become one.

    They are told apart by severity and certainty, so that nothing is said louder than it was. The first
    speaks for all; the GPUs are joined in the order in which they came. Where another says it with other
    numbers, its message becomes a related note; notes and help that hold on some of the GPUs only say on which.
    """
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_key(finding), []).append(finding)
    return [_joined(group) for group in groups.values()]


def _key(finding: Finding) -> tuple[Any, ...]:
    config = json.dumps(finding.config, sort_keys=True, default=str) if finding.config is not None else ""
    level = (finding.severity, finding.certainty)
    return (finding.code, finding.path, finding.span, finding.kernel, level, config)


def _joined(group: list[Finding]) -> Finding:
    if len(group) == 1:
        return group[0]
    first = group[0]
    gpus = tuple(dict.fromkeys(gpu for finding in group for gpu in finding.gpus))
    others = [finding for finding in group if finding.message != first.message]
    own = {gpu for finding in group if finding.message == first.message for gpu in finding.gpus}
    more = tuple(dict.fromkeys(gpu for finding in others for gpu in finding.gpus if gpu not in own))
    said = [Related(finding.path, finding.span, finding.message) for finding in others]
    assumptions = tuple(dict.fromkeys(text for finding in group for text in finding.assumptions))
    return replace(
        first,
        gpus=gpus,
        message=f"{first.message} (also on {', '.join(more)})" if more else first.message,
        related=tuple(dict.fromkeys((*_notes(group, gpus), *said))),
        assumptions=assumptions,
        tags=frozenset().union(*(finding.tags for finding in group)),
        help=_help(group, gpus),
        fixes=first.fixes or next((finding.fixes for finding in group if finding.fixes), ()),
    )


def _notes(group: list[Finding], gpus: tuple[str, ...]) -> Iterator[Related]:
    where: dict[Related, dict[str, None]] = {}
    for finding in group:
        for note in finding.related:
            where.setdefault(note, {}).update(dict.fromkeys(finding.gpus))
    for note, there in where.items():
        some = there and len(there) < len(gpus)
        yield replace(note, message=f"{note.message} on {', '.join(there)}") if some else note


def _help(group: list[Finding], gpus: tuple[str, ...]) -> str | None:
    where: dict[str, dict[str, None]] = {}
    for finding in group:
        if finding.help:
            where.setdefault(finding.help, {}).update(dict.fromkeys(finding.gpus))
    if any(not there or len(there) == len(gpus) for there in where.values()):
        return next(iter(where))
    return "; ".join(f"on {', '.join(there)}: {text}" for text, there in where.items()) or None
