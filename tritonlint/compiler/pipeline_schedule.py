"""The coarse schedule of a loop: a stage and a cluster for each operation of its body.

A stage says in which iteration after its own an operation runs; clusters order the operations of one
iteration of the pipelined loop. The rules are those of Triton's Schedule.cpp and ScheduleLoops.cpp:
operations with a latency push their users to later stages, then dependencies are pulled to their users,
values carried from the iteration before go one stage later, and everything else to the last stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tritonlint.compiler.graph import GBlock, GOp, GValue

_MAX_VISITS = 200_000  # of one scheduling step; the loops of real kernels need a few thousand


class Cluster:
    """One run of operations in the pipelined loop; `order` is its place among the others."""

    __slots__ = ("order",)

    def __init__(self) -> None:
        self.order = 0


class Schedule:
    """Stage and cluster by operation, in the order in which they were given."""

    __slots__ = ("at", "clusters", "stages")

    def __init__(self, stages: int = 0) -> None:
        self.stages = stages
        self.clusters: list[Cluster] = []
        self.at: dict[GOp, tuple[int, Cluster]] = {}

    def __contains__(self, op: GOp) -> bool:
        return op in self.at

    def stage(self, op: GOp) -> int:
        return self.at[op][0]

    def cluster(self, op: GOp) -> Cluster:
        return self.at[op][1]

    def new_back(self) -> Cluster:
        cluster = Cluster()
        self.clusters.append(cluster)
        cluster.order = len(self.clusters) - 1
        return cluster

    def new_front(self) -> Cluster:
        cluster = Cluster()
        self.clusters.insert(0, cluster)
        self._renumber()
        return cluster

    def new_before(self, other: Cluster) -> Cluster:
        cluster = Cluster()
        self.clusters.insert(other.order, cluster)
        self._renumber()
        return cluster

    def _renumber(self) -> None:
        for order, cluster in enumerate(self.clusters):
            cluster.order = order

    def insert(self, op: GOp, stage: int, cluster: Cluster) -> None:
        self.stages = max(self.stages, stage + 1)
        self.at[op] = (stage, cluster)

    def insert_if_absent(self, op: GOp, stage: int, cluster: Cluster) -> bool:
        if op in self.at:
            return False
        self.insert(op, stage, cluster)
        return True

    def insert_minimum(self, op: GOp, stage: int, cluster: Cluster) -> bool:
        """Move the operation to this place if it is absent or now stands later. True if that changed it."""
        old = self.at.get(op)
        if old is None:
            self.at[op] = (stage, cluster)
            return True
        if (stage, cluster.order) < (old[0], old[1].order):
            self.at[op] = (stage, cluster)
            return True
        return False

    def erase(self, op: GOp) -> None:
        self.at.pop(op, None)

    def is_before(self, one: GOp, other: GOp) -> bool:
        """Whether `one` comes first in the unrolled program."""
        a, b = self.at[one], self.at[other]
        if (a[0], a[1].order) != (b[0], b[1].order):
            return (a[0], a[1].order) < (b[0], b[1].order)
        return one is not other and one.is_before_in_block(other)

    def split_before(self, op: GOp, body: GBlock) -> Cluster:
        """Move what stands before `op` in its cluster to a cluster of its own; returns that of `op`."""
        cluster = self.at[op][1]
        fresh: Cluster | None = None
        for other in body.ops[:-1]:
            if other is op:
                break
            place = self.at.get(other)
            if place is not None and place[1] is cluster:
                if fresh is None:
                    fresh = self.new_before(cluster)
                self.at[other] = (place[0], fresh)
        return cluster

    def in_order(self, body: GBlock) -> list[tuple[GOp, int, Cluster]]:
        """The scheduled operations by cluster, inside a cluster in program order."""
        groups: list[list[tuple[GOp, int, Cluster]]] = [[] for _ in self.clusters]
        for op in body.ops[:-1]:
            place = self.at.get(op)
            if place is not None:
                groups[place[1].order].append((op, *place))
        return [entry for group in groups for entry in group]

    def insert_dependencies(
        self, op: GOp, stage: int, cluster: Cluster, *, through_args: bool, if_earlier: bool
    ) -> bool:
        """Put what `op` needs into the same place, as far as it is not there or (`if_earlier`) stands later.

        `through_args`: follow a carried value to what the iteration before yields for it.
        """
        inserted = False
        stack = [op]
        visits = 0
        while stack and visits < _MAX_VISITS:
            visits += 1
            current = stack.pop()
            block = current.block
            for value in nested_operands(current):
                seen: set[GValue] = set()
                while through_args and value.block is block and value.index > 0 and block is not None:
                    if value in seen:
                        break
                    seen.add(value)
                    value = block.terminator.operands[value.index - 1]
                producer = value.op
                if producer is None or producer.block is not block:
                    continue
                if if_earlier:
                    changed = self.insert_minimum(producer, stage, cluster)
                else:
                    changed = self.insert_if_absent(producer, stage, cluster)
                if changed:
                    inserted = True
                    stack.append(producer)
        return inserted


def nested_operands(op: GOp) -> list[GValue]:
    """The values from outside `op` that it or what it holds uses, each once."""
    if not op.blocks:
        return list(dict.fromkeys(op.operands))
    found: dict[GValue, None] = dict.fromkeys(op.operands)
    for inner in op.walk():
        for value in inner.operands:
            if value not in found and not _comes_from_inside(value, op):
                found[value] = None
    return list(found)


def _comes_from_inside(value: GValue, op: GOp) -> bool:
    block = value.owner_block()
    while block is not None:
        parent = block.parent
        if parent is op:
            return True
        block = None if parent is None else parent.block
    return False


def top_level_users(op: GOp, body: GBlock) -> list[GOp]:
    """The operations of `body` itself that use a result of `op` or hold such a use."""
    found: dict[GOp, None] = {}
    for result in op.results:
        for user in result.uses:
            outer = user if user.block is body else user.ancestor_in(body)
            if outer is not None:
                found[outer] = None
    return list(found)


def carries_over_one(loop: GOp) -> bool:
    """Whether the loop yields a value that its body does not compute: an argument (a distance above one)."""
    return any(value.op is None for value in loop.body.terminator.operands)


def is_outer(loop: GOp) -> bool:
    """Whether another loop stands directly in the body."""
    return any(op.name in ("scf.for", "scf.while") for op in loop.body.ops)


def schedule_by_latency(loop: GOp, latency: Mapping[GOp, int]) -> Schedule:
    """Key operations of the loop (those with a latency and what follows from them); empty if there is none.

    The distance of an operation is the largest sum of latencies on a way to the end of the body; its stage is
    the largest distance of all minus its own.
    """
    body = loop.body
    terminator = body.terminator
    starts = [op for op in body.ops[:-1] if op in latency]
    if not starts:
        return Schedule(0)
    distance: dict[GOp, int] = {}
    for start in starts:
        _distances(start, body, terminator, latency, distance)
    largest = max(0, max(distance[op] for op in starts))
    stage_of = {op: largest - value for op, value in distance.items()}
    last = max(stage_of.values())
    schedule = Schedule(last + 1)
    clusters = [schedule.new_back() for _ in range(last + 1)]
    for op, stage in stage_of.items():
        schedule.insert(op, stage, clusters[last - stage])
    # An `if` that follows from the key operations goes to the end of the body, unless something that is
    # scheduled follows from it.
    epilogue = schedule.new_back()
    for op, stage in stage_of.items():
        if op.name != "scf.if" or op in latency:
            continue
        if not any(other in stage_of for other in forward_slice([op])):
            schedule.insert(op, stage, epilogue)
    return schedule


def _distances(
    start: GOp, body: GBlock, terminator: GOp, latency: Mapping[GOp, int], distance: dict[GOp, int]
) -> None:
    """Fill in the distance of `start` and of everything in the body that follows from it."""
    stack: list[tuple[GOp, list[GOp], int]] = []

    def push(op: GOp) -> None:
        users = [user for user in top_level_users(op, body) if user is not terminator]
        stack.append((op, users, 0))

    if start in distance:
        return
    push(start)
    while stack:
        op, users, at = stack.pop()
        while at < len(users) and users[at] in distance:
            at += 1
        if at < len(users):
            stack.append((op, users, at))
            push(users[at])
            continue
        distance[op] = latency.get(op, 0) + max((distance[user] for user in users), default=0)


def forward_slice(ops: Iterable[GOp]) -> set[GOp]:
    """Everything that uses a result of the operations, directly or not, in any block."""
    found: set[GOp] = set()
    stack = list(ops)
    while stack:
        op = stack.pop()
        following = [user for result in op.results for user in result.uses]
        for block in op.blocks:
            following.extend(block.ops)
        for user in following:
            if user not in found:
                found.add(user)
                stack.append(user)
    return found


def backward_slice(op: GOp, *, use_from_above: bool) -> list[GOp]:
    """Everything that `op` needs, through results only. With `use_from_above`, what the regions of an
    operation use from outside counts as needed by it."""
    found: dict[GOp, None] = {}
    stack = [op]
    while stack:
        current = stack.pop()
        operands = current.operands if not use_from_above or not current.blocks else nested_operands(current)
        for value in operands:
            producer = value.op
            if producer is not None and producer not in found:
                found[producer] = None
                stack.append(producer)
    return list(found)


def place_ifs(loop: GOp, schedule: Schedule, *, use_from_above: bool = True) -> Cluster:
    """Give each `if` of the body a place: before everything where a scheduled operation needs it, else after.

    Returns the cluster that comes first among the others.
    """
    body = loop.body
    after_prologue = schedule.clusters[0]
    ifs = [op for op in body.ops[:-1] if op.name == "scf.if"]
    if not ifs:
        schedule.new_back()
        return after_prologue
    wanted: dict[GOp, int] = {}
    for stage in range(schedule.stages):
        for op, at, _ in schedule.in_order(body):
            if at == stage:
                for needed in backward_slice(op, use_from_above=use_from_above):
                    if needed.name == "scf.if":
                        wanted.setdefault(needed, stage)
    if wanted:
        prologue = schedule.new_front()
        for needed, stage in wanted.items():
            schedule.insert_if_absent(needed, stage, prologue)
    epilogue = schedule.new_back()
    for op in ifs:
        if op not in wanted:
            schedule.insert_if_absent(op, schedule.stages - 1, epilogue)
    return after_prologue


def schedule_dependencies(loop: GOp, schedule: Schedule, *, if_earlier: bool = True) -> None:
    """Pull what the scheduled operations need to their places, stage by stage."""
    ordered = schedule.in_order(loop.body)
    for stage in range(schedule.stages):
        for op, at, cluster in ordered:
            if at == stage:
                schedule.insert_dependencies(op, stage, cluster, through_args=False, if_earlier=if_earlier)


def schedule_carried(
    loop: GOp, schedule: Schedule, *, if_earlier: bool = True, share_cluster: bool = False
) -> None:
    """Values that come from the iteration before: one stage later, in a cluster right before their user.

    Loads go with their user. `share_cluster`: the values of all users go to one cluster, before the first.
    """
    body = loop.body
    stages = schedule.stages
    fresh: dict[Cluster, Cluster] = {}
    first: Cluster | None = None
    for op in body.ops[:-1]:
        place = schedule.at.get(op)
        if place is None or place[0] == stages - 1:
            continue
        stage, cluster = place
        for value in nested_operands(op):
            if value.block is not body or value.index == 0:
                continue
            producer = body.terminator.operands[value.index - 1].op
            if producer is None or producer in schedule:
                continue
            if producer.name == "tt.load":
                schedule.insert_if_absent(producer, stage, cluster)
                schedule.insert_dependencies(
                    producer, stage, cluster, through_args=True, if_earlier=if_earlier
                )
                continue
            key = first if share_cluster and first is not None else cluster
            if key not in fresh:
                first = key
                fresh[key] = schedule.new_before(cluster)
            schedule.insert_if_absent(producer, stage + 1, fresh[key])
            schedule.insert_dependencies(
                producer, stage + 1, fresh[key], through_args=True, if_earlier=if_earlier
            )


def schedule_rest(loop: GOp, schedule: Schedule, after_prologue: Cluster) -> None:
    """Everything else goes to the last stage, never to a cluster before what it uses."""
    body = loop.body
    last = schedule.stages - 1
    rest = {op: after_prologue for op in body.ops[:-1] if op not in schedule}
    queue = [op for op, stage, _ in schedule.in_order(body) if stage == last]
    while queue:
        op = queue.pop()
        cluster = schedule.cluster(op) if op in schedule else rest[op]
        for result in op.results:
            for user in result.uses:
                old = rest.get(user)
                if old is not None and old.order < cluster.order:
                    rest[user] = cluster
                    queue.append(user)
    for op, cluster in rest.items():
        schedule.insert(op, last, cluster)


def schedule_loop(loop: GOp, latency: Mapping[GOp, int], *, share_cluster: bool = False) -> Schedule:
    """The whole schedule of a loop from its latencies; without entries if nothing has one."""
    schedule = schedule_by_latency(loop, latency)
    if not schedule.at:
        return schedule
    after_prologue = place_ifs(loop, schedule)
    schedule_dependencies(loop, schedule)
    schedule_carried(loop, schedule, share_cluster=share_cluster)
    schedule_rest(loop, schedule, after_prologue)
    return schedule
