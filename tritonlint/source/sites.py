"""What is launched and with which values: the records that the source stage hands on."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tritonlint.quick import quick
from tritonlint.source.values import Knowledge
from tritonlint.span import Span


@dataclass(frozen=True, slots=True)
class ModuleRef:
    """A name that stands for a module, or for something in one that is not read: "triton.language.extra.libdevice"."""

    dotted: str

    def __str__(self) -> str:
        """As the user is told."""
        return self.dotted


class Scope(Protocol):
    """The names that a kernel's body can see."""

    def lookup(self, name: str) -> Any:
        """A ModuleRef, a KernelSource (a jit function to inline), a Knowledge (a module constant, a constexpr), or
        None where the name is not defined in the file."""

    def attribute(self, base: Any, name: str) -> Any:
        """The same for `base.name`, where base is a result of lookup (an imported module of the same package)."""


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    name: str
    constexpr: bool
    annotation: str = ""  # source text
    default: Knowledge | None = None
    span: Span | None = None


@quick
@dataclass(frozen=True, slots=True, eq=False)
class KernelSource:
    """A @triton.jit function as source. `node.lineno` and the like count in its own file."""

    name: str
    path: str
    node: ast.FunctionDef
    parameters: tuple[Parameter, ...]
    scope: Scope
    span: Span  # of the `def` line up to the end of the body
    decorator_spans: tuple[Span, ...] = ()
    noinline: bool = False
    do_not_specialize: tuple[str, ...] = ()
    kind: Literal["jit", "constexpr_function"] = (
        "jit"  # the latter: called with constants only, at compile time
    )

    def __str__(self) -> str:
        """As the user is told."""
        return self.name


@quick
@dataclass(frozen=True, slots=True)
class Config:
    """One triton.Config, or one dict that stands for one."""

    kwargs: Mapping[str, Any]
    num_warps: int
    num_stages: int
    num_ctas: int
    maxnreg: int | None
    span: Span  # of the call (for a comprehension: of the call inside it)
    argument_spans: Mapping[str, Span] = field(
        default_factory=dict
    )  # kwarg name or option -> where its value is given
    given: frozenset[str] = frozenset()  # which of the options are written out, not defaults
    extra: Mapping[str, Any] = field(
        default_factory=dict
    )  # further keywords of Config that a release may not know
    pre_hook: bool = False
    spread: Span | None = None  # the comprehension or call that builds many configs from one text
    path: str = ""  # file of the span where it is not the kernel's
    unknown: Mapping[str, str] = field(default_factory=dict)  # kwarg or option that is not known -> why
    hook: Any = None  # FunctionDef or Lambda of pre_hook, where it is in a file that was read
    bare: bool = False  # given no dict of values, which Triton's own raises for


@dataclass(frozen=True, slots=True, eq=False)
class AutotuneSite:
    """A decorator that tunes (triton.autotune or a wrapper of it)."""

    span: Span  # of the decorator
    configs: tuple[Config, ...]
    resolved: bool
    reason: str | None  # why not resolved
    alternatives: bool
    key: tuple[str, ...] | None
    reset_to_zero: tuple[str, ...] = ()
    restore_value: tuple[str, ...] = ()
    prune: str | None = None  # "early_config_prune", "perf_model" where given
    prune_hook: Any = None  # FunctionDef or Lambda of early_config_prune, where it is in a file that was read
    perf_model: Any = None  # the same of perf_model
    top_k: int | float | None = (
        None  # how many configs, or what share, perf_model keeps; None where not known
    )
    argument_spans: Mapping[str, Span] = field(
        default_factory=dict
    )  # "key", "configs", and "key:NAME" for each name
    extra: frozenset[str] = frozenset()  # other keywords given (warmup, use_cuda_graph, cache_results, ...)
    path: str = ""  # file of the decorator
    tuned_file: bool = (
        False  # the entries of a tuned JSON file: each is launched as it is, none is tried against another
    )
    own: bool = (
        False  # Triton's own, under whatever name; a project's own tuner may treat names in its own way
    )
    pre_hook: Any = None  # FunctionDef or Lambda of the decorator's own hooks, as `prune_hook`
    post_hook: Any = None


@dataclass(frozen=True, slots=True)
class DecoratorUse:
    kind: Literal["jit", "autotune", "heuristics", "other"]
    span: Span
    text: str
    own: bool = False  # Triton's own tuner or heuristics, under whatever name
    bare: bool = False  # of those: given a plain function, which no `jit` compiled
    path: str = ""  # file of the span where it is not the kernel's


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The grid of a launch. `entries` is None where its form is not understood."""

    span: Span
    form: Literal["tuple", "lambda", "def", "name", "list", "scalar", "unknown"]
    text: str
    # META["..."] names that a callable grid reads
    meta_keys: Mapping[str, Span] = field(default_factory=dict)
    definition: Span | None = None  # of the lambda or `def`, where it is in the same file


@quick
@dataclass(frozen=True, slots=True)
class LaunchArgument:
    name: str  # parameter name (resolved from position where needed)
    value: Knowledge
    span: Span
    tensor_type: str | None = None  # "*fp16" where the source shows it
    by_position: bool = False
    sometimes: bool = False  # given under a condition that is not decided, and else not at all


@dataclass(frozen=True, slots=True, eq=False)
class LaunchSite:
    """`kernel[grid](...)`, `kernel.run(...)`, `kernel.warmup(...)`."""

    span: Span  # of the whole call
    kernel_span: Span
    grid: Grid | None
    arguments: Mapping[str, LaunchArgument]
    options: Mapping[str, LaunchArgument]  # num_warps and every other keyword that is no parameter
    splat_unknown: bool = False  # a **dict or *args that did not resolve: further arguments may be there
    function: str = ""  # the enclosing function, for the baseline
    path: str = ""
    surplus: int = 0  # arguments by position for which the kernel has no parameter


@quick
@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One complete set of compile-time values with which a kernel may be compiled and launched.

    `constants` holds every constexpr parameter that is known in some way; `types` what is known of the others.
    """

    config: Config | None
    constants: Mapping[str, Knowledge]
    types: Mapping[
        str, str
    ]  # parameter -> "*fp16", "i32", "fp32", "tensordesc<...>", where the source or a comment shows it
    values: Mapping[
        str, Knowledge
    ]  # run-time scalars that are known (sizes), from the launch or assume comments
    num_warps: Knowledge
    num_stages: Knowledge
    num_ctas: Knowledge
    maxnreg: Knowledge
    extra: Mapping[str, Knowledge]  # further launch options (waves_per_eu, enable_fp_fusion, ...)
    grid: tuple[Knowledge, ...] | None  # evaluated for this candidate
    grid_problem: str = ""  # "not-a-tuple", "unknown-meta:NAME", or what an entry is: "float", "tuple"
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LaunchPlan:
    """A kernel with everything that reaches it: one plan per launch site, or per tuned or plain kernel that no launch
    in the file reaches (`launch` is then None)."""

    kernel: KernelSource
    decorators: tuple[DecoratorUse, ...]
    tuning: AutotuneSite | None
    launch: LaunchSite | None
    candidates: tuple[Candidate, ...]
    heuristics: tuple[str, ...] = ()  # parameter names that triton.heuristics gives
    missing: tuple[str, ...] = ()  # parameters that nobody gives (only where the launch is fully read)
    unknown: tuple[str, ...] = ()  # keywords of config or launch that are neither parameter nor option
    assumed: Mapping[str, Any] = field(default_factory=dict)  # from `# tritonlint: assume`


@dataclass(frozen=True, slots=True)
class Platform:
    """The target in hand, for conditions that ask for it (is_hip(), get_device_capability(), __version__)."""

    arch: str  # "sm_90", "gfx942"
    triton: tuple[int, int]
    device: str = ""  # profile name
    properties: Mapping[str, int] = field(
        default_factory=dict
    )  # multi_processor_count, shared_memory_per_block_optin, ...
