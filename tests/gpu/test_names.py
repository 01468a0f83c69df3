"""Which names lead to which GPU."""

from __future__ import annotations

import pytest

from tritonlint.gpu.data import path_of
from tritonlint.gpu.names import PROFILES, TARGETS, UnknownGpuError, near, resolve, squeeze
from tritonlint.gpu.profile import find_gpu


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("RTX 4090", "rtx4090"),
        ("rtx4090", "rtx4090"),
        ("rtx-4090", "rtx4090"),
        ("NVIDIA_GeForce_RTX_4090", "rtx4090"),
        ("NVIDIA GeForce RTX 3070", "rtx3070"),
        ("Tesla T4", "t4"),
        ("Tesla V100-SXM2-16GB", "v100"),
        ("A100", "a100"),
        ("NVIDIA_A100-SXM4-40GB", "a100"),
        ("NVIDIA A100-PCIE-40GB", "a100"),
        ("NVIDIA_A100-SXM4-80GB", "a100-80gb"),
        ("A100 80GB", "a100-80gb"),
        ("NVIDIA_A100_80GB_PCIe", "a100-80gb-pcie"),
        ("NVIDIA_A800-SXM4-80GB", "a800"),
        ("NVIDIA_H100_80GB_HBM3", "h100"),
        ("nvidiaH100", "h100"),
        ("H100 SXM5", "h100"),
        ("H100 PCIe", "h100-pcie"),
        ("NVIDIA_H200", "h200"),
        ("NVIDIA_H200_NVL", "h200-nvl"),
        ("NVIDIA_H20", "h20"),
        ("NVIDIA_H20-3e", "h20-3e"),
        ("NVIDIA GH200 480GB", "gh200"),
        ("NVIDIA_B300_SXM6_AC", "b300"),
        ("NVIDIA_GB10", "gb10"),
        ("NVIDIA_L40S", "l40s"),
        ("NVIDIA RTX 6000 Ada Generation", "rtx6000-ada"),
        ("NVIDIA_RTX_PRO_6000_Blackwell_Workstation_Edition", "rtx-pro-6000"),
        ("NVIDIA_RTX_PRO_6000_Blackwell_Server_Edition", "rtx-pro-6000-server"),
        ("NVIDIA_RTX_PRO_6000_Blackwell_Max-Q_Workstation_Edition", "rtx-pro-6000-max-q"),
        ("AMD_Instinct_MI300X", "mi300x"),
        ("AMD_Instinct_MI325_OAM", "mi325x"),
        ("AMD_Instinct_MI350_OAM", "mi350x"),
        ("AMD Radeon RX 7900 XTX", "rx7900xtx"),
        ("sm90", "sm_90"),
        ("SM_90a", "sm_90"),
        ("sm_120f", "sm_120"),
        ("gfx90a:sramecc+:xnack-", "gfx90a"),
    ],
)
def test_spellings(name: str, canonical: str) -> None:
    """Case, blanks, hyphens, vendor words, form factors and memory sizes do not matter; what tells two
    products apart does."""
    assert resolve(name) == canonical
    assert find_gpu(name).name == canonical


@pytest.mark.parametrize(
    "name",
    [
        "RTX 4090 Laptop GPU",
        "RTX 4090 D",
        "RTX 3080 Ti",
        "RTX 4070 SUPER",
        "H100 NVL",
        "AMD_Radeon_Graphics",
        "sm_91",
    ],
)
def test_another_product_is_not_taken_for_its_namesake(name: str) -> None:
    """A laptop's RTX 4090 has another chip with fewer multiprocessors."""
    assert resolve(name) is None


@pytest.mark.parametrize("name", ["", "   ", "-_-", "NVIDIA", "\x00", "h" * 5000, "日本"])
def test_nonsense_names_no_gpu(name: str) -> None:
    """Any text at all gives the typed error."""
    with pytest.raises(UnknownGpuError):
        find_gpu(name)


def test_unknown_lists_near_names() -> None:
    """The error tells which names are close, best first."""
    with pytest.raises(UnknownGpuError, match=r"unknown GPU 'rtx4900'; near: rtx4090") as caught:
        find_gpu("rtx4900")
    assert caught.value.near[0] == "rtx4090"
    assert near("my-big-gpu", ("my-big-one",)) == ("my-big-one",)


def test_spellings_are_unique() -> None:
    """No spelling belongs to two GPUs."""
    spellings = [squeeze(name) for stem, others in PROFILES.items() for name in {stem, *others}]
    spellings += [squeeze(name) for name in TARGETS]
    assert len({*spellings}) == len(spellings)


def test_table_and_files_agree() -> None:
    """Every profile and target has its file, and every file its entry."""
    assert {path.stem for path in path_of("h100").parent.glob("*.toml")} == {*PROFILES}
    families = {"nvidia", "cdna", "rdna"}
    assert {path.stem for path in path_of("sm_90").parent.glob("*.toml")} - families == {*TARGETS}
