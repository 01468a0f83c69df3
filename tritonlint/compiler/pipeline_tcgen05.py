"""Products on tensor memory (tcgen05) in a pipelined loop: MMAv5PipelineUtility.cpp, AssignLatencies.cpp and
the second half of LowerLoops.cpp (3.4 and newer).

Such a product runs asynchronously and reports to a barrier in shared memory. Where its operands allow, the
wait for it comes one stage later; where its accumulator is read in the loop, that is only possible with a
second accumulator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tritonlint.compiler.encodings import SharedLinear, SwizzledShared
from tritonlint.compiler.graph import GOp, GValue, defined_inside
from tritonlint.compiler.ops import constant_value
from tritonlint.compiler.pipeline_build import (
    TOKEN,
    StageBuilder,
    barrier_alloc,
    memory_value,
    replace_views,
    view_before,
)
from tritonlint.compiler.pipeline_latency import stage_is_aligned
from tritonlint.compiler.pipeline_loads import (
    LOADS,
    TCGEN05,
    TMA_LOADS,
    copy_vector_bytes,
    shared_encoding,
)
from tritonlint.compiler.pipeline_schedule import Cluster, Schedule, nested_operands
from tritonlint.compiler.releases import Release
from tritonlint.kernel import ir


@dataclass(slots=True)
class _Operands:
    """Whether the operands of a product are ready in time: `known` if all that write them were found, `late`
    the ones that keep the product from overlapping with itself."""

    known: bool = True
    found: bool = False  # the accumulator stands outside the loop, so the question was asked
    late: list[GOp] = field(default_factory=list)

    @property
    def pipelineable(self) -> bool:
        return self.found and self.known and not self.late


def accumulator(mma: GOp) -> GValue:
    return mma.operands[2]


def _token_count(mma: GOp) -> int:
    return 1 if mma.attrs.get("has_token") else 0


def use_flag(mma: GOp) -> GValue:
    """The operand that says whether the accumulator is added to or overwritten."""
    return mma.operands[3 + _token_count(mma) + (2 if mma.name.endswith("scaled") else 0)]


def _scales(mma: GOp) -> list[GValue]:
    if not mma.name.endswith("scaled"):
        return []
    first = 3 + _token_count(mma)
    return mma.operands[first : first + 2]


def accumulator_alloc(mma: GOp, loop: GOp) -> GOp | None:
    """The allocation of the accumulator, if it stands outside the loop."""
    alloc = accumulator(mma).op
    if alloc is None or alloc.name != "ttng.tmem_alloc" or defined_inside(accumulator(mma), loop):
        return None
    return alloc


def _can_be_async(load: GOp, release: Release) -> bool:
    if load.name in TMA_LOADS:
        return not release.tma_stage_multiple or stage_is_aligned(load)
    result = load.result
    encoding = shared_encoding(load, release)
    return copy_vector_bytes(result.encoding, encoding, result.shape, result.type.element) >= 4


def _check_operands(mma: GOp, loop: GOp, release: Release, is_pipelined: Callable[[GOp], bool]) -> _Operands:
    state = _Operands()
    if accumulator_alloc(mma, loop) is None:
        return state
    state.found = True
    values = [mma.operands[0], mma.operands[1]]
    scales = _scales(mma)
    for scale in scales:
        # Scales that pass through tensor memory are copied there, which the rule does not follow.
        in_shared = isinstance(scale.encoding, (SwizzledShared, SharedLinear)) or scale.memory == "shared"
        if not in_shared and defined_inside(scale, loop):
            state.known = False
            return state
    for value in values + scales:
        ready, source = _operand_ready(value, loop, release, is_pipelined)
        if not ready:
            if source is None:
                state.known = False
            else:
                state.late.append(source)
    return state


def _operand_ready(
    value: GValue, loop: GOp, release: Release, is_pipelined: Callable[[GOp], bool]
) -> tuple[bool, GOp | None]:
    """Whether an operand comes from outside the loop or from a load that is pipelined; else what makes it."""
    if not defined_inside(value, loop):
        return True, None
    op = value.op
    while op is not None and op.name in ("ttg.memdesc_trans", "ttg.memdesc_reshape"):
        op = op.operands[0].op
    if op is None:
        return False, None
    if op.name in ("ttg.local_store", "ttng.tmem_store", "ttng.tmem_alloc"):
        return False, op
    if op.name != "ttg.local_alloc":
        return False, None
    if not op.operands:
        return False, op
    source = op.operands[0]
    if not defined_inside(source, loop):
        return True, op
    load = source.op
    if load is None or load.name not in LOADS:
        return False, op
    if is_pipelined(load) and _can_be_async(load, release):
        return True, load
    return False, load


def _uses_in(loop: GOp, alloc: GOp, name: str) -> list[GOp]:
    return [user for user in alloc.results[0].uses if user.name == name and user.is_inside(loop)]


def _reads_after(mma: GOp, loop: GOp) -> bool:
    alloc = accumulator_alloc(mma, loop)
    if alloc is None:
        return False
    for user in alloc.results[0].uses:
        if user.name == "ttng.tmem_load":
            outer = user.ancestor_in(loop.body)
            if outer is not None and mma.is_before_in_block(outer):
                return True
    return False


def _needs_second_accumulator(mma: GOp, loop: GOp) -> bool:
    alloc = accumulator_alloc(mma, loop)
    return alloc is None or bool(_uses_in(loop, alloc, "ttng.tmem_load"))


def _can_have_second_accumulator(mma: GOp, loop: GOp, release: Release) -> bool:
    """The accumulator is overwritten somewhere in the loop: there the other one can take over."""
    alloc = accumulator_alloc(mma, loop)
    if alloc is not None and _uses_in(loop, alloc, "ttng.tmem_store"):
        return True
    flag = use_flag(mma)
    if _is_number(flag, 0):
        return True
    body = loop.body
    first: GValue | None = None
    seen: set[GValue] = set()
    while flag.block is body and flag.index > 0 and flag not in seen:
        seen.add(flag)
        first = loop.operands[flag.index + 2]
        flag = body.terminator.operands[flag.index - 1]
    if (
        release.tcgen05_flag_through_loop
        and first is not None
        and _is_number(first, 0)
        and _is_number(flag, 1)
    ):
        return True
    return flag.op is not None and defined_inside(flag, loop)


def second_accumulator(mma: GOp, loop: GOp, release: Release) -> int:
    """Accumulators of a product in a loop that is split among warps: 2 where it is read in the loop and may be
    doubled; 0 where it is read and may not."""
    if not _needs_second_accumulator(mma, loop):
        return 1
    doubled = _can_have_second_accumulator(mma, loop, release) and not loop.attrs.get(
        "disallow_acc_multi_buffer"
    )
    return 2 if doubled else 0


def _is_number(value: GValue, number: int) -> bool:
    found = constant_value(value)
    return found is not None and not isinstance(found, str) and found == number


def _rewrites_accumulator(mma: GOp, loop: GOp) -> bool:
    """Whether the accumulator is read, changed and written back in the loop."""
    alloc = accumulator_alloc(mma, loop)
    if alloc is None:
        return True
    stores = set(_uses_in(loop, alloc, "ttng.tmem_store"))
    loads = _uses_in(loop, alloc, "ttng.tmem_load")
    if not stores or not loads:
        return False
    read = [load.results[0] for load in loads]
    changed: list[GValue] = []
    seen: set[GValue] = set()
    while read:
        value = read.pop()
        if value in seen:
            continue
        seen.add(value)
        for user in value.uses:
            if user in stores:
                continue
            if user.name == "scf.yield":
                read.extend(_through_yield(user, value, loop))
            else:
                changed.extend(user.results)
    while changed:
        value = changed.pop()
        if value in seen:
            continue
        seen.add(value)
        for user in value.uses:
            if user in stores:
                return True
            if user.name == "scf.yield":
                changed.extend(_through_yield(user, value, loop))
            else:
                changed.extend(user.results)
    return False


def _through_yield(user: GOp, value: GValue, loop: GOp) -> list[GValue]:
    parent = user.parent
    places = [position for position, operand in enumerate(user.operands) if operand is value]
    if parent is loop:
        return [loop.body.args[position + 1] for position in places]
    if parent is not None and parent.name == "scf.if":
        return [parent.results[position] for position in places]
    return []


def _cycles_through_other(mma: GOp, loop: GOp) -> bool:
    """Whether the accumulator of the next iteration depends on this one through another product."""
    if not mma.attrs.get("has_token") or not mma.results:
        return False
    target = mma.results[0]
    stack = [(mma.operands[3], False)]
    seen: set[tuple[GValue, bool]] = set()
    while stack:
        value, crossed = stack.pop()
        if (value, crossed) in seen:
            continue
        seen.add((value, crossed))
        if value is target:
            if crossed:
                return True
            continue
        if value.block is not None:
            if value.block is loop.body and value.index > 0:
                stack.append((loop.body.terminator.operands[value.index - 1], crossed))
            continue
        op = value.op
        if op is None or not op.is_inside(loop):
            continue
        crossed = crossed or (op.name in TCGEN05 and op is not mma)
        stack.extend((operand, crossed) for operand in nested_operands(op))
    return False


def is_warp_specialized(loop: GOp, release: Release) -> bool:
    """The loop, or one around it in releases that split nests, asks for warp specialization."""
    around = loop.ancestors() if release.specializes_nests else ()
    return any(op.attrs.get("warp_specialize") for op in (loop, *around) if op.name == "scf.for")


def mma_latencies(loop: GOp, latency: dict[GOp, int], release: Release) -> dict[GOp, int]:
    """Add the latencies of products on tensor memory to `latency`; returns by how many stages the wait for
    each comes later than the product itself."""
    own: dict[GOp, int] = {}
    body = loop.body
    if any(op.name == "tt.dot" for op in body.ops):
        return own
    disallowed = bool(loop.attrs.get("disallow_acc_multi_buffer"))
    for mma in body.ops[:-1]:
        if mma.name not in TCGEN05:
            continue
        state = _check_operands(mma, loop, release, lambda op: latency.get(op, 0) > 0)
        late_is_fine = release.tcgen05_waits_for_late and state.known and not _reads_after(mma, loop)
        if not (state.pipelineable or late_is_fine):
            continue
        own[mma] = 1
        if not _needs_second_accumulator(mma, loop) or (
            _can_have_second_accumulator(mma, loop, release) and not disallowed
        ):
            latency[mma] = 1
        if is_warp_specialized(loop, release):
            if _rewrites_accumulator(mma, loop):
                latency.pop(mma, None)
            else:
                latency[mma] = latency.get(mma, 0) + 1
            by_tma = _check_operands(
                mma, loop, release, lambda op: latency.get(op, 0) > 0 and op.name in TMA_LOADS
            )
            if by_tma.pipelineable or (by_tma.known and all(op.name != "tt.load" for op in by_tma.late)):
                own[mma] = 0
        if release.tcgen05_checks_cycles and _cycles_through_other(mma, loop):
            latency.pop(mma, None)
    return own


def lower_mmas(loop: GOp, schedule: Schedule, own: dict[GOp, int], release: Release, num_ctas: int) -> None:
    """Give the products of a scheduled loop their barriers, waits and, where needed, second accumulators."""
    for mma in [op for op in loop.walk() if op.name in TCGEN05]:
        if own.get(mma, 0) > 0 and mma in schedule:
            _lower_mma(mma, loop, schedule, own[mma], release, num_ctas)


def _lower_mma(mma: GOp, loop: GOp, schedule: Schedule, own: int, release: Release, num_ctas: int) -> None:
    body = loop.body
    memory = accumulator(mma)
    users = [user.ancestor_in(body) for user in memory.uses if user.is_inside(loop)]
    places = [user for user in users if user is not None and user in schedule]
    first = last = places[0]
    for place in places:
        if schedule.is_before(place, first):
            first = place
        if schedule.is_before(last, place):
            last = place
    buffers = schedule.stage(last) - schedule.stage(first)
    one, other = schedule.cluster(first), schedule.cluster(last)
    if one.order < other.order or (one is other and first is not last and first.is_before_in_block(last)):
        buffers += 1  # the next accumulator is started before the old one is read
    alloc = memory.op
    if buffers > 1 and (alloc is None or alloc.name != "ttng.tmem_alloc"):
        return
    _add_barrier(mma, loop, schedule, own, release, num_ctas, memory)
    if buffers > 1 and alloc is not None:
        multibuffer(alloc, loop, schedule, buffers)


def _add_barrier(
    mma: GOp,
    loop: GOp,
    schedule: Schedule,
    own: int,
    release: Release,
    num_ctas: int,
    memory: GValue,
) -> None:
    body = loop.body
    candidates: set[GOp] = {
        user for user in memory.uses if user.name == "ttng.tmem_load" and user.block is mma.block
    }
    state = _check_operands(
        mma,
        loop,
        release,
        lambda op: op in schedule and schedule.stage(mma) > schedule.stage(op),
    )
    for source in state.late:
        store = _hoist_buffer(loop, source, schedule)
        if not state.pipelineable and state.known:
            candidates.add(source if store is None else store)
    sync = _next_in_order(schedule, loop, mma, candidates)
    stage, cluster = schedule.at[mma]
    wait_stage, wait_cluster = stage + own, cluster
    if sync is not None and state.known:
        wait_stage = stage + 1 if schedule.is_before(sync, mma) else schedule.stage(sync)
        wait_cluster = schedule.new_before(schedule.split_before(sync, body))
    ring = barrier_alloc(loop, mma, wait_stage - stage + 1, num_ctas).result
    builder = StageBuilder(schedule, schedule.at[mma])
    barrier = view_before(builder, mma, ring, "barrier")
    mma.add_operand(barrier)
    mma.attrs["is_async"] = True
    held = [*mma.operands[:2], *_scales(mma)]
    builder.place = (wait_stage, wait_cluster)
    builder.after(mma, "ttng.wait_barrier", (barrier, *held))
    for user in memory.users():
        if user.name != "ttng.tmem_load" or user.block is mma.block:
            continue
        outer = user.ancestor_in(body)
        if outer is not None and outer in schedule and schedule.stage(outer) < wait_stage:
            GOp("ttng.wait_barrier", (barrier, *held), line=user.line, path=user.path).insert_before(user)


def _next_in_order(schedule: Schedule, loop: GOp, start: GOp, wanted: set[GOp]) -> GOp | None:
    """The first wanted operation after `start` as the pipelined loop will run, at most until `start` has come
    round for the last stage."""
    if not wanted:
        return None
    groups: list[list[tuple[GOp, int]]] = [[] for _ in schedule.clusters]
    for op, stage, cluster in schedule.in_order(loop.body):
        groups[cluster.order].append((op, stage))
    limit, home = schedule.at[start]
    at = home.order
    skip = [op for op, _ in groups[at]].index(start) + 1
    while limit <= schedule.stages:
        for op, stage in groups[at][skip:]:
            if op is start and limit >= schedule.stages:
                return None
            if stage <= limit and op in wanted:
                return op
        skip = 0
        at += 1
        if at == len(groups):
            at = 0
            limit += 1
    return None


def _hoist_buffer(loop: GOp, alloc: GOp, schedule: Schedule) -> GOp | None:
    """Move an operand's buffer out of the loop and leave a store in its place."""
    if alloc.name not in ("ttng.tmem_alloc", "ttg.local_alloc") or not alloc.is_inside(loop):
        return None
    old = alloc.results[0]
    fresh = memory_value(old.shape, old.type.element, old.encoding, memory=old.memory)
    kind = alloc.name
    GOp(kind, (), [fresh], {"role": "operand"}, line=alloc.line, path=alloc.path).insert_before(loop)
    builder = StageBuilder(schedule, schedule.at.get(alloc))
    if kind == "ttng.tmem_alloc":
        always = GOp("arith.constant", (), [GValue(ir.Type("i1"))], {"value": True}, line=alloc.line)
        always.insert_before(loop)
        store = builder.after(alloc, "ttng.tmem_store", (fresh, alloc.operands[0], always.result))
    else:
        store = builder.after(alloc, "ttg.local_store", (alloc.operands[0], fresh))
    replace_views(old, fresh, schedule)
    schedule.erase(alloc)
    alloc.erase()
    return store


def multibuffer(alloc: GOp, loop: GOp, schedule: Schedule, buffers: int) -> None:
    """Several accumulators in a ring: every use takes one of them, and no longer waits for the one before."""
    old = alloc.results[0]
    ring = memory_value((buffers, *old.shape), old.type.element, old.encoding, memory="tensor")
    results = [ring, *(GValue(result.type) for result in alloc.results[1:])]
    fresh = GOp("ttng.tmem_alloc", (), results, {"buffers": buffers}, line=alloc.line, path=alloc.path)
    fresh.insert_before(alloc)
    nothing = GOp("ub.poison", (), [GValue(TOKEN)]).insert_before(alloc).result
    for result in alloc.results[1:]:
        result.replace_all_uses(nothing)
    for user in old.users():
        for position, operand in enumerate(user.operands):
            if operand.type.element == "token":
                user.set_operand(position, nothing)
        for result in user.results:
            if result.type.element == "token":
                result.replace_all_uses(nothing)
        place: tuple[int, Cluster] | None = schedule.at.get(user)
        view = view_before(StageBuilder(schedule, place), user, ring, "accumulator")
        for position, operand in enumerate(user.operands):
            if operand is old:
                user.set_operand(position, view)
    alloc.erase()
