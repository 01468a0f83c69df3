"""Upper bounds of what a launch takes, from its trace alone.

What a rule wants to know is mostly whether a launch fits, and most launches are far from every limit. The bound counts
all that the passes could put into shared memory at once, without running them: a ring for each load of a loop, a copy
of each operand of a dot wherever on its way it may be converted, a tile for each descriptor, and one conversion or
reduction of the largest tensor. It is never below what the replay of the passes says; where an operation could need
what is not counted here, there is no bound.

Registers are bounded where no dot decides about layouts: by all values of the kernel at once, each twice, since passes
may make one again in another layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonlint.compiler.encodings import DotOperand
from tritonlint.compiler.graph import GOp, Graph
from tritonlint.compiler.ops import LOOPS
from tritonlint.compiler.options import Options
from tritonlint.compiler.registers import register_limit
from tritonlint.compiler.releases import Release
from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import Block, Op, Trace, Type, Value, bits_of

_LOADS = frozenset({"tt.load", "tt.descriptor_load", "tt.descriptor_gather"})
_DESCRIPTOR_STORES = frozenset({"tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter"})
_NOT_COUNTED = frozenset({"tt.call", "tt.dot_scaled", "tt.gather", "tt.map_elementwise"})
_RESHAPES = frozenset({"tt.reshape", "tt.trans", "tt.join", "tt.split", "tt.cat"})
_MOST_OPERATIONS = 4_000
_BARRIER_BYTES = 64  # of one stage of one load, with what goes before it for alignment
_ALIGNMENT = 1024  # of a buffer, at most
_DESCRIPTOR_BYTES = 128
_PADDING = 16  # bytes that a conversion puts behind each row, at most
_WORD = 8  # bytes of the widest element of a scan or reduction
_ROWS_OF_TENSOR_MEMORY = 128


@dataclass(frozen=True, slots=True)
class AtMost:
    """The launch takes no more: bytes of shared memory, columns of tensor memory. `registers_suffice`: whether the
    values of a thread find room in its registers for sure."""

    shared_bytes: int
    tensor_memory_columns: int
    registers_suffice: bool


def at_most(trace: Trace, options: Options, target: Target, release: Release) -> AtMost | None:
    """The bound, None where there is none."""
    if not release.known or release.conversion != "swizzled" or options.num_ctas != 1:
        return None
    if target.is_amd and target.arch in release.amd_async_copy:
        return None  # buffers may be padded
    counted = _Count(options, target, release)
    try:
        counted.block(trace.function.body, 0)
    except _NotCounted:
        return None
    return counted.result()


class _NotCounted(Exception):
    """An operation that may need what is not counted."""


class _Count:
    """One walk over the operations of a trace."""

    def __init__(self, options: Options, target: Target, release: Release) -> None:
        self._options = options
        self._target = target
        self._release = release
        self._made: dict[Value, Op] = {}
        self._held = 0  # bytes of buffers
        self._buffers = 0
        self._scratch = 0  # bytes of the largest single operation
        self._columns = 0
        self._operations = 0
        self._vectors = 0  # words of tensors of one dimension that are spread over all threads
        self._copied = 0  # the same where each thread may hold the whole tensor
        self._tiles = 0  # words of tensors of two dimensions
        self._spread = True  # whether the words are bounded
        self._threads = 32 * options.num_warps * (2 if target.is_amd else 1)

    def result(self) -> AtMost:
        columns = 1
        while columns < self._columns:
            columns *= 2
        words = 2 * (self._tiles + self._copied if self._tiles else self._vectors)
        return AtMost(
            self._held + self._scratch + _ALIGNMENT * (self._buffers + 1),
            columns if self._columns else 0,
            self._spread and words <= register_limit(self._options, self._target),
        )

    def block(self, block: Block, stages: int) -> None:
        """`stages`: the most of any loop around the block, 0 outside of loops."""
        for argument in block.args:
            self._value(argument.type)
        for op in block.ops:
            self._operations += 1
            if self._operations > _MOST_OPERATIONS or op.name in _NOT_COUNTED:
                raise _NotCounted
            for result in op.results:
                self._made[result] = op
                self._value(result.type)
            self._op(op, stages)

    def _op(self, op: Op, stages: int) -> None:
        if op.name in LOOPS:
            if op.attrs.get("warp_specialize") or op.attrs.get("loop_unroll_factor"):
                raise _NotCounted
            own = op.attrs.get("num_stages")
            self._spread = self._spread and own is None
            inside = max(stages, self._options.num_stages, 1 if own is None else int(own))
            for block in op.blocks:
                self.block(block, inside)
        elif op.name in ("tt.reduce", "tt.scan"):
            self._reduction(op)
        elif op.name in _LOADS:
            self._load(op, stages)
        elif op.name in _DESCRIPTOR_STORES:
            self._hold(_bytes(op.operands[1].type))
        elif op.name == "tt.dot":
            self._dot(op)
        elif op.name == "tt.histogram":
            self._spread = False
            bins = (op.results[0].type.shape or (1,))[0]
            self._scratch = max(self._scratch, max(bins, 64) * _WORD)
        else:
            self._spread = self._spread and op.name not in _RESHAPES
            for block in op.blocks:
                self.block(block, stages)

    def _value(self, type: Type) -> None:
        """A tensor may be converted: once at a time, with padding."""
        if type.is_tensor:
            self._scratch = max(self._scratch, _converted(type), _DESCRIPTOR_BYTES)
            self._register(type, len(type.shape or ()))

    def _register(self, type: Type, rank: int) -> None:
        """Words of a thread. Pointers and masks are no data; a row or a column may be held by each thread whole."""
        if rank > 2:
            self._spread = False
        if type.is_pointer or type.element == "i1":
            return
        whole, each = type.elements * _words(type), -(-type.elements // self._threads) * _words(type)
        if rank == 1:
            self._vectors += each
            self._copied += whole
        else:
            self._tiles += whole if 1 in (type.shape or ()) else each

    def _reduction(self, op: Op) -> None:
        shape = op.operands[0].type.shape or ()
        if op.name == "tt.scan" and len(shape) > 1:
            raise _NotCounted
        width = sum(_width(operand.type) for operand in op.operands)
        elements = max(op.operands[0].type.elements, 16 * self._threads)
        self._scratch = max(self._scratch, elements * width)

    def _load(self, op: Op, stages: int) -> None:
        size = max(16, _bytes(op.results[0].type))
        if stages:
            self._hold((size + _BARRIER_BYTES) * _ring(stages, self._target, self._release))
        elif op.name != "tt.load":
            self._hold(size + _BARRIER_BYTES)

    def _dot(self, op: Op) -> None:
        self._spread = False
        for operand in op.operands[:2]:
            for value in self._way(operand):
                self._hold(_bytes(value.type))
        m, k = (op.operands[0].type.shape or (1, 1))[-2:]
        n = (op.operands[1].type.shape or (1, 1))[-1]
        if not self._target.is_amd and self._target.capability >= 100:
            rows = -(-m // _ROWS_OF_TENSOR_MEMORY)
            self._columns += 2 * rows * n + rows * k * op.operands[0].type.bits // 32 + 1

    def _way(self, operand: Value) -> Iterator[Value]:
        """What an operand is computed from, up to loads and other dots: each may be converted in its place."""
        seen: set[Value] = set()
        stack = [operand]
        while stack:
            value = stack.pop()
            if value in seen or not value.type.is_tensor:
                continue
            seen.add(value)
            yield value
            op = self._made.get(value)
            if op is not None and op.name not in _LOADS and op.name != "tt.dot" and not op.blocks:
                stack += op.operands

    def _hold(self, size: int) -> None:
        self._held += size
        self._buffers += 1


def _ring(stages: int, target: Target, release: Release) -> int:
    """The most buffers of one load: one for each stage up to its use. From Hopper on an asynchronous product counts as
    one more, and so may a use in a later cluster, or the barrier of a product in tensor memory; on AMD the load itself
    is the first stage."""
    most = stages - 1
    if target.is_nvidia:
        exact = release.pipeliner == "latencies" and not release.late_use_needs_buffer
        most += not exact or 100 <= target.capability < 120
        most += target.capability >= 90
    return max(1, most)


def at_most_with_layouts(graph: Graph, stages: int, target: Target, release: Release) -> int:
    """Bytes of shared memory that a kernel of which there is an `AtMost` takes at most, from its graph before the
    pipeliner: closer, since it is known what is converted. Later passes move conversions and narrow them, but convert
    nothing else. Rings and what stands in a loop go with it, so that they are not there together with the rest."""
    held = rings = operands = scratch = looped = buffers = 0
    for op in graph.walk():
        in_loop = _in_loop(op)
        size = 0
        if op.name in _LOADS:
            if in_loop:
                own = [int(loop.attrs.get("num_stages") or 0) for loop in op.ancestors()]
                ring = _ring(max([stages, 1, *own]), target, release)
                rings += (max(16, _bytes(op.result.type)) + _BARRIER_BYTES) * ring
                buffers += 1
            elif op.name != "tt.load":
                held += _bytes(op.result.type) + _BARRIER_BYTES
                buffers += 1
        elif op.name == "ttg.local_alloc":
            tile = op.result.type.elements * _width(op.result.type)
            rings, held = (rings + tile, held) if in_loop else (rings, held + tile)
            buffers += 1
        elif op.name in _DESCRIPTOR_STORES:
            held += _bytes(op.operands[1].type)
            buffers += 1
        elif op.name == "ttg.convert_layout" and isinstance(op.result.encoding, DotOperand):
            if not (in_loop and _takes_a_load(op)):
                operands += _bytes(op.result.type)
                buffers += 1
        elif op.name == "ttg.convert_layout":
            size = _converted(op.result.type)
        elif op.name in ("tt.reduce", "tt.scan"):
            elements = max(op.operands[0].type.elements, 16 * graph.threads_per_warp * graph.num_warps)
            size = elements * sum(_width(operand.type) for operand in op.operands)
        elif op.name == "tt.histogram":
            size = max((op.result.type.shape or (1,))[0], 64) * _WORD
        elif op.name.startswith("tt.atomic") or op.name == "tt.make_tensor_descriptor":
            size = max([_DESCRIPTOR_BYTES, *(_converted(operand.type) for operand in op.operands)])
        scratch = max(scratch, size)
        looped = max(looped, size if in_loop else 0)
    at_once = max(rings + looped, scratch)
    return held + operands + at_once + (_ALIGNMENT + _BARRIER_BYTES) * (buffers + 1)


def _takes_a_load(convert: GOp) -> bool:
    """Whether a conversion is all that uses a load: it reads the ring of the load, or there is no ring."""
    source = convert.operands[0]
    return source.has_one_use and source.op is not None and source.op.name in _LOADS


def _in_loop(op: GOp) -> bool:
    return any(parent.name in LOOPS for parent in op.ancestors())


def _converted(type: Type) -> int:
    """Bytes of one conversion, with padding."""
    if not type.is_tensor:
        return _width(type)
    return type.elements * _width(type) + type.elements // min(type.shape or (1,)) * _PADDING


def _width(type: Type) -> int:
    """Bytes of one element in shared memory."""
    return max(8, bits_of(type.element)) // 8


def _words(type: Type) -> int:
    """32-bit words of one element in registers, at most."""
    return 2 if bits_of(type.element) > 32 else 1


def _bytes(type: Type) -> int:
    return type.elements * _width(type)
