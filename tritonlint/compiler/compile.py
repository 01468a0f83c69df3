"""What the compiler makes of one traced kernel: the entry of the compiler model.

The passes of Triton's backend are replayed on a graph: layouts, the software pipeliner, what follows it, and
the allocation of shared memory. What does not depend on num_stages is kept for the configs that differ in
num_stages only.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from tritonlint.compiler.allocate import Buffer, allocate, live_peak
from tritonlint.compiler.asked import AskedMemo
from tritonlint.compiler.at_most import at_most_with_layouts
from tritonlint.compiler.coalesce import Coalescing
from tritonlint.compiler.compiled import Compiled, DotFact
from tritonlint.compiler.facts import (
    best_tensor_cores,
    dot_facts,
    load_facts,
    load_widths,
    shared_parts,
)
from tritonlint.compiler.graph import Graph, GValue, from_function
from tritonlint.compiler.instructions import sections_of
from tritonlint.compiler.layout_pipeline import clean_ttir
from tritonlint.compiler.liveness import Held, held_memory
from tritonlint.compiler.modelled import modelled_machine, of_the_release, reasons_of, sure_loads, walk
from tritonlint.compiler.options import Options, but_for_registers
from tritonlint.compiler.pass_order import (
    final_layouts,
    first_layouts,
    pipeline_and_finish,
    pointer_facts,
)
from tritonlint.compiler.register_need import Need
from tritonlint.compiler.registers import estimate_of, known_need, register_limit
from tritonlint.compiler.releases import Release
from tritonlint.compiler.releases import release as release_row
from tritonlint.compiler.scratch_of import scratch_by_op
from tritonlint.compiler.spilled_words import spilled_words
from tritonlint.compiler.target import Target
from tritonlint.compiler.tensor_memory import MAX_COLUMNS, tensor_memory_columns
from tritonlint.compiler.warp_specialize import added_warps, specialized_loops, split_loops
from tritonlint.kernel import ir

_KEPT = 96
# A compile is gone through in seconds up to here; what is larger is an unrolled loop that ran into the tracer's budget.
_MOST_OPERATIONS = 12_000
_MOST_STAGES = 32  # of a pipeline; each is code of its own
_TRAP_REGISTERS = 4  # of a kernel that wants more tensor memory than there is: nothing of it is lowered
_TMEM_POINTER_BYTES = 4  # tcgen05.alloc writes the address of the columns to shared memory


@dataclass(frozen=True, slots=True)
class _LookedAt:
    """What is known of a kernel before the pipeliner: a bound needs none of it."""

    axis: Coalescing
    reasons: tuple[str, ...]
    widths: dict[tuple[int, str], int]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A kernel up to the pipeliner."""

    trace: ir.Trace  # kept alive, since its id is the key
    graph: Graph
    dots: tuple[DotFact, ...]
    looked_at: AskedMemo[_LookedAt] = field(default_factory=lambda: AskedMemo(1))


@dataclass(slots=True)
class _First:
    """A kernel before tensor cores are chosen; without a graph where it is made again when it is wanted."""

    trace: ir.Trace  # kept alive, since its id is the key
    graph: Graph | None

    def release(self) -> None:
        if self.graph is not None:
            self.graph.release()


@dataclass(frozen=True, slots=True)
class _Finished:
    """The answer but for the registers, and what those are estimated from."""

    trace: ir.Trace  # kept alive, since its id is the key
    compiled: Compiled
    need: Need | None


class Passed:
    """Kernels on their way through the passes, kept for those that go the same way up to there. Its owner says for how
    long: what was made of the traces of one file is of no use to the next."""

    def __init__(self) -> None:
        self.cleaned: AskedMemo[tuple[ir.Trace, Graph]] = AskedMemo(_KEPT, lambda made: made[1].release())
        self.firsts = _Firsts()
        self.prepared: AskedMemo[_Prepared] = AskedMemo(_KEPT, lambda made: made.graph.release())
        self.finished: AskedMemo[_Finished] = AskedMemo(_KEPT)

    def release(self) -> None:
        """Takes all graphs apart, so that they go without a collection."""
        self.cleaned.clear()
        self.firsts.release()
        self.prepared.clear()
        self.finished.clear()


def compiled(
    trace: ir.Trace,
    options: Options,
    target: Target,
    release: Release | tuple[int, int],
    passed: Passed | None = None,
) -> Compiled:
    """The compiler's answer for a trace; never raises. What it is made from is kept in `passed`, or for all who name
    none.

    `shared_exact` only where every operation of the kernel and everything about the launch is modelled;
    `shared_lower_bound` is never above the truth.
    """
    row = release if isinstance(release, Release) else release_row(*release)
    try:
        return _finish(trace, options, target, row, passed or _passed)
    except Exception as error:  # the promise is an answer for whatever the kernel looks like
        return _unknown(trace, options, f"the compiler model failed: {type(error).__name__}: {error}")


def shared_at_most(
    trace: ir.Trace, options: Options, target: Target, release: Release, passed: Passed | None = None
) -> int | None:
    """No more bytes of shared memory than this, for a trace that `at_most` has a bound of. The passes up to the
    pipeliner are run for it, which `compiled` then need not do again. None where they fail."""
    try:
        front = _prepare(trace, but_for_registers(options), target, release, passed or _passed)
        return at_most_with_layouts(front.graph, options.num_stages, target, release)
    except Exception:  # `compiled` says why
        return None


def _unknown(trace: ir.Trace, options: Options, reason: str) -> Compiled:
    try:
        dots = dot_facts(trace.function, {})
        loads = load_facts(trace.function, (), {})
    except Exception:  # a trace that even this cannot read
        dots, loads = (), ()
    return Compiled(
        shared_bytes=0,
        shared_exact=False,
        shared_lower_bound=0,
        parts=(),
        tensor_memory_columns=0,
        warps=options.num_warps,
        tensor_cores="none",
        dots=dots,
        loads=loads,
        registers=None,
        registers_low=None,
        registers_high=None,
        spills="no",
        reasons=(reason,),
    )


def _finish(trace: ir.Trace, options: Options, target: Target, release: Release, passed: Passed) -> Compiled:
    """The answer, made once for all numbers of stages that lead to the same one: without a pipelined loop most do."""

    rest = but_for_registers(options)

    def make(view: Target, stages: int) -> _Finished:
        return _without_registers(trace, replace(rest, num_stages=stages), view, release, passed)

    stages = min(options.num_stages, _MOST_STAGES)  # more take no less memory
    made = passed.finished.get_for(_key(trace, rest, release), target, stages, make)
    estimate = estimate_of(made.need, options, target)
    words = 0
    if made.need is not None:
        found = spilled_words(made.need, register_limit(options, target), given_up=estimate.given_up)
        words = round(estimate.chance * found)
    answer = made.compiled
    if stages < options.num_stages:
        why = f"num_stages={options.num_stages}: no more than {_MOST_STAGES} stages are gone through"
        answer = replace(answer, shared_exact=False, reasons=(*answer.reasons, why))
    if answer.tensor_memory_columns > MAX_COLUMNS:
        trap = _TRAP_REGISTERS
        return replace(answer, registers=trap, registers_low=trap, registers_high=trap)
    return replace(
        answer,
        registers=estimate.registers,
        registers_low=estimate.low,
        registers_high=estimate.high,
        spills=estimate.spills,
        spilled_words=words,
    )


def _key(trace: ir.Trace, options: Options, release: Release) -> tuple[Hashable, ...]:
    """What a kernel is before the pipeliner, but for the target."""
    extra = tuple(sorted((name, repr(value)) for name, value in options.extra.items()))
    return (id(trace), release.version, options.num_warps, options.num_ctas, extra)


def _without_registers(
    trace: ir.Trace, options: Options, target: Target, release: Release, passed: Passed
) -> _Finished:
    function = trace.function
    operations = len(walk(function.body))
    if operations > _MOST_OPERATIONS:
        why = f"the kernel has {operations:,} operations, too many to be gone through"
        return _Finished(trace, _unknown(trace, options, why), None)
    front = _prepare(trace, options, target, release, passed)
    known = _look_at(front, options, target, release)
    reasons = known.reasons
    mapping: dict[GValue, GValue] = {}
    graph = front.graph.clone(mapping)
    specialized = specialized_loops(graph, target, release, options.num_stages)
    unsplit = split_loops(specialized, graph, target, release, options.num_stages)
    reasons += tuple(f"line {loop.line}: warp specialization is not modelled to the byte" for loop in unsplit)
    axis = known.axis.moved_to(graph, mapping, target)
    report = pipeline_and_finish(graph, axis, options, target, release)
    reasons += tuple(
        f"line {line}: a load that is pipelined in registers is not modelled to the byte"
        for line in dict.fromkeys(report.carried)
    )
    scratch = scratch_by_op(options.num_warps, target, release)
    memory = held_memory(graph, release, scratch)
    total = _place([held.buffer for held in memory], release)
    columns = tensor_memory_columns(graph) if target.is_nvidia else 0
    if columns:
        total = max(total, _TMEM_POINTER_BYTES)
    exact = not reasons
    need = known_need(graph, target, scratch, specialized=bool(specialized))
    answer = Compiled(
        shared_bytes=total,
        shared_exact=exact,
        shared_lower_bound=total
        if exact
        else _certain(trace, options, target, release, memory, specialized=bool(specialized)),
        parts=shared_parts(memory),
        tensor_memory_columns=columns,
        warps=options.num_warps + added_warps(specialized, target),
        tensor_cores=best_tensor_cores(front.dots),
        dots=front.dots,
        loads=load_facts(function, report.loads, known.widths),
        registers=None,
        registers_low=None,
        registers_high=None,
        spills="no",
        pipelining_off=report.stopped_by,
        sections=sections_of(
            graph,
            {held.op: held.buffer.size for held in memory if held.is_scratch},
            known.widths,
            32 * options.num_warps,
        ),
        reasons=reasons,
    )
    graph.release()
    return _Finished(trace, answer, need)


def _place(buffers: list[Buffer], release: Release) -> int:
    return allocate(
        buffers,
        largest_first=release.allocation_largest_first,
        legacy_offsets=release.allocation_legacy_offsets,
    )


def _certain(
    trace: ir.Trace,
    options: Options,
    target: Target,
    release: Release,
    memory: list[Held],
    *,
    specialized: bool,
) -> int:
    """Bytes that the kernel needs whatever else is in it: the rings of loops in which everything is known."""
    unknown_machine = not release.known or options.num_ctas > 1 or not modelled_machine(target, release)
    odd_release = bool(of_the_release(trace.function.body, target, release))
    if trace.errors or unknown_machine or specialized or odd_release:
        return 0
    sure = sure_loads(trace)
    rings = [
        held.buffer
        for held in memory
        if held.op.attrs.get("role") == "buffer" and (sure is None or (held.op.line, held.op.path) in sure)
    ]
    return live_peak(rings)


def _clean(
    trace: ir.Trace, target: Target, release: Release, cleaned: AskedMemo[tuple[ir.Trace, Graph]]
) -> Graph:
    """A copy of the kernel as it is before layouts are assigned."""

    def make(view: Target) -> tuple[ir.Trace, Graph]:
        graph = from_function(trace.function)
        clean_ttir(graph, view, release)
        return trace, graph

    return cleaned.get((id(trace), release.version), target, make)[1].clone()


class _Firsts:
    """Kernels as they are before tensor cores are chosen, for targets that differ only from there on. A copy is kept
    only where such targets have lately come up: for one target alone it would be made for nothing."""

    _PATIENCE = 8  # kernels that may go by before it counts as one target again

    def __init__(self) -> None:
        self._kept: AskedMemo[_First] = AskedMemo(_KEPT, _First.release)
        self._expected = 0

    def release(self) -> None:
        self._kept.clear()

    def get(
        self,
        trace: ir.Trace,
        options: Options,
        target: Target,
        release: Release,
        cleaned: AskedMemo[tuple[ir.Trace, Graph]],
    ) -> Graph:
        """The caller's own graph."""
        fresh: list[Graph] = []

        def make(view: Target) -> _First:
            graph = _clean(trace, view, release, cleaned)
            first_layouts(graph, options, view, release)
            fresh.append(graph)
            return _First(trace, None)

        first = self._kept.get(
            (id(trace), release.version, options.num_warps, options.num_ctas), target, make
        )
        if not fresh:
            self._expected = self._PATIENCE
            if first.graph is None:
                make(target)
                first.graph = fresh[0]
            return first.graph.clone()
        if not self._expected:
            return fresh[0]
        self._expected -= 1
        first.graph = fresh[0]
        return first.graph.clone()


def _prepare(
    trace: ir.Trace, options: Options, target: Target, release: Release, passed: Passed
) -> _Prepared:
    """The kernel with its layouts, as the pipeliner meets it."""

    def make(view: Target) -> _Prepared:
        graph = passed.firsts.get(trace, options, view, release, passed.cleaned)
        choices = final_layouts(graph, options, view, release)
        return _Prepared(trace, graph, dot_facts(trace.function, choices))

    return passed.prepared.get(_key(trace, options, release), target, make)


def _look_at(front: _Prepared, options: Options, target: Target, release: Release) -> _LookedAt:
    def make(view: Target) -> _LookedAt:
        axis = pointer_facts(front.graph, view, release)
        reasons = reasons_of(front.trace, options, view, release)
        return _LookedAt(axis, reasons, load_widths(front.graph, axis))

    return front.looked_at.get(None, target, make)


_passed = Passed()
