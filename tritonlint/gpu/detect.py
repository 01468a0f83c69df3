"""The GPUs of this machine, without importing torch and without creating a context on any of them.

NVIDIA: NVML, the library behind nvidia-smi, through ctypes. AMD: what the kernel driver lists in sysfs.
Nothing found, or anything odd on the way, gives an empty list.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tritonlint.gpu.names import TARGETS, resolve

_KFD = Path("/sys/class/kfd/kfd/topology/nodes")
_NVML = {"linux": "libnvidia-ml.so.1", "win32": "nvml.dll"}
_MOST_DEVICES = 64


def detect() -> list[str]:
    """The names of this machine's GPUs for `find_gpu`, one a device, in the driver's order: a profile, or
    the plain target where the product is not known. A GPU of an architecture that tritonlint does not know
    is left out."""
    found: list[str] = []
    with suppress(OSError, ValueError, AttributeError, ctypes.ArgumentError):
        found += [gpu for name, arch in _nvidia() if (gpu := match(name, arch))]
    with suppress(OSError, ValueError):
        found += [gpu for arch, units, memory in _amd(_KFD) if (gpu := match_amd(arch, units, memory))]
    return found


def match(name: str, arch: str) -> str | None:
    """The profile of a device by the name that its driver gives; its architecture has to agree."""
    from tritonlint.gpu.profile import find_gpu

    canonical = resolve(name)
    if canonical is not None and find_gpu(canonical).arch == arch:
        return canonical
    return arch if arch in TARGETS else None


def match_amd(arch: str, compute_units: int, memory_bytes: int) -> str | None:
    """AMD's driver gives no product name, so the product is the one with that architecture, that many units
    and the nearest memory size (within 10%)."""
    from tritonlint.gpu.profile import list_profiles

    if arch not in TARGETS:
        return None
    per_multiprocessor = 1 if arch.startswith("gfx9") else 2
    candidates = [
        (abs(gpu.dram_bytes - memory_bytes), gpu.name)
        for gpu in list_profiles(targets=False)
        if gpu.arch == arch
        and gpu.multiprocessors == compute_units // per_multiprocessor
        and gpu.dram_bytes is not None
        and abs(gpu.dram_bytes - memory_bytes) <= gpu.dram_bytes / 10
    ]
    return min(candidates)[1] if candidates else arch


def _nvidia() -> Iterator[tuple[str, str]]:
    """(name, architecture) of each NVIDIA GPU."""
    library = _NVML.get(sys.platform)
    if library is None:
        return
    nvml = ctypes.CDLL(library)
    if nvml.nvmlInit_v2() != 0:
        return
    try:
        count = ctypes.c_uint()
        if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
            return
        for index in range(min(count.value, _MOST_DEVICES)):
            device, name = ctypes.c_void_p(), ctypes.create_string_buffer(96)
            major, minor = ctypes.c_int(), ctypes.c_int()
            failed = (
                nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device))
                or nvml.nvmlDeviceGetName(device, name, 96)
                or nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor))
            )
            if not failed:
                yield name.value.decode(errors="replace"), f"sm_{major.value}{minor.value}"
    finally:
        nvml.nvmlShutdown()


def _amd(topology: Path) -> Iterator[tuple[str, int, int]]:
    """(architecture, compute units, memory bytes) of each AMD GPU."""
    if not topology.is_dir():
        return
    nodes = sorted(topology.iterdir(), key=lambda node: int(node.name) if node.name.isdigit() else 0)
    for node in nodes[:_MOST_DEVICES]:
        properties = _properties(node / "properties")
        version, simds = properties.get("gfx_target_version", 0), properties.get("simd_count", 0)
        if not version or not simds:
            continue  # a CPU
        major, minor, step = version // 10000, version // 100 % 100, version % 100
        memory = sum(
            _properties(bank / "properties").get("size_in_bytes", 0) for bank in node.glob("mem_banks/*")
        )
        yield f"gfx{major}{minor:x}{step:x}", simds // max(1, properties.get("simd_per_cu", 4)), memory


def _properties(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in path.read_text(encoding="ascii", errors="replace").splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}
