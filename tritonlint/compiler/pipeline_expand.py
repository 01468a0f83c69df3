"""Expansion of a scheduled loop: prologue, pipelined loop, and (for tcgen05) a peeled last iteration or (on
AMD) an epilogue of the last iterations.

This follows Triton's PipelineExpander.cpp. Predicates of operations that may run too often are left out where
they change masks and conditions but neither layouts nor memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from tritonlint.compiler.graph import GBlock, GOp, GValue, defined_inside
from tritonlint.compiler.ops import constant_value, is_free_of_effects
from tritonlint.compiler.pipeline_schedule import nested_operands
from tritonlint.kernel import ir

_BOOL = ir.Type("i1")


def definition_and_distance(loop: GOp, value: GValue) -> tuple[GOp | None, int]:
    """The operation of the body that computes `value`, and how many iterations before. (None, 0) for the
    induction variable and for values from outside."""
    body = loop.body
    distance = 0
    seen: set[GValue] = set()
    while value.block is not None:
        if value.block is not body or value.index == 0:
            return None, 0
        distance += 1
        value = body.terminator.operands[value.index - 1]
        if value in seen:
            return None, 0
        seen.add(value)
    return value.op, distance


def is_valid(loop: GOp, order: Sequence[tuple[GOp, int]]) -> bool:
    """Whether every operation is scheduled after what it uses and no value is carried over two iterations."""
    count = len(order)
    cycle = {op: position + stage * count for position, (op, stage) in enumerate(order)}
    if any(op not in cycle for op in loop.body.ops[:-1]):
        return False
    for op, _ in order:
        for value in nested_operands(op):
            producer, distance = definition_and_distance(loop, value)
            if producer is None or producer not in cycle:
                continue
            if distance > 1 or cycle[op] < cycle[producer] - count * distance:
                return False
    return True


def expand(
    loop: GOp, order: Sequence[tuple[GOp, int]], *, peel: bool = False, epilogue: bool = False
) -> GOp | None:
    """Replace `loop` by its pipelined form.

    `order` lists the operations of its body as they will run, each with its stage; `peel` moves the last
    iteration, of which only the last stage is left, behind the loop; `epilogue` ends the loop as many
    iterations earlier as there are stages before the last, and finishes those behind it. Returns the new
    loop; None (and nothing changes) where the compiler refuses the schedule.
    """
    if not order or not is_valid(loop, order):
        return None
    expander = _Expander(loop, order, epilogue=epilogue)
    fresh = expander.run()
    if peel:
        expander.peel(fresh)
    return fresh


class _Expander:
    def __init__(self, loop: GOp, order: Sequence[tuple[GOp, int]], *, epilogue: bool) -> None:
        self.loop = loop
        self.epilogue = epilogue
        self.body = loop.body
        self.order = order
        self.stage = dict(order)
        self.last = max(self.stage.values())
        self.needs = {op: nested_operands(op) for op, _ in order}
        # The versions of a value that the prologue makes: version i belongs to iteration i.
        self.versions: dict[GValue, list[GValue | None]] = {}
        self.before: list[GOp] = []
        self.after: list[GOp] = []
        self.kernel: list[tuple[GOp, int]] = []  # the operations of the new loop, with their stages
        # What each result of the body is carried as: positions among the yielded values.
        self.carried: dict[GValue, list[int]] = {}
        for position, value in enumerate(self.body.terminator.operands):
            self.carried.setdefault(value, []).append(position)

    def run(self) -> GOp:
        self._prologue()
        crossing = self._crossing()
        fresh, slots = self._new_loop(crossing)
        self._kernel(fresh, crossing, slots)
        values = fresh.results[: len(self.loop.results)]
        if self.epilogue:
            values = self._epilogue(fresh, crossing)
        block = self.loop.block
        assert block is not None
        at = block.ops.index(self.loop)
        whole = [*self.before, fresh, *self.after]
        block.ops[at:at] = whole
        for op in whole:
            op.block = block
        self.loop.replace_with(values)
        return fresh

    def _set(self, value: GValue, version: GValue, index: int) -> None:
        self.versions.setdefault(value, [None] * (self.last + 2))[index] = version

    def _version(self, value: GValue, index: int) -> GValue:
        found = self.versions.get(value)
        if found is None:
            return value
        version = found[index]
        return value if version is None else version

    def _ahead(self, index: GValue, iterations: int, into: list[GOp]) -> GValue:
        """The loop's index some iterations on from `index`."""
        step = self.loop.operands[2]
        if iterations > 1:
            count = GOp("arith.constant", (), [GValue(index.type)], {"value": iterations})
            product = GOp("arith.muli", (step, count.result), [GValue(index.type)])
            into += (count, product)
            step = product.result
        op = GOp("arith.addi", (index, step), [GValue(index.type)], line=self.loop.line, path=self.loop.path)
        into.append(op)
        return op.result

    def _prologue(self) -> None:
        loop, body = self.loop, self.body
        for arg, init in zip(body.args[1:], loop.operands[3:], strict=True):
            self._set(arg, init, 0)
        for arg, value in zip(body.args[1:], body.terminator.operands, strict=True):
            if not defined_inside(value, loop):
                for later in range(1, self.last):
                    self._set(arg, value, later)
        lower = loop.operands[0]
        for part in range(self.last):
            index = lower if part == 0 else self._ahead(lower, part, self.before)
            self._set(body.args[0], index, part)
            for op, stage in self.order:
                if stage > part:
                    continue
                version = part - stage
                mapping = {value: self._version(value, version) for value in self.needs[op]}
                copy = op.clone(mapping)
                self.before.append(copy)
                for old, new in zip(op.results, copy.results, strict=True):
                    for position in self.carried.get(old, ()):
                        self._set(body.args[position + 1], new, version + 1)
                    self._set(old, new, version)

    def _crossing(self) -> dict[GValue, tuple[int, int]]:
        """Values used in a later stage than they are computed in: stage of definition, last stage of use."""
        crossing: dict[GValue, tuple[int, int]] = {}
        for op, stage in self.order:
            for value in self.needs[op]:
                producer, distance = definition_and_distance(self.loop, value)
                if producer is None:
                    continue
                made = self.stage.get(producer)
                if made is None or made in (stage, stage + distance):
                    continue
                last = crossing[value][1] if value in crossing else 0
                crossing[value] = (made, max(last, stage))
        return crossing

    def _new_loop(self, crossing: dict[GValue, tuple[int, int]]) -> tuple[GOp, dict[tuple[GValue, int], int]]:
        loop, body = self.loop, self.body
        inits: list[GValue] = []
        for position, value in enumerate(body.terminator.operands):
            made = self.stage.get(value.op) if value.op is not None else None
            if made is None:
                inits.append(loop.operands[3 + position])
            else:
                inits.append(self._version(body.args[position + 1], self.last - made))
        slots: dict[tuple[GValue, int], int] = {}
        for value, (made, used) in crossing.items():
            for index in range(used - made):
                inits.append(self._version(value, self.last - used + index))
                slots[(value, used - made - index)] = len(inits) - 1
        results = [value.copy() for value in inits]
        for old, new in zip(loop.results, results, strict=False):
            new.type, new.encoding = old.type, old.encoding
        upper = loop.operands[1]
        if self.epilogue:
            step = self._times_step(self.last, self.before)
            upper = self._arith("arith.subi", (upper, step), self.before)
        fresh = GOp(
            "scf.for",
            [loop.operands[0], upper, loop.operands[2], *inits],
            results,
            dict(loop.attrs),
            line=loop.line,
            path=loop.path,
        )
        fresh.add_block([body.args[0].copy(), *(value.copy() for value in results)])
        return fresh, slots

    def _kernel(
        self,
        fresh: GOp,
        crossing: dict[GValue, tuple[int, int]],
        slots: dict[tuple[GValue, int], int],
    ) -> None:
        loop, body, block = self.loop, self.body, fresh.body
        mapping: dict[GValue, GValue] = {old: block.args[position] for position, old in enumerate(body.args)}
        ops: list[GOp] = []
        shifted: dict[int, GValue] = {}
        for op, stage in self.order:
            here: dict[GValue, GValue] = {}
            for value in self.needs[op]:
                here[value] = self._in_kernel(value, stage, mapping, slots, block, ops, shifted)
            copy = op.clone(here)
            ops.append(copy)
            self.kernel.append((copy, stage))
            mapping.update(zip(op.results, copy.results, strict=True))
        yielded: list[GValue] = []
        for position, value in enumerate(body.terminator.operands):
            source = mapping.get(value, value)
            if loop.results[position].uses:
                producer, _ = definition_and_distance(loop, value)
                made = self.stage.get(producer) if producer is not None else None
                if made is not None and made < self.last and not self.epilogue:
                    inside = (block.args[0], loop.operands[1])
                    condition = GOp("arith.cmpi", inside, [GValue(_BOOL)], {"predicate": "slt"})
                    chosen = GOp(
                        "arith.select", (condition.result, source, block.args[position + 1]), [source.copy()]
                    )
                    ops += (condition, chosen)
                    source = chosen.result
            yielded.append(source)
        for value, (made, used) in crossing.items():
            for _ in range(1, used - made):
                yielded.append(block.args[len(yielded) + 2])
            yielded.append(mapping.get(value, value))
        ops.append(GOp("scf.yield", yielded))
        block.ops = ops
        for op in ops:
            op.block = block

    def _arith(self, name: str, operands: Sequence[GValue], into: list[GOp]) -> GValue:
        op = GOp(name, operands, [operands[0].copy()], line=self.loop.line, path=self.loop.path)
        into.append(op)
        return op.result

    def _number(self, value: int, into: list[GOp]) -> GValue:
        like = self.loop.operands[0]
        op = GOp("arith.constant", (), [GValue(like.type)], {"value": value})
        into.append(op)
        return op.result

    def _times_step(self, iterations: int, into: list[GOp]) -> GValue:
        return self._arith("arith.muli", (self.loop.operands[2], self._number(iterations, into)), into)

    def _after_kernel(self, fresh: GOp, crossing: dict[GValue, tuple[int, int]]) -> None:
        """The versions of values that the pipelined loop hands to the epilogue."""
        body = self.body
        self.versions = {}
        place = len(body.terminator.operands)
        for value, (made, used) in crossing.items():
            version = self.last - used + 1
            for index in range(used - made):
                self._set(value, fresh.results[place], version + index)
                place += 1
        for position, value in enumerate(body.terminator.operands):
            arg = body.args[position + 1]
            stage = self.stage.get(value.op) if value.op is not None else None
            if stage is None:
                for later in range(1, self.last + 1):
                    self._set(arg, value, later)
            elif stage > 0:
                self._set(arg, fresh.results[position], self.last - stage + 1)

    def _epilogue(self, fresh: GOp, crossing: dict[GValue, tuple[int, int]]) -> list[GValue]:
        """What is left of the last iterations, behind the loop; the values of the whole loop. Products run
        under the condition that their iteration exists."""
        loop, body, into = self.loop, self.body, self.after
        self._after_kernel(fresh, crossing)
        lower, upper, step = loop.operands[:3]
        span = self._arith("arith.subi", (upper, lower), into)
        span = self._arith("arith.addi", (span, step), into)
        span = self._arith("arith.addi", (span, self._number(-1, into)), into)
        total = self._arith("arith.divsi", (span, step), into)
        first = self._arith("arith.subi", (total, self._number(self.last, into)), into)
        at = self._arith("arith.maxsi", (self._number(0, into), first), into)
        trips = self._trips()
        runs: list[GValue | bool] = [total]
        for part in range(1, self.last + 1):
            offset = self._arith("arith.muli", (step, at), into)
            self._set(body.args[0], self._arith("arith.addi", (lower, offset), into), part)
            at = self._arith("arith.addi", (at, self._number(1, into)), into)
            count = self._number(part, into)
            exists = GOp("arith.cmpi", (total, count), [GValue(_BOOL)], {"predicate": "sge"})
            into.append(exists)
            runs.append(exists.result if trips is None else trips >= part)
        values = list(fresh.results[: len(loop.results)])
        for part in range(1, self.last + 1):
            changed: dict[int, int] = {}
            for op, stage in self.order:
                if stage < part:
                    continue
                version = self.last - stage + part
                mapping = {value: self._version(value, version) for value in self.needs[op]}
                results = self._guarded(op.clone(mapping), runs[version])
                for old, new in zip(op.results, results, strict=True):
                    self._set(old, new, version)
                    for position in self.carried.get(old, ()):
                        values[position] = new
                        changed[position] = version
                        if version < self.last:
                            self._set(body.args[position + 1], new, version + 1)
            for position, version in sorted(changed.items()):
                arg = body.args[position + 1]
                values[position] = self._chosen(runs[version], values[position], self._version(arg, version))
                if version < self.last:
                    self._set(arg, values[position], version + 1)
        return values

    def _trips(self) -> int | None:
        """How often the loop runs, where that folds to a constant: a - b of constants, and (a + b) - a."""
        lower, upper, step = self.loop.operands[:3]
        first, last, by = constant_value(lower), constant_value(upper), constant_value(step)
        if upper.op is not None and upper.op.name == "arith.addi" and lower in upper.op.operands:
            one, other = upper.op.operands
            first, last = 0, constant_value(other if one is lower else one)
        if not isinstance(first, int) or not isinstance(last, int) or not isinstance(by, int) or by < 1:
            return None
        return max(0, -((first - last) // by))

    def _chosen(self, runs: GValue | bool, new: GValue, old: GValue) -> GValue:
        """What is carried on behind an iteration of the epilogue."""
        if isinstance(runs, bool):
            return new if runs else old
        line, path = self.loop.line, self.loop.path
        chosen = GOp("arith.select", (runs, new, old), [new.copy()], line=line, path=path)
        self.after.append(chosen)
        return chosen.result

    def _guarded(self, op: GOp, condition: GValue | bool) -> list[GValue]:
        """The results of an operation of the epilogue: a product only runs if its iteration does."""
        if condition is False and op.name in ("tt.dot", "tt.dot_scaled"):
            return [op.operands[2]]
        if condition is True or op.name not in ("tt.dot", "tt.dot_scaled"):
            self.after.append(op)
            return op.results
        assert isinstance(condition, GValue)
        guard = GOp("scf.if", (condition,), [op.result.copy()], line=op.line, path=op.path)
        op.append_to(guard.add_block())
        GOp("scf.yield", (op.result,)).append_to(guard.blocks[0])
        GOp("scf.yield", (op.operands[2],)).append_to(guard.add_block())
        self.after.append(guard)
        return guard.results

    def peel(self, fresh: GOp) -> None:
        """Put the last stage once more behind the loop, under the condition that the loop ran at all."""
        block = fresh.body
        condition = GOp("arith.cmpi", fresh.operands[:2], [GValue(_BOOL)], {"predicate": "slt"})
        condition.line, condition.path = fresh.line, fresh.path
        after = [result.copy() for result in fresh.results]
        guard = GOp("scf.if", (condition.result,), after, line=fresh.line, path=fresh.path)
        for old, new in zip(fresh.results, after, strict=True):
            old.replace_all_uses(new)
        then, other = guard.add_block(), guard.add_block()
        mapping: dict[GValue, GValue] = dict(zip(block.args[1:], fresh.results, strict=True))
        mapping[block.args[0]] = fresh.operands[1]
        upper = GOp(
            "arith.subi", fresh.operands[1:3], [fresh.operands[1].copy()], line=fresh.line, path=fresh.path
        )
        fresh.set_operand(1, upper.insert_before(fresh).result)
        stage = dict(self.kernel)
        for op in block.ops[:-1]:
            if stage.get(op, self.last) == self.last or is_free_of_effects(op):
                op.clone(mapping).append_to(then)
            else:
                # What an earlier stage would have made is not needed any more.
                for result in op.results:
                    nothing = GOp("ub.poison", (), [result.copy()]).append_to(then)
                    mapping[result] = nothing.result
        yielded = [mapping.get(value, value) for value in block.terminator.operands]
        GOp("scf.yield", yielded).append_to(then)
        GOp("scf.yield", fresh.results).append_to(other)
        condition.insert_after(fresh)
        guard.insert_after(condition)

    def _in_kernel(
        self,
        value: GValue,
        stage: int,
        mapping: dict[GValue, GValue],
        slots: dict[tuple[GValue, int], int],
        block: GBlock,
        ops: list[GOp],
        shifted: dict[int, GValue],
    ) -> GValue:
        """What an operation of `stage` takes in the pipelined loop for `value` of the original one."""
        loop, body = self.loop, self.body
        if value is body.args[0]:
            if stage == self.last:
                return block.args[0]
            if stage not in shifted:
                shifted[stage] = self._ahead(block.args[0], self.last - stage, ops)
            return shifted[stage]
        source = value
        if value.block is body:
            source = body.terminator.operands[value.index - 1]
            if not defined_inside(source, loop):
                return source if stage != self.last else mapping[value]
            made = self.stage.get(source.op) if source.op is not None else None
            if made is None or made == stage:
                return mapping[value]
            if made == stage + 1:
                return mapping.get(source, source)
        made = self.stage.get(source.op) if source.op is not None else None
        if made is None or made == stage:
            return mapping.get(value, value)
        slot = slots.get((value, stage - made))
        return mapping.get(value, value) if slot is None else block.args[slot + 1]
