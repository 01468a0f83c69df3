"""The ranges that a `for` can go over."""

from __future__ import annotations

from typing import Any

from tritonlint.kernel.machine import Machine
from tritonlint.kernel.values import LoopRange, Refused, known

_OPTIONS = (
    "num_stages",
    "loop_unroll_factor",
    "disallow_acc_multi_buffer",
    "flatten",
    "warp_specialize",
    "disable_licm",
)

_SINCE = {
    "loop_unroll_factor": (3, 2),
    "disallow_acc_multi_buffer": (3, 3),
    "flatten": (3, 3),
    "warp_specialize": (3, 4),
    "disable_licm": (3, 5),
}
"""The release that brought an option of tl.range."""


def _range(static: bool, arguments: tuple[Any, ...], options: dict[str, Any]) -> LoopRange:
    names = ("arg1", "arg2", "step")
    values = list(arguments)
    given = dict(zip(names, values[:3], strict=False))
    given.update((k, options.pop(k)) for k in names if k in options)
    start, stop = (given["arg1"], given["arg2"]) if given.get("arg2") is not None else (0, given["arg1"])
    step = given.get("step")
    extra = dict(zip(_OPTIONS, values[3:], strict=False))
    extra.update(options)
    return LoopRange(start, stop, 1 if step is None else step, static, extra)


def python_range(m: Machine, *arguments: Any) -> LoopRange:
    return _range(False, arguments, {})


def language_range(m: Machine, *arguments: Any, **options: Any) -> LoopRange:
    for name in options:
        since = _SINCE.get(name)
        if since is not None and m.release < since:
            raise Refused(
                "unknown-option",
                f"tl.range of Triton {m.release[0]}.{m.release[1]} has no option {name}",
                option=name,
                since=f"{since[0]}.{since[1]}",
            )
    return _range(False, arguments, options)


def static_range(m: Machine, *arguments: Any, **options: Any) -> LoopRange:
    made = _range(True, arguments, options)
    for bound in (made.start, made.stop, made.step):
        known(bound, "a bound of static_range")
    return made


def loop_attributes(options: dict[str, Any]) -> dict[str, Any]:
    """The attributes of scf.for: numbers where given, flags where true."""
    attrs: dict[str, Any] = {}
    for name in ("num_stages", "loop_unroll_factor"):
        value = known(options.get(name), name)
        if value is not None:
            attrs[name] = int(value)
    for name in ("disallow_acc_multi_buffer", "flatten", "warp_specialize", "disable_licm"):
        if known(options.get(name), name):
            attrs[name] = True
    return attrs
