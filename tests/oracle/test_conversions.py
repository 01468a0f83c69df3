"""Scratch of conversions, reductions, scans, gathers and atomics, against the allocation pass of real
releases.

Random pairs of encodings go through a module with that one operation. Name the unpacked wheels in
TRITON_WHEELS, a folder with one folder a release (triton-3.9.0, ...).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from layout_cases import Case, case, to_json

from tritonlint.compiler.releases import Release, parse_release

_WHEELS = Path(os.environ.get("TRITON_WHEELS", "/nonexistent"))
_WORKER = Path(__file__).parent / "allocation_worker.py"
_ARCHS = ("sm_80", "sm_90", "gfx942", "gfx1100")
_CASES = int(os.environ.get("ORACLE_CASES", "60"))


def wheels() -> list[Path]:
    found = [path for path in _WHEELS.glob("triton-3.*") if (path / "triton").is_dir()]
    return sorted(found, key=lambda path: [int(x) for x in path.name.split("-")[1].split(".")])


def answers(wheel: Path, cases: list[Case], release: Release) -> list[int | None]:
    """The compiler's bytes for each case; None where it refuses the module."""
    jobs = [json.dumps({"text": c.module(release), "arch": c.arch}) for c in cases]
    done = subprocess.run(
        [os.environ.get("TRITON_PYTHON", sys.executable), str(_WORKER)],
        input="\n".join(jobs),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(wheel), "TRITON_DEFAULT_FP_FUSION": "1"},
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(cases), done.stderr[-1000:]
    return [line.get("shared") for line in lines]


def release_of(wheel: Path) -> Release:
    found = parse_release(wheel.name.split("-")[1])
    assert found is not None
    return found


@pytest.mark.oracle
@pytest.mark.skipif(not wheels(), reason="TRITON_WHEELS names no folder with unpacked wheels")
@pytest.mark.parametrize("arch", _ARCHS)
@pytest.mark.parametrize("wheel", wheels(), ids=lambda path: path.name)
def test_scratch_is_the_compilers(wheel: Path, arch: str) -> None:
    """Every random operation that the release accepts takes exactly the bytes that the model says."""
    release = release_of(wheel)
    rng = random.Random(f"{wheel.name} {arch}")
    operations = ["convert"] * 4 + ["reduce", "scan", "atomic"] + (["gather"] if release.gather else [])
    cases = [case(rng, operations[i % len(operations)], arch, release) for i in range(_CASES)]
    real = answers(wheel, cases, release)
    wrong = [
        (to_json(c.arguments), c.operation, bytes_, c.modelled(release))
        for c, bytes_ in zip(cases, real, strict=True)
        if bytes_ is not None and bytes_ != c.modelled(release)
    ]
    assert not wrong, wrong[:3]
    assert sum(bytes_ is not None for bytes_ in real) > len(cases) // 2


def record(path: Path, each: int) -> None:
    """Write rows for the plain unit tests: `each` cases a release and architecture that the release
    accepts."""
    with path.open("w") as file:
        for wheel in wheels():
            release = release_of(wheel)
            for arch in _ARCHS:
                if arch.startswith("gfx") and release.version < (3, 3):
                    continue
                rng = random.Random(f"record {wheel.name} {arch}")
                operations = ["convert"] * 4 + ["reduce", "scan", "atomic"]
                operations += ["gather"] if release.gather else []
                cases = [case(rng, operations[i % len(operations)], arch, release) for i in range(each)]
                for c, bytes_ in zip(cases, answers(wheel, cases, release), strict=True):
                    if bytes_ is not None:
                        row = [release.version, c.arch, c.operation, to_json(c.arguments), bytes_]
                        file.write(json.dumps(row, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    record(Path(sys.argv[1]), int(sys.argv[2]))
