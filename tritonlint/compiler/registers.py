"""Registers per thread of a compiled kernel, with a range, and whether some spill.

What Triton leaves to the assembler is not replayed. The graph after all passes tells which tensor values are
live at once, and how many 32-bit words one thread holds of each; a linear model of these counts, fitted on
kernels whose registers are known (benchmarks/fit_registers.py), gives the number. On AMD these are the vector
registers of a lane, those of the matrix cores included.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

from tritonlint.compiler.bank_conflicts import shared_access
from tritonlint.compiler.compiled import Spills
from tritonlint.compiler.encodings import AmdMfma, AmdWmma, DotOperand, NvidiaMma
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.layout_properties import contig_per_thread_of, elements_per_thread, order_of
from tritonlint.compiler.liveness import Numbering
from tritonlint.compiler.ops import LOOPS
from tritonlint.compiler.options import Options
from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import bits_of

REGISTERS_MAX = 255  # of one thread, from compute capability 3.5 on
Family = Literal["none", "mma_v2", "wgmma", "tcgen05", "mfma", "wmma"]

_SIMDS = 4  # on which the waves of one workgroup are spread on AMD
_WORD_BITS = 32
# Values that no operation needs all at once pass in turns; the assembler keeps about that many in flight.
_STREAMED = 64
_REGISTER_FILE = 65536  # 32-bit registers of a multiprocessor
# Of several values that are held over a place, some are combined element by element before it: 320 words in two values
# did not spill. One value, or that much more, does.
_SURE = 1.3
_LARGE = 32  # words of a value that can be too much for any limit
_ACCESS_BITS = 128  # the widest access of one thread
# The result is the operand in other places: no register of its own.
_VIEWS = frozenset(
    {"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.bitcast", "tt.unsplat"}
)
# Every element has to be there before the next operation starts, so the values that live on are all held.
_BARRIERS = frozenset(
    {
        "tt.reduce",
        "tt.scan",
        "tt.dot",
        "tt.dot_scaled",
        "ttng.warp_group_dot",
        "ttg.convert_layout",
        "ttng.tc_gen5_mma",
        "ttng.tmem_load",
    }
)
_DOTS = frozenset({"tt.dot", "tt.dot_scaled", "ttng.warp_group_dot"})
_TCGEN05 = frozenset({"ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled"})
_INDEX_OPS = frozenset(
    {
        "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.divui", "arith.remsi", "arith.remui",
        "arith.extsi", "arith.extui", "arith.trunci", "arith.shli", "arith.shrsi", "arith.andi",
        "arith.minsi", "arith.maxsi", "tt.make_range",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Need:
    """What one thread has to keep, in 32-bit words unless it says otherwise."""

    family: Family
    peak: int  # the most words of data (not of addresses) that are live at once
    loop_peak: int  # the same inside loops
    held: int  # the most words of data that are live across an operation that needs all elements at once
    surely_held: int  # the same where a value is kept as what it is computed from until it is needed
    addresses: int  # the most words of pointers and index tensors that are live at once, one per access
    loop_addresses: int  # the same inside loops
    accumulator: int  # of the largest dot whose accumulator is in registers
    fragments: int  # of both operands of one step along K of the largest dot that reads them from registers
    operands: int  # of both operands of that dot over all of its K: the assembler loads ahead where it can
    scalars: int  # arguments of the kernel
    batch: int = 0  # the most words of values kept, with those of all loads that are on their way at once
    copies: int = (
        0  # accesses of asynchronous copies in the place where most are: each has an address of its own
    )
    whole: int = 0  # of the largest single value that is held over such an operation


def need_of(graph: Graph) -> Need:
    """One pass over the graph after all passes."""
    numbering = Numbering(graph)
    ops = numbering.ops
    size = len(ops) + 1
    data = [0] * (size + 1)
    saved = [0] * (size + 1)  # words of data that need not be there yet, since they can be computed later
    positions = {op: position for position, op in enumerate(ops)}
    address = [0] * (size + 1)
    born = [0] * (size + 1)
    family: Family = "none"
    accumulator = fragments = operands = copies = 0
    streamed: set[GValue] = set()
    indices = _index_values(ops)
    large: list[tuple[int, int, int]] = []  # where single values that may fill all registers begin and end
    ends: dict[GValue, int] = {}
    roots: dict[GValue, GValue] = {}
    starts: dict[GValue, int] = {}

    def meet(value: GValue, root: GValue) -> None:
        root = roots.setdefault(value, root)
        if not root.is_tensor:
            return
        start, end = numbering.interval(value)
        starts.setdefault(root, start)
        ends[root] = max(ends.get(root, 0), end)

    for arg in graph.body.args:
        meet(arg, arg)
    for op in ops:
        for block in op.blocks:
            if block in numbering.span:
                for arg in block.args:
                    meet(arg, arg)
        if op.name in _VIEWS:
            source = op.operands[0]
            meet(op.result, roots.get(source, source))
        elif op.name == "ttng.warp_group_dot_wait":
            for source, result in zip(op.operands, op.results, strict=True):
                meet(result, roots.get(source, source))
        else:
            for result in op.results:
                meet(result, result)
        if op.results and _is_fragment(op, streamed):
            streamed.add(op.result)
        if op.name == "ttg.async_copy_global_to_local":
            copies = max(copies, _copies(op))
        if op.name in _TCGEN05:
            family = "tcgen05"
        elif op.name in _DOTS:
            found = _family(op)
            if found != "none" and family != "tcgen05":
                family = found
            accumulator = max(accumulator, _words(op.result))
            fragments = max(fragments, _fragments(op))
            operands = max(operands, _operands(op))
    for root, start in starts.items():
        words = 0
        if root.encoding is not None and not _is_free(root):
            words = _words(root)
        if not words:
            continue
        # The last user writes its result over the operand.
        end = max(start + 1, ends[root] - 1)
        if root.type.element.startswith("*") or root in indices:
            kept = max(1, words // _access(root))
            address[start] += kept
            address[end] -= kept
        elif root not in streamed:
            data[start] += words
            data[end] -= words
            born[start] += words
            least = _before_computing(root, words)
            wider = words - least
            if least > _LARGE:
                large.append((start, end, least))
            if wider:
                first = min(end, _first_use(root, positions, end))
                saved[start] += wider
                saved[first] -= wider
                if words > _LARGE:
                    large.append((first - 1, end, words))
    looped = _in_loops(numbering, size)
    alive: list[int] = []
    peak = held = sure = loop_peak = most = loop_most = live = spared = pointers = 0
    for position in range(size):
        before, least = live, live - spared
        live += data[position]
        alive.append(live)
        spared += saved[position]
        pointers += address[position]
        peak = max(peak, live)
        most = max(most, pointers)
        if looped[position]:
            loop_peak = max(loop_peak, live)
            loop_most = max(loop_most, pointers)
        if position < len(ops) and ops[position].name in _BARRIERS:
            held = max(held, live - born[position])
            sure = max(sure, live - spared - born[position])
        elif position < len(ops) and _is_back_edge(ops[position]):
            held = max(held, before)
            sure = max(sure, least)
    return Need(
        family=family,
        peak=peak,
        loop_peak=loop_peak,
        held=held,
        surely_held=sure,
        addresses=most,
        loop_addresses=loop_most,
        accumulator=accumulator,
        fragments=fragments,
        operands=operands,
        scalars=len(graph.body.args),
        batch=_batch(ops, alive),
        copies=copies,
        whole=max((words for start, end, words in large if _crosses(ops, start, end)), default=0),
    )


def _crosses(ops: list[GOp], start: int, end: int) -> bool:
    """Whether an operation between two places needs all elements of its operands at once."""
    return any(op.name in _BARRIERS for op in ops[start + 1 : end])


def _first_use(value: GValue, positions: Mapping[GOp, int], end: int) -> int:
    """The position of the first operation that needs the value or a view of it."""
    found = end
    for user in value.uses:
        if user.name in _VIEWS:
            found = min(found, _first_use(user.result, positions, end))
        else:
            found = min(found, positions.get(user, end))
    return found


def _before_computing(value: GValue, words: int) -> int:
    """The fewest words of what a value is computed from, element by element, with scalars and constants alone: the
    assembler may wait with that (c in fp16, then beta * c in fp32)."""
    op = value.op
    while op is not None and (op.name.startswith("arith.") or op.name == "tt.fp_to_fp"):
        data = [operand for operand in op.operands if operand.is_tensor and not _is_uniform(operand)]
        if len(data) != 1:
            break
        words = min(words, _words(data[0]) or words)
        op = data[0].op
    return words


def _is_uniform(value: GValue) -> bool:
    return value.op is not None and value.op.name in ("tt.splat", "arith.constant")


def _is_back_edge(op: GOp) -> bool:
    """Where all that a loop carries to its next turn has been computed."""
    return op.name == "scf.yield" and op.parent is not None and op.parent.name in LOOPS


def _in_loops(numbering: Numbering, size: int) -> list[bool]:
    """Whether each position lies inside a loop."""
    found = [False] * size
    for block, (start, end) in numbering.span.items():
        if block.parent is not None and block.parent.name in LOOPS:
            found[start:end] = [True] * (end - start)
    return found


def _family(op: GOp) -> Family:
    if op.name == "ttng.warp_group_dot":
        return "wgmma"
    if isinstance(op.result.encoding, AmdMfma):
        return "mfma"
    if isinstance(op.result.encoding, AmdWmma):
        return "wmma"
    return "mma_v2" if isinstance(op.result.encoding, NvidiaMma) else "none"


def _index_values(ops: list[GOp]) -> set[GValue]:
    """Integer tensors that only addresses and masks are made of."""
    found: set[GValue] = set()
    for op in reversed(ops):
        if op.name not in _INDEX_OPS and op.name not in _VIEWS:
            continue
        value = op.result
        if value.type.element.startswith("*") or not value.type.element.startswith(("i", "u")):
            continue
        if all(
            user.name in ("tt.addptr", "arith.cmpi") or (bool(user.results) and user.results[0] in found)
            for user in value.uses
        ):
            found.add(value)
    return found


def _is_free(value: GValue) -> bool:
    """A constant, a range of the thread's own index, or a mask, which predicates hold."""
    op = value.op
    if op is not None and op.name in ("arith.constant", "tt.make_range"):
        return True
    return value.type.element == "i1"


def _is_fragment(op: GOp, streamed: set[GValue]) -> bool:
    """Whether the result is an operand of mma that is read from shared memory, or converted from one: it is made step
    by step along K."""
    if not isinstance(op.result.encoding, DotOperand):
        return False
    if op.name == "ttg.local_load":
        return True
    tensors = [operand for operand in op.operands if operand.is_tensor]
    return len(tensors) == 1 and tensors[0] in streamed and op.name != "ttg.convert_layout"


def _copies(op: GOp) -> int:
    """Accesses of one thread for an asynchronous copy, beyond those that its addresses in global memory allow: where
    neighbours there are none in shared memory, each has a place of its own."""
    place, memory = op.operands[0], op.operands[1]
    accesses, _ = shared_access(place.encoding, place.shape, memory.encoding, max(8, memory.type.bits))
    wide = elements_per_thread(place.encoding, place.shape) / _access(place)
    return max(0, round(accesses - wide))


def _batch(ops: list[GOp], live: list[int]) -> int:
    """The most words of what is live before a run of loads, with the loads of that run: the assembler starts them all
    before it uses the first. A run ends where all threads meet, or where a loop or a branch begins or ends."""
    most = run = before = 0
    for position, op in enumerate(ops):
        if op.name == "tt.load":
            if not run:
                before = live[position - 1] if position else 0
            run += _words(op.result)
        elif op.name in _BARRIERS or op.blocks or op.name == "scf.yield":
            most = max(most, before + run)
            run = before = 0
    return max(most, before + run)


def _words(value: GValue) -> int:
    """32-bit words that one thread holds of a tensor."""
    if not value.is_tensor or value.encoding is None:
        return 0
    elements = elements_per_thread(value.encoding, value.shape)
    return -(-elements * bits_of(value.type.element) // _WORD_BITS)


def _access(value: GValue) -> int:
    """Neighbouring elements that one address serves."""
    contig = contig_per_thread_of(value.encoding, value.shape)
    fastest = order_of(value.encoding, value.shape)[0]
    return max(1, min(contig[fastest], _ACCESS_BITS // _pointee_bits(value)))


def _pointee_bits(value: GValue) -> int:
    element = value.type.element
    return max(8, bits_of(element[1:])) if element.startswith("*") else 16


def _fragments(op: GOp) -> int:
    """Words of both operands for one step along K of mma_v2 (16 x 8 tiles, 256 bits of K): 4 for 16 rows of
    A, 2 for 8 columns of B; of wgmma, A where it comes from registers."""
    total = 0
    for operand in op.operands[:2]:
        if isinstance(operand.encoding, DotOperand):
            k = operand.shape[-1] if operand.encoding.op_idx == 0 else operand.shape[-2]
            steps = max(1, k * bits_of(operand.type.element) // 256)
            total += max(1, _words(operand) // steps)
    return total


def _operands(op: GOp) -> int:
    """Words of the operands that a dot reads from registers."""
    return sum(_words(operand) for operand in op.operands[:2])


# --- the fitted model


@dataclass(frozen=True, slots=True)
class Estimate:
    """Registers per thread with the range that holds most kernels."""

    registers: int | None
    low: int | None
    high: int | None
    spills: Spills


UNKNOWN = Estimate(None, None, None, "no")


@lru_cache(maxsize=1)
def _model() -> Mapping[str, Any]:
    text = resources.files("tritonlint.compiler").joinpath("registers.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def features(need: Need, target: Target) -> dict[str, float]:
    """The terms of the linear model, by name."""
    older = target.capability < 90
    return {
        "one": 1.0,
        "peak": float(need.peak),
        "loop_peak": float(need.loop_peak),
        "held": float(need.held),
        "addresses": float(need.addresses),
        "loop_addresses": float(need.loop_addresses),
        "accumulator": float(need.accumulator),
        "fragments": float(need.fragments),
        "fragments_before_sm_90": float(need.fragments if older else 0),
        "operands": float(need.operands),
        "operands_before_sm_90": float(need.operands if older else 0),
        "streamed": float(min(_STREAMED, max(0, need.peak - need.held))),
        "scalars": float(need.scalars),
        "batch": float(need.batch),
        "copies": float(need.copies),
    }


def known_need(graph: Graph, target: Target, *, specialized: bool) -> Need | None:
    """What the estimate for a graph after all passes is made from; targets share it that differ only in the estimate.
    None where there is none: with warp specialization the compiler gives out registers by group of warps, which is not
    modelled."""
    if (target.is_nvidia and target.capability < 80) or specialized:
        return None
    try:
        return need_of(graph)
    except Exception:  # an estimate that fails must not take the exact answers with it
        return None


def estimate_of(need: Need | None, options: Options, target: Target) -> Estimate:
    """The estimate on one target, with the launch's own limit of registers."""
    if need is None:
        return UNKNOWN
    try:
        return from_need(need, options, target)
    except Exception:  # as above
        return UNKNOWN


def from_need(need: Need, options: Options, target: Target) -> Estimate:
    """Clamped to what a thread may have: 255 (more on AMD), maxnreg, and what the register file gives to so many
    warps."""
    model = _model()[model_name(need.family, target)]
    terms = features(need, target)
    wanted = sum(weight * terms[name] for name, weight in model["weights"].items())
    low = wanted * model["low"]
    high = wanted * model["high"]
    limit = register_limit(options, target)
    certain = surely_spills(need, target, limit)
    likely = wanted > model["spills_from"] * limit
    spills: Spills = "certain" if certain else "likely" if likely else "no"
    if spills == "certain":
        return Estimate(limit, limit, limit, spills)
    likeliest = _clamp(squeezed(wanted, options, model.get("squeeze", 0.0)), limit)
    low = min(low, likeliest)
    return Estimate(likeliest, _clamp(low, limit), _clamp(high, limit), spills)


def surely_spills(need: Need, target: Target, limit: int) -> bool:
    """Whether more is live at once than a thread may have, however the assembler orders it. On AMD only the accumulator
    is that sure: of 8 launches of which other values exceeded the limit, one needed a third of it."""
    if target.is_amd:
        return need.accumulator > limit
    return max(need.accumulator, need.whole) > limit or need.surely_held > _SURE * limit


def squeezed(wanted: float, options: Options, share: float) -> float:
    """What the assembler gives a thread that wants so much: where a share less lets one more CTA live on a
    multiprocessor, it takes that. Of 971 kernels of 4 warps on sm_80, 90 and 100 that have 33 to 128 registers, half
    stand exactly at 40, 48, 56, 64, 72, 80, 96 or 128."""
    threads = 32 * max(1, options.num_warps)
    blocks = 1
    while True:
        step = _REGISTER_FILE // (threads * blocks) // 8 * 8
        if step * (1 + share) < wanted or step < 16:
            return wanted
        if step < wanted:
            return float(step)
        blocks += 1


def model_name(family: str, target: Target) -> str:
    """The entry of registers.json: kernels without matrix instructions differ by vendor."""
    return "amd_none" if family == "none" and target.is_amd else family


def register_limit(options: Options, target: Target) -> int:
    """Registers that the assembler may give a thread of such a block."""
    if target.is_amd:
        return _amd_register_limit(options, target)
    by_block = _REGISTER_FILE // (32 * max(1, options.num_warps)) // 8 * 8
    limit = min(REGISTERS_MAX, by_block)
    return min(limit, options.maxnreg) if options.maxnreg else limit


def _amd_register_limit(options: Options, target: Target) -> int:
    """Vector registers of a lane where all waves of a workgroup, and as many as waves_per_eu asks for, fit on a SIMD:
    of 512 with those of the matrix cores on CDNA, of 1,536 but at most 256 on RDNA."""
    asked = options.extra.get("waves_per_eu")
    waves = max(-(-max(1, options.num_warps) // _SIMDS), asked if isinstance(asked, int) else 0)
    if target.warp_size == 64:
        return 512 // waves // 8 * 8
    return min(256, 1536 // waves // 24 * 24)


def _clamp(wanted: float, limit: int) -> int:
    return max(min(limit, 16), min(limit, round(wanted)))
