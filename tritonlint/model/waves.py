"""How a grid fills the GPU: waves of programs, the last one, and multiprocessors that get nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Waves:
    """`full` waves fill all places; `last` is the filled share of the one after them, 0 where there is none.

    `efficiency` is the share of place-waves that do work: programs / (waves x per_wave).
    `idle_multiprocessors` get no program at all; `idle_in_last` get none in the last wave.

    `balance` is the average multiprocessor's work as a share of the busiest one's: what a launch that keeps
    its units busy loses by its tail. Two programs side by side on a multiprocessor share its units, so
    whole programs on multiprocessors count here, not places. `tiles` is the work of a persistent grid, else
    None.
    """

    programs: int
    per_wave: int
    full: int
    last: float
    efficiency: float
    multiprocessors: int
    idle_multiprocessors: int
    idle_in_last: int
    balance: float
    tiles: int | None = None

    @property
    def total(self) -> int:
        """Waves, the last partial one counted."""
        return self.full + (1 if self.last else 0)

    @property
    def steps(self) -> tuple[str, ...]:
        if self.tiles is not None:
            turns = -(-self.tiles // self.programs)
            fill = f"persistent: {self.tiles:,} tiles / {self.programs:,} programs = {turns:,} turns"
        else:
            fill = f"waves: {self.programs:,} programs / {self.per_wave:,} per wave = {self.total:,} waves"
            if self.last:
                rest = self.programs - self.full * self.per_wave
                fill += f", last wave {rest}/{self.per_wave} = {self.last:.0%}"
        steps = [f"{fill}, efficiency {self.efficiency:.1%}"]
        if self.idle_multiprocessors:
            idle, all_of_them = self.idle_multiprocessors, self.multiprocessors
            steps.append(f"idle: {idle} of {all_of_them} multiprocessors get no program")
        return tuple(steps)


def waves(programs: int, multiprocessors: int, ctas_per_sm: int, ctas_per_program: int = 1) -> Waves | None:
    """Waves of a grid of `programs` where each multiprocessor holds `ctas_per_sm` CTAs at a time.

    `ctas_per_program` is num_ctas, the CTAs of a cluster. None where nothing runs: an empty grid, or a
    launch that does not fit. Programs are taken to be equally long; the hardware spreads them over all
    multiprocessors before it stacks them.
    """
    per_wave = multiprocessors * ctas_per_sm // max(1, ctas_per_program)
    if programs <= 0 or per_wave <= 0:
        return None
    full, rest = divmod(programs, per_wave)
    total = full + (1 if rest else 0)
    in_last = (rest or per_wave) * ctas_per_program
    return Waves(
        programs=programs,
        per_wave=per_wave,
        full=full,
        last=rest / per_wave,
        efficiency=programs / (total * per_wave),
        multiprocessors=multiprocessors,
        idle_multiprocessors=max(0, multiprocessors - programs * ctas_per_program),
        idle_in_last=max(0, multiprocessors - in_last),
        balance=_balance(
            programs * ctas_per_program, multiprocessors, -(-programs * ctas_per_program // multiprocessors)
        ),
    )


def persistent_waves(tiles: int, programs: int, multiprocessors: int, ctas_per_sm: int) -> Waves | None:
    """A persistent grid: `programs` programs that share `tiles` tiles in turns of one each.

    The efficiency is that of the turns (tiles / (turns x programs)) times the share of multiprocessors that
    have a program, or, with more programs than fit at once, times that of their waves. Example: 1,024 tiles
    on 132 programs and as many multiprocessors are 8 turns, the last of 100 tiles: 97.0%.
    """
    grid = waves(programs, multiprocessors, ctas_per_sm)
    if grid is None or tiles <= 0:
        return None
    turns = -(-tiles // programs)
    fill = min(1.0, programs / multiprocessors) if grid.total == 1 else grid.efficiency
    return Waves(
        programs=programs,
        per_wave=grid.per_wave,
        full=grid.full,
        last=grid.last,
        efficiency=tiles / (turns * programs) * fill,
        multiprocessors=multiprocessors,
        idle_multiprocessors=max(0, multiprocessors - min(tiles, programs)),
        idle_in_last=max(0, multiprocessors - (tiles - (turns - 1) * programs)),
        balance=_balance(tiles, multiprocessors, turns * -(-programs // multiprocessors)),
        tiles=tiles,
    )


def _balance(work: int, multiprocessors: int, busiest: int) -> float:
    return min(1.0, work / (multiprocessors * busiest))
