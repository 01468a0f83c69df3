"""Addresses of one thread that need a register of their own.

An access may have a constant added to its address: where the addresses of a thread's accesses are a constant apart, as
along a row, one register serves them all. Along a dimension that is multiplied by an argument of the kernel, or that
was read or divided, each has its own.
"""

from __future__ import annotations

from math import prod

from tritonlint.compiler.graph import GOp, GValue
from tritonlint.compiler.layout_properties import distinct_by_dim
from tritonlint.compiler.ops import LOOPS
from tritonlint.compiler.register_lives import access_of

ACCESSES = frozenset(
    {"tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas", "ttg.async_copy_global_to_local"}
)
_SAME, _STEPS, _ANY = range(3)  # along a dimension: one value, in steps that are constants, or neither
_SUMS = frozenset({"tt.addptr", "arith.addi", "arith.subi"})
_PRODUCTS = frozenset({"arith.muli", "arith.shli"})
_AS_BEFORE = frozenset({"arith.extsi", "arith.extui", "tt.bitcast", "ttg.convert_layout"})

Steps = tuple[int, ...]


def apart_of(pointers: GValue, memo: dict[GValue, Steps]) -> int:
    """Addresses of one thread, of a tensor of pointers or indices, that are no constant from another one."""
    counts = distinct_by_dim(pointers.encoding, pointers.shape)
    own = prod(count for count, along in zip(counts, _steps(pointers, memo), strict=True) if along == _ANY)
    return min(own, max(1, prod(counts) // access_of(pointers)))


def _steps(value: GValue, memo: dict[GValue, Steps]) -> Steps:
    """How a tensor goes on along each dimension."""
    found = memo.get(value)
    if found is None:
        memo[value] = (_ANY,) * len(value.shape)  # of what goes round in a loop
        found = memo[value] = _found_steps(value, memo)
    return found


def _found_steps(value: GValue, memo: dict[GValue, Steps]) -> Steps:
    op = value.op
    rank = len(value.shape)
    if op is None:
        first = _first_of(value)
        return _steps(first, memo) if first is not None else (_ANY,) * rank
    if op.name in ("arith.constant", "tt.splat"):
        return (_SAME,) * rank
    if op.name == "tt.make_range":
        return (_STEPS,)
    tensors = [operand for operand in op.operands if operand.is_tensor]
    if op.name == "tt.expand_dims":
        before = _steps(tensors[0], memo)
        axis = op.attrs["axis"]
        return (*before[:axis], _SAME, *before[axis:])
    if op.name == "tt.broadcast":
        before = _steps(tensors[0], memo)
        return tuple(
            _SAME if size == 1 else along for size, along in zip(tensors[0].shape, before, strict=True)
        )
    if any(operand.shape != value.shape for operand in tensors) or not tensors:
        return (_ANY,) * rank
    each = [_steps(operand, memo) for operand in tensors]
    if op.name in _AS_BEFORE:
        return each[0]
    if op.name in _SUMS or (op.name in _PRODUCTS and any(map(is_constant, tensors))):
        return tuple(max(along) for along in zip(*each, strict=True))
    return tuple(_ANY if any(along) else _SAME for along in zip(*each, strict=True))


def is_constant(value: GValue) -> bool:
    """Whether all elements are one constant."""
    op: GOp | None = value.op
    while op is not None and op.name in ("tt.splat", "tt.broadcast", "tt.expand_dims"):
        op = op.operands[0].op
    return op is not None and op.name == "arith.constant"


def _first_of(value: GValue) -> GValue | None:
    """What a value that a loop carries is at first."""
    block = value.block
    loop = block.parent if block is not None else None
    if block is None or loop is None or loop.name not in LOOPS:
        return None
    number = block.args.index(value) - (1 if loop.name == "scf.for" else 0)
    start = 3 if loop.name == "scf.for" else 0
    return loop.operands[start + number] if 0 <= number < len(loop.operands) - start else None
