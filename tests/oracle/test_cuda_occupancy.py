"""Occupancy is what NVIDIA's own calculator computes: `cuda_occupancy.h`, built with g++, for random
launches.

The header comes from the PyPI package `nvidia-cuda-runtime` (CUDA 13), which is downloaded once into the
folder that the environment variable TRITONLINT_TEST_CACHE names, by default ~/.cache/tritonlint-tests.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NoReturn

import pytest

from tritonlint.gpu.profile import GpuProfile, list_profiles
from tritonlint.model.occupancy import BLOCKS, REGISTERS, SHARED_MEMORY, THREADS, occupancy

pytestmark = pytest.mark.oracle

LAUNCHES = 100_000
PACKAGE = "nvidia-cuda-runtime>=13,<14"  # CUDA 13 is the first that knows compute capability 11.0
NO_LIMIT = 2**31 - 1

# Reads the limits of a GPU, then a launch a line: threads, registers, shared bytes.
PROGRAM = r"""
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include "cuda_occupancy.h"

int main() {
    cudaOccDeviceProp gpu;
    int optin, reserved, per_sm, threads_per_sm, threads_per_cta, registers;
    if (scanf("%d %d %d %d %d %d %d %d", &gpu.computeMajor, &gpu.computeMinor, &per_sm, &optin, &reserved,
              &threads_per_sm, &threads_per_cta, &registers) != 8) return 2;
    gpu.maxThreadsPerBlock = threads_per_cta;
    gpu.maxThreadsPerMultiprocessor = threads_per_sm;
    gpu.regsPerBlock = gpu.regsPerMultiprocessor = registers;
    gpu.warpSize = 32;
    gpu.sharedMemPerBlock = 48 * 1024;
    gpu.sharedMemPerMultiprocessor = per_sm;
    gpu.sharedMemPerBlockOptin = optin;
    gpu.reservedSharedMemPerBlock = reserved;
    gpu.numSms = 1;
    cudaOccDeviceState state;
    int block, count, bytes;
    while (scanf("%d %d %d", &block, &count, &bytes) == 3) {
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = INT_MAX;
        kernel.numRegs = count;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = bytes;
        kernel.numBlockBarriers = 1;
        cudaOccResult result;
        memset(&result, 0, sizeof result);
        int status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &gpu, &kernel, &state, block, bytes);
        printf("%d %d %d %d %d %d\n", status, result.activeBlocksPerMultiprocessor, result.blockLimitWarps,
               result.blockLimitRegs, result.blockLimitSharedMem, result.blockLimitBlocks);
    }
}
"""


def missing(what: str) -> NoReturn:
    """Without a tool the test is skipped, by name; on CI it has to run."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def calculator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("g++")
    if compiler is None:
        missing("g++ is not installed")
    default = Path.home() / ".cache" / "tritonlint-tests"
    cache = Path(os.environ.get("TRITONLINT_TEST_CACHE") or default) / "nvidia-cuda-runtime"
    wheels = sorted(cache.glob("*.whl"))
    if not wheels:
        cache.mkdir(parents=True, exist_ok=True)
        download = [
            sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
            "--platform", "manylinux2014_x86_64", "--dest", str(cache), PACKAGE,
        ]  # fmt: skip
        done = subprocess.run(download, capture_output=True, text=True)
        wheels = sorted(cache.glob("*.whl"))
        if not wheels:
            missing(f"the package {PACKAGE} could not be downloaded: {done.stderr[-300:]}")
    folder = tmp_path_factory.mktemp("cuda_occupancy")
    with zipfile.ZipFile(wheels[-1]) as wheel:
        header = next((name for name in wheel.namelist() if name.endswith("/cuda_occupancy.h")), None)
        if header is None:
            missing(f"{wheels[-1].name} has no cuda_occupancy.h")
        (folder / "cuda_occupancy.h").write_bytes(wheel.read(header))
    (folder / "main.cpp").write_text(PROGRAM)
    program = folder / "calculator"
    subprocess.run([compiler, "-O1", "-w", "-o", str(program), str(folder / "main.cpp")], check=True)
    return program


def limits_of(gpu: GpuProfile) -> tuple[int, ...]:
    return (
        *divmod(gpu.capability, 10),
        gpu.shared_bytes_per_sm,
        gpu.shared_bytes_per_cta,
        gpu.shared_bytes_reserved_per_cta,
        gpu.threads_per_sm,
        gpu.threads_per_cta_max,
        gpu.registers_per_sm,
    )


def random_launches(gpu: GpuProfile) -> list[tuple[int, int, int]]:
    """Warps, registers, shared bytes: beyond all limits, at their edges, and what Triton asks for (powers
    of two)."""
    rng = random.Random(gpu.capability)
    top = gpu.shared_bytes_per_cta
    launches = []
    for _ in range(LAUNCHES):
        shared = rng.choice(
            (
                rng.randint(0, top + 4096),
                rng.randint(0, top // 1024 + 2) * 1024,
                top // rng.randint(1, 32) + rng.randint(-1200, 200),
                1 << rng.randint(0, 18),
            )
        )
        warps = rng.choice((1, 2, 4, 8, 16, 32, rng.randint(1, 36)))
        launches.append((warps, rng.randint(0, 260), max(0, shared)))
    return launches


NVIDIA = [gpu for gpu in list_profiles() if gpu.vendor == "nvidia"]
# Occupancy depends on the limits only, and profiles of one architecture have the same.
BY_LIMITS = {limits_of(gpu): gpu for gpu in reversed(NVIDIA)}


def test_every_nvidia_profile_is_compared() -> None:
    """Each profile has the limits of one that is compared below."""
    assert len(NVIDIA) > 40
    assert {limits_of(gpu) for gpu in NVIDIA} == {*BY_LIMITS}


@pytest.mark.parametrize("gpu", BY_LIMITS.values(), ids=lambda gpu: gpu.arch)
def test_equal_to_the_calculator(gpu: GpuProfile, calculator: Path) -> None:
    """All four limits and the result, for 100,000 random launches."""
    launches = random_launches(gpu)
    text = [" ".join(map(str, limits_of(gpu)))]
    text += [f"{warps * 32} {registers} {shared}" for warps, registers, shared in launches]
    done = subprocess.run(
        [str(calculator)], input="\n".join(text), capture_output=True, text=True, check=True
    )
    answers = done.stdout.splitlines()
    assert len(answers) == len(launches)
    for launch, answer in zip(launches, answers, strict=True):
        warps, registers, shared = launch
        found = occupancy(gpu, warps=warps, shared_bytes=shared, registers=registers)
        limits = (NO_LIMIT if found.limits[name] is None else found.limits[name] for name in
                  (THREADS, REGISTERS, SHARED_MEMORY, BLOCKS))  # fmt: skip
        assert f"0 {found.ctas_per_sm} {' '.join(map(str, limits))}" == answer, (gpu.name, launch)
