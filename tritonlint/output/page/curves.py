"""How many programs each resource allows on a GPU, as tables: the page looks up in them what the occupancy
model said, so that its sweeps need no second model."""

from __future__ import annotations

from functools import cache
from typing import Any

from tritonlint.gpu.profile import GpuProfile
from tritonlint.model.occupancy import BLOCKS, REGISTERS, THREADS, occupancy, shared_bytes_for_ctas


@cache
def curves(gpu: GpuProfile) -> dict[str, Any]:
    """The tables of one GPU.

    `warps`: powers of two up to the most of a program. `threads` and `blocks`: the limit for each of them.
    `registers`: for each of them the steps of the limit, [last register count, programs], one register
    upwards; the last step ends at the most that a thread can have. `shared`: the most bytes with which 1, 2, ...
    programs fit.
    """
    warps = [1 << power for power in range(11) if (1 << power) * gpu.warp_size <= gpu.threads_per_cta_max]
    limits = [occupancy(gpu, warps=count, shared_bytes=0, registers=1).limits for count in warps]
    blocks = [limit[BLOCKS] for limit in limits]
    most = max(count for count in blocks if count is not None)
    return {
        "warps": warps,
        "threads": [limit[THREADS] for limit in limits],
        "blocks": blocks,
        "registers": [_register_steps(gpu, count) for count in warps],
        "shared": [shared_bytes_for_ctas(gpu, ctas) for ctas in range(1, most + 1)],
    }


def _register_steps(gpu: GpuProfile, warps: int) -> list[list[int]]:
    steps: list[list[int]] = []
    for registers in range(1, gpu.registers_per_thread_max + 1):
        limit = occupancy(gpu, warps=warps, shared_bytes=0, registers=registers).limits[REGISTERS] or 0
        if steps and steps[-1][1] == limit:
            steps[-1][0] = registers
        else:
            steps.append([registers, limit])
    return steps
