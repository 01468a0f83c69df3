"""triton.jit, autotune, heuristics and Config as the evaluator calls them, and what wraps or subclasses them."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tritonlint.source.guards import Choice
from tritonlint.source.kernels import ConfigValue, Decorator, Kernel, Layer
from tritonlint.source.objects import (
    MISSING,
    Class,
    Dict,
    Function,
    Instance,
    List,
    Maybe,
    Origin,
    OutOfBudget,
    Raised,
)

if TYPE_CHECKING:
    from tritonlint.source.environment import Frame
    from tritonlint.source.interpreter import Arguments, Interpreter

_AUTOTUNE_PARAMETERS = (
    "configs", "key", "prune_configs_by", "reset_to_zero", "restore_value", "pre_hook", "post_hook", "warmup", "rep",
    "use_cuda_graph", "do_bench", "cache_results",
)  # fmt: skip
_TUNER_PARAMETERS = ("fn", "arg_names", "configs", "key", "reset_to_zero", "restore_value", "pre_hook", "post_hook",
                     "prune_configs_by", "warmup", "rep", "use_cuda_graph", "do_bench", "cache_results")  # fmt: skip
_CONFIG_PARAMETERS = ("kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook", "ir_override")

_STEPS_LEFT = 200  # for the other arguments of a tuner, where one took too many


def call(interp: Interpreter, name: str, arguments: Arguments, frame: Frame | None) -> Any:
    """A call of triton.jit, autotune, heuristics, Config or Autotuner; MISSING for anything else."""
    if not name.startswith("triton.") and ".triton" not in name:
        return MISSING
    last = name.rpartition(".")[2]
    if last == "Config":
        return make_config(interp, arguments, frame, own=name.startswith("triton."))
    if last == "jit":
        return _jit(interp, arguments, frame)
    if last in ("autotune", "heuristics"):
        return _decorator(last, arguments, frame, own=name.startswith("triton."))
    if last == "constexpr_function":
        return arguments.positional[0] if arguments.positional else MISSING
    if last == "Autotuner":
        values = dict(zip(_TUNER_PARAMETERS, arguments.positional, strict=False))
        return _tuned(values.get("fn"), {**values, **arguments.keywords}, arguments.node, {}, frame)
    if last == "JITFunction" and arguments.positional:
        return _as_kernel(arguments.positional[0])
    return MISSING


def _decorator(kind: str, arguments: Arguments, frame: Frame | None, *, own: bool) -> Any:
    if arguments.node is None or frame is None:
        return MISSING
    names = _AUTOTUNE_PARAMETERS if kind == "autotune" else ("values",)
    values = dict(zip(names, arguments.positional, strict=False))
    values.update(arguments.keywords)
    nodes: dict[str, ast.AST] = {
        name: node for name, node in zip(names, arguments.positional_nodes, strict=False) if node is not None
    }
    nodes.update({keyword.arg: keyword.value for keyword in arguments.node.keywords if keyword.arg})
    return Decorator(kind, arguments.node, frame.environment, values, nodes, own)


def _jit(interp: Interpreter, arguments: Arguments, frame: Frame | None) -> Any:
    if arguments.positional:
        return _as_kernel(arguments.positional[0], arguments.keywords)
    if arguments.node is None or frame is None:
        return MISSING
    return Decorator("jit", arguments.node, frame.environment, dict(arguments.keywords), {})


def _as_kernel(value: Any, options: dict[str, Any] | None = None) -> Any:
    if isinstance(value, Kernel):
        return value
    if not isinstance(value, Function) or not isinstance(value.node, ast.FunctionDef):
        return MISSING
    options = options or {}
    names = options.get("do_not_specialize")
    listed = (
        tuple(name for name in names if isinstance(name, (str, int)))
        if isinstance(names, (list, tuple))
        else ()
    )
    spec = value.node.args
    parameters = [argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    resolved = tuple(
        name if isinstance(name, str) else parameters[name]
        for name in listed
        if isinstance(name, str) or name < len(parameters)
    )
    return Kernel(
        value.name,
        value.node,
        value.environment,
        value.closure,
        (),
        options.get("noinline") is True,
        resolved,
    )


def decorate(interp: Interpreter, decorator: Decorator, target: Any) -> Any:
    """What a decorator makes of a function or kernel."""
    if isinstance(target, Choice):
        from tritonlint.source.guards import lift

        return lift(lambda one: decorate(interp, decorator, one), target)
    if decorator.kind == "jit":
        made = _as_kernel(target, decorator.arguments)
        return made if made is not MISSING else target
    bare = not isinstance(target, Kernel)
    if bare:
        made = _as_kernel(target)
        if made is MISSING:
            raise Raised("TypeError", f"{decorator.kind} of something that is no kernel")
        # A plain function: Triton refuses it later; the order of decorators is a rule's business.
        target = made
    text = decorator.environment.module.source_of(decorator.node)
    return target.wrapped(
        Layer(
            decorator.kind,
            decorator.node,
            decorator.environment,
            decorator.arguments,
            decorator.nodes,
            decorator.arguments.get("values"),
            text,
            decorator.own,
            bare and decorator.own,
        )
    )


def make_config(interp: Interpreter, arguments: Arguments, frame: Frame | None, *, own: bool) -> Any:
    if arguments.node is None or frame is None:
        return interp.symbol(("config", id(arguments)), "a config that is built indirectly")
    values: dict[str, Any] = dict(zip(_CONFIG_PARAMETERS, arguments.positional, strict=False))
    module = frame.environment.module
    origins: dict[str, Origin] = {}
    for name, node in zip(_CONFIG_PARAMETERS, arguments.positional_nodes, strict=False):
        if node is not None:
            origins[name] = Origin(module.path, module.span(node))
    values.update(arguments.keywords)
    origins.update(arguments.keyword_origins)
    given = "kwargs" in values
    kwargs = values.pop("kwargs", None)
    if isinstance(kwargs, Dict):
        origins.update({name: place for name, place in kwargs.origins.items() if isinstance(name, str)})
        kwargs = Dict(kwargs, kwargs.origins)
    elif kwargs is None:
        if arguments.incomplete:
            kwargs = interp.symbol(
                ("config", id(arguments.node)), "the config's values come from a splat that is not known"
            )
        else:
            kwargs = Dict()
    hook = values.pop("pre_hook", None)
    origin = Origin(module.path, module.span(arguments.node))
    bare = own and not given and not arguments.incomplete and values.keys() <= set(_CONFIG_PARAMETERS)
    return ConfigValue(kwargs, values, origin, origins, hook, _spread(frame), bare)


def _spread(frame: Frame) -> Origin | None:
    """The comprehension around a config, in this function."""
    inner: Frame | None = frame
    while inner is not None:
        if inner.spread is not None:
            module = inner.environment.module
            return Origin(module.path, module.span(inner.spread))
        if inner.parent is None or inner.parent.function is not inner.function:
            return None
        inner = inner.parent
    return None


def _tuned(
    target: Any, values: dict[str, Any], node: Any, nodes: dict[str, ast.AST], frame: Frame | None
) -> Any:
    kernel = target if isinstance(target, Kernel) else _as_kernel(target)
    if not isinstance(kernel, Kernel) or frame is None or node is None:
        return MISSING
    arguments = {name: value for name, value in values.items() if name in _AUTOTUNE_PARAMETERS}
    text = frame.environment.module.source_of(node)
    return kernel.wrapped(Layer("autotune", node, frame.environment, arguments, nodes, text=text))


def tuner_made(interp: Interpreter, cls: Class, instance: Instance, arguments: Arguments) -> Any:
    """An instance of a subclass of Triton's Autotuner is a tuned kernel: with what its `__init__` handed to Triton's own
    one, else with its own arguments; None where it tunes nothing."""
    handed = instance.attributes.get("__base_arguments__")
    values: dict[str, Any] = {}
    if handed is not None:
        values = {**dict(zip(_TUNER_PARAMETERS, handed[0], strict=False)), **handed[1]}
    init = cls.find("__init__")
    if not isinstance(values.get("fn"), (Kernel, Function)):
        names = list(_TUNER_PARAMETERS)
        if isinstance(init, Function):
            spec = init.node.args
            names = [argument.arg for argument in (*spec.posonlyargs, *spec.args)][1:]
        values = {**dict(zip(names, arguments.positional, strict=False)), **arguments.keywords}
    target = values.get("fn", values.get("func", values.get("kernel")))
    if target is None and arguments.positional:
        target = arguments.positional[0]
    kernel = target if isinstance(target, Kernel) else _as_kernel(target)
    if not isinstance(kernel, Kernel) or "configs" not in values:
        return kernel if isinstance(kernel, Kernel) else None
    found = {name: value for name, value in values.items() if name in _AUTOTUNE_PARAMETERS}
    node = arguments.node if arguments.node is not None else cls.node
    return kernel.wrapped(Layer("autotune", node, cls.environment, found, {}, text=cls.name))


def arguments_that_tune(
    interp: Interpreter, decorator: ast.Call, frame: Frame
) -> tuple[dict[str, Any], dict[str, ast.AST]] | None:
    """The arguments of an unknown decorator that is given configs; None where it is given none."""
    from tritonlint.source.calls import read_arguments

    try:
        arguments = read_arguments(interp, decorator, frame)
    except Raised:
        return None
    nodes: dict[str, ast.AST] = {keyword.arg: keyword.value for keyword in decorator.keywords if keyword.arg}
    values = {name: value for name, value in arguments.keywords.items() if name in _AUTOTUNE_PARAMETERS}
    if "configs" not in values:
        for value, node in zip(arguments.positional, arguments.positional_nodes, strict=False):
            if holds_configs(value) and node is not None:
                values["configs"], nodes["configs"] = value, node
                break
    if "configs" not in values:
        return None
    called = ast.unparse(decorator.func)
    named_for_it = (
        "autotun" in called.lower()
        or called.rpartition(".")[2] in interp.hooks
        or holds_configs(values["configs"])
    )
    return (values, nodes) if named_for_it else None


def leniently(
    interp: Interpreter, decorator: ast.expr, frame: Frame
) -> tuple[dict[str, Any], dict[str, ast.AST]]:
    """The arguments of `autotune(...)`; what raises or costs too much is unknown."""
    nodes: dict[str, ast.AST] = {}
    if isinstance(decorator, ast.Call):
        nodes.update(zip(_AUTOTUNE_PARAMETERS, decorator.args, strict=False))
        nodes.update({keyword.arg: keyword.value for keyword in decorator.keywords if keyword.arg})
    values: dict[str, Any] = {}
    for name, node in nodes.items():
        try:
            values[name] = interp.evaluate(node, frame)  # type: ignore[arg-type]
        except Raised as error:
            values[name] = interp.symbol(("raises", id(node)), f"what stands there raises {error}")
        except OutOfBudget:
            interp.steps = _STEPS_LEFT
            values[name] = interp.symbol(("costs", id(node)), "they take too many steps to evaluate")
    return values, nodes


def holds_configs(value: Any) -> bool:
    if isinstance(value, Choice):
        return any(holds_configs(one) for _, one in value.alternatives)
    if not isinstance(value, (List, tuple)):
        return False
    return any(isinstance(item.value if isinstance(item, Maybe) else item, ConfigValue) for item in value)


def innermost(kernel: Kernel) -> Kernel:
    return replace(kernel, layers=())
