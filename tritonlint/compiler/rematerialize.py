"""The second half of remove-layout-conversions: work is repeated in another encoding where that is cheaper
than a conversion, and conversions that stay are moved to where less data passes.

LayoutRematerialization of lib/Dialect/TritonGPU/Transforms/RemoveLayoutConversions.cpp, with its cost model.
"""

from __future__ import annotations

from collections.abc import Callable

from tritonlint.compiler.encodings import Distributed, DotOperand
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.inference import (
    can_use_result_encoding,
    infer_src,
    is_expensive_load_or_store,
    is_free_convert,
    reorders_registers,
    unique_elements_per_thread,
)
from tritonlint.compiler.ops import DOTS
from tritonlint.compiler.releases import Release
from tritonlint.compiler.to_linear import to_linear

Use = tuple[GOp, int]
Stop = Callable[[GOp], bool]
"""Attribute of a graph: lines where the compiler may have kept a conversion that was taken out here."""

_EXPENSIVE_MATH = frozenset(
    {
        "arith.divf",
        *(
            f"math.{name}"
            for name in (
                "erfc", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "ctpop", "ctlz", "cttz", "exp",
                "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
                "atan2", "powf", "sqrt", "rsqrt", "erf", "cbrt",
            )
        ),
    }
)  # fmt: skip
_STEPS = 20_000
_NONE: dict[Distributed, GValue] = {}


class Slice:
    """What a conversion is made from, backwards: the values, the encoding each of them would get, and values
    that exist in that encoding already."""

    __slots__ = ("existing", "layout", "values")

    def __init__(self) -> None:
        self.values: dict[GValue, None] = {}
        self.layout: dict[GValue, Distributed] = {}
        self.existing: dict[tuple[GValue, Distributed], GValue | None] = {}

    def copy(self) -> Slice:
        new = Slice()
        new.values = dict(self.values)
        new.layout = dict(self.layout)
        new.existing = dict(self.existing)
        return new

    def take(self, other: Slice) -> None:
        self.values, self.layout, self.existing = other.values, other.layout, other.existing


def can_be_rematerialized(op: GOp, graph: Graph) -> bool:
    """Whether repeating the operation is allowed at all."""
    name = op.name
    if name in ("tt.load", "tt.store"):
        return not is_expensive_load_or_store(op, graph.num_warps, graph.threads_per_warp)
    if name in ("tt.atomic_rmw", "tt.atomic_cas") or name in DOTS:
        return False
    if name in ("tt.gather", "tt.reshape"):
        return not op.attrs.get("efficient_layout")
    return name not in ("scf.while", "scf.condition")


def _bytes(value: GValue, least_elements: int = 0, least_bits: int = 0) -> int:
    elements = bits = 0
    if value.is_tensor:
        elements = value.type.elements
        if not value.type.is_pointer:
            bits = value.type.bits
    return (max(elements, least_elements) * max(bits, least_bits)) >> 3


def convert_cost(source: GValue, encoding: Distributed, release: Release) -> int:
    """Cost of a conversion, in thousandths of a multiprocessor's cycle: a trip through shared memory."""
    if release.free_converts_cost_nothing and reorders_registers(source.encoding, encoding, source.shape):
        return 0
    return 32 * _bytes(source, 32, 32)


def _defined_before(value: GValue, op: GOp) -> bool:
    from tritonlint.compiler.graph import dominates

    return dominates(value, op)


def for_init(arg: GValue) -> Use:
    """The operand of the loop that starts a carried value."""
    assert arg.block is not None and arg.block.parent is not None
    return arg.block.parent, arg.index + 2


def for_yield(arg: GValue) -> Use:
    """The operand of the yield that carries a value on."""
    assert arg.block is not None
    return arg.block.terminator, arg.index - 1


class Rematerialization:
    """One run over a function; remembers which values exist in which encoding."""

    def __init__(self, graph: Graph, release: Release) -> None:
        self.graph = graph
        self.release = release
        self.remats: dict[GValue, dict[Distributed, GValue]] = {}

    def add_remat(self, old: GValue, encoding: Distributed, new: GValue) -> None:
        self.remats.setdefault(old, {})[encoding] = new

    def converts(self) -> list[GOp]:
        return [op for op in self.graph.all_ops_post() if op.name == "ttg.convert_layout"]

    def run_over_converts(self, rewrite: Callable[[GOp], bool]) -> bool:
        """Try a rewriting on each conversion; those that stay may be used again by later ones."""
        changed = False
        for convert in self.converts():
            if convert.block is None:
                continue
            source, result = convert.operands[0], convert.results[0]
            if rewrite(convert):
                changed = True
            elif self.release.existing_values != "when_rewriting":
                self.add_remat(source, result.encoding, result)
        return changed

    # Slices

    def backward_slice(
        self,
        root: Use,
        encoding: Distributed,
        slice_: Slice,
        stop: Stop | None = None,
        of_operand: bool = False,
    ) -> bool:
        """Collect what the root's value is made from, as far as encodings can be inferred; False if they
        cannot. It ends where values have the wanted encoding (not in 3.5 to 3.7, which repeat what made them,
        too); that of an operand from 3.9 on also where what is broadcast has the wanted layout by another name."""
        seen: set[tuple[GOp, int, Distributed]] = set()
        queue: list[tuple[GOp, int, Distributed]] = []

        def enqueue(op: GOp, position: int, wanted: Distributed) -> None:
            key = (op, position, wanted)
            if key not in seen:
                seen.add(key)
                queue.append(key)

        layout, values = slice_.layout, slice_.values
        mode = self.release.existing_values
        enqueue(root[0], root[1], encoding)
        steps = 0
        while queue:
            steps += 1
            if steps > _STEPS:
                return False
            user, position, wanted = queue.pop()
            value = user.operands[position]
            if not value.is_tensor:
                continue
            if layout.setdefault(value, wanted) != wanted:
                return False
            if (value.encoding == wanted and not self.release.slices_pass_equal_layouts) or (
                of_operand
                and self.release.operand_slices_end_at_broadcasts
                and user.name == "tt.broadcast"
                and _is_same_layout(value, wanted)
            ):
                continue
            if mode == "left_out" and self.existing_conversion(user, value, wanted, slice_):
                continue
            op = value.op
            if op is not None and op.name in ("scf.for", "scf.while"):
                return False
            values[value] = None
            if mode in ("followed", "end_slices"):
                existing = self.remats.get(value, _NONE).get(wanted)
                if existing is not None and _defined_before(existing, user):
                    if mode == "end_slices":
                        continue
                    if layout.setdefault(existing, wanted) != wanted:
                        return False
                    values[existing] = None
                    value, op = existing, existing.op
                    if op is not None and op.name in ("scf.for", "scf.while"):
                        return False
            if op is None:
                block = value.block
                if (
                    block is None
                    or block.parent is None
                    or block.parent.name != "scf.for"
                    or value.index == 0
                ):
                    return False
                enqueue(*for_init(value), wanted)
                enqueue(*for_yield(value), wanted)
                continue
            if op.name == "scf.if":
                if stop is not None and stop(op):
                    continue
                enqueue(op.blocks[0].terminator, value.index, wanted)
                enqueue(op.blocks[1].terminator, value.index, wanted)
                continue
            for result in op.results:
                if result is not value and result.is_tensor:
                    if layout.setdefault(result, wanted) != wanted:
                        return False
                    values[result] = None
            if is_free_convert(op):
                enqueue(op, 0, wanted)
                continue
            if can_use_result_encoding(op, wanted):
                continue
            if stop is not None and stop(op):
                continue
            if op.name == "tt.gather":
                enqueue(op, 1, wanted)
                continue
            source = infer_src(op, wanted)
            for place in range(len(op.operands)):
                if source is None:
                    return False
                enqueue(op, place, source)
        return True

    def existing_conversion(self, user: GOp, value: GValue, encoding: Distributed, slice_: Slice) -> bool:
        known = self.remats.get(value)
        remat = known.get(encoding) if known else None
        if remat is None:
            return False
        key = (value, encoding)
        if _defined_before(remat, user):
            slice_.existing.setdefault(key, remat)
            return True
        slice_.existing[key] = None
        return False

    def rematerializable_slice(
        self, root: Use, encoding: Distributed, slice_: Slice, stop: Stop | None = None
    ) -> bool:
        """As `backward_slice`, all of which may be repeated; the slice is left alone on failure."""
        trial = slice_.copy()
        if not self.backward_slice(root, encoding, trial, stop):
            return False
        if not trial.values and not self.release.hoisting_takes_existing:
            return False
        for value in trial.values:
            if value.op is not None and not can_be_rematerialized(value.op, self.graph):
                return False
        slice_.take(trial)
        return True

    # Rewriting

    def rewrite_slice(self, slice_: Slice, convert: GOp, mapping: dict[GValue, GValue]) -> None:
        """Repeat the slice in its new encodings, and let the users of `convert` take that."""
        layout, values = slice_.layout, slice_.values
        if self.release.existing_values == "left_out":
            for value, encoding in layout.items():
                remat = slice_.existing.get((value, encoding))
                if remat is not None:
                    mapping[value] = remat
        else:
            for value in list(values):
                encoding = layout[value]
                remat = value if value.encoding == encoding else self.remats.get(value, _NONE).get(encoding)
                if remat is not None:
                    mapping[value] = remat
                    del values[value]
        wanted: dict[GOp, None] = {}
        yielded: dict[GOp, list[int]] = {}
        for value in values:
            op = value.op
            if op is not None:
                wanted[op] = None
                if op.name == "scf.if":
                    for branch in op.blocks:
                        wanted[branch.terminator] = None
                        yielded.setdefault(branch.terminator, []).append(value.index)
            else:
                block = value.block
                assert block is not None and block.parent is not None
                wanted[block.parent] = None
                wanted[block.terminator] = None
                yielded.setdefault(block.terminator, []).append(value.index - 1)
        for op in [op for op in self.graph.all_ops() if op in wanted]:
            name = op.name
            if name == "scf.for":
                self.grow_loop(op, slice_, mapping)
            elif name == "scf.if":
                self.grow_if(op, slice_, mapping)
            elif name == "scf.yield":
                for place in sorted(yielded[op]):
                    op.add_operand(_mapped(mapping, op.operands[place]))
            elif name == "arith.constant":
                result = op.results[0]
                copy = op.clone().insert_before(op)
                new = GOp(
                    "ttg.convert_layout",
                    [copy.result],
                    [result.like(layout[result])],
                    line=op.line,
                    path=op.path,
                )
                new.insert_before(op)
                mapping[result] = new.result
                self.add_remat(result, layout[result], new.result)
            else:
                copy = op.clone(mapping).insert_before(op)
                for old, new_value in zip(op.results, copy.results, strict=True):
                    if old in layout:
                        new_value.encoding = layout[old]
                        self.add_remat(old, layout[old], new_value)
        old, new_value = convert.results[0], _mapped(mapping, convert.operands[0])
        self.move_remats(old, new_value)
        old.replace_all_uses(new_value)
        convert.erase()

    def grow_loop(self, op: GOp, slice_: Slice, mapping: dict[GValue, GValue]) -> None:
        for arg in list(op.body.args[1:]):
            if arg in slice_.values:
                encoding = slice_.layout[arg]
                result = op.results[arg.index - 1]
                op.add_operand(_mapped(mapping, op.operands[arg.index + 2]))
                new_arg = op.body.add_arg(arg.like(encoding))
                new_result = op.add_result(result.like(encoding))
                mapping[arg] = new_arg
                mapping[result] = new_result
                self.add_remat(result, encoding, new_result)
                self.add_remat(arg, encoding, new_arg)

    def grow_if(self, op: GOp, slice_: Slice, mapping: dict[GValue, GValue]) -> None:
        for result in list(op.results):
            if result in slice_.values:
                encoding = slice_.layout[result]
                new_result = op.add_result(result.like(encoding))
                mapping[result] = new_result
                self.add_remat(result, encoding, new_result)

    def move_remats(self, old: GValue, new: GValue) -> None:
        """`old` is about to be replaced by `new`."""
        for known in self.remats.values():
            for encoding, value in known.items():
                if value is old:
                    known[encoding] = new
        known_old = self.remats.pop(old, None)
        if known_old:
            self.remats.setdefault(new, {}).update(known_old)

    # Whether it pays

    def used_elsewhere(self, convert: GOp, slice_: Slice) -> dict[GValue, None]:
        """The values of the slice that would stay alive, since something outside needs them."""
        values = slice_.values
        ops = {value.op for value in values if value.op is not None}
        outside: dict[GValue, None] = {}
        for value in values:
            for user in value.uses:
                if user is convert or user in ops:
                    continue
                if self.release.remat_follows_regions and self.flows_into_slice_only(value, user, slice_):
                    continue
                outside[value] = None
                break
        queue = list(outside)
        for value in queue:
            for operand in _made_from(value):
                if operand in values and operand not in outside:
                    outside[operand] = None
                    queue.append(operand)
        return outside

    @staticmethod
    def flows_into_slice_only(value: GValue, user: GOp, slice_: Slice) -> bool:
        targets = _flows_to(value, user)
        if targets is None:
            return False
        return all(target in slice_.values or not target.uses for target in targets)

    def is_beneficial(self, convert: GOp, slice_: Slice, new_cost: int, disable_splitting: bool) -> bool:
        """Whether repeating the slice costs no more than the conversion that it saves."""
        outside = self.used_elsewhere(convert, slice_)
        if disable_splitting and outside:
            return False
        saved = convert_cost(convert.operands[0], convert.results[0].encoding, self.release)
        cost = new_cost
        for op in dict.fromkeys(value.op for value in slice_.values if value.op is not None):
            used_outside = any(result in outside for result in op.results)
            name = op.name
            if name == "arith.constant":
                continue
            if name.startswith(("arith.", "math.")):
                multiplier = 8 if name in _EXPENSIVE_MATH else 1
                if self.release.remat_counts_registers:
                    for result in op.results:
                        factor = self.cost_factor(result, slice_)
                        if not used_outside:
                            factor -= 1
                        cost += multiplier * _bytes(result) * factor
                elif used_outside:
                    cost += sum(multiplier * _bytes(result) for result in op.results)
                continue
            if not used_outside:
                continue
            if name in ("tt.load", "ttg.local_load"):
                cost += sum(8 * _bytes(result) for result in op.results)
            elif name == "tt.reduce":
                reduce_cost = self.reduce_cost(op)
                if reduce_cost is None:
                    return False
                cost += reduce_cost
        return saved >= cost

    @staticmethod
    def cost_factor(result: GValue, slice_: Slice) -> int:
        encoding = slice_.layout.get(result)
        if encoding is None or not result.is_tensor:
            return 1
        old = unique_elements_per_thread(result.encoding, result.shape)
        return max(1, unique_elements_per_thread(encoding, result.shape) // old)

    @staticmethod
    def reduce_cost(op: GOp) -> int | None:
        """Cost of repeating a reduction, from the data that meets in a warp and across warps; None for one
        that may not be reordered."""
        from tritonlint.compiler.layout_properties import threads_per_warp_of, warps_per_cta_of

        if not is_associative(op):
            return None
        source = op.operands[0]
        axis = op.attrs["axis"]
        lanes: int = threads_per_warp_of(source.encoding, source.shape)[axis]
        warps: int = warps_per_cta_of(source.encoding, source.shape)[axis]
        return lanes + 8 * warps

    # The rewritings

    def rematerialize(self, convert: GOp, disable_splitting: bool) -> bool:
        encoding = convert.results[0].encoding
        if isinstance(encoding, DotOperand):
            return False
        if not self.release.hoisting_takes_existing:  # else the slice ends at what there is
            known = self.remats.get(convert.operands[0], _NONE).get(encoding)
            if known is not None and _defined_before(known, convert):
                convert.results[0].replace_all_uses(known)
                convert.erase()
                return True
        slice_ = Slice()
        if not self.rematerializable_slice((convert, 0), encoding, slice_):
            return False
        if not self.is_beneficial(convert, slice_, 0, disable_splitting):
            return False
        self.rewrite_slice(slice_, convert, {})
        return True


def is_associative(op: GOp) -> bool:
    """Whether a reduction may be done in any order: of integers, of two elements, or without sums and
    products (ReduceOpHelper::isAssociative)."""
    source = op.operands[0]
    if not source.type.element.startswith(("fp", "bf")) or source.shape[op.attrs["axis"]] <= 2:
        return True
    return all(inner.name not in ("arith.addf", "arith.mulf") for inner in op.walk())


def _is_same_layout(value: GValue, encoding: Distributed) -> bool:
    """Whether the encoding is that of the value by another name; how often a thread holds an element does not count."""
    layouts = (to_linear(one, value.shape) for one in (value.encoding, encoding))
    have, wanted = (layout.without_broadcast_registers() for layout in layouts)
    return have == wanted


def _mapped(mapping: dict[GValue, GValue], value: GValue) -> GValue:
    """The value in its new encoding; one that had it from the start is not in the mapping."""
    return mapping.get(value, value)


def _flows_to(value: GValue, user: GOp) -> list[GValue] | None:
    """The block arguments and results that a use of `value` flows into; None if it is no such use."""
    targets: list[GValue] = []
    found = False
    for position, operand in enumerate(user.operands):
        if operand is not value:
            continue
        if user.name == "scf.for":
            if position < 3:
                return None
            found = True
            targets += [user.body.args[position - 2], user.results[position - 3]]
        elif user.name == "scf.yield":
            parent = user.parent
            if parent is None:
                return None
            found = True
            if parent.name == "scf.for":
                targets += [parent.body.args[position + 1], parent.results[position]]
            elif parent.name == "scf.if":
                targets.append(parent.results[position])
            elif parent.name == "scf.while":
                targets.append(parent.body.args[position])
        elif user.name == "scf.while":
            found = True
            targets.append(user.body.args[position])
        elif user.name == "scf.condition" and position:
            parent = user.parent
            if parent is None:
                return None
            found = True
            targets += [parent.blocks[1].args[position - 1], parent.results[position - 1]]
    return targets if found else None


def _made_from(value: GValue) -> list[GValue]:
    """The values that flow into `value`, or the operands of the operation that makes it."""
    op = value.op
    if op is None:
        block = value.block
        assert block is not None
        parent = block.parent
        if parent is None:
            return []
        if parent.name == "scf.for" and value.index > 0:
            init, last = for_init(value), for_yield(value)
            return [init[0].operands[init[1]], last[0].operands[last[1]]]
        return list(parent.operands)
    if op.name == "scf.for":
        return [op.operands[value.index + 3], op.body.terminator.operands[value.index]]
    if op.name == "scf.if":
        return [block.terminator.operands[value.index] for block in op.blocks if block.ops]
    return list(op.operands)
