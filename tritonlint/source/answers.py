"""What code is told when it asks about the platform: vendor, capability, versions, device properties."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tritonlint.source.shared_platform import question
from tritonlint.source.sites import Platform

_VENDOR_QUESTIONS = {
    "is_hip": "amd",
    "_is_hip": "amd",
    "is_rocm": "amd",
    "_is_rocm": "amd",
    "is_amd": "amd",
    "is_hip_": "amd",
    "on_hip": "amd",
    "is_cuda": "nvidia",
    "_is_cuda": "nvidia",
    "is_nvidia": "nvidia",
    "is_cuda_": "nvidia",
    "is_cuda_alike": "both",
    "_is_cuda_alike": "both",
    "is_xpu": "",
    "_is_xpu": "",
    "is_npu": "",
    "_is_npu": "",
    "is_cpu": "",
    "_is_cpu": "",
    "is_tpu": "",
    "is_hpu": "",
    "_is_hpu": "",
    "is_musa": "",
    "_is_musa": "",
    "is_mps": "",
    "is_neuron": "",
    "is_interpreter": "",
    "is_hip_cdna": "gfx9",
    "is_cdna": "gfx9",
    "is_hip_cdna2": "gfx90",
    "is_hip_cdna3": "gfx94",
    "is_hip_cdna4": "gfx95",
    "is_hip_rdna": "gfx1",
    "is_rdna": "gfx1",
    "is_hopper": "9",
    "is_nvidia_hopper": "9",
    "is_blackwell": "10+",
    "is_nvidia_blackwell": "10+",
}


# What torch calls devices that are neither GPUs of NVIDIA or AMD (both are "cuda") nor the CPU.
OTHER_DEVICES = ("xpu", "npu", "musa", "mps", "mlu", "hpu")


@question
def is_amd(platform: Platform) -> bool:
    return platform.arch.startswith("gfx")


@question
def capability(platform: Platform) -> tuple[int, int]:
    """torch.cuda.get_device_capability(): (9, 0); on AMD (9, 4) for gfx942."""
    digits = platform.arch.removeprefix("sm_").removeprefix("gfx")
    if is_amd(platform):
        # ROCm reports the major and minor of the target's name: gfx942 is (9, 4), gfx1100 is (11, 0).
        major = digits[:-2] or "0"
        return int(re.sub(r"\D", "", major) or 0), int(digits[-2], 16) if len(digits) >= 2 else 0
    plain = re.sub(r"\D", "", digits) or "0"
    return int(plain[:-1] or 0), int(plain[-1])


@question
def warp_size(platform: Platform) -> int:
    return 64 if platform.arch.startswith("gfx9") else 32


def predicate(platform: Platform, name: str) -> bool | None:
    """The answer to a question like is_hip(); None for names that are no such question."""
    wanted = _VENDOR_QUESTIONS.get(name)
    return None if wanted is None else _is(platform, wanted)


@question
def _is(platform: Platform, wanted: str) -> bool:
    amd = is_amd(platform)
    if wanted in ("amd", "nvidia"):
        return amd is (wanted == "amd")
    if wanted == "both":
        return True
    if not wanted:
        return False
    if wanted.startswith("gfx"):
        return platform.arch.startswith(wanted)
    major = 0 if amd else capability(platform)[0]
    return major >= 10 if wanted == "10+" else major == int(wanted)


_CAPABILITY_QUESTIONS: dict[str, Callable[[tuple[int, int], tuple[int, ...]], bool]] = {
    "has_device_capability": lambda have, wanted: have >= wanted,
    "is_device_capability": lambda have, wanted: have == wanted,
    "is_device_capability_family": lambda have, wanted: have[0] == wanted[0],
}


def capability_question(platform: Platform, name: str, values: list[Any]) -> bool | None:
    """`has_device_capability(90)` and the like, wherever they are defined; None for other names."""
    if name not in _CAPABILITY_QUESTIONS or len(values) != 1:
        return None
    wanted = values[0]
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        wanted = divmod(wanted, 10) if wanted >= 10 else (wanted, 0)
    if not isinstance(wanted, tuple) or not all(isinstance(part, int) for part in wanted):
        return None
    return _has_capability(platform, name, wanted)


@question
def _has_capability(platform: Platform, name: str, wanted: tuple[int, ...]) -> bool | None:
    if is_amd(platform):
        return None
    return _CAPABILITY_QUESTIONS[name](capability(platform), wanted)


def triton_version(platform: Platform) -> str:
    return f"{platform.triton[0]}.{platform.triton[1]}.0"


# torch releases pin their Triton: 2.1 has 2.1, 2.2 has 2.2, 2.3 has 2.3, 2.4 has 3.0, ...
_TORCH = {(2, 1): "2.1.0", (2, 2): "2.2.0", (2, 3): "2.3.0", (3, 0): "2.4.0", (3, 1): "2.5.0", (3, 2): "2.6.0",
          (3, 3): "2.7.0", (3, 4): "2.8.0", (3, 5): "2.9.0", (3, 6): "2.11.0"}  # fmt: skip


def torch_version(platform: Platform) -> str:
    return _TORCH.get(platform.triton, "2.12.0" if platform.triton > (3, 6) else "2.0.0")


# How the driver names the devices that conditions in real code ask for.
_DEVICE_NAMES = {
    "a100": "NVIDIA A100-SXM4-80GB", "a100_40gb": "NVIDIA A100-SXM4-40GB", "a800": "NVIDIA A800-SXM4-80GB",
    "h100": "NVIDIA H100 80GB HBM3", "h100_pcie": "NVIDIA H100 PCIe", "h800": "NVIDIA H800", "h200": "NVIDIA H200",
    "gh200": "NVIDIA GH200 480GB", "h20": "NVIDIA H20", "b200": "NVIDIA B200", "b300": "NVIDIA B300 SXM6 AC",
    "gb200": "NVIDIA GB200", "gb10": "NVIDIA GB10", "l4": "NVIDIA L4", "l20": "NVIDIA L20", "l40s": "NVIDIA L40S",
    "t4": "Tesla T4", "v100": "Tesla V100-SXM2-16GB", "a10": "NVIDIA A10",
    "rtx3070": "NVIDIA GeForce RTX 3070", "rtx3080": "NVIDIA GeForce RTX 3080", "rtx3090": "NVIDIA GeForce RTX 3090",
    "rtx4070": "NVIDIA GeForce RTX 4070", "rtx4090": "NVIDIA GeForce RTX 4090", "rtx5080": "NVIDIA GeForce RTX 5080",
    "rtx5090": "NVIDIA GeForce RTX 5090",
    "mi250x": "AMD Instinct MI250X", "mi300x": "AMD Instinct MI300X", "mi308x": "AMD Instinct MI308X",
    "mi325x": "AMD Instinct MI325X", "mi350x": "AMD Instinct MI350X", "mi355x": "AMD Instinct MI355X",
}  # fmt: skip


@question
def device_name(platform: Platform) -> str | None:
    """torch.cuda.get_device_name(); None for a bare target, which has no product name."""
    return _DEVICE_NAMES.get(platform.device)


# Shared memory that one program may ask for, by architecture (CUDA C++ Programming Guide, compute capabilities; LDS on
# AMD), for a Platform that does not say.
_SHARED = {
    "sm_70": 98304, "sm_75": 65536, "sm_80": 166912, "sm_86": 101376, "sm_87": 166912, "sm_89": 101376,
    "sm_90": 232448, "sm_100": 232448, "sm_103": 232448, "sm_120": 101376, "sm_121": 101376, "gfx950": 163840,
}  # fmt: skip


@question
def device_property(platform: Platform, name: str) -> Any:
    """A field of get_device_properties(), torch's or Triton's; None where it is not known."""
    if name in platform.properties:
        return platform.properties[name]
    major, minor = capability(platform)
    answers: dict[str, Any] = {
        "major": major,
        "minor": minor,
        "name": device_name(platform),
        "warpSize": warp_size(platform),
        "warp_size": warp_size(platform),
        "gcnArchName": platform.arch if is_amd(platform) else None,
        "max_shared_mem": _SHARED.get(platform.arch, 65536 if is_amd(platform) else None),
        "shared_memory_per_block": 49152 if not is_amd(platform) else 65536,
        "regs_per_multiprocessor": 65536 if not is_amd(platform) else None,
        "max_num_regs": 65536,
    }
    if name == "shared_memory_per_block_optin":
        return answers["max_shared_mem"]
    return answers.get(name)


# Names of triton.language by the release that brought them.
_SINCE = {
    "gather": (3, 2),
    "make_tensor_descriptor": (3, 4),
    "_experimental_make_tensor_descriptor": (3, 3),
    "dot_scaled": (3, 2),
    "range": (3, 0),
    "assume": (3, 2),
    "float8e4nv": (2, 1),
    "map_elementwise": (3, 5),
    "topk": (3, 4),
    "bitonic_merge": (3, 4),
}
_GONE = {"_experimental_make_tensor_descriptor": (3, 4), "_experimental_descriptor_load": (3, 4)}


def has_attribute(platform: Platform, dotted: str, name: Any) -> bool | None:
    """hasattr(triton.language, name) and the like."""
    if dotted in ("triton.language", "triton.language.core") and name in _SINCE:
        since = platform.triton >= _SINCE[name]
        return since and not (name in _GONE and platform.triton >= _GONE[name])
    if dotted in ("triton.language", "triton.language.core") and name in _GONE:
        return platform.triton < _GONE[name]
    if dotted == "triton" and name == "set_allocator":
        return platform.triton >= (3, 3)
    if dotted == "triton.tools.tensor_descriptor":
        return platform.triton >= (3, 4)
    if dotted == "torch" and name in OTHER_DEVICES:
        return name in ("xpu", "mps")  # these namespaces are there in every build
    return None


# Modules that only newer releases have, for `try: import ... except ImportError`.
_MODULES_SINCE = {
    "triton.tools.tensor_descriptor": (3, 3),
    "triton.experimental.gluon": (3, 4),
    "triton.experimental": (3, 4),
}


def module_exists(platform: Platform, dotted: str) -> bool | None:
    """Whether `import dotted` works; None where it is not known."""
    for name, since in _MODULES_SINCE.items():
        if dotted == name or dotted.startswith(name + "."):
            return platform.triton >= since
    top = dotted.split(".")[0]
    if top in (
        "torch_npu",
        "torch_musa",
        "torch_mlu",
        "habana_frameworks",
        "intel_extension_for_pytorch",
        "torch_xla",
    ):
        return False
    return True if top in ("torch", "triton") else None
