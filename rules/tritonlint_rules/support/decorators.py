"""What stands above a kernel."""

from __future__ import annotations

from tritonlint.source.sites import DecoratorUse, LaunchPlan, ModuleRef


def is_triton(plan: LaunchPlan, use: DecoratorUse) -> bool:
    """Whether a decorator is Triton's own of its kind, under whatever name."""
    called = use.text.lstrip("@").split("(", 1)[0].strip()
    first, _, rest = called.partition(".")
    meant = plan.kernel.scope.lookup(first)
    if isinstance(meant, ModuleRef):
        called = f"{meant.dotted}.{rest}" if rest else meant.dotted
        return called.startswith("triton.") and called.endswith(use.kind)
    return called == f"triton.{use.kind}"


def never_compiled(plan: LaunchPlan) -> DecoratorUse | None:
    """The decorator of Triton's own that is given a plain function, which no `jit` compiled: it raises where the module
    is imported, whatever else is to be said of the plan."""
    last = plan.decorators[-1] if plan.decorators else None
    if last is None or last.kind not in ("autotune", "heuristics") or not is_triton(plan, last):
        return None
    return None if any(use.kind == "jit" for use in plan.decorators) else last
