"""The local GPU, from what the drivers say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonlint.gpu import detect as module
from tritonlint.gpu.detect import detect, match, match_amd


def test_no_driver_gives_an_empty_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No library, no AMD driver."""
    monkeypatch.setattr(module, "_NVML", {"linux": "libno-such-library.so", "win32": "no.dll"})
    monkeypatch.setattr(module, "_KFD", tmp_path / "none")
    assert detect() == []


@pytest.mark.parametrize(
    ("name", "arch", "found"),
    [
        ("NVIDIA H100 80GB HBM3", "sm_90", "h100"),
        ("NVIDIA H200", "sm_90", "h200"),
        ("NVIDIA GeForce RTX 4090", "sm_89", "rtx4090"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "sm_89", "sm_89"),
        ("NVIDIA H100 80GB HBM3", "sm_91", None),
        ("Quadro P400", "sm_61", None),
        ("L4", "sm_80", "sm_80"),
    ],
)
def test_match(name: str, arch: str, found: str | None) -> None:
    """A product by name if its architecture agrees, else the architecture, else nothing."""
    assert match(name, arch) == found


def _node(folder: Path, index: int, properties: dict[str, int], memory: int = 0) -> None:
    bank = folder / str(index) / "mem_banks" / "0"
    bank.mkdir(parents=True)
    (bank / "properties").write_text(f"heap_type 1\nsize_in_bytes {memory}\n")
    lines = "".join(f"{key} {value}\n" for key, value in properties.items())
    (folder / str(index) / "properties").write_text(lines)


def test_amd_topology(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A CPU node is passed over; MI300X and MI325X differ by memory only; an unknown architecture is left
    out."""
    _node(tmp_path, 0, {"cpu_cores_count": 96, "simd_count": 0, "gfx_target_version": 0})
    _node(tmp_path, 1, {"simd_count": 1216, "simd_per_cu": 4, "gfx_target_version": 90402}, 206_141_652_992)
    _node(tmp_path, 2, {"simd_count": 1216, "simd_per_cu": 4, "gfx_target_version": 90402}, 274_861_129_728)
    _node(tmp_path, 3, {"simd_count": 192, "simd_per_cu": 2, "gfx_target_version": 110000}, 25_753_026_560)
    _node(tmp_path, 4, {"simd_count": 128, "simd_per_cu": 2, "gfx_target_version": 120001}, 17_095_983_104)
    _node(tmp_path, 10, {"simd_count": 440, "simd_per_cu": 4, "gfx_target_version": 90010}, 68_702_699_520)
    _node(tmp_path, 11, {"simd_count": 80, "simd_per_cu": 2, "gfx_target_version": 100300}, 17_095_983_104)
    monkeypatch.setattr(module, "_KFD", tmp_path)
    monkeypatch.setattr(module, "_NVML", {})
    assert detect() == ["mi300x", "mi325x", "rx7900xtx", "rx9070xt", "mi250x"]


def test_amd_driver_that_makes_no_sense(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Broken files in sysfs are as no GPU."""
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "properties").write_bytes(b"\xff\xfe simd_count\nsimd_count many\n")
    monkeypatch.setattr(module, "_KFD", tmp_path)
    monkeypatch.setattr(module, "_NVML", {})
    assert detect() == []


def test_amd_product_unknown_gives_the_architecture() -> None:
    """An MI300A has gfx942 with other numbers."""
    assert match_amd("gfx942", 228, 128 * 2**30) == "gfx942"
    assert match_amd("gfx906", 60, 2**34) is None
