"""Scratch of conversions, reductions, scans, gathers and atomics, against the allocation pass of real
releases.

Random pairs of encodings go through a module with that one operation. The releases are those of tests/cache.py:
fetched where that is allowed, else the test is skipped by name.
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

from tests.cache import triton_release
from tritonlint.compiler.releases import Release, parse_release

_RELEASES = ("3.2.0", "3.4.0", "3.6.0", "3.9.0")
_WORKER = Path(__file__).parent / "allocation_worker.py"
_ARCHS = ("sm_80", "sm_90", "gfx942", "gfx1100")
_CASES = int(os.environ.get("ORACLE_CASES", "60"))


def answers(wheel: Path, cases: list[Case], release: Release) -> list[int | None]:
    """The compiler's bytes for each case; None where it refuses the module."""
    jobs = [json.dumps({"text": c.module(release), "arch": c.arch}) for c in cases]
    done = subprocess.run(
        [sys.executable, str(_WORKER)],
        input="\n".join(jobs),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(wheel), "TRITON_DEFAULT_FP_FUSION": "1"},
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(cases), done.stderr[-1000:]
    return [line.get("shared") for line in lines]


@pytest.mark.oracle
@pytest.mark.parametrize("arch", _ARCHS)
@pytest.mark.parametrize("version", _RELEASES)
def test_scratch_is_the_compilers(version: str, arch: str) -> None:
    """Every random operation that the release accepts takes exactly the bytes that the model says."""
    release = parse_release(version)
    assert release is not None
    if arch.startswith("gfx") and release.version < (3, 3):
        return  # 3.2 spells AMD's encodings in a way of its own
    wheel = triton_release(version)
    rng = random.Random(f"triton-{version} {arch}")
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
        for version in _RELEASES:
            wheel, release = triton_release(version), parse_release(version)
            assert release is not None
            for arch in _ARCHS:
                if arch.startswith("gfx") and release.version < (3, 3):
                    continue
                rng = random.Random(f"record {version} {arch}")
                operations = ["convert"] * 4 + ["reduce", "scan", "atomic"]
                operations += ["gather"] if release.gather else []
                cases = [case(rng, operations[i % len(operations)], arch, release) for i in range(each)]
                for c, bytes_ in zip(cases, answers(wheel, cases, release), strict=True):
                    if bytes_ is not None:
                        row = [release.version, c.arch, c.operation, to_json(c.arguments), bytes_]
                        file.write(json.dumps(row, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    record(Path(sys.argv[1]), int(sys.argv[2]))
