"""Entry of the kernel stage: one kernel with the constants of one config becomes a trace."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import ir
from tritonlint.kernel.cleanup import clean
from tritonlint.kernel.combine import combine
from tritonlint.kernel.creation import check_shape
from tritonlint.kernel.cse import merge_equal
from tritonlint.kernel.dtypes import DType
from tritonlint.kernel.freeze import Freezer
from tritonlint.kernel.graph import Val, type_of
from tritonlint.kernel.interpreter import Interpreter, Stop, bind_arguments, caller
from tritonlint.kernel.machine import Machine, TargetLike
from tritonlint.kernel.scope import NONE, from_python, from_scope
from tritonlint.kernel.semantic import check_dtype
from tritonlint.kernel.values import Descriptor, Opaque, OutOfSteps, Refused, Tensor
from tritonlint.quick import quick
from tritonlint.source.sites import KernelSource

STEPS = 60_000  # of some 130 real kernels the largest, a sorting network, takes 3,000
_STACK = 12_000  # Python frames: a call of a jit function takes about ten


@quick
@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """What is known of one run-time argument.

    `type` is spelled as in a launch signature: "*fp16", "i32", "fp32", "tensordesc<fp16[128,64]>"; `divisible` says
    that the launcher found it divisible by 16 (a pointer: aligned). An argument that is 1 (or None) is no run-time
    argument: it belongs to the constants.
    """

    type: str
    divisible: bool = False


def trace(
    kernel: KernelSource,
    arguments: Mapping[str, ArgumentSpec],
    constants: Mapping[str, Any],
    *,
    target: TargetLike,
    release: tuple[int, int],
    options: Mapping[str, Any] | None = None,
    step_budget: int = STEPS,
) -> ir.Trace:
    """What Triton's front end makes of the kernel, after its first clean-up passes.

    `constants` holds the value of every constexpr parameter, and of every argument that the launcher specializes (1,
    None); dtypes are `source.values.DType` or `kernel.dtypes.DType`. `options` are launch options that the front end
    reads (debug). Never raises: what could not be traced is in `gaps`, what the front end refuses in `errors`.
    """
    m = Machine(target, release, step_budget, kernel.path)
    m.options.update({name: value for name, value in (options or {}).items() if name in ir.READ_OPTIONS})
    m.call = caller(m)
    limit = sys.getrecursionlimit()
    if limit < _STACK:
        sys.setrecursionlimit(_STACK)
    try:
        return _trace(m, kernel, arguments, constants)
    except Exception as error:  # the promise is to give a trace whatever the kernel looks like
        m.gap(
            kernel.node.lineno,
            kernel.name,
            f"the kernel could not be traced: {type(error).__name__}: {error}",
        )
        empty = ir.Function(kernel.name, (), ir.Block((), (ir.Op("tt.return"),)))
        return ir.Trace(empty, tuple(m.gaps.values()), tuple(m.errors), tuple(m.assumptions))
    finally:
        m.finish()
        if limit < _STACK:
            sys.setrecursionlimit(limit)


def _trace(
    m: Machine, kernel: KernelSource, arguments: Mapping[str, ArgumentSpec], constants: Mapping[str, Any]
) -> ir.Trace:
    made: list[ir.Argument] = []
    values: dict[str, Val] = {}
    env: dict[str, Any] = {}
    evaluator = Interpreter(m, env, kernel.scope, kernel.path, True, 0)
    m.b.line = kernel.node.lineno
    try:
        env.update(_parameters(m, kernel, arguments, constants, evaluator, values))
        evaluator.run(kernel.node.body)
    except Stop:
        pass
    except OutOfSteps:
        m.gap(m.b.line, kernel.name, "the step budget is used up (a large unrolled loop, or a recursion)")
    except RecursionError:
        m.gap(m.b.line, kernel.name, "it is nested too deeply")
    root = m.b.region
    while root.parent is not None:
        root = root.parent
    m.b.region = root
    m.b.emit("tt.return", (), ())
    clean(root, m.b)
    combine(root, m.b, m.release)
    merge_equal(root)
    clean(root, m.b)
    freezer = Freezer()
    body = freezer.entry(root)
    args = []
    for name, value in values.items():
        spec = arguments.get(name.split(".")[0])
        hints = m.argument_hints.get(id(value), (value, {}))[1].get("tt.divisibility", (1,))
        divisibility = max(16 if spec is not None and spec.divisible else 1, hints[0])
        frozen = freezer.value(value)
        args.append(frozen)
        made.append(ir.Argument(name, frozen, divisibility, _line_of(kernel, name)))
    function = ir.Function(kernel.name, tuple(made), ir.Block(tuple(args), body.ops), kernel.noinline)
    return ir.Trace(function, tuple(m.gaps.values()), tuple(m.errors), tuple(m.assumptions))


def _line_of(kernel: KernelSource, name: str) -> int:
    parameters = kernel.node.args
    for a in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs):
        if a.arg == name:
            return a.lineno
    return kernel.node.lineno


def _parameters(
    m: Machine,
    kernel: KernelSource,
    arguments: Mapping[str, ArgumentSpec],
    constants: Mapping[str, Any],
    evaluator: Interpreter,
    values: dict[str, Val],
) -> dict[str, Any]:
    """The names that the body starts with."""
    env: dict[str, Any] = {}
    node = kernel.node.args
    names = [a.arg for a in (*node.posonlyargs, *node.args, *node.kwonlyargs)]
    constexprs = {p.name for p in kernel.parameters if p.constexpr}
    defaults = {p.name: p.default for p in kernel.parameters if p.default is not None}
    for name in names:
        if name in constants:
            env[name] = constant_value(constants[name], name)
        elif name in arguments:
            env[name] = _argument(m, name, arguments[name].type, values)
        elif name in defaults:
            found = from_scope(defaults[name], name)
            env[name] = None if found is NONE else found
        else:
            env[name] = None
            env.pop(name)
    missing = [n for n in names if n not in env]
    if missing:
        filled = _defaults(kernel, evaluator)
        for name in missing:
            if name in filled:
                env[name] = filled[name]
                continue
            what = "the constexpr parameter" if name in constexprs else "the argument"
            m.gap(_line_of(kernel, name), name, f"{what} {name} is not known")
            env[name] = Opaque(f"{name} is not known")
    return env


def _defaults(kernel: KernelSource, evaluator: Interpreter) -> dict[str, Any]:
    """Values of parameters from the defaults in the source."""
    node = kernel.node.args
    positional = [a.arg for a in (*node.posonlyargs, *node.args)]
    pairs = list(zip(positional[len(positional) - len(node.defaults) :], node.defaults, strict=False))
    pairs.extend((a.arg, v) for a, v in zip(node.kwonlyargs, node.kw_defaults, strict=False) if v is not None)
    found = {}
    for name, expression in pairs:
        try:
            found[name] = evaluator.visit(expression)
        except Exception:
            continue
    return found


def constant_value(value: Any, name: str) -> Any:
    """A constant as the launcher gives it."""
    if isinstance(value, str) and value.startswith("tl."):
        found = d.LANGUAGE_NAMES.get(value[3:])
        if found is not None:
            return found
    found = (
        from_scope(value, name)
        if not isinstance(value, (bool, int, float, str, tuple, list, DType))
        else from_python(value, name)
    )
    return None if found is NONE else found


def _argument(m: Machine, name: str, spelled: Any, values: dict[str, Val]) -> Any:
    """A run-time argument; tuples and descriptors have several values."""
    if isinstance(spelled, (tuple, list)):
        return tuple([_argument(m, f"{name}.{i}", item, values) for i, item in enumerate(spelled)])
    if spelled.startswith("tensordesc<"):
        return _descriptor(m, name, spelled, values)
    dt = d.dtype_named(spelled)
    if dt is None:
        m.gap(m.b.line, name, f"the type {spelled} of {name} is not known")
        return Opaque(f"the type {spelled} of {name} is not known")
    try:
        check_dtype(m, dt.pointee or dt)
    except Refused as refused:
        m.error(refused, m.b.line, m.path)
        raise Stop from None
    return _value(name, dt, values)


def _value(name: str, dt: DType, values: dict[str, Val]) -> Tensor:
    value = Val(type_of(dt.element, None), name=name)
    values[name] = value
    return Tensor(value, dt)


def _descriptor(m: Machine, name: str, spelled: str, values: dict[str, Val]) -> Any:
    """A descriptor made by the launcher: one value, or pointer, sizes and strides where the target has none."""
    inner = spelled[len("tensordesc<") : -1]
    head, _, tail = inner.partition("[")
    dt = d.dtype_named(head.strip())
    sizes = tail.split("]")[0]
    try:
        block = tuple([int(part) for part in sizes.split(",") if part.strip()])
    except ValueError:
        block = ()
    if dt is None or not block:
        m.gap(m.b.line, name, f"the type {spelled} of {name} is not known")
        return Opaque(f"the type {spelled} of {name} is not known")
    try:
        check_shape(m, block)
    except Refused as refused:
        m.error(refused, m.b.line, m.path)
        raise Stop from None
    handle = None
    base = None
    if m.has_tma:
        handle = Val(type_of(f"tensordesc<{dt.element}>", block), name=name)
        values[name] = handle
    else:
        base = _value(f"{name}.base", d.pointer_to(dt), values)
    rank = range(len(block))
    wide: tuple[Tensor, ...] = ()
    if not m.has_tma:
        wide = tuple([_value(f"{name}.size.{i}", d.INT64, values) for i in rank])
        strides = tuple([_value(f"{name}.step.{i}", d.INT64, values) for i in rank])
    dims = tuple([_value(f"{name}.shape.{i}", d.INT32, values) for i in rank])
    own = tuple([_value(f"{name}.stride.{i}", d.INT64, values) for i in rank])
    return Descriptor(handle, dt, block, base, dims, own if m.has_tma else strides, wide=wide)


__all__ = ["STEPS", "ArgumentSpec", "bind_arguments", "trace"]
