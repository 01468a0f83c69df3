"""The autotune lists and launches of a file as plain data, for `tritonlint configs`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tritonlint.context import FileWork
from tritonlint.finding import located
from tritonlint.source.notebook import place_in
from tritonlint.source.sites import Config, LaunchPlan
from tritonlint.source.text import Cell
from tritonlint.source.values import Bounded, DType, Knowledge, Known, OneOf, Unknown


def sites_of(work: FileWork) -> list[dict[str, Any]]:
    """One object a site, in the order of the file: INTERFACE, `configs`. On the first GPU of the targets. What stands in
    a notebook has the number of its `cell` besides, and `line` counts in that."""
    path, gpu = work.path, work.targets.gpus[0]
    sites: dict[tuple[Any, ...], dict[str, Any]] = {}
    for plan in work.plans_on(gpu).values():
        for key, site in _of_plan(path, plan):
            sites.setdefault(key, site)
    found = sorted(sites.values(), key=lambda site: (site["line"], site["kind"]))
    cells = work.module.file.cells
    return [_in_cell(site, cells) if site["path"] == path else site for site in found] if cells else found


def _in_cell(site: dict[str, Any], cells: Sequence[Cell]) -> dict[str, Any]:
    """The site with its place in the cell, and its configs with theirs."""
    placed = _placed(site, cells)
    return {**placed, "configs": [_placed(config, cells) for config in site["configs"]]}


def _placed(record: dict[str, Any], cells: Sequence[Cell]) -> dict[str, Any]:
    cell, line = place_in(cells, record["line"])
    return record if cell is None else {**record, "line": line, "cell": cell}


def _of_plan(path: str, plan: LaunchPlan) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    kernel = plan.kernel
    if plan.tuning is not None:
        tuning = plan.tuning
        yield (
            ("autotune", kernel.path, kernel.span, tuning.span),
            {
                "path": kernel.path or path,
                "line": kernel.span.line,
                "kind": "tuned-file" if path.endswith(".json") else "autotune",
                "kernel": kernel.name or None,
                "resolved": tuning.resolved,
                "reason": tuning.reason,
                "alternatives": tuning.alternatives,
                "key": list(tuning.key) if tuning.key is not None else None,
                "configs": [_config(config) for config in tuning.configs],
                "constants": {},
                "grid": None,
            },
        )
    if plan.launch is not None:
        launch = plan.launch
        constants = _constants(plan)
        unknown = [
            name for name, value in constants.items() if isinstance(value, dict) and "unknown" in value
        ]
        reason = f"{', '.join(unknown)} not known: {constants[unknown[0]]['unknown']}" if unknown else None
        yield (
            ("launch", launch.path, launch.span),
            {
                "path": launch.path or path,
                "line": launch.span.line,
                "kind": "launch",
                "kernel": kernel.name or None,
                "resolved": not unknown and not launch.splat_unknown,
                "reason": reason or ("further arguments are not known" if launch.splat_unknown else None),
                "alternatives": len(plan.candidates) > 1 and plan.tuning is None,
                "key": [],
                "configs": []
                if plan.tuning is not None
                else [_launched(plan, one) for one in plan.candidates],
                "constants": constants,
                "grid": launch.grid.text if launch.grid is not None else None,
            },
        )


def _constants(plan: LaunchPlan) -> dict[str, Any]:
    """What the launch gives beside a config. A constant that the candidates have several values of is one of those."""
    values: dict[str, dict[str, Knowledge]] = {}  # by name, then by text: True and 1 are two
    for candidate in plan.candidates:
        tuned = candidate.config.kwargs if candidate.config is not None else {}
        for name, value in candidate.constants.items():
            if name not in tuned:
                values.setdefault(name, {}).setdefault(repr(value), value)
    return {name: _one_of(tuple(several.values())) for name, several in values.items()}


def _one_of(several: Sequence[Knowledge]) -> Any:
    """Every value that is left. The first as it is where there is one, or where not all are known."""
    known: dict[str, Any] = {}
    for value in several:
        if not isinstance(value, (Known, OneOf)):
            return plain(several[0])
        each = value.values if isinstance(value, OneOf) else (value.value,)
        known.update((repr(one), one) for one in each)
    return plain(OneOf(tuple(known.values())) if len(several) > 1 else several[0])


def _config(config: Config) -> dict[str, Any]:
    return {
        "line": config.span.line,
        "kwargs": {name: plain_value(value) for name, value in config.kwargs.items()},
        "num_warps": plain_value(config.num_warps),
        "num_stages": plain_value(config.num_stages),
        "num_ctas": plain_value(config.num_ctas),
        "maxnreg": plain_value(config.maxnreg),
    }


def _launched(plan: LaunchPlan, candidate: Any) -> dict[str, Any]:
    """What a launch without a list gives, in the form of a config."""
    line = plan.launch.span.line if plan.launch is not None else plan.kernel.span.line
    return {
        "line": line,
        "kwargs": {name: plain(value) for name, value in candidate.constants.items()},
        "num_warps": plain(candidate.num_warps),
        "num_stages": plain(candidate.num_stages),
        "num_ctas": plain(candidate.num_ctas),
        "maxnreg": plain(candidate.maxnreg),
    }


def plain(knowledge: Any) -> Any:
    """What is known of a value, as JSON can hold it: the value, {"one_of": [...]}, {"at_least", "at_most"},
    or {"unknown": why}."""
    if isinstance(knowledge, Known):
        return plain_value(knowledge.value)
    if isinstance(knowledge, OneOf):
        return {"one_of": [plain_value(value) for value in knowledge.values]}
    if isinstance(knowledge, Bounded):
        return {"unknown": knowledge.reason or "only bounds are known", "at_least": knowledge.low,
                "at_most": knowledge.high}  # fmt: skip
    if isinstance(knowledge, Unknown):
        return {"unknown": knowledge.reason}
    return plain_value(knowledge)


def plain_value(value: Any) -> Any:
    """A value of the evaluator as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, DType):
        return value.name
    if isinstance(value, (Known, OneOf, Bounded, Unknown)):
        return plain(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_value(entry) for entry in value]
    if isinstance(value, Mapping):
        return {str(name): plain_value(entry) for name, entry in value.items()}
    return str(getattr(value, "name", None) or type(value).__name__)


def text_lines(sites: Iterable[Mapping[str, Any]]) -> list[str]:
    """The same for reading."""
    lines: list[str] = []
    for site in sites:
        count = len(site["configs"])
        known = f"{count} config{'s' if count != 1 else ''}" if site["kind"] != "launch" else "launch"
        state = "" if site["resolved"] else f"; not resolved: {site['reason'] or 'values are not known'}"
        either = "; of every branch of a condition" if site["alternatives"] else ""
        place = located(site["path"], site.get("cell"))
        lines.append(f"{place}:{site['line']}: {site['kernel'] or '?'}: {known}{either}{state}")
        if site["key"]:
            lines.append(f"  key: {', '.join(map(str, site['key']))}")
        if site["grid"]:
            lines.append(f"  grid: {site['grid']}")
        for config in site["configs"]:
            values = {**config["kwargs"], **{name: config[name] for name in ("num_warps", "num_stages")}}
            if config["num_ctas"] not in (1, None):
                values["num_ctas"] = config["num_ctas"]
            if config["maxnreg"] is not None:
                values["maxnreg"] = config["maxnreg"]
            shown = ", ".join(f"{name}={short(value)}" for name, value in values.items())
            where = f"cell {config['cell']}:" if "cell" in config else ""
            lines.append(f"  {where}{config['line']}: {shown}")
    return lines


def short(value: Any) -> str:
    if isinstance(value, dict) and "unknown" in value:
        return "?"
    if isinstance(value, dict) and "one_of" in value:
        return "|".join(str(entry) for entry in value["one_of"])
    return str(value)
