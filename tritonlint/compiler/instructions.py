"""What a program gives its multiprocessor to do, loop by loop, counted on the graph after all passes.

The assembler is not replayed: operations count with the elements that one thread holds of them, and with how many
machine instructions such an operation usually becomes. A time model reads it; nothing here is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from tritonlint.compiler.bank_conflicts import fastest_of, shared_access
from tritonlint.compiler.encodings import DotOperand, NvidiaMma
from tritonlint.compiler.graph import GBlock, GOp, Graph, GValue
from tritonlint.compiler.layout_properties import (
    contig_per_thread_of,
    elements_per_thread,
    order_of,
    threads_per_warp_of,
)
from tritonlint.compiler.ops import LOOPS
from tritonlint.kernel.ir import bits_of

_VIEWS = frozenset(
    {
        "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.bitcast", "tt.unsplat",
        "arith.constant", "tt.make_range",
    }
)  # fmt: skip
_ASYNC_COPIES = frozenset({"ttg.async_copy_global_to_local", "amdg.buffer_load_to_local"})
_TMA = frozenset({"ttng.async_tma_copy_global_to_local", "ttng.async_tma_gather"})
_TMA_STORES = frozenset(
    {"ttng.async_tma_copy_local_to_global", "ttng.async_tma_scatter", "ttng.async_tma_reduce"}
)
_STORES = frozenset({"tt.store", "tt.atomic_rmw", "tt.atomic_cas"})
_DOTS = frozenset({"tt.dot", "tt.dot_scaled", "ttng.warp_group_dot"})
_TCGEN05 = frozenset({"ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled"})
# What needs its operands: loads before it have to arrive. Those after it start later.
_WAITS = frozenset(
    {
        "ttg.local_alloc",
        "ttg.local_store",
        "ttg.convert_layout",
        "tt.reduce",
        "tt.scan",
        "tt.store",
        *_DOTS,
        *_TCGEN05,
    }
)
# Instructions of the special function unit, and of the ordinary units beside it, for one element.
_SPECIAL: Mapping[str, tuple[float, float]] = {
    "math.exp": (1, 4), "math.exp2": (1, 3), "math.log": (1, 4), "math.log2": (1, 3), "math.sqrt": (1, 4),
    "math.rsqrt": (1, 3), "math.sin": (1, 3), "math.cos": (1, 3), "arith.divf": (1, 7),
    "tt.precise_sqrt": (1, 10), "tt.precise_divf": (1, 12), "math.erf": (1, 20), "math.tanh": (1, 3),
}  # fmt: skip
_DIVISIONS = frozenset({"arith.divsi", "arith.divui", "arith.remsi", "arith.remui"})
_DIVISION_INSTRUCTIONS = 20.0
_SHUFFLE_STEPS = 5  # a warp has 32 lanes
_SCRATCH_BARRIERS = 2  # before what was written is read, and before the place is used again
_ACCESS_BITS = 128
_ACCESS_BYTES = 16
_PASS_BYTES = 128  # that shared memory moves in a cycle


@dataclass(frozen=True, slots=True)
class Product:
    """One dot as it is issued: its tile, bits of an operand, and the tensor-core instruction's N (0: no tensor
    cores). `warps_m`, `warps_n`: how the warps share the tile. `a_in_registers`: only B comes from shared memory.
    `deferred`: asynchronous, and its turn of the loop does not need the result."""

    kind: str
    m: int
    n: int
    k: int
    bits: int
    element: str
    instruction_n: int
    warps_m: int
    warps_n: int
    a_in_registers: bool
    deferred: bool
    batch: int = 1


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a program: the body of one loop without the loops inside, or what lies outside of all.

    Counts are for one turn. `special`, `arithmetic` (of the ordinary units), `shuffles`, `loads` and `stores` (to and
    from global memory), `copies` (asynchronous ones to shared memory) and `shared_accesses` are instructions of one
    thread. `shared_passes` are cycles of shared memory for the whole program, tensor-core operands read in place not
    counted, `copy_passes` those of asynchronous copies; `global_passes` are lines of global memory that one warp
    touches. `copied_bytes` and `loaded_bytes` come from global memory, past the registers or into them;
    `stored_bytes` go there. `load_waits` counts how often the program stands still for loads into registers, `tma`
    copies that one thread starts for all.
    """

    line: int
    path: str
    parent: int  # the section around, -1 for the outermost
    special: float = 0.0
    arithmetic: float = 0.0
    shuffles: float = 0.0
    loads: float = 0.0
    stores: float = 0.0
    copies: float = 0.0
    shared_accesses: float = 0.0
    shared_passes: float = 0.0
    copy_passes: float = 0.0
    global_passes: float = 0.0
    loaded_bytes: float = 0.0
    copied_bytes: float = 0.0
    stored_bytes: float = 0.0
    barriers: int = 0
    load_waits: int = 0
    tma: int = 0
    products: tuple[Product, ...] = ()


_COUNTS = tuple(field.name for field in fields(Section) if field.name not in ("line", "path", "parent"))


def sections_of(
    graph: Graph, scratch: Mapping[GOp, int], widths: Mapping[tuple[int, str], int], threads: int
) -> tuple[Section, ...]:
    """The sections of a graph, the outermost first. `scratch`: bytes of shared memory of single operations;
    `widths`: elements that a thread moves at once, by (line, path) of a load."""
    counter = _Counter(scratch, widths, threads)
    counter.block(graph.body, counter.open(0, "", -1))
    return tuple(
        Section(line, path, parent, **{name: counts[name] for name in _COUNTS})
        for (line, path, parent), counts in zip(counter.places, counter.counts, strict=True)
    )


_Counts = dict[str, Any]


class _Counter:
    def __init__(
        self, scratch: Mapping[GOp, int], widths: Mapping[tuple[int, str], int], threads: int
    ) -> None:
        self.scratch, self.widths, self.threads = scratch, widths, threads
        self.places: list[tuple[int, str, int]] = []
        self.counts: list[_Counts] = []

    def open(self, line: int, path: str, parent: int) -> int:
        self.places.append((line, path, parent))
        self.counts.append({name: () if name == "products" else 0 for name in _COUNTS})
        return len(self.counts) - 1

    def block(self, block: GBlock, at: int) -> None:
        waiting = False
        for op in block.ops:
            if op.name == "tt.load" and op.result.is_tensor:
                waiting = True
            elif waiting and (op.name in _WAITS or op.name in LOOPS or op is block.ops[-1]):
                self.counts[at]["load_waits"] += 1
                waiting = False
            if op.name in LOOPS:
                inner = self.open(op.line, op.path, at)
                for body in op.blocks:
                    self.block(body, inner)
                continue
            self.count(op, self.counts[at])
            if op.name == "scf.if":
                for body in op.blocks:
                    self.block(body, at)

    def count(self, op: GOp, to: _Counts) -> None:
        name = op.name
        if name in _VIEWS or name.startswith(("scf.", "cf.")):
            return
        if name in _DOTS or name in _TCGEN05:
            to["products"] += (_product(op),)
            if name == "ttng.warp_group_dot" or name in _TCGEN05:
                to["barriers"] += 1
            return
        scratch = self.scratch.get(op, 0)
        if scratch:
            to["barriers"] += _SCRATCH_BARRIERS
        if name in _ASYNC_COPIES:
            self._copy(op, to)
        elif name in _TMA:
            view = next(
                operand for operand in op.operands if operand.memory == "shared" and len(operand.shape) > 1
            )
            to["tma"] += 1
            moved = view.type.elements * view.type.bits / 8
            to["copied_bytes"] += moved
            to["copy_passes"] += moved / _PASS_BYTES
        elif name in _TMA_STORES:
            value = op.operands[1]
            moved = value.type.elements * value.type.bits / 8
            to["stored_bytes"] += moved
            to["copy_passes"] += moved / _PASS_BYTES
        elif name == "tt.load":
            if op.result.is_tensor:
                bits = op.result.type.bits
                self._access(op, op.operands[0], bits, to, "loads", "loaded_bytes", self.widths)
        elif name in _STORES:
            if op.operands[0].is_tensor:
                bits = op.operands[1].type.bits
                self._access(op, op.operands[0], bits, to, "stores", "stored_bytes", {})
        elif name in ("ttg.async_wait", "ttng.wait_barrier"):
            to["barriers"] += 1
        elif name in ("ttg.local_load", "ttg.local_store") or (name == "ttg.local_alloc" and op.operands):
            self._shared(op, to)
        elif name == "ttg.convert_layout":
            if scratch:
                # Placed so that the banks do not conflict.
                moved = self._moved(op.operands[0]) + self._moved(op.result)
                to["shared_passes"] += moved / _PASS_BYTES
                to["shared_accesses"] += moved / _ACCESS_BYTES / self.threads
        elif name in ("tt.reduce", "tt.scan"):
            self._reduce(op, scratch, to)
        elif op.results and op.result.is_tensor and op.result.encoding is not None:
            self._elementwise(op, to)

    def _shared(self, op: GOp, to: _Counts) -> None:
        """A tensor from or to shared memory."""
        load = op.name == "ttg.local_load"
        value = op.result if load else op.operands[0]
        memory = op.operands[0] if load else op.result if op.results else op.operands[1]
        if not value.is_tensor or value.encoding is None:
            return
        if load and isinstance(value.encoding, DotOperand) and _by_ldmatrix(value, memory):
            moved = self._moved(value)
            to["shared_passes"] += moved / _PASS_BYTES
            to["shared_accesses"] += moved / _ACCESS_BYTES / self.threads
        else:
            bits = max(8, value.type.bits)
            accesses, passes = shared_access(value.encoding, value.shape, memory.encoding, bits)
            to["shared_accesses"] += accesses
            to["shared_passes"] += passes * (self.threads // 32)
        to["barriers"] += not load

    def _moved(self, value: GValue) -> float:
        """Bytes that all threads move together, copies included."""
        if not value.is_tensor or value.encoding is None:
            return 0.0
        each = elements_per_thread(value.encoding, value.shape)
        return each * value.type.bits / 8 * self.threads

    def _access(
        self,
        op: GOp,
        place: GValue,
        bits: int,
        to: _Counts,
        instructions: str,
        moved: str,
        widths: Mapping[tuple[int, str], int],
    ) -> None:
        each = elements_per_thread(place.encoding, place.shape)
        fastest = order_of(place.encoding, place.shape)[0]
        width = min(contig_per_thread_of(place.encoding, place.shape)[fastest], _ACCESS_BITS // max(8, bits))
        width = max(1, min(width, widths.get((op.line, op.path), width)))
        to[instructions] += each / width
        to["global_passes"] += each / width * _lines(place, bits)
        to[moved] += place.type.elements * max(8, bits) / 8

    def _copy(self, op: GOp, to: _Counts) -> None:
        """An asynchronous copy: as wide as both memories have neighbours side by side."""
        place, memory = op.operands[0], op.operands[1]
        bits = max(8, memory.type.bits)
        accesses, passes = shared_access(place.encoding, place.shape, memory.encoding, bits, copied=True)
        width = self.widths.get((op.line, op.path), _ACCESS_BITS // bits)
        copies = max(accesses, elements_per_thread(place.encoding, place.shape) / width)
        to["copies"] += copies
        to["copy_passes"] += passes / accesses * copies * (self.threads // 32)
        to["global_passes"] += copies * _lines(place, bits)
        to["copied_bytes"] += place.type.elements * bits / 8

    def _reduce(self, op: GOp, scratch: int, to: _Counts) -> None:
        source, result = op.operands[0], op.results[0]
        if source.encoding is None:
            return
        each = elements_per_thread(source.encoding, source.shape)
        left = elements_per_thread(result.encoding, result.shape) if result.is_tensor else 1
        steps = max(1, sum(len(body.ops) - 1 for body in op.blocks))
        to["arithmetic"] += each * steps
        axis = op.attrs.get("axis", 0)
        apart = source.shape[axis] * left // max(1, each)
        shuffles = min(_SHUFFLE_STEPS, max(0, apart.bit_length() - 1))
        to["shuffles"] += left * shuffles * len(op.operands)
        to["arithmetic"] += left * shuffles * steps
        to["shared_passes"] += 2.0 * scratch / _PASS_BYTES
        to["shared_accesses"] += 2.0 if scratch else 0.0

    def _elementwise(self, op: GOp, to: _Counts) -> None:
        value = op.result
        each: float = elements_per_thread(value.encoding, value.shape)
        element = value.type.element
        if element.startswith(("*", "i")) or op.name in ("tt.addptr", "arith.cmpi"):
            # Neighbours share one address, and one comparison of a mask.
            fastest = order_of(value.encoding, value.shape)[0]
            each /= min(contig_per_thread_of(value.encoding, value.shape)[fastest], 8)
            each = max(1.0, each)
            if element.startswith("*") or element == "i64":
                each *= 2
        special = _SPECIAL.get(op.name)
        if special is not None:
            to["special"] += each * special[0]
            to["arithmetic"] += each * special[1]
        elif op.name in _DIVISIONS:
            to["arithmetic"] += each * _DIVISION_INSTRUCTIONS
        elif op.name == "arith.truncf" and value.type.bits < 32:
            to["arithmetic"] += each / 2  # two elements at a time
        else:
            to["arithmetic"] += each


def _lines(place: GValue, bits: int) -> int:
    """Lines of 128 bytes that a warp touches in one access of global memory."""
    fastest = order_of(place.encoding, place.shape)[0]
    lanes = threads_per_warp_of(place.encoding, place.shape)
    row = contig_per_thread_of(place.encoding, place.shape)[fastest] * lanes[fastest] * bits // 8
    rows = 1
    for dim, count in enumerate(lanes):
        rows *= count if dim != fastest else 1
    return rows * max(1, -(-row // _PASS_BYTES))


def _by_ldmatrix(value: GValue, memory: GValue) -> bool:
    """Whether an operand of mma.sync is read by matrices: those of 16 bits also transposed, others where the tile is
    contiguous along K."""
    if value.type.bits == 16:
        return True
    k = len(value.shape) - 1 if value.encoding.op_idx == 0 else len(value.shape) - 2
    return fastest_of(memory.encoding, len(value.shape)) == k


def _lets_run(user: GOp) -> bool:
    """Whether a user of a product's result hands it on without waiting for it."""
    if user.name == "ttng.warp_group_dot_wait":
        return bool(user.attrs["pendings"])
    return user.name in ("scf.yield", "ttng.warp_group_dot")


def _product(op: GOp) -> Product:
    a, b = op.operands[0], op.operands[1]
    m, k = a.shape[-2:]
    n = b.shape[-1]
    bits = max(bits_of(a.type.element), bits_of(b.type.element))
    kind, instruction_n, warps = "none", 0, (1, 1)
    if op.name in _TCGEN05:
        kind, instruction_n = "tcgen05", n
    else:
        encoding = op.result.encoding
        if isinstance(encoding, NvidiaMma):
            warps = (encoding.warps_per_cta[-2], encoding.warps_per_cta[-1])
            kind = "wgmma" if encoding.version == 3 else "mma_v2" if encoding.version == 2 else "mma_v1"
            instruction_n = encoding.instr_shape[1] if encoding.version == 3 else 8
    deferred = kind == "tcgen05" or (
        op.name == "ttng.warp_group_dot" and all(_lets_run(user) for user in op.result.users())
    )
    batch = 1
    for size in a.shape[:-2]:
        batch *= size
    element = a.type.element if a.type.bits >= b.type.bits else b.type.element
    return Product(kind, m, n, k, bits, element, instruction_n, *warps, not a.memory, deferred, batch)
