"""Where a finding stands."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tritonlint.finding import Related
from tritonlint.fixes import text_at
from tritonlint.quick import quick
from tritonlint.rule import Context
from tritonlint.source.sites import AutotuneSite, Candidate, Config, LaunchPlan
from tritonlint.span import Span


@quick
@dataclass(frozen=True, slots=True)
class Place:
    path: str
    span: Span


def of_kernel(plan: LaunchPlan) -> Place:
    """The `def` line of the kernel."""
    node = plan.kernel.node
    span = plan.kernel.span
    return Place(
        plan.kernel.path,
        Span(node.lineno, span.column, node.lineno, span.column + len("def ") + len(node.name)),
    )


def of_line(context: Context, line: int, path: str = "") -> Place:
    """One statement line of the kernel, without its indentation."""
    plan = context.plan
    where = path or plan.kernel.path
    lines = context.source.splitlines() if where == context.path else []
    text = lines[line - 1] if 1 <= line <= len(lines) else ""
    start = len(text) - len(text.lstrip()) + 1
    return Place(where, Span(line, start, line, max(start + 1, len(text.rstrip()) + 1)))


def of_launch(plan: LaunchPlan) -> Place:
    """The launch, or the kernel where none is known."""
    if plan.launch is None:
        return of_kernel(plan)
    return Place(plan.launch.path or plan.kernel.path, plan.launch.span)


def of_grid(plan: LaunchPlan) -> Place:
    """The launch: a grid is an argument of it wherever its expression was written."""
    return of_launch(plan)


def of_config(plan: LaunchPlan, config: Config) -> Place:
    return Place(config.path or plan.kernel.path, config.span)


def of_candidate(plan: LaunchPlan, candidate: Candidate) -> Place:
    """What sets a candidate's values: its config, else the launch."""
    return of_config(plan, candidate.config) if candidate.config is not None else of_launch(plan)


def of_value(context: Context, plan: LaunchPlan, candidate: Candidate, name: str) -> Place:
    """What gives a candidate one of its values: the argument of its config, else of the launch, with its name. The config
    or launch as a whole where the value is not written out there."""
    config = candidate.config
    if config is None:
        return of_argument(context, plan, name)
    return of_config_value(context, plan, config, name)


def of_config_value(context: Context, plan: LaunchPlan, config: Config, name: str) -> Place:
    """One argument of a config with its name, or the config where it is not written out there."""
    whole = of_config(plan, config)
    span = config.argument_spans.get(name)
    if span is None or not whole.span.contains(span):
        return whole
    return _with_name(context, replace(whole, span=span), name)


def _with_name(context: Context, place: Place, name: str) -> Place:
    """With `name=` or `"name":` where that stands right before the value."""
    if place.path != context.path:
        return place
    span = place.span
    before = text_at(context.source, Span(span.line, 1, span.line, span.column))
    found = re.search(rf"""(\b{re.escape(name)}\s*=|(["']){re.escape(name)}\2\s*:)\s*$""", before)
    return place if found is None else replace(place, span=replace(span, column=found.start() + 1))


def of_tuning(plan: LaunchPlan, tuning: AutotuneSite) -> Place:
    return Place(tuning.path or plan.kernel.path, tuning.span)


def of_tuning_argument(plan: LaunchPlan, tuning: AutotuneSite, name: str) -> Place:
    """One argument of the decorator, or the decorator where it is not written out there."""
    span = tuning.argument_spans.get(name)
    inside = span is not None and tuning.span.line <= span.line and span.end_line <= tuning.span.end_line
    whole = of_tuning(plan, tuning)
    return replace(whole, span=span) if span is not None and inside else whole


def of_argument(context: Context, plan: LaunchPlan, name: str) -> Place:
    """An argument of the launch with its name, or the launch."""
    launch = plan.launch
    if launch is None:
        return of_kernel(plan)
    given = launch.options.get(name) or launch.arguments.get(name)
    span = given.span if given is not None else launch.span
    inside = launch.span.line <= span.line and span.end_line <= launch.span.end_line
    place = Place(launch.path or plan.kernel.path, span if inside else launch.span)
    return _with_name(context, place, name)


def is_written(plan: LaunchPlan) -> bool:
    """Whether the kernel stands in a file. That of a tuned file is one that the linter knows: its lines are nowhere."""
    return plan.tuning is None or not plan.tuning.tuned_file


def note_of_line(plan: LaunchPlan, line: int, message: str) -> tuple[Related, ...]:
    """What is said of a line of the kernel beside a finding: nothing where it has no line to show."""
    if not line or not is_written(plan):
        return ()
    return (Related(plan.kernel.path, Span(line, 1, line, 1), message),)
