"""What one GPU has: the record, and the ways to one.

    find_gpu("RTX 4090")               a shipped profile or a plain target; UnknownGpuError lists near names
    build_profile("mine", {...})       an own GPU from a settings table; ProfileError names the key
    list_profiles()                    all of them, each number with its source, for `tritonlint gpus`

Limits belong to the architecture and are written once, in gpu/architectures/; a profile adds what the product
has. One GPU is read at a time: the files of the others are not touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tritonlint.gpu.data import load_facts
from tritonlint.gpu.names import PROFILES, TARGETS, UnknownGpuError, near, resolve, squeeze

Vendor = Literal["nvidia", "amd"]

# Spelled as in Triton, shortened where formats share a rate: fp8 is e4m3 and e5m2, fp4 is e2m1.
FLOPS_KEYS = ("fp64", "fp64_tensor", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int8", "int4")


class GpuProfile(BaseModel):
    """One GPU, or one architecture ("sm_90") whose products differ: then what the product decides is None.

    A multiprocessor is what one program is placed on: NVIDIA's SM, AMD's compute unit on CDNA, its workgroup
    processor (two compute units) on RDNA. Registers are 32-bit registers of all lanes together.

    `flops` holds dense operations per second by data type (a fused multiply-add is two): the rate of the
    tensor cores with fp32 (for integers int32) accumulation where there are such cores; fp32 and fp64 are
    those of the ordinary units.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    vendor: Vendor
    arch: str = Field(pattern=r"^(sm_\d{2,3}|gfx[0-9a-f]{3,4})$")

    # Limits of the architecture
    warp_size: int = Field(gt=0)
    warps_per_sm: int = Field(gt=0)
    ctas_per_sm: int = Field(gt=0)
    threads_per_cta_max: int = Field(gt=0)
    shared_bytes_per_sm: int = Field(gt=0)
    shared_bytes_per_cta: int = Field(gt=0)  # the most one program may ask for (NVIDIA: opt-in limit)
    shared_bytes_reserved_per_cta: int = Field(default=0, ge=0)  # taken by the driver on top
    shared_allocation_unit: int = Field(gt=0)
    registers_per_sm: int = Field(gt=0)
    registers_per_thread_max: int = Field(gt=0)
    register_allocation_unit: int = Field(gt=0)  # NVIDIA: registers of a warp; AMD: registers of a lane
    sub_partitions: int = Field(gt=0)  # AMD: SIMDs
    tensor_memory_columns: int = Field(default=0, ge=0)

    # What the product has
    multiprocessors: int | None = Field(default=None, gt=0)
    l2_bytes: int | None = Field(default=None, gt=0)
    last_level_cache_bytes: int | None = Field(default=None, gt=0)  # AMD's Infinity Cache, behind the L2
    dram_bytes: int | None = Field(default=None, gt=0)
    dram_bytes_per_s: float | None = Field(default=None, gt=0)
    clock_hz: float | None = Field(default=None, gt=0)
    flops: dict[str, float] = Field(default_factory=dict)
    launch_floor_us: float | None = Field(default=None, gt=0)  # least time of a launch, start to end
    textbook_flops: float | None = Field(default=None, gt=0)  # the rounded peak that teaching material uses

    # Field name ("flops.fp16" for one rate) -> where the number comes from, in words
    sources: dict[str, str] = Field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.name, self.arch, self.multiprocessors))

    @property
    def capability(self) -> int:
        """NVIDIA compute capability as Triton writes it: 90 for sm_90; 0 on AMD."""
        return int(self.arch[3:]) if self.vendor == "nvidia" else 0

    @property
    def threads_per_sm(self) -> int:
        return self.warps_per_sm * self.warp_size

    @property
    def is_target(self) -> bool:
        """Whether this is a plain architecture, with no product's numbers."""
        return self.multiprocessors is None

    def peak_flops(self, dtype: str) -> float | None:
        """Dense operations per second for operands of that Triton type ("fp16", "fp8e4nv", "i8"), or None.

        fp32 gives the ordinary units' rate; ask for "tf32" where a dot uses it.
        """
        return self.flops.get(_rate_key(dtype))

    def numbers(self) -> list[tuple[str, float, str]]:
        """(field, value, source) of every number that is known, in the order of the fields; what the
        architecture does not have (tensor memory, a reserved part) is left out."""
        rows: list[tuple[str, float, str]] = []
        for field in type(self).model_fields:
            value = getattr(self, field)
            if field == "flops":
                rows += [
                    (f"flops.{key}", rate, self.sources.get(f"flops.{key}", ""))
                    for key, rate in value.items()
                ]
            elif isinstance(value, int | float) and (value or field in self.sources):
                rows.append((field, value, self.sources.get(field, "")))
        return rows


class ProfileError(ValueError):
    """A settings table that does not describe a GPU. `allowed` says what may stand at `key`."""

    def __init__(self, name: str, key: str, problem: str, allowed: str) -> None:
        self.name = name
        self.key = key
        self.problem = problem
        self.allowed = allowed
        super().__init__(f"profiles.{name}{'.' + key if key else ''}: {problem}; allowed: {allowed}")


def _rate_key(dtype: str) -> str:
    if dtype.startswith("fp8"):
        return "fp8"
    if dtype.startswith(("i", "u", "int")) and dtype.lstrip("uint").isdigit():
        return f"int{dtype.lstrip('uint')}"
    return dtype


def find_gpu(name: str, own: Mapping[str, GpuProfile] | None = None) -> GpuProfile:
    """The GPU of that name, loosely spelled. `own` are profiles from the settings, by name; they win.

    Raises UnknownGpuError with near names.
    """
    if own:
        wanted = squeeze(name)
        for profile in own.values():
            if wanted in {squeeze(profile.name), *map(squeeze, profile.aliases)}:
                return profile
    canonical = resolve(name)
    if canonical is None:
        raise UnknownGpuError(name, near(name, tuple(own or ())))
    return _shipped(canonical)


@cache
def _shipped(canonical: str) -> GpuProfile:
    values, sources = load_facts(canonical)
    return GpuProfile(name=canonical, aliases=PROFILES.get(canonical, ()), sources=sources, **values)


def list_profiles(targets: bool = True) -> list[GpuProfile]:
    """Every shipped GPU by name, then (with `targets`) the plain architectures. Reads all files."""
    return [_shipped(name) for name in (*sorted(PROFILES), *(TARGETS if targets else ()))]


def build_profile(
    name: str, table: Mapping[str, Any], own: Mapping[str, GpuProfile] | None = None
) -> GpuProfile:
    """An own GPU from a settings table `profiles.<name>`: the fields of GpuProfile, most of them from `base`.

    `base` is any known GPU or target ("h100", "sm_90"); without it every limit has to be given. Raises
    ProfileError.
    """
    settable = [field for field in GpuProfile.model_fields if field not in ("name", "sources")]
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    given = {str(key).replace("-", "_"): value for key, value in table.items()}
    base = given.pop("base", None)
    if base is not None:
        if not isinstance(base, str):
            raise ProfileError(
                name, "base", f"{base!r} is not a name", "the name of a GPU or target, such as h100"
            )
        try:
            parent = find_gpu(base, own)
        except UnknownGpuError as error:
            raise ProfileError(
                name, "base", str(error), "the name of a GPU or target, such as h100"
            ) from None
        values = parent.model_dump(exclude={"name", "title", "aliases", "sources"})
        sources = dict(parent.sources)
    for key, value in given.items():
        if key not in settable:
            raise ProfileError(
                name, key, f"unknown key{_near_key(key, settable)}", ", ".join(["base", *settable])
            )
        if key == "flops" and isinstance(value, Mapping):
            for dtype in value:
                if dtype not in FLOPS_KEYS:
                    raise ProfileError(name, f"flops.{dtype}", "unknown data type", ", ".join(FLOPS_KEYS))
                sources[f"flops.{dtype}"] = "settings"
            value = {**values.get("flops", {}), **value}
        values[key] = value
        sources[key] = "settings"
    try:
        return GpuProfile(name=name, sources=sources, **values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing":
            raise ProfileError(name, key, "is missing", "a number, or `base` to take it from") from None
        raise ProfileError(name, key, f"{first['input']!r}", _allowed(first["type"], first["msg"])) from None


def _near_key(key: str, keys: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(key, keys, n=1)
    return f", {close[0]}?" if close else ""


def _allowed(kind: str, message: str) -> str:
    if kind == "string_pattern_mismatch":
        return "sm_90, gfx942 and alike"
    return message.replace("Input should be ", "")
