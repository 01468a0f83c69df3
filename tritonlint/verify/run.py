"""From paths to rows: finds what is launched, has it compiled, estimates it meanwhile, compares."""

from __future__ import annotations

import fnmatch
import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tritonlint.context import FileWork
from tritonlint.discovery import discover
from tritonlint.gpu.profile import GpuProfile
from tritonlint.kernel.ir import Block
from tritonlint.launch_model import OPTION_NAMES
from tritonlint.lint import relevant
from tritonlint.result_cache import code_digest
from tritonlint.settings import Resolver, Settings, SettingsError, near, with_overrides
from tritonlint.targets import Targets, choose
from tritonlint.verify.asked import Asked, CompileJob, asked_of
from tritonlint.verify.engine import Answer, Engine, NoTriton, Running
from tritonlint.verify.rows import STATES, Row, row_of
from tritonlint.verify.store import Store

Progress = Callable[[int, int], None]  # compiles done, compiles in all


@dataclass(frozen=True, slots=True)
class Report:
    """`rows` come with disagreements first. `problems` are files that cannot be read: (path, why)."""

    rows: tuple[Row, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    triton: str = ""
    no_triton: str = ""
    gpus: tuple[str, ...] = ()
    compiled: int = 0  # in this run
    kept: int = 0  # from an earlier one

    def counts(self) -> dict[str, int]:
        found = Counter(row.state for row in self.rows)
        return {state: found[state] for state in STATES}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to verify and how. `types` hold for arguments of which nothing else tells the type,
    `sets` for constants of which nothing tells the value. `per_kernel` and `sample` are the most that are compiled
    for each GPU: of one kernel, and in all."""

    paths: Sequence[str]
    gpus: Sequence[str] = ()
    types: dict[str, str] = field(default_factory=dict)
    sets: dict[str, Any] = field(default_factory=dict)
    per_kernel: int | None = None
    sample: int | None = None


def verify(
    wanted: Wanted, resolver: Resolver, engine: Engine, store: Store, progress: Progress | None = None
) -> Report:
    """Every launch and config below the paths with the compiler's answer. Raises SettingsError for settings, GPUs and
    types that are wrong, nothing for what stands in the files."""
    try:
        triton, no_triton = engine.triton(), ""
    except NoTriton as error:
        triton, no_triton = "", str(error)
    asked, problems, gpus = wanted_launches(wanted, resolver, triton)
    answers: dict[str, Answer] = {}
    collect: _Collector | None = None
    if no_triton:
        keys = [one.job.key for one in asked if one.job is not None]
        answers = {key: Answer(key, "no-triton", no_triton) for key in keys}
    else:
        collect = _begun(asked, answers, engine, store, progress)
    kept = len(answers) if collect is not None else 0
    estimates = _Estimates(store)
    pairs: list[tuple[Asked, dict[str, Any] | None]] = []
    for one in asked:
        pairs.append((one, estimates.of(one) if one.job is not None else None))
        if collect is not None:
            collect.ready()
    if collect is not None:
        collect.rest()
    rows = [row_of(one, estimated, answers.get(one.job.key) if one.job else None) for one, estimated in pairs]
    rows.sort(key=lambda row: STATES.index(row.state))
    new = len(answers) - kept if collect is not None else 0
    return Report(tuple(rows), tuple(problems), triton, no_triton, tuple(gpus), new, kept)


def wanted_launches(
    wanted: Wanted, resolver: Resolver, triton: str
) -> tuple[list[Asked], list[tuple[str, str]], dict[str, None]]:
    """(launches, files that cannot be read with why, names of the GPUs). Raises SettingsError."""
    found = discover(wanted.paths, resolver)
    problems = [(entry.path, entry.reason) for entry in found.problems]
    asked: list[Asked] = []
    names: dict[str, None] = {}
    constants: set[str] = set()
    arguments: set[str] = set()
    for path in found.files:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            problems.append((path, f"cannot be read: {error.strerror or error}"))
            continue
        if not relevant(path, data):
            continue
        settings = with_overrides(
            resolver.for_path(Path(path)), {"facts": ()}
        )  # estimates are what is compared
        if wanted.types:
            settings = with_overrides(settings, {"default_types": {**wanted.types, **settings.default_types}})
        targets = choose(settings, Path(path).absolute().parent, wanted.gpus, triton or None)
        names.update(dict.fromkeys(targets.names))
        own = _of_file(path, data, settings, targets, wanted.sets)
        for parameters in {id(one.plan.kernel): one.plan.kernel.parameters for one in own}.values():
            constants.update(parameter.name for parameter in parameters if parameter.constexpr)
            arguments.update(parameter.name for parameter in parameters if not parameter.constexpr)
        if wanted.per_kernel is not None:
            own = spread(own, wanted.per_kernel, lambda one: (one.kernel, one.gpu.name))
        asked += own
    if asked:
        _refuse_unknown("--set", wanted.sets, constants.union(OPTION_NAMES), "constant")
        _refuse_unknown("--type", wanted.types, arguments, "run-time argument")
    if wanted.sample is not None:
        asked = spread(asked, wanted.sample, lambda one: (one.gpu.name,))
    return asked, problems, names


def _refuse_unknown(option: str, given: Iterable[str], known: Collection[str], what: str) -> None:
    """Raises SettingsError for a name or pattern that fits nothing: it would be passed over without a word."""
    for name in given:
        if not fnmatch.filter(known, name):
            raise SettingsError(
                f"{option} {name}: no launched kernel has such a {what}{near(name, sorted(known))}"
            )


def _of_file(
    path: str, data: bytes, settings: Settings, targets: Targets, sets: Mapping[str, Any]
) -> list[Asked]:
    """GPUs for which the file means the same are read once; where names of its kernels mean something else on one of
    them, each is read by itself."""
    work = FileWork(path, data, settings, targets)
    own = list(asked_of(work, sets))
    if work.differs:
        own = list(asked_of(FileWork(path, data, settings, targets, apart=True), sets))
    return own


def spread(asked: Iterable[Asked], limit: int, group: Callable[[Asked], tuple[str, ...]]) -> list[Asked]:
    """At most so many of each group, spread evenly: of the complete ones, or where none is, of those that say why not."""
    groups: dict[tuple[str, ...], list[Asked]] = {}
    for one in asked:
        groups.setdefault(group(one), []).append(one)
    kept: list[Asked] = []
    for members in groups.values():
        own = [one for one in members if one.job is not None] or members
        count = min(limit, len(own))
        kept += [own[number * len(own) // count] for number in range(count)]
    return kept


def compiled(
    asked: Iterable[Asked], engine: Engine, store: Store, progress: Progress | None = None
) -> dict[str, Answer]:
    """The answer of every complete launch by the key of its job, kept ones and new ones. Raises NoTriton."""
    answers: dict[str, Answer] = {}
    collect = _begun(asked, answers, engine, store, progress)
    collect.rest()
    return answers


def _begun(
    asked: Iterable[Asked],
    answers: dict[str, Answer],
    engine: Engine,
    store: Store,
    progress: Progress | None,
) -> _Collector:
    """Starts to compile what was not kept; `answers` fills up."""
    triton = engine.triton()
    jobs: dict[str, tuple[CompileJob, GpuProfile]] = {}
    for one in asked:
        if one.job is not None:
            jobs.setdefault(one.job.key, (one.job, one.gpu))
    for key in jobs:
        kept = store.get("compiled", f"{triton} {key}")
        if kept is not None:
            answers[key] = Answer(**kept)
    running = engine.start([pair for key, pair in jobs.items() if key not in answers])
    return _Collector(running, answers, store, triton, len(jobs), progress)


class _Collector:
    """Takes answers as they come and keeps them for the next run."""

    def __init__(
        self,
        running: Running,
        answers: dict[str, Answer],
        store: Store,
        triton: str,
        total: int,
        progress: Progress | None,
    ) -> None:
        self._running, self._answers, self._store = running, answers, store
        self._triton, self._total, self._progress = triton, total, progress

    def ready(self) -> None:
        self._take(self._running.ready())

    def rest(self) -> None:
        self._take(iter(self._running))

    def _take(self, answers: Iterable[Answer]) -> None:
        for answer in answers:
            self._answers[answer.key] = answer
            if answer.lasting:
                self._store.put("compiled", f"{self._triton} {answer.key}", answer.to_json())
            if self._progress is not None:
                self._progress(len(self._answers), self._total)


class _Estimates:
    """Estimates, kept between runs for as long as nothing of the model changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._mark = code_digest().hex()

    def of(self, asked: Asked) -> dict[str, Any]:
        assert asked.job is not None
        work = asked.work
        parts = (
            self._mark,
            asked.job.key,
            asked.gpu.model_dump_json(),
            work.targets.triton_name,
            *asked.assumptions,
        )
        key = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        found = self._store.get("estimated", key)
        if found is None:
            of = work.model.estimate(asked.plan, asked.candidate, asked.gpu)
            refused = of.trace is not None and bool(of.trace.errors)
            estimate = of.estimate.to_json() if of.estimate is not None else None
            if estimate is not None:
                estimate["steps"] = []
            assembly = of.trace is not None and holds_assembly(of.trace.function.body)
            found = {
                "estimate": estimate, "why": list(of.unknown), "refused": refused, "assembly": assembly
            }  # fmt: skip
            self._store.put("estimated", key, found)
        return found


def holds_assembly(block: Block) -> bool:
    """Whether the user's own inline assembly is left in it; that of Triton's library has no constraints here."""
    return any(
        (op.name == "tt.elementwise_inline_asm" and "constraints" in op.attrs)
        or any(holds_assembly(inner) for inner in op.blocks)
        for op in block.ops
    )
