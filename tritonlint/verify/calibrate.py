"""From paths to what `tritonlint calibrate` compares: with the facts of files, else with what is compiled now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tritonlint.attached_facts import AttachedFacts
from tritonlint.compiler.target import Target
from tritonlint.facts.reading import FactBook
from tritonlint.facts.record import Numbers
from tritonlint.launch_model import known_options
from tritonlint.settings import Resolver
from tritonlint.verify.asked import Asked
from tritonlint.verify.calibration import Compared
from tritonlint.verify.engine import Answer, Engine
from tritonlint.verify.run import Progress, Wanted, compiled, wanted_launches
from tritonlint.verify.store import Store


@dataclass(frozen=True, slots=True)
class Calibration:
    """`without`: complete launches for which nothing is known, and how many of them have which reason. `problems`: files
    that cannot be read."""

    compared: tuple[Compared, ...]
    without: int
    problems: tuple[tuple[str, str], ...]
    reasons: Mapping[str, int] = field(default_factory=dict)


def from_facts(wanted: Wanted, resolver: Resolver, book: FactBook, triton: str | None) -> Calibration:
    """Compares with facts that were read, for every release that they are of, or for one. Raises SettingsError."""
    told = sorted({fact.triton for name in book.kernels for fact in book.of(name) if fact.triton is not None})
    releases = [triton] if triton else [f"{major}.{minor}" for major, minor in told] or [""]
    parts = []
    for release in releases:
        asked, problems, _ = wanted_launches(wanted, resolver, release)
        pairs = [(one, _fact(one, book)) for one in asked if one.job is not None]
        parts.append(_calibration(pairs, problems, release))
    compared = tuple(one for part in parts for one in part.compared)
    return Calibration(compared, sum(part.without for part in parts), parts[-1].problems)


def from_compiler(
    wanted: Wanted, resolver: Resolver, engine: Engine, store: Store, progress: Progress | None = None
) -> Calibration:
    """Compares with the installed Triton. Raises SettingsError, NoTriton."""
    triton = engine.triton()
    asked, problems, _ = wanted_launches(wanted, resolver, triton)
    answers = compiled(asked, engine, store, progress)
    pairs = [(one, _numbers(answers.get(one.job.key))) for one in asked if one.job is not None]
    failed = (answers.get(one.job.key) for one, numbers in pairs if numbers is None and one.job is not None)
    reasons = Counter(answer.error for answer in failed if answer is not None)
    return replace(_calibration(pairs, problems, triton), reasons=dict(reasons.most_common()))


def _fact(one: Asked, book: FactBook) -> Numbers | None:
    work = one.work
    options, _ = known_options(one.candidate)
    if options is None:
        return None
    facts = AttachedFacts(book, work.targets.triton, work.launches_of, work.model.trace)
    fact = facts.of(work.model.launch(one.plan, one.candidate, options), one.gpu)
    return fact.numbers if fact is not None else None


def _numbers(answer: Answer | None) -> Numbers | None:
    if answer is None or answer.kind:
        return None
    return Numbers(
        answer.shared_bytes, answer.registers, answer.spills, answer.tensor_memory_columns, answer.warps
    )


def _calibration(
    pairs: Sequence[tuple[Asked, Numbers | None]], problems: Sequence[tuple[str, str]], triton: str
) -> Calibration:
    found = tuple(_compared(pairs, triton))
    return Calibration(found, sum(numbers is None for _, numbers in pairs), tuple(problems))


def _compared(pairs: Sequence[tuple[Asked, Numbers | None]], triton: str) -> Iterator[Compared]:
    for one, numbers in pairs:
        options, _ = known_options(one.candidate)
        if numbers is None or options is None:
            continue
        model = one.work.model
        target = Target(one.gpu.arch)
        trace = model.trace(model.launch(one.plan, one.candidate, options), target)
        if trace.errors:
            continue
        estimate = model.compiled(trace, options, target, "compiler")
        yield Compared(
            one.path,
            one.line,
            one.kernel,
            one.config,
            one.gpu.arch,
            triton or one.work.targets.triton_name,
            estimate,
            numbers,
            one.assumptions,
        )
