"""For whose GPUs a file is written, as far as it says so itself."""

from __future__ import annotations

import re

from tritonlint.rule import Context

_AMD_PATH = re.compile(r"(^|[/_.-])(rocm|hip|amd|gfx\d+\w*)([/_.-]|$)")
_AMD_TEXT = re.compile(r"\b(is_hip|is_rocm|is_amd|on_gfx\w*|gfx\d{3,4}\w?|ROCm)\b|version\.hip")


def speaks_of_amd(context: Context) -> bool:
    """Whether the file's path, or its text outside of comments, names AMD's GPUs: what only they have is then not
    for the others."""
    if _AMD_PATH.search(context.path.replace("\\", "/").lower()):
        return True
    return context.says(_AMD_TEXT)
