"""From a linted file's plans to what an editor shows of them. Runs in the worker, where the estimates are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritonlint.sites_report import plain, plain_value, short
from tritonlint.span import Span
from tritonlint_server.sites import ConfigList, MetaParameter, Part, Row, Site, Survey

if TYPE_CHECKING:
    from tritonlint.context import PlanContext
    from tritonlint.rule import EstimateOf
    from tritonlint.source.sites import Candidate, LaunchPlan

MAX_SITES = 2_000  # beyond that nobody looks at each
MAX_VALUES = 12
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


class _Gathered:
    """One site while its rows come in."""

    def __init__(self, kind: Any, kernel: str, title: str, span: Span) -> None:
        self.kind, self.kernel, self.title, self.span = kind, kernel, title, span
        self.rows: dict[str, list[Row]] = {}
        self.titles: dict[str, None] = {title: None}

    def site(self) -> Site:
        return Site(
            self.kind, self.kernel, self.title, self.span,
            tuple(_worst(rows) for rows in self.rows.values()), len(self.titles),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """What one plan shows: rows with what and where they are about, its list, its meta-parameters."""

    rows: tuple[tuple[str, str, Span, str, Row], ...]  # kind, kernel, span, title
    lists: tuple[ConfigList, ...] = ()
    parameters: tuple[MetaParameter, ...] = ()


def seen(context: PlanContext) -> Seen:
    """Every config and launch of a plan that stands in the file, on each GPU."""
    plan, path = context.plan, context.path
    rows: list[tuple[str, str, Span, str, Row]] = []
    for gpu in context.gpus:
        for of in context.estimates(gpu):
            where = _where(plan, of.candidate, path)
            if where is not None:
                rows.append((where[0], plan.kernel.name, where[1], _title(of.candidate), _row(of)))
    tuning = plan.tuning
    listed = tuning is not None and (tuning.path or path) == path
    own = (plan.kernel.path or path) == path
    return Seen(
        tuple(rows), (_list(context, plan),) if listed else (), tuple(_parameters(plan)) if own else ()
    )


def survey(plans: Iterable[Seen]) -> Survey:
    """What all plans of a file show: each config and launch once."""
    sites: dict[tuple[str, Span], _Gathered] = {}
    lists: dict[Span, ConfigList] = {}
    parameters: dict[tuple[str, Span], MetaParameter] = {}
    for plan in plans:
        for kind, kernel, span, title, row in plan.rows:
            where = (kind, span)
            if where not in sites:
                if len(sites) >= MAX_SITES:
                    continue
                sites[where] = _Gathered(kind, kernel, title, span)
            sites[where].titles.setdefault(title)
            sites[where].rows.setdefault(row.gpu, []).append(row)
        for listed in plan.lists:
            lists.setdefault(listed.span, listed)
        for parameter in plan.parameters:
            parameters.setdefault((parameter.kernel, parameter.span), parameter)
    return Survey(
        tuple(gathered.site() for gathered in sites.values()),
        tuple(lists.values()),
        tuple(parameters.values()),
    )


def _where(plan: LaunchPlan, candidate: Candidate, path: str) -> tuple[str, Span] | None:
    """What kind of text a candidate comes from, and where it stands; None where that is another file."""
    config = candidate.config
    if config is not None:
        return ("config", config.span) if (config.path or plan.kernel.path or path) == path else None
    launch = plan.launch
    if launch is None or (launch.path or path) != path:
        return None
    return ("launch", launch.span)


def _title(candidate: Candidate) -> str:
    config = candidate.config
    values: dict[str, Any]
    if config is not None:
        values = {name: plain_value(value) for name, value in config.kwargs.items()}
    else:
        values = {name: plain(value) for name, value in candidate.constants.items()}
    for name in _OPTIONS:
        value = plain(getattr(candidate, name))
        if name in ("num_warps", "num_stages") or value not in (None, 1):
            values[name] = value
    return ", ".join(f"{name}={short(value)}" for name, value in values.items())


def _row(of: EstimateOf) -> Row:
    estimate = of.estimate
    if estimate is None:
        return Row(of.gpu.name, unknown="; ".join(of.unknown) or "not known")
    compiled = estimate.compiled
    waves, time = estimate.waves, estimate.time_ms
    return Row(
        gpu=of.gpu.name,
        fits=estimate.fits,
        why_not=tuple(estimate.why_not),
        shared_bytes=estimate.shared_bytes,
        shared_exact=estimate.shared_exact,
        shared_limit=of.gpu.shared_bytes_per_cta,
        registers=estimate.registers,
        spills=estimate.spills,
        ctas_per_sm=estimate.ctas_per_sm,
        occupancy=estimate.occupancy,
        limiter=estimate.limiter,
        limits=tuple(estimate.limits.items()),
        tensor_cores=estimate.tensor_cores,
        tensor_memory_columns=estimate.tensor_memory_columns,
        full_waves=waves.full if waves else None,
        last_wave=waves.last if waves else 0.0,
        efficiency=waves.efficiency if waves else 0.0,
        programs=waves.programs if waves else 0,
        time_ms=time.total if time else None,
        bound=estimate.bound,
        parts=tuple(
            Part(part.label, part.shared_bytes, part.line, part.live_at_peak) for part in compiled.parts
        )
        if compiled is not None
        else (),
        reasons=tuple(compiled.reasons) if compiled is not None else (),
        assumptions=tuple(estimate.assumptions),
    )


def _worst(rows: Sequence[Row]) -> Row:
    """Of several answers for one text the one with the most shared memory, refused ones first."""
    from dataclasses import replace

    known = list(dict.fromkeys(row for row in rows if not row.unknown))
    if not known:
        return rows[0]
    worst = max(known, key=lambda row: (not row.fits, row.shared_bytes, -row.ctas_per_sm))
    numbers = {(row.shared_bytes, row.ctas_per_sm, row.limiter) for row in known}
    return replace(worst, variants=len(numbers))


def _list(context: PlanContext, plan: LaunchPlan) -> ConfigList:
    assert plan.tuning is not None
    fitting: dict[str, int] = {}
    known: dict[str, int] = {}
    for gpu in context.gpus:
        answers = [of.estimate for of in context.estimates(gpu) if of.candidate.config is not None]
        known[gpu.name] = sum(answer is not None for answer in answers)
        fitting[gpu.name] = sum(answer is not None and answer.fits for answer in answers)
    tuning = plan.tuning
    return ConfigList(plan.kernel.name, tuning.span, len(tuning.configs), fitting, known, tuning.resolved)


def _parameters(plan: LaunchPlan) -> Iterable[MetaParameter]:
    for parameter in plan.kernel.parameters:
        if not parameter.constexpr or parameter.span is None:
            continue
        values = dict.fromkeys(
            short(plain(candidate.constants[parameter.name]))
            for candidate in plan.candidates
            if parameter.name in candidate.constants
        )
        shown = tuple(values)[:MAX_VALUES] + (("...",) if len(values) > MAX_VALUES else ())
        yield MetaParameter(parameter.name, plan.kernel.name, parameter.span, shown)
