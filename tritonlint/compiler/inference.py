"""How an encoding passes through an operation, forwards and backwards, without data moving.

The rules of Triton's DialectInferLayoutInterface (lib/Dialect/TritonGPU/IR/Dialect.cpp) and of
inferSrcEncoding / inferDstEncoding (lib/Dialect/TritonGPU/Transforms/Utility.cpp). None means: no encoding
on the
other side does it.
"""

from __future__ import annotations

from functools import lru_cache

from tritonlint.compiler import linear as ll
from tritonlint.compiler.blocked import default_blocked
from tritonlint.compiler.encodings import (
    Blocked,
    CtaLayout,
    Distributed,
    DotOperand,
    Linear,
    NvidiaMma,
    Slice,
    rank_of,
)
from tritonlint.compiler.graph import GOp, GValue
from tritonlint.compiler.layout_properties import elements_per_thread, order_of
from tritonlint.compiler.linear import free_masks
from tritonlint.compiler.ops import has_same_encoding
from tritonlint.compiler.to_linear import to_linear

Shape = tuple[int, ...]


def _permute(values: Shape, order: Shape) -> Shape:
    return tuple(values[i] for i in order)


def inverse_permutation(order: Shape) -> Shape:
    inverse = [0] * len(order)
    for place, dim in enumerate(order):
        inverse[dim] = place
    return tuple(inverse)


def _product(values: Shape) -> int:
    total = 1
    for value in values:
        total *= value
    return total


def cta_insert(cta: CtaLayout | None, axis: int) -> CtaLayout | None:
    """The cluster split with one more dimension, of which there is one part."""
    if cta is None:
        return None
    return CtaLayout(cta.rank + 1, tuple((*b[:axis], 0, *b[axis:]) for b in cta.bases))


def cta_remove(cta: CtaLayout | None, axis: int) -> CtaLayout | None:
    if cta is None:
        return None
    return CtaLayout(cta.rank - 1, tuple((*b[:axis], *b[axis + 1 :]) for b in cta.bases))


def cta_permute(cta: CtaLayout | None, order: Shape) -> CtaLayout | None:
    if cta is None:
        return None
    return CtaLayout(cta.rank, tuple(_permute(b, order) for b in cta.bases))


@lru_cache(maxsize=8192)
def transposed(encoding: Distributed, shape: Shape, order: Shape) -> Distributed | None:
    """The result's encoding of trans(order) of a tensor of `shape`."""
    if order == tuple(range(len(order))):
        return encoding
    if rank_of(encoding) != len(order):
        return None
    if isinstance(encoding, Blocked):
        inverse = inverse_permutation(order)
        return Blocked(
            _permute(encoding.size_per_thread, order),
            _permute(encoding.threads_per_warp, order),
            _permute(encoding.warps_per_cta, order),
            tuple(inverse[dim] for dim in encoding.order),
            cta_permute(encoding.cta_layout, order),
        )
    return Linear(ll.transpose(to_linear(encoding, shape), order))


def _decomposition(source: Shape, target: Shape) -> list[tuple[list[int], list[int]]]:
    """The groups of dimensions that a reshape maps onto each other (getReshapeDecomposition)."""
    groups: list[tuple[list[int], list[int]]] = [([], [])]
    at_source = at_target = 0
    size_source = size_target = 1
    while at_source < len(source) or at_target < len(target):
        more_source = at_source < len(source)
        if more_source and (size_source < size_target or size_source == 1 or source[at_source] == 1):
            size_source *= source[at_source]
            groups[-1][0].append(at_source)
            at_source += 1
        elif at_target < len(target) and (size_target < size_source or target[at_target] == 1):
            size_target *= target[at_target]
            groups[-1][1].append(at_target)
            at_target += 1
        else:
            groups.append(([], []))
            size_source = size_target = 1
    return groups


def _reshape_blocked(source_shape: Shape, source: Blocked, target_shape: Shape) -> Blocked | None:
    """A blocked encoding for the result, where one exists (inferReshapeOpLegacyEncoding)."""
    if source_shape == target_shape:
        return source
    warps = _product(source.warps_per_cta)
    lanes = _product(source.threads_per_warp)
    ctas = source.cta_layout.ctas if source.cta_layout else 1
    if source == default_blocked(source_shape, warps, lanes, ctas):
        return default_blocked(target_shape, warps, lanes, ctas)
    if source.cta_layout is not None:
        return None
    blocks = (source.size_per_thread, source.threads_per_warp, source.warps_per_cta)
    for block in blocks:
        for dim, size in enumerate(source_shape):
            if size >= block[dim] and size % block[dim]:
                return None
    groups = _decomposition(source_shape, target_shape)
    inverse = inverse_permutation(source.order)
    for dims, _ in groups:
        places = [inverse[dim] for dim in reversed(dims)]
        if places != list(range(places[0], places[0] + len(places))):
            return None
    for dims, _ in groups:
        left = [source_shape[dim] for dim in dims]
        for block in blocks:
            for i in range(len(dims) - 1, -1, -1):
                size = block[dims[i]]
                if size == 1:
                    continue
                if any(left[j] != 1 for j in range(i + 1, len(dims))):
                    return None
                left[i] = left[i] // size if left[i] >= size else 0
                if left[i] == 0 and i != 0:
                    return None
    remaining = list(target_shape)
    new_blocks: list[Shape] = []
    for block in blocks:
        new = [1] * len(target_shape)
        for dims, target_dims in groups:
            rest = _product(tuple(block[dim] for dim in dims))
            if not target_dims:
                return None
            for dim in reversed(target_dims):
                new[dim] = max(1, min(rest, remaining[dim]))
                rest //= new[dim]
                remaining[dim] //= new[dim]
            new[target_dims[0]] *= rest
        new_blocks.append(tuple(new))
    groups.sort(key=lambda group: inverse[group[0][0]])
    target_inverse = [0] * len(target_shape)
    place = 0
    for _, target_dims in groups:
        for dim in reversed(target_dims):
            target_inverse[dim] = place
            place += 1
    sizes, threads, warps_per_cta = new_blocks
    return Blocked(sizes, threads, warps_per_cta, inverse_permutation(tuple(target_inverse)))


def is_expensive_view(
    source_shape: Shape, source: Distributed, target_shape: Shape, target: Distributed
) -> bool:
    """Whether a reshape between these encodings moves data (copies or the count per thread differ)."""
    from tritonlint.compiler.layout_properties import elements_per_thread

    if free_masks(to_linear(source, source_shape)) != free_masks(to_linear(target, target_shape)):
        return True
    return elements_per_thread(source, source_shape) != elements_per_thread(target, target_shape)


@lru_cache(maxsize=8192)
def reshaped(
    source_shape: Shape,
    source: Distributed,
    target_shape: Shape,
    hint: Distributed | None,
    allow_reorder: bool,
) -> Distributed | None:
    """The result's encoding of a reshape; `hint` is kept where elements may be reordered and it fits."""
    if allow_reorder and hint is not None and not is_expensive_view(source_shape, source, target_shape, hint):
        return hint
    if isinstance(source, Blocked):
        found = _reshape_blocked(source_shape, source, target_shape)
        if found is not None:
            return found
    return Linear(ll.reshape(to_linear(source, source_shape), target_shape))


@lru_cache(maxsize=8192)
def joined(source: Distributed, shape: Shape) -> Distributed | None:
    """The result's encoding of a join of two tensors of `shape`."""
    if isinstance(source, Slice) and source.dim == len(shape):
        parent = source.parent
        back = split(parent, (*shape, 2))
        if back is not None and (
            to_linear(back, shape).without_broadcast_registers()
            == to_linear(source, shape).without_broadcast_registers()
        ):
            return parent
    elif isinstance(source, Blocked):
        rank = len(source.order)
        return Blocked(
            (*source.size_per_thread, 2),
            (*source.threads_per_warp, 1),
            (*source.warps_per_cta, 1),
            (rank, *source.order),
            cta_insert(source.cta_layout, rank),
        )
    layout = ll.insert_dim(to_linear(source, shape), len(shape))
    return Linear(ll.split_register(layout, len(shape)))


@lru_cache(maxsize=8192)
def split(source: Distributed, shape: Shape) -> Distributed | None:
    """The results' encoding of a split of a tensor of `shape`, whose last dimension is 2."""
    last = len(shape) - 1
    if (
        isinstance(source, Blocked)
        and source.size_per_thread[-1] == 2
        and source.threads_per_warp[-1] == 1
        and source.warps_per_cta[-1] == 1
        and (source.cta_layout is None or source.cta_layout.split[-1] == 1)
    ):
        return Blocked(
            source.size_per_thread[:-1],
            source.threads_per_warp[:-1],
            source.warps_per_cta[:-1],
            tuple(dim for dim in source.order if dim != last),
            cta_remove(source.cta_layout, last),
        )
    if shape[last] != 2:
        return None
    layout = ll.merge_register(to_linear(source, shape), last)
    return None if layout is None else Linear(ll.drop_dim(layout, last))


@lru_cache(maxsize=4096)
def fp4_unpacked(shape: Shape, axis: int, source: Distributed, forward: bool) -> Distributed | None:
    """The encoding on the other side of fp4_to_fp, which makes two elements of one along `axis`. `shape` is
    that
    of the side that `source` belongs to."""
    if order_of(source, shape)[axis] == 0:
        if isinstance(source, DotOperand):
            if not forward and source.k_width <= 1:
                return None
            width = source.k_width * 2 if forward else source.k_width // 2
            return DotOperand(source.op_idx, source.parent, width)
        if isinstance(source, Blocked):
            sizes = list(source.size_per_thread)
            if not forward and sizes[axis] <= 1:
                return None
            sizes[axis] = sizes[axis] * 2 if forward else sizes[axis] // 2
            return Blocked(
                tuple(sizes),
                source.threads_per_warp,
                source.warps_per_cta,
                source.order,
                source.cta_layout,
            )
    layout = to_linear(source, shape)
    if forward:
        return Linear(ll.split_register(layout, axis))
    merged = ll.merge_register(layout, axis)
    return None if merged is None else Linear(merged)


def _through_reshape(op: GOp, source: GValue, encoding: Distributed, target: GValue) -> Distributed | None:
    """The encoding of the other side of a reshape, of which `source` has `encoding`. Where the compiler says so, a slice
    that only gets its dimension back has the encoding that it is a slice of."""
    if (
        op.attrs.get("expands_slices")
        and isinstance(encoding, Slice)
        and target.shape == (*source.shape[: encoding.dim], 1, *source.shape[encoding.dim :])
    ):
        return encoding.parent
    reorders = bool(op.attrs.get("allow_reorder"))
    if op.attrs.get("blocked_only"):
        return (
            None
            if reorders or not isinstance(encoding, Blocked)
            else _reshape_blocked(source.shape, encoding, target.shape)
        )
    return reshaped(source.shape, encoding, target.shape, target.encoding, reorders)


def infer_dst(op: GOp, encoding: Distributed) -> Distributed | None:
    """The encoding of the results, given that of the operands."""
    name = op.name
    if name == "tt.scan":
        return encoding if isinstance(encoding, Blocked) else None
    if has_same_encoding(op):
        return encoding
    if name in _PASS_FORWARD:
        return encoding
    if name == "tt.reduce":
        return None if rank_of(encoding) == 1 else Slice(op.attrs["axis"], encoding)
    if name == "tt.expand_dims":
        if isinstance(encoding, Slice) and encoding.dim == op.attrs["axis"]:
            return encoding.parent
        return None
    if op.attrs.get("blocked_only") and not isinstance(encoding, Blocked):
        return None
    if name == "tt.join":
        return joined(encoding, op.operands[0].shape)
    if name == "tt.split":
        return split(encoding, op.operands[0].shape)
    if name == "tt.trans":
        return transposed(encoding, op.operands[0].shape, tuple(op.attrs["order"]))
    if name == "tt.reshape":
        return _through_reshape(op, op.operands[0], encoding, op.results[0])
    if name == "tt.gather":
        return encoding
    if name == "ttg.fp4_to_fp":
        return fp4_unpacked(op.operands[0].shape, op.attrs["axis"], encoding, True)
    return None


_PASS_FORWARD = frozenset(
    {"tt.load", "scf.while", "scf.for", "scf.yield", "scf.condition", "ttng.warp_group_dot_wait"}
)
_PASS_BACKWARD = frozenset({"tt.load", "scf.while", "scf.yield", "scf.condition", "ttng.warp_group_dot_wait"})


def infer_src(op: GOp, encoding: Distributed) -> Distributed | None:
    """The encoding of the operands that gives the results this one."""
    name = op.name
    if name == "tt.scan":
        return encoding if isinstance(encoding, Blocked) else None
    if has_same_encoding(op) or name in _PASS_BACKWARD:
        return encoding
    if name == "tt.reduce":
        if isinstance(encoding, Slice) and encoding.dim == op.attrs["axis"]:
            return encoding.parent
        return None
    if name == "tt.expand_dims":
        return Slice(op.attrs["axis"], encoding)
    if op.attrs.get("blocked_only") and not isinstance(encoding, Blocked):
        return None
    if name == "tt.join":
        found = split(encoding, op.results[0].shape)
        return None if op.attrs.get("blocked_only") and not isinstance(found, Blocked) else found
    if name == "tt.split":
        return joined(encoding, op.results[0].shape)
    if name == "tt.trans":
        return transposed(encoding, op.results[0].shape, inverse_permutation(tuple(op.attrs["order"])))
    if name == "tt.reshape":
        return _through_reshape(op, op.results[0], encoding, op.operands[0])
    if name == "tt.gather":
        return encoding
    if name == "ttg.fp4_to_fp":
        return fp4_unpacked(op.results[0].shape, op.attrs["axis"], encoding, False)
    return None


_RESULT_ENCODING_FREE = frozenset(
    {
        "ttg.convert_layout",
        "arith.constant",
        "tt.make_range",
        "tt.splat",
        "tt.histogram",
        "ttg.local_alloc",
        "ttg.local_load",
        "ttg.local_store",
    }
)


def can_use_result_encoding(op: GOp, encoding: Distributed) -> bool:
    """Whether the result may take any encoding, whatever the operands have (canUseResultEncoding)."""
    if op.name == "ttg.convert_layout":
        return not (isinstance(encoding, NvidiaMma) and op.operands[0].encoding != encoding)
    if op.name == "tt.reshape":
        source, result = op.operands[0], op.results[0]
        return (
            bool(op.attrs.get("allow_reorder"))
            and not op.attrs.get("efficient_layout")
            and not is_expensive_view(source.shape, source.encoding, result.shape, encoding)
        )
    if op.name == "tt.cat":
        result, source = op.results[0], op.operands[0]
        if op.attrs.get("keeps_elements"):  # isLegalCatEncoding
            held = 2 * unique_elements_per_thread(source.encoding, source.shape)
            return unique_elements_per_thread(encoding, result.shape) == held
        # isExpensiveCat
        return elements_per_thread(encoding, result.shape) >= elements_per_thread(
            result.encoding, result.shape
        )
    return op.name in _RESULT_ENCODING_FREE


def is_expensive_load_or_store(op: GOp, warps: int, lanes: int) -> bool:
    """Whether the layout of a load or store matters: it has at least as many elements as there are
    threads."""
    pointer = op.operands[0]
    if not pointer.is_tensor or pointer.type.elements == 1:
        return False
    return pointer.type.elements >= warps * lanes


def reorders_registers(source: Distributed, target: Distributed, shape: Shape) -> bool:
    """Whether a conversion moves data only inside each thread (cvtReordersRegisters)."""
    move = ll.farthest_move(to_linear(source, shape), to_linear(target, shape))
    return move is None or move == ll.REGISTER


def is_free_convert(op: GOp) -> bool:
    """A convert_layout that only renames or moves registers."""
    if op.name != "ttg.convert_layout":
        return False
    source, result = op.operands[0], op.results[0]
    return reorders_registers(source.encoding, result.encoding, source.shape)


def unique_elements_per_thread(encoding: Distributed, shape: Shape) -> int:
    """Different elements of one thread."""
    return 1 << sum(1 for basis in to_linear(encoding, shape).register if basis)


def tensor_values(values: list[GValue]) -> list[GValue]:
    return [value for value in values if value.is_tensor]
