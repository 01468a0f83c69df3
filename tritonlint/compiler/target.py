"""The target that code is compiled for: vendor and architecture."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@lru_cache(maxsize=256)
def _capability(arch: str) -> int:
    return int(re.sub(r"\D", "", arch)) if arch.startswith("sm_") else 0


@dataclass(frozen=True, slots=True)
class Target:
    """`arch` is "sm_90" or "gfx942"."""

    arch: str

    @property
    def is_nvidia(self) -> bool:
        return self.arch.startswith("sm_")

    @property
    def is_amd(self) -> bool:
        return self.arch.startswith("gfx")

    @property
    def capability(self) -> int:
        """NVIDIA compute capability as Triton writes it (90 for 9.0); 0 on AMD."""
        return _capability(self.arch)

    @property
    def warp_size(self) -> int:
        """Lanes of a warp: 64 on AMD's gfx9 (CDNA), else 32."""
        return 64 if self.arch.startswith("gfx9") else 32

    @property
    def backend(self) -> str:
        return "cuda" if self.is_nvidia else "hip"
