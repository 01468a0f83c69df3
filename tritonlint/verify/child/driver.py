"""A Triton driver that answers from a description of the GPU: no GPU, no CUDA context."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

_NO_GPU = "there is no GPU here: tritonlint verify compiles, it does not launch"


class StandInDriver:
    """The part of triton.backends.driver that is asked while modules are imported and kernels are compiled."""

    launcher_cls = object

    def __init__(self, gpu: Mapping[str, Any]) -> None:
        self._gpu = gpu
        self.utils = _Utils(gpu)

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_target(self) -> Any:
        return target_of(self._gpu)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None: ...

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return capability(self._gpu)

    def get_active_torch_device(self) -> Any:
        return importlib.import_module("torch").device("cpu")

    def get_device_interface(self) -> Any:
        return importlib.import_module("torch").cuda

    def get_benchmarker(self) -> Callable[..., list[float]]:
        def refuse(*_: Any, **__: Any) -> list[float]:
            raise RuntimeError(_NO_GPU)

        return refuse

    def get_empty_cache_for_benchmark(self) -> None: ...

    def clear_cache(self, cache: Any) -> None: ...


class _Utils:
    def __init__(self, gpu: Mapping[str, Any]) -> None:
        self._gpu = gpu

    def get_device_properties(self, device: int = 0) -> dict[str, Any]:
        gpu = self._gpu
        return {
            "max_shared_mem": gpu["shared_bytes_per_cta"],
            "max_num_regs": gpu["registers_per_sm"],
            "multiprocessor_count": gpu["multiprocessors"],
            "warpSize": gpu["warp_size"],
            "sm_clock_rate": gpu["clock_khz"],
            "mem_clock_rate": 1_000_000,
            "mem_bus_width": 4096,
            "arch": gpu["arch"],
        }

    def load_binary(self, *_: Any) -> Any:
        raise RuntimeError(_NO_GPU)


def capability(gpu: Mapping[str, Any]) -> tuple[int, int]:
    """(9, 0) for sm_90; for AMD what torch says: (9, 4) for gfx942."""
    arch = gpu["arch"]
    number = arch[3:]
    if arch.startswith("sm_"):
        return int(number[:-1]), int(number[-1])
    return int(number[:-2]), int(number[-2], 16)


def target_of(gpu: Mapping[str, Any]) -> Any:
    """Triton's GPUTarget."""
    target = importlib.import_module("triton.backends.compiler").GPUTarget
    if gpu["arch"].startswith("sm_"):
        return target("cuda", int(gpu["arch"][3:]), 32)
    return target("hip", gpu["arch"], gpu["warp_size"])


def install(gpu: Mapping[str, Any]) -> None:
    """From here on Triton asks the stand-in."""
    importlib.import_module("triton.runtime.driver")
    config = sys.modules["triton.runtime.driver"].driver
    config.set_active(StandInDriver(gpu))
