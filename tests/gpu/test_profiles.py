"""The shipped data: complete, sourced, plausible; and own profiles."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest

from tritonlint.gpu.data import load_facts, path_of
from tritonlint.gpu.names import PROFILES, TARGETS
from tritonlint.gpu.profile import (
    FLOPS_KEYS,
    GpuProfile,
    ProfileError,
    build_profile,
    find_gpu,
    list_profiles,
)

EVERY = [*PROFILES, *TARGETS]


@pytest.mark.parametrize("name", EVERY)
def test_every_number_has_a_source(name: str) -> None:
    """`tritonlint gpus` prints each number with where it comes from."""
    rows = find_gpu(name).numbers()
    assert rows
    assert [field for field, _, source in rows if not source] == []


@pytest.mark.parametrize("name", PROFILES)
def test_product_is_complete(name: str) -> None:
    """A product has multiprocessors, bandwidth, memory and caches; rates are of known data types and of a
    likely size."""
    gpu = find_gpu(name)
    assert not gpu.is_target
    assert gpu.title
    assert gpu.multiprocessors and 8 <= gpu.multiprocessors <= 512
    assert gpu.l2_bytes and 2**20 <= gpu.l2_bytes <= 2**28
    assert gpu.dram_bytes_per_s and 1e11 <= gpu.dram_bytes_per_s <= 1e13
    assert gpu.dram_bytes is None or 4e9 <= gpu.dram_bytes <= 4e11
    assert {*gpu.flops} <= {*FLOPS_KEYS}
    if name != "mi308x":  # no public source gives its rates
        assert gpu.flops


def test_fp32_rates_follow_from_units_and_clocks() -> None:
    """Where a datasheet gives a clock, fp32 units x 2 x clock is its fp32 rate: this finds slips of the
    pen. NVIDIA has 128 units in a multiprocessor from 8.6 on, 64 before; AMD's units issue two at a time
    from CDNA 3 and RDNA 3 on. The H100's clock is that of its tensor cores, below that of the fp32 rate."""
    checked = 0
    for gpu in list_profiles(targets=False):
        rate = gpu.flops.get("fp32")
        if gpu.clock_hz is None or rate is None or gpu.multiprocessors is None:
            continue
        units = {"gfx90a": 64, "gfx942": 128, "gfx950": 128}.get(gpu.arch, 256)
        if gpu.vendor == "nvidia":
            units = 128 if gpu.capability >= 86 else 64
        expected = gpu.multiprocessors * units * 2 * gpu.clock_hz
        assert rate == pytest.approx(expected, rel=0.13 if gpu.arch == "sm_90" else 0.02), gpu.name
        checked += 1
    assert checked > 20


@pytest.mark.parametrize("name", TARGETS)
def test_target_has_limits_only(name: str) -> None:
    """An architecture says nothing about a product."""
    gpu = find_gpu(name)
    assert gpu.is_target
    assert gpu.arch == name
    assert gpu.dram_bytes_per_s is None
    assert gpu.flops == {}


@pytest.mark.parametrize(
    ("name", "per_cta", "per_sm", "warps", "ctas"),
    [
        ("sm_70", 98304, 96, 64, 32), ("sm_75", 65536, 64, 32, 16), ("sm_80", 166912, 164, 64, 32),
        ("sm_87", 166912, 164, 48, 16), ("sm_86", 101376, 100, 48, 16), ("sm_89", 101376, 100, 48, 24),
        ("sm_90", 232448, 228, 64, 32), ("sm_100", 232448, 228, 64, 32), ("sm_103", 232448, 228, 64, 32),
        ("sm_120", 101376, 100, 48, 24), ("sm_121", 101376, 100, 48, 24),
    ],
)  # fmt: skip
def test_nvidia_limits(name: str, per_cta: int, per_sm: int, warps: int, ctas: int) -> None:
    """Shared memory a program may ask for, of a multiprocessor, resident warps and programs."""
    gpu = find_gpu(name)
    assert (gpu.shared_bytes_per_cta, gpu.shared_bytes_per_sm) == (per_cta, per_sm * 1024)
    assert (gpu.warps_per_sm, gpu.ctas_per_sm) == (warps, ctas)
    assert gpu.shared_bytes_per_cta + gpu.shared_bytes_reserved_per_cta == gpu.shared_bytes_per_sm


def test_h200_is_what_the_device_reports() -> None:
    """Attributes of a real H200."""
    gpu = find_gpu("h200")
    assert gpu.multiprocessors == 132
    assert gpu.shared_bytes_per_sm == 233472
    assert gpu.shared_bytes_per_cta == 232448
    assert gpu.shared_bytes_reserved_per_cta == 1024
    assert gpu.l2_bytes == 62914560
    assert gpu.threads_per_sm == 2048


def test_peak_flops_by_triton_type() -> None:
    """The formats of one width share a rate; what no source gives is None."""
    gpu = find_gpu("h100")
    assert gpu.peak_flops("fp8e4nv") == gpu.peak_flops("fp8e5") == gpu.flops["fp8"]
    assert gpu.peak_flops("i8") == gpu.peak_flops("u8") == gpu.flops["int8"]
    assert find_gpu("v100").peak_flops("bf16") is None


def test_profiles_are_frozen_hashable_and_cross_processes() -> None:
    """They are keys of caches and go to worker processes."""
    gpu = find_gpu("h100")
    assert find_gpu("H100") is gpu
    assert pickle.loads(pickle.dumps(gpu)) == gpu
    assert hash(pickle.loads(pickle.dumps(gpu))) == hash(gpu)
    with pytest.raises(ValueError, match="frozen"):
        gpu.multiprocessors = 1


def test_only_the_gpu_asked_for_is_read() -> None:
    """Another profile's broken file does no harm, and nothing else is opened."""
    code = (
        "import pathlib; from tritonlint.gpu.profile import find_gpu; read = []\n"
        "real = pathlib.Path.read_text\n"
        "pathlib.Path.read_text = lambda self, *a, **k: (read.append(self.stem), real(self, *a, **k))[1]\n"
        "find_gpu('h200'); print(sorted(read))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['h100', 'h200', 'nvidia', 'sm_90']"


def test_names_and_detection_need_no_pydantic() -> None:
    """Name resolution runs in the settings reader, which must stay light."""
    code = (
        "import sys; from tritonlint.gpu.names import resolve; import tritonlint.gpu.detect\n"
        "print(resolve('RTX 4090'), 'pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["rtx4090", "False"]


def test_list_is_everything() -> None:
    """Products by name, then targets."""
    names = [gpu.name for gpu in list_profiles()]
    assert names == [*sorted(PROFILES), *TARGETS]
    assert [gpu.name for gpu in list_profiles(targets=False)] == sorted(PROFILES)


def test_a_number_given_twice_in_a_file_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Two sources for one number in one file would hide one of them."""
    monkeypatch.setattr("tritonlint.gpu.data._FOLDER", tmp_path)
    (tmp_path / "profiles").mkdir()
    block = '[[facts]]\nsource = "x"\nmultiprocessors = 1\n'
    path_of("twice").write_text(block + block)
    with pytest.raises(ValueError, match="multiprocessors is given twice"):
        load_facts("twice")


# Own profiles


def test_own_profile_from_a_base() -> None:
    """The base's numbers hold unless the table gives its own; sources say which is which."""
    gpu = build_profile("h100-half", {"base": "H100", "multiprocessors": 66, "flops": {"fp16": 5e14}})
    assert gpu.name == "h100-half"
    assert gpu.multiprocessors == 66
    assert gpu.shared_bytes_per_cta == 232448
    assert gpu.flops["fp16"] == 5e14
    assert gpu.flops["fp8"] == find_gpu("h100").flops["fp8"]
    assert gpu.sources["multiprocessors"] == "settings"
    assert gpu.sources["flops.fp16"] == "settings"
    assert gpu.sources["l2_bytes"] == find_gpu("h100").sources["l2_bytes"]


def test_own_profiles_are_found_first_and_build_on_each_other() -> None:
    """An own profile may take a shipped one's name, and be a base."""
    mine = build_profile("rtx4090", {"base": "rtx4090", "clock-hz": 2.2e9, "aliases": ["work station"]})
    own = {"rtx4090": mine}
    assert find_gpu("RTX 4090", own) is mine
    assert find_gpu("Work-Station", own) is mine
    assert mine.clock_hz == 2.2e9
    assert build_profile("other", {"base": "workstation"}, own).clock_hz == 2.2e9


@pytest.mark.parametrize(
    ("table", "key", "text"),
    [
        ({"base": "h1000"}, "base", "near: h100"),
        ({"base": 90}, "base", "is not a name"),
        ({"base": "h100", "multiprocesors": 3}, "multiprocesors", "multiprocessors?"),
        ({"base": "h100", "multiprocessors": -1}, "multiprocessors", "greater than 0"),
        ({"base": "h100", "multiprocessors": "many"}, "multiprocessors", "integer"),
        ({"base": "h100", "multiprocessors": None, "arch": "90"}, "arch", "sm_90, gfx942"),
        ({"base": "h100", "vendor": "intel"}, "vendor", "'nvidia' or 'amd'"),
        ({"base": "h100", "flops": {"fp7": 1e12}}, "flops.fp7", "fp16"),
        ({"base": "h100", "flops": {"fp16": "fast"}}, "flops.fp16", "number"),
        ({"base": "h100", "flops": 3}, "flops", "dictionary"),
        ({"base": "h100", "name": "x"}, "name", "unknown key"),
        ({"vendor": "nvidia", "arch": "sm_90"}, "warp_size", "is missing"),
        ({}, "vendor", "is missing"),
    ],
)
def test_wrong_own_profiles(table: dict[str, Any], key: str, text: str) -> None:
    """The error names the key and what may stand there."""
    with pytest.raises(ProfileError) as caught:
        build_profile("mine", table)
    assert caught.value.key == key
    assert text in str(caught.value)
    assert str(caught.value).startswith(f"profiles.mine.{key}: ")


def test_own_profile_without_base() -> None:
    """Every limit given by hand."""
    limits = find_gpu("sm_90").model_dump(exclude={"name", "sources", "title", "aliases"}, exclude_none=True)
    gpu = build_profile("own", {**limits, "multiprocessors": 10})
    assert isinstance(gpu, GpuProfile)
    assert gpu.capability == 90
