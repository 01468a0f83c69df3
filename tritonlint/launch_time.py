"""From what the compiler made of a kernel and what a launch moves to its predicted time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonlint.compiler.compiled import Compiled
from tritonlint.compiler.options import Options
from tritonlint.gpu.profile import GpuProfile
from tritonlint.model.occupancy import occupancy
from tritonlint.model.timing import Launch, Timing, applies, launch_time, turns_of
from tritonlint.model.waves import waves

if TYPE_CHECKING:
    from tritonlint.work import LaunchWork


def predicted(compiled: Compiled, options: Options, gpu: GpuProfile, work: LaunchWork) -> Timing | None:
    """The predicted time of a launch, None where no model applies or a number is not known."""
    specialized = compiled.warps != options.num_warps
    if not applies(gpu) or specialized or options.num_ctas != 1 or not compiled.sections:
        return None
    if work.loops is None or work.bytes_tiled is None:
        return None
    ctas = occupancy(
        gpu,
        warps=compiled.warps,
        shared_bytes=compiled.shared_bytes,
        registers=compiled.registers,
        tensor_memory_columns=compiled.tensor_memory_columns,
    ).ctas_per_sm
    filled = waves(work.programs, gpu.multiprocessors or 0, ctas, options.num_ctas)
    moved = work.dram_bytes(gpu, filled)
    turns = turns_of(compiled.sections, compiled.loads, [loop.summary for loop in work.loops])
    if filled is None or moved is None or turns is None:
        return None
    launch = Launch(
        programs=work.programs,
        ctas_per_sm=ctas,
        warps=compiled.warps,
        turns=turns,
        bytes_dram=moved,
        spilled_words=compiled.spilled_words,
    )
    return launch_time(launch, gpu)
