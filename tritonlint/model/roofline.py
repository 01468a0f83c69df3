"""Work and bytes of a launch, and which of compute, memory and launch bounds it (Williams, Waterman,
Patterson: Roofline, 2009, with the cost of a launch as a third roof)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Bound = Literal["compute", "memory", "launch"]

# Start to end of an empty kernel where a profile has no number of its own: a round number, not measured.
LAUNCH_FLOOR_US = 5.0


@dataclass(frozen=True, slots=True)
class Work:
    """FLOPs of the whole launch (a multiply-add is two), and its bytes: `bytes_min` when every input is
    read and every output written once, `bytes_tiled` when every program fetches its own tiles from
    memory."""

    flops: int
    bytes_min: int
    bytes_tiled: int
    steps: tuple[str, ...] = ()


def gemm_work(
    m: int,
    n: int,
    k: int,
    tile_m: int,
    tile_n: int,
    *,
    a_bytes: float = 2,
    b_bytes: float = 2,
    c_bytes: float = 2,
    batch: int = 1,
) -> Work:
    """C[m, n] = A[m, k] B[k, n] in tiles of tile_m x tile_n; `x_bytes` is the size of one element (fp4:
    0.5)."""
    flops = 2 * m * n * k * batch
    a, b, c = int(m * k * a_bytes) * batch, int(k * n * b_bytes) * batch, int(m * n * c_bytes) * batch
    columns, rows = -(-n // tile_n), -(-m // tile_m)
    tiled = a * columns + b * rows + c
    return Work(
        flops=flops,
        bytes_min=a + b + c,
        bytes_tiled=tiled,
        steps=(
            f"FLOPs: 2 x {_product(m, n, k, batch)} = {flops:,}",
            f"bytes, each matrix once: {a:,} + {b:,} + {c:,} = {a + b + c:,}",
            f"bytes, each program its tiles: {columns} x {a:,} + {rows} x {b:,} + {c:,} = {tiled:,} "
            f"({tiled / max(1, a + b + c):.1f}x)",
        ),
    )


def streaming_work(flops: int, bytes_read: int, bytes_written: int) -> Work:
    """A kernel that reads and writes everything once: elementwise, reductions, normalization."""
    moved = bytes_read + bytes_written
    return Work(
        flops=flops,
        bytes_min=moved,
        bytes_tiled=moved,
        steps=(f"FLOPs: {flops:,}", f"bytes: {bytes_read:,} read + {bytes_written:,} written = {moved:,}"),
    )


@dataclass(frozen=True, slots=True)
class Roofline:
    """Milliseconds by each roof; `total` is the largest. `intensity` is FLOP per byte moved, `balance` the
    FLOP per byte at which compute and memory take equally long."""

    compute_ms: float
    memory_ms: float
    launch_ms: float
    intensity: float
    balance: float

    @property
    def total_ms(self) -> float:
        return max(self.compute_ms, self.memory_ms, self.launch_ms)

    @property
    def bound(self) -> Bound:
        """Of equals, the launch, then memory."""
        if self.launch_ms >= max(self.compute_ms, self.memory_ms):
            return "launch"
        return "compute" if self.compute_ms > self.memory_ms else "memory"

    @property
    def steps(self) -> tuple[str, ...]:
        return self.steps_of(self.bound)

    def steps_of(self, bound: Bound | None) -> tuple[str, ...]:
        """The arithmetic in words, with what bounds the launch where that is one of the roofs."""
        roofs = f"time: compute {self.compute_ms:.4g} ms, memory {self.memory_ms:.4g} ms, "
        roofs += f"launch {self.launch_ms:.4g} ms"
        return (
            f"intensity {self.intensity:,.0f} FLOP/B, balance {self.balance:,.0f} FLOP/B",
            f"{roofs}: {bound}-bound" if bound else f"{roofs}; waits take longer than each",
        )


def roofline(
    flops: int,
    bytes_moved: int,
    *,
    peak_flops: float,
    bytes_per_s: float,
    launch_floor_us: float | None = None,
) -> Roofline:
    """Time of a launch that computes `flops` and moves `bytes_moved` to and from memory."""
    floor = LAUNCH_FLOOR_US if launch_floor_us is None else launch_floor_us
    return Roofline(
        compute_ms=flops / peak_flops * 1e3,
        memory_ms=bytes_moved / bytes_per_s * 1e3,
        launch_ms=floor * 1e-3,
        intensity=flops / bytes_moved if bytes_moved else 0.0,
        balance=peak_flops / bytes_per_s,
    )


def _product(m: int, n: int, k: int, batch: int) -> str:
    return f"{m} x {n} x {k}" + (f" x {batch}" if batch != 1 else "")
