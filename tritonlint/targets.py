"""Which GPUs and which Triton release to check for, and why.

In this order: the command line, the settings, what is installed here (the local GPU, the project's Triton),
the project's lock and requirement files, and last three common GPUs with the newest release known. A comment
at a launch (`assume gpu=...`) goes before all of them, for that launch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tritonlint.settings import Settings, SettingsError

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile
    from tritonlint.source.sites import Platform

DEFAULT_GPUS = ("a100", "h100", "rtx4090")
_UNCHOSEN = "default"


@dataclass(frozen=True, slots=True)
class Targets:
    """The names of the GPUs in the order asked for, the release, and the words for the summary. What the GPUs have is
    read when it is asked for: a run that finds all its results in the cache needs none of it."""

    names: tuple[str, ...]
    triton: tuple[int, int]
    gpus_why: str
    triton_why: str
    own: Mapping[str, GpuProfile]

    @property
    def gpus(self) -> tuple[GpuProfile, ...]:
        return tuple(self.own.get(name) or named_gpu(name) for name in self.names)

    @property
    def chosen(self) -> bool:
        """Whether anybody or anything names the GPUs; otherwise they are the three that stand for most."""
        return self.gpus_why != _UNCHOSEN

    @property
    def triton_name(self) -> str:
        return f"{self.triton[0]}.{self.triton[1]}"

    def described(self) -> str:
        """ "a100, h100, rtx4090 (default), Triton 3.9 (installed)"."""
        names = ", ".join(self.names)
        why = self.triton_why + _judged_as(self.triton)
        return f"{names} ({self.gpus_why}), Triton {self.triton_name} ({why})"


def choose(
    settings: Settings,
    folder: Path,
    gpus: Sequence[str] | None = None,
    triton: str | None = None,
) -> Targets:
    """The targets for files of `folder`. `gpus` and `triton` are those of the command line.

    Raises SettingsError for a GPU or release that is not known, with near names.
    """
    own = own_profiles(settings)
    root = settings.root or project_root(folder)
    names, gpus_why = _gpu_names(settings, gpus)
    origin = settings.origins.get("gpus", "") if not gpus else ""
    found = tuple(dict.fromkeys(_canonical(name, own, origin) for name in names))
    release, triton_why = _release(settings, root, triton)
    return Targets(found, release, gpus_why, triton_why, own)


def _canonical(name: str, own: Mapping[str, GpuProfile], origin: str) -> str:
    """The name of the profile that a spelling means. Raises SettingsError."""
    from tritonlint.gpu.names import resolve

    known = None if own else resolve(name)
    return known if known is not None else named_gpu(name, own, origin).name


def own_profiles(settings: Settings) -> dict[str, GpuProfile]:
    """The GPUs of `profiles`. Raises SettingsError."""
    found: dict[str, GpuProfile] = {}
    if settings.profiles:
        from tritonlint.gpu.profile import ProfileError, build_profile

        for name, table in settings.profiles.items():
            try:
                found[name] = build_profile(name, table, found)
            except ProfileError as error:
                raise SettingsError(str(error), settings.origins.get("profiles", "")) from None
    return found


def named_gpu(name: str, own: Mapping[str, GpuProfile] | None = None, origin: str = "") -> GpuProfile:
    """A GPU by any spelling of its name. Raises SettingsError with near names."""
    from tritonlint.gpu.names import UnknownGpuError
    from tritonlint.gpu.profile import find_gpu

    try:
        return find_gpu(name, own)
    except UnknownGpuError as error:
        raise SettingsError(str(error), origin) from None


def named_release(text: str, origin: str = "") -> tuple[int, int]:
    """(3, 9) for "3.9" or "3.9.0". Raises SettingsError where that is no release."""
    from tritonlint.compiler.releases import parse_release, releases

    found = parse_release(text)
    oldest = releases()[0].version
    if found is None or found.version < oldest:
        known = ", ".join(f"{major}.{minor}" for major, minor in (row.version for row in releases()))
        raise SettingsError(f"unknown Triton release {text!r}; known: {known}", origin)
    return found.version


def _gpu_names(settings: Settings, gpus: Sequence[str] | None) -> tuple[tuple[str, ...], str]:
    if gpus:
        return tuple(gpus), "--gpu"
    if settings.gpus:
        return settings.gpus, "settings"
    from tritonlint.gpu.detect import detect

    local = tuple(dict.fromkeys(detect()))
    if local:
        return local, "this machine"
    return DEFAULT_GPUS, _UNCHOSEN


def _release(settings: Settings, root: Path, triton: str | None) -> tuple[tuple[int, int], str]:
    if triton:
        return named_release(triton), "--triton"
    if settings.triton:
        return named_release(settings.triton, settings.origins.get("triton", "")), "settings"
    from tritonlint.pins import installed, locked

    pin = installed(root) or locked(root)
    if pin is not None:
        try:
            return named_release(pin.triton), pin.why
        except SettingsError:  # older than anything known
            pass
    from tritonlint.compiler.releases import newest

    return newest().version, "newest known"


def _judged_as(triton: tuple[int, int]) -> str:
    """What the summary adds where a release is not modelled itself."""
    from tritonlint.compiler.releases import newest, release, releases

    if release(*triton).known:
        return ""
    row = max(row.version for row in releases() if row.version <= triton)
    name = f"{row[0]}.{row[1]}"
    what = f"newer than {name}, the newest known" if row == newest().version else "not known"
    return f"; {what}: judged as {name}, findings on memory are possible only"


def project_root(folder: Path) -> Path:
    """The nearest folder above that looks like a project's top, else the folder itself."""
    absolute = Path(os.path.abspath(folder))
    for place in (absolute, *absolute.parents):
        try:
            if (place / ".git").exists() or (place / "pyproject.toml").is_file():
                return place
        except OSError:
            break
    return absolute


def platform(gpu: GpuProfile, triton: tuple[int, int]) -> Platform:
    """What conditions in the source see of a target."""
    from tritonlint.source.sites import Platform

    properties = {
        "multi_processor_count": gpu.multiprocessors,
        "max_shared_memory_per_multiprocessor": gpu.shared_bytes_per_sm,
        "shared_memory_per_block_optin": gpu.shared_bytes_per_cta,
        "max_shared_mem": gpu.shared_bytes_per_cta,
        "multiprocessor_count": gpu.multiprocessors,
        "max_num_regs": gpu.registers_per_sm,
        "warpSize": gpu.warp_size,
        "warp_size": gpu.warp_size,
        "max_threads_per_multi_processor": gpu.threads_per_sm,
        "L2_cache_size": gpu.l2_bytes,
        "total_memory": gpu.dram_bytes,
    }
    known = {name: value for name, value in properties.items() if value is not None}
    device = "" if gpu.is_target else gpu.name
    return Platform(gpu.arch, triton, device, known)
