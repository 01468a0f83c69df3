"""Launches that ask for more of a resource than one program can have: the shape that the rules for shared memory,
threads and tensor memory share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tritonlint.finding import Certainty, Fix, Related
from tritonlint.rule import Context
from tritonlint_rules.support.drafts import Draft, config_values
from tritonlint_rules.support.places import Place
from tritonlint_rules.support.say import config_text
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
from tritonlint_rules.support.widths import narrower_fits


@dataclass(frozen=True, slots=True)
class Excess:
    """The configs of one text, or the launch, that overrun a resource on one GPU: all with every value that they may
    have, or all with some only, or not for sure. `of` counts those that do not, too."""

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
    def values(self) -> str:
        """Those of the largest that tell it from what else the text stands for: of its config among several, and of
        what undecided conditions leave."""
        config = config_values(self.entry.of.candidate) if self.of > 1 else {}
        return config_text({**config, **self.most.values})

    def fits_with(self, changes: Mapping[str, Any]) -> bool:
        """Whether with these changes nothing is overrun with the other values either."""
        retried = ((entry, self.context.retry(entry.of, changes)) for entry, _ in self.most.others)
        return not any(overruns(Entry(entry.gpu, entry.plan, of)) for entry, of in retried)

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
        place: Place | None = None,
    ) -> Draft:
        """In a list the tuner skips what is refused; a launch stops. `place` None: the config or launch."""
        entry, one = self.entry, self.of == 1
        do = "never" if self.most.in_all else "may not"
        return Draft(
            place=place or entry.place,
            severity="warning" if entry.in_list else "error",
            certainty=level,
            message=message if one else f"{len(self.over)} of {self.of} configs {do} run: {message}",
            gpu=entry.gpu,
            config=config_values(entry.of.candidate) if one else None,
            of=entry.of,
            assumptions=assumed,
            related=related,
            help=help_text,
            fixes=(fix,) if fix else (),
            tags=tags,
        )


def excesses(context: Context, resource: Resource) -> Iterator[Excess]:
    """One for each text on each GPU, and one for what may overrun only. None for a list of which nothing fits: TL104 says
    so, once."""
    for listed in all_entries(context):
        if any(entry.in_list for entry in listed) and not only_some(listed):
            continue
        for groups in by_place(by_config(listed)):
            over = [one for group in groups if (one := worst(group, resource)) is not None]
            for in_all in (True, False):
                if alike := tuple(one for one in over if one.in_all == in_all):
                    yield Excess(context, alike, len(groups))
