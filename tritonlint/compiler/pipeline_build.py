"""Building blocks of the loop rewrites: new operations with their place in the schedule, buffers, views,
barriers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tritonlint.compiler.encodings import CtaLayout, SwizzledShared
from tritonlint.compiler.graph import GBlock, GOp, GValue
from tritonlint.compiler.pipeline_loads import VIEWS, alloc_users
from tritonlint.compiler.pipeline_schedule import Cluster, Schedule
from tritonlint.kernel import ir

I32 = ir.Type("i32")
TOKEN = ir.Type("token")


class StageBuilder:
    """Makes operations at one point of a loop's body and gives them one place in the schedule."""

    __slots__ = ("place", "schedule")

    def __init__(self, schedule: Schedule, place: tuple[int, Cluster] | None) -> None:
        self.schedule = schedule
        self.place = place

    def before(self, point: GOp, name: str, operands: Iterable[GValue] = (), **kinds: Any) -> GOp:
        return self._note(_make(name, operands, point, **kinds).insert_before(point))

    def after(self, point: GOp, name: str, operands: Iterable[GValue] = (), **kinds: Any) -> GOp:
        return self._note(_make(name, operands, point, **kinds).insert_after(point))

    def _note(self, op: GOp) -> GOp:
        if self.place is not None:
            self.schedule.insert(op, *self.place)
        return op


def _make(
    name: str,
    operands: Iterable[GValue],
    near: GOp,
    results: Sequence[GValue] = (),
    attrs: dict[str, Any] | None = None,
) -> GOp:
    return GOp(name, operands, results, attrs, line=near.line, path=near.path)


def memory_value(
    shape: tuple[int, ...], element: str, encoding: Any, *, mutable: bool = True, memory: str = "shared"
) -> GValue:
    """A memory descriptor."""
    return GValue(ir.Type(element, shape), encoding, memory=memory, mutable=mutable, alloc_shape=shape)


def buffer_alloc(loop: GOp, load: GOp, encoding: Any, buffers: int) -> GOp:
    """A ring of buffers for a load's tile: allocated before the loop, freed right after it."""
    tile = load.results[0]
    value = memory_value((buffers, *tile.shape), tile.type.element, encoding)
    alloc = _make("ttg.local_alloc", (), load, [value], {"buffers": buffers, "role": "buffer"})
    alloc.insert_before(loop)
    _make("ttg.local_dealloc", (value,), loop).insert_after(loop)
    return alloc


def barrier_encoding(num_ctas: int) -> SwizzledShared:
    """The layout of barriers: one for each CTA of the cluster."""
    bases = tuple((1 << bit,) for bit in range(num_ctas.bit_length() - 1))
    return SwizzledShared(1, 1, 1, (0,), CtaLayout(1, bases) if bases else None)


def barrier_alloc(loop: GOp, near: GOp, count: int, num_ctas: int) -> GOp:
    """A ring of barriers of 8 bytes: made before the loop, given up right after it."""
    value = memory_value((count, num_ctas), "i64", barrier_encoding(num_ctas))
    alloc = _make("ttg.local_alloc", (), near, [value], {"buffers": count, "role": "barrier"})
    alloc.insert_before(loop)
    for index in range(count):
        view = _view(value, index).insert_before(loop)
        _make("ttng.init_barrier", (view.result,), near).insert_before(loop)
    point = loop
    for index in range(count):
        view = _view(value, index).insert_after(point)
        point = _make("ttng.inval_barrier", (view.result,), near).insert_after(view)
    _make("ttg.local_dealloc", (value,), near).insert_after(point)
    return alloc


def _view(ring: GValue, index: int | str) -> GOp:
    shape = ring.shape[1:]
    view = GValue(
        ring.type.with_shape(shape),
        ring.encoding,
        memory=ring.memory,
        mutable=ring.mutable,
        alloc_shape=shape,
    )
    return GOp("ttg.memdesc_index", (ring,), [view], {"index": index})


def view_before(builder: StageBuilder, point: GOp, ring: GValue, index: str) -> GValue:
    """One buffer of a ring. `index` names the counter, so that views of different ones stay apart."""
    return builder._note(_view(ring, index).insert_before(point)).result


def view_after(builder: StageBuilder, point: GOp, ring: GValue, index: str) -> GOp:
    return builder._note(_view(ring, index).insert_after(point))


def read_from(load: GOp, view: GValue) -> None:
    """What reads the loaded tile reads that memory instead: allocations in the same encoding become it, all else gets
    a local load where the load stands."""
    result = load.result
    for user in alloc_users(result):
        if user.result.encoding == view.encoding:
            replace_views(user.result, view, None)
            user.erase()
    if result.uses:
        loaded = result.copy()
        GOp("ttg.local_load", (view,), [loaded], line=load.line, path=load.path).insert_before(load)
        result.replace_all_uses(loaded)


def replace_views(old: GValue, new: GValue, schedule: Schedule | None) -> None:
    """Let the users of a memory descriptor take another one, views rebuilt on it
    (replaceUsesAndPropagateType). The new views take the places of the old ones in the schedule."""
    for user in old.users():
        if user.name not in VIEWS:
            for position, operand in enumerate(user.operands):
                if operand is old:
                    user.set_operand(position, new)
            continue
        result = user.result
        view = GValue(
            result.type,
            result.encoding,
            memory=result.memory,
            mutable=new.mutable,
            alloc_shape=result.alloc_shape,
            name=result.name,
        )
        operands = [new if operand is old else operand for operand in user.operands]
        copy = GOp(user.name, operands, [view], dict(user.attrs), line=user.line, path=user.path)
        copy.insert_before(user)
        if schedule is not None and user in schedule:
            schedule.insert(copy, *schedule.at[user])
        replace_views(result, view, schedule)
        if schedule is not None:
            schedule.erase(user)
        user.erase()


def add_carried(loop: GOp, inits: Sequence[GValue]) -> tuple[GOp, list[GValue]]:
    """Add values that the loop carries; each is yielded as it came until the caller changes that. Returns the
    loop and the new arguments of its body."""
    fresh: list[GValue] = []
    for init in inits:
        loop.add_operand(init)
        loop.add_result(GValue(init.type, init.encoding, memory=init.memory, mutable=init.mutable))
        arg = GValue(init.type, init.encoding, memory=init.memory, mutable=init.mutable)
        fresh.append(loop.body.add_arg(arg))
        loop.body.terminator.add_operand(arg)
    return loop, fresh


def first_op(block: GBlock) -> GOp:
    return block.ops[0]
