"""The reading of a file for a further platform, where few functions asked something that it answers differently.

Only these are run again, and what launches at the same places as they do; all other plans are those of the first
reading. That is no less than the whole, as long as those that are not run again leave nothing behind that is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tritonlint.source.collecting import collection_paused
from tritonlint.source.environment import Frame
from tritonlint.source.guards import Choice
from tritonlint.source.interpreter import SITE_STEPS, Name
from tritonlint.source.kernels import ConfigValue, Kernel
from tritonlint.source.objects import (
    Class,
    Dict,
    Function,
    Instance,
    List,
    Maybe,
    Method,
    Partial,
    Set,
)
from tritonlint.source.reading import Reader, Reading, deep_recursion, place
from tritonlint.source.shared_platform import SharedPlatform
from tritonlint.source.sites import LaunchPlan, Platform


def read_further(first: Reading, platform: Platform) -> tuple[SharedPlatform, Reading] | None:
    """The plans of the file on another platform; None where it is to be read as a whole."""
    basis = first.reader
    if basis is None or not isinstance(basis.interp.platform, SharedPlatform):
        return None
    apart = basis.interp.platform.askers_apart(platform)
    asking = [number for number in apart if number is not None]
    if len(asking) < len(apart) or basis.interp.reserve < SITE_STEPS:
        return None
    shared = SharedPlatform(platform)
    reader = Reader(basis.module, shared, basis.interp.project, basis.interp.hooks, basis.wanted)
    with deep_recursion(), collection_paused():
        plans = _plans(basis, reader, asking)
    if plans is None:
        return None
    shared.rests_on(basis.interp.platform, apart)
    there = [plan for plan in plans if plan is not None]
    return shared, Reading(tuple(sorted(there, key=place)), tuple(reader.problems), reader=reader)


def _plans(basis: Reader, reader: Reader, asking: Iterable[int]) -> list[LaunchPlan | None] | None:
    runs = {number: reader.run(number) for number in asking}
    concerned = {
        *basis.by_site(launch for number in runs for launch in basis.runs[number]),
        *reader.by_site(launch for launches in runs.values() for launch in launches),
    }
    for number, launches in enumerate(basis.runs):
        if number not in runs and not concerned.isdisjoint(basis.by_site(launches)):
            runs[number] = reader.run(number)
    left = {id(one) for number, all_ in enumerate(basis.changed) if number not in runs for one in all_}
    if _left_behind(basis, left, _seen(reader)):
        return None
    reader.report_over_budget()
    launched = reader.by_site(launch for number in sorted(runs) for launch in runs[number])
    groups = {site: group for site, group in launched.items() if site in concerned}
    kept = {site: plan for site, plan in basis.plans.items() if site not in concerned}
    if {kernel for _, kernel in (*groups, *kept)} != basis.reached:
        return None  # whether a kernel is launched at all hangs on the platform
    return [*kept.values(), *basis.unlaunched, *(reader.plan_of(group) for group in groups.values())]


def _seen(reader: Reader) -> set[Name]:
    """All names that were looked up."""
    found = set[Name]().union(*reader.asked.values())
    return found.union(
        *(one for place in reader.interp.environments.values() for one in place.asked.values())
    )


def _left_behind(reader: Reader, changed: set[int], names: Iterable[Name]) -> bool:
    """Whether one of the names (file, name) stands for something that holds what was changed."""
    interp = reader.interp
    seen: set[int] = set()
    stack: list[Any] = []
    if changed:
        for path, name in names:
            if path in interp.environments:
                stack.extend(interp.environments[path].values_of(name))
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if id(value) in changed:
            return True
        stack.extend(_inside(value))
        if isinstance(value, Class):
            stack.append(interp.memo.get(("instance", id(value))))
    return False


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Dict):
        return [*value.values(), value.default_factory]
    if isinstance(value, (List, Set, tuple)):
        return value
    if isinstance(value, Instance):
        return [*value.attributes.values(), value.cls]
    if isinstance(value, Class):
        return [*value.attributes.values(), *value.bases]
    if isinstance(value, Function):
        return [value.bound, value.wraps, value.closure]
    if isinstance(value, Frame):
        return [*value.env.values(), value.parent]
    if isinstance(value, Choice):
        return [one for _, one in value.alternatives]
    if isinstance(value, Maybe):
        return [value.value]
    if isinstance(value, Partial):
        return [value.function, *value.arguments, *value.keywords.values()]
    if isinstance(value, Method):
        return [value.receiver]
    if isinstance(value, ConfigValue):
        return [value.kwargs]
    if isinstance(value, Kernel):
        return [
            value.closure,
            *(one for layer in value.layers for one in (*layer.arguments.values(), layer.values)),
        ]
    return ()
