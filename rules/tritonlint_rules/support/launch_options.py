"""Keywords that a launch, a Config and a decorator take, by release and vendor.

Read in the Python of Triton's wheels 2.1 to 3.9: `CUDAOptions` and `HIPOptions`, and the signatures of
`Config` and `autotune`. A row says what is not as in the release before it; a newer release than the last
row is taken as the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

Vendor = Literal["nvidia", "amd"]
Version = tuple[int, int]

_Row = tuple[Version, str, str]  # (release, added, removed), names split by blanks

# Options of the launcher itself, and such as only the compiler's own tests give.
_EVERYWHERE = frozenset(["num_warps", "num_stages", "extern_libs", "grid", "warmup"])

_NVIDIA: tuple[_Row, ...] = (
    ((2, 1), "stream device device_type", ""),
    ((2, 2), "num_ctas enable_warp_specialization enable_fp_fusion", ""),
    (
        (2, 3),
        "cluster_dims ptx_version enable_persistent optimize_epilogue debug allow_fp8e4nv "
        "max_num_imprecise_acc_default",
        "stream device device_type",
    ),
    (
        (3, 0),
        "maxnreg allow_fp8e4b15 default_dot_input_precision allowed_dot_input_precisions backend_name",
        "enable_warp_specialization enable_persistent optimize_epilogue",
    ),
    (
        (3, 2),
        "num_buffers_warp_spec num_consumer_groups reg_dec_producer reg_inc_consumer sanitize_overflow "
        "supported_fp8_dtypes deprecated_fp8_dtypes",
        "allow_fp8e4b15 allow_fp8e4nv",
    ),
    ((3, 3), "launch_cooperative_grid arch", ""),
    (
        (3, 4),
        "launch_pdl ir_override ptx_options deprecated_fp8_dot_operand_dtypes",
        "num_buffers_warp_spec num_consumer_groups reg_dec_producer reg_inc_consumer deprecated_fp8_dtypes",
    ),
    ((3, 5), "warp_size instrumentation_mode", ""),
    ((3, 6), "enable_reflect_ftz", "cluster_dims"),
    ((3, 9), "clc sched4reg min_shared_mem fpsan_homomorphic_casts", ""),
)

_AMD: tuple[_Row, ...] = (
    (
        (3, 0),
        "num_ctas enable_fp_fusion cluster_dims debug waves_per_eu matrix_instr_nonkdim kpack "
        "allow_flush_denorm arch warp_size allow_fp8e4nv allow_fp8e4b15 default_dot_input_precision "
        "allowed_dot_input_precisions max_num_imprecise_acc_default backend_name",
        "",
    ),
    (
        (3, 2),
        "instruction_sched_variant num_buffers_warp_spec num_consumer_groups reg_dec_producer "
        "reg_inc_consumer sanitize_overflow supported_fp8_dtypes deprecated_fp8_dtypes",
        "allow_fp8e4b15 allow_fp8e4nv",
    ),
    ((3, 3), "launch_cooperative_grid", ""),
    (
        (3, 4),
        "schedule_hint deprecated_fp8_dot_operand_dtypes",
        "instruction_sched_variant num_buffers_warp_spec num_consumer_groups reg_dec_producer "
        "reg_inc_consumer deprecated_fp8_dtypes",
    ),
    ((3, 5), "instrumentation_mode", ""),
    ((3, 6), "", "cluster_dims"),
    ((3, 8), "llvm_fn_attrs", ""),
    ((3, 9), "wgp_cu_mode fpsan_homomorphic_casts base_arch", ""),
)

_CONFIG: tuple[_Row, ...] = (
    ((2, 1), "kwargs num_warps num_stages pre_hook", ""),
    ((2, 2), "num_ctas enable_warp_specialization", ""),
    ((3, 0), "maxnreg", "enable_warp_specialization"),
    ((3, 2), "num_buffers_warp_spec num_consumer_groups reg_dec_producer reg_inc_consumer", ""),
    (
        (3, 4),
        "ir_override",
        "num_buffers_warp_spec num_consumer_groups reg_dec_producer reg_inc_consumer",
    ),
)

_TABLES: Mapping[str, tuple[_Row, ...]] = {"nvidia": _NVIDIA, "amd": _AMD, "config": _CONFIG}


@lru_cache(maxsize=64)
def _known(table: str, triton: Version) -> frozenset[str]:
    names: set[str] = set()
    for version, added, removed in _TABLES[table]:
        if version <= triton:
            names |= set(added.split())
            names -= set(removed.split())
    return frozenset(names)


def options(vendor: Vendor, triton: Version) -> frozenset[str] | None:
    """Every keyword that a launch takes besides the kernel's parameters. None where it is not known (AMD
    before 3.0 was a separate package)."""
    if vendor == "amd" and triton < (3, 0):
        return None
    return _EVERYWHERE | _known(vendor, triton)


def config_keywords(triton: Version) -> frozenset[str]:
    """Every keyword that `triton.Config` takes."""
    return _known("config", triton)


def everywhere_known(name: str) -> bool:
    """Whether any release or vendor knows the option: then it is one, if not here."""
    return name in _EVERYWHERE or any(
        name in f"{added} ".split() for table in (_NVIDIA, _AMD, _CONFIG) for _, added, _ in table
    )


def vendors_of(name: str, triton: Version) -> tuple[Vendor, ...]:
    """The vendors whose backend knows the option in that release."""
    found: list[Vendor] = []
    for vendor in ("nvidia", "amd"):
        known = options(vendor, triton)
        if known is not None and name in known:
            found.append(vendor)
    return tuple(found)
