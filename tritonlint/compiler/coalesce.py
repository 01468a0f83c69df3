"""The encoding in which a load, store or atomic is coalesced best.

lib/Dialect/TritonGPU/Transforms/CoalesceUtils.cpp: threads take neighbours along the most contiguous
dimension, as many as 16 bytes hold, the addresses allow and there are elements for all threads.
"""

from __future__ import annotations

from tritonlint.compiler.axis import AxisInfo
from tritonlint.compiler.blocked import blocked
from tritonlint.compiler.encodings import Blocked, cta_of, shape_per_cta
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.ops import element_bits, memory_pointer
from tritonlint.compiler.releases import Release
from tritonlint.compiler.slices import whole_slice
from tritonlint.compiler.target import Target

_VECTOR_BITS = 128


def by_contiguity(contiguity: tuple[int, ...], last_first: bool) -> tuple[int, ...]:
    """Dimensions from the most to the least contiguous one; among equals the last first, or the first."""
    sign = -1 if last_first else 1
    return tuple(sorted(range(len(contiguity)), key=lambda d: (-contiguity[d], sign * d)))


class Coalescing(AxisInfo):
    """The analysis of addresses, and what follows from it for each access."""

    def __init__(self, graph: Graph, target: Target, release: Release) -> None:
        super().__init__(graph, release)
        self._graph = graph
        self._target = target

    def moved_to(self, graph: Graph, mapping: dict[GValue, GValue], target: Target) -> Coalescing:
        """The same of a copy of the graph; `mapping` gives its values."""
        moved = object.__new__(Coalescing)
        moved._graph, moved._release, moved._target = graph, self._release, target
        moved._known = {mapping[value]: known for value, known in self._known.items() if value in mapping}
        return moved

    def coalesced_layout(self, op: GOp) -> Blocked:
        """The encoding for an access through a tensor of pointers."""
        pointer = memory_pointer(op)
        assert pointer is not None
        order = self._order(self.info(pointer).contiguity)
        part = shape_per_cta(pointer.shape, cta_of(pointer.encoding))
        elements = 1
        for size in part:
            elements *= size
        threads = self._graph.num_warps * self._graph.threads_per_warp
        own = self._per_thread(op, pointer, order, part)
        widest = own
        # A store wider than its own 16 bytes would leave gaps in what a warp writes at once.
        if op.name == "tt.load":
            for other in self._same_order(op, pointer, order):
                other_pointer = memory_pointer(other)
                assert other_pointer is not None
                widest = max(widest, self._per_thread(other, other_pointer, order, part))
        widest = min(widest, max(elements // threads, 1))
        sizes = tuple(widest if d == order[0] else 1 for d in range(len(order)))
        cta = cta_of(pointer.encoding)
        return blocked(pointer.shape, sizes, order, self._graph.num_warps, self._graph.threads_per_warp, cta)

    def _order(self, contiguity: tuple[int, ...]) -> tuple[int, ...]:
        return by_contiguity(contiguity, self._release.coalesces_last_dim_first)

    def _same_order(self, op: GOp, pointer: GValue, order: tuple[int, ...]) -> list[GOp]:
        """Other accesses that hang together with this one, over tensors of the same shape and order."""
        if pointer.op is None:
            return []
        found = []
        for other in whole_slice(op, lambda _: True):
            other_pointer = memory_pointer(other)
            if other is op or other_pointer is None or other_pointer.shape != pointer.shape:
                continue
            if other_pointer.is_tensor and self._order(self.info(other_pointer).contiguity) == order:
                found.append(other)
        return found

    def _per_thread(self, op: GOp, pointer: GValue, order: tuple[int, ...], part: tuple[int, ...]) -> int:
        facts, fastest = self.info(pointer), order[0]
        bits = element_bits(pointer)
        aligned = max(1, facts.divisibility[fastest] // max(1, bits // 8))
        run = min(facts.contiguity[fastest], part[fastest])
        return min(aligned, run, self._widest(op, bits))

    def _widest(self, op: GOp, bits: int) -> int:
        """Elements of the widest access that the hardware has for an operation."""
        widest = max(1, _VECTOR_BITS // bits)
        if not self._release.atomics_have_own_width or op.name not in ("tt.atomic_cas", "tt.atomic_rmw"):
            return widest
        if op.name == "tt.atomic_cas":
            return 1
        element = op.operands[1].type.element
        if element.startswith("i") or element == "fp64":
            return 1
        if self._target.is_amd:
            return min(widest, max(1, 32 // bits))
        if op.attrs.get("rmw_op") == "fadd" and self._target.capability < 90:
            return min(widest, {"fp32": 1, "bf16": 1, "fp16": 2}.get(element, widest))
        return widest
