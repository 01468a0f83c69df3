"""What the passes need to know of each operation: traits and memory effects, by name."""

from __future__ import annotations

from tritonlint.compiler.graph import GOp, GValue

SAME_ENCODING = frozenset(
    {
        "tt.int_to_ptr",
        "tt.ptr_to_int",
        "tt.bitcast",
        "tt.fp_to_fp",
        "tt.clampf",
        "tt.precise_sqrt",
        "tt.precise_divf",
        "tt.mulhiui",
        "tt.addptr",
        "tt.extern_elementwise",
        "tt.elementwise_inline_asm",
        "tt.map_elementwise",
        "tt.splat",
        "tt.broadcast",
        "tt.scan",
        "tt.atomic_rmw",
        "tt.atomic_cas",
    }
)
"""Operations of the tt dialect whose operands and results share one encoding."""

_ELEMENTWISE = SAME_ENCODING - {
    "tt.splat",
    "tt.broadcast",
    "tt.scan",
    "tt.atomic_rmw",
    "tt.atomic_cas",
    "tt.map_elementwise",
}

VIEWS = frozenset({"tt.expand_dims", "tt.reshape", "tt.trans", "tt.join", "tt.split"})
LOOPS = frozenset({"scf.for", "scf.while"})
DOTS = frozenset({"tt.dot", "tt.dot_scaled", "ttng.warp_group_dot"})
"""Dots that have tensors as operands and result (DotOpInterface, without those on tensor memory)."""

TERMINATORS = frozenset(
    {
        "scf.yield",
        "scf.condition",
        "tt.return",
        "tt.reduce.return",
        "tt.scan.return",
        "tt.map_elementwise.return",
    }
)

_PURE_TT = frozenset(
    {
        "tt.int_to_ptr",
        "tt.ptr_to_int",
        "tt.bitcast",
        "tt.fp_to_fp",
        "tt.clampf",
        "tt.precise_sqrt",
        "tt.precise_divf",
        "tt.mulhiui",
        "tt.addptr",
        "tt.advance",
        "tt.splat",
        "tt.unsplat",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.reshape",
        "tt.trans",
        "tt.join",
        "tt.split",
        "tt.cat",
        "tt.dot",
        "tt.dot_scaled",
        "tt.reduce",
        "tt.scan",
        "tt.map_elementwise",
        "tt.gather",
        "tt.histogram",
        "tt.make_range",
        "tt.make_tensor_ptr",
        "tt.make_tensor_descriptor",
        "tt.get_program_id",
        "tt.get_num_programs",
        "tt.poison",
        "ub.poison",
        "ttg.convert_layout",
        "ttg.memdesc_trans",
        "ttg.memdesc_index",
        "ttg.memdesc_subslice",
        "ttg.memdesc_reshape",
        "ttg.memdesc_reinterpret",
        "ttg.fp4_to_fp",
        "ttng.tmem_subslice",
        "ttng.warp_group_dot",
        "amdg.upcast_mxfp",
        "amdg.scaled_upcast_fp8",
        "amdg.scaled_upcast_fp4",
        "amdg.in_thread_transpose",
    }
)


def is_elementwise(op: GOp) -> bool:
    """Each element of the result comes from the elements at the same place."""
    name = op.name
    return (name.startswith(("arith.", "math.")) and name != "arith.constant") or name in _ELEMENTWISE


def has_same_encoding(op: GOp) -> bool:
    """Operands and results share one encoding (SameOperandsAndResultEncoding or Elementwise)."""
    name = op.name
    return (name.startswith(("arith.", "math.")) and name != "arith.constant") or name in SAME_ENCODING


class _PureByName(dict[str, bool]):
    """Whether all operations of a name neither read nor write; filled as names come up."""

    def __missing__(self, name: str) -> bool:
        pure = self[name] = name in _PURE_TT or name.startswith(("arith.", "math."))
        return pure


_PURE = _PureByName()


def is_pure(op: GOp) -> bool:
    """Neither reads nor writes memory; what it holds is not looked at."""
    name = op.name
    if _PURE[name]:
        return True
    if name in ("tt.extern_elementwise", "tt.elementwise_inline_asm"):
        return bool(op.attrs.get("pure", False))
    if name == "ttg.local_alloc":
        return bool(op.operands) and not op.results[0].mutable
    return False


def only_reads(op: GOp) -> bool:
    """Reads memory and does nothing else to it."""
    if op.name == "tt.load":
        return not op.attrs.get("volatile", False)
    return op.name in ("tt.descriptor_load", "tt.descriptor_gather", "ttg.local_load")


MEMORIES = frozenset({"global", "shared", "tensor"})
"""The memories that effects are told apart by (Triton_GlobalMemory, SharedMemory, TensorMemory)."""

_WRITTEN = {
    "tt.store": frozenset({"global"}),
    "tt.atomic_rmw": frozenset({"global"}),
    "tt.atomic_cas": frozenset({"global"}),
    "tt.descriptor_store": frozenset({"global"}),
    "ttg.local_store": frozenset({"shared"}),
    "ttg.local_dealloc": frozenset[str](),
    "ttg.async_copy_global_to_local": frozenset({"shared"}),
}


def memory_read(op: GOp) -> str:
    """The memory that an operation which at most reads looks at; "" if none."""
    if not only_reads(op):
        return ""
    return "shared" if op.name == "ttg.local_load" else "global"


def memory_written(op: GOp) -> frozenset[str]:
    """The memories that an operation may write to, blocks included."""
    if op.blocks and op.name in ("scf.for", "scf.if", "scf.while"):
        return frozenset().union(
            *(memory_written(inner) for block in op.blocks for inner in block.ops if writes_memory(inner))
        )
    return _WRITTEN.get(op.name, MEMORIES)


def is_free_of_effects(op: GOp) -> bool:
    """Pure, blocks included."""
    if op.name in TERMINATORS:
        return True
    if op.name in ("scf.for", "scf.if", "scf.while"):
        return all(is_free_of_effects(inner) for block in op.blocks for inner in block.ops)
    return is_pure(op)


def is_removable(op: GOp) -> bool:
    """May be dropped when nothing uses its results: it at most reads, or makes memory that nothing sees."""
    name = op.name
    if name in ("scf.for", "scf.if", "scf.while"):
        return all(
            inner.name in TERMINATORS or is_removable(inner) for block in op.blocks for inner in block.ops
        )
    return is_pure(op) or only_reads(op) or name in ("ttg.local_alloc", "ttng.tmem_alloc", "ttng.tmem_load")


def writes_memory(op: GOp) -> bool:
    """Writes memory, or may; blocks included."""
    if op.blocks and op.name in ("scf.for", "scf.if", "scf.while"):
        return any(writes_memory(inner) for block in op.blocks for inner in block.ops)
    return not (
        op.name in TERMINATORS
        or is_pure(op)
        or only_reads(op)
        or op.name in ("ttg.local_alloc", "ttng.tmem_alloc", "ttng.tmem_load", "cf.early_return")
    )


def constant_value(value: GValue) -> object:
    """The number of a constant, or of a splat of one; None otherwise."""
    op = value.op
    while op is not None and op.name in ("tt.splat", "tt.broadcast", "ttg.convert_layout", "tt.expand_dims"):
        op = op.operands[0].op
    if op is not None and op.name == "arith.constant":
        number = op.attrs["value"]
        return number if isinstance(number, (int, float)) else None
    return None


def memory_pointer(op: GOp) -> GValue | None:
    """The pointer of a load, store, atomic or asynchronous copy (getMemAccessPtr)."""
    if op.name in ("tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas", "ttg.async_copy_global_to_local"):
        return op.operands[0]
    return None


def element_bits(value: GValue) -> int:
    """Bits of an element in memory: of what a pointer points to (getElementBitWidth)."""
    from tritonlint.kernel.ir import bits_of

    element = value.type.element
    return bits_of(element[1:]) if element.startswith("*") else value.type.bits
