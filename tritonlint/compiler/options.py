"""The launch options that the compiler reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
