"""Which arguments a traced kernel reads and writes, and whether what it writes hangs on what it read
there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tritonlint.kernel.ir import Block, Function, Op, Value

_LOADS = ("tt.load", "tt.descriptor_load")
_STORES = ("tt.store", "tt.descriptor_store")
_ROUNDINGS = ("arith.extf", "arith.truncf", "tt.fp_to_fp")
_CLAMPS = frozenset(
    {
        "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.maxsi", "arith.minsi",
        "arith.maxui", "arith.minui", "tt.clampf",
    }
)  # fmt: skip
_BUDGET = 200_000  # values looked at, for one kernel


@dataclass(frozen=True, slots=True)
class Update:
    """A statement that changes what an argument points to, in a way that a second run would see."""

    argument: str
    kind: str  # "store" (of what was read there) or the atomic's operation
    line: int


@dataclass(slots=True)
class _Flow:
    """Where each value comes from."""

    made_by: dict[Value, Op] = field(default_factory=dict)
    # A loop's value has several sources: what it starts with, what an iteration hands on.
    sources: dict[Value, list[Value]] = field(default_factory=dict)
    accesses: list[Op] = field(default_factory=list)
    # What a function that is not inlined gets for its parameter; None where it is called with several.
    passed: dict[Value, Value | None] = field(default_factory=dict)


def updates(function: Function) -> list[Update]:
    """Every update in place: a load and a later store at the same address, where what is stored hangs on
    what was loaded; or an atomic that accumulates. Not: an output that is only written, a lock, a counter
    that the kernel resets."""
    flow = _Flow()
    _collect(function.body, flow)
    arguments = {argument.value: argument.name for argument in function.arguments}
    roots = _Roots(flow, arguments)
    loads = [op for op in flow.accesses if op.name in _LOADS]
    stores = [op for op in flow.accesses if op.name in _STORES]
    found: list[Update] = []
    written = {roots.of(op.operands[0]) for op in stores}
    for op in flow.accesses:
        if op.name != "tt.atomic_rmw" or not op.operands:
            continue
        name = roots.of(op.operands[0])
        kind = str(op.attrs.get("rmw_op", ""))
        accumulates = kind in ("add", "fadd")
        if (
            name
            and accumulates
            and name not in written
            and not _resets(flow, roots, name)
            and not _is_zero(flow, op)
        ):
            found.append(Update(name, "atomic add", op.line))
    addresses = _Addresses(flow)
    by_argument: dict[str, list[Op]] = {}
    for load in loads:
        name = roots.of(load.operands[0]) if load.operands else None
        if name:
            by_argument.setdefault(name, []).append(load)
    for store in stores:
        name = roots.of(store.operands[0])
        if not name or len(store.operands) < 2:
            continue
        place = addresses.of_access(store)
        same = {
            load.results[0]
            for load in by_argument.get(name, ())
            if load.results and addresses.of_access(load) == place
        }
        if same and _depends(flow, store.operands[1], same) and not _settles(flow, store.operands[1], same):
            found.append(Update(name, "store", store.line))
    return found


def _collect(block: Block, flow: _Flow) -> None:
    for op in block.ops:
        for result in op.results:
            flow.made_by[result] = op
        if op.name in (*_LOADS, *_STORES, "tt.atomic_rmw", "tt.atomic_cas"):
            flow.accesses.append(op)
        for inner in op.blocks:
            _collect(inner, flow)
        if op.name == "tt.call":
            _collect_call(op, flow)
        elif op.name == "scf.for" and op.blocks:
            body = op.blocks[0]
            carried = body.args[1:]
            begins = op.operands[len(op.operands) - len(carried) :] if carried else ()
            hands_on = body.ops[-1].operands if body.ops and body.ops[-1].name == "scf.yield" else ()
            for place, argument in enumerate(carried):
                flow.sources[argument] = [*begins[place : place + 1], *hands_on[place : place + 1]]
            for place, result in enumerate(op.results):
                flow.sources[result] = [*begins[place : place + 1], *hands_on[place : place + 1]]
        elif op.name in ("scf.if", "scf.while"):
            for inner in op.blocks:
                last = inner.ops[-1] if inner.ops else None
                given = (
                    last.operands if last is not None and last.name in ("scf.yield", "scf.condition") else ()
                )
                if last is not None and last.name == "scf.condition":
                    given = given[1:]
                for place, result in enumerate(op.results):
                    flow.sources.setdefault(result, []).extend(given[place : place + 1])
                if op.name == "scf.while":
                    for place, argument in enumerate(inner.args):
                        flow.sources.setdefault(argument, []).extend(
                            [*op.operands[place : place + 1], *given[place : place + 1]]
                        )


def _collect_call(op: Op, flow: _Flow) -> None:
    """A noinline function as if it stood here: parameters are what is passed, results what it returns."""
    callee = op.attrs.get("callee")
    if not isinstance(callee, Function):
        return
    for parameter, operand in zip(callee.arguments, op.operands, strict=False):
        flow.sources.setdefault(parameter.value, []).append(operand)
        known = flow.passed.setdefault(parameter.value, operand)
        flow.passed[parameter.value] = operand if known is operand else None
    _collect(callee.body, flow)
    last = callee.body.ops[-1] if callee.body.ops else None
    if last is not None and last.name == "tt.return":
        for place, result in enumerate(op.results):
            flow.sources.setdefault(result, []).extend(last.operands[place : place + 1])


class _Roots:
    """The pointer argument that an address is computed from."""

    def __init__(self, flow: _Flow, arguments: Mapping[Value, str]) -> None:
        self._flow = flow
        self._arguments = arguments
        self._known: dict[Value, str | None] = {}

    def of(self, value: Value) -> str | None:
        if value in self._known:
            return self._known[value]
        self._known[value] = None  # a loop that hands its own pointer on ends here
        self._known[value] = self._find(value)
        return self._known[value]

    def _find(self, value: Value) -> str | None:
        if value in self._arguments:
            return self._arguments[value]
        for source in self._flow.sources.get(value, ()):
            found = self.of(source)
            if found:
                return found
        op = self._flow.made_by.get(value)
        if op is None or op.name in (*_LOADS, "scf.for", "scf.if", "scf.while"):
            return None  # a pointer read from memory is nobody's argument
        if op.name == "arith.select":
            return None
        for operand in op.operands:
            if operand.type.is_pointer:
                return self.of(operand)
        return None


class _Addresses:
    """Addresses compared by how they are computed: two equal numbers are the same place."""

    def __init__(self, flow: _Flow) -> None:
        self._flow = flow
        self._numbers: dict[Value, int] = {}
        self._shapes: dict[object, int] = {}

    def of_access(self, op: Op) -> tuple[int, ...]:
        """The pointer; for a descriptor its offsets as well."""
        if not op.name.startswith("tt.descriptor"):
            return (self.of(op.operands[0]),)
        places = op.operands[1:] if op.name in _LOADS else op.operands[2:]
        return (self.of(op.operands[0]), *map(self.of, places))

    def of(self, value: Value) -> int:
        known = self._numbers.get(value)
        if known is not None:
            return known
        passed = self._flow.passed.get(value)
        if passed is not None:
            return self.of(passed)
        op = self._flow.made_by.get(value)
        key: object
        if op is None or op.blocks or op.name in (*_LOADS, "tt.atomic_rmw", "tt.atomic_cas"):
            key = ("value", id(value))
        else:
            place = op.results.index(value)
            attributes = tuple(sorted((name, repr(attr)) for name, attr in op.attrs.items()))
            key = (op.name, place, attributes, value.type, tuple(self.of(operand) for operand in op.operands))
        self._numbers[value] = self._shapes.setdefault(key, len(self._shapes))
        return self._numbers[value]


def _depends(flow: _Flow, value: Value, on: set[Value]) -> bool:
    seen: set[Value] = set()
    todo = [value]
    while todo and len(seen) < _BUDGET:
        current = todo.pop()
        if current in on:
            return True
        if current in seen:
            continue
        seen.add(current)
        todo += flow.sources.get(current, ())
        op = flow.made_by.get(current)
        if op is not None and op.name != "tt.call" and not (op.blocks and op.name.startswith("scf.")):
            todo += op.operands
    return False


def _settles(flow: _Flow, value: Value, loaded: set[Value]) -> bool:
    """Whether a second run would store the same again: what was loaded went through nothing, through maxima and
    minima only, or through selections between it and something else only."""
    found = _steps(flow, value, loaded)
    return found is not None and len(found) <= 1


def _steps(flow: _Flow, value: Value, loaded: set[Value]) -> frozenset[str] | None:
    """The kinds of steps from what was loaded to a value; None where one is of another kind."""
    if value in loaded:
        return frozenset()
    op = flow.made_by.get(value)
    if op is None or op.blocks:
        return None
    if op.name in _ROUNDINGS:
        return _steps(flow, op.operands[0], loaded)
    kind = "clamp" if op.name in _CLAMPS else "select" if op.name == "arith.select" else ""
    if not kind:
        return None
    steps = frozenset((kind,))
    for operand in op.operands[1:] if kind == "select" else op.operands:
        if _depends(flow, operand, loaded):
            own = _steps(flow, operand, loaded)
            if own is None:
                return None
            steps |= own
    return steps


def _resets(flow: _Flow, roots: _Roots, name: str) -> bool:
    """Whether the kernel itself also exchanges or compares at that argument: a lock or a counter, put back
    by hand."""
    return any(
        op.operands
        and roots.of(op.operands[0]) == name
        and (op.name == "tt.atomic_cas" or str(op.attrs.get("rmw_op", "")) in ("exch", "xchg"))
        for op in flow.accesses
        if op.name not in _LOADS
    )


def _is_zero(flow: _Flow, op: Op) -> bool:
    """An atomic add of nothing is a way to read."""
    made = flow.made_by.get(op.operands[1]) if len(op.operands) > 1 else None
    while made is not None and made.name in ("tt.splat", "tt.broadcast", "tt.expand_dims") and made.operands:
        made = flow.made_by.get(made.operands[0])
    return made is not None and made.name.endswith("constant") and made.attrs.get("value") in (0, 0.0, False)


def operations(block: Block) -> Iterator[Op]:
    """Every operation, those of inner blocks and of functions that are not inlined after their own."""
    for op in block.ops:
        yield op
        for inner in op.blocks:
            yield from operations(inner)
        callee = op.attrs.get("callee") if op.name == "tt.call" else None
        if isinstance(callee, Function):
            yield from operations(callee.body)
