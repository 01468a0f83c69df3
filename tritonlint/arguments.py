"""The types of a kernel's run-time arguments, and what the launcher finds out about their values.

What is given (a comment, the launch, a job) holds. For the rest there are defaults, each listed as an
assumption: pointers are *fp16 where the kernel has a dot or names a half-precision type and *fp32 else,
aligned to 16 bytes; integers are i32 and divisible by 16; the stride of the innermost dimension is 1."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonlint.jobs import SIGNATURE_BOOLEAN
from tritonlint.kernel_uses import Uses, kernel_uses
from tritonlint.source.sites import KernelSource, LaunchSite
from tritonlint.source.values import Knowledge, Known

if TYPE_CHECKING:
    from tritonlint.kernel.trace import ArgumentSpec

# Names that kernels give to numbers with a fraction, where nothing in the kernel tells.
_FLOAT = re.compile(
    r"eps(ilon)?$|(^|_)scale$|^(sm_scale|softmax_scale|alpha|beta|lr|dropout_p|p|slope|momentum)$"
)
_LAUNCH_STRIDE = re.compile(r"(?P<tensor>[\w.\[\]()]+)\.stride\(\s*(?P<place>-?\d+)\s*\)|"
                            r"(?P<tensor2>[\w.]+)\.stride\(\s*\)\[(?P<place2>-?\d+)\]")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Arguments:
    """`specs` go to the tracer; `constants` are arguments that the launcher makes compile-time constants (1,
    None). A parameter of which not even the kind is known is in neither."""

    specs: Mapping[str, ArgumentSpec]
    constants: Mapping[str, object]
    assumptions: tuple[str, ...]
    values: Mapping[str, int]  # run-time integers that are known


def arguments_of(
    kernel: KernelSource,
    *,
    constants: Mapping[str, object],
    types: Mapping[str, str],
    values: Mapping[str, Knowledge],
    defaults: Mapping[str, str],
    divisible: frozenset[str] | None = None,
    launch: LaunchSite | None = None,
    launch_texts: Mapping[str, str] | None = None,
    unit_strides: bool = True,
) -> Arguments:
    """The run-time arguments of a launch.

    `constants` are the compile-time values: what is in there is no run-time argument. `types` and `values`
    are given; `defaults` come from the settings (name or pattern to type). `divisible` None: unknown values
    are taken to be divisible by 16. `launch_texts` holds the source of each argument at the launch.
    `unit_strides` False: no stride is taken to be 1.
    """
    uses = kernel_uses(kernel)
    specs: dict[str, ArgumentSpec] = {}
    more: dict[str, object] = {}
    known_values: dict[str, int] = {}
    assumed: list[str] = []
    units: frozenset[str] = frozenset()
    if unit_strides:
        units = _unit_strides(kernel, uses, types, values, constants, launch_texts or {})
    splat = launch is None or launch.splat_unknown
    for parameter in kernel.parameters:
        name = parameter.name
        if parameter.constexpr or name in constants:
            continue
        special = name not in kernel.do_not_specialize
        knowledge = values.get(name)
        value = knowledge.value if isinstance(knowledge, Known) else None
        if isinstance(knowledge, Known):
            if value is None:
                more[name] = None
                continue
            if isinstance(value, (bool, int, float)):
                if special and type(value) is int and value == 1:
                    more[name] = 1
                    continue
                if type(value) is int:
                    known_values[name] = value
                specs[name] = _of_value(value, types.get(name), special)
                continue
        if knowledge is None and name not in types and not splat and parameter.default is not None:
            continue  # the launch leaves it to the default of the source
        given = types.get(name)
        if given is not None:
            specs[name] = _given(name, given, divisible, special)
            continue
        if name in units:
            more[name] = 1
            assumed.append(f"{name} is 1 (innermost stride, default)")
            continue
        default, why = _default(name, uses, parameter.annotation, defaults)
        if default is None:
            continue
        specs[name] = _given(name, default, divisible, special)
        assumed.append(f"{name} is {default} ({why})")
    return Arguments(specs, more, tuple(assumed), known_values)


def arguments_of_defaults(
    kernel: KernelSource, arguments: Arguments, constants: Mapping[str, object]
) -> tuple[dict[str, ArgumentSpec], dict[str, object]]:
    """(specs, constants) with the arguments that a launch leaves to the defaults of the source, as the launcher types
    and specializes them."""
    specs, more = dict(arguments.specs), dict(arguments.constants)
    for parameter in kernel.parameters:
        name, default = parameter.name, parameter.default
        if parameter.constexpr or name in specs or name in more or name in constants:
            continue
        if not isinstance(default, Known):
            continue
        value, special = default.value, name not in kernel.do_not_specialize
        if value is None or (special and type(value) is int and value == 1):
            more[name] = value
        elif isinstance(value, (bool, int, float)):
            specs[name] = _of_value(value, None, special)
    return specs, more


def _given(name: str, text: str, divisible: frozenset[str] | None, special: bool) -> ArgumentSpec:
    from tritonlint.kernel.trace import ArgumentSpec

    text = _one_name(text)
    number = text.startswith(("*", "i", "u"))
    aligned = number and special and text != "i1" and (divisible is None or name in divisible)
    return ArgumentSpec(text, aligned)


def _one_name(text: str) -> str:
    """A type under the name that the tracer knows it by."""
    return text[:-2] + "i1" if text.endswith(SIGNATURE_BOOLEAN) else text


def _of_value(value: bool | int | float, given: str | None, special: bool) -> ArgumentSpec:
    """As the launcher types a Python number."""
    from tritonlint.kernel.trace import ArgumentSpec

    if given is not None:
        given = _one_name(given)
    if isinstance(value, bool):
        return ArgumentSpec(given or "i1")
    if isinstance(value, float):
        return ArgumentSpec(given or "fp32")
    if given is None:
        given = "i32" if -(2**31) <= value < 2**31 else "i64" if value < 2**63 else "u64"
    return ArgumentSpec(given, special and value % 16 == 0)


def _default(name: str, uses: Uses, annotation: str, defaults: Mapping[str, str]) -> tuple[str | None, str]:
    """(type, where it comes from); no type where not even the kind can be told."""
    for pattern, text in defaults.items():
        if name == pattern or fnmatch.fnmatchcase(name, pattern):
            return text.strip(), "settings"
    if name in uses.pointers:
        if name in uses.indices:
            return "*i32", "default for indices"
        if name in uses.whole:
            return "*i8", "default for sums in int32"
        return ("*fp16" if uses.has_dot or uses.half else "*fp32"), "default"
    if name in uses.descriptors:
        return None, ""
    if annotation.strip("'\"") in ("float", "tl.float32"):
        return "fp32", "default"
    if _FLOAT.search(name) or (name in uses.floats and name not in uses.integers):
        return "fp32", "default"
    return "i32", "default, divisible by 16"


def _unit_strides(
    kernel: KernelSource,
    uses: Uses,
    types: Mapping[str, str],
    values: Mapping[str, Knowledge],
    constants: Mapping[str, object],
    texts: Mapping[str, str],
) -> frozenset[str]:
    """Strides of innermost dimensions, where nothing tells their value: 1, as in every contiguous tensor. A
    pointer whose addresses hold a range that nothing multiplies has its innermost dimension already."""
    order = [parameter.name for parameter in kernel.parameters if not parameter.constexpr]
    free = {
        name
        for name in order
        if name not in types and name not in constants and not isinstance(values.get(name), Known)
    }
    found: set[str] = set()
    for pointer in uses.pointers:
        own = [name for name in order if name in uses.strides.get(pointer, ())]
        strides = [
            name for name in own if "stride" in name.lower() or _LAUNCH_STRIDE.search(texts.get(name, ""))
        ]
        if pointer in uses.last_strides:
            strides = [uses.last_strides[pointer]]
        elif pointer in uses.unit_stride or len(strides) < 2:
            continue
        if any(name not in free for name in strides):
            continue  # some are known: then so would be a 1
        found.add(max(strides, key=lambda name: (_place(texts.get(name, "")), order.index(name))))
    return frozenset(found & free)


def _place(text: str) -> int:
    """The dimension of `x.stride(1)`; counted from the end, it comes after all others."""
    match = _LAUNCH_STRIDE.search(text)
    if match is None:
        return -100
    place = int(match["place"] or match["place2"])
    return place + 100 if place < 0 else place
