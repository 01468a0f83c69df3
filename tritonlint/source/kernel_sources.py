"""Kernels as the tracer gets them: parameters, and a scope that answers for every name of the body."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tritonlint.source.definitions import is_constexpr, last_name
from tritonlint.source.guards import ANYWHERE, Choice
from tritonlint.source.kernels import Kernel
from tritonlint.source.knowledge import knowledge
from tritonlint.source.objects import (
    MISSING,
    External,
    Function,
    ModuleValue,
    OutOfBudget,
    Raised,
)
from tritonlint.source.sites import KernelSource, ModuleRef, Parameter
from tritonlint.source.values import Knowledge, Known, Unknown

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Interpreter

_LOOKUP_STEPS = 20_000


class KernelScope:
    """What the names in a kernel's body stand for: the function around it, then the module, then what it imports."""

    def __init__(self, interp: Interpreter, kernel: Kernel) -> None:
        self._interp = interp
        self._kernel = kernel
        self._known: dict[str, Any] = {}

    def lookup(self, name: str) -> Any:
        """A ModuleRef, a KernelSource, a Knowledge, or None where the name is not defined."""
        if name not in self._known:
            self._known[name] = self._handed_out(lambda: self._find(name))
        return self._known[name]

    def attribute(self, base: Any, name: str) -> Any:
        """The same for `base.name`."""
        from tritonlint.source.access import attribute

        return self._handed_out(lambda: attribute(self._interp, _taken_back(base), name))

    def _find(self, name: str) -> Any:
        frame = self._kernel.closure
        value = frame.lookup(name) if frame is not None else self._kernel.environment.lookup(name)
        return value

    def _handed_out(self, find: Any) -> Any:
        interp = self._interp
        saved = interp.steps, interp.path, interp.launches
        interp.steps, interp.path, interp.launches = _LOOKUP_STEPS, ANYWHERE, None
        try:
            return handed_out(interp, find())
        except (Raised, OutOfBudget, RecursionError):
            return None
        finally:
            interp.steps, interp.path, interp.launches = saved


def handed_out(interp: Interpreter, value: Any) -> Any:
    if value is MISSING:
        return None
    if isinstance(value, External):
        return ModuleRef(value.dotted)
    if isinstance(value, ModuleValue):
        return ReadModule(value.environment.module.path, value)
    if isinstance(value, Kernel):
        return kernel_source(interp, value)
    if isinstance(value, Function):
        return constant_function(interp, value)
    if isinstance(value, Choice):
        first = [one for one in value.values if isinstance(one, (Kernel, External))]
        if first and len(first) == len(value.values):
            return handed_out(interp, first[0])
    return knowledge(interp, value)


class ReadModule(ModuleRef):
    """A module of the same package, which was read as text."""

    __slots__ = ("value",)
    value: ModuleValue

    def __init__(self, dotted: str, value: ModuleValue) -> None:
        super().__init__(dotted)
        object.__setattr__(self, "value", value)


def _taken_back(base: Any) -> Any:
    if isinstance(base, ReadModule):
        return base.value
    if isinstance(base, ModuleRef):
        return External(base.dotted)
    if isinstance(base, Known):
        return base.value
    return base


def constant_function(interp: Interpreter, function: Function) -> Any:
    """A plain Python function seen from a kernel: callable only where it is a constexpr_function; it is then source to
    inline like a jit function, with every argument constant."""
    node = function.node
    if isinstance(node, ast.FunctionDef) and any(
        last_name(one) == "constexpr_function" for one in node.decorator_list
    ):
        kernel = Kernel(function.name, node, function.environment, function.closure)
        return kernel_source(interp, kernel, "constexpr_function")
    return Unknown(f"{function.name} is a plain Python function")


def kernel_source(interp: Interpreter, kernel: Kernel, kind: Any = "jit") -> KernelSource:
    """The record of a kernel; one for each `def` and enclosing call."""

    def make() -> KernelSource:
        interp.keep.append(kernel)  # the ids in the key stay taken
        return _make(interp, kernel, kind)

    return interp.once(("kernel", id(kernel.node), id(kernel.closure)), make)


def _make(interp: Interpreter, kernel: Kernel, kind: Any) -> KernelSource:
    node, module = kernel.node, kernel.environment.module
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults: list[ast.expr | None] = [*([None] * (len(positional) - len(spec.defaults))), *spec.defaults]
    parameters: list[Parameter] = []
    for argument, default in zip(
        [*positional, *spec.kwonlyargs], [*defaults, *spec.kw_defaults], strict=False
    ):
        annotation = argument.annotation
        parameters.append(
            Parameter(
                argument.arg,
                annotation is not None and is_constexpr(annotation),
                module.source_of(annotation) if annotation is not None else "",
                _default(interp, kernel, default) if default is not None else None,
                module.span(argument),
            )
        )
    return KernelSource(
        kernel.name,
        module.path,
        node,
        tuple(parameters),
        KernelScope(interp, kernel),
        module.span(node),
        tuple(module.span(decorator) for decorator in node.decorator_list),
        kernel.noinline,
        kernel.do_not_specialize,
        kind,
    )


def _default(interp: Interpreter, kernel: Kernel, node: ast.expr) -> Knowledge:
    from tritonlint.source.environment import Frame

    frame = Frame(kernel.environment, kernel.closure, kernel.name)
    saved = interp.path, interp.launches
    interp.path, interp.launches = ANYWHERE, None
    try:
        return knowledge(interp, interp.evaluate(node, frame))
    except (Raised, OutOfBudget):
        return Unknown("the default value is not known")
    finally:
        interp.path, interp.launches = saved
