"""Launches of which some constants are not known, completed: with values that are given for them, and with the few
values that the source says they may have."""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tritonlint.launch_model import OPTION_NAMES
from tritonlint.sites_report import plain_value
from tritonlint.source.sites import Candidate, KernelSource
from tritonlint.source.values import Known, OneOf, Unknown

_COMBINATIONS = 8  # of values that are possible: enough to see each once or twice


def completed(
    kernel: KernelSource, candidate: Candidate, sets: Mapping[str, Any]
) -> Iterator[tuple[Candidate, dict[str, Any]]]:
    """The candidate with values for what is not known, and these values. `sets` has them by name or pattern; the first
    that fits counts. At most so many combinations, spread over all; the candidate itself where there are none."""
    choices: dict[str, tuple[Any, ...]] = {}
    whys: dict[str, str] = {}
    names = [parameter.name for parameter in kernel.parameters if parameter.constexpr]
    for name in (*names, *OPTION_NAMES):
        value = _knowledge(kernel, candidate, name)
        pattern = next((one for one in sets if fnmatch.fnmatchcase(name, one)), None)
        if isinstance(value, Known):
            continue
        if pattern is not None:
            choices[name], whys[name] = (sets[pattern],), "--set"
        elif isinstance(value, OneOf):
            choices[name], whys[name] = value.values, "one of its values"
    if not choices:
        yield candidate, {}
        return
    combinations = list(itertools.islice(itertools.product(*choices.values()), 100_000))
    count = min(len(combinations), _COMBINATIONS)
    for number in range(count):
        combination = combinations[number * len(combinations) // count]
        chosen = dict(zip(choices, combination, strict=True))
        yield _with(candidate, chosen, whys), {name: plain_value(value) for name, value in chosen.items()}


def _knowledge(kernel: KernelSource, candidate: Candidate, name: str) -> Any:
    if name in OPTION_NAMES:
        return getattr(candidate, name)
    if name in candidate.constants:
        return candidate.constants[name]
    default = next(parameter.default for parameter in kernel.parameters if parameter.name == name)
    return default if default is not None else Unknown("nobody gives it in this file")


def _with(candidate: Candidate, chosen: Mapping[str, Any], whys: Mapping[str, str]) -> Candidate:
    known = {name: value if isinstance(value, Known) else Known(value) for name, value in chosen.items()}
    options: dict[str, Any] = {name: known.pop(name) for name in OPTION_NAMES if name in known}
    said = (f"{name} is {plain_value(value)} ({whys[name]})" for name, value in chosen.items())
    return replace(
        candidate,
        constants={**candidate.constants, **known},
        assumptions=(*candidate.assumptions, *said),
        **options,
    )
