"""Calls: arguments, functions, classes, and everything else that can be called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tritonlint.source import symbolic
from tritonlint.source.environment import Frame
from tritonlint.source.guards import ANYWHERE, NO_GUARDS, Choice, Guards, choose, narrow
from tritonlint.source.kernels import Decorator, Kernel, LaunchProxy
from tritonlint.source.nodes import children
from tritonlint.source.objects import (
    MISSING,
    Class,
    Dict,
    EnumMember,
    External,
    Function,
    Instance,
    List,
    Method,
    Native,
    Origin,
    OutOfBudget,
    Partial,
    Raised,
    Symbol,
    Tensor,
    TypeValue,
)

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Arguments, Interpreter


HELPER_STEPS = 800  # of a helper in another file, while launches are looked for
OWN_HELPER_STEPS = 2000  # of one in the same file: it may launch


def builtin(interp: Interpreter, name: str) -> Any:
    """A name that nothing in the file binds."""
    from tritonlint.source.builtin_calls import BUILTINS

    found = BUILTINS.get(name)
    if found is not None:
        return found
    if name in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[name]
    if name == "__name__":
        return interp.symbol(("builtin", name), "__name__ depends on who imports the file", kind="str")
    if name == "__file__":
        return interp.module.path
    return interp.symbol(("name", name), f"{name} is not defined in the file")


def evaluate_call(interp: Interpreter, node: ast.Call, frame: Frame) -> Any:
    if isinstance(node.func, ast.Name) and node.func.id in ("super", "locals", "globals", "vars"):
        if node.func.id == "super" and frame.lookup("super") is MISSING:
            return _super(interp, frame)
        if node.func.id == "locals" and not node.args:
            return Dict(frame.env)
    if isinstance(node.func, ast.Attribute):
        from tritonlint.source.expressions import member

        interp.steps -= 1
        function = narrow(member(interp, node.func, frame), interp.path)
    else:
        function = interp.evaluate(node.func, frame)
    arguments = read_arguments(interp, node, frame)
    if interp.hooks.files:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in interp.hooks and node not in frame.decorators:
            return interp.hooks.result(interp, name, arguments)
    try:
        result = call(interp, function, arguments, frame)
    except Raised:
        decided = _predicate(interp, node)
        if decided is None:
            raise
        return decided
    if isinstance(result, (Symbol, Choice)):
        decided = _predicate(interp, node)
        if decided is not None:
            return decided
    return result


def _predicate(interp: Interpreter, node: ast.Call) -> bool | None:
    """`anything.is_hip()`: what the name of a question about the platform says, where reading the code did not tell."""
    from tritonlint.source.answers import predicate

    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return predicate(interp.platform, name) if not node.args and not node.keywords else None


def read_arguments(interp: Interpreter, node: ast.Call, frame: Frame) -> Arguments:
    from tritonlint.source.access import iterate
    from tritonlint.source.interpreter import Arguments

    result = Arguments([], {}, node)
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = interp.evaluate(argument.value, frame)
            items = iterate(interp, value)
            if items is None:
                result.incomplete = result.open_ended = True
            if items is None or result.open_ended:
                result.unplaced.append(value)
                continue
            result.positional.extend(items)
            result.positional_nodes.extend([argument] * len(items))
            continue
        value = _argument(interp, argument, frame)
        if result.open_ended:
            result.unplaced.append(value)
        else:
            result.positional.append(value)
            result.positional_nodes.append(argument)
    module = frame.environment.module
    for keyword in node.keywords:
        value = _argument(interp, keyword.value, frame)
        if keyword.arg is not None:
            result.keywords[keyword.arg] = value
            result.keyword_origins[keyword.arg] = Origin(module.path, module.span(keyword.value))
            continue
        _splat(result, value, Origin(module.path, module.span(keyword.value)))
    return result


def _argument(interp: Interpreter, node: ast.expr, frame: Frame) -> Any:
    """One argument. In a function that launches, one that raises is unknown and does not hide the launch."""
    if not frame.lenient or frame.trying:
        return interp.evaluate(node, frame)
    try:
        return interp.evaluate(node, frame)
    except Raised:
        return interp.symbol(("failed", id(node)), f"{ast.unparse(node)[:40]} could not be evaluated")


def _splat(result: Arguments, value: Any, origin: Origin) -> None:
    if isinstance(value, Dict):
        worlds: list[tuple[Guards, Dict]] = [(NO_GUARDS, value)]
    elif isinstance(value, Choice):
        worlds = [(guards, one) for guards, one in value.alternatives if isinstance(one, Dict)]
        if len(worlds) != len(value.alternatives):
            result.incomplete = True
            result.unplaced.append(value)
    else:
        result.incomplete = True
        result.unplaced.append(value)
        return
    for key in {key: None for _, one in worlds for key in one}:
        if not isinstance(key, str):
            result.incomplete = True
            result.unplaced.append(value)
            continue
        found = choose([(guards, one.get(key, MISSING)) for guards, one in worlds])
        result.keywords[key] = found
        result.keyword_origins[key] = next(
            (one.origins[key] for _, one in worlds if key in one.origins), origin
        )


def call(interp: Interpreter, function: Any, arguments: Arguments, frame: Frame | None = None) -> Any:
    """function(*arguments), for any value."""
    if isinstance(function, Choice):
        return _call_each(interp, function, arguments, frame)
    if isinstance(function, Function):
        return call_function(interp, function, arguments)
    if isinstance(function, LaunchProxy):
        from tritonlint.source.launches import record

        return record(interp, function, arguments, frame)
    if isinstance(function, Native):
        return function.call(arguments.positional, without_missing(arguments.keywords))
    if isinstance(function, Method):
        from tritonlint.source.methods import call_method

        return call_method(interp, function, arguments)
    if isinstance(function, External):
        from tritonlint.source.externals import call_external

        return call_external(interp, function, arguments, frame)
    if isinstance(function, TypeValue):
        from tritonlint.source.builtin_calls import construct

        return construct(interp, function.name, arguments)
    if isinstance(function, Class):
        return instantiate(interp, function, arguments)
    if isinstance(function, Partial):
        return call(interp, function.function, _joined(function, arguments), frame)
    if isinstance(function, Decorator):
        from tritonlint.source.tuning import decorate

        return decorate(interp, function, arguments.positional[0] if arguments.positional else None)
    if isinstance(function, Instance) and isinstance(function.cls, Class):
        method = function.cls.find("__call__")
        if isinstance(method, Function):
            return call_function(interp, _bound(method, function), arguments)
        if any(name.startswith("torch.nn") for name in function.cls.external_bases()):
            method = function.cls.find("forward")
            if isinstance(method, Function):
                return call_function(interp, _bound(method, function), arguments)
    if isinstance(function, (Symbol, Tensor)) or function is None or isinstance(function, (Instance, Kernel)):
        return interp.symbol(
            call_key(symbolic.key_of(function), arguments), _call_reason(function, arguments)
        )
    raise Raised("TypeError", "a value that cannot be called")


def call_key(function: Any, arguments: Arguments) -> symbolic.Key:
    """What a call returns, or what else hangs on all of its arguments; `function` is the key of what is called."""
    return symbolic.grow(
        "call",
        function,
        *(symbolic.key_of(value) for value in arguments.positional),
        *((name, symbolic.key_of(value)) for name, value in arguments.keywords.items()),
        *(("unplaced", symbolic.key_of(value)) for value in arguments.unplaced),
    )


def _call_reason(function: Any, arguments: Arguments) -> str:
    if arguments.node is not None:
        text = ast.unparse(arguments.node.func)
        return f"what {text if len(text) < 60 else text[:57] + '...'}() returns is not known"
    return getattr(function, "reason", "what a call returns is not known")


def _call_each(interp: Interpreter, function: Choice, arguments: Arguments, frame: Frame | None) -> Any:
    found: list[tuple[Guards, Any]] = []
    path = interp.path
    error: Raised | None = None
    for guards, one in function.alternatives:
        here = interp.under([guards])
        if not here:
            continue
        interp.path = here
        try:
            found.append((guards, call(interp, one, arguments, frame)))
        except Raised as raised:
            error = raised.with_traceback(None)  # which would hold this very frame
        finally:
            interp.path = path
    if not found:
        raise error or Raised("TypeError", "nothing to call")
    return choose(found)


def without_missing(keywords: dict[str, Any]) -> dict[str, Any]:
    from tritonlint.source.access import without_missing as present

    return {name: present(value) for name, value in keywords.items()}


def _joined(partial: Partial, arguments: Arguments) -> Arguments:
    from tritonlint.source.interpreter import Arguments as New

    return New(
        [*partial.arguments, *arguments.positional],
        {**partial.keywords, **arguments.keywords},
        arguments.node,
        [*([None] * len(partial.arguments)), *arguments.positional_nodes],
        {**partial.keyword_origins, **arguments.keyword_origins},
        arguments.incomplete,
        arguments.open_ended,
        arguments.unplaced,
    )


def _bound(method: Function, receiver: Any) -> Function:
    return Function(
        method.name, method.node, method.environment, method.closure, method.owner, receiver, method.kind
    )


def _super(interp: Interpreter, frame: Frame) -> Any:
    """`super()`: the instance, seen as its base class."""
    inner: Frame | None = frame
    while inner is not None and (inner.function is None or inner.function.owner is None):
        inner = inner.parent
    if inner is None or inner.function is None or inner.function.owner is None:
        return interp.symbol(("super",), "super() is not known")
    owner = inner.function.owner
    receiver = inner.function.bound
    return Super(receiver, owner)


class Super(Instance):
    """`super()`."""

    __slots__ = ("owner",)

    def __init__(self, receiver: Any, owner: Class) -> None:
        super().__init__(Class("super", owner.node, owner.environment, owner.bases))
        self.owner = owner
        self.attributes = {}
        for name in ("__init__",):
            found = self.cls.find(name)
            if isinstance(found, Function):
                self.attributes[name] = _bound(found, receiver)
            else:
                self.attributes[name] = Native(
                    name, lambda args, kwargs: _external_init(receiver, args, kwargs)
                )
        for base in owner.bases:
            if isinstance(base, Class):
                for key, value in base.attributes.items():
                    if isinstance(value, Function) and key not in self.attributes:
                        self.attributes[key] = _bound(value, receiver)


def _external_init(receiver: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """A base class that is not read gets these arguments; a tuner's are looked at later."""
    if isinstance(receiver, Instance):
        receiver.attributes["__base_arguments__"] = (tuple(args), dict(kwargs))


# -- functions


def call_function(interp: Interpreter, function: Function, arguments: Arguments) -> Any:
    """Runs a function of a file that was read, with unknown values where there are any."""
    from tritonlint.source.interpreter import MAX_DEPTH

    key = _memo_key(interp, function, arguments)
    known = interp.remembered(key) if key is not None else MISSING
    if known is not MISSING:
        return known
    if interp.depth >= MAX_DEPTH:
        return interp.symbol(("deep", id(function.node)), f"{function.name} calls itself too deeply")
    if interp.launches is not None:
        interp.ran.add(id(function.node))
        return _limited(interp, function, arguments)
    if key is None:
        return _run(interp, function, arguments)
    return interp.once(key, lambda: _run(interp, function, arguments), _is_scalar)


def _limited(interp: Interpreter, function: Function, arguments: Arguments) -> Any:
    """While launches are looked for, a helper may cost only so much: its answer is then unknown."""
    allowed = min(interp.steps, OWN_HELPER_STEPS if _is_own(interp, function) else HELPER_STEPS)
    kept = interp.steps - allowed
    interp.steps = allowed
    depth, path = interp.depth, interp.path
    try:
        return _run(interp, function, arguments)
    except OutOfBudget:
        if kept <= 0:
            raise
        interp.depth, interp.path = depth, path
        return interp.symbol(
            call_key(("function", id(function.node)), arguments),
            f"{function.name}() takes too long to evaluate",
        )
    finally:
        interp.steps = kept + max(interp.steps, 0)


def _is_own(interp: Interpreter, function: Function) -> bool:
    return function.environment is interp.main


def _run(interp: Interpreter, function: Function, arguments: Arguments) -> Any:
    interp.depth += 1
    path = interp.path
    frame = Frame(function.environment, function.closure, function.name)
    frame.function = function
    try:
        frame.env.update(bind(interp, function, arguments))
        if isinstance(function.node, ast.Lambda):
            return interp.evaluate(function.node.body, frame)
        generator = _is_generator(function.node)
        if generator:
            frame.yields = List()
        try:
            status = interp.execute(function.node.body, frame)
        except Raised:
            # The path that is left at the end raises; those that returned before stand.
            if not frame.returns:
                raise
            status = "raise"
        if generator and frame.yields is None:
            own = ("yielded", id(function.node), id(function.closure), id(function.bound), interp.depth)
            return interp.symbol(call_key(own, arguments), f"what {function.name} yields is not known")
        return frame.yields if generator else _returned(frame, status, interp, path)
    except RecursionError:
        raise OutOfBudget from None
    finally:
        interp.depth -= 1
        interp.path = path


def _returned(frame: Frame, status: str, interp: Interpreter, path: Any) -> Any:
    returns = list(frame.returns)
    if status == "next":
        returns.append((interp.path, None))
    if not returns:
        raise Raised("Exception", f"{frame.name} always raises")
    if len(returns) == 1:
        return returns[0][1]
    outer = path[0] if len(path) == 1 else NO_GUARDS
    return choose([(guards - outer, value) for here, value in returns for guards in here])


def _memo_key(interp: Interpreter, function: Function, arguments: Arguments) -> Any:
    """Calls with plain arguments give the same answer each time, unless they launch something or see outer locals."""
    if function.closure is not None or interp.launches is not None or interp.path is not ANYWHERE:
        return None
    if function.bound is not None or isinstance(function.node, ast.Lambda):
        return None
    values = (*arguments.positional, *arguments.keywords.values())
    if not all(_is_scalar(value) for value in values):
        return None
    kinds = tuple((type(value).__name__, value) for value in arguments.positional)
    named = tuple((name, type(value).__name__, value) for name, value in arguments.keywords.items())
    return (id(function.node), function.environment.now, kinds, named)


def _is_scalar(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_scalar(one) for one in value)
    return value is None or isinstance(value, (int, float, str, bool))


def _is_generator(node: ast.AST) -> bool:
    found = getattr(node, "_yields", None)
    if found is None:
        found = _has_yield(node)
        node._yields = found  # type: ignore[attr-defined]
    return bool(found)


def _has_yield(node: ast.AST) -> bool:
    for child in children(node):
        if isinstance(child, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(
            child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
        ) and _has_yield(child):
            return True
    return False


def bind(interp: Interpreter, function: Function, arguments: Arguments) -> dict[str, Any]:
    """Parameters to values. A parameter that an unknown splat may give is unknown."""
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    given = list(arguments.positional)
    if function.bound is not None and function.kind != "static":
        given.insert(0, function.bound)
    values: dict[str, Any] = {}
    for parameter, value in zip(positional, given, strict=False):
        values[parameter.arg] = value
    if spec.vararg is not None:
        rest_of = tuple(given[len(positional) :])
        values[spec.vararg.arg] = (
            rest_of
            if not arguments.open_ended
            else interp.symbol(
                call_key(("args", id(function.node)), arguments), "further arguments come from the caller"
            )
        )
    elif len(given) > len(positional):
        raise Raised("TypeError", f"too many arguments for {function.name}")
    names = {parameter.arg for parameter in (*positional, *spec.kwonlyargs)}
    rest = Dict()
    for name, value in arguments.keywords.items():
        if name in names:
            values[name] = value
        elif spec.kwarg is not None:
            rest[name] = value
            if name in arguments.keyword_origins:
                rest.origins[name] = arguments.keyword_origins[name]
        else:
            raise Raised("TypeError", f"{function.name} has no parameter {name}")
    if spec.kwarg is not None:
        values[spec.kwarg.arg] = (
            rest
            if not arguments.incomplete
            else interp.symbol(
                call_key(("kwargs", id(function.node)), arguments), "further keywords come from the caller"
            )
        )
    defaults = [*([None] * (len(positional) - len(spec.defaults))), *spec.defaults]
    for parameter, default in zip(
        [*positional, *spec.kwonlyargs], [*defaults, *spec.kw_defaults], strict=False
    ):
        name = parameter.arg
        current = values.get(name, MISSING)
        if current is MISSING or (
            isinstance(current, Choice) and MISSING in [v for _, v in current.alternatives]
        ):
            values[name] = _default(interp, function, parameter, default, arguments, current)
    return values


def _default(
    interp: Interpreter,
    function: Function,
    parameter: ast.arg,
    default: ast.expr | None,
    arguments: Arguments,
    current: Any,
) -> Any:
    if arguments.incomplete and current is MISSING:
        return interp.symbol(
            call_key(("splat", id(parameter)), arguments),
            f"{parameter.arg} comes from a splat that is not known",
        )
    if default is None:
        if isinstance(current, Choice):
            from tritonlint.source.access import without_missing as present

            return present(current)
        raise Raised("TypeError", f"{function.name} wants {parameter.arg}")
    frame = Frame(function.environment, function.closure, function.name)
    if function.owner is not None and function.closure is None:
        frame.env.update(dict(function.owner.attributes.items()))
    value = interp.evaluate(default, frame)
    if isinstance(current, Choice):
        return choose([(guards, value if one is MISSING else one) for guards, one in current.alternatives])
    return value


# -- classes


def instantiate(interp: Interpreter, cls: Class, arguments: Arguments) -> Any:
    ancestry = cls.external_bases()
    if cls.is_enum:
        wanted = arguments.positional[0] if arguments.positional else None
        for member in cls.attributes.values():
            if isinstance(member, EnumMember) and (member is wanted or symbolic.equal(member.value, wanted)):
                return member
        if isinstance(wanted, (Symbol, Choice)):
            return interp.symbol(
                ("enum", id(cls), symbolic.key_of(wanted)), "which member it is is not known"
            )
        raise Raised("ValueError", f"{cls.name} has no such member")
    instance = Instance(cls)
    if any(name == "triton.Config" or name.endswith("autotuner.Config") for name in ancestry):
        from tritonlint.source.externals import call_external

        return call_external(interp, External("triton.Config"), arguments, None)
    init = cls.find("__init__")
    if isinstance(init, Function):
        call_function(interp, _bound(init, instance), arguments)
    elif cls.is_dataclass:
        _fill_fields(interp, cls, instance, arguments)
    if any(name.endswith(("Autotuner", "JITFunction", "Heuristics")) for name in ancestry):
        from tritonlint.source.tuning import tuner_made

        made = tuner_made(interp, cls, instance, arguments)
        if made is not None:
            return made
    return instance


def _fill_fields(interp: Interpreter, cls: Class, instance: Instance, arguments: Arguments) -> None:
    names = list(cls.fields)
    for name, value in zip(names, arguments.positional, strict=False):
        instance.attributes[name] = value
    instance.attributes.update({name: value for name, value in arguments.keywords.items() if name in names})
    for name in names:
        if name not in instance.attributes:
            default = cls.find(name)
            if isinstance(default, Instance) and default.cls == "dataclasses.field":
                if "default" in default.attributes:
                    default = default.attributes["default"]
                elif "default_factory" in default.attributes:
                    from tritonlint.source.interpreter import Arguments as New

                    default = call(interp, default.attributes["default_factory"], New([], {}))
            if default is not MISSING:
                instance.attributes[name] = default
    if any(name == "typing.NamedTuple" for name in cls.external_bases()):
        instance.attributes["__items__"] = tuple(instance.attributes.get(name) for name in names)
    after = cls.find("__post_init__")
    if isinstance(after, Function):
        from tritonlint.source.interpreter import Arguments as New

        call_function(interp, _bound(after, instance), New([], {}))
