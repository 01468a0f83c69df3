"""The built-in rules, one module a rule, found through the entry point `tritonlint_rules:RULES`.

`RULES` is made on first use: a program that only asks for a version or a GPU does not load the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonlint.rule import Rule

    RULES: tuple[Rule, ...]

# In the order of their codes.
MODULES = (
    "shared_memory_exceeded",
    "too_many_threads",
    "tensor_memory_exceeded",
    "no_config_fits",
    "block_not_power_of_two",
    "tensor_too_large",
    "dot_too_small",
    "num_warps_not_power_of_two",
    "clusters_unsupported",
    "dtype_unsupported",
    "unknown_option",
    "target_unsupported",
    "invalid_num_stages",
    "shape_mismatch",
    "unknown_meta_parameter",
    "conflicting_meta_parameter",
    "unknown_key",
    "unknown_restored_argument",
    "duplicate_config",
    "tuned_in_place",
    "missing_meta_parameter",
    "single_config",
    "no_configs",
    "prune_hook_signature",
    "key_varies",
    "wrong_decorator_order",
    "grid_too_large",
    "grid_block_mismatch",
    "grid_unknown_meta",
    "empty_grid",
    "idle_multiprocessors",
    "partial_last_wave",
    "grid_not_a_tuple",
    "occupancy_limited",
    "register_spill",
    "tensor_cores_lost",
    "stages_without_effect",
    "scratch_dominates",
    "memory_bound",
    "launch_bound",
    "dominated_config",
    "l2_reuse_lost",
    "pipelining_disabled",
    "foreign_option",
    "syntax_error",
    "unresolved_config",
    "unused_suppression",
    "unknown_rule",
)


def __getattr__(name: str) -> Any:
    if name != "RULES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    rules = tuple(import_module(f"{__name__}.{module}").RULE for module in MODULES)
    globals()["RULES"] = rules
    return rules
