"""The `textbook` model: the arithmetic of the teaching material, not what the compiler does.

    shared bytes   num_stages x (BM x BK + BK x BN) x element size
    registers      BM x BN / threads + 40
    limits         plain division, no units, nothing reserved (`model.occupancy.plain_occupancy`)

Real Triton asks for less shared memory on most targets (it needs one buffer fewer, or converts the result
in the same place), and its registers follow the instruction; `compiler` is the model that says how much.
"""

from __future__ import annotations

from collections.abc import Sequence

from tritonlint.compiler.compiled import Compiled, DotFact, SharedPart
from tritonlint.compiler.options import Options
from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import bits_of

REGISTERS_BESIDE_ACCUMULATOR = 40
REGISTERS_PER_THREAD_MAX = 255


def shared_bytes(m: int, n: int, k: int, num_stages: int, a_bytes: float = 2, b_bytes: float = 2) -> int:
    """Bytes of the buffers of a product of tiles A[m, k] and B[k, n]."""
    return int(num_stages * (m * k * a_bytes + k * n * b_bytes))


def registers(m: int, n: int, threads: int) -> int:
    """Registers per thread: the fp32 accumulator's share and 40 for everything else; may exceed 255."""
    return m * n // threads + REGISTERS_BESIDE_ACCUMULATOR


def compiled(dots: Sequence[DotFact], options: Options, target: Target) -> Compiled:
    """The textbook's answer for a kernel with these dots; of several, the one with the largest buffers
    counts.

    Without a dot the textbook has no shared memory and no registers (None).
    """
    threads = options.num_warps * target.warp_size
    sizes = [
        (
            shared_bytes(
                dot.m, dot.n, dot.k, options.num_stages, bits_of(dot.a_type) / 8, bits_of(dot.b_type) / 8
            ),
            dot,
        )
        for dot in dots
    ]
    bytes_needed, dot = max(sizes, key=lambda entry: entry[0], default=(0, None))
    count = registers(dot.m, dot.n, threads) if dot and threads > 0 else None
    label = (
        f"{options.num_stages} stages x ({dot.m}x{dot.k} x {bits_of(dot.a_type) // 8} B"
        f" + {dot.k}x{dot.n} x {bits_of(dot.b_type) // 8} B)"
        if dot
        else ""
    )
    return Compiled(
        shared_bytes=bytes_needed,
        shared_exact=False,
        shared_lower_bound=0,
        parts=(SharedPart(label, bytes_needed, dot.line, "buffer"),) if dot else (),
        tensor_memory_columns=0,
        warps=options.num_warps,
        tensor_cores=dot.tensor_cores if dot else "none",
        dots=tuple(dots),
        loads=(),
        registers=count,
        registers_low=count,
        registers_high=count,
        spills="certain" if count is not None and count > REGISTERS_PER_THREAD_MAX else "no",
        reasons=("the textbook model is arithmetic, not the compiler's answer",),
    )
