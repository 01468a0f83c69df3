"""Everything that reaches a kernel, joined: configs, heuristics, defaults, launch arguments and assumptions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritonlint.source import grids
from tritonlint.source.answers import is_amd
from tritonlint.source.assumptions import Assumptions
from tritonlint.source.definitions import last_name
from tritonlint.source.dtypes import DTYPES
from tritonlint.source.guards import ANYWHERE, NO_GUARDS, Choice, Path, agree, combine, extend, narrow
from tritonlint.source.kernel_sources import kernel_source
from tritonlint.source.kernels import Kernel, Layer
from tritonlint.source.knowledge import from_knowledge, knowledge, signature_type
from tritonlint.source.launches import Launch
from tritonlint.source.objects import MISSING, Descriptor, Dict, OutOfBudget, Raised, Symbol, Tensor
from tritonlint.source.sites import (
    AutotuneSite,
    Candidate,
    Config,
    DecoratorUse,
    KernelSource,
    LaunchArgument,
    LaunchPlan,
    LaunchSite,
)
from tritonlint.source.tuning_sites import default_stages, tuning_site
from tritonlint.source.values import Bounded, DType, Knowledge, Known, OneOf, Unknown

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Interpreter

MAX_WORLDS = 8  # combinations of undecided conditions that one launch is shown in
MAX_SPREAD = 256  # such combinations times configs
MAX_CANDIDATES = 4096

# Keywords of a launch that are the compiler's, in any release and for either vendor: fields of CUDAOptions and
# HIPOptions from 2.1 to 3.9, and what `run` takes for itself.
OPTIONS = frozenset({
    "num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "launch_cooperative_grid", "launch_pdl",
    "waves_per_eu", "matrix_instr_nonkdim", "kpack", "extern_libs", "debug", "allow_flush_denorm", "cluster_dims",
    "num_buffers_warp_spec", "num_consumer_groups", "reg_dec_producer", "reg_inc_consumer", "ptx_version", "ptx_options",
    "ir_override", "sanitize_overflow", "schedule_hint", "instruction_sched_variant", "llvm_fn_attrs", "clc",
    "default_dot_input_precision", "allowed_dot_input_precisions", "max_num_imprecise_acc_default", "sched4reg",
    "enable_reflect_ftz", "min_shared_mem", "wgp_cu_mode", "instrumentation_mode", "fpsan_homomorphic_casts",
    "enable_warp_specialization", "supported_fp8_dtypes", "allow_fp8e4nv", "allow_fp8e4b15", "arch", "warp_size",
    "backend_name", "deprecated_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes", "grid", "warmup", "stream", "device",
    "device_type", "pre_hook", "optimize_epilogue", "enable_persistent",
})  # fmt: skip
_MAIN_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_SHARED_SINCE = (
    3,
    0,
)  # a parameter `num_warps` gets what `num_warps=` says too; before, the launcher keeps it to itself


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """The arguments of a launch, by name."""

    given: Mapping[str, Any]  # parameter -> value
    options: Mapping[str, Any]
    records: Mapping[str, LaunchArgument]
    option_records: Mapping[str, LaunchArgument]


class Planner:
    """Makes plans of what was found in one file."""

    def __init__(self, interp: Interpreter, assumptions: Assumptions) -> None:
        self.interp = interp
        self.assumptions = assumptions

    # -- parts

    def decorators(self, kernel: Kernel) -> tuple[DecoratorUse, ...]:
        """What stands on the kernel, the outermost first: what calls put there, then what stands above the `def`."""
        module = kernel.environment.module
        layers = {id(layer.above): layer for layer in kernel.layers if layer.above is not None}
        uses = [_by_call(kernel, layer) for layer in reversed(kernel.layers) if layer.above is None]
        names = [last_name(node) for node in kernel.node.decorator_list]
        for node, name in zip(kernel.node.decorator_list, names, strict=True):
            layer = layers.get(id(node))
            # Beside a plain `jit`, what has it in its name is a wrapper of what that made.
            jits = name == "jit" or ("jit" in name and "jit" not in names)
            kind: Any = layer.kind if layer is not None else "jit" if jits else "other"
            own = layer is not None and layer.own
            # Below it a decorator that cannot be followed may have compiled the function.
            bare = layer is not None and layer.bare and node is kernel.node.decorator_list[-1]
            uses.append(DecoratorUse(kind, module.span(node), module.source_of(node), own, bare))
        return tuple(uses)

    def tuning(self, kernel: Kernel) -> AutotuneSite | None:
        """The outermost tuner."""
        for layer in reversed(kernel.layers):
            if layer.kind == "autotune":
                return tuning_site(self.interp, kernel, layer)
        return None

    def assumed(self, kernel: Kernel, launch: Launch | None) -> dict[str, Any]:
        """Comments of the file, of the kernel, of its config list, of the function that launches, of the launch."""
        found = dict(self.assumptions.file)
        found.update(self.assumptions.of(kernel.node))
        for layer in kernel.layers:
            if layer.kind == "autotune":
                found.update(self._of_list(layer))
        if launch is not None:
            found.update(self.assumptions.of(launch.node))
        return found

    def _of_list(self, layer: Layer) -> Mapping[str, Any]:
        node = layer.nodes.get("configs")
        if not isinstance(node, ast.Name):
            return {}
        for statement in reversed(layer.environment.module.statements):
            if (
                isinstance(statement, ast.Assign)
                and statement.lineno < getattr(layer.node, "lineno", 0)
                and any(isinstance(one, ast.Name) and one.id == node.id for one in statement.targets)
            ):
                return self.assumptions.of(statement)
        return {}

    # -- plans

    def plain(self, kernel: Kernel) -> LaunchPlan:
        """The plan of a kernel that no launch reaches."""
        return self._plan(kernel, [])

    def launched(self, kernel: Kernel, launches: list[Launch]) -> LaunchPlan:
        """The plan of one launch site: all runs of one call."""
        return self._plan(kernel, launches)

    def _plan(self, kernel: Kernel, launches: list[Launch]) -> LaunchPlan:
        interp = self.interp
        source = kernel_source(interp, kernel)
        tuning = self.tuning(kernel)
        first = launches[0] if launches else None
        assumed = self.assumed(kernel, first)
        heuristics = self._heuristics(kernel)
        names = [parameter.name for parameter in source.parameters]
        site: LaunchSite | None = None
        candidates: list[Candidate] = []
        missing: dict[str, None] = {}
        unknown: dict[str, None] = {}
        seen: set[Any] = set()
        runs: list[Launch | None] = [*launches] or [None]
        for launch in runs:
            joined = self._join(source, launch)
            if launch is not None and site is None:
                site = self._site(source, launch, joined)
            if launch is not None:
                unknown.update({name: None for name in joined.options if name not in OPTIONS})
            maker = _Maker(self, source, tuning, heuristics, launch, joined, assumed)
            for mark, made in maker.candidates():
                if mark not in seen and len(candidates) < MAX_CANDIDATES:
                    seen.add(mark)
                    candidates.extend(made)
            if launch is not None and not launch.arguments.incomplete:
                missing.update(dict.fromkeys(maker.missing()))
        if tuning is not None:
            for config in tuning.configs:
                unknown.update(
                    {name: None for name in config.kwargs if name not in names and name not in OPTIONS}
                )
        if (
            not any(tuning.configs for tuning in [tuning] if tuning)
            and tuning is not None
            and not tuning.resolved
        ):
            missing.clear()
        return LaunchPlan(
            source,
            self.decorators(kernel),
            tuning,
            site,
            tuple(_known_first(candidates)),
            tuple(heuristics),
            tuple(missing),
            tuple(unknown),
            assumed,
        )

    def _heuristics(self, kernel: Kernel) -> dict[str, Any]:
        """Parameter -> function, from the innermost to the outermost."""
        found: dict[str, Any] = {}
        for layer in kernel.layers:
            if layer.kind == "heuristics" and isinstance(layer.values, Dict):
                found.update({name: value for name, value in layer.values.items() if isinstance(name, str)})
        return found

    def _join(self, source: KernelSource, launch: Launch | None) -> Joined:
        if launch is None:
            return Joined({}, {}, {}, {})
        interp = self.interp
        module = launch.environment.module
        names = [parameter.name for parameter in source.parameters]
        arguments = launch.arguments
        given: dict[str, Any] = {}
        options: dict[str, Any] = {}
        records: dict[str, LaunchArgument] = {}
        option_records: dict[str, LaunchArgument] = {}
        whole = module.span(launch.node)
        for place, value in enumerate(arguments.positional):
            if place >= len(names):
                break
            node = arguments.positional_nodes[place] if place < len(arguments.positional_nodes) else None
            span = module.span(node) if node is not None else whole
            given[names[place]] = value
            records[names[place]] = LaunchArgument(
                names[place], knowledge(interp, value), span, signature_type(interp, value), True
            )
        for name, anywhere in arguments.keywords.items():
            value = narrow(anywhere, launch.path)
            if value is MISSING:  # a splat gives it, but not on the way to this launch
                continue
            origin = arguments.keyword_origins.get(name)
            span = origin.span if origin is not None and origin.path == module.path else whole
            sometimes = isinstance(value, Choice) and any(one is MISSING for _, one in value.alternatives)
            shown = LaunchArgument(
                name, knowledge(interp, value), span, signature_type(interp, value), sometimes=sometimes
            )
            option = name not in names or name in _MAIN_OPTIONS
            if name in names and not (option and interp.platform.triton < _SHARED_SINCE):
                given[name] = value
                records[name] = shown
            if option:
                options[name] = value
                option_records[name] = shown
        return Joined(given, options, records, option_records)

    def _site(self, source: KernelSource, launch: Launch, joined: Joined) -> LaunchSite:
        module = launch.environment.module
        function = launch.node.func
        kernel_node: ast.AST = function
        if isinstance(function, (ast.Subscript, ast.Attribute)):
            kernel_node = function.value
        return LaunchSite(
            module.span(launch.node),
            module.span(kernel_node),
            grids.describe(self.interp, launch),
            joined.records,
            joined.option_records,
            launch.arguments.incomplete,
            launch.function,
            module.path,
            0
            if source.node.args.vararg
            else max(len(launch.arguments.positional) - len(source.parameters), 0),
        )


def _by_call(kernel: Kernel, layer: Layer) -> DecoratorUse:
    """`triton.autotune(...)(kernel)`, in whatever file."""
    module = layer.environment.module
    kind: Any = layer.kind
    bare = layer.bare and not kernel.node.decorator_list
    path = "" if module.path == kernel.environment.module.path else module.path
    return DecoratorUse(kind, module.span(layer.node), layer.text, layer.own, bare, path)


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """The part of a candidate that no config changes."""

    meta: dict[str, Any]
    constants: dict[str, Knowledge]
    types: dict[str, str]
    values: dict[str, Knowledge]
    assumptions: tuple[str, ...] = ()


class Remembered:
    """Answers of functions of META, kept by what they read: most grids and heuristics read few of the names, and a list
    holds hundreds of configs."""

    def __init__(self) -> None:
        self._answers: dict[Any, list[tuple[dict[Any, Any], Any]]] = {}

    def ask(self, key: Any, meta: Mapping[str, Any], function: Callable[[], tuple[Any, grids.Meta]]) -> Any:
        known = self._answers.setdefault(key, [])
        for read, answer in known:
            if all(_same(meta.get(name, MISSING), value) for name, value in read.items()):
                return answer
        answer, handed = function()
        known.append(({name: meta.get(name, MISSING) for name in handed.read}, answer))
        return answer


class _Maker:
    """The candidates of one run of a launch (or of a kernel alone)."""

    def __init__(
        self,
        planner: Planner,
        source: KernelSource,
        tuning: AutotuneSite | None,
        heuristics: Mapping[str, Any],
        launch: Launch | None,
        joined: Joined,
        assumed: Mapping[str, Any],
    ) -> None:
        self.interp = planner.interp
        self.source = source
        self.tuning = tuning
        self.heuristics = heuristics
        self.launch = launch
        self.joined = joined
        self.assumed = assumed
        self.names = {parameter.name for parameter in source.parameters}
        self.constexprs = [parameter.name for parameter in source.parameters if parameter.constexpr]
        self.known = Remembered()
        shared = tuning is not None and self.interp.platform.triton >= _SHARED_SINCE
        self.shared = [
            name for name in _MAIN_OPTIONS if shared and name in self.names
        ]  # with a config's options

    def missing(self) -> list[str]:
        configs = self.tuning.configs if self.tuning is not None else ()
        if self.tuning is not None and not self.tuning.resolved and not configs:
            return []
        found: list[str] = []
        for parameter in self.source.parameters:
            name = parameter.name
            if parameter.default is not None or name in self.joined.given:
                continue
            if name in self.heuristics or any(name in config.kwargs for config in configs):
                continue
            if name in self.shared and (name != "maxnreg" or any(config.maxnreg for config in configs)):
                continue
            found.append(name)
        return found

    def candidates(self) -> list[tuple[Any, list[Candidate]]]:
        """For each combination of undecided conditions: a mark that is the same for the same values, and a candidate
        per config."""
        configs: tuple[Config | None, ...] = (None,)
        if self.tuning is not None and self.tuning.configs:
            configs = self.tuning.configs
        found: list[tuple[Any, list[Candidate]]] = []
        for path, given, options in self._worlds(len(configs)):
            self.known = Remembered()
            self.interp.path = path
            try:
                base = self._base(given, self._assumptions(path))
                made = [self._candidate(config, base, given, options) for config in configs]
            finally:
                self.interp.path = ANYWHERE
            first = made[0]
            mark = repr((base.constants, base.types, base.values, first.num_warps, first.num_stages, first.num_ctas,
                         first.maxnreg, first.extra, first.grid, first.grid_problem))  # fmt: skip
            found.append((mark, made))
        return found

    def _worlds(self, configs: int) -> list[tuple[Path, dict[str, Any], dict[str, Any]]]:
        """Combinations of undecided conditions under which the launch is reached, each with its values."""
        here = self.launch.path if self.launch is not None else ANYWHERE
        given, options = dict(self.joined.given), dict(self.joined.options)
        deciding = [name for name in given if name in self.constexprs]
        row = [*(given[name] for name in deciding), *options.values()]
        worlds = [
            (guards, values)
            for guards, values in combine(row)
            if here is ANYWHERE or any(agree(guards, one) for one in here)
        ]
        if len(worlds) <= 1 or len(worlds) > MAX_WORLDS or len(worlds) * configs > max(MAX_SPREAD, configs):
            return [(here, given, options)]
        result: list[tuple[Path, dict[str, Any], dict[str, Any]]] = []
        for guards, values in worlds:
            plain_given = {**given, **dict(zip(deciding, values, strict=False))}
            plain_options = dict(zip(options, values[len(deciding) :], strict=False))
            path = extend(here, [guards]) or here
            result.append((path, plain_given, plain_options))
        return result

    def _assumptions(self, path: Path) -> tuple[str, ...]:
        """What holds on every way to this world, in words, where there are words for it."""
        described = self.interp.described
        found = [
            text
            for item, text in described.items()
            if path and all(one.held.get(item[0]) == item[1] for one in path)
        ]
        return tuple(found)

    def _base(self, given: dict[str, Any], assumptions: tuple[str, ...]) -> Base:
        """What is the same for every config."""
        meta = self._meta(given)
        constants: dict[str, Knowledge] = {}
        types: dict[str, str] = {}
        values: dict[str, Knowledge] = {}
        for parameter in self.source.parameters:
            name = parameter.name
            value = meta.get(name, MISSING)
            if not parameter.constexpr:
                self._argument(name, value, types, values, parameter.default)
                continue
            known = self._constant(name, value, parameter.default)
            if known is not None:
                constants[name] = known
        return Base(meta, constants, types, values, assumptions)

    def _candidate(
        self, config: Config | None, base: Base, given: dict[str, Any], options: dict[str, Any]
    ) -> Candidate:
        meta, constants = base.meta, base.constants
        types, values = base.types, base.values
        set_over: dict[str, Any] = {}
        if config is not None or self.heuristics:
            meta, constants = dict(meta), dict(constants)
            own: dict[str, Any] = {}
            if config is not None:
                options_too = {
                    name: getattr(config, name) for name in self.shared if name not in config.unknown
                }
                given_too = {name: value for name, value in options_too.items() if value is not None}
                own = {
                    name: _taken(value)
                    for name, value in {**config.kwargs, **given_too}.items()
                    if name in self.names
                }
                meta.update(own)
            heuristics = self._heuristic_values(config, meta)
            set_over = {
                name: value
                for name, value in heuristics.items()
                if name not in self.names or name in _MAIN_OPTIONS
            }
            own.update({name: value for name, value in heuristics.items() if name in self.names})
            changed = False
            for name, value in own.items():
                if name in self.constexprs:
                    known = self._constant(name, value, None)
                    if known is not None:
                        constants[name] = known
                    continue
                if not changed:
                    types, values, changed = dict(types), dict(values), True
                self._argument(name, value, types, values, None)
        grid, problem = self._grid(meta)
        return self._made(
            config, constants, types, values, options, set_over, grid, problem, base.assumptions
        )

    def _meta(self, given: dict[str, Any]) -> dict[str, Any]:
        """All arguments by name, as a grid or a heuristic sees them, before any config."""
        meta = {name: value for name, value in given.items() if value is not MISSING}
        for name, value in self.assumed.items():
            current = meta.get(name, MISSING)
            if name not in self.names or not (current is MISSING or isinstance(current, Symbol)):
                continue
            if name in self.constexprs:
                meta[name] = _as_constant(value)
            elif not isinstance(value, str):
                meta[name] = from_knowledge(value)
        for parameter in self.source.parameters:
            if parameter.name not in meta and isinstance(parameter.default, Known):
                meta[parameter.name] = parameter.default.value
        return meta

    def _heuristic_values(self, config: Config | None, meta: dict[str, Any]) -> dict[str, Any]:
        """What triton.heuristics gives; also put into `meta`, since a later one sees the earlier."""
        from tritonlint.source.calls import call
        from tritonlint.source.interpreter import Arguments

        interp = self.interp
        found: dict[str, Any] = {}
        for name, function in self.heuristics.items():
            seen = dict(meta)
            if config is not None:
                seen.update({"num_warps": config.num_warps, "num_stages": config.num_stages})

            def ask(
                seen: dict[str, Any] = seen, function: Any = function, name: str = name
            ) -> tuple[Any, grids.Meta]:
                handed = grids.Meta(seen, self._unknown_argument if self.launch is None else None)
                try:
                    interp.steps = max(interp.steps, 2000)
                    return call(interp, function, Arguments([handed], {})), handed
                except (Raised, OutOfBudget, RecursionError):
                    reason = f"what the heuristic gives for {name} is not known"
                    return interp.symbol(("heuristic", name), reason), handed

            found[name] = meta[name] = self.known.ask(("heuristic", name), seen, ask)
        return found

    def _unknown_argument(self, name: Any) -> Any:
        """An argument that some launch elsewhere gives."""
        if name not in self.names:
            return MISSING
        return self.interp.symbol(("argument", name), f"{name} comes from the launch")

    def _constant(self, name: str, value: Any, default: Knowledge | None) -> Knowledge | None:
        if value is MISSING:
            return default
        known = knowledge(self.interp, value)
        if isinstance(known, (Unknown, Bounded, OneOf)) and name in self.assumed:
            return Known(_as_constant(self.assumed[name]))
        return known

    def _argument(
        self,
        name: str,
        value: Any,
        types: dict[str, str],
        values: dict[str, Knowledge],
        default: Knowledge | None,
    ) -> None:
        """What is known of a run-time argument: its type, and a number's value."""
        interp = self.interp
        assumed = self.assumed.get(name, MISSING)
        shown = signature_type(interp, value) if value is not MISSING else None
        if isinstance(assumed, str):
            types[name] = assumed
        elif shown is not None:
            types[name] = shown
        if value is MISSING:
            if assumed is not MISSING and not isinstance(assumed, str):
                values[name] = Known(assumed)
                types.setdefault(name, signature_type(interp, assumed) or "i32")
            elif default is not None:
                values[name] = default
            return
        if isinstance(value, (Tensor, Descriptor)):
            return
        known = knowledge(interp, value)
        if not isinstance(known, Known) and assumed is not MISSING and not isinstance(assumed, str):
            known = Known(assumed)
            types.setdefault(name, signature_type(interp, assumed) or "i32")
        if not isinstance(known, Unknown):
            values[name] = known

    def _grid(self, meta: dict[str, Any]) -> tuple[tuple[Knowledge, ...] | None, str]:
        launch = self.launch
        if launch is None or launch.grid is MISSING:
            return None, ""

        # Where not every argument is known, a name that is not there may be in the unknown part.
        partly = launch.arguments.incomplete or (self.tuning is not None and not self.tuning.resolved)
        absent = self._unknown_argument if partly else None

        def ask() -> tuple[Any, grids.Meta]:
            self.interp.steps = max(self.interp.steps, 2000)
            entries, problem, handed = grids.evaluate(self.interp, launch, meta, absent)
            return (entries, problem), handed

        return self.known.ask("grid", meta, ask)  # type: ignore[no-any-return]

    def _made(
        self,
        config: Config | None,
        constants: dict[str, Knowledge],
        types: dict[str, str],
        values: dict[str, Knowledge],
        options: dict[str, Any],
        set_over: dict[str, Any],
        grid: tuple[Knowledge, ...] | None,
        problem: str,
        assumptions: tuple[str, ...],
    ) -> Candidate:
        """`set_over` are launch options that heuristics give, over those of the config and of the launch."""
        interp, names = self.interp, self.names
        extra: dict[str, Knowledge] = {}
        if config is not None:
            extra.update({name: _known(value) for name, value in config.kwargs.items() if name not in names})
            extra.update({name: Known(value) for name, value in config.extra.items()})
        for name, value in options.items():
            if name not in _MAIN_OPTIONS and value is not MISSING:
                extra[name] = knowledge(interp, value)
        extra.update(
            {name: knowledge(interp, value) for name, value in set_over.items() if name not in _MAIN_OPTIONS}
        )
        main = [
            knowledge(interp, set_over[name]) if name in set_over else self._option(name, config, options)
            for name in _MAIN_OPTIONS
        ]
        return Candidate(
            config,
            constants,
            types,
            values,
            main[0],
            main[1],
            main[2],
            main[3],
            extra,
            grid,
            problem,
            assumptions,
        )

    def _option(self, name: str, config: Config | None, options: dict[str, Any]) -> Knowledge:
        if config is not None:
            if name in config.unknown:
                return Unknown(config.unknown[name])
            own = getattr(config, name)
            over = own is None or self.interp.platform.triton < _SHARED_SINCE
            if name in config.kwargs and over:  # else that of Config itself is passed on
                return _known(config.kwargs[name])
            return Known(own)
        if options.get(name, MISSING) is not MISSING:
            return knowledge(self.interp, options[name])
        if name in self.assumed and name not in self.names:
            return Known(self.assumed[name])
        if name == "num_warps":
            return Known(4)
        if name == "num_ctas":
            return Known(1)
        if name == "num_stages":
            return Known(self._launch_stages())
        return Known(None)

    def _launch_stages(self) -> int:
        """num_stages of a launch that names none: a tuner's default config has the Config's; else the backend's."""
        platform = self.interp.platform
        if self.tuning is not None and self.tuning.resolved:
            return default_stages(platform.triton)
        if is_amd(platform):
            return 2 if platform.triton >= (3, 2) else 0
        return 3


def _taken(value: Any) -> Any:
    """A config's value back as the evaluator's."""
    if isinstance(value, (Unknown, OneOf, Bounded)):
        if isinstance(value, OneOf):
            return Choice(tuple((NO_GUARDS, one) for one in value.values))
        return Symbol(("config", id(value)), getattr(value, "reason", ""))
    return from_knowledge(value)


def _known(value: Any) -> Knowledge:
    return value if isinstance(value, (Unknown, OneOf, Bounded)) else Known(value)


def _as_constant(value: Any) -> Any:
    """The value of an assumed constexpr: the name of a dtype is that dtype."""
    if isinstance(value, str):
        name = value.removeprefix("tl.").removeprefix("torch.")
        if name in DTYPES.values():
            return DType(name)
        if name in DTYPES:
            return DType(DTYPES[name])
    return value


def _same(first: Any, second: Any) -> bool:
    if first is second:
        return True
    plain = (int, float, str, bool)
    return isinstance(first, plain) and type(first) is type(second) and bool(first == second)


def _known_first(candidates: list[Candidate]) -> list[Candidate]:
    """Candidates whose constants are all decided hide those of the same config that leave one open: a launch that is
    reached with known values from within the file need not be shown with unknown ones too."""
    decided: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        if not any(isinstance(value, (Unknown, Bounded)) for value in candidate.constants.values()):
            decided.setdefault(id(candidate.config), []).append(candidate)
    if not decided:
        return candidates
    kept: list[Candidate] = []
    for candidate in candidates:
        own = decided.get(id(candidate.config))
        if own is None or any(candidate is one for one in own):
            kept.append(candidate)
    return kept
