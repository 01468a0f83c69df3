"""What is to be compiled: every launch and config of the files whose values are all known, on each GPU."""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tritonlint.arguments import arguments_of_defaults
from tritonlint.context import FileWork
from tritonlint.finding import located
from tritonlint.gpu.profile import GpuProfile
from tritonlint.launch_model import Launch, known_options, unknown_constants, why_unknown
from tritonlint.matrix import config_of, line_of
from tritonlint.source.notebook import place_in
from tritonlint.source.sites import Candidate, KernelSource, LaunchPlan, ModuleRef
from tritonlint.source.values import DType, Known, Unknown
from tritonlint.verify.completed import completed

_LAUNCH_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_COMBINATIONS = 8  # of values that are possible: enough to see each once or twice


@dataclass(frozen=True, slots=True)
class CompileJob:
    """One compile as the launcher would ask for it. `key` names it by all that its answer depends on but the release:
    the kernel and what it calls, the values, the options, the target."""

    key: str
    file: str
    kernel: str
    first_line: int
    last_line: int
    constants: Mapping[str, Any]  # encoded
    types: Mapping[str, str]
    aligned: tuple[str, ...]
    options: Mapping[str, Any]
    arch: str
    cells: str = ""  # of a notebook: its code cells, joined

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.key,
            "kernel": self.kernel,
            "first_line": self.first_line,
            "last_line": self.last_line,
            "constants": dict(self.constants),
            "types": dict(self.types),
            "aligned": list(self.aligned),
            "options": dict(self.options),
        }


@dataclass(frozen=True, slots=True)
class Asked:
    """A launch or a config on a GPU; `job` is None where it is not complete, and `why` says what is missing. `path` and
    `line` are as they are shown: of a notebook's, the cell and the line in it."""

    path: str
    line: int
    kernel: str
    config: Mapping[str, Any]
    gpu: GpuProfile
    work: FileWork = field(repr=False)
    plan: LaunchPlan = field(repr=False)
    candidate: Candidate = field(repr=False)
    job: CompileJob | None = None
    assumptions: tuple[str, ...] = ()
    why: str = ""


def asked_of(work: FileWork, sets: Mapping[str, Any] | None = None) -> Iterator[Asked]:
    """Everything of one file, in its order; the same launch twice is asked for once. `sets` are values for constants
    that nothing tells (completed.py)."""
    sources = _Sources()
    seen: set[tuple[Any, ...]] = set()
    for context in work.contexts():
        for gpu in context.gpus:
            plan = context.plan_on(gpu)
            if plan.launch is None and plan.tuning is None and not plan.assumed:
                continue  # nothing in the file launches it: most such functions are called by kernels
            for given in plan.candidates:
                for candidate, chosen in completed(plan.kernel, given, sets or {}):
                    one = _asked(work, plan, candidate, chosen, gpu, sources)
                    shown = json.dumps(one.config, sort_keys=True, default=str)
                    mark = (gpu.name, one.job.key if one.job else one.why, one.kernel, shown, one.line)
                    if mark not in seen:
                        seen.add(mark)
                        yield one


def _asked(
    work: FileWork,
    plan: LaunchPlan,
    candidate: Candidate,
    chosen: Mapping[str, Any],
    gpu: GpuProfile,
    sources: _Sources,
) -> Asked:
    config = {**config_of(candidate), **chosen}
    cell, line = place_in(work.module.file.cells, line_of(candidate, plan))

    def made(job: CompileJob | None, why: str = "", assumptions: tuple[str, ...] = ()) -> Asked:
        return Asked(
            located(work.path, cell),
            line,
            plan.kernel.name,
            config,
            gpu,
            work,
            plan,
            candidate,
            job,
            assumptions,
            why,
        )

    options, unknown = known_options(candidate)
    if options is None:
        return made(None, "; ".join(unknown))
    missing = unknown_constants(plan.kernel, candidate)
    if missing:
        return made(None, "; ".join(missing))
    launch = work.model.launch(plan, candidate, options)
    try:
        job = compile_job(launch, gpu.arch, sources)
    except _NoJob as error:
        return made(None, str(error))
    if job.file.endswith(".ipynb"):
        job = replace(job, cells=work.source)
    return made(job, "", (*launch.assumptions, *launch.arguments.assumptions))


class _NoJob(Exception):
    """Why a launch cannot be handed to the compiler."""


def compile_job(launch: Launch, arch: str, sources: _Sources | None = None) -> CompileJob:
    """The job of a launch. Raises _NoJob."""
    kernel, options = launch.kernel, launch.options
    specs, more = arguments_of_defaults(kernel, launch.arguments, launch.constants)
    constants = {name: encoded(name, value) for name, value in {**launch.constants, **more}.items()}
    given = {name: getattr(options, name) for name in _LAUNCH_OPTIONS}
    given = {name: value for name, value in given.items() if value is not None}
    given.update({name: plain_option(name, value) for name, value in options.extra.items()})
    types = {name: spec.type for name, spec in specs.items()}
    aligned = tuple(sorted(name for name, spec in specs.items() if spec.divisible))
    file = os.path.abspath(kernel.path)  # the same text in another module may mean something else there
    values = json.dumps([file, constants, types, aligned, given, arch], sort_keys=True)
    text = values + (sources or _Sources()).text(kernel)
    lines = [kernel.node.lineno, *(decorator.lineno for decorator in kernel.node.decorator_list)]
    return CompileJob(
        key=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40],
        file=kernel.path,
        kernel=kernel.name,
        first_line=min(lines),
        last_line=kernel.node.lineno,
        constants=constants,
        types=types,
        aligned=aligned,
        options=given,
        arch=arch,
    )


def encoded(name: str, value: Any) -> Any:
    """A compile-time value as JSON (child.compiling.constant turns it back). Raises _NoJob."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Known):
        return encoded(name, value.value)
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, (tuple, list)):
        return {"tuple": [encoded(name, entry) for entry in value]}
    called = getattr(value, "name", None)
    if isinstance(called, str) and getattr(value, "node", None) is not None:
        return {"function": called}
    if isinstance(value, Unknown):
        raise _NoJob(f"{name}: {why_unknown(value)}")
    raise _NoJob(f"{name}: a value of this kind ({type(value).__name__}) is not handed on")


def plain_option(name: str, value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [plain_option(name, entry) for entry in value]
    raise _NoJob(f"{name}: an option of this kind ({type(value).__name__}) is not handed on")


class _Sources:
    """The text of kernels with all that they call and the module constants that they read; made once for each."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._kept: list[KernelSource] = []

    def text(self, kernel: KernelSource) -> str:
        if id(kernel) not in self._texts:
            parts: list[str] = []
            _spell(kernel, parts, set())
            self._texts[id(kernel)] = "\n".join(parts)
            self._kept.append(kernel)
        return self._texts[id(kernel)]


def _spell(kernel: KernelSource, parts: list[str], seen: set[Any]) -> None:
    """Without positions and comments: these do not change what is compiled."""
    mark = (kernel.path, kernel.node.lineno, kernel.name)
    if mark in seen:
        return
    seen.add(mark)
    parts.append(f"{kernel.kind} {kernel.noinline} {kernel.do_not_specialize} {ast.dump(kernel.node)}")
    for dotted in sorted(_names(kernel.node)):
        first, *rest = dotted.split(".")
        found = kernel.scope.lookup(first)
        for name in rest:
            if not isinstance(found, ModuleRef):
                break
            found = kernel.scope.attribute(found, name)
        if isinstance(found, KernelSource):
            parts.append(f"{dotted} is {found.name}")
            _spell(found, parts, seen)
        elif isinstance(found, Unknown):  # known to the module only
            parts.append(f"{dotted} in {_file_mark(kernel.path)}")
        elif found is not None:
            parts.append(f"{dotted} = {found.dotted if isinstance(found, ModuleRef) else found!r}")


def _file_mark(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


def _names(node: ast.AST) -> set[str]:
    """Names that are read, with their attributes: "tl.load", "BLOCK"."""
    found: set[str] = set()
    for inner in ast.walk(node):
        parts: list[str] = []
        while isinstance(inner, ast.Attribute):
            parts.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            found.add(".".join((inner.id, *parts)))
    return found
