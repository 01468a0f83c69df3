"""The least change that makes a launch fit, tried with the model before it is said.

Least harm first: num_stages costs overlap of loads and nothing else, a smaller reduction tile costs loop
overhead, a smaller output tile costs reuse, more warps change how the work is spread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tritonlint import fixes
from tritonlint.finding import Edit, Fix
from tritonlint.rule import Context, EstimateOf
from tritonlint.source.sites import Config
from tritonlint_rules.support.cuts import cutting
from tritonlint_rules.support.drafts import known_int
from tritonlint_rules.support.places import of_candidate
from tritonlint_rules.support.survey import Entry, overruns

Kind = Literal["num_stages", "reduction tile", "tile", "num_warps"]

# Tile sizes by the names that kernels give them. What names a property of the data (a head dimension, a
# hidden size) is not for the linter to change, whatever it is called.
_TILE = re.compile(r"BLOCK|TILE|CHUNK|^B[A-Z]{1,2}$|^[XYZR]BLOCK$|^T[MNK]$", re.IGNORECASE)
_DATA = re.compile(r"DIM|HEAD|HIDDEN|MODEL|GROUP|NUM_|COUNT|DTYPE|STRIDE|EVEN|SPLIT", re.IGNORECASE)
_REDUCTION = re.compile(r"(^|_|BLOCK|TILE|CHUNK|SIZE|^B|^T)K$|^RBLOCK$", re.IGNORECASE)
_MAX_TRIES = 24
_MANY_STAGES = 20


@dataclass(frozen=True, slots=True)
class Change:
    kind: Kind
    changes: Mapping[str, Any]
    of: EstimateOf

    @property
    def text(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.changes.items())


def nearest_fit(context: Context, entry: Entry) -> Change | None:
    """The first change, in rising order of harm, with which nothing is overrun and the kernel still compiles;
    with more warps on top where it would spill for certain and more warps help."""

    def fits(of: EstimateOf) -> bool:
        if of.taken is None or not of.taken.fits or (of.trace is not None and of.trace.errors):
            return False
        return not overruns(Entry(entry.gpu, entry.plan, of))

    found = search(context, entry, fits)
    if found is None or found.of.taken.spills != "certain":
        return found
    for warps in _more_warps(entry):
        changes = {**found.changes, "num_warps": warps}
        of = context.retry(entry.of, changes)
        if fits(of) and of.taken.spills != "certain":
            return Change("num_warps", changes, of)
    return found


def search(
    context: Context, entry: Entry, good: Callable[[EstimateOf], bool], kinds: frozenset[str] | None = None
) -> Change | None:
    for count, (kind, changes) in enumerate(_steps(entry)):
        if count >= _MAX_TRIES:
            return None
        if kinds is not None and kind not in kinds:
            continue
        of = context.retry(entry.of, changes)
        if good(of):
            return Change(kind, changes, of)
    return None


def _steps(entry: Entry) -> Iterator[tuple[Kind, dict[str, Any]]]:
    candidate = entry.of.candidate
    stages = known_int(candidate.num_stages)
    lowest = 1 if entry.gpu.vendor == "nvidia" else 2
    yield from (("num_stages", {"num_stages": fewer}) for fewer in _fewer_stages(stages or 1, lowest))
    cut = cutting(entry.plan.kernel.node)
    tiles = {
        name: size
        for name, knowledge in candidate.constants.items()
        if (size := known_int(knowledge)) and size > 16 and name in cut
        if _TILE.search(name) and not _DATA.search(name)
    }
    for name, size in tiles.items():
        if _REDUCTION.search(name):
            yield from (("reduction tile", {name: smaller}) for smaller in _halves(size))
    others = sorted(
        ((name, size) for name, size in tiles.items() if not _REDUCTION.search(name)), key=lambda one: -one[1]
    )
    for name, size in others:
        yield from (("tile", {name: smaller}) for smaller in _halves(size))
    yield from (("num_warps", {"num_warps": warps}) for warps in _more_warps(entry))


def _fewer_stages(stages: int, lowest: int) -> Iterator[int]:
    """One less at a time, halves where there are more than anybody's pipeline has: the tries are limited."""
    fewer = stages - 1
    while fewer >= lowest:
        yield fewer
        fewer = fewer // 2 if fewer > _MANY_STAGES else fewer - 1


def _more_warps(entry: Entry) -> Iterator[int]:
    warps = known_int(entry.of.candidate.num_warps)
    most = entry.gpu.threads_per_cta_max // entry.gpu.warp_size
    while warps and warps * 2 <= most:
        warps *= 2
        yield warps


def _halves(size: int) -> Iterator[int]:
    while size > 16 and size % 2 == 0:
        size //= 2
        yield size


def fix_for(context: Context, entry: Entry, change: Change) -> Fix | None:
    """The change as an edit, where the value is written out at the config or launch and nothing else hangs
    on it."""
    edits: list[Edit] = []
    for name, value in change.changes.items():
        edit = edit_value(context, entry, name, value)
        if edit is None:
            return None
        edits.append(edit)
    if repeats_another(entry, change.changes):
        return None
    return Fix(change.text, change.kind == "num_stages", tuple(edits))


def edit_value(context: Context, entry: Entry, name: str, value: Any) -> Edit | None:
    """`name=value` at the config, or at the launch where there is no config. None where the text there is
    not the literal value, or makes several configs."""
    candidate = entry.of.candidate
    place = of_candidate(entry.plan, candidate)
    if place.path != context.path:
        return None
    old = known_int(
        getattr(candidate, name, None) if hasattr(candidate, name) else candidate.constants.get(name)
    )
    config = candidate.config
    if config is not None:
        if config.spread is not None or _shared_text(entry, config):
            return None
        span = config.argument_spans.get(name)
    else:
        launch = entry.plan.launch
        if launch is None:
            return None
        given = launch.options.get(name) or launch.arguments.get(name)
        if given is not None and given.by_position:
            return None
        span = given.span if given is not None else None
    if span is not None:
        for pattern in ("{}", name + "={}"):
            edit = fixes.replace_text(context.source, span, pattern.format(old), pattern.format(value))
            if edit is not None:
                return edit
        return None
    option = name in ("num_stages", "num_warps", "num_ctas")
    return fixes.set_argument(context.source, place.span, name, str(value)) if option else None


def repeats_another(entry: Entry, changes: Mapping[str, Any]) -> bool:
    """Whether the changed config would be one that the list has already."""
    config = entry.of.candidate.config
    tuning = entry.plan.tuning
    if config is None or tuning is None:
        return False
    wanted = _values(config) | dict(changes)
    return any(_values(other) == wanted for other in tuning.configs if other is not config)


def _values(config: Config) -> dict[str, Any]:
    return {
        **config.kwargs,
        "num_warps": config.num_warps,
        "num_stages": config.num_stages,
        "num_ctas": config.num_ctas,
        "maxnreg": config.maxnreg,
    }


def _shared_text(entry: Entry, config: Config) -> bool:
    tuning = entry.plan.tuning
    return tuning is not None and sum(other.span == config.span for other in tuning.configs) > 1
