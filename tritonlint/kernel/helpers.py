"""Plain Python functions that run while a kernel is compiled (`tl.constexpr_function`)."""

from __future__ import annotations

import ast
from typing import Any

from tritonlint.kernel.machine import Machine
from tritonlint.kernel.values import Opaque, Tensor, Untraceable
from tritonlint.source.sites import KernelSource

_DEPTH = 20
_STEPS = 10_000


def run_helper(
    m: Machine, helper: KernelSource, args: list[Any], kwargs: dict[str, Any], depth: int = 0
) -> Any:
    """The result of a helper on compile-time values."""
    from tritonlint.kernel.expressions import Expressions

    if depth > _DEPTH:
        raise Untraceable(f"{helper.node.name} recurses too deeply")
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            raise Untraceable(f"{helper.node.name} is given a run-time value")
        if isinstance(value, Opaque):
            raise Untraceable(value.reason)
    names = [a.arg for a in helper.node.args.args]
    env: dict[str, Any] = dict(zip(names, args, strict=False))
    env.update(kwargs)
    evaluator = Expressions(m, env, helper.scope)
    defaults = helper.node.args.defaults
    for name, default in zip(names[len(names) - len(defaults) :], defaults, strict=False):
        if name not in env:
            env[name] = evaluator.visit(default)
    done, value = _run(m, evaluator, helper.node.body)
    return value if done else None


def _run(m: Machine, e: Any, body: list[ast.stmt]) -> tuple[bool, Any]:
    for statement in body:
        m.spend()
        if isinstance(statement, ast.Return):
            return True, None if statement.value is None else e.visit(statement.value)
        if isinstance(statement, ast.If):
            test = e.known_truth(e.visit(statement.test), statement.test)
            done, value = _run(m, e, statement.body if test else statement.orelse)
            if done:
                return True, value
        elif isinstance(statement, ast.While):
            for _ in range(_STEPS):
                if not e.known_truth(e.visit(statement.test), statement.test):
                    break
                done, value = _run(m, e, statement.body)
                if done:
                    return True, value
            else:
                raise Untraceable("a loop of a compile-time function does not end")
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            e.bind(statement.targets[0], e.visit(statement.value))
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            from tritonlint.kernel.expressions import operate

            current = e.env[statement.target.id]
            e.env[statement.target.id] = operate(m, type(statement.op), current, e.visit(statement.value))
        elif isinstance(statement, (ast.Expr, ast.Assert, ast.Pass)):
            continue
        else:
            raise Untraceable(f"{type(statement).__name__} in a compile-time function")
    return False, None
