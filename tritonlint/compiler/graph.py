"""A mutable graph in static single assignment form: what the passes of the compiler model work on.

The operations carry the names of Triton's own dialects ("tt.load", "arith.addf", "scf.for",
"ttg.convert_layout",
"ttg.local_alloc", "ttng.warp_group_dot", ...), in the spelling of the newest release; older spellings
(`triton_gpu.`, `triton_nvidia_gpu.`) are folded into it. Attributes of `tt`, `arith` and `scf` operations
are those
that `tritonlint.kernel.ir` lists. Further ones that the passes set:

=============================  ==========================================================================
operation                      operands; attributes
=============================  ==========================================================================
tt.func                        one block, whose arguments are the kernel's
cf.early_return                condition; the program ends here if it holds
scf.for                        lower, upper, step, initial values; block arguments: index, the values
scf.if                         condition; two blocks, the second may be without operations
scf.while                      initial values; blocks "before" (ends in scf.condition) and "after"
tt.load                        pointer, [mask], [other]; has_mask, has_other
tt.store                       pointer, value, [mask]; has_mask
tt.dot                         a, b, c; input_precision
tt.reduce, tt.scan             operands; axis; the block combines
tt.descriptor_load             descriptor, indices; result in the tensor's encoding
tt.descriptor_store            descriptor, value, indices
ttg.convert_layout             source
ttg.local_alloc                [source]; result in memory "shared"
ttg.local_load                 memory descriptor, [token]
ttg.local_store                value, memory descriptor
ttg.memdesc_trans              memory descriptor; order
ttg.memdesc_index              memory descriptor, index
ttg.memdesc_subslice           memory descriptor; offsets
ttg.memdesc_reshape            memory descriptor
ttng.warp_group_dot            a (tensor or memory descriptor), b, c; input_precision
ttng.tmem_alloc                [source]; results: memory "tensor", token
ttng.tmem_load                 memory descriptor, [token]; results: tensor, [token]
ttng.tmem_store                memory descriptor, [token], value, predicate
ttng.tc_gen5_mma               a, b, d, [token], use_d, predicate; results [token]; has_token
ttng.tc_gen5_mma_scaled        a, b, d, [token], a_scale, b_scale, use_d, predicate; has_token
=============================  ==========================================================================

A value has a type (element and shape), and, once layouts are assigned, an encoding; `memory` is "shared" or
"tensor" for
a memory descriptor and "" for a tensor or a scalar. A use is counted once per operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tritonlint.kernel import ir


class GValue:
    """One result of an operation (`op` is set), or one argument of a block (`block` is set)."""

    __slots__ = (
        "alloc_shape",
        "block",
        "encoding",
        "index",
        "is_tensor",
        "memory",
        "mutable",
        "name",
        "op",
        "type",
        "uses",
    )

    def __init__(
        self,
        type: ir.Type,
        encoding: Any = None,
        *,
        memory: str = "",
        mutable: bool = False,
        alloc_shape: tuple[int, ...] | None = None,
        name: str = "",
    ) -> None:
        self.type = type
        self.encoding = encoding
        self.memory = memory
        # A tensor held in registers: not a scalar, a memory descriptor or a tensor descriptor.
        self.is_tensor = type.shape is not None and not memory and not type.element.startswith("tensordesc")
        self.mutable = mutable
        self.alloc_shape = alloc_shape
        self.name = name
        self.op: GOp | None = None
        self.block: GBlock | None = None
        self.index = 0
        self.uses: dict[GOp, int] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape; () for a scalar."""
        return self.type.shape or ()

    def users(self) -> list[GOp]:
        """The operations that use the value, each once."""
        return list(self.uses)

    @property
    def use_count(self) -> int:
        return sum(self.uses.values())

    @property
    def has_one_use(self) -> bool:
        return len(self.uses) == 1 and next(iter(self.uses.values())) == 1

    def replace_all_uses(self, new: GValue) -> None:
        """Let every user take `new` instead."""
        if new is self:
            return
        for user in list(self.uses):
            operands = user.operands
            for position, operand in enumerate(operands):
                if operand is self:
                    operands[position] = new
        for user, count in self.uses.items():
            new.uses[user] = new.uses.get(user, 0) + count
        self.uses = {}

    def replace_uses_if(self, new: GValue, wanted: Callable[[GOp], bool]) -> None:
        """Let those users take `new` for which `wanted` holds."""
        for user in list(self.uses):
            if wanted(user):
                for position, operand in enumerate(user.operands):
                    if operand is self:
                        user.set_operand(position, new)

    def owner_block(self) -> GBlock | None:
        """The block in which the value comes to be."""
        return self.block if self.op is None else self.op.block

    def like(self, encoding: Any) -> GValue:
        """A fresh value of the same type in another encoding."""
        return GValue(self.type, encoding, name=self.name)

    def copy(self) -> GValue:
        """A fresh value that differs in nothing but its uses and its place."""
        made = GValue.__new__(GValue)  # past __init__, since graphs are copied for every config
        made.type = self.type
        made.encoding = self.encoding
        made.memory = self.memory
        made.is_tensor = self.is_tensor
        made.mutable = self.mutable
        made.alloc_shape = self.alloc_shape
        made.name = self.name
        made.op = made.block = None
        made.index = 0
        made.uses = {}
        return made

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        place = f"@{self.memory}" if self.memory else ""
        return f"<{shape}{'x' if shape else ''}{self.type.element}{place} {self.encoding}>"


class GOp:
    """One operation. `line` is that of the user's source (0 where there is none)."""

    __slots__ = ("attrs", "block", "blocks", "line", "name", "operands", "path", "results")

    def __init__(
        self,
        name: str,
        operands: Iterable[GValue] = (),
        results: Iterable[GValue] = (),
        attrs: dict[str, Any] | None = None,
        *,
        line: int = 0,
        path: str = "",
    ) -> None:
        self.name = name
        self.operands: list[GValue] = list(operands)
        self.results: list[GValue] = list(results)
        self.attrs: dict[str, Any] = {} if attrs is None else attrs
        self.blocks: list[GBlock] = []
        self.block: GBlock | None = None
        self.line = line
        self.path = path
        for operand in self.operands:
            uses = operand.uses
            uses[self] = uses.get(self, 0) + 1
        for index, result in enumerate(self.results):
            result.op = self
            result.index = index

    @property
    def result(self) -> GValue:
        return self.results[0]

    @property
    def body(self) -> GBlock:
        return self.blocks[0]

    @property
    def parent(self) -> GOp | None:
        """The operation whose block holds this one."""
        return None if self.block is None else self.block.parent

    def add_block(self, args: Iterable[GValue] = ()) -> GBlock:
        block = GBlock(args)
        block.parent = self
        self.blocks.append(block)
        return block

    def add_result(self, value: GValue) -> GValue:
        value.op = self
        value.index = len(self.results)
        self.results.append(value)
        return value

    def remove_result(self, index: int) -> None:
        """Drop a result that nothing uses."""
        del self.results[index]
        for place, result in enumerate(self.results):
            result.index = place

    def set_operand(self, position: int, value: GValue) -> None:
        old = self.operands[position]
        if old is value:
            return
        _drop_use(old, self)
        self.operands[position] = value
        value.uses[self] = value.uses.get(self, 0) + 1

    def set_operands(self, operands: Iterable[GValue]) -> None:
        for old in self.operands:
            _drop_use(old, self)
        self.operands = list(operands)
        for value in self.operands:
            value.uses[self] = value.uses.get(self, 0) + 1

    def add_operand(self, value: GValue) -> None:
        self.operands.append(value)
        value.uses[self] = value.uses.get(self, 0) + 1

    def remove_operand(self, position: int) -> None:
        _drop_use(self.operands.pop(position), self)

    def insert_before(self, other: GOp) -> GOp:
        """Put this (detached) operation right before `other`."""
        block = other.block
        assert block is not None
        block.ops.insert(block.ops.index(other), self)
        self.block = block
        return self

    def insert_after(self, other: GOp) -> GOp:
        block = other.block
        assert block is not None
        block.ops.insert(block.ops.index(other) + 1, self)
        self.block = block
        return self

    def append_to(self, block: GBlock) -> GOp:
        block.ops.append(self)
        self.block = block
        return self

    def prepend_to(self, block: GBlock) -> GOp:
        block.ops.insert(0, self)
        self.block = block
        return self

    def detach(self) -> GOp:
        """Take the operation out of its block and keep its operands, results and uses."""
        if self.block is not None:
            self.block.ops.remove(self)
            self.block = None
        return self

    def move_before(self, other: GOp) -> None:
        if self is not other:
            self.detach()
            self.insert_before(other)

    def move_after(self, other: GOp) -> None:
        if self is not other:
            self.detach()
            self.insert_after(other)

    def erase(self) -> None:
        """Remove the operation, what it holds, and its uses of other values. Its results have no uses any
        more."""
        self.detach()
        self._drop_references()

    def _drop_references(self) -> None:
        """What is left refers to nothing in a circle, so that it needs no collection: a pass that still holds a result
        or a block sees where it came from, but not the other way round."""
        for operand in self.operands:
            _drop_use(operand, self)
        self.operands = []
        self.results = []
        for block in self.blocks:
            for op in block.ops:
                op._drop_references()
                op.block = None
            block.ops = []
            block.args = []
        self.blocks = []

    def replace_with(self, values: Iterable[GValue]) -> None:
        """Let the users of the results take `values`, and erase the operation."""
        for old, new in zip(list(self.results), list(values), strict=True):
            old.replace_all_uses(new)
        self.erase()

    def clone(self, mapping: dict[GValue, GValue] | None = None) -> GOp:
        """A detached copy, blocks included; operands are looked up in `mapping`, which gets the new
        values."""
        if mapping is None:
            mapping = {}
        copy = GOp.__new__(GOp)
        copy.name, copy.line, copy.path = self.name, self.line, self.path
        copy.attrs = dict(self.attrs)
        copy.block = None
        copy.operands = operands = [mapping.get(operand, operand) for operand in self.operands]
        for operand in operands:
            uses = operand.uses
            uses[copy] = uses.get(copy, 0) + 1
        copy.results = results = []
        for old in self.results:
            new = mapping[old] = old.copy()
            new.op = copy
            new.index = old.index
            results.append(new)
        copy.blocks = []
        for block in self.blocks:
            args = [arg.copy() for arg in block.args]
            for old, new in zip(block.args, args, strict=True):
                mapping[old] = new
            new_block = copy.add_block(args)
            ops = new_block.ops
            for op in block.ops:
                inner = op.clone(mapping)
                inner.block = new_block
                ops.append(inner)
        return copy

    def index_in_block(self) -> int:
        assert self.block is not None
        return self.block.ops.index(self)

    def ancestors(self) -> Iterator[GOp]:
        """The operations around this one, innermost first."""
        op = self.parent
        while op is not None:
            yield op
            op = op.parent

    def ancestor_in(self, block: GBlock) -> GOp | None:
        """This operation or the one around it that stands in `block` itself."""
        op: GOp | None = self
        while op is not None and op.block is not block:
            op = op.parent
        return op

    def is_inside(self, other: GOp) -> bool:
        """Whether `other` is around this operation."""
        return any(op is other for op in self.ancestors())

    def is_before_in_block(self, other: GOp) -> bool:
        """Both in one block: whether this one comes first."""
        assert self.block is not None and self.block is other.block
        ops = self.block.ops
        return ops.index(self) < ops.index(other)

    def all_ops(self) -> list[GOp]:
        """The operations inside (not this one), an operation before what it holds."""
        found: list[GOp] = []
        _collect(self.blocks, found)
        return found

    def all_ops_post(self) -> list[GOp]:
        """As `all_ops`, what an operation holds before the operation."""
        found: list[GOp] = []
        _collect_post(self.blocks, found)
        return found

    def walk(self) -> Iterator[GOp]:
        """As `all_ops`; operations that are erased on the way are left out."""
        for op in self.all_ops():
            if op.block is not None:
                yield op

    def walk_post(self) -> Iterator[GOp]:
        """As `all_ops_post`; operations that are erased on the way are left out."""
        for op in self.all_ops_post():
            if op.block is not None:
                yield op

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.operands))}) -> {self.results}"


class GBlock:
    """A straight run of operations, the terminator last."""

    __slots__ = ("args", "ops", "parent")

    def __init__(self, args: Iterable[GValue] = ()) -> None:
        self.args: list[GValue] = []
        self.ops: list[GOp] = []
        self.parent: GOp | None = None
        for arg in args:
            self.add_arg(arg)

    @property
    def terminator(self) -> GOp:
        return self.ops[-1]

    def add_arg(self, value: GValue) -> GValue:
        value.block = self
        value.index = len(self.args)
        self.args.append(value)
        return value

    def remove_arg(self, index: int) -> None:
        """Drop an argument that nothing uses."""
        del self.args[index]
        for place, arg in enumerate(self.args):
            arg.index = place

    def walk(self) -> Iterator[GOp]:
        """The operations of the block and inside them, an operation before what it holds."""
        found: list[GOp] = []
        _collect([self], found)
        for op in found:
            if op.block is not None:
                yield op


class Graph:
    """A kernel: `func` is the tt.func that holds everything.

    `divisibility` gives what the launcher knows of an argument, by its position (absent: 1). `callees` are
    the functions
    that stay calls. `num_warps`, `num_ctas`, `threads_per_warp` are set when layouts are assigned.
    """

    __slots__ = (
        "attrs",
        "callees",
        "divisibility",
        "func",
        "num_ctas",
        "num_warps",
        "threads_per_warp",
    )

    def __init__(self, func: GOp) -> None:
        self.func = func
        self.num_warps = 4
        self.num_ctas = 1
        self.threads_per_warp = 32
        self.divisibility: dict[int, int] = {}
        self.callees: dict[str, Graph] = {}
        self.attrs: dict[str, Any] = {}

    @property
    def body(self) -> GBlock:
        return self.func.blocks[0]

    def release(self) -> None:
        """Takes the graph apart, so that it is gone once nobody holds it: its parts refer to each other in circles, which
        a collection would have to find. To be called where the graph is of no more use to anybody."""
        for op in (self.func, *self.all_ops()):
            op.block = None
            for result in op.results:
                result.op = None
                result.uses.clear()
            for block in op.blocks:
                block.parent = None
                for arg in block.args:
                    arg.block = None
                    arg.uses.clear()

    def walk(self) -> Iterator[GOp]:
        return self.func.walk()

    def walk_post(self) -> Iterator[GOp]:
        return self.func.walk_post()

    def all_ops(self) -> list[GOp]:
        """All operations, an operation before what it holds."""
        return self.func.all_ops()

    def all_ops_post(self) -> list[GOp]:
        """All operations, what an operation holds before the operation."""
        return self.func.all_ops_post()

    def clone(self, mapping: dict[GValue, GValue] | None = None) -> Graph:
        """A copy that shares nothing mutable with this one (callees are shared); `mapping` gets the new values."""
        copy = Graph(self.func.clone(mapping))
        copy.num_warps = self.num_warps
        copy.num_ctas = self.num_ctas
        copy.threads_per_warp = self.threads_per_warp
        copy.divisibility = self.divisibility
        copy.callees = self.callees
        copy.attrs = dict(self.attrs)
        return copy


def dominates(value: GValue, op: GOp) -> bool:
    """Whether `value` may be used by `op`: it comes to be before it, in its block or in one around it."""
    block = value.owner_block()
    if block is None:
        return False
    place = op.ancestor_in(block)
    if place is None:
        return False
    if value.op is None:
        return True
    return place is not value.op and value.op.is_before_in_block(place)


def op_dominates(first: GOp, second: GOp) -> bool:
    """Whether `first` always runs before `second` (or is it)."""
    if first is second:
        return True
    assert first.block is not None
    place = second.ancestor_in(first.block)
    if place is None:
        return False
    if place is first:
        return second.is_inside(first)
    return first.is_before_in_block(place)


def defined_inside(value: GValue, op: GOp) -> bool:
    """Whether `value` comes to be in a block of `op`."""
    block = value.owner_block()
    while block is not None:
        if block.parent is op:
            return True
        block = block.parent.block if block.parent is not None else None
    return False


def from_function(function: ir.Function) -> Graph:
    """The graph of a traced kernel, without encodings."""
    func = GOp("tt.func", attrs={"name": function.name, "noinline": function.noinline})
    mapping: dict[int, GValue] = {}
    graph = Graph(func)
    block = func.add_block(_block_args(function.body, mapping))
    for position, argument in enumerate(function.arguments):
        if id(argument.value) not in mapping:
            value = mapping[id(argument.value)] = GValue(argument.value.type, name=argument.name)
            block.add_arg(value)
        if argument.divisibility > 1:
            graph.divisibility[mapping[id(argument.value)].index] = argument.divisibility
        if not mapping[id(argument.value)].name:
            block.args[position].name = argument.name
    _copy_ops(function.body, block, mapping, graph)
    return graph


def _block_args(block: ir.Block, mapping: dict[int, GValue]) -> list[GValue]:
    args = []
    for arg in block.args:
        value = GValue(arg.type, name=arg.name)
        mapping[id(arg)] = value
        args.append(value)
    return args


def _copy_ops(source: ir.Block, target: GBlock, mapping: dict[int, GValue], graph: Graph) -> None:
    for op in source.ops:
        results = []
        for result in op.results:
            value = GValue(result.type, name=result.name)
            mapping[id(result)] = value
            results.append(value)
        attrs = dict(op.attrs)
        if op.name == "tt.call" and isinstance(attrs.get("callee"), ir.Function):
            callee = attrs["callee"]
            attrs["callee"] = callee.name
            if callee.name not in graph.callees:
                graph.callees[callee.name] = from_function(callee)
        copy = GOp(op.name, [mapping[id(o)] for o in op.operands], results, attrs, line=op.line, path=op.path)
        copy.append_to(target)
        for block in op.blocks:
            new_block = copy.add_block(_block_args(block, mapping))
            _copy_ops(block, new_block, mapping, graph)


def _collect(blocks: list[GBlock], found: list[GOp]) -> None:
    for block in blocks:
        for op in block.ops:
            found.append(op)
            if op.blocks:
                _collect(op.blocks, found)


def _collect_post(blocks: list[GBlock], found: list[GOp]) -> None:
    for block in blocks:
        for op in block.ops:
            if op.blocks:
                _collect_post(op.blocks, found)
            found.append(op)


def _drop_use(value: GValue, user: GOp) -> None:
    count = value.uses.get(user, 0)
    if count > 1:
        value.uses[user] = count - 1
    else:
        value.uses.pop(user, None)
