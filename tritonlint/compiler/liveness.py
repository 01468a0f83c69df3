"""Which shared memory is live when: the buffers of a graph with their intervals.

Positions number the operations in program order, what an operation holds right after it, as the blocks stand
once control flow is lowered. A value is live from its definition to its last use; one that is used inside a
loop but comes from outside is live to the end of that loop, since the next iteration needs it again. A buffer
is live as long as any value that may point to it (lib/Analysis/Allocation.cpp, Alias.cpp).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tritonlint.compiler.allocate import FOREVER, Buffer
from tritonlint.compiler.graph import GBlock, GOp, Graph, GValue
from tritonlint.compiler.ops import LOOPS
from tritonlint.compiler.pipeline_loads import VIEWS
from tritonlint.compiler.releases import Release
from tritonlint.compiler.shared_encodings import allocation_alignment, allocation_bytes
from tritonlint.kernel.ir import bits_of

_SCRATCH_ALIGNMENT = 128
_CAPTURE_ALIGNMENT = 8


@dataclass(slots=True)
class Held:
    """A buffer and the operation it belongs to."""

    buffer: Buffer
    op: GOp
    is_scratch: bool


def _buffer(value: GValue, release: Release) -> Buffer:
    """The buffer of a local allocation, its interval not known yet."""
    shape = value.alloc_shape or value.shape
    bits = bits_of(value.type.element)
    size = allocation_bytes(shape, value.encoding, bits)
    return Buffer(size, allocation_alignment(shape, value.encoding, bits, release), 0, 0)


def held_memory(graph: Graph, release: Release, scratch_bytes: Callable[[GOp], int]) -> list[Held]:
    """All buffers of the function in the order in which the compiler meets them: local allocations first,
    then the scratch of single operations. `scratch_bytes` gives the scratch of an operation (0 for none)."""
    numbering = Numbering(graph)
    explicit: list[Held] = []
    scratch: list[Held] = []
    allocs: dict[GOp, Held] = {}
    for op in numbering.ops:
        if op.name == "ttg.local_alloc" and op.result.memory == "shared":
            value = op.result
            held = Held(_buffer(value, release), op, False)
            allocs[op] = held
            explicit.append(held)
            continue
        size = scratch_bytes(op)
        if size > 0:
            at = numbering.position[op]
            alignment = _SCRATCH_ALIGNMENT
            if op.name == "ttg.warp_specialize":
                alignment = _CAPTURE_ALIGNMENT
                scratch.append(Held(function_scratch(op.attrs["partition_warps"]), op, True))
            scratch.append(Held(Buffer(size, alignment, at, at + 1), op, True))
    for value, roots in _aliases(graph, allocs).items():
        start, end = numbering.interval(value)
        for root in roots:
            buffer = allocs[root].buffer
            if buffer.end == 0:
                buffer.start, buffer.end = start, end
            else:
                buffer.start, buffer.end = min(buffer.start, start), max(buffer.end, end)
    return explicit + scratch


class Numbering:
    """Positions of operations, and the span of each block."""

    def __init__(self, graph: Graph) -> None:
        self.position: dict[GOp, int] = {}
        self.span: dict[GBlock, tuple[int, int]] = {}
        self.ops: list[GOp] = []
        self._number(graph.body)

    def _number(self, block: GBlock) -> None:
        first = len(self.ops)
        for op in block.ops:
            self.position[op] = len(self.ops)
            self.ops.append(op)
            if op.name in ("tt.reduce", "tt.scan", "tt.map_elementwise"):
                continue  # what combines elements holds no memory
            for inner in op.blocks:
                self._number(inner)
        self.span[block] = (first, len(self.ops))

    def _loop_end(self, op: GOp) -> int:
        return max(self.span[block][1] for block in op.blocks)

    def interval(self, value: GValue) -> tuple[int, int]:
        """[first, last + 1) of the positions at which the value is live."""
        if value.op is not None:
            home = value.op.block
            start = self.position[value.op]
            if value.op.name in LOOPS or value.op.name == "scf.if":
                # The result comes to be where the lowered loop or branch ends.
                start = self._loop_end(value.op) - 1
            end = start + 1
        else:
            home = value.block
            assert home is not None
            start = self.span[home][0]
            end = start + 1
        assert home is not None
        for user in value.uses:
            end = max(end, self._use_end(user, home))
        return start, end

    def _use_end(self, user: GOp, home: GBlock) -> int:
        """Up to where a use keeps the value of a block alive."""
        end = self.position.get(user, -1) + 1
        op: GOp | None = user
        while op is not None and op.block is not home:
            op = op.parent
            if op is not None and op.name in LOOPS:
                end = max(end, self._loop_end(op))
        return end


def _aliases(graph: Graph, allocs: dict[GOp, Held]) -> dict[GValue, set[GOp]]:
    """For each memory descriptor the allocations that it may point to."""
    roots: dict[GValue, set[GOp]] = {op.results[0]: {op} for op in allocs}
    if not allocs:
        return roots
    queue = list(roots)
    while queue:
        value = queue.pop()
        here = roots[value]
        for user in value.uses:
            for target in _flows_to(user, value):
                known = roots.setdefault(target, set())
                if not here <= known:
                    known |= here
                    queue.append(target)
    return roots


def _flows_to(user: GOp, value: GValue) -> list[GValue]:
    """The values that a use hands the descriptor on to."""
    name = user.name
    if name in VIEWS:
        return [user.results[0]] if user.operands[0] is value else []
    if name == "arith.select":
        return [user.results[0]]
    targets: list[GValue] = []
    for position, operand in enumerate(user.operands):
        if operand is not value:
            continue
        if name == "scf.for" and position >= 3:
            targets += (user.body.args[position - 2], user.results[position - 3])
        elif name == "scf.while":
            targets.append(user.blocks[0].args[position])
        elif name == "scf.condition" and position >= 1 and user.parent is not None:
            targets += (user.parent.blocks[1].args[position - 1], user.parent.results[position - 1])
        elif name == "scf.yield" and user.parent is not None:
            parent = user.parent
            if parent.name == "scf.for":
                targets += (parent.body.args[position + 1], parent.results[position])
            elif parent.name == "scf.while":
                targets.append(parent.blocks[0].args[position])
            else:
                targets.append(parent.results[position])
    return targets


def function_scratch(size: int) -> Buffer:
    """Memory that the function itself holds all the time."""
    return Buffer(size, 1, 0, FOREVER)
