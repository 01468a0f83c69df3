"""Which fact holds for which launch, and the estimate that stands on it.

A fact that names the constants holds for the launch with these constants. One that does not (Triton's cache keeps only
the text of the kernel, a profiler only its name and sizes) holds where nothing else of the file can be meant: the tile
shapes, arguments, options and sizes that it tells agree, and the configs that agree are no more than such facts, with
the same numbers.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tritonlint.compiler.compiled import Compiled, SharedPart
from tritonlint.compiler.target import Target
from tritonlint.facts.reading import FactBook
from tritonlint.facts.record import Fact, Numbers
from tritonlint.gpu.profile import GpuProfile
from tritonlint.kernel.ir import Block, Trace
from tritonlint.launch_model import Launch
from tritonlint.sites_report import plain_value
from tritonlint.source.sites import KernelSource

_OPTIONS = ("num_warps", "num_stages", "num_ctas")


class AttachedFacts:
    """The facts of a book for the launches of one file. `siblings` gives all launches of a kernel on a GPU, `trace`
    traces one."""

    def __init__(
        self,
        book: FactBook,
        triton: tuple[int, int],
        siblings: Callable[[KernelSource, GpuProfile], Iterable[Launch]],
        trace: Callable[[Launch, Target], Trace],
    ) -> None:
        self._book = book
        self._kernels = book.kernels
        self._siblings, self._trace = siblings, trace
        self._triton = triton
        self._placed: dict[tuple[int, str], tuple[_Placed, ...]] = {}

    def of(self, launch: Launch, gpu: GpuProfile) -> Fact | None:
        """The fact that holds for a launch, the newest where there are several."""
        kernel = launch.kernel
        if kernel.name not in self._kernels:
            return None
        placed = self._place(launch, gpu)
        fitting = [fact for fact in self._book.of(kernel.name) if _agrees(fact, placed)]
        told = [fact for fact in fitting if fact.constants is not None]
        if told:
            return _one(told, placed)
        if not fitting:
            return None
        key = (id(kernel), gpu.name)
        if key not in self._placed:
            self._placed[key] = tuple(self._place(one, gpu) for one in self._siblings(kernel, gpu))
        meant = {
            other.identity() for other in self._placed[key] if any(_agrees(fact, other) for fact in fitting)
        }
        different = {
            fact.origin if fact.rung == "compiled" else repr(_still(fact.numbers)) for fact in fitting
        }
        if len(meant | {placed.identity()}) > len(different):
            return None
        return _one(fitting, placed)

    def _place(self, launch: Launch, gpu: GpuProfile) -> _Placed:
        def shapes() -> frozenset[str]:
            return tile_shapes(self._trace(launch, Target(gpu.arch)).function.body)

        return _Placed(launch, gpu, self._triton, shapes)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A launch on a GPU, with its tile shapes on demand."""

    launch: Launch
    gpu: GpuProfile
    triton: tuple[int, int]
    shapes: Callable[[], frozenset[str]]

    def identity(self) -> str:
        """What makes two launches the same to the compiler."""
        options = [getattr(self.launch.options, name) for name in _OPTIONS]
        return repr((_constants(self.launch), options, sorted(self.launch.options.extra.items(), key=str)))


def _one(facts: Sequence[Fact], placed: _Placed) -> Fact | None:
    """The newest of facts that agree on the numbers; of others, those whose every argument is as assumed."""
    same = {_still(fact.numbers) for fact in facts}
    if len(same) > 1:
        facts = [
            fact
            for fact in facts
            if fact.arguments is not None and _arguments_agree(fact, placed, all_of=True)
        ]
        same = {_still(fact.numbers) for fact in facts}
    return facts[-1] if len(same) == 1 else None


def _still(numbers: Numbers) -> Numbers:
    """Without what differs from run to run."""
    return replace(numbers, time_ms=None)


def _agrees(fact: Fact, placed: _Placed) -> bool:
    launch, gpu = placed.launch, placed.gpu
    options = launch.options
    if fact.arch is not None and fact.arch != gpu.arch:
        return False
    if fact.gpu is not None and fact.gpu != gpu.name:
        return False
    if fact.triton is not None and fact.triton != placed.triton:
        return False
    if not _warps_agree(fact, launch, gpu):
        return False
    if fact.num_stages is not None and fact.num_stages != options.num_stages:
        return False
    if fact.num_ctas is not None and fact.num_ctas != options.num_ctas:
        return False
    if fact.grid is not None and launch.grid is not None and fact.grid != (*launch.grid, 1, 1)[:3]:
        return False
    if not _place_agrees(fact, launch):
        return False
    if not _arguments_agree(fact, placed, all_of=False):
        return False
    if fact.constants is not None:
        own = _constants(launch)
        return all(_same(own[name], value) for name, value in fact.constants.items() if name in own)
    return fact.shapes is None or fact.shapes == placed.shapes()


def _warps_agree(fact: Fact, launch: Launch, gpu: GpuProfile) -> bool:
    """Warp specialization adds warps, and the metadata counts all."""
    warps = fact.num_warps
    if fact.threads is not None:
        warps = fact.threads // gpu.warp_size
    asked = launch.options.num_warps
    return warps is None or warps == asked or (warps > asked and _specializes(launch.kernel.node))


def _specializes(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.keyword) and inner.arg == "warp_specialize" for inner in ast.walk(node))


def _place_agrees(fact: Fact, launch: Launch) -> bool:
    """Triton compiles anew where a kernel moved, so a fact of another line is one of another text."""
    node = launch.kernel.node
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    if fact.file is not None and os.path.basename(fact.file) != os.path.basename(launch.kernel.path):
        return False
    return fact.line is None or first <= fact.line <= node.lineno


def _arguments_agree(fact: Fact, placed: _Placed, *, all_of: bool) -> bool:
    """The types of arguments that are known; `all_of`: of all, and their divisibility."""
    if fact.arguments is None:
        return True
    arguments = placed.launch.arguments
    assumed = {text.split(" is ")[0] for text in arguments.assumptions}
    named = fact.arguments
    if any(not name for name, _, _ in named):
        order = list(arguments.specs)
        if len(order) != len(named):
            return False
        named = tuple(
            (name, text, divisible) for name, (_, text, divisible) in zip(order, named, strict=True)
        )
    for name, text, divisible in named:
        spec = arguments.specs.get(name)
        if spec is None:
            if name in arguments.constants and name not in assumed:
                return False  # 1 or None at this launch
            continue
        if name not in assumed or all_of:
            if spec.type.replace(" ", "") != text.replace(" ", ""):
                return False
            if spec.divisible != divisible and (all_of or name in arguments.values):
                return False
    return True


def _constants(launch: Launch) -> dict[str, Any]:
    own = {**launch.constants, **launch.arguments.constants}
    return {name: plain_value(value) for name, value in own.items()}


def _same(mine: Any, told: Any) -> bool:
    if isinstance(mine, bool) or isinstance(told, bool):
        return mine is told or mine == told
    if isinstance(mine, (list, tuple)) and isinstance(told, (list, tuple)):
        return len(mine) == len(told) and all(map(_same, mine, told))
    return bool(mine == told) or (isinstance(mine, str) and isinstance(told, str) and told.endswith(mine))


def tile_shapes(block: Block) -> frozenset[str]:
    """The shapes of the tensors of a kernel, as facts.ttir spells them."""
    return frozenset(_shapes(block))


def _shapes(block: Block) -> Iterator[str]:
    for op in block.ops:
        for value in (*op.results, *op.operands):
            if value.type.shape:
                yield "x".join(map(str, value.type.shape))
        for inner in op.blocks:
            yield from _shapes(inner)


def on_facts(estimate: Compiled, numbers: Numbers) -> tuple[Compiled, tuple[str, ...]]:
    """The compiler model's answer with a fact's numbers in place of estimates, and what it said that is not so. Where
    the shared memory differs, its parts are not known any more."""
    changes: dict[str, Any] = {}
    differ: list[str] = []
    shared = numbers.shared_bytes
    if shared is not None:
        if shared != estimate.shared_bytes:
            if estimate.shared_exact or estimate.shared_lower_bound > shared:
                differ.append(f"shared memory: {estimate.shared_bytes:,} B were estimated")
            changes["parts"] = (SharedPart("as compiled", shared, 0, "other"),)
        changes.update(shared_bytes=shared, shared_exact=True, shared_lower_bound=shared, reasons=())
    if numbers.registers is not None:
        low, high = estimate.registers_low, estimate.registers_high
        if low is not None and high is not None and not low <= numbers.registers <= high:
            differ.append(f"registers: {low} to {high} were estimated")
        known = numbers.registers
        changes.update(registers=known, registers_low=known, registers_high=known)
    if numbers.spills is not None:
        if (estimate.spills == "certain") != bool(numbers.spills) and estimate.spills != "likely":
            differ.append(f"spills: {estimate.spills} was estimated")
        changes["spills"] = "certain" if numbers.spills else "no"
    columns = numbers.tensor_memory_columns
    if columns is not None:
        if columns != estimate.tensor_memory_columns and estimate.shared_exact:
            differ.append(f"tensor memory: {estimate.tensor_memory_columns:,} columns were estimated")
        changes["tensor_memory_columns"] = columns
    if numbers.warps is not None:
        changes["warps"] = numbers.warps
    return replace(estimate, **changes), tuple(differ)
