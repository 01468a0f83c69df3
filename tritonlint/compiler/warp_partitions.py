"""Loops whose loads, and product on tensor memory, get warps of their own (sm_100 and newer).

AutomaticWarpSpecialization.cpp puts the descriptor loads of a loop in one partition, a product on tensor memory
in another one, and leaves the rest to the launch's own warps. What they hand to each other lies in rings of
num_stages buffers, each with barriers for "full" and "empty"; the values that partitions use from outside the
loop are copied to shared memory where they start, and each of their warps has a byte for its state.

Split here are loops of which each load feeds the one product directly. What else a loop may hold (other
products, loads through pointers) goes to partitions by rules that are not known.
"""

from __future__ import annotations

from tritonlint.compiler.graph import GOp, Graph, GValue, defined_inside
from tritonlint.compiler.pipeline_build import (
    StageBuilder,
    barrier_encoding,
    memory_value,
    read_from,
    view_before,
)
from tritonlint.compiler.pipeline_latency import can_pipeline, num_stages_of
from tritonlint.compiler.pipeline_loads import DOTS, LOADS, VIEWS, descriptor_encoding, viewed_memory
from tritonlint.compiler.pipeline_schedule import Schedule
from tritonlint.compiler.pipeline_tcgen05 import accumulator_alloc, multibuffer, second_accumulator, use_flag
from tritonlint.compiler.releases import Release
from tritonlint.kernel.ir import bits_of

PARTITION_WARPS = 4  # all partitions but the first are filled up to one warp group
_POINTER_BYTES = 8
_ATOMICS = frozenset({"tt.atomic_rmw", "tt.atomic_cas"})
_CONSTANTS = frozenset({"arith.constant", "ub.poison"})


def split_loop(loop: GOp, graph: Graph, release: Release, num_stages: int) -> bool:
    """Give the loads of the loop their rings and barriers, in place; False, and nothing done, where it is not
    one of the loops that are known."""
    stages = num_stages if release.specialized_stages_of_launch else num_stages_of(loop, num_stages)
    dots = [op for op in loop.walk() if op.name in DOTS]
    if len(dots) != 1 or graph.num_ctas > 1 or stages < 2:
        return False
    dot = dots[0]
    home = dot.parent  # the loop itself, or the one loop in it
    if home is None or home.name != "scf.for" or not can_pipeline(home):
        return False
    loops = [op for op in loop.walk() if op.name in ("scf.for", "scf.while")]
    if loops != ([] if home is loop else [home]) or (home is not loop and home.block is not loop.body):
        return False
    loads = [op for op in loop.walk() if op.name in LOADS or op.name in _ATOMICS]
    if not loads or any(op.name != "tt.descriptor_load" or op.block is not home.body for op in loads):
        return False
    if any(not _feeds_only(load.result, dot) for load in loads):
        return False
    accumulators = 0
    if dot.name == "ttng.tc_gen5_mma":
        accumulators = _accumulators(dot, loop, home, release)
        if not accumulators:
            return False
    elif dot.name != "tt.dot":
        return False
    _Split(loop, home, graph, release, stages).run(loads, dot, accumulators)
    return True


def _accumulators(mma: GOp, loop: GOp, home: GOp, release: Release) -> int:
    """How many accumulators the product gets; 0 where that is not known."""
    alloc = accumulator_alloc(mma, home)
    if alloc is None:
        return 0
    if home is loop:
        return second_accumulator(mma, loop, release)
    return 2 if alloc.block is loop.body and not loop.attrs.get("disallow_acc_multi_buffer") else 0


def _feeds_only(value: GValue, dot: GOp) -> bool:
    """Whether nothing but the operands of the product reads a loaded tile, views and conversions aside."""
    for user in value.uses:
        if user is dot:
            if value not in dot.operands[:2]:
                return False
            continue
        is_view = user.name in VIEWS or user.name in ("ttg.local_alloc", "ttg.convert_layout", "tt.trans")
        if not is_view or user.block is not dot.block or not _feeds_only(user.result, dot):
            return False
    return bool(value.uses)


class _Split:
    """One loop on its way; `captured` are the values that other partitions than the first use."""

    def __init__(self, loop: GOp, home: GOp, graph: Graph, release: Release, stages: int) -> None:
        self.loop = loop
        self.home = home
        self.graph = graph
        self.release = release
        self.stages = stages
        self.captured: dict[GValue, None] = {}
        self.frees: list[GValue] = []
        self.extra_bytes = 0

    def run(self, loads: list[GOp], dot: GOp, accumulators: int) -> None:
        loop = self.loop
        used = [operand for load in loads for operand in load.operands]
        used += loop.operands[:3] + self.home.operands[:3]
        if accumulators:
            used.append(use_flag(dot))
            used += [op.operands[0] for op in loop.body.ops if op.name == "scf.if" and _reads_memory(op)]
            self._accumulator_barriers(dot, accumulators)
            alloc = accumulator_alloc(dot, self.home)
            assert alloc is not None
            if alloc.is_inside(loop):
                alloc.move_before(loop)
            if accumulators > 1:
                multibuffer(alloc, loop, Schedule(), accumulators)
            self.captured[viewed_memory(dot.operands[2])] = None
        for value in _outside(used, loop):
            self.captured[value] = None
        for place, load in enumerate(loads):
            if not accumulators or place == 0:
                for _ in ("full", "empty"):
                    self.captured[self._barriers(self.stages, load)] = None
            self.captured[self._ring(load)] = None
        size = self.extra_bytes + sum(self._bytes(value) for value in self.captured)
        attrs = {"capture_bytes": size, "partition_warps": PARTITION_WARPS}
        GOp(
            "ttg.warp_specialize", list(self.captured), (), attrs, line=loop.line, path=loop.path
        ).insert_before(loop)
        block = loop.block
        assert block is not None
        for value in self.frees:
            GOp("ttg.local_dealloc", (value,), line=loop.line, path=loop.path).insert_before(block.terminator)
        loop.attrs["partitioned"] = self.home.attrs["partitioned"] = True

    def _barriers(self, count: int, near: GOp) -> GValue:
        """Barriers are given up at the end of the block."""
        value = memory_value((count, 1), "i64", barrier_encoding(1))
        attrs = {"buffers": count, "role": "barrier"}
        GOp("ttg.local_alloc", (), [value], attrs, line=near.line, path=near.path).insert_before(self.loop)
        self.frees.append(value)
        return value

    def _accumulator_barriers(self, dot: GOp, accumulators: int) -> None:
        """The product reports that an accumulator is done, and waits where it takes another one until that is
        free."""
        done = self._barriers(accumulators, dot)
        if accumulators == 1 and self.release.one_accumulator_has_one_barrier:
            last = 0 if _is_constant(self.loop.operands[1]) else self._bytes(self.loop.operands[1])
            self.extra_bytes = (
                _POINTER_BYTES + 4 + last
            )  # the barrier itself, and the number of the last step
        else:
            self.captured[done] = None
            free = self._barriers(accumulators, dot)
            if accumulators > 1:
                self.captured[free] = None
        dot.add_operand(view_before(StageBuilder(Schedule(), None), dot, done, "done"))
        dot.attrs["is_async"] = True

    def _ring(self, load: GOp) -> GValue:
        """The ring of a load; what read the load now reads a buffer of it."""
        tile = load.result
        ring = memory_value((self.stages, *tile.shape), tile.type.element, descriptor_encoding(load))
        attrs = {"buffers": self.stages, "role": "buffer"}
        GOp("ttg.local_alloc", (), [ring], attrs, line=load.line, path=load.path).insert_before(self.loop)
        view = view_before(StageBuilder(Schedule(), None), load, ring, "extract")
        read_from(load, view)
        load.erase()
        return ring

    def _bytes(self, value: GValue) -> int:
        """Bytes of a captured value (getSharedMemorySize of WarpSpecializeOp)."""
        if value.memory == "tensor":
            return _POINTER_BYTES
        if value.memory:
            rank = len(value.shape)
            if value.type.element == "i64" and not self.release.barriers_have_cta_dimension:
                rank -= 1
            return _POINTER_BYTES + 4 * rank
        element = value.type.element
        if element.startswith(("*", "tensordesc")):
            return _POINTER_BYTES
        return -(-bits_of(element) // 8)


def _is_constant(value: GValue) -> bool:
    return value.op is not None and value.op.name in _CONSTANTS


def _reads_memory(op: GOp) -> bool:
    return any(inner.name == "ttng.tmem_load" for inner in op.walk())


def _outside(values: list[GValue], loop: GOp) -> list[GValue]:
    """The values from outside the loop that are needed to compute the given ones; constants are computed anew."""
    found: dict[GValue, None] = {}
    seen: set[GValue] = set()
    queue = list(values)
    while queue:
        value = queue.pop()
        if value in seen or value.type.element == "token":
            continue
        seen.add(value)
        op = value.op
        if not defined_inside(value, loop):
            if not _is_constant(value):
                found[value] = None
        elif op is None:
            queue += _sources_of_argument(value)
        elif op.name == "scf.for":
            place = op.results.index(value)
            queue += (op.operands[place + 3], op.body.terminator.operands[place])
        elif op.name == "scf.if":
            place = op.results.index(value)
            queue.append(op.operands[0])
            queue += [block.terminator.operands[place] for block in op.blocks]
        else:
            queue += op.operands
    return list(found)


def _sources_of_argument(value: GValue) -> list[GValue]:
    """What an argument of a loop's body is made of."""
    owner = value.block.parent if value.block is not None else None
    if owner is None or owner.name != "scf.for":
        return []
    if value.index == 0:
        return owner.operands[:3]
    return [owner.operands[value.index + 2], owner.body.terminator.operands[value.index - 1]]
