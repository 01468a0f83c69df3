"""What a finding owes to the width of pointers whose type nobody gives."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tritonlint.kernel_uses import kernel_uses
from tritonlint.rule import Context
from tritonlint_rules.support.survey import Entry, Resource, overruns

_OF_BYTES = re.compile(r"fp8|float8|f8e[45]|e[45]m[23]|int8(?!\d)", re.IGNORECASE)
_MANY_LINES = 60  # a list in which a comment stands further above a config says nothing of it
_BYTE_TYPES = ("*fp8e5", "*i8")  # such as every target has, for sums in floating point and in integers


def untyped(entry: Entry, names: Iterable[str]) -> list[str]:
    """Those of the pointers whose type neither a comment nor the launch shows."""
    launch = entry.plan.launch
    shown = {name for name, one in (launch.arguments.items() if launch else ()) if one.tensor_type}
    return sorted(set(names) - set(entry.of.candidate.types) - shown)


def narrower_fits(context: Context, entry: Entry, resource: Resource) -> bool:
    """Whether the launch would fit if operands of no given type had one byte an element, where something says that
    they may: the kernel treats them as quantised (it scales their product), the file's code names types of one byte, or
    the comment above the config does. That they have two bytes is then no more than a default."""
    if resource == "threads":
        return False
    uses = kernel_uses(entry.plan.kernel)
    names = untyped(entry, uses.quantised)
    if uses.operands and (context.says(_OF_BYTES) or _is_for_bytes(context, entry)):
        names = untyped(entry, uses.operands)
    for text in _BYTE_TYPES if names else ():
        of = context.retry(entry.of, {}, dict.fromkeys(names, text))
        if of.taken is not None and not any(
            one.resource == resource for one in overruns(Entry(entry.gpu, entry.plan, of))
        ):
            return True
    return False


def wider_compiles(context: Context, entry: Entry) -> bool:
    """Whether the front end takes the kernel if operands of no given type are fp32, which dots of a smaller K take."""
    names = untyped(entry, kernel_uses(entry.plan.kernel).operands)
    if not names:
        return False
    trace = context.retry(entry.of, {}, dict.fromkeys(names, "*fp32")).trace
    return trace is not None and not trace.errors


def _is_for_bytes(context: Context, entry: Entry) -> bool:
    """Whether the nearest comment above the config, in its list, names a type of one byte ("good for int8")."""
    place = entry.place
    if entry.of.candidate.config is None or place.path != context.path:
        return False
    lines = context.source.splitlines()[: place.span.line - 1]
    for line in reversed(lines[-_MANY_LINES:]):
        text = line.strip()
        if text.startswith("#"):
            return _OF_BYTES.search(text) is not None
        if text.startswith(("def ", "@")) or text.endswith(("[", "]")):
            return False
    return False


def narrower_spills(context: Context, entry: Entry) -> bool:
    """Whether registers still spill for certain if every pointer of no given type is to two bytes an element."""
    uses = kernel_uses(entry.plan.kernel)
    names = untyped(entry, set(uses.pointers) - uses.indices)
    if not names:
        return True
    of = context.retry(entry.of, {}, dict.fromkeys(names, "*bf16"))
    return of.taken is not None and of.taken.spills == "certain"
