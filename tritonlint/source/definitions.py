"""`def`, `class` and `import`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tritonlint.source.kernels import Kernel, Layer
from tritonlint.source.nodes import walk
from tritonlint.source.objects import (
    MISSING,
    Class,
    EnumMember,
    External,
    Function,
    Instance,
    ModuleValue,
    OutOfBudget,
    Raised,
)

if TYPE_CHECKING:
    from tritonlint.source.environment import Environment, Frame
    from tritonlint.source.interpreter import Interpreter

_KIND_OF_DECORATOR = {
    "staticmethod": "static",
    "classmethod": "class",
    "property": "property",
    "cached_property": "property",
}
_KERNEL_WORDS = ("jit", "autotune", "heuristics", "triton", "tune", "kernel", "libentry")


def function(interp: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> str:
    frame.env[node.name] = make_function(interp, node, frame, None)
    return "next"


def make_function(
    interp: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame, owner: Class | None
) -> Any:
    closure = frame if frame.function is not None else frame.parent
    if closure is not None:
        interp.closures.append(closure)
    value = Function(node.name, node, frame.environment, closure, owner)
    value.decorators = tuple(node.decorator_list)
    if not node.decorator_list:
        return value
    for decorator in node.decorator_list:
        kind = _KIND_OF_DECORATOR.get(last_name(decorator))
        if kind is not None:
            value.kind = kind
    if isinstance(node, ast.AsyncFunctionDef) or not may_be_kernel(node):
        return value
    return decorated(interp, value, node, frame)


def may_be_kernel(node: ast.FunctionDef) -> bool:
    """Decorators of host functions are not evaluated: hardly any matters here, and they can be costly."""
    if any(
        word in last_name(decorator).lower() for decorator in node.decorator_list for word in _KERNEL_WORDS
    ):
        return True
    spec = node.args
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        if argument.annotation is not None and is_constexpr(argument.annotation):
            return True
    return False


def is_constexpr(annotation: ast.expr) -> bool:
    """`tl.constexpr`, `constexpr`, `"tl.constexpr"`, `tl.constexpr[int]`, and unions with it."""
    if isinstance(annotation, ast.Constant):
        return isinstance(annotation.value, str) and "constexpr" in annotation.value
    if isinstance(annotation, ast.Subscript):
        return is_constexpr(annotation.value)
    if isinstance(annotation, ast.BinOp):
        return is_constexpr(annotation.left) or is_constexpr(annotation.right)
    return last_name(annotation) == "constexpr"


def last_name(node: ast.expr) -> str:
    """`a.b.c(...)` -> "c"."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def decorated(interp: Interpreter, value: Any, node: ast.FunctionDef, frame: Frame) -> Any:
    from tritonlint.source.calls import call
    from tritonlint.source.interpreter import Arguments

    frame.decorators = tuple(node.decorator_list)
    for decorator in reversed(node.decorator_list):
        failed: Raised | OutOfBudget | None = None
        try:
            made = interp.evaluate(decorator, frame)
            result = call(interp, made, Arguments([value], {}, None))
        except (Raised, OutOfBudget) as error:
            made = result = None
            failed = error
        before = len(value.layers) if isinstance(value, Kernel) else 0
        tunes = isinstance(value, Kernel) and "autotune" in last_name(decorator)
        if isinstance(failed, OutOfBudget) and not tunes:
            raise failed
        if failed is not None and tunes:
            value = value.wrapped(_layer_that_fails(interp, decorator, frame))
        elif isinstance(result, Kernel):
            value = result
        elif isinstance(value, Kernel):
            value = value.wrapped(_layer_of(interp, decorator, frame))
        elif _names_triton_jit(decorator, made):
            value = Kernel(node.name, node, frame.environment, value.closure)
        elif isinstance(result, Function) and result is not value and result.wraps is None:
            pass  # a plain wrapper: the function under it is what matters here
        if isinstance(value, Kernel):
            value = value.placed(decorator, before)
    if isinstance(value, Kernel) and frame.environment is interp.main:
        interp.made.append(value)
    return value


def _names_triton_jit(decorator: ast.expr, made: Any) -> bool:
    """A jit decorator of a module that cannot be read, by its name."""
    if isinstance(made, External):
        return False
    return last_name(decorator) in ("jit", "triton_jit") and "triton" in ast.unparse(decorator)


def _layer_of(interp: Interpreter, decorator: ast.expr, frame: Frame) -> Layer:
    """A decorator that cannot be followed. One that is given configs is a tuner, whatever it is called."""
    text = frame.environment.module.source_of(decorator)
    if isinstance(decorator, ast.Call):
        from tritonlint.source.tuning import arguments_that_tune

        found = arguments_that_tune(interp, decorator, frame)
        if found is not None:
            arguments, nodes = found
            return Layer("autotune", decorator, frame.environment, arguments, nodes, text=text)
    return Layer("other", decorator, frame.environment, text=text)


def _layer_that_fails(interp: Interpreter, decorator: ast.expr, frame: Frame) -> Layer:
    """A tuner whose arguments raise or cost too much: there is one, with a list that nobody knows."""
    from tritonlint.source.tuning import leniently

    arguments, nodes = leniently(interp, decorator, frame)
    text = frame.environment.module.source_of(decorator)
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    try:
        meant = interp.evaluate(called, frame)
    except (Raised, OutOfBudget):
        meant = None
    own = isinstance(meant, External) and meant.dotted.startswith("triton.")
    return Layer("autotune", decorator, frame.environment, arguments, nodes, text=text, own=own)


def class_(interp: Interpreter, node: ast.ClassDef, frame: Frame) -> str:
    from tritonlint.source.environment import Frame as NewFrame

    bases = []
    for base in node.bases:
        try:
            bases.append(interp.evaluate(base, frame))
        except Raised:
            bases.append(None)
    made = Class(node.name, node, frame.environment, tuple(bases))
    interp.classes.append(made)
    ancestry = made.external_bases()
    made.is_enum = any(name.startswith("enum.") for name in ancestry)
    made.is_dataclass = any(last_name(decorator) == "dataclass" for decorator in node.decorator_list) or any(
        name in ("typing.NamedTuple", "pydantic.BaseModel") for name in ancestry
    )
    inner = NewFrame(frame.environment, frame, node.name)
    inner.function = frame.function
    fields: list[str] = [name for base in bases if isinstance(base, Class) for name in base.fields]
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            value = make_function(interp, statement, inner, made)
            if isinstance(value, Function):
                value.closure = frame if frame.function is not None else frame.parent
            inner.env[statement.name] = value
            continue
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            fields.append(statement.target.id)
        try:
            interp.execute([statement], inner)
        except Raised:
            continue
    made.attributes = inner.env
    made.fields = tuple(dict.fromkeys(fields))
    if made.is_enum:
        _make_members(made)
    frame.env[node.name] = made
    return "next"


def _make_members(made: Class) -> None:
    count = 0
    for name, value in list(made.attributes.items()):
        if isinstance(value, (Function, Class)) or name.startswith("_"):
            continue
        if isinstance(value, Instance) and value.cls == "enum.auto":
            count += 1
            value = count
        elif isinstance(value, int):
            count = value
        made.attributes[name] = EnumMember(made, name, value)


def import_(interp: Interpreter, node: ast.Import, frame: Frame) -> str:
    for alias in node.names:
        if alias.asname:
            frame.env[alias.asname] = module_value(interp, alias.name)
        else:
            top = alias.name.split(".")[0]
            frame.env[top] = module_value(interp, top)
    return "next"


def module_value(interp: Interpreter, dotted: str) -> Any:
    path = interp.project.locate(dotted)
    environment = interp.environment_of(path) if path else None
    return ModuleValue(environment) if environment is not None else External(dotted)


def import_from(interp: Interpreter, node: ast.ImportFrom, frame: Frame) -> str:
    for alias in node.names:
        if alias.name == "*":
            continue
        frame.env[alias.asname or alias.name] = imported(interp, frame.environment, node, alias.name)
    return "next"


def imported(interp: Interpreter, environment: Environment, node: ast.ImportFrom, name: str) -> Any:
    # `from anything import triton, tl` hands on the real one, whatever placeholders that module has for its absence.
    if name == "triton" and (node.level or node.module):
        return External("triton")
    if name == "tl" and (node.level or node.module):
        return External("triton.language")
    if name in ("libdevice", "tldevice") and (node.level or node.module):
        return External("triton.language.extra.libdevice")
    source = interp.import_module(environment, node)
    if source is None:
        if node.level:
            # A folder without __init__.py, or a file that is not there.
            path = interp.project.relative(
                environment.module.path, node.level, f"{node.module}.{name}" if node.module else name
            )
            inner = interp.environment_of(path) if path else None
            if inner is not None:
                return ModuleValue(inner)
            return External(f"{'.' * node.level}{node.module or ''}.{name}")
        inner_value = module_value(interp, f"{node.module}.{name}")
        if isinstance(inner_value, ModuleValue):
            return inner_value
        from tritonlint.source.externals import known

        return known(interp, f"{node.module}.{name}")
    value = source.lookup_late(name)
    if value is not MISSING:
        return value
    path = interp.project.submodule(source.module.path, name)
    inner = interp.environment_of(path) if path else None
    if inner is not None:
        return ModuleValue(inner)
    return External(f"{node.module or ''}.{name}")


def stepped_names(body: Iterable[ast.stmt]) -> list[str]:
    """Names that a loop's body changes from run to run (`x += 1`, `x = f(x)`)."""
    found: dict[str, None] = {}
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = None
            elif isinstance(node, ast.Assign):
                used = {inner.id for inner in walk(node.value) if isinstance(inner, ast.Name)}
                for target in node.targets:
                    for inner in walk(target):
                        if (
                            isinstance(inner, ast.Name)
                            and isinstance(inner.ctx, ast.Store)
                            and inner.id in used
                        ):
                            found[inner.id] = None
    return list(found)
