"""What can run where: every candidate of a plan on every GPU, and what stops it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tritonlint.finding import CERTAINTIES, Certainty
from tritonlint.quick import quick
from tritonlint.rule import Context, EstimateOf
from tritonlint.source.sites import AutotuneSite, LaunchPlan
from tritonlint.source.values import OneOf
from tritonlint_rules.support.drafts import known_int, launch_values
from tritonlint_rules.support.places import Place, of_candidate

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile


def tuner_of(plan: LaunchPlan) -> AutotuneSite | None:
    """The list whose configs are tried against each other. None for a tuned file: what it holds was chosen before,
    each entry for its own sizes."""
    return plan.tuning if plan.tuning is not None and not plan.tuning.tuned_file else None


_WHATEVER_THE_TYPES = ("block-not-power-of-two", "tensor-too-large", "removed", "unknown-option")  # errors
Resource = Literal["shared memory", "threads", "tensor memory"]


@quick
@dataclass(frozen=True, slots=True)
class Entry:
    """One candidate on one GPU."""

    gpu: GpuProfile
    plan: LaunchPlan  # as it is on that GPU
    of: EstimateOf

    @property
    def in_list(self) -> bool:
        """Whether a tuner tries it against others. An entry of a tuned file is launched as it is."""
        return self.of.candidate.config is not None and tuner_of(self.plan) is not None

    @property
    def place(self) -> Place:
        return of_candidate(self.plan, self.of.candidate)


@dataclass(frozen=True, slots=True)
class Overrun:
    """More of a resource than the GPU gives one program. `at_least`: `need` is a lower bound, not the
    whole."""

    resource: Resource
    need: int
    limit: int
    sure: bool
    at_least: bool = False


# A candidate whose values are one of a few stands for at most so many, in plans of so many candidates.
_BRANCHES, _CANDIDATES = 4, 32


def entries(context: Context, gpu: GpuProfile) -> list[Entry]:
    """Each rule asks."""
    return context.once(("entries", gpu.name), lambda: _entries(context, gpu))


def _entries(context: Context, gpu: GpuProfile) -> list[Entry]:
    plan = context.plan_on(gpu)
    estimates = context.estimates(gpu)
    few = len(estimates) <= _CANDIDATES
    return [
        Entry(gpu, plan, each) for of in estimates for each in (_each_value(context, of) if few else (of,))
    ]


def _each_value(context: Context, of: EstimateOf) -> list[EstimateOf]:
    """A candidate with every value that an undecided condition leaves, where these are few; else the
    candidate."""
    if of.known or of.trace is not None:
        return [of]
    open_values = {
        name: known.values for name, known in of.candidate.constants.items() if isinstance(known, OneOf)
    }
    count = 1
    for values in open_values.values():
        count *= len(values)
    if not open_values or count > _BRANCHES:
        return [of]
    return [
        context.retry(of, dict(zip(open_values, choice, strict=True)))
        for choice in itertools.product(*open_values.values())
    ]


def all_entries(context: Context) -> Iterator[list[Entry]]:
    """The candidates on each GPU in turn."""
    for gpu in context.gpus:
        yield entries(context, gpu)


def by_config(listed: Sequence[Entry]) -> list[list[Entry]]:
    """Entries of one config together, in the order of the list (a launch may give several candidates a
    config)."""
    groups: dict[int, list[Entry]] = {}
    for entry in listed:
        groups.setdefault(id(entry.of.candidate.config), []).append(entry)
    return list(groups.values())


def by_place(groups: Sequence[list[Entry]]) -> list[list[list[Entry]]]:
    """Configs that one text makes (a comprehension, a loop) together."""
    places: dict[Place, list[list[Entry]]] = {}
    for group in groups:
        places.setdefault(group[0].place, []).append(group)
    return list(places.values())


def overruns(entry: Entry) -> tuple[Overrun, ...]:
    """Resources that the launch takes more of than there are."""
    found: list[Overrun] = []
    gpu = entry.gpu
    warps = known_int(entry.of.candidate.num_warps)
    # Where the bounds suffice nothing is compiled; no warps are added then either.
    estimate = None if entry.of.surely_fits else entry.of.taken
    if estimate is not None:
        threads = estimate.threads
    else:
        threads = (warps or 0) * gpu.warp_size
    if threads > gpu.threads_per_cta_max:
        found.append(Overrun("threads", threads, gpu.threads_per_cta_max, True))
    if estimate is None:
        return tuple(found)
    limit = gpu.shared_bytes_per_cta
    if estimate.shared_exact and estimate.shared_bytes > limit:
        found.append(Overrun("shared memory", estimate.shared_bytes, limit, True))
    elif estimate.shared_lower_bound > limit:
        found.append(Overrun("shared memory", estimate.shared_lower_bound, limit, True, at_least=True))
    elif estimate.shared_bytes > limit:
        found.append(Overrun("shared memory", estimate.shared_bytes, limit, False))
    columns = gpu.tensor_memory_columns
    if columns and estimate.tensor_memory_columns > columns:
        sure = not estimate.why_not or not estimate.fits
        found.append(Overrun("tensor memory", estimate.tensor_memory_columns, columns, sure))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Over:
    """The candidate of a config or launch that overruns a resource most. `values`: what tells it from those that have
    other values, which a condition that was not decided gives; `others` are those of them that overrun it too."""

    entry: Entry
    overrun: Overrun
    at_most: Certainty
    values: Mapping[str, Any]
    others: tuple[tuple[Entry, Overrun], ...] = ()

    @property
    def in_all(self) -> bool:
        """Whether it is sure, and so with every value."""
        return self.overrun.sure and self.at_most != "possible"


def worst(group: Sequence[Entry], resource: Resource) -> Over | None:
    found: list[tuple[Entry, Overrun]] = []
    for entry in group:
        if entry.of.trace is not None and entry.of.trace.errors:
            continue  # it does not compile
        found += [(entry, one) for one in overruns(entry) if one.resource == resource]
    if not found:
        return None
    most = max(found, key=lambda pair: (pair[1].sure, pair[1].need))
    others: dict[str, tuple[Entry, Overrun]] = {}
    for pair in found:
        if pair[1].sure and (values := telling(pair[0], [most[0]])):
            others.setdefault(repr(values), pair)
    at_most = in_all(known(group) or group, found)
    return Over(*most, at_most, telling(most[0], group), tuple(others.values()))


def telling(entry: Entry, others: Sequence[Entry]) -> dict[str, Any]:
    """Those of its values that the others have otherwise."""
    values = launch_values(entry.of.candidate)
    rest = [launch_values(other.of.candidate) for other in others]
    return {name: value for name, value in values.items() if any(one.get(name) != value for one in rest)}


def never_runs(entry: Entry) -> bool:
    """Whether the launch is known to be refused, by the compiler or by the driver."""
    return any(overrun.sure for overrun in overruns(entry)) or surely_refused(entry)


def surely_refused(entry: Entry) -> bool:
    """Whether the compiler refuses it, and not because of a type that was assumed."""
    errors = entry.of.trace.errors[:1] if entry.of.trace is not None else ()
    return any(error.kind in _WHATEVER_THE_TYPES or not assumptions(entry) for error in errors)


def only_some(listed: Sequence[Entry]) -> bool:
    """Whether something of the list is left that may run; then a config that does not is skipped by the
    tuner."""
    tuning = listed[0].plan.tuning if listed else None
    if tuning is None or not listed[0].in_list:
        return False
    return not tuning.resolved or any(
        not all(never_runs(one) for one in group) for group in by_config(listed)
    )


def certainty(entry: Entry, at_most: Certainty = "proven") -> Certainty:
    """How a fact about the estimate is known: what it assumes, and what a list may drop before it is
    tuned."""
    level = at_most
    if entry.of.taken is not None:
        level = lower(level, entry.of.taken.certainty)
    if assumptions(entry):
        level = lower(level, "likely")
    return lower(level, list_certainty(entry))


def list_certainty(entry: Entry) -> Certainty:
    """`possible` where the config may never be tried: a hook prunes the list, or a condition was not
    decided."""
    tuning = entry.plan.tuning
    if tuning is not None and entry.in_list and (tuning.prune or tuning.alternatives):
        return "possible"
    return "proven"


def known(group: Sequence[Entry]) -> list[Entry]:
    """The candidates of which something is known: an estimate, or that they do not compile."""
    return [
        entry for entry in group if entry.of.known or (entry.of.trace is not None and entry.of.trace.errors)
    ]


def in_all(group: Sequence[object], found: Sequence[object]) -> Certainty:
    """A launch may be reached with several values (a default, the branches of a condition that was not
    decided). What holds for some of those that are known only is `possible`: they may be the ones that
    never come."""
    return "proven" if len(found) >= len(group) else "possible"


def assumptions(entry: Entry) -> tuple[str, ...]:
    listed: list[str] = []
    if entry.of.taken is not None:
        listed += entry.of.taken.assumptions
    elif entry.of.trace is not None:
        listed += (*entry.of.assumed, *entry.of.trace.assumptions)
    listed += entry.of.candidate.assumptions
    return tuple(dict.fromkeys(listed))


def lower(one: Certainty, other: Certainty) -> Certainty:
    return min(one, other, key=CERTAINTIES.index)
