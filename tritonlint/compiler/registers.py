"""Registers per thread of a compiled kernel, with a range, and whether some spill.

What Triton leaves to the assembler is not replayed. The graph after all passes tells what one thread has to keep in each
place (register_need.py); a model of these counts, fitted on kernels whose registers are known
(benchmarks/fit_registers.py), gives the number: a sum, and the most that any place needs. On AMD these are the vector
registers of a lane, those of the matrix cores included.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from tritonlint.compiler.compiled import Spills
from tritonlint.compiler.graph import GOp, Graph
from tritonlint.compiler.options import Options
from tritonlint.compiler.register_need import Need, need_of
from tritonlint.compiler.target import Target

REGISTERS_MAX = 255  # of one thread, from compute capability 3.5 on

_SIMDS = 4  # on which the waves of one workgroup are spread on AMD
# Values that no operation needs all at once pass in turns; the assembler keeps about that many in flight.
_STREAMED = 64
_REGISTER_FILE = 65536  # 32-bit registers of a multiprocessor
_CTAS_MAX = 32  # of a multiprocessor
_FEWER = {86: (48, 16), 87: (48, 16), 89: (48, 24), 120: (48, 24), 121: (48, 24)}
"""Warps and CTAs that a multiprocessor holds where it is not 64 and 32 (CUDA programming guide, compute capabilities)."""
# Of several values that are held over a place, some are combined element by element before it: 320 words in two values
# did not spill. One value, or that much more, does.
_SURE = 1.3
SOFT = 3.0  # registers by which a place may need less than another one and still count beside it


@dataclass(frozen=True, slots=True)
class Estimate:
    """Registers per thread with the range that holds most kernels; `chance` is the probability that some spill. Where it
    is `given_up` the assembler leaves nearly all values in local memory."""

    registers: int | None
    low: int | None
    high: int | None
    spills: Spills
    chance: float = 0.0
    given_up: bool = False


UNKNOWN = Estimate(None, None, None, "no")


@lru_cache(maxsize=1)
def _model() -> Mapping[str, Any]:
    text = resources.files("tritonlint.compiler").joinpath("registers.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def features(need: Need) -> dict[str, float]:
    """What the model adds up beside the places, by name."""
    return {
        "one": 1.0,
        "peak": float(need.peak),
        "loop_peak": float(need.loop_peak),
        "held": float(need.held),
        "held_or_turned": float(max(need.held, need.turned)),
        "narrow": float(need.surely_held + max(0, need.peak - need.held)),
        "loop_addresses": float(need.loop_addresses),
        "accumulator": float(need.accumulator),
        "operands": float(need.operands),
        "streamed": float(min(_STREAMED, max(0, need.peak - need.held))),
        "scalars": float(need.scalars),
        "batch": float(need.batch),
    }


def wanted_of(need: Need, model: Mapping[str, Any]) -> float:
    """The registers that a thread would take without a limit: a sum, and what the place needs that needs most (none with
    WMMA). Several places that need about as much make a little more than the most."""
    terms = features(need)
    wanted: float = sum(weight * terms[name] for name, weight in model["weights"].items())
    weights = model.get("places")
    if not weights or not need.points:
        return wanted
    needs = [sum(weight * getattr(point, name) for name, weight in weights.items()) for point in need.points]
    most = max(needs)
    together: float = most + SOFT * math.log(sum(math.exp((of - most) / SOFT) for of in needs))
    return wanted + together


def known_need(
    graph: Graph, target: Target, scratch: Callable[[GOp], int], *, specialized: bool
) -> Need | None:
    """What the estimate for a graph after all passes is made from; targets share it that differ only in the estimate.
    `scratch` has the shared memory of an operation while it runs. None where there is none: with warp specialization the
    compiler gives out registers by group of warps, which is not modelled."""
    if (target.is_nvidia and target.capability < 80) or specialized:
        return None
    try:
        return need_of(graph, scratch)
    except Exception:  # an estimate that fails must not take the exact answers with it
        return None


def estimate_of(need: Need | None, options: Options, target: Target) -> Estimate:
    """The estimate on one target, with the launch's own limit of registers."""
    if need is None:
        return UNKNOWN
    try:
        return from_need(need, options, target)
    except Exception:  # as above
        return UNKNOWN


def from_need(need: Need, options: Options, target: Target) -> Estimate:
    """Clamped to what a thread may have: 255 (more on AMD), maxnreg, and what the register file gives to so many
    warps."""
    model = _model()[model_name(need.family, target)]
    wanted = wanted_of(need, model)
    low = wanted * model["low"]
    high = wanted * model["high"]
    limit = register_limit(options, target)
    certain = surely_spills(need, target, limit)
    likely = wanted > model["spills_from"] * limit
    spills: Spills = "certain" if certain else "likely" if likely else "no"
    least = given_up(options, target) if wanted > model.get("gives_up", math.inf) * limit else None
    if least is not None:
        return Estimate(least, least, limit, "certain" if certain else "likely", 1.0, given_up=True)
    if spills == "certain":
        return Estimate(limit, limit, limit, spills, 1.0)
    given = squeezed(wanted, options, *model["squeeze"]) if "squeeze" in model else wanted
    likeliest = clamp(given, limit)
    low = min(low, likeliest)
    return Estimate(
        likeliest, clamp(low, limit), clamp(high, limit), spills, chance(wanted / limit, *model["odds"])
    )


def chance(share: float, even: float, power: float) -> float:
    """The probability that a thread spills which wants that share of what it may have; at `even` it is a half."""
    against: float = (even / max(share, 1e-3)) ** power
    return 1 / (1 + against)


def surely_spills(need: Need, target: Target, limit: int) -> bool:
    """Whether more is live at once than a thread may have, however the assembler orders it. On AMD only the accumulator
    is that sure: of 8 launches of which other values exceeded the limit, one needed a third of it."""
    if target.is_amd:
        return need.accumulator > limit
    return max(need.accumulator, need.whole, need.stored) > limit or need.surely_held > _SURE * limit


def squeezed(wanted: float, options: Options, share: float, words: float) -> float:
    """What the assembler gives a thread that wants so much: where a share and so many words less let one more CTA live on
    a multiprocessor, it takes that. Of 971 kernels of 4 warps on sm_80, 90 and 100 that have 33 to 128 registers, half
    stand exactly at 40, 48, 56, 64, 72, 80, 96 or 128."""
    for step in steps_of(options):
        if step * (1 + share) + words < wanted:
            return wanted
        if step < wanted:
            return float(step)
    return wanted


def given_up(options: Options, target: Target) -> int | None:
    """Registers of a thread that the assembler gives up on: with thousands of words in local memory whatever it does, it
    leaves room for as many CTAs as a multiprocessor holds (64 with one warp, 32 with more; 80 and 40 on sm_120). None
    where a thread may have fewer than all: of such kernels it gave up on none."""
    if register_limit(options, target) < REGISTERS_MAX:
        return None
    warps, ctas = _FEWER.get(target.capability, (64, _CTAS_MAX))
    threads = 32 * max(1, options.num_warps) * max(1, min(ctas, warps // max(1, options.num_warps)))
    return _REGISTER_FILE // threads // 8 * 8


def steps_of(options: Options) -> list[int]:
    """The most registers of a thread with which 1, 2, ... CTAs live on a multiprocessor."""
    share = _REGISTER_FILE // (32 * max(1, options.num_warps))
    return [share // blocks // 8 * 8 for blocks in range(1, min(_CTAS_MAX, share // 16) + 1)]


def model_name(family: str, target: Target) -> str:
    """The entry of registers.json: kernels without matrix instructions differ by vendor."""
    return "amd_none" if family == "none" and target.is_amd else family


def register_limit(options: Options, target: Target) -> int:
    """Registers that the assembler may give a thread of such a block."""
    if target.is_amd:
        return _amd_register_limit(options, target)
    by_block = _REGISTER_FILE // (32 * max(1, options.num_warps)) // 8 * 8
    limit = min(REGISTERS_MAX, by_block)
    return min(limit, options.maxnreg) if options.maxnreg else limit


def _amd_register_limit(options: Options, target: Target) -> int:
    """Vector registers of a lane where all waves of a workgroup, and as many as waves_per_eu asks for, fit on a SIMD:
    of 512 with those of the matrix cores on CDNA, of 1,536 but at most 256 on RDNA."""
    asked = options.extra.get("waves_per_eu")
    waves = max(-(-max(1, options.num_warps) // _SIMDS), asked if isinstance(asked, int) else 0)
    if target.warp_size == 64:
        return 512 // waves // 8 * 8
    return min(256, 1536 // waves // 24 * 24)


def clamp(wanted: float, limit: int) -> int:
    """A whole number of registers that a thread may have."""
    return max(1, min(limit, round(wanted)))
