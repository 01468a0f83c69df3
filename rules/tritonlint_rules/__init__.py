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
    "no_config_fits",
    "block_not_power_of_two",
    "num_warps_not_power_of_two",
    "idle_multiprocessors",
    "partial_last_wave",
    "occupancy_limited",
    "syntax_error",
    "unresolved_config",
)


def __getattr__(name: str) -> Any:
    if name != "RULES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    rules = tuple(import_module(f"{__name__}.{module}").RULE for module in MODULES)
    globals()["RULES"] = rules
    return rules
