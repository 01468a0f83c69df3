"""How many programs run on one multiprocessor at a time, and what stops one more.

NVIDIA: what `cuda_occupancy.h` of CUDA 13 computes, with the largest shared-memory split. Registers are
given to warps in units of 256 inside each of four sub-partitions; shared memory is rounded up to 128 B (256
B before 8.0) with 1 KB for the driver on top from 8.0 on. Tensor memory is not in that header: 512 columns
in a multiprocessor.

AMD: waves on a SIMD from the registers of a lane, as LLVM prints them; workgroups from waves, LDS and
barriers.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass

from tritonlint.gpu.profile import GpuProfile

THREADS = "threads"
REGISTERS = "registers"
SHARED_MEMORY = "shared memory"
BLOCKS = "blocks"
TENSOR_MEMORY = "tensor memory"

# The header lets a thread ask for 256 registers from 7.0 on; no compiler gives more than 255.
_REGISTERS_PER_THREAD_CHECKED = 256


@dataclass(frozen=True, slots=True)
class Demand:
    """What one program asks for. Registers are per thread (AMD: vector registers of a lane); None: not
    known."""

    warps: int
    shared_bytes: int
    registers: int | None
    tensor_memory_columns: int = 0


@dataclass(frozen=True, slots=True)
class Occupancy:
    """`limits`: programs per multiprocessor that each resource allows; None where it sets no limit (nothing
    of it is used, or the use is not known). `limiter` is the least; of equals the first in the alphabet."""

    gpu: GpuProfile
    demand: Demand
    ctas_per_sm: int
    limits: Mapping[str, int | None]
    limiter: str
    plain: bool = False  # the textbook's plain division

    @property
    def occupancy(self) -> float:
        """Resident warps as a share of the most that there can be."""
        return self.ctas_per_sm * self.demand.warps / self.gpu.warps_per_sm

    @property
    def steps(self) -> tuple[str, ...]:
        """The arithmetic, a line for each limit and one for the result."""
        return _plain_steps(self) if self.plain else _steps(self)


def occupancy(
    gpu: GpuProfile,
    *,
    warps: int,
    shared_bytes: int,
    registers: int | None,
    tensor_memory_columns: int = 0,
) -> Occupancy:
    """Occupancy of a launch of `warps` warps, `registers` per thread (AMD: vector registers of a lane) and
    `shared_bytes` per program. `registers` None: that limit is not known and left out.

    0 programs means that the launch cannot run; `limiter` then names why.
    """
    count_registers = _amd_registers if gpu.vendor == "amd" else _nvidia_registers
    limits: dict[str, int | None] = {
        THREADS: _threads(gpu, warps),
        REGISTERS: None if registers is None else count_registers(gpu, warps, registers),
        SHARED_MEMORY: _shared(gpu, shared_bytes),
        BLOCKS: _blocks(gpu, warps),
        TENSOR_MEMORY: _tensor_memory(gpu, tensor_memory_columns),
    }
    demand = Demand(warps, shared_bytes, registers, tensor_memory_columns)
    return Occupancy(gpu, demand, *_least(limits))


def plain_occupancy(gpu: GpuProfile, *, warps: int, shared_bytes: int, registers: int | None) -> Occupancy:
    """The textbook's limits: plain division by what a multiprocessor has, no allocation units, nothing
    reserved."""
    threads = warps * gpu.warp_size
    limits: dict[str, int | None] = {
        THREADS: _threads(gpu, warps),
        REGISTERS: _divided(gpu.registers_per_sm, (registers or 0) * threads),
        SHARED_MEMORY: _divided(gpu.shared_bytes_per_sm, shared_bytes),
        BLOCKS: gpu.ctas_per_sm,
        TENSOR_MEMORY: None,
    }
    if registers is not None and registers > gpu.registers_per_thread_max:
        limits[REGISTERS] = 0
    if shared_bytes > gpu.shared_bytes_per_cta:
        limits[SHARED_MEMORY] = 0
    return Occupancy(gpu, Demand(warps, shared_bytes, registers), *_least(limits), plain=True)


def _least(limits: Mapping[str, int | None]) -> tuple[int, Mapping[str, int | None], str]:
    ctas, limiter = least(limits)
    return ctas, limits, limiter


def least(limits: Mapping[str, int | None]) -> tuple[int, str]:
    """The smallest limit and its name; of equals, the name first in the alphabet."""
    known = [(count, name) for name, count in limits.items() if count is not None]
    return min(known) if known else (0, BLOCKS)


def allocated_shared_bytes(gpu: GpuProfile, shared_bytes: int) -> int:
    """What one program takes of the multiprocessor's shared memory: with the driver's part, rounded up."""
    return _round_up(shared_bytes + gpu.shared_bytes_reserved_per_cta, gpu.shared_allocation_unit)


def allocated_registers_per_warp(gpu: GpuProfile, registers: int) -> int:
    """NVIDIA: 32-bit registers that a warp takes."""
    return _round_up(registers * gpu.warp_size, gpu.register_allocation_unit)


def registers_for_ctas(gpu: GpuProfile, warps: int, ctas: int) -> int:
    """The most registers per thread with which `ctas` programs of `warps` warps still fit; 0 if none."""
    count = _amd_registers if gpu.vendor == "amd" else _nvidia_registers

    def too_many(registers: int) -> bool:
        fit = count(gpu, warps, registers)
        return fit is not None and fit < ctas

    # The more registers, the fewer programs.
    return bisect.bisect_left(range(1, gpu.registers_per_thread_max + 1), True, key=too_many)


def shared_bytes_for_ctas(gpu: GpuProfile, ctas: int) -> int:
    """The most shared bytes per program with which `ctas` programs still fit by shared memory; 0 if none."""
    if ctas < 1:
        return gpu.shared_bytes_per_cta
    share = gpu.shared_bytes_per_sm // ctas // gpu.shared_allocation_unit * gpu.shared_allocation_unit
    return max(0, min(share - gpu.shared_bytes_reserved_per_cta, gpu.shared_bytes_per_cta))


def next_cta(found: Occupancy, registers_range: tuple[int, int] | None = None) -> str:
    """What one more program on each multiprocessor would take, in words: "3 CTAs/SM at 80 registers or fewer; now 104
    to 122". "" where nothing of the kernel's own stands against it, or where it cannot be had."""
    gpu, demand, wanted = found.gpu, found.demand, found.ctas_per_sm + 1
    others = [count for name, count in found.limits.items() if name not in (REGISTERS, SHARED_MEMORY)]
    if found.ctas_per_sm < 1 or any(count is not None and count < wanted for count in others):
        return ""
    asked = []
    registers, shared = found.limits[REGISTERS], found.limits[SHARED_MEMORY]
    if registers is not None and registers < wanted:
        most = registers_for_ctas(gpu, demand.warps, wanted)
        if not most:
            return ""
        low, high = registers_range or (demand.registers or 0, demand.registers or 0)
        asked.append(f"{most} registers or fewer; now {low}" + (f" to {high}" if high != low else ""))
    if shared is not None and shared < wanted:
        most = shared_bytes_for_ctas(gpu, wanted)
        if not most:
            return ""
        asked.append(f"{most:,} B of shared memory or less; now {demand.shared_bytes:,} B")
    return f"{_count(gpu, wanted)} at {', and at '.join(asked)}" if asked else ""


def waves_per_simd(gpu: GpuProfile, registers: int) -> int:
    """AMD: waves that a SIMD holds with that many registers in a lane. LLVM counts at least one."""
    most = gpu.warps_per_sm // gpu.sub_partitions
    total = gpu.registers_per_sm // (gpu.sub_partitions * gpu.warp_size)
    if registers <= 0:
        return most
    return min(most, max(1, total // _round_up(registers, gpu.register_allocation_unit)))


def _threads(gpu: GpuProfile, warps: int) -> int:
    if warps < 1 or warps * gpu.warp_size > gpu.threads_per_cta_max:
        return 0
    return gpu.warps_per_sm // warps


def _nvidia_registers(gpu: GpuProfile, warps: int, registers: int) -> int | None:
    per_warp = allocated_registers_per_warp(gpu, registers)
    # The hardware checks a program as if its warps filled all sub-partitions evenly.
    assumed = per_warp * _round_up(warps, gpu.sub_partitions)
    if warps < 1 or assumed > gpu.registers_per_sm or registers > _REGISTERS_PER_THREAD_CHECKED:
        return 0
    if per_warp == 0:
        return None
    return _warps_by_registers(gpu, per_warp) // warps


def _warps_by_registers(gpu: GpuProfile, per_warp: int) -> int:
    return gpu.registers_per_sm // gpu.sub_partitions // per_warp * gpu.sub_partitions


def _amd_registers(gpu: GpuProfile, warps: int, registers: int) -> int | None:
    if registers > gpu.registers_per_thread_max or warps < 1:
        return 0
    if registers <= 0:
        return None
    return waves_per_simd(gpu, registers) * gpu.sub_partitions // warps


def _shared(gpu: GpuProfile, shared_bytes: int) -> int | None:
    if shared_bytes > gpu.shared_bytes_per_cta:
        return 0
    allocated = allocated_shared_bytes(gpu, shared_bytes)
    return gpu.shared_bytes_per_sm // allocated if allocated > 0 else None


def _blocks(gpu: GpuProfile, warps: int) -> int:
    # On AMD the limit is the barriers, and a workgroup of one wave takes none.
    return gpu.warps_per_sm if gpu.vendor == "amd" and warps == 1 else gpu.ctas_per_sm


def _tensor_memory(gpu: GpuProfile, columns: int) -> int | None:
    return gpu.tensor_memory_columns // columns if columns > 0 else None


def _divided(total: int, part: int) -> int | None:
    return total // part if part > 0 else None


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _steps(found: Occupancy) -> tuple[str, ...]:
    gpu, demand, limits = found.gpu, found.demand, found.limits
    warps, registers, columns = demand.warps, demand.registers, demand.tensor_memory_columns

    def line(name: str, arithmetic: str) -> str:
        return f"{name}: {arithmetic} = {_count(gpu, limits[name])}"

    steps = [line(THREADS, _threads_step(gpu, warps))]
    if registers is None:
        steps.append("registers: not known")
    else:
        steps.append(line(REGISTERS, _registers_step(gpu, warps, registers)))
    steps.append(line(SHARED_MEMORY, _shared_step(gpu, demand.shared_bytes)))
    steps.append(f"blocks: at most {_count(gpu, limits[BLOCKS])}")
    if columns > 0:
        steps.append(line(TENSOR_MEMORY, f"{gpu.tensor_memory_columns} columns / {columns}"))
    steps.append(_result(found))
    return tuple(steps)


def _plain_steps(found: Occupancy) -> tuple[str, ...]:
    gpu, demand, limits = found.gpu, found.demand, found.limits
    registers = "not known"
    if demand.registers is not None:
        threads = demand.warps * gpu.warp_size
        registers = f"{gpu.registers_per_sm:,} / ({demand.registers} x {threads})"
        registers += f" = {_count(gpu, limits[REGISTERS])}"
    shared = f"{gpu.shared_bytes_per_sm:,} B / {demand.shared_bytes:,} B"
    if demand.shared_bytes > gpu.shared_bytes_per_cta:
        shared = _shared_step(gpu, demand.shared_bytes)
    return (
        f"threads: {_threads_step(gpu, demand.warps)} = {_count(gpu, limits[THREADS])}",
        f"registers: {registers}",
        f"shared memory: {shared} = {_count(gpu, limits[SHARED_MEMORY])}",
        f"blocks: at most {_count(gpu, limits[BLOCKS])}",
        _result(found),
    )


def _result(found: Occupancy) -> str:
    resident, most = found.ctas_per_sm * found.demand.warps, found.gpu.warps_per_sm
    return (
        f"limiter: {found.limiter}, {_count(found.gpu, found.ctas_per_sm)}, "
        f"occupancy {resident} of {most} warps = {found.occupancy:.1%}"
    )


def _threads_step(gpu: GpuProfile, warps: int) -> str:
    if warps * gpu.warp_size > gpu.threads_per_cta_max:
        return f"{warps} warps x {gpu.warp_size} exceed {gpu.threads_per_cta_max} threads"
    return f"{gpu.warps_per_sm} warps / {warps} warps"


def _registers_step(gpu: GpuProfile, warps: int, registers: int) -> str:
    if gpu.vendor == "amd":
        waves = waves_per_simd(gpu, registers)
        return (
            f"{registers} of a lane give {waves} waves per SIMD x {gpu.sub_partitions} SIMDs / {warps} waves"
        )
    per_warp = allocated_registers_per_warp(gpu, registers)
    fitting = _warps_by_registers(gpu, per_warp) if per_warp > 0 else gpu.warps_per_sm
    return (
        f"{registers} x {gpu.warp_size} are {per_warp:,} per warp (unit {gpu.register_allocation_unit}), "
        f"{fitting} warps in {gpu.registers_per_sm:,} / {warps} warps"
    )


def _shared_step(gpu: GpuProfile, shared_bytes: int) -> str:
    if shared_bytes > gpu.shared_bytes_per_cta:
        return f"{shared_bytes:,} B exceed the limit of {gpu.shared_bytes_per_cta:,} B"
    reserved = gpu.shared_bytes_reserved_per_cta
    parts = f"{shared_bytes:,} + {reserved:,} reserved" if reserved else f"{shared_bytes:,}"
    return (
        f"{gpu.shared_bytes_per_sm:,} B / {allocated_shared_bytes(gpu, shared_bytes):,} B "
        f"({parts}, unit {gpu.shared_allocation_unit})"
    )


def _count(gpu: GpuProfile, limit: int | None) -> str:
    if limit is None:
        return "no limit"
    one, place = ("CTA", "SM") if gpu.vendor == "nvidia" else ("workgroup", "CU")
    return f"{limit} {one}{'' if limit == 1 else 's'}/{place}"
