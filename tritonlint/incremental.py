"""A file that is linted again and again while it is edited: what an edit cannot have changed is not done again.

The file is cut into top-level statements (source.pieces). Which of them a plan can depend on is read off their names
(source.reach). Plans are kept for as long as those statements stay, and what the rules said of a plan for as long as the
plan and its kernel's text stay; what is to be done again is done on a file that holds nothing else. Other files that
were looked at on the way are kept in mind with their times and sizes.

The result is that of `lint.lint_source` for the same text. A text that cannot be cut up is linted whole.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tritonlint.assumption_checks import assumption_problems
from tritonlint.context import FileWork, Lookups, PlanContext, PlanKey, plan_key
from tritonlint.disk import Stamp, stamp
from tritonlint.finding import CERTAINTIES, Certainty, Finding
from tritonlint.gpu.profile import GpuProfile
from tritonlint.launch_model import Model
from tritonlint.lint import (
    FileProblem,
    FileResult,
    FileStats,
    ReadFile,
    checked,
    finished,
    relevant,
    rules_for,
)
from tritonlint.moved import Lines as LineMap
from tritonlint.moved import moved_finding, moved_span, moved_text
from tritonlint.registry import registry
from tritonlint.settings import Settings
from tritonlint.source.comments import Assumption, Comments, read_comments
from tritonlint.source.hooks import hooks_from
from tritonlint.source.interpreter import Interpreter
from tritonlint.source.kernel_sources import KernelScope
from tritonlint.source.kernels import Kernel
from tritonlint.source.module import Module, first_code_line
from tritonlint.source.pieces import NotInPiecesError, Piece, Pieces, pieces_of, syntax_problem
from tritonlint.source.problem import Problem
from tritonlint.source.project import Project
from tritonlint.source.reach import Facts, Group, Reach, Told, facts_of
from tritonlint.source.shared_platform import SharedPlatform
from tritonlint.source.sites import KernelSource, LaunchPlan
from tritonlint.source.text import Lines, SourceFile, load
from tritonlint.targets import Targets, platform
from tritonlint.trace_store import TraceStore

Observe = Callable[[PlanContext], Any]
MAX_CHARACTERS = 2_000_000  # longer files are linted whole
_GENERATIONS = 4  # of plans and findings that are kept, so that undoing an edit costs nothing
Key = TypeVar("Key")
Value = TypeVar("Value")


Bodies = tuple[tuple[int, str], ...]  # lines and texts of pieces


class _Cancelled(Exception):
    pass


class _Differs(Exception):
    """A name means something else on one of the GPUs that shared a reading."""


@dataclass(frozen=True, slots=True)
class Linted:
    """`observed` is what the observer made of each plan, in the order of the file; `lines` turns the lines that it saw
    into those of the file."""

    result: FileResult
    observed: tuple[Any, ...] = ()
    lines: LineMap = field(default=lambda line: line)


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """One plan on each GPU that it is there on, its lines pinned. `told_by` says all of it but its kernel's body,
    which is read anew each time where it is a statement of the file."""

    key: PlanKey
    gpus: tuple[GpuProfile, ...]
    gpus_chosen: bool
    on: Mapping[str, LaunchPlan]
    told_by: bytes
    root: int  # pinned line of its piece
    kernel: int | None  # pinned line of the kernel's piece
    lookups: Lookups | None  # of the names of a kernel are looked up that is not read anew


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """The plans of a group of statements, and what went wrong."""

    plans: tuple[_Plan, ...]
    problems: tuple[Problem, ...]
    looked_at: Mapping[str, Stamp]
    names: frozenset[str]  # that were looked up
    heads: tuple[Told, ...]  # of the pieces that this hangs on
    bodies: Bodies | None  # what the bodies of kernels were, where a plan holds on to these


@dataclass(frozen=True, slots=True, eq=False)
class _Judgement:
    """What the rules said of one plan, its lines pinned."""

    plan: _Plan  # keeps what `told_by` tells apart by its address
    findings: tuple[Finding, ...]
    problems: tuple[FileProblem, ...]
    observed: Any
    says: Mapping[re.Pattern[str], bool]
    looked_at: Mapping[str, Stamp]
    source: Bodies | None  # what the rules saw of the text, where they looked at it


class _Readings:
    """The last readings of groups of statements: those that are asked for least go first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, tuple[_Reading, ...]] = OrderedDict()

    def of(self, key: Any) -> tuple[_Reading, ...]:
        """Those of the same statements, the newest first: what these hang on may have been another."""
        return _get(self._kept, key) or ()

    def put(self, key: Any, reading: _Reading, most: int) -> None:
        """Keeps one more, and no more than so many."""
        _put(self._kept, key, (reading, *self.of(key)), most)
        left = sum(1 for _ in self)
        while left > most:
            oldest, readings = next(iter(self._kept.items()))
            if len(readings) > 1:
                self._kept[oldest] = readings[:-1]
            else:
                del self._kept[oldest]
            left -= 1

    def clear(self) -> None:
        self._kept.clear()

    def __iter__(self) -> Iterator[_Reading]:
        return (reading for kept in self._kept.values() for reading in kept)


class EditedFile:
    """One file of an editor. Not for use by two threads at once."""

    def __init__(
        self, path: str, settings: Settings, targets: Targets, certainty: Certainty, observe: Observe,
        store: TraceStore | None = None,
    ) -> None:  # fmt: skip
        """Raises SettingsError as `lint_source` does."""
        self.path = path
        self.settings = settings
        self.targets = targets
        self.certainty = certainty
        self.observe = observe
        self.store = store or TraceStore()
        self.known = registry()
        self.rules = rules_for(path, settings, self.known)
        self._pieces: Pieces | None = None
        self._facts: dict[int, tuple[Piece, Facts]] = {}
        self._comments: dict[tuple[str, int], Comments] = {}
        self.readings = _Readings()
        self.judgements: OrderedDict[Any, _Judgement] = OrderedDict()
        self.apart = False

    def lint(self, content: str | bytes, cancelled: Callable[[], bool] = lambda: False) -> Linted | None:
        """What `lint_source` gives for the content; None where it was cancelled. Raises NotInPiecesError."""
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        if not relevant(self.path, data):
            return Linted(FileResult(self.path))
        file = load(self.path, data)
        if file.kind != "python" or file.problems or len(file.text) > MAX_CHARACTERS:
            raise NotInPiecesError
        self._pieces = pieces_of(file.text, self._pieces)
        now = _Now(self, file, self._pieces, cancelled)
        try:
            return now.lint()
        except _Cancelled:
            return None
        except _Differs:
            # As `lint` does: all is done again, with a reading for each GPU; and so from now on.
            self.apart = True
            self.readings.clear()
            self.judgements.clear()
            return self.lint(content, cancelled)

    # --- what is kept

    def facts(self, pieces: Pieces) -> list[Facts]:
        kept, self._facts = self._facts, {}
        for piece in pieces.pieces:
            self._facts[id(piece)] = kept.get(id(piece)) or (piece, facts_of(piece))
        return [self._facts[id(piece)][1] for piece in pieces.pieces]

    def comments(self, pieces: Pieces, text: str) -> Comments:
        """Those of the file, in its own lines."""
        if "tritonlint" not in text.lower():
            return Comments()
        first = first_code_line(statement for piece in pieces.pieces for statement in piece.statements)
        first = pieces.real(first)
        if pieces.error is not None:
            return read_comments(text, self.path, first)
        kept, self._comments = self._comments, {}
        found: list[Comments] = []
        for piece, line in zip(pieces.pieces, pieces.first_lines, strict=True):
            if "tritonlint" in piece.text.lower():
                mark = (piece.text, line)
                shown = kept.get(mark) if first >= line + piece.count or first <= line else None
                self._comments[mark] = shown or read_comments(
                    "\n" * (line - 1) + piece.text, self.path, first
                )
                found.append(self._comments[mark])
        return Comments(
            tuple(one for part in found for one in part.suppressions),
            tuple(one for part in found for one in part.assumptions),
            tuple(one for part in found for one in part.problems),
        )


class _Now:
    """One text of an edited file."""

    def __init__(
        self, file: EditedFile, source: SourceFile, pieces: Pieces, cancelled: Callable[[], bool]
    ) -> None:
        self.file = file
        self.source = source
        self.pieces = pieces
        self.cancelled = cancelled
        self.problem = syntax_problem(pieces.error, file.path) if pieces.error is not None else None
        self.comments = file.comments(pieces, source.text)
        self.facts = file.facts(pieces)
        self.reach = Reach(self.facts, self._together())
        self.lines = pieces.lines()
        self._stamps: dict[str, Stamp] = {}
        self._fresh: dict[int, bool] = {}
        self._said: dict[re.Pattern[str], bool] = {}

    def lint(self) -> Linted:
        file = self.file
        readings = self._read()
        plans = sorted((plan for reading in readings for plan in reading.plans), key=self._order)
        judgements = self._judge(plans)
        problems = [problem for one in judgements for problem in one.problems]
        findings = [
            moved_finding(one, file.path, self.pieces.real)
            for judged in judgements
            for one in judged.findings
        ]
        wrong = [self._moved_problem(problem) for reading in readings for problem in reading.problems]
        wrong = list(dict.fromkeys(sorted(wrong, key=lambda problem: problem.span)))
        syntax = [self.problem] if self.problem is not None else []
        read = ReadFile(
            file.path,
            self.source.text,
            (*syntax, *self.comments.problems, *wrong, *self._assumption_problems(plans)),
            self.comments.suppressions,
        )
        result = finished(read, findings, problems, file.settings, file.rules, file.known)
        least = CERTAINTIES.index(file.certainty)
        outer = (FileProblem("tritonlint", text, True) for text in file.known.problems)
        result = replace(
            result,
            findings=tuple(one for one in result.findings if CERTAINTIES.index(one.certainty) >= least),
            problems=(*outer, *result.problems),
            stats=FileStats(True),
            targets=file.targets.described(),
        )
        return Linted(result, tuple(one.observed for one in judgements), self.pieces.real)

    def _assumption_problems(self, plans: Sequence[_Plan]) -> list[Problem]:
        return assumption_problems(
            self.comments.assumptions,
            self.file.path,
            self.file.targets.own,
            None
            if self.problem is not None
            else [statement for piece in self.pieces.pieces for statement in piece.statements],
            [
                parameter.name
                for plan in plans
                for one in plan.on.values()
                for parameter in one.kernel.parameters
            ],
        )

    # --- plans

    def _read(self) -> list[_Reading]:
        """The plans of every group of statements."""
        groups = self.reach.groups()
        keys = {union: self._group_key(group) for union, group in groups.items()}
        found: dict[frozenset[int], _Reading] = {}
        for union, key in keys.items():
            for kept in self.file.readings.of(key):
                if self._holds(kept, union):
                    found[union] = kept
                    break
        missing = {union: groups[union] for union in groups if union not in found}
        if missing:
            made = self._read_again(missing)
            for union, reading in made.items():
                self.file.readings.put(keys[union], reading, _GENERATIONS * len(groups))
            found.update(made)
        return [found[union] for union in groups]

    def _group_key(self, group: Group) -> Any:
        assumed = tuple(repr(one) for one in self.comments.assumptions if one.scope == "file")
        pinned = self.pieces.pinned
        members = tuple(pinned[number] for number in sorted(group.members))
        return (members, tuple(pinned[number] for number in sorted(group.runs)), assumed)

    def _holds(self, reading: _Reading, union: frozenset[int]) -> bool:
        return (
            reading.heads == self.reach.heads(union, reading.names)
            and (reading.bodies is None or reading.bodies == self.bodies(union))
            and self._unchanged(reading.looked_at)
        )

    def bodies(self, chosen: frozenset[int]) -> Bodies:
        return tuple(self.pieces.pieces[number].key for number in sorted(chosen))

    def _read_again(self, groups: Mapping[frozenset[int], Group]) -> dict[frozenset[int], _Reading]:
        """The plans of some groups, read from a file that holds nothing else."""
        self._go_on()
        file = self.file
        runs = frozenset[int]().union(*(group.runs for group in groups.values()))
        work = FileWork(
            file.path,
            self.module_of(frozenset().union(*groups)),
            file.settings,
            file.targets,
            apart=file.apart,
            runs=frozenset(one.lineno for number in runs for one in self.pieces.pieces[number].statements),
        )
        contexts = work.contexts()
        looked_at = work.looked_at
        if file.path in looked_at:
            raise NotInPiecesError  # an imported file imports this one
        group_of = {number: union for union, group in groups.items() for number in group.members}
        plans: dict[frozenset[int], list[_Plan]] = {union: [] for union in groups}
        held: set[frozenset[int]] = set()
        for context in contexts:
            plan = self._plan(context, work)
            number = self.pieces.number_at(plan.root)
            if number not in self.reach.acting:
                raise NotInPiecesError  # a launch in a place that shows no sign of it
            union = group_of.get(number)
            if union is not None:
                plans[union].append(plan)
                if plan.kernel is None and any(one.kernel.path == file.path for one in plan.on.values()):
                    held.add(union)
        problems: dict[frozenset[int], list[Problem]] = {}
        for problem in work.problems:
            number = self.pieces.number_at(problem.span.line)
            union = group_of.get(number) if number is not None else None
            if union is not None:
                problems.setdefault(union, []).append(problem)
        found: dict[frozenset[int], _Reading] = {}
        for union, group in groups.items():
            concerned = group.members | group.runs
            names = work.names_for(lambda line, of=concerned: self.pieces.number_at(line) in of)  # type: ignore[misc]
            found[union] = _Reading(
                tuple(plans[union]),
                tuple(problems.get(union, ())),
                looked_at,
                names,
                self.reach.heads(union, names),
                self.bodies(union) if union in held else None,
            )
        return found

    def _plan(self, context: PlanContext, work: FileWork) -> _Plan:
        plan = context.plan
        kernel, launch = plan.kernel, plan.launch
        root = launch.span.line if launch is not None else kernel.span.line
        own = self._kernel_piece(kernel)
        on = {gpu.name: context.plan_on(gpu) for gpu in context.gpus}
        told = {id(one): (_told(one), None if own else id(one.kernel.node)) for one in on.values()}
        kept = {id(one): _without_body(one) if own else one for one in on.values()}
        return _Plan(
            context.key,
            tuple(context.gpus),
            context.gpus_chosen,
            {name: kept[id(one)] for name, one in on.items()},
            _digest(repr([(name, told[id(one)]) for name, one in on.items()])),
            root,
            kernel.span.line if own else None,
            None if own else work.lookups,
        )

    def _kernel_piece(self, kernel: KernelSource) -> bool:
        """Whether a kernel is a statement of this file, so that its body can be read anew."""
        if kernel.path != self.file.path:
            return False
        number = self.pieces.number_at(kernel.span.line)
        return number is not None and any(one is kernel.node for one in self.pieces.pieces[number].statements)

    # --- findings

    def _judge(self, plans: Sequence[_Plan]) -> list[_Judgement]:
        """What the rules say of each plan."""
        found: dict[int, _Judgement] = {}
        missing: list[tuple[_Plan, frozenset[int], Any]] = []
        for plan in plans:
            own, needed = self._needed(plan)
            key = (plan.told_by, plan.key, self.bodies(own))
            kept = _get(self.file.judgements, key)
            if (
                kept is not None
                and self._unchanged(kept.looked_at)
                and self._still_says(kept)
                and (kept.source is None or kept.source == self.bodies(needed))
            ):
                found[id(plan)] = kept
            else:
                missing.append((plan, needed, key))
        if missing:
            again = _Again(self, frozenset().union(*(needed for _, needed, _ in missing)))
            for plan, needed, key in missing:
                self._go_on()
                judgement = again.judge(plan, needed)
                _put(self.file.judgements, key, judgement, _GENERATIONS * len(plans))
                found[id(plan)] = judgement
        return [found[id(plan)] for plan in plans]

    def _needed(self, plan: _Plan) -> tuple[frozenset[int], frozenset[int]]:
        """The pieces that what is said of a plan can depend on, besides the plan; and with those that rules may look
        up in the text."""
        lines = {plan.root}
        for one in plan.on.values():
            lines.update(_lines_of(one, self.file.path))
        touched = frozenset(number for line in lines if (number := self.pieces.number_at(line)) is not None)
        beside = frozenset().union(*(self.reach.beside(number) for number in touched))
        # Other kernels that a host function names are none of this plan's business.
        needed = touched | {number for number in beside if not self.facts[number].kernel}
        if plan.kernel is not None:
            kernel = self.pieces.number_at(plan.kernel)
            used = self.reach.closure([kernel] if kernel is not None else [], head=False)
            return touched | used, needed | used
        if any(one.kernel.path == self.file.path for one in plan.on.values()):
            needed |= self.reach.closure(needed, head=False)
            return needed, needed
        return touched, needed

    def _still_says(self, kept: _Judgement) -> bool:
        return all(self.says(pattern) == said for pattern, said in kept.says.items())

    def says(self, pattern: re.Pattern[str]) -> bool:
        if pattern not in self._said:
            self._said[pattern] = any(
                pattern.search(line) for line in self.lines if line and not line.lstrip().startswith("#")
            )
        return self._said[pattern]

    # --- parts of the file

    def module_of(self, chosen: frozenset[int]) -> Module:
        """The file with nothing but some of its statements, its lines pinned."""
        statements = tuple(one for number in sorted(chosen) for one in self.pieces.pieces[number].statements)
        pinned = tuple(
            _pinned(one, self.pieces)
            for one in self.comments.assumptions
            if one.scope == "file" or self.pieces.number_at(self.pieces.pin(one.span.line)) in chosen
        )
        # Whoever looks for a place goes by the lines, which all texts of the file share; the text says what there is.
        text = SourceFile(
            self.file.path, "\n".join(self.pieces.pieces[number].text for number in sorted(chosen))
        )
        return Module(text, Lines(self.lines), statements, (), Comments((), pinned))

    def source_of(self, chosen: frozenset[int]) -> str:
        """The pinned text with nothing but those of the chosen pieces that parse."""
        sound = frozenset(number for number in chosen if self.pieces.pieces[number].sound)
        end = "\r\n" if "\r\n" in self.source.text else "\n"
        return end.join(self.pieces.lines(sound))

    def _together(self) -> list[range]:
        """Comments of ours and what they may be meant for."""
        found: list[range] = []
        for one in self.comments.assumptions:
            first = self.pieces.number_at(self.pieces.pin(one.span.line))
            if one.scope != "file" and first is not None:
                later = (n for n in range(first + 1, len(self.facts)) if self.facts[n].takes_comments)
                found.append(range(first, next(later, first) + 1))
        return found

    # --- the rest

    def _go_on(self) -> None:
        if self.cancelled():
            raise _Cancelled

    def _order(self, plan: _Plan) -> PlanKey:
        """The plan's key in lines of the file."""
        line, column, name, launch_line, launch_column = plan.key
        if name.startswith(f"{self.file.path}::"):
            line = self.pieces.real(line)
        return (line, column, name, self.pieces.real(launch_line) if launch_line else 0, launch_column)

    def _moved_problem(self, problem: Problem) -> Problem:
        real = self.pieces.real
        return replace(
            problem, span=moved_span(problem.span, real), message=moved_text(problem.message, real)
        )

    def _unchanged(self, looked_at: Mapping[str, Stamp]) -> bool:
        """Whether the other files are as they were."""
        if id(looked_at) not in self._fresh:
            self._fresh[id(looked_at)] = all(self._stamp(path) == was for path, was in looked_at.items())
        return self._fresh[id(looked_at)]

    def _stamp(self, path: str) -> Stamp:
        if path not in self._stamps:
            self._stamps[path] = stamp(path)
        return self._stamps[path]


class _Again:
    """Some plans whose kernels are read anew from the text as it is now."""

    def __init__(self, now: _Now, chosen: frozenset[int]) -> None:
        file = now.file
        self.path = file.path
        self.targets = file.targets
        self.module = now.module_of(chosen)
        self.model = Model(
            file.targets.triton, file.settings.default_types, self.module.lines, file.path, file.store
        )
        self.now = now
        self._project = Project(file.path)
        self._hooks = hooks_from(file.settings.config_functions, file.settings.root or ".")
        self._interpreters: dict[tuple[str, ...], Interpreter] = {}
        self._kernels: dict[tuple[int, tuple[str, ...]], KernelSource] = {}
        self._shared: list[SharedPlatform] = []

    def judge(self, plan: _Plan, needed: frozenset[int]) -> _Judgement:
        """Raises _Cancelled and _Differs."""
        now, file = self.now, self.now.file
        part = _Part(self, self._anew(plan), lambda: now.source_of(needed))
        context = PlanContext(part, plan.key, plan.gpus, plan.gpus_chosen)
        problems: list[FileProblem] = []
        findings = checked(context, file.rules, problems, now.cancelled)
        if findings is None:
            raise _Cancelled
        observed = file.observe(context)
        if any(shared.differs for shared in self._shared) or (
            plan.lookups is not None and plan.lookups.differs
        ):
            raise _Differs
        looked_at: Mapping[str, Stamp] = self._project.looked_at
        if plan.lookups is not None:
            looked_at = {**looked_at, **plan.lookups.looked_at}
        source = now.bodies(needed) if part.looked else None
        return _Judgement(plan, tuple(findings), tuple(problems), observed, part.said, looked_at, source)

    def _anew(self, plan: _Plan) -> dict[str, LaunchPlan]:
        """The plan on each GPU, with its kernel as it stands in the text now."""
        if plan.kernel is None:
            return dict(plan.on)
        sharing: dict[int, list[GpuProfile]] = {}
        for gpu in plan.gpus:
            sharing.setdefault(id(plan.on[gpu.name]), []).append(gpu)
        found: dict[str, LaunchPlan] = {}
        for gpus in sharing.values():
            old = plan.on[gpus[0].name]
            new = replace(old, kernel=self._kernel(old.kernel, gpus))
            found.update({gpu.name: new for gpu in gpus})
        return found

    def _kernel(self, old: KernelSource, gpus: Sequence[GpuProfile]) -> KernelSource:
        names = tuple(gpu.name for gpu in gpus)
        mark = (old.span.line, names)
        if mark not in self._kernels:
            interpreter = self._interpreter(names, gpus)
            node = next(
                one
                for one in self.module.statements
                if isinstance(one, ast.FunctionDef) and one.lineno == old.node.lineno and one.name == old.name
            )
            kernel = Kernel(old.name, node, interpreter.main, None, (), old.noinline, old.do_not_specialize)
            self._kernels[mark] = replace(
                old, node=node, scope=KernelScope(interpreter, kernel), span=self.module.span(node)
            )
        return self._kernels[mark]

    def _interpreter(self, names: tuple[str, ...], gpus: Sequence[GpuProfile]) -> Interpreter:
        if names not in self._interpreters:
            asked = [platform(gpu, self.targets.triton) for gpu in gpus]
            shared = SharedPlatform(asked[0])
            for other in asked[1:]:
                shared.admits(other)
            self._shared.append(shared)
            self._interpreters[names] = Interpreter(self.module, shared, self._project, self._hooks)
        return self._interpreters[names]


class _Part:
    """context.PlanSource for one plan: the source is that of the statements which it can depend on."""

    def __init__(self, again: _Again, plans: Mapping[str, LaunchPlan], source: Callable[[], str]) -> None:
        self.path = again.path
        self.targets = again.targets
        self.model = again.model
        self.looked = False  # at the text
        self.said: dict[re.Pattern[str], bool] = {}
        self._make_source = source
        self._source = ""
        self._plans = plans
        self._now = again.now

    @property
    def source(self) -> str:
        if not self.looked:
            self._source = self._make_source()
            self.looked = True
        return self._source

    def says(self, pattern: re.Pattern[str]) -> bool:
        self.said[pattern] = self._now.says(pattern)
        return self.said[pattern]

    def plans_on(self, gpu: GpuProfile) -> Mapping[PlanKey, LaunchPlan]:
        plan = self._plans[gpu.name]
        return {plan_key(plan): plan}


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).digest()


class _NoScope:
    """sites.Scope of a kernel whose body is read anew: the old one would keep all that was read with it."""

    def lookup(self, name: str) -> Any:
        raise NotImplementedError

    def attribute(self, base: Any, name: str) -> Any:
        raise NotImplementedError


def _without_body(plan: LaunchPlan) -> LaunchPlan:
    """A plan whose kernel has nothing but its place."""
    kernel = plan.kernel
    node = ast.FunctionDef(kernel.node.name, kernel.node.args, [], [], lineno=kernel.node.lineno)
    return replace(plan, kernel=replace(kernel, node=node, scope=_NoScope()))


def _told(plan: LaunchPlan) -> str:
    """All of a plan but its kernel's body and place."""
    kernel = plan.kernel
    return repr(
        (
            (kernel.name, kernel.path, kernel.parameters, kernel.decorator_spans, kernel.noinline, kernel.kind,
             kernel.do_not_specialize),
            plan.decorators, plan.tuning, plan.launch, plan.candidates, plan.heuristics, plan.missing, plan.unknown,
            plan.assumed,
        )
    )  # fmt: skip


def _lines_of(plan: LaunchPlan, path: str) -> Iterable[int]:
    """The lines of the file at `path` on which a plan stands."""
    own = plan.kernel.path
    if own == path:
        yield plan.kernel.span.line
    tuning, launch = plan.tuning, plan.launch
    if tuning is not None:
        if (tuning.path or own) == path:
            yield tuning.span.line
            yield from (span.line for span in tuning.argument_spans.values())
        yield from (config.span.line for config in tuning.configs if (config.path or own) == path)
        if isinstance(tuning.prune_hook, (ast.FunctionDef, ast.Lambda)):
            yield tuning.prune_hook.lineno
    if launch is not None and (launch.path or path) == path:
        yield launch.span.line
        yield from (one.span.line for one in (*launch.arguments.values(), *launch.options.values()))
        if launch.grid is not None and launch.grid.definition is not None:
            yield launch.grid.definition.line


def _pinned(one: Assumption, pieces: Pieces) -> Assumption:
    spans = {name: moved_span(span, pieces.pin) for name, span in one.value_spans.items()}
    return replace(one, span=moved_span(one.span, pieces.pin), value_spans=spans)


def _get(kept: OrderedDict[Key, Value], key: Key) -> Value | None:
    if key in kept:
        kept.move_to_end(key)
        return kept[key]
    return None


def _put(kept: OrderedDict[Key, Value], key: Key, value: Value, limit: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > limit:
        kept.popitem(last=False)
