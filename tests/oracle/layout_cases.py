"""Random encodings and one-operation modules, for holding the layout arithmetic against a real release."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import ttgir_text as text

from tritonlint.compiler import encodings as e
from tritonlint.compiler.conversion import scratch_bytes
from tritonlint.compiler.releases import Release
from tritonlint.compiler.scratch import atomic_scratch, gather_scratch, reduce_scratch, scan_scratch
from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import bits_of

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Case:
    """One operation: how the model answers it, and the module that asks the compiler."""

    operation: str
    arguments: tuple[Any, ...]
    arch: str
    warps: int

    def modelled(self, release: Release) -> int:
        target, a = Target(self.arch), self.arguments
        if self.operation == "convert":
            return scratch_bytes(*a, target, release)
        if self.operation == "reduce":
            return reduce_scratch(*a, target, release)
        if self.operation == "scan":
            return scan_scratch(*a, release)
        if self.operation == "gather":
            return gather_scratch(*a)
        return atomic_scratch(*a, True, self.warps, release)

    def module(self, release: Release) -> str:
        write: Callable[..., str] = {
            "convert": text.conversion_text,
            "reduce": text.reduce_text,
            "scan": text.scan_text,
            "gather": text.gather_text,
            "atomic": text.atomic_text,
        }[self.operation]
        return write(*self.arguments, self.warps, self.arch, release)


def _split(rng: random.Random, total: int, rank: int) -> Shape:
    parts = [1] * rank
    while total > 1:
        parts[rng.randrange(rank)] *= 2
        total //= 2
    return tuple(parts)


def _blocked(rng: random.Random, rank: int, warps: int, lanes: int) -> e.Blocked:
    order = list(range(rank))
    rng.shuffle(order)
    sizes = _split(rng, 2 ** rng.randrange(0, 5), rank)
    return e.Blocked(sizes, _split(rng, lanes, rank), _split(rng, warps, rank), tuple(order))


def _tensor_core(rng: random.Random, rank: int, warps: int, arch: str, bits: int) -> e.Distributed:
    if arch.startswith("gfx9"):
        side = rng.choice([16, 32])
        version = {"gfx90a": 2, "gfx942": 3, "gfx950": 4}[arch]
        depth = {16: 16, 32: 8}[side]
        return e.AmdMfma(version, _split(rng, warps, 2), (side, side, depth), rng.random() < 0.5)
    if arch.startswith("gfx"):
        return e.AmdWmma(1 if arch.startswith("gfx11") else 2, _split(rng, warps, 2), rng.random() < 0.5)
    if arch == "sm_90" and rank == 2 and warps >= 4 and rng.random() < 0.6:
        across = rng.choice([(warps, 1), (4, warps // 4)])
        return e.NvidiaMma(3, across, (16, rng.choice([8, 16, 32, 64, 128, 256]), max(1, 256 // bits)))
    if rank == 3:
        return e.NvidiaMma(2, (warps, 1, 1), (1, 16, 8))
    return e.NvidiaMma(2, _split(rng, warps, 2), (16, 8))


def _encoding(
    rng: random.Random, rank: int, warps: int, arch: str, bits: int, release: Release, nested: bool = False
) -> e.Distributed:
    lanes = 64 if arch.startswith("gfx9") else 32
    kind = rng.random()
    if kind < 0.25 and not nested and rank < 3:
        return e.Slice(rng.randrange(rank + 1), _encoding(rng, rank + 1, warps, arch, bits, release, True))
    operands = not nested and rank == 2 and release.version >= (3, 3)
    if kind < 0.55 and (rank == 2 or (rank == 3 and arch.startswith("sm_"))):
        core = _tensor_core(rng, rank, warps, arch, bits)
        if operands and rng.random() < 0.3:
            if isinstance(core, e.NvidiaMma):
                return e.DotOperand(0 if core.version == 3 else rng.randrange(2), core, max(1, 32 // bits))
            if isinstance(core, e.AmdMfma):
                return e.DotOperand(rng.randrange(2), core, rng.choice([4, 8]))
        return core
    if kind < 0.6 and operands:
        return e.DotOperand(rng.randrange(2), _blocked(rng, rank, warps, lanes))
    return _blocked(rng, rank, warps, lanes)


def case(rng: random.Random, operation: str, arch: str, release: Release) -> Case:
    """A random operation that the release should know."""
    lanes = 64 if arch.startswith("gfx9") else 32
    while True:
        warps = rng.choice([1, 2, 4, 4, 4, 8, 8, 16] if lanes == 32 else [1, 2, 4, 4, 8])
        rank = rng.choice([1, 2, 2, 2, 2, 3])
        element = rng.choice(["fp32", "fp16", "fp16", "i8", "i1", "fp64", "*fp32", "i64", "i32"])
        largest = {1: 12, 2: 9, 3: 6}[rank]
        shape = tuple(2 ** rng.randrange(0 if rng.random() < 0.2 else 3, largest) for _ in range(rank))
        bits = max(8, bits_of(element))
        source = _encoding(rng, rank, warps, arch, bits, release)
        target = _encoding(rng, rank, warps, arch, bits, release)
        axis = rng.randrange(rank)
        several = tuple(rng.choice(["fp32", "fp16", "i64", "i32"]) for _ in range(rng.choice([1, 1, 2])))
        arguments: tuple[Any, ...]
        if operation == "convert":
            if source == target:
                continue
            arguments = (source, target, shape, element)
        elif operation == "scan":
            arguments = (_blocked(rng, rank, warps, lanes), shape, axis, several)
        elif isinstance(source, e.DotOperand) or isinstance(target, e.DotOperand):
            continue
        elif operation == "reduce":
            arguments = (source, shape, axis, several)
        elif operation == "gather":
            along = tuple(2 ** rng.randrange(0, 7) if d == axis else s for d, s in enumerate(shape))
            arguments = (source, shape, source if rng.random() < 0.4 else target, along, axis, element)
        else:
            arguments = (source, shape, rng.choice(["fp32", "i32", "i64"]))
        return Case(operation, arguments, arch, warps)


_KINDS = {
    kind.__name__: kind for kind in (e.Blocked, e.NvidiaMma, e.AmdMfma, e.AmdWmma, e.Slice, e.DotOperand)
}


def to_json(value: Any) -> Any:
    """Encodings as lists that start with their class's name, tuples as lists that start with "()"."""
    if type(value).__name__ in _KINDS:
        return [type(value).__name__, *(to_json(getattr(value, f.name)) for f in dataclasses.fields(value))]
    if isinstance(value, tuple):
        return ["()", *map(to_json, value)]
    return value


def from_json(value: Any) -> Any:
    """The reverse of `to_json`."""
    if not isinstance(value, list):
        return value
    parts = [from_json(part) for part in value[1:]]
    return tuple(parts) if value[0] == "()" else _KINDS[value[0]](*parts)
