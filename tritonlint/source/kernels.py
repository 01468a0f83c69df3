"""Kernels and configs as values of the evaluator: what decorators made of a function."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tritonlint.source.objects import MISSING, List, Origin
from tritonlint.span import Span

if TYPE_CHECKING:
    from tritonlint.source.environment import Environment, Frame

OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


@dataclass(slots=True, eq=False)
class ConfigValue:
    """A triton.Config."""

    kwargs: Any
    options: dict[str, Any]  # what was written out, by name: num_warps, ..., and keywords that are not known
    origin: Origin
    argument_origins: dict[str, Origin]
    pre_hook: Any = None
    spread: Origin | None = None
    bare: bool = False  # given no dict: Triton's own raises

    def attribute(self, name: str) -> Any:
        if name == "kwargs":
            return self.kwargs
        if name == "pre_hook":
            return self.pre_hook
        if name in self.options:
            return self.options[name]
        defaults = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None}
        return defaults.get(name)

    def set(self, name: str, value: Any) -> None:
        if name == "kwargs":
            self.kwargs = value
        elif name == "pre_hook":
            self.pre_hook = value
        else:
            self.options[name] = value


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One decorator on a kernel."""

    kind: str  # "autotune", "heuristics", "other"
    node: ast.AST
    environment: Environment
    arguments: dict[str, Any] = field(default_factory=dict)  # of autotune, by keyword
    nodes: dict[str, ast.AST] = field(default_factory=dict)  # the expressions of these arguments
    values: Any = None  # of heuristics
    text: str = ""
    own: bool = False  # Triton's own autotune or heuristics, under whatever name
    bare: bool = False  # of those: given a plain function, which no `jit` compiled
    above: ast.AST | None = None  # the decorator of the `def` that put it there; None where a call did


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """A @triton.jit function with the decorators above it, the innermost first."""

    name: str
    node: ast.FunctionDef
    environment: Environment
    closure: Frame | None
    layers: tuple[Layer, ...] = ()
    noinline: bool = False
    do_not_specialize: tuple[str, ...] = ()

    @property
    def parameter_names(self) -> list[str]:
        spec = self.node.args
        return [argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]

    def wrapped(self, layer: Layer) -> Kernel:
        return replace(self, layers=(*self.layers, layer))

    def placed(self, above: ast.AST, before: int) -> Kernel:
        """With the layers after the first `before` known as what this decorator of the `def` made."""
        new = (replace(layer, above=above) for layer in self.layers[before:])
        return replace(self, layers=(*self.layers[:before], *new))

    def inner(self) -> Kernel:
        """Without the outermost decorator: `kernel.fn`."""
        return replace(self, layers=self.layers[:-1]) if self.layers else self

    def configs(self) -> Any:
        for layer in reversed(self.layers):
            if layer.kind == "autotune":
                return layer.arguments.get("configs", List())
        return MISSING


@dataclass(frozen=True, slots=True, eq=False)
class LaunchProxy:
    """`kernel[grid]`, `kernel.run`, `kernel.warmup`: what a call of it launches."""

    kernel: Kernel
    grid: Any
    grid_node: ast.AST | None
    form: str  # "subscript", "run", "warmup"


@dataclass(frozen=True, slots=True, eq=False)
class Decorator:
    """What `triton.jit(...)`, `triton.autotune(...)` and `triton.heuristics(...)` return."""

    kind: str
    node: ast.AST
    environment: Environment
    arguments: dict[str, Any]
    nodes: dict[str, ast.AST]
    own: bool = True  # of Triton itself, not of a package within another


def span_of(environment: Environment, node: ast.AST) -> Span:
    return environment.module.span(node)
