"""For whose GPUs a file is written, as far as it says so itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING

from tritonlint.rule import Context

if TYPE_CHECKING:
    from tritonlint.gpu.profile import Vendor

_AMD_PATH = re.compile(r"(^|[/_.-])(rocm|hip|amd|gfx\d+\w*)([/_.-]|$)")
_AMD_TEXT = re.compile(r"\b(is_hip|is_rocm|is_amd|on_gfx\w*|gfx\d{3,4}\w?|ROCm)\b|version\.hip")

# Chips that other builds of Triton compile for, by the folders in which libraries keep what is written for them.
_OTHER_CHIPS = frozenset(
    ("ascend", "npu", "cambricon", "mlu", "kunlunxin", "mthreads", "musa", "iluvatar", "corex", "metax", "maca",
     "enflame", "gcu", "tsingmicro", "hpu", "xpu", "hcu", "dcu")
)  # fmt: skip
# And the folders in which they keep what is for the GPUs of one vendor. ("cuda" is not among them: ROCm's builds of
# torch call their devices so, and use what lies there.)
_VENDORS: Mapping[str, Vendor] = {"nvidia": "nvidia", "amd": "amd", "rocm": "amd", "hip": "amd"}
_NEAR_FOLDERS = 4  # what stands higher up is where somebody keeps the project, not what the file is for


@lru_cache(maxsize=8)  # each rule asks, for each plan of a file
def for_other_chips(path: str) -> bool:
    """Whether the file lies in a folder for chips that are no GPUs of NVIDIA or AMD (`npu`, `vllm_ascend`): their
    compilers are others."""
    return any(re.split(r"[-_+]", part)[-1] in _OTHER_CHIPS for part in _near(path))


@lru_cache(maxsize=8)
def for_vendor(path: str) -> Vendor | None:
    """The vendor whose name alone a folder near the file, or the file, bears: it is not meant for GPUs of another."""
    found = {_VENDORS[part] for part in _near(path) if part in _VENDORS}
    return found.pop() if len(found) == 1 else None


def _near(path: str) -> list[str]:
    """The folders near the file, and those in which Triton and its forks keep a backend however deep the file is."""
    every = PurePath(path.replace("\\", "/")).parts
    backends = [name for folder, name in pairwise(every) if folder == "third_party"]
    parts = [*backends, *every[-_NEAR_FOLDERS - 1 :]]
    return [part.lower().removesuffix(".py").strip("_") for part in parts]


def speaks_of_amd(context: Context) -> bool:
    """Whether the file's path, or its text outside of comments, names AMD's GPUs: what only they have is then not
    for the others."""
    if _AMD_PATH.search(context.path.replace("\\", "/").lower()):
        return True
    return context.says(_AMD_TEXT)
