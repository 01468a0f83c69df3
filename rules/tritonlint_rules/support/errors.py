"""What the compiler's front end refuses, found by tracing, said at the value that causes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tritonlint.finding import Certainty, Related
from tritonlint.kernel.ir import CompileError
from tritonlint.rule import Context
from tritonlint.source.values import Known
from tritonlint_rules.support.drafts import Draft, config_values
from tritonlint_rules.support.places import Place, is_written, of_kernel, of_line
from tritonlint_rules.support.survey import (
    Entry,
    all_entries,
    assumptions,
    by_config,
    by_place,
    in_all,
    known,
    list_certainty,
    lower,
)
from tritonlint_rules.support.widths import wider_compiles


def refusals(
    context: Context,
    kinds: Iterable[str],
    message: Callable[[Entry, CompileError], str],
    help_text: Callable[[Entry, CompileError], str | None],
    needs_types: bool,
) -> Iterator[Draft]:
    """One draft for each place whose values the front end refuses for one of these reasons. The tuner does
    not catch such errors, so in a list too they stop the program. `needs_types`: whether the refusal can hang
    on argument types, which may be assumed; a length or an element count does not."""
    wanted = frozenset(kinds)
    for listed in all_entries(context):
        for groups in by_place(by_config(listed)):
            bad = [found for group in groups if (found := _first(group, wanted)) is not None]
            if not bad:
                continue
            entry, error, at_most = max(bad, key=lambda found: found[2] == "proven")
            assumed = assumptions(entry) if needs_types and _hangs_on_assumed(entry, error) else ()
            level: Certainty = lower(at_most, "likely" if assumed else "proven")
            if assumed and wider_compiles(context, entry):
                level = "possible"
            if entry.of.candidate.assumptions:
                level = lower(level, "likely")
            text = message(entry, error)
            if len(groups) > 1:
                text = f"{len(bad)} of {len(groups)} configs do not compile: {text}"
            related = _statement(context, entry, error)
            yield (
                Draft(
                    place=entry.place,
                    severity="error",
                    certainty=lower(level, list_certainty(entry)),
                    message=text,
                    gpu=entry.gpu,
                    config=config_values(entry.of.candidate) if len(groups) == 1 else None,
                    assumptions=assumed or entry.of.candidate.assumptions,
                    related=(related,) if related else (),
                    help=help_text(entry, error),
                )
                if not _of_the_kernel(entry)
                else Draft(
                    place=_place(context, entry, error),
                    severity="error",
                    certainty=level,
                    message=text,
                    gpu=entry.gpu,
                    assumptions=assumed,
                    help=help_text(entry, error),
                )
            )


def refused_statements(
    context: Context,
    kinds: Iterable[str],
    message: Callable[[CompileError], str],
    help_text: Callable[[CompileError], str | None],
) -> Iterator[Draft]:
    """One draft for each statement of the kernel that the front end refuses for one of these reasons, which do not hang
    on argument types: the statement is at fault, not what gives the values."""
    wanted = frozenset(kinds)
    for listed in all_entries(context):
        groups = by_config(listed)
        refused: dict[Place, list[tuple[Entry, CompileError, Certainty]]] = {}
        for group in groups:
            found = _first(group, wanted)
            if found is not None:
                refused.setdefault(_place(context, found[0], found[1]), []).append(found)
        for place, several in refused.items():
            entry, error, at_most = max(several, key=lambda one: one[2] == "proven")
            level = lower(at_most, "likely" if entry.of.candidate.assumptions else "proven")
            some = len(several) < len(groups)
            launch = entry.plan.launch
            yield Draft(
                place=place,
                severity="error",
                certainty=lower(level, list_certainty(entry)),
                message=message(error) + (f", with {len(several)} of {len(groups)} configs" if some else ""),
                gpu=entry.gpu,
                assumptions=entry.of.candidate.assumptions,
                related=(Related(entry.place.path, entry.place.span, "with these values"),)
                if launch is not None or entry.of.candidate.config is not None
                else (),
                help=help_text(error),
            )


def _hangs_on_assumed(entry: Entry, error: CompileError) -> bool:
    """Whether the type that is refused is one that was assumed, as far as the error names it."""
    dtype = error.values.get("dtype")
    return dtype is None or any(str(dtype) in text for text in assumptions(entry))


def _first(group: list[Entry], kinds: frozenset[str]) -> tuple[Entry, CompileError, Certainty] | None:
    found = [
        (entry, error)
        for entry in group
        if entry.of.trace is not None
        for error in entry.of.trace.errors[:1]
        if error.kind in kinds
    ]
    return (*found[0], in_all(known(group), found)) if found else None


def _of_the_kernel(entry: Entry) -> bool:
    """Whether no config and no launch gives the values: they stand in the kernel itself."""
    return entry.of.candidate.config is None and entry.plan.launch is None


def _place(context: Context, entry: Entry, error: CompileError) -> Place:
    own = not error.path or error.path == context.path
    return of_line(context, error.line) if own and error.line else of_kernel(entry.plan)


def _statement(context: Context, entry: Entry, error: CompileError) -> Related | None:
    if not error.line or not is_written(context.plan):
        return None
    place = of_line(context, error.line, error.path)
    return Related(place.path, place.span, "refused here")


def names_of_values(entry: Entry, values: Iterable[int]) -> str:
    """ " (TILE=48)": the compile-time parameters that have these values, as a hint in brackets; "" where none
    has."""
    names = [
        f"{name}={value}"
        for value in dict.fromkeys(values)
        for name, knowledge in entry.of.candidate.constants.items()
        if isinstance(knowledge, Known) and knowledge.value == value and not isinstance(knowledge.value, bool)
    ]
    return f" ({', '.join(names)})" if names else ""
