"""Operations that move elements without computing: reshape, trans, join, split, cat, broadcast..."""

from __future__ import annotations

from typing import Any

from tritonlint.kernel import semantic as s
from tritonlint.kernel.creation import shape_of
from tritonlint.kernel.graph import type_of
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.values import Opaque, Refused, Shape, Tensor, Untraceable, known


def tensor_of(m: Machine, value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else s.to_tensor(m, value)


def one_sequence(items: tuple[Any, ...]) -> tuple[Any, ...]:
    """f(x, (1, 2)) and f(x, 1, 2) mean the same."""
    if len(items) == 1:
        if isinstance(items[0], tuple):
            return items[0]
        if isinstance(items[0], Opaque):
            raise Untraceable(items[0].reason)
    return items


def broadcast(m: Machine, input: Any, other: Any) -> tuple[Tensor, Tensor]:
    return s.broadcast_two(m, tensor_of(m, input), tensor_of(m, other))


def broadcast_to(m: Machine, input: Any, *shape: Any) -> Tensor:
    return s.broadcast_to(m, tensor_of(m, input), shape_of(m, one_sequence(shape)))


def permute(m: Machine, input: Any, *dims: Any) -> Tensor:
    x = tensor_of(m, input)
    order = tuple([known(v, "a dimension") for v in one_sequence(dims)])
    if sorted(order) != list(range(len(x.shape))):
        raise Refused(
            "type",
            f"permute dims {list(order)} are no permutation of the {len(x.shape)} axes",
            shape=x.shape,
            order=order,
        )
    return Tensor(m.b.trans(x.h, order), x.dt, tuple([x.shape[i] for i in order]))


def trans(m: Machine, input: Any, *dims: Any) -> Tensor:
    x = tensor_of(m, input)
    order = one_sequence(dims)
    if not order:
        rank = len(x.shape)
        if rank < 2:
            raise Refused("type", "tl.trans of a tensor with less than two dimensions", shape=x.shape)
        order = (*range(rank - 2), rank - 1, rank - 2)
    return permute(m, x, *order)


def reshape(m: Machine, input: Any, *shape: Any, can_reorder: Any = False) -> Tensor:
    x = tensor_of(m, input)
    sizes = shape_of(m, one_sequence(shape))
    if not sizes:
        return item(m, x)
    return reshaped(m, x, sizes, bool(known(can_reorder, "can_reorder")))


def view(m: Machine, input: Any, *shape: Any) -> Tensor:
    return reshape(m, input, *shape, can_reorder=True)


def reshaped(m: Machine, x: Tensor, shape: Shape, reorder: bool = False) -> Tensor:
    total = 1
    for size in shape:
        total *= size
    if total != x.numel:
        raise Refused(
            "shape",
            f"reshape of {x.numel} elements {list(x.shape)} into {total} {list(shape)}",
            left=x.shape,
            right=shape,
        )
    if not x.shape:
        return s.splat(m, x, shape)
    return Tensor(m.b.reshape(x.h, shape, reorder), x.dt, shape)


def ravel(m: Machine, x: Any, can_reorder: Any = False) -> Tensor:
    x = tensor_of(m, x)
    reorder = True if m.release < (3, 3) else bool(known(can_reorder, "can_reorder"))
    return reshaped(m, x, (x.numel,), reorder)


def item(m: Machine, input: Any) -> Tensor:
    """The only element of a block, as a scalar."""
    x = tensor_of(m, input)
    if not x.shape:
        return x
    if x.numel != 1:
        raise Refused("type", "only a single-element tensor becomes a scalar", shape=x.shape)
    if m.release >= (3, 5):
        return Tensor(m.b.emit("tt.unsplat", (x.h,), (type_of(x.dt.element, None),)).results[0], x.dt)
    from tritonlint.kernel.reductions import first_element

    return first_element(m, x)


def expand_dims(m: Machine, input: Any, axis: Any) -> Tensor:
    x = tensor_of(m, input)
    axis = known(axis, "the axis")
    axes = [known(a, "the axis") for a in axis] if isinstance(axis, tuple) else [axis]
    rank = len(x.shape) + len(axes)
    final = sorted(wrap_axis(a, rank) for a in axes)
    if len(set(final)) != len(final):
        raise Refused("type", f"expand_dims received duplicate axes {final}")
    for a in final:
        x = s.expand_dims(m, x, a)
    return x


def wrap_axis(axis: Any, rank: int) -> int:
    axis = known(axis, "the axis")
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise Refused("type", f"invalid axis {axis} for a rank of {rank}", axis=axis, rank=rank)
    return axis + rank if axis < 0 else axis


def join(m: Machine, a: Any, b: Any) -> Tensor:
    x, y = s.broadcast_two(m, tensor_of(m, a), tensor_of(m, b))
    if x.dt is not y.dt:
        raise Refused("type", f"join of {x.dt.name} and {y.dt.name}", left=x.dt.name, right=y.dt.name)
    scalar = not x.shape
    if scalar:
        x, y = s.expand_dims(m, x, 0), s.expand_dims(m, y, 0)
    shape = (*x.shape, 2)
    whole = x.h.node
    if whole is not None and whole.name == "tt.split" and whole.results == (x.h, y.h) and m.release >= (3, 9):
        return Tensor(whole.operands[0], x.dt, shape)
    node = m.b.emit("tt.join", (x.h, y.h), (type_of(x.dt.element, shape),))
    made = Tensor(node.results[0], x.dt, shape)
    return reshaped(m, made, (2,)) if scalar else made


def split(m: Machine, a: Any) -> tuple[Tensor, Tensor]:
    x = tensor_of(m, a)
    if not x.shape or x.shape[-1] != 2:
        raise Refused("type", f"split needs a last dimension of 2, got {list(x.shape)}", shape=x.shape)
    flat = len(x.shape) == 1
    if flat:
        x = s.expand_dims(m, x, 0)
    shape = x.shape[:-1]
    inner = x.h.node
    if inner is not None and inner.name == "tt.join" and m.release >= (3, 9):
        return Tensor(inner.operands[0], x.dt, shape), Tensor(inner.operands[1], x.dt, shape)
    type_ = type_of(x.dt.element, shape)
    node = m.b.emit("tt.split", (x.h,), (type_, type_))
    left, right = (Tensor(h, x.dt, shape) for h in node.results)
    return (item(m, left), item(m, right)) if flat else (left, right)


def cat(m: Machine, input: Any, other: Any, can_reorder: Any = False, dim: Any = 0) -> Tensor:
    x, y = tensor_of(m, input), tensor_of(m, other)
    if known(can_reorder, "can_reorder") or m.release < (3, 0):
        if len(x.shape) != 1 or len(y.shape) != 1:
            raise Refused(
                "type", "tl.cat that may reorder takes one-dimensional tensors", left=x.shape, right=y.shape
            )
        shape: Shape = (x.shape[0] + y.shape[0],)
        return Tensor(m.b.emit("tt.cat", (x.h, y.h), (type_of(x.dt.element, shape),)).results[0], x.dt, shape)
    if m.release < (3, 7):
        raise Refused("type", "tl.cat needs can_reorder=True in this release")
    rank = len(x.shape)
    if x.shape != y.shape:
        raise Refused(
            "shape",
            f"tl.cat of {list(x.shape)} and {list(y.shape)}: the shapes must be the same",
            left=x.shape,
            right=y.shape,
        )
    axis = wrap_axis(dim, rank)
    order = [*range(rank)]
    order.insert(axis, rank)
    joined = permute(m, join(m, x, y), *order)
    return reshaped(m, joined, (*x.shape[:axis], 2 * x.shape[axis], *x.shape[axis + 1 :]))


def interleave(m: Machine, a: Any, b: Any) -> Tensor:
    joined = join(m, a, b)
    if len(joined.shape) == 1:
        return joined
    return reshaped(m, joined, (*joined.shape[:-2], 2 * joined.shape[-2]))


def squeeze(m: Machine, x: Any, dim: Any) -> Tensor:
    x = tensor_of(m, x)
    axis = wrap_axis(dim, len(x.shape))
    if x.shape[axis] != 1:
        raise Refused("static-assert", f"squeeze of a dimension of {x.shape[axis]}", shape=x.shape)
    return reshape(m, x, (*x.shape[:axis], *x.shape[axis + 1 :]))


def unsqueeze(m: Machine, x: Any, dim: Any) -> Tensor:
    x = tensor_of(m, x)
    axis = wrap_axis(dim, len(x.shape) + 1)
    return reshaped(m, x, (*x.shape[:axis], 1, *x.shape[axis:]))
