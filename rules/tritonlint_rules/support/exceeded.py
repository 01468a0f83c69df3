"""Launches that ask for more of a resource than one program can have: the shape that the rules for shared memory,
threads and tensor memory share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonlint.arguments import kernel_uses
from tritonlint.finding import Certainty, Fix, Related
from tritonlint.rule import Context
from tritonlint_rules.support.drafts import Draft, config_values
from tritonlint_rules.support.survey import (
    Entry,
    Over,
    Overrun,
    Resource,
    all_entries,
    by_config,
    by_place,
    certainty,
    only_some,
    overruns,
    worst,
)

_BYTE_TYPES = ("*fp8e5", "*i8")  # such as every target has, for sums in floating point and in integers


@dataclass(frozen=True, slots=True)
class Excess:
    """The configs of one text, or the launch, that overrun a resource on one GPU; `of` counts those that do not,
    too."""

    context: Context
    over: tuple[Over, ...]
    of: int

    @property
    def most(self) -> Over:
        return max(self.over, key=lambda one: (one.overrun.sure, one.overrun.need))

    @property
    def entry(self) -> Entry:
        return self.most.entry

    @property
    def overrun(self) -> Overrun:
        return self.most.overrun

    @property
    def certainty(self) -> Certainty:
        if not self.overrun.sure or narrower_fits(self.context, self.entry, self.overrun.resource):
            return "possible"
        return certainty(self.entry, self.most.at_most)

    def draft(
        self,
        message: str,
        level: Certainty,
        assumed: tuple[str, ...],
        help_text: str | None = None,
        related: tuple[Related, ...] = (),
        fix: Fix | None = None,
        tags: frozenset[str] = frozenset(),
    ) -> Draft:
        """In a list the tuner skips what is refused; a launch stops."""
        entry, one = self.entry, self.of == 1
        return Draft(
            place=entry.place,
            severity="warning" if entry.in_list else "error",
            certainty=level,
            message=message if one else f"{len(self.over)} of {self.of} configs never run: {message}",
            gpu=entry.gpu,
            config=config_values(entry.of.candidate) if one else None,
            estimate=entry.of.estimate,
            assumptions=assumed,
            related=related,
            help=help_text,
            fixes=(fix,) if fix else (),
            tags=tags,
        )


def excesses(context: Context, resource: Resource) -> Iterator[Excess]:
    """One for each text on each GPU. None for a list of which nothing fits: TL104 says so, once."""
    for listed in all_entries(context):
        if any(entry.in_list for entry in listed) and not only_some(listed):
            continue
        for groups in by_place(by_config(listed)):
            over = [one for group in groups if (one := worst(group, resource)) is not None]
            if over:
                yield Excess(context, tuple(over), len(groups))


def narrower_fits(context: Context, entry: Entry, resource: Resource) -> bool:
    """Whether the launch would fit if operands whose type nobody gives had one byte an element, where the kernel
    treats them as quantised (it scales their product). That they have two bytes is then no more than a default."""
    if resource == "threads":
        return False
    given = entry.of.candidate.types
    launch = entry.plan.launch
    shown = {name for name, one in (launch.arguments.items() if launch else ()) if one.tensor_type}
    open_types = sorted(kernel_uses(entry.plan.kernel).quantised - set(given) - shown)
    for text in _BYTE_TYPES if open_types else ():
        of = context.retry(entry.of, {}, dict.fromkeys(open_types, text))
        if of.estimate is not None and not any(
            one.resource == resource for one in overruns(Entry(entry.gpu, entry.plan, of))
        ):
            return True
    return False
