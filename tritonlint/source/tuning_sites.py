"""A tuner's decorator as a record: configs, key, hooks, with where each stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tritonlint.source.guards import ANYWHERE, Choice, combine
from tritonlint.source.kernels import OPTIONS, ConfigValue, Kernel, Layer
from tritonlint.source.knowledge import knowledge
from tritonlint.source.objects import (
    MISSING,
    Dict,
    Function,
    List,
    Maybe,
    Set,
    Symbol,
)
from tritonlint.source.sites import AutotuneSite, Config
from tritonlint.source.values import Known

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Interpreter
    from tritonlint.span import Span

_READ = ("configs", "key", "prune_configs_by", "reset_to_zero", "restore_value", "pre_hook")
_HOOKS = ("early_config_prune", "perf_model")
_MAX_CONFIGS = 20_000


def default_stages(triton: tuple[int, int]) -> int:
    """num_stages of a Config that names none: 2 up to Triton 3.2, 3 since 3.3."""
    return 2 if triton <= (3, 2) else 3


def tuning_site(interp: Interpreter, kernel: Kernel, layer: Layer) -> AutotuneSite:
    """The record of one tuner; made once per decorator."""

    def make() -> AutotuneSite:
        interp.keep.append(layer)  # the id in the key stays taken
        return _make(interp, kernel, layer)

    return interp.once(("tuning", id(layer)), make)


def _make(interp: Interpreter, kernel: Kernel, layer: Layer) -> AutotuneSite:
    module = layer.environment.module
    reader = _Reader(interp, kernel.environment.module.path)
    saved, interp.path = interp.path, ANYWHERE
    try:
        configs = reader.configs(layer.arguments.get("configs", MISSING))
    finally:
        interp.path = saved
    spans: dict[str, Span] = {
        name: module.span(node) for name, node in layer.nodes.items() if isinstance(node, ast.AST)
    }
    for option in ("key", "restore_value", "reset_to_zero"):
        node = layer.nodes.get(option)
        if isinstance(node, (ast.List, ast.Tuple)):
            for element in node.elts:
                if isinstance(element, ast.Constant) and isinstance(element.value, str):
                    spans[f"{option}:{element.value}"] = module.span(element)
    prune = layer.arguments.get("prune_configs_by")
    hooks = {name: _node(prune.get(name)) if isinstance(prune, Dict) else None for name in _HOOKS}
    top_k = prune.get("top_k", 1.0) if isinstance(prune, Dict) else None
    named = _names(layer.arguments.get("key", MISSING))
    given = "key" in layer.arguments
    return AutotuneSite(
        module.span(layer.node),
        tuple(configs),
        reader.reason is None,
        reader.reason,
        reader.alternatives,
        named if given else (),
        _names(layer.arguments.get("reset_to_zero")) or (),
        _names(layer.arguments.get("restore_value")) or (),
        _prune(prune),
        hooks["early_config_prune"],
        hooks["perf_model"],
        top_k if isinstance(top_k, (int, float)) else None,
        spans,
        frozenset(name for name in layer.arguments if name not in _READ or name == "pre_hook"),
        module.path,
        own=layer.own,
        pre_hook=_node(layer.arguments.get("pre_hook")),
        post_hook=_node(layer.arguments.get("post_hook")),
    )


def _node(hook: Any) -> ast.AST | None:
    """The function that is called as it stands: nothing is bound to it."""
    return hook.node if isinstance(hook, Function) and hook.bound is None and hook.kind != "class" else None


def _prune(prune: Any) -> str | None:
    if prune is None or prune is MISSING:
        return None
    if isinstance(prune, Dict):
        if not prune:
            return None
        for name in _HOOKS:
            if prune.get(name) is not None:
                return name
    return "early_config_prune"


def _names(value: Any) -> tuple[str, ...] | None:
    """A list of argument names; None where it is not known."""
    if value is None:
        return ()
    if isinstance(value, (List, tuple, Set)) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return None


class _Reader:
    """Walks the value of `configs`, with every alternative."""

    def __init__(self, interp: Interpreter, home: str) -> None:
        self.interp = interp
        self.home = home  # the kernel's file
        self.reason: str | None = None
        self.alternatives = False

    def unresolved(self, reason: str) -> None:
        if self.reason is None:
            self.reason = reason

    def configs(self, value: Any) -> list[Config]:
        found: list[Config] = []
        seen: set[Any] = set()
        for item in self._items(value):
            for config in self._expand(item):
                if self.alternatives:
                    # Branches share configs; each is listed once.
                    mark = (config.span, repr(sorted(config.kwargs.items(), key=repr)), config.num_warps,
                            config.num_stages, config.num_ctas, config.maxnreg)  # fmt: skip
                    if mark in seen:
                        continue
                    seen.add(mark)
                found.append(config)
                if len(found) > _MAX_CONFIGS:
                    self.unresolved("there are too many configs")
                    return found
        return found

    def _items(self, value: Any) -> Iterator[Any]:
        if value is MISSING:
            self.unresolved("no configs are given")
        elif isinstance(value, Choice):
            self.alternatives = True
            for _, one in value.alternatives:
                yield from self._items(one)
        elif isinstance(value, (List, tuple)):
            for item in value:
                if isinstance(item, Maybe):
                    self.alternatives = True
                    item = item.value
                if isinstance(item, Choice):
                    self.alternatives = True
                    for _, one in item.alternatives:
                        yield one
                else:
                    yield item
        elif value is None:
            return
        elif isinstance(value, Symbol):
            self.unresolved(value.reason)
        else:
            self.unresolved("what is given as configs is no list")

    def _expand(self, value: Any) -> Iterator[Config]:
        """A config with each of the values that its parts may have."""
        if isinstance(value, Dict):
            # Some wrappers take plain dicts for configs.
            written = {name: value[name] for name in OPTIONS if name in value}
            kwargs = Dict({k: v for k, v in value.items() if k not in OPTIONS}, value.origins)
            place = next(iter(value.origins.values()), None)
            if place is None:
                self.unresolved("a config is built without a place in the source")
                return
            value = ConfigValue(kwargs, written, place, dict(value.origins))
        if not isinstance(value, ConfigValue):
            self.unresolved(getattr(value, "reason", "an item of the list is no config"))
            return
        if isinstance(value.kwargs, Choice) or not isinstance(value.kwargs, Dict):
            if isinstance(value.kwargs, Choice):
                self.alternatives = True
                for _, one in value.kwargs.alternatives:
                    copied = ConfigValue(
                        one, value.options, value.origin, value.argument_origins, value.pre_hook, value.spread
                    )
                    yield from self._expand(copied)
            else:
                self.unresolved(getattr(value.kwargs, "reason", "the config's values are not known"))
            return
        names = list(value.kwargs)
        options = list(value.options)
        row = [*value.kwargs.values(), *value.options.values()]
        worlds = combine(row)
        if len(worlds) > 1:
            self.alternatives = True
        for _, plain in worlds:
            yield self._config(
                value,
                dict(zip(names, plain, strict=False)),
                dict(zip(options, plain[len(names) :], strict=False)),
            )

    def _config(self, value: ConfigValue, kwargs: Mapping[str, Any], options: dict[str, Any]) -> Config:
        interp = self.interp
        known: dict[str, Any] = {}
        unknown: dict[str, str] = {}
        for name, one in kwargs.items():
            if one is MISSING:
                continue
            what = knowledge(interp, one)
            if isinstance(what, Known):
                known[name] = what.value
            else:
                known[name] = what
                unknown[name] = getattr(what, "reason", "") or "it is one of several values"
                self.unresolved(f"{name}: {unknown[name]}")
        defaults: dict[str, Any] = {
            "num_warps": 4, "num_stages": default_stages(interp.platform.triton), "num_ctas": 1, "maxnreg": None,
        }  # fmt: skip
        extra: dict[str, Any] = {}
        for name, one in options.items():
            what = knowledge(interp, one)
            if isinstance(what, Known):
                (defaults if name in defaults else extra)[name] = what.value
            else:
                unknown[name] = getattr(what, "reason", "") or "it is one of several values"
                self.unresolved(f"{name}: {unknown[name]}")
        spans = {
            name: place.span
            for name, place in value.argument_origins.items()
            if place.path == value.origin.path
        }
        return Config(
            known,
            _integer(defaults["num_warps"], 4),
            _integer(defaults["num_stages"], default_stages(interp.platform.triton)),
            _integer(defaults["num_ctas"], 1),
            defaults["maxnreg"] if isinstance(defaults["maxnreg"], int) else None,
            value.origin.span,
            spans,
            frozenset(options),
            extra,
            value.pre_hook is not None,
            value.spread.span if value.spread is not None else None,
            value.origin.path if value.origin.path != self.home else "",
            unknown,
            _node(value.pre_hook),
            value.bare,
        )


def _integer(value: Any, default: int) -> Any:
    """num_warps and the like as given (a wrong type is for the rules to see); None stands for the default."""
    return default if value is None else value
