"""For whose GPUs a file is written, as far as it says so itself."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePath

from tritonlint.rule import Context

_AMD_PATH = re.compile(r"(^|[/_.-])(rocm|hip|amd|gfx\d+\w*)([/_.-]|$)")
_AMD_TEXT = re.compile(r"\b(is_hip|is_rocm|is_amd|on_gfx\w*|gfx\d{3,4}\w?|ROCm)\b|version\.hip")

# Chips that other builds of Triton compile for, by the folders in which libraries keep what is written for them.
_OTHER_CHIPS = frozenset(
    ("ascend", "npu", "cambricon", "mlu", "kunlunxin", "mthreads", "musa", "iluvatar", "corex", "metax", "maca",
     "enflame", "gcu", "tsingmicro", "hpu", "xpu")
)  # fmt: skip
_NEAR_FOLDERS = 4  # what stands higher up is where somebody keeps the project, not what the file is for


@lru_cache(maxsize=8)  # each rule asks, for each plan of a file
def for_other_chips(path: str) -> bool:
    """Whether the file lies in a folder for chips that are no GPUs of NVIDIA or AMD: their compilers are others."""
    parts = PurePath(path.replace("\\", "/")).parts[-_NEAR_FOLDERS - 1 :]
    return any(part.lower().removesuffix(".py").strip("_") in _OTHER_CHIPS for part in parts)


def speaks_of_amd(context: Context) -> bool:
    """Whether the file's path, or its text outside of comments, names AMD's GPUs: what only they have is then not
    for the others."""
    if _AMD_PATH.search(context.path.replace("\\", "/").lower()):
        return True
    return context.says(_AMD_TEXT)
