"""Hints to the compiler, and what only matters while debugging."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.graph import Val
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.values import Opaque, Refused, Tensor, Untraceable, known


def _hint(attribute: str) -> Any:
    def function(m: Machine, input: Any, values: Any) -> Any:
        if isinstance(values, Opaque):
            raise Untraceable(values.reason)
        numbers = [known(v, "a hint's value") for v in (values if isinstance(values, tuple) else (values,))]
        if isinstance(input, Opaque):
            return input
        if not isinstance(input, Tensor):
            return s.to_tensor(m, input)
        if any(not isinstance(v, int) for v in numbers):
            raise Refused("type", "the values of a hint must be integers")
        _attach(m, input.h, attribute, tuple(numbers))
        return input

    return function


def hint_first_values(m: Machine, carried: Iterable[Val], first: Iterable[Val]) -> None:
    """What a loop's body says of a carried value holds for the value before the loop too: the front end visits a
    body once with that value, only to see what it carries, and hints stay where they were put."""
    for value, before in zip(carried, first, strict=True):
        for attribute, numbers in m.argument_hints.get(id(value), (value, {}))[1].items():
            _attach(m, before, attribute, numbers)


def _attach(m: Machine, value: Val, attribute: str, values: tuple[int, ...]) -> None:
    """Put the hint on the operation that makes the value."""
    node = value.node
    if node is None:
        m.argument_hints.setdefault(id(value), (value, {}))[1][attribute] = values
        return
    if node.name == "arith.constant" or len(node.results) != 1:
        return
    node.attrs = {**node.attrs, attribute: values}


multiple_of = _hint("tt.divisibility")
max_contiguous = _hint("tt.contiguity")
max_constancy = _hint("tt.constancy")


def assume(m: Machine, cond: Any) -> None:
    condition = s.to_tensor(m, cond)
    if condition.h.const is None:
        m.b.emit("llvm.intr.assume", (condition.h,), ())


def debug_barrier(m: Machine) -> None:
    m.b.emit("gpu.barrier", (), ())


def device_print(m: Machine, prefix: Any, *args: Any, hex: Any = False, **_: Any) -> None:
    values = [s.to_tensor(m, a) for a in args if not isinstance(a, str)]
    m.b.emit("tt.print", tuple([v.h for v in values]), (), {"prefix": str(prefix)})


def device_assert(m: Machine, cond: Any, msg: Any = "", mask: Any = None) -> None:
    """Only there where the launch asks for debug."""
    if not m.options.get("debug"):
        return
    condition = s.to_tensor(m, cond)
    if mask is not None:
        condition = s.bitwise(m, "ori", condition, s.logical_not(m, s.to_tensor(m, mask)))
    m.b.emit("tt.assert", (condition.h,), (), {})


def static_assert(m: Machine, cond: Any, msg: Any = "") -> None:
    if isinstance(cond, Opaque):
        raise Untraceable(f"a static_assert on something unknown: {cond.reason}")
    if isinstance(cond, Tensor):
        raise Refused("static-assert", "the condition of static_assert is a run-time value")
    if not cond:
        text = f": {msg}" if isinstance(msg, str) and msg else ""
        raise Refused(
            "static-assert", f"static_assert failed{text}", text=msg if isinstance(msg, str) else ""
        )


def static_print(m: Machine, *_: Any, **__: Any) -> None:
    return None


def expect_zero(m: Machine, x: Any, mask: Any) -> Any:
    return x


def grid_dependency_wait(m: Machine) -> None:
    m.b.emit("tt.grid_dependency_wait", (), ())


def grid_dependency_launch_dependents(m: Machine) -> None:
    m.b.emit("tt.grid_dependency_launch_dependents", (), ())


def clock(m: Machine) -> Tensor:
    """tl.extra.cuda.globaltimer and smid: volatile inline assembly."""
    from tritonlint.kernel.graph import type_of

    node = m.b.emit(
        "tt.elementwise_inline_asm",
        (),
        (type_of("i64", None),),
        {"pure": False, "packed": 1, "asm": "globaltimer"},
    )
    return Tensor(node.results[0], d.INT64)


def smid(m: Machine) -> Tensor:
    from tritonlint.kernel.graph import type_of

    node = m.b.op(
        "tt.elementwise_inline_asm", (), type_of("i32", None), {"pure": True, "packed": 1, "asm": "smid"}
    )
    return Tensor(node, d.INT32)
