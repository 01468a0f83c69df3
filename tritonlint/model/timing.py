"""The time of one launch from its mechanisms: units of a multiprocessor that are busy, and chains of waits.

A program goes through its loops turn by turn. In each turn it keeps units busy (tensor cores, shared memory, the
issue of instructions, special functions, the way to the L2), and it follows a chain: what has to wait for what, if it
had the multiprocessor to itself. Programs that share a multiprocessor share its units, while their chains overlap. So a
wave of c programs on each multiprocessor takes the longest of c x each unit and of one chain; close competitors get
in each other's way, hence a p-norm instead of the plain maximum. Memory is one pool for all: its time is the floor of
the whole launch. The numbers of a GPU come from its profile, the few constants of an architecture from timing.json
(benchmarks/fit_timing.py).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import resources

from tritonlint.compiler.compiled import LoadFact
from tritonlint.compiler.instructions import Product, Section
from tritonlint.gpu.profile import GpuProfile
from tritonlint.model.time import dot_rate

_SHARED_BYTES_PER_CLOCK = 128
_LINE_BYTES = 128
_ISSUES_PER_CLOCK = 4  # one a sub-partition
_SPECIAL_PER_CLOCK = 16
_LANES = 32
_PLAIN_SHARE = 0.5  # of the ordinary units' peak that a product without tensor cores reaches
_NEWER_THAN_MMA_V2 = (9, 10, 11)  # majors whose peak is that of other instructions than mma.sync
_UNITS = ("tensor cores", "shared memory", "instructions", "special functions", "L1", "L2")


@dataclass(frozen=True, slots=True)
class Constants:
    """What the fit gives. Cycles are of the multiprocessor's clock."""

    tensor: float  # share of the tensor cores' peak that a long run of wgmma reaches
    tensor_8bit: float  # the same for 8-bit operands
    tensor_tf32: float
    mma_v2: float  # share that mma.sync reaches where the peak is that of wgmma
    shared: float  # share of 128 B a cycle
    operands: float  # the same for operands that tensor cores read in place
    issue: float  # instructions for one that is counted
    line: float  # cycles of the first-level cache for each line that a warp touches
    l2_bytes_per_clock: float  # of one multiprocessor
    burst_bytes_per_clock: float  # from the L2 for one program that waits for a tile, in whole lines
    dram: float  # share of the memory bandwidth
    barrier_cycles: float
    product_cycles: float  # from the start of a product to its first result
    l2_cycles: float  # from a load to its data, where the L2 has it
    dram_cycles: float  # what comes on top where it does not
    in_flight: float  # registers that the loads of a loop fill before the first is used
    dependent: float  # cycles from one instruction of a warp to the next
    spill: float  # accesses to local memory for each word that found no register
    program_cycles: float  # start and end of a program
    launch_us: float
    clash: float  # how far programs that meet at a unit wait for each other; 1: as if they came at random
    overlap: float  # exponent where products and the loads of later turns run beside each other
    norm_memory: float  # exponent where multiprocessors and memory compete
    low: float  # truth / prediction, of 1 in 20 launches less, where kernels were not fitted
    high: float  # of 1 in 20 launches more


@lru_cache(maxsize=1)
def constants() -> Constants:
    text = resources.files("tritonlint.model").joinpath("timing.json").read_text("utf-8")
    loaded = json.loads(text)
    return Constants(**{field.name: float(loaded[field.name]) for field in fields(Constants)})


@dataclass(frozen=True, slots=True)
class Turns:
    """A section with how often a program goes through it: on average, and the program with most."""

    section: Section
    mean: float
    most: float
    buffers: int  # that its loads are pipelined with; 0 where they are not


@dataclass(frozen=True, slots=True)
class Launch:
    """What is timed. `bytes_dram` come from and go to memory."""

    programs: int
    ctas_per_sm: int
    warps: int
    turns: tuple[Turns, ...]
    bytes_dram: float
    spilled_words: float

    @property
    def missed(self) -> float:
        """Share of what programs fetch that the L2 does not have."""
        asked = self.programs * sum(
            (turns.section.copied_bytes + turns.section.loaded_bytes) * turns.mean for turns in self.turns
        )
        return min(1.0, self.bytes_dram / asked) if asked else 1.0


@dataclass(frozen=True, slots=True)
class Busy:
    """Cycles of the units of a multiprocessor for one program, and of its chain."""

    tensor: float
    shared: float
    issue: float
    special: float
    l1: float
    l2: float
    chain: float

    @property
    def units(self) -> tuple[float, ...]:
        return (self.tensor, self.shared, self.issue, self.special, self.l1, self.l2)


def busy(launch: Launch, gpu: GpuProfile, c: Constants, *, most: bool = False) -> Busy:
    warps = launch.warps
    tensor = shared = issue = special = l1 = l2 = chain = 0.0
    spilled = launch.spilled_words * c.spill
    inner = _where_spilled(launch.turns)
    latency = c.l2_cycles + c.dram_cycles * launch.missed
    for turns in launch.turns:
        section = turns.section
        times = turns.most if most else turns.mean
        dots = deferred = awaited = operands = 0.0
        for product in section.products:
            cycles, alone, moved = _product(product, gpu, c, warps)
            dots += cycles
            operands += moved
            if product.deferred:
                deferred += alone
            else:
                awaited += alone + c.product_cycles
        count = section.arithmetic + section.special + 2 * section.shuffles
        count = count * c.issue + section.loads + section.stores + section.copies + section.shared_accesses
        passes = section.global_passes * warps * c.line
        if turns is inner:
            count += 2 * spilled
            passes += 2 * spilled * warps
        operands /= _SHARED_BYTES_PER_CLOCK * c.operands
        through = (section.shared_passes + section.copy_passes) / c.shared + operands
        functions = section.special * warps * _LANES / _SPECIAL_PER_CLOCK
        # A row shorter than a line is a request like a whole one.
        lines = section.global_passes * warps * _LINE_BYTES
        moved = section.copied_bytes + section.loaded_bytes + section.stored_bytes
        stretched = max(1.0, lines / moved) if moved else 1.0
        fetched = moved / c.l2_bytes_per_clock
        in_order = any(product.kind == "wgmma" for product in section.products)
        # What the program does step by step, and what goes on beside it.
        steps = count * max(c.dependent, warps / _ISSUES_PER_CLOCK)
        steps += functions * max(1.0, 4.0 / warps)
        steps += section.shared_passes / c.shared + section.barriers * c.barrier_cycles + awaited
        beside = max(deferred, operands)
        if section.copies or section.tma:
            ahead = turns.buffers - 1
            fetching = latency + section.copied_bytes * stretched / c.burst_bytes_per_clock
            if ahead > 0:
                # wgmma, its waits and copies keep the order of the program: the copies for a later turn are started
                # when this one has done its steps. With one turn ahead nothing but a deferred product hides them.
                fetching = (fetching + steps * in_order) / ahead
                # Loads that come late now and then find the buffers empty, also where they fit in on average.
                beside = (beside**c.overlap + fetching**c.overlap) ** (1 / c.overlap)
            else:
                steps += fetching
        if in_order and awaited:
            steps += deferred  # who waits for a product waits for those before it
        if section.load_waits:
            steps += _waits(section, warps, c) * latency
            steps += section.loaded_bytes * stretched / c.burst_bytes_per_clock
        alone = max(steps, beside)
        tensor += times * dots
        shared += times * through
        issue += times * count * warps / _ISSUES_PER_CLOCK
        special += times * functions
        l1 += times * passes
        l2 += times * fetched
        chain += times * alone
    return Busy(tensor, shared, issue, special, l1, l2, chain + c.program_cycles)


def _waits(section: Section, warps: int, c: Constants) -> float:
    """How often one round stands still for its loads. In a loop the assembler starts some of them, uses these, and then
    starts the next, so that few registers are taken (seen in SASS); a row that stays in registers is loaded at once."""
    if section.parent < 0:
        return section.load_waits
    words = section.loaded_bytes / (warps * _LANES * 4)
    return max(section.load_waits, words / c.in_flight)


def _where_spilled(turns: Sequence[Turns]) -> Turns:
    """The section that most registers are needed in: where products are, else the one that runs most often."""
    return max(turns, key=lambda one: (bool(one.section.products), one.mean))


def _product(product: Product, gpu: GpuProfile, c: Constants, warps: int) -> tuple[float, float, float]:
    """(cycles of the tensor cores, cycles where the program is alone, bytes of operands from shared memory)."""
    rows = max(product.m, 16 * product.warps_m)
    columns = max(product.n, 8 * product.warps_n)
    flops = 2.0 * rows * columns * product.k * product.batch
    cycles = flops * (gpu.multiprocessors or 1) * (gpu.clock_hz or 1.0) / _rate(product, gpu, c)
    moved = 0.0
    if product.kind == "wgmma":
        groups = max(1, rows // 64) * max(1, columns // product.instruction_n)
        each = product.instruction_n + (0 if product.a_in_registers else 64)
        moved = groups * each * product.k * product.bits / 8
    return cycles, cycles * 4 / min(4, warps), moved


def _rate(product: Product, gpu: GpuProfile, c: Constants) -> float:
    """Operations per second of the whole GPU that a product can reach; 0 where no source tells."""
    if product.kind == "none":
        return (dot_rate(gpu, product.element, tensor_cores=False) or 0.0) * _PLAIN_SHARE
    peak = dot_rate(gpu, product.element, tensor_cores=True) or 0.0
    share = c.tensor_tf32 if product.bits == 32 else c.tensor_8bit if product.bits == 8 else c.tensor
    if product.kind == "mma_v2" and gpu.capability // 10 in _NEWER_THAN_MMA_V2:
        share *= c.mma_v2
    return peak * share


def wave(one: Busy, programs: int, c: Constants) -> float:
    """Cycles of a multiprocessor that has `programs` programs at a time, each once.

    A closed network of queues (mean value analysis, Reiser and Lavenberg 1980): a program that comes to a unit finds
    the others there in proportion to how long they stay. A program keeps several units busy at a time, so that its waits
    lie beside each other; as those of chance they add up by their squares.
    """
    waiting = [0.0] * len(_UNITS)
    longest = max(one.units)
    took = one.chain
    for there in range(1, programs + 1):
        waits = [unit * c.clash * queue for unit, queue in zip(one.units, waiting, strict=True)]
        took = max(one.chain + math.hypot(*waits), there * longest)
        waiting = [there * (unit + wait) / took for unit, wait in zip(one.units, waits, strict=True)]
    return took


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of a launch; `low_ms` to `high_ms` holds 9 of 10 launches of kernels that nothing was fitted on, where
    nothing spills. `parts` are what each unit would need alone, and the chain of waits of the programs of each wave."""

    total_ms: float
    low_ms: float
    high_ms: float
    parts: Mapping[str, float]

    @property
    def largest(self) -> str:
        """The part that would take the longest alone; of equals, the first."""
        return max(self.parts, key=lambda name: self.parts[name])

    @property
    def steps(self) -> tuple[str, ...]:
        listed = ", ".join(
            f"{name} {ms:.3g}" for name, ms in self.parts.items() if ms >= 0.01 * self.total_ms
        )
        return (
            f"time of each part alone, ms: {listed}",
            f"time: about {self.total_ms:.3g} ms, {self.low_ms:.3g} to {self.high_ms:.3g}",
        )


def launch_time(launch: Launch, gpu: GpuProfile, c: Constants | None = None) -> Timing | None:
    """The predicted time of a launch on a GPU for which `applies` holds; None where a rate is not known."""
    c = c or constants()
    products = [product for turns in launch.turns for product in turns.section.products]
    if any(_rate(product, gpu, c) <= 0 for product in products):
        return None
    clock, sms, bandwidth = gpu.clock_hz or 0.0, gpu.multiprocessors or 0, gpu.dram_bytes_per_s or 0.0
    one = busy(launch, gpu, c)
    even = all(turns.mean == turns.most for turns in launch.turns)
    longest = one if even else busy(launch, gpu, c, most=True)
    cycles, waves = _waves(launch, one, longest, sms, c)
    milliseconds = cycles / clock * 1e3
    memory = launch.bytes_dram / (bandwidth * c.dram) * 1e3
    total = (milliseconds**c.norm_memory + memory**c.norm_memory) ** (1 / c.norm_memory) + c.launch_us * 1e-3
    each = launch.programs / sms / clock * 1e3
    parts = {name: cycles * each for name, cycles in zip(_UNITS, one.units, strict=True)}
    parts |= {"memory": memory, "waits": waves * one.chain / clock * 1e3, "launch": c.launch_us * 1e-3}
    return Timing(total, total * c.low, total * c.high, parts)


def _waves(launch: Launch, one: Busy, longest: Busy, sms: int, c: Constants) -> tuple[float, float]:
    """(cycles, waves) of all programs, of which `one` is the average and `longest` the one with most turns.

    Programs that are equally long leave the places of the last wave empty. Where they differ, the next one starts as
    soon as one ends, and what is lost is the end of the longest: those of causal attention, of 0 to the most turns, fill
    the last wave; those of a persistent product, of 3 or 4 tiles, do not. Between the two it goes by the spread.
    """
    places = sms * launch.ctas_per_sm
    full, rest = divmod(launch.programs, places)
    if not full:
        return wave(longest, -(-rest // sms), c), 1.0
    at_once = wave(one, launch.ctas_per_sm, c)
    last = wave(one, -(-rest // sms), c) if rest else 0.0
    alone = wave(longest, 1, c)
    tail = max(0.0, alone - wave(one, 1, c))
    spread = min(1.0, 2 * tail / alone) if alone else 0.0
    whole = full * at_once + (1 - spread) * last + spread * rest / places * at_once
    return whole + tail, full + (1 - spread) * bool(rest) + spread * rest / places


def applies(gpu: GpuProfile) -> bool:
    """Whether the constants hold for a GPU: those of NVIDIA from 8.0 on whose numbers are known."""
    known = gpu.clock_hz and gpu.multiprocessors and gpu.dram_bytes_per_s and gpu.flops
    return gpu.vendor == "nvidia" and gpu.capability >= 80 and bool(known)


def turns_of(
    sections: Sequence[Section], loads: Sequence[LoadFact], loops: Sequence[tuple[int, str, float, float]]
) -> tuple[Turns, ...] | None:
    """Sections with their turns; None where a loop is not known. `loops` are (line, path, mean, most) in the order of
    the text."""
    buffers = max((load.buffers for load in loads if load.in_loop), default=0)
    left: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for line, path, mean, most in loops:
        left.setdefault((line, path), []).append((mean, most))
    found: list[Turns] = []
    for section in sections:
        if section.parent < 0:
            found.append(Turns(section, 1.0, 1.0, 0))
            continue
        waiting = left.get((section.line, section.path))
        if not waiting:
            return None
        mean, most = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        found.append(Turns(section, mean, most, buffers))
    return tuple(found)
