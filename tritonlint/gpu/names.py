"""Which GPU a name means.

Nothing is parsed here: a name leads to the stem of a data file, and only that file is read. The table is the
one place where other spellings are written down; a test holds it and the folder of files together.
"""

from __future__ import annotations

import difflib
import re
from functools import lru_cache

# Architectures: plain targets, each a file of gpu/architectures/.
TARGETS: tuple[str, ...] = (
    "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110",
    "sm_120", "sm_121", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201",
    "gfx1250",
)  # fmt: skip

# Profiles: the stem of a file of gpu/profiles/, and what else people and drivers call that GPU. Vendor words,
# form factors and memory sizes need no entry: `resolve` drops them.
PROFILES: dict[str, tuple[str, ...]] = {
    "a10": (),
    "a100": ("a100-40gb", "a100-sxm4-40gb", "a100-pcie-40gb", "a100-sxm"),
    "a100-80gb": ("a100-sxm4-80gb", "a100-sxm-80gb"),
    "a100-80gb-pcie": ("a100-pcie-80gb", "a100-pcie"),
    "a800": ("a800-80gb", "a800-sxm4-80gb"),
    "b200": (),
    "b300": ("b300-sxm6-ac", "b300-sxm6"),
    "gb10": ("dgx-spark",),
    "gb200": (),
    "gb300": (),
    "gh200": ("gh200-480gb", "gh200-96gb", "grace-hopper"),
    "gh200-144gb": ("gh200-144g-hbm3e",),
    "h100": ("h100-sxm", "h100-sxm5", "h100-hbm3"),
    "h100-pcie": ("h100-80gb-pcie",),
    "h20": ("h20-sxm",),
    "h20-3e": ("h20-141gb", "h20-hbm3e"),
    "h200": ("h200-sxm", "h200-sxm5"),
    "h200-nvl": (),
    "h800": ("h800-sxm", "h800-sxm5"),
    "l20": (),
    "l4": (),
    "l40s": (),
    "orin": ("agx-orin", "jetson-agx-orin", "jetson-orin", "orin-64gb"),
    "rtx3070": ("3070",),
    "rtx3080": ("3080",),
    "rtx3090": ("3090",),
    "rtx4070": ("4070",),
    "rtx4090": ("4090",),
    "rtx5080": ("5080",),
    "rtx5090": ("5090",),
    "rtx6000-ada": ("rtx-6000-ada-generation", "6000-ada"),
    "rtx-pro-6000": ("rtx-pro-6000-blackwell", "rtx-pro-6000-blackwell-workstation-edition"),
    "rtx-pro-6000-max-q": (
        "rtx-pro-6000-blackwell-max-q-workstation-edition",
        "rtx-pro-6000-blackwell-max-q",
    ),
    "rtx-pro-6000-server": ("rtx-pro-6000-blackwell-server-edition", "rtx-pro-6000-blackwell-server"),
    "t4": (),
    "v100": ("v100-sxm2", "v100-sxm"),
    "mi250x": ("mi250x-gcd",),
    "mi300x": (),
    "mi308x": (),
    "mi325x": ("mi325",),
    "mi350x": ("mi350",),
    "mi355x": ("mi355",),
    "rx7900xtx": ("7900xtx",),
    "rx9070xt": ("9070xt",),
}

_VENDOR_WORDS = frozenset(
    (
        "nvidia",
        "geforce",
        "tesla",
        "quadro",
        "amd",
        "ati",
        "instinct",
        "radeon",
        "graphics",
        "gpu",
        "accelerator",
    )
)
_FORM_FACTOR = re.compile(r"sxm\d?|hbm\d?e?|oam|tensorcore")
_MEMORY = re.compile(r"\d+gb?")
_GLUED_VENDOR = re.compile(r"^(?:nvidia|geforce|tesla|quadro|amd|instinct|radeon)+(?=[a-z]*\d)")
_ARCHITECTURE_SUFFIX = re.compile(r"(sm\d+)[af]$")


class UnknownGpuError(LookupError):
    """No profile and no target has that name. `near` lists the closest ones, best first."""

    def __init__(self, name: str, near: tuple[str, ...]) -> None:
        self.name = name
        self.near = near
        hint = f"; near: {', '.join(near)}" if near else "; `tritonlint gpus` lists the known ones"
        super().__init__(f"unknown GPU {name!r}{hint}")


def words(name: str) -> list[str]:
    """The words of a name, lower case, without vendor words: "GeForce RTX 4090" -> ["rtx", "4090"]."""
    plain = name.strip().lower().split(":")[0]  # gfx90a:sramecc+:xnack-
    parts = [part for part in re.split(r"[^a-z0-9]+", plain) if part]
    return [_GLUED_VENDOR.sub("", part) for part in parts if part not in _VENDOR_WORDS]


def squeeze(name: str) -> str:
    """A name without what spellings differ in: "RTX 4090", "rtx_4090" and "NVIDIA-RTX4090" are equal."""
    return "".join(words(name))


@lru_cache(maxsize=1)
def _index() -> dict[str, str]:
    index = {squeeze(target): target for target in TARGETS}
    for stem, others in PROFILES.items():
        for spelling in (stem, *others):
            index[squeeze(spelling)] = stem
    return index


def resolve(name: str) -> str | None:
    """The canonical name (a stem of PROFILES or one of TARGETS), or None.

    The whole name is tried first, so that A100-SXM4-80GB is not the 40 GB card; then without its form factor,
    then without its memory size.
    """
    index = _index()
    parts = words(name)
    whole = "".join(parts)
    found = index.get(_ARCHITECTURE_SUFFIX.sub(r"\1", whole))
    if found is None and parts:
        parts = [parts[0], *(part for part in parts[1:] if not _FORM_FACTOR.fullmatch(part))]
        found = index.get("".join(parts))
    if found is None and parts:
        parts = [parts[0], *(part for part in parts[1:] if not _MEMORY.fullmatch(part))]
        found = index.get("".join(parts))
    return found


def near(name: str, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Up to five canonical names close to `name`, best first. `extra`: names of own profiles."""
    index = {**_index(), **{squeeze(other): other for other in extra}}
    wanted = squeeze(name)[:80]
    close = difflib.get_close_matches(wanted, index, n=12, cutoff=0.5)
    return tuple(dict.fromkeys(index[key] for key in close))[:5]
