"""Names that a decorator or a list gives, against the kernel's parameters."""

from __future__ import annotations

import difflib

from tritonlint import fixes
from tritonlint.finding import Edit, Fix, Related
from tritonlint.rule import Context
from tritonlint.source.sites import AutotuneSite, LaunchPlan
from tritonlint_rules.support.callers import bound_again, call_at, several_kernels


def parameter_names(plan: LaunchPlan) -> list[str]:
    return [parameter.name for parameter in plan.kernel.parameters]


def near(name: str, choices: list[str]) -> str | None:
    """The one choice that the name may have meant: nearly the same letters, or the same but for case or a
    suffix."""
    squeezed = {choice: _squeeze(choice) for choice in choices}
    same = [choice for choice, short in squeezed.items() if short == _squeeze(name)]
    if len(same) == 1:
        return same[0]
    close = difflib.get_close_matches(name, choices, n=2, cutoff=0.75)
    return close[0] if len(close) == 1 else None


def _squeeze(name: str) -> str:
    return name.lower().replace("_", "").removesuffix("ptr").removeprefix("ptr")


def sure_launch(context: Context, plan: LaunchPlan) -> bool:
    """Whether what the launch gives surely meets this kernel: nothing stands between, and the launched name
    is always it."""
    launch = plan.launch
    if launch is None or any(use.kind == "other" for use in plan.decorators):
        return False
    if launch.path and launch.path != context.path:
        return True
    if plan.tuning is None and bound_again(context.source, plan.kernel.name):
        return False  # what was put around it may give more than could be read
    call = call_at(context.source, launch.span.line, launch.span.column)
    return call is None or not several_kernels(context.source, call, plan.kernel.name)


def named(plan: LaunchPlan, tuning: AutotuneSite, where: str, names: list[str]) -> tuple[Related, ...]:
    """Where the decorator names them."""
    spans = [(name, tuning.argument_spans.get(f"{where}:{name}")) for name in names]
    path = tuning.path or plan.kernel.path
    return tuple(Related(path, span, f"{name} is named here") for name, span in spans if span)


def name_fixes(
    context: Context, plan: LaunchPlan, tuning: AutotuneSite, where: str, name: str, instead: str | None
) -> tuple[Fix, ...]:
    """Takes a name out of a list of the decorator (which is what releases that ignore it do), or corrects
    it. Unsafe where the key would be left empty: the kernel is then tuned once, which its author did not want."""
    span = tuning.argument_spans.get(f"{where}:{name}")
    if span is None or (tuning.path or plan.kernel.path) != context.path:
        return ()
    found: list[Fix] = []
    if instead is not None:
        edit: Edit | None = fixes.replace_string(context.source, span, instead)
        if edit is not None:
            found.append(Fix(f"{where}: {name} -> {instead}", False, (edit,)))
    edit = fixes.remove_element(context.source, span)
    if edit is not None and instead is None:
        safe = where == "key" and any(other != name for other in tuning.key or ())
        found.append(Fix(f"{where} without {name}", safe, (edit,)))
    return tuple(found)
