"""Kernels, literal configs and launches of one file (the plain forms)."""

from __future__ import annotations

import ast
from typing import Any

from tritonlint.source.module import Module
from tritonlint.source.sites import (
    AutotuneSite,
    Candidate,
    Config,
    DecoratorUse,
    Grid,
    KernelSource,
    LaunchArgument,
    LaunchPlan,
    LaunchSite,
    ModuleRef,
    Parameter,
    Platform,
)
from tritonlint.source.values import DType, Known, Knowledge, Unknown

DTYPES = {
    "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float32": "fp32", "float": "fp32", "float64": "fp64",
    "double": "fp64", "int1": "i1", "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int": "i32",
    "int64": "i64", "long": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float8e4nv": "fp8e4nv", "float8_e4m3fn": "fp8e4nv", "float8e5": "fp8e5", "float8_e5m2": "fp8e5",
    "float8e4b8": "fp8e4b8", "float8_e4m3fnuz": "fp8e4b8", "float8e5b16": "fp8e5b16", "float8_e5m2fnuz": "fp8e5b16",
    "float8e4b15": "fp8e4b15",
}  # fmt: skip


class FileScope:
    """Names of one file, in the order of its statements (the last binding holds for a kernel's body)."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.bindings: dict[str, Any] = {}
        for node in module.statements:
            self.bind(node)

    def bind(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                self.bindings[name] = ModuleRef(alias.name if alias.asname else name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self.bindings[alias.asname or alias.name] = ModuleRef(f"{node.module or ''}.{alias.name}")
        elif (
            isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        ):
            self.bindings[node.targets[0].id] = self.evaluate(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            self.bindings[node.target.id] = self.evaluate(node.value)
        elif isinstance(node, ast.FunctionDef) and any(is_jit(d) for d in node.decorator_list):
            self.bindings[node.name] = kernel_of(self.module, node, self)
        elif isinstance(node, (ast.If, ast.Try)):
            for child in node.body:
                self.bind(child)

    def lookup(self, name: str) -> Any:
        return self.bindings.get(name)

    def attribute(self, base: Any, name: str) -> Any:
        if isinstance(base, ModuleRef):
            return dotted_value(f"{base.dotted}.{name}")
        return None

    def evaluate(self, node: ast.expr) -> Knowledge:
        if isinstance(node, ast.Name):
            found = self.bindings.get(node.id)
            return found if isinstance(found, Known) else Unknown(f"{node.id} is not known")
        if isinstance(node, ast.Attribute):
            found = self.dotted(node)
            return found if isinstance(found, Known) else Unknown(f"{ast.unparse(node)} is not known")
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("constexpr") and node.args:
            return self.evaluate(node.args[0])
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("next_power_of_2") and node.args:
            inner = self.evaluate(node.args[0])
            if isinstance(inner, Known) and isinstance(inner.value, int):
                return Known(1 << (inner.value - 1).bit_length())
        if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
            values = [self.evaluate(value) for value in node.values]
            if all(isinstance(value, Known) for value in values):
                return Known({k.value: v.value for k, v in zip(node.keys, values)})  # type: ignore[union-attr]
        try:
            return Known(ast.literal_eval(node))
        except (ValueError, TypeError, SyntaxError, RecursionError):
            pass
        if isinstance(node, ast.BinOp):
            left, right = self.evaluate(node.left), self.evaluate(node.right)
            if isinstance(left, Known) and isinstance(right, Known):
                try:
                    if isinstance(node.op, ast.FloorDiv):
                        return Known(left.value // right.value)
                    if isinstance(node.op, ast.Mult):
                        return Known(left.value * right.value)
                except (TypeError, ZeroDivisionError):
                    pass
        return Unknown(f"{ast.unparse(node)} is not known")

    def dotted(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self.bindings.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return self.attribute(base, node.attr)
        return None


def dotted_value(dotted: str) -> Any:
    root, _, name = dotted.rpartition(".")
    if root in ("triton.language", "torch", "tl") and name in DTYPES:
        return Known(DType(DTYPES[name]))
    return ModuleRef(dotted)


def is_jit(node: ast.expr) -> bool:
    target = node.func if isinstance(node, ast.Call) else node
    return (isinstance(target, ast.Attribute) and target.attr == "jit") or (
        isinstance(target, ast.Name) and target.id in ("jit",)
    )


def kernel_of(module: Module, node: ast.FunctionDef, scope: FileScope) -> KernelSource:
    parameters: list[Parameter] = []
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(spec.defaults)) + list(spec.defaults)
    for argument, default in zip([*positional, *spec.kwonlyargs], [*defaults, *spec.kw_defaults]):
        annotation = ast.unparse(argument.annotation) if argument.annotation else ""
        parameters.append(
            Parameter(
                argument.arg,
                annotation.strip("'\"").endswith("constexpr"),
                annotation,
                scope.evaluate(default) if default is not None else None,
                module.span(argument),
            )
        )
    return KernelSource(
        node.name,
        module.path,
        node,
        tuple(parameters),
        scope,
        module.span(node),
        tuple(module.span(decorator) for decorator in node.decorator_list),
    )


def plain_plans(module: Module, platform: Platform) -> tuple[LaunchPlan, ...]:
    scope = FileScope(module)
    kernels = {name: value for name, value in scope.bindings.items() if isinstance(value, KernelSource)}
    reached: set[str] = set()
    plans: list[LaunchPlan] = []
    for statement in module.statements:
        for node in ast.walk(statement):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Subscript)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id in kernels
            ):
                reached.add(node.func.value.id)
                plans.append(_launch_plan(module, kernels[node.func.value.id], node, scope, platform))
    for name, kernel in kernels.items():
        if name not in reached:
            plans.append(_plan(module, kernel, None, {}, {}, scope, None, platform))
    return tuple(plans)


def _launch_plan(
    module: Module, kernel: KernelSource, call: ast.Call, scope: FileScope, platform: Platform
) -> LaunchPlan:
    given: dict[str, LaunchArgument] = {}
    options: dict[str, LaunchArgument] = {}
    names = [parameter.name for parameter in kernel.parameters]
    for name, node in zip(names, call.args):
        given[name] = LaunchArgument(name, scope.evaluate(node), module.span(node), None, True)
    for keyword in call.keywords:
        value = scope.evaluate(keyword.value)
        if keyword.arg is None:
            if isinstance(value, Known) and isinstance(value.value, dict):
                for key, inner in value.value.items():
                    target = given if key in names else options
                    target[key] = LaunchArgument(key, Known(inner), module.span(keyword))
            continue
        target = given if keyword.arg in names else options
        target[keyword.arg] = LaunchArgument(keyword.arg, value, module.span(keyword))
    subscript = call.func
    assert isinstance(subscript, ast.Subscript)
    grid_node = subscript.slice
    form: Any = "tuple" if isinstance(grid_node, ast.Tuple) else "unknown"
    grid = Grid(module.span(grid_node), form, ast.unparse(grid_node))
    site = LaunchSite(module.span(call), module.span(subscript.value), grid, given, options, path=module.path)
    return _plan(module, kernel, site, given, options, scope, grid_node, platform)


def _plan(
    module: Module,
    kernel: KernelSource,
    site: LaunchSite | None,
    given: dict[str, LaunchArgument],
    options: dict[str, LaunchArgument],
    scope: FileScope,
    grid_node: ast.expr | None,
    platform: Platform,
) -> LaunchPlan:
    tuning: AutotuneSite | None = None
    uses: list[DecoratorUse] = []
    for decorator in kernel.node.decorator_list:
        text = ast.unparse(decorator)
        kind: Any = (
            "jit" if is_jit(decorator) else "autotune" if "autotune" in text.split("(")[0] else "other"
        )
        uses.append(DecoratorUse(kind, module.span(decorator), text))
        if kind == "autotune" and isinstance(decorator, ast.Call):
            tuning = _tuning(module, decorator, scope, platform)
    assumed: dict[str, Any] = {}
    first = min([kernel.node.lineno, *(d.lineno for d in kernel.node.decorator_list)])
    for assumption in module.comments.assumptions:
        if assumption.scope == "file" or assumption.span.line == first - 1:
            assumed.update(assumption.values)
    constants: dict[str, Knowledge] = {}
    types: dict[str, str] = {}
    values: dict[str, Knowledge] = {}
    for parameter in kernel.parameters:
        knowledge: Knowledge | None = parameter.default
        if parameter.name in given:
            knowledge = given[parameter.name].value
        if parameter.name in assumed and not isinstance(knowledge, Known):
            raw = assumed[parameter.name]
            if isinstance(raw, str) and not parameter.constexpr:
                types[parameter.name] = raw
                continue
            knowledge = Known(DType(raw) if isinstance(raw, str) else raw)
        if knowledge is not None:
            (constants if parameter.constexpr else values)[parameter.name] = knowledge
    stages = 3
    candidates: list[Candidate] = []
    for config in tuning.configs if tuning else (None,):
        own = dict(constants)
        if config:
            own.update({key: Known(value) for key, value in config.kwargs.items()})
        grid = None
        if isinstance(grid_node, ast.Tuple):
            grid = tuple(scope.evaluate(element) for element in grid_node.elts)
        candidates.append(
            Candidate(
                config,
                own,
                types,
                values,
                Known(config.num_warps) if config else _option(options, "num_warps", 4),
                Known(config.num_stages) if config else _option(options, "num_stages", stages),
                Known(config.num_ctas) if config else _option(options, "num_ctas", 1),
                Known(config.maxnreg) if config else _option(options, "maxnreg", None),
                {
                    name: argument.value
                    for name, argument in options.items()
                    if name not in ("num_warps", "num_stages", "num_ctas", "maxnreg")
                },
                grid,
            )
        )
    return LaunchPlan(kernel, tuple(uses), tuning, site, tuple(candidates), assumed=assumed)


def _option(options: dict[str, LaunchArgument], name: str, default: Any) -> Knowledge:
    return options[name].value if name in options else Known(default)


def _tuning(module: Module, call: ast.Call, scope: FileScope, platform: Platform) -> AutotuneSite:
    configs: list[Config] = []
    key: tuple[str, ...] | None = None
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    if call.args:
        arguments.setdefault("configs", call.args[0])
    resolved = True
    listed = arguments.get("configs")
    for node in listed.elts if isinstance(listed, ast.List) else []:
        if isinstance(node, ast.Call) and node.args:
            kwargs = scope.evaluate(node.args[0])
            options = {k.arg: scope.evaluate(k.value) for k in node.keywords if k.arg}
            known = {k: v.value for k, v in options.items() if isinstance(v, Known)}
            if isinstance(kwargs, Known):
                configs.append(
                    Config(
                        kwargs.value,
                        known.get("num_warps", 4),
                        known.get("num_stages", 3),
                        known.get("num_ctas", 1),
                        known.get("maxnreg"),
                        module.span(node),
                        given=frozenset(known),
                    )
                )
                continue
        resolved = False
    named = scope.evaluate(arguments["key"]) if "key" in arguments else None
    if isinstance(named, Known):
        key = tuple(named.value)
    return AutotuneSite(
        module.span(call), tuple(configs), resolved, None if resolved else "not literal", False, key
    )
