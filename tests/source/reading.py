"""What the tests of this room share."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from tritonlint.source import parse_file, read, read_plans
from tritonlint.source.reading import Reading
from tritonlint.source.sites import LaunchPlan, Platform
from tritonlint.source.values import Known

H100 = Platform(
    "sm_90",
    (3, 9),
    "h100",
    {"multi_processor_count": 132, "multiprocessor_count": 132, "max_shared_mem": 232448},
)
A100 = Platform("sm_80", (3, 9), "a100", {"multi_processor_count": 108, "max_shared_mem": 166912})
MI300 = Platform("gfx942", (3, 9), "mi300x")

HEAD = """\
import torch
import triton
import triton.language as tl
"""

# A kernel to tune and launch, where the test is not about the kernel.
KERNEL = """
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
"""


def reading(code: str, platform: Platform = H100, path: str | Path = "kernels.py") -> Reading:
    return read_plans(parse_file(read(path, HEAD + textwrap.dedent(code))), platform)


def plans(code: str, platform: Platform = H100, path: str | Path = "kernels.py") -> tuple[LaunchPlan, ...]:
    return reading(code, platform, path).plans


def configs(code: str, platform: Platform = H100, path: str | Path = "kernels.py") -> list[tuple[Any, ...]]:
    """(kwargs, num_warps, num_stages) of the only tuned kernel."""
    tuned = [plan for plan in plans(code, platform, path) if plan.tuning is not None]
    assert len(tuned) == 1, [plan.kernel.name for plan in tuned]
    assert tuned[0].tuning is not None
    return [(dict(one.kwargs), one.num_warps, one.num_stages) for one in tuned[0].tuning.configs]


def tuned(decorator_and_before: str, platform: Platform = H100, path: str | Path = "kernels.py") -> Any:
    """The tuning site of `scale` under the given code, which ends in its decorator."""
    found = plans(textwrap.dedent(decorator_and_before).rstrip() + KERNEL, platform, path)
    return next(plan.tuning for plan in found if plan.kernel.name == "scale")


def values(site: Any, name: str = "BLOCK") -> list[Any]:
    return [config.kwargs[name] for config in site.configs]


def launched(code: str, platform: Platform = H100, path: str | Path = "kernels.py") -> LaunchPlan:
    """The only launch of a file that also holds `scale`."""
    found = [
        plan for plan in plans(KERNEL + textwrap.dedent(code), platform, path) if plan.launch is not None
    ]
    assert len(found) == 1, [(plan.kernel.name, plan.launch) for plan in found]
    return found[0]


def known(knowledge: Any) -> Any:
    assert isinstance(knowledge, Known), knowledge
    return knowledge.value
