"""Common subexpressions: MLIR's pass, and Triton's that also finds carried values of loops that are equal."""

from __future__ import annotations

from typing import Any

from tritonlint.compiler.graph import GBlock, GOp, Graph, GValue
from tritonlint.compiler.loop_cleanup import clean_loops
from tritonlint.compiler.ops import (
    MEMORIES,
    TERMINATORS,
    is_pure,
    memory_read,
    memory_written,
    only_reads,
    writes_memory,
)

Key = tuple[Any, ...]


def cse(graph: Graph, by_memory: bool = False) -> bool:
    """Erase operations that an equal one dominates; reads only if nothing is written between the two (with
    `by_memory`: to the memory that is read). Whether there were any: a second run at once finds none."""
    return _block(graph.body, {}, by_memory)


def loop_aware_cse(graph: Graph, by_memory: bool = False) -> bool:
    """As `cse`, and carried values that start equal and stay equal become one; whether anything changed."""
    erased = cse(graph, by_memory)
    merged = [_merge_carried(op) for op in graph.all_ops_post() if op.name == "scf.for"]
    if any(merged):
        cse(graph, by_memory)
    return clean_loops(graph) or erased or any(merged)


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(v) for v in value)
    if isinstance(value, dict):
        return tuple(sorted((k, _frozen(v)) for k, v in value.items()))
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


_COMMUTATIVE = frozenset(
    {
        f"arith.{name}"
        for name in (
            "addi", "muli", "andi", "ori", "xori", "addf", "mulf", "maxsi", "maxui", "minsi", "minui",
            "maximumf", "minimumf", "maxnumf", "minnumf",
        )
    }
)  # fmt: skip


def _attrs_key(op: GOp) -> Any:
    attrs = op.attrs
    if not attrs:
        return None
    if op.name == "arith.constant":
        value = attrs["value"]
        return (type(value), value) if isinstance(value, int) else repr(value)
    key = tuple(attrs.items())
    try:
        hash(key)
    except TypeError:
        return _frozen(attrs)
    return key


def _key(op: GOp, bound: dict[GValue, int] | None = None) -> Key:
    operands: Any
    if bound is None:
        operands = tuple(map(id, op.operands))
        if len(operands) == 2 and operands[0] > operands[1] and op.name in _COMMUTATIVE:
            operands = operands[::-1]
    else:
        operands = tuple(("bound", bound[v]) if v in bound else id(v) for v in op.operands)
    results = op.results
    if len(results) == 1:
        result = results[0]
        made: Any = (result.type, result.encoding, result.mutable)
    else:
        made = tuple((r.type, r.encoding, r.mutable) for r in results)
    if not op.blocks:
        return (op.name, operands, _attrs_key(op), made)
    bound = dict(bound or {})
    inner: list[Any] = []
    for block in op.blocks:
        for arg in block.args:
            bound[arg] = len(bound)
            inner.append(arg.type)
        for nested in block.ops:
            inner.append(_key(nested, bound))
            for value in nested.results:
                bound[value] = len(bound)
    return (op.name, operands, _attrs_key(op), made, tuple(inner))


def _mergeable(op: GOp) -> bool:
    """Pure, or at most reading; blocks only where they combine elements."""
    if not op.results or op.name in TERMINATORS:
        return False
    if op.blocks and op.name not in ("tt.reduce", "tt.scan"):
        return False
    return is_pure(op) or only_reads(op)


def _written(op: GOp, by_memory: bool) -> frozenset[str]:
    """What memory an operation may write to, blocks included; all of it if memories are not told apart."""
    if not writes_memory(op):
        return frozenset()
    written = memory_written(op)
    return written if by_memory or not written else MEMORIES


def _kept(known: dict[Key, GOp], written: frozenset[str]) -> dict[Key, GOp]:
    """A copy without the reads of memory that is written to."""
    if not written:
        return dict(known)
    return {key: op for key, op in known.items() if memory_read(op) not in written}


def _forget(known: dict[Key, GOp], written: frozenset[str]) -> None:
    if written:
        for key in [key for key, op in known.items() if memory_read(op) in written]:
            del known[key]


def _block(block: GBlock, known: dict[Key, GOp], by_memory: bool) -> bool:
    erased = False
    for op in list(block.ops):
        if op.block is None:
            continue
        if op.blocks and op.name not in ("tt.reduce", "tt.scan", "tt.map_elementwise"):
            written = _written(op, by_memory)
            for inner in op.blocks:
                erased |= _block(inner, _kept(known, written), by_memory)
            _forget(known, written)
            continue
        if not _mergeable(op):
            _forget(known, _written(op, by_memory))
            continue
        key = _key(op)
        other = known.get(key)
        if other is not None:
            op.replace_with(other.results)
            erased = True
            continue
        known[key] = op
    return erased


class _Carried:
    """Which values that a loop carries are equal in each of its runs."""

    def __init__(self, loop: GOp) -> None:
        self._loop = loop
        self._yielded = loop.body.terminator.operands
        self._stack: list[tuple[int, int]] = []
        self._budget = 20_000

    def equal(self, i: int, j: int) -> bool:
        if i == j:
            return True
        if self._loop.operands[i + 3] is not self._loop.operands[j + 3]:
            return False
        if (i, j) in self._stack:
            return True
        self._stack.append((i, j))
        equal = self._values_equal(self._yielded[i], self._yielded[j])
        self._stack.pop()
        return equal

    def _values_equal(self, a: GValue, b: GValue) -> bool:
        self._budget -= 1
        if a is b:
            return True
        if self._budget < 0 or a.type != b.type or a.encoding != b.encoding or a.memory != b.memory:
            return False
        if a.owner_block() is not self._loop.body or b.owner_block() is not self._loop.body:
            return False
        if (a.op is None) != (b.op is None):
            return False
        if a.op is None or b.op is None:
            return a.index > 0 and b.index > 0 and self.equal(a.index - 1, b.index - 1)
        first, second = a.op, b.op
        if a.index != b.index or first.name != second.name or first.blocks or second.blocks:
            return False
        if not is_pure(first) or len(first.operands) != len(second.operands):
            return False
        if _frozen(first.attrs) != _frozen(second.attrs):
            return False
        pairs = zip(first.operands, second.operands, strict=True)
        return all(self._values_equal(x, y) for x, y in pairs)


def _merge_carried(loop: GOp) -> bool:
    args = loop.body.args[1:]
    carried = _Carried(loop)
    leader: dict[int, int] = {}
    for i in range(len(args)):
        for j in range(i + 1, len(args)):
            if j not in leader and carried.equal(i, j):
                leader[j] = leader.get(i, i)
    for j, i in leader.items():
        args[j].replace_all_uses(args[i])
        loop.body.terminator.set_operand(j, args[j])
        loop.results[j].replace_all_uses(loop.results[i])
    return bool(leader)
