"""What stands above a kernel."""

from __future__ import annotations

from tritonlint.source.sites import DecoratorUse, LaunchPlan


def never_compiled(plan: LaunchPlan) -> DecoratorUse | None:
    """What of Triton's own is given a plain function, which no `jit` compiled: it raises where that is done, whatever
    else is to be said of the plan."""
    if any(use.kind == "jit" for use in plan.decorators):
        return None  # what is wrong is where that stands
    return next((use for use in plan.decorators if use.bare), None)
