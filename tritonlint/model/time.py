"""The time of one launch on one GPU, by the roofline: which rate the operations have, and what the waves
cost."""

from __future__ import annotations

from dataclasses import replace

from tritonlint.gpu.profile import GpuProfile
from tritonlint.model.roofline import Roofline, roofline
from tritonlint.model.waves import Waves


def dot_rate(gpu: GpuProfile, operand: str, *, tensor_cores: bool, tf32: bool = True) -> float | None:
    """Dense operations per second of a dot whose operands have that Triton type, None where no source gives
    it.

    Without tensor cores a dot runs on the ordinary units in fp32 (fp64 in fp64). fp32 operands reach the
    tensor cores as tf32. A GPU without fp8 tensor cores gets fp16 operands: Triton converts them.
    """
    if not tensor_cores:
        return gpu.peak_flops("fp64" if operand == "fp64" else "fp32")
    if operand == "fp64":
        return gpu.peak_flops("fp64_tensor")
    if operand == "fp32":
        return gpu.peak_flops("tf32" if tf32 else "fp32")
    if operand.startswith("fp8"):
        return gpu.peak_flops("fp8") or gpu.peak_flops("fp16")
    return gpu.peak_flops(operand)


def launch_time(
    gpu: GpuProfile,
    *,
    flops: int,
    bytes_dram: int,
    peak_flops: float | None,
    waves: Waves | None = None,
) -> Roofline | None:
    """The roofline of a launch. The compute time is that of the busiest multiprocessor (`Waves.balance`);
    memory is one pool for all of them. None where a number is not known."""
    if peak_flops is None or gpu.dram_bytes_per_s is None:
        return None
    ideal = roofline(
        flops,
        bytes_dram,
        peak_flops=peak_flops,
        bytes_per_s=gpu.dram_bytes_per_s,
        launch_floor_us=gpu.launch_floor_us,
    )
    return replace(ideal, compute_ms=ideal.compute_ms / waves.balance) if waves else ideal
