"""The launch options that the compiler reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tritonlint.quick import quick


@quick
@dataclass(frozen=True, slots=True)
class Options:
    """What a launch or a config gives besides the kernel's own arguments. `extra` holds options that only one vendor
    knows (waves_per_eu, matrix_instr_nonkdim, kpack, ...), by name."""

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    maxnreg: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


NOT_MODELLED = ("num_consumer_groups", "enable_warp_specialization")
"""Options of which nothing is known but that they change the kernel."""

LAYOUT_OPTIONS = frozenset({"kpack", "matrix_instr_nonkdim", *NOT_MODELLED})
"""Those of `extra` that a kernel hangs on but for its registers."""


def but_for_registers(options: Options) -> Options:
    """The options without those that only its registers hang on: kernels that differ in these alone are the same."""
    extra = {name: value for name, value in options.extra.items() if name in LAYOUT_OPTIONS}
    return replace(options, extra=extra) if len(extra) < len(options.extra) else options
