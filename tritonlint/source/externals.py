"""What is known of triton, torch, the standard library and packaging without reading them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import total_ordering
from typing import TYPE_CHECKING, Any

from tritonlint.source import answers, builtin_calls, symbolic
from tritonlint.source.dtypes import DTYPES
from tritonlint.source.guards import lift
from tritonlint.source.objects import (
    MISSING,
    Asked,
    AskedDict,
    Class,
    Descriptor,
    Dict,
    External,
    Function,
    Instance,
    List,
    Native,
    Raised,
    Symbol,
    Tensor,
)
from tritonlint.source.values import DType

if TYPE_CHECKING:
    from tritonlint.source.environment import Frame
    from tritonlint.source.interpreter import Arguments, Interpreter
    from tritonlint.source.sites import Platform


@total_ordering
class Version:
    """A version number, ordered."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts = tuple(int(part) for part in re.findall(r"\d+", text.split("+")[0])[:4])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._padded() == other._padded()

    def __lt__(self, other: Version) -> bool:
        return self._padded() < other._padded()

    def __hash__(self) -> int:
        return hash(self._padded())

    def _padded(self) -> tuple[int, ...]:
        return (*self.parts, *([0] * (4 - len(self.parts))))


def comparable(value: Any) -> Any:
    """What stands for a value in comparisons."""
    return (
        value.attributes["__version__"] if isinstance(value, Instance) and value.cls == "Version" else value
    )


def version(text: Any) -> Any:
    made = Version(text)
    names = dict(zip(("major", "minor", "micro"), made._padded(), strict=False))
    return Instance("Version", {"__version__": made, "release": made.parts, "base_version": text, **names})


_ROOTS = ("triton.language", "triton.language.core", "torch", "tl", "triton.language.standard")
_SAME = {
    # Names under which the same thing is found in several places.
    "triton.runtime.jit.jit": "triton.jit",
    "triton.runtime.jit": "triton.jit",
    "triton.runtime.autotune": "triton.autotune",
    "triton.runtime.autotuner.autotune": "triton.autotune",
    "triton.runtime.autotuner.heuristics": "triton.heuristics",
    "triton.runtime.heuristics": "triton.heuristics",
    "triton.runtime.autotuner.Config": "triton.Config",
    "triton.runtime.Config": "triton.Config",
    "triton.runtime.Autotuner": "triton.runtime.autotuner.Autotuner",
    "triton.runtime.driver.active": "triton.runtime.driver",
    "triton.language.core.constexpr": "triton.language.constexpr",
}


_CONSTANTS: dict[str, Any] = {
    "torch.version.xpu": None,
    "sys.platform": "linux",
    "os.name": "posix",
    "sys.maxsize": (1 << 63) - 1,
    "sys.version_info": (3, 11, 0, "final", 0),
    "os.sep": "/",
    "typing.TYPE_CHECKING": False,
    "triton.language.TRITON_MAX_TENSOR_NUMEL": 1 << 20,
}
_OF_THE_PLATFORM: dict[str, Callable[[Platform], Any]] = {
    "triton.__version__": answers.triton_version,
    "torch.__version__": answers.torch_version,
    "torch.version.__version__": answers.torch_version,
    "torch.version.hip": lambda platform: "6.4.0" if answers.is_amd(platform) else None,
    "torch.version.cuda": lambda platform: None if answers.is_amd(platform) else "12.8",
}


def known(interp: Interpreter, dotted: str) -> Any:
    """The value of a full dotted name; an External where only its name is known."""
    dotted = _SAME.get(dotted, dotted)
    platform = interp.platform
    root, _, name = dotted.rpartition(".")
    if name in DTYPES and (root in _ROOTS or root.startswith("triton.language")):
        return DType(DTYPES[name])
    if root == "math" and name in ("pi", "e", "inf", "tau", "nan"):
        import math

        return getattr(math, name)
    if dotted in _CONSTANTS:
        return _CONSTANTS[dotted]
    if dotted in _OF_THE_PLATFORM:
        return _OF_THE_PLATFORM[dotted](platform)
    if answers.module_exists(platform, dotted) is False:
        raise Raised("ImportError", f"no module named {dotted}")
    return External(dotted)


def attribute(interp: Interpreter, base: External, name: str) -> Any:
    if base.dotted == "os" and name == "environ":
        return External("os.environ")
    return known(interp, f"{base.dotted}.{name}")


def item(interp: Interpreter, base: External, index: Any) -> Any:
    if base.dotted == "os.environ":
        raise Raised("KeyError", str(index))
    if base.dotted.startswith(("typing.", "collections.", "triton.language.constexpr", "builtins.")):
        return base
    return interp.symbol(
        symbolic.grow("item", base, symbolic.key_of(index)), f"an item of {base.dotted} is not known"
    )


def call_external(interp: Interpreter, function: External, arguments: Arguments, frame: Frame | None) -> Any:
    """A call of something that is not read."""
    from tritonlint.source import tuning

    name = function.dotted
    made = tuning.call(interp, name, arguments, frame)
    if made is not MISSING:
        return made
    root, _, last = name.rpartition(".")
    if root == "builtins":
        return _builtin(interp, last, arguments)
    found = builtin_calls.simple(interp, name, arguments)
    if found is not None:
        return found[0]
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(interp, arguments)
    decided = answers.predicate(interp.platform, last) if not arguments.positional else None
    if decided is not None:
        return decided
    decided = answers.capability_question(interp.platform, last, arguments.positional)
    if decided is not None:
        return decided
    if last in ("cdiv", "ceil_div", "cdiv_"):
        return cdiv(interp, arguments)
    if last in ("next_power_of_2", "next_pow2"):
        return lift(
            lambda one: next_power_of_2(interp, one), arguments.positional[0] if arguments.positional else 1
        )
    if name.startswith("torch."):
        from tritonlint.source.tensors import call_torch

        result = call_torch(interp, name.removeprefix("torch."), arguments)
        if result is not MISSING:
            return result
    if last in ("TensorDescriptor", "from_tensor") and "TensorDescriptor" in name:
        return _descriptor(arguments, last == "from_tensor")
    if last in ("wraps",) and root == "functools":
        wrapped = arguments.positional[0] if arguments.positional else None

        def mark(args: list[Any], kwargs: dict[str, Any]) -> Any:
            if isinstance(args[0], Function):
                args[0].wraps = wrapped
            return args[0]

        return Native("wraps", mark)
    if last in ("wrap_triton", "capture_triton", "cache", "njit"):
        return arguments.positional[0] if arguments.positional else Native(last, lambda args, kwargs: args[0])
    from tritonlint.source.calls import call_key

    return interp.symbol(
        call_key(symbolic.key_of(function), arguments), f"what {name}() returns is not known"
    )


def _builtin(interp: Interpreter, name: str, arguments: Arguments) -> Any:
    b = builtin_calls
    values = arguments.positional
    if name in ("min", "max"):
        return b.minimum(interp, arguments, name == "min")
    if name == "print":
        return None
    if name in ("zip", "map", "filter", "sorted", "sum", "getattr"):
        function = {
            "zip": b.zipped, "map": b.mapped, "filter": b.filtered, "sorted": b.ordered, "sum": b.total,
            "getattr": b.get_attribute,
        }[name]  # fmt: skip
        return function(interp, arguments)
    if not values:
        return b.unknown(interp, arguments, f"what {name}() returns is not known")
    if name == "len":
        return lift(lambda one: b.length(interp, one), values[0])
    if name in ("all", "any"):
        return b.quantified(interp, values[0], name == "all")
    if name == "isinstance" and len(values) == 2:
        return lift(lambda one, kinds: b.is_instance(interp, one, kinds), values[0], values[1])
    if name == "hasattr" and len(values) == 2:
        return lift(lambda one, what: b.has_attribute(interp, one, what), values[0], values[1])
    if name in ("enumerate", "reversed", "iter"):
        return lift(lambda one: _sequence(interp, name, one, arguments), values[0])
    if name == "next":
        items = b.items_of(interp, values[0])
        if items:
            return items[0]
        return (
            values[1]
            if items is not None and len(values) > 1
            else b.unknown(interp, arguments, "next() is not known")
        )
    if name == "callable":
        return isinstance(values[0], (Function, Class, Native, External))
    if name == "repr" and isinstance(values[0], (int, float, str, bool, type(None))):
        return repr(values[0])
    if name == "setattr" and isinstance(values[0], Instance) and isinstance(values[1], str):
        interp.journal.touch(values[0])
        values[0].attributes[values[1]] = values[2]
        return None
    if name in ("id", "hash"):
        return interp.symbol(
            symbolic.grow(name, symbolic.key_of(values[0])), f"{name}() is not known", kind="int"
        )
    found = b.simple(interp, f"builtins.{name}", arguments)
    if found is not None:
        return found[0]
    return b.unknown(interp, arguments, f"what {name}() returns is not known")


def _sequence(interp: Interpreter, name: str, value: Any, arguments: Arguments) -> Any:
    from tritonlint.source.access import iterate, not_iterated
    from tritonlint.source.objects import Maybe

    items = iterate(interp, value)
    if items is None:
        return builtin_calls.unknown(interp, arguments, getattr(value, "reason", not_iterated(value)))
    if name == "reversed":
        return List(reversed(items))
    if name == "iter":
        return value if isinstance(value, List) else List(items)
    start = arguments.keywords.get("start", arguments.positional[1] if len(arguments.positional) > 1 else 0)
    if not isinstance(start, int):
        return builtin_calls.unknown(interp, arguments, "where enumerate() starts is not known")
    result = List()
    for number, one in enumerate(items, start):
        result.append(Maybe(one.when, (number, one.value)) if isinstance(one, Maybe) else (number, one))
    return result


# -- handlers by full name


def cdiv(interp: Interpreter, arguments: Arguments) -> Any:
    if len(arguments.positional) + len(arguments.keywords) < 2:
        raise Raised("TypeError", "cdiv wants two arguments")
    left, right = [*arguments.positional, *arguments.keywords.values()][:2]
    return lift(lambda a, b: ceil_div(interp, a, b), left, right)


def ceil_div(interp: Interpreter, left: Any, right: Any) -> Any:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        if right == 0:
            raise Raised("ZeroDivisionError", "division by zero")
        return -(-left // right)
    if right == 1 and isinstance(left, Symbol):
        return left
    low, high = symbolic.bounds(left)
    bottom, top = symbolic.bounds(right)
    least = most = None
    if bottom is not None and bottom > 0:
        least = None if low is None else (0 if low <= 0 else 1 if top is None else -(-low // top))
        most = None if high is None else -(-high // bottom)
    reason = left.reason if isinstance(left, Symbol) else getattr(right, "reason", "a part is not known")
    key = symbolic.grow("cdiv", symbolic.key_of(left), symbolic.key_of(right))
    return interp.symbol(key, reason, least, most, kind="int")


def next_power_of_2(interp: Interpreter, value: Any) -> Any:
    if isinstance(value, (int, float)):
        whole = int(value)
        return 1 << (whole - 1).bit_length() if whole > 1 else max(whole, 1) if whole >= 0 else 1
    low, high = symbolic.bounds(value)
    if isinstance(value, Symbol) and value.power_of_two:
        return value
    least = 1 if low is None or low < 1 else 1 << (low - 1).bit_length()
    most = None if high is None else 1 << (max(high, 1) - 1).bit_length()
    key = symbolic.grow("next_power_of_2", symbolic.key_of(value))
    reason = getattr(value, "reason", "it is not known")
    return interp.symbol(key, reason, least, most, True, least, "int")


def _next_power(interp: Interpreter, arguments: Arguments) -> Any:
    return lift(lambda one: next_power_of_2(interp, one), arguments.positional[0])


def _compiling(interp: Interpreter, arguments: Arguments) -> Any:
    return builtin_calls.unknown(
        interp, arguments, "whether torch compiles is not known", low=0, high=1, kind="bool"
    )


def _previous_power(interp: Interpreter, arguments: Arguments) -> Any:
    def one(value: Any) -> Any:
        if isinstance(value, int):
            return 1 << (value.bit_length() - 1) if value > 0 else 0
        _low, high = symbolic.bounds(value)
        most = None if high is None or high < 1 else 1 << (high.bit_length() - 1)
        key = symbolic.grow("prev_power_of_2", symbolic.key_of(value))
        return interp.symbol(key, getattr(value, "reason", "it is not known"), 1, most, True, kind="int")

    return lift(one, arguments.positional[0])


def _environ_get(interp: Interpreter, arguments: Arguments) -> Any:
    if len(arguments.positional) > 1:
        return arguments.positional[1]
    return arguments.keywords.get("default")


def _properties(interp: Interpreter, arguments: Arguments) -> Any:
    fields = ("major", "minor", "name", "multi_processor_count", "shared_memory_per_block_optin", "warp_size",
              "shared_memory_per_block", "total_memory", "regs_per_multiprocessor", "L2_cache_size", "gcnArchName",
              "max_threads_per_multi_processor", "shared_memory_per_multiprocessor")  # fmt: skip

    def asked(name: str) -> Any:
        if name not in fields:
            return MISSING
        value = answers.device_property(interp.platform, name)
        if value is not None:
            return value
        return interp.symbol(("property", name), f"{name} of the device is not known", low=1)

    return Instance("device properties", Asked(asked))


def _triton_properties(interp: Interpreter, arguments: Arguments) -> Any:
    fields = ("max_shared_mem", "multiprocessor_count", "max_num_regs", "warpSize", "sm_clock_rate", "mem_clock_rate",
              "mem_bus_width")  # fmt: skip

    def asked(name: str) -> Any:
        value = answers.device_property(interp.platform, name)
        if value is not None:
            return value
        return interp.symbol(("property", name), f"{name} of the device is not known", 1, kind="int")

    return AskedDict(fields, asked)


def _target(interp: Interpreter, arguments: Arguments) -> Any:
    platform = interp.platform
    amd = answers.is_amd(platform)
    major, minor = answers.capability(platform)
    attributes = {
        "backend": "hip" if amd else "cuda",
        "arch": platform.arch if amd else major * 10 + minor,
        "warp_size": answers.warp_size(platform),
    }
    return Instance("GPUTarget", attributes)


def _device_name(interp: Interpreter, arguments: Arguments) -> Any:
    name = answers.device_name(interp.platform)
    return (
        name
        if name is not None
        else interp.symbol(("property", "name"), "the device's name is not known", kind="str")
    )


def _parse_version(interp: Interpreter, arguments: Arguments) -> Any:
    value = arguments.positional[0] if arguments.positional else None
    if isinstance(value, str):
        return version(value)
    if isinstance(value, Instance) and value.cls == "Version":
        return value
    return builtin_calls.unknown(interp, arguments, "the version is not known")


def _package_version(interp: Interpreter, arguments: Arguments) -> Any:
    name = arguments.positional[0] if arguments.positional else None
    if name == "triton":
        return answers.triton_version(interp.platform)
    if name == "torch":
        return answers.torch_version(interp.platform)
    return builtin_calls.unknown(interp, arguments, f"the version of {name} is not known", kind="str")


def _find_spec(interp: Interpreter, arguments: Arguments) -> Any:
    name = arguments.positional[0] if arguments.positional else None
    if isinstance(name, str):
        exists = answers.module_exists(interp.platform, name)
        if exists is not None:
            return _spec(name) if exists else None
        if interp.project.locate(name):
            return _spec(name)
    return builtin_calls.unknown(interp, arguments, "whether a module is installed is not known")


def _spec(name: str) -> Instance:
    return Instance("ModuleSpec", {"name": name, "loader": External("importlib.abc.Loader")})


def _module_from_spec(interp: Interpreter, arguments: Arguments) -> Any:
    from tritonlint.source.definitions import module_value

    spec = arguments.positional[0] if arguments.positional else None
    if isinstance(spec, Instance) and spec.cls == "ModuleSpec":
        return module_value(interp, spec.attributes["name"])
    return builtin_calls.unknown(interp, arguments, "which module is made is not known")


def _descriptor(arguments: Arguments, from_tensor: bool) -> Any:
    values = list(arguments.positional)
    base = arguments.keywords.get("base", arguments.keywords.get("tensor", values[0] if values else None))
    place = 1 if from_tensor else 3
    block = arguments.keywords.get("block_shape", values[place] if len(values) > place else None)
    shape = tuple(block) if isinstance(block, (list, tuple)) else None
    dtype = (
        base.dtype
        if isinstance(base, Tensor)
        else Symbol(("dtype", symbolic.key_of(base)), "the dtype is not known")
    )
    return Descriptor(dtype, shape)


_NESTED_REPEATS = re.compile(r"[)\]][*+{]|[*+}][*+]|\\[1-9]")


def _match(name: str) -> Any:
    """re.match and the like on short plain text; patterns that could take long are left unknown."""

    def run(interp: Interpreter, arguments: Arguments) -> Any:
        values = arguments.positional
        plain = len(values) == 2 and all(isinstance(one, str) and len(one) <= 80 for one in values)
        if (
            not plain
            or _NESTED_REPEATS.search(values[0].replace(r"[0-9]", r"\d"))
            or values[0].count("*") > 3
        ):
            return builtin_calls.unknown(interp, arguments, "whether a pattern fits is not known")
        try:
            found = getattr(re, name)(*values)
        except re.error as error:
            raise Raised("error", str(error)) from None
        if found is None:
            return None
        groups = (found.group(0), *found.groups())

        def group(args: list[Any], kwargs: dict[str, Any]) -> Any:
            at = args[0] if args else 0
            if isinstance(at, (int, str)):
                try:
                    return found.group(at)
                except IndexError as error:
                    raise Raised("IndexError", str(error)) from None
            return None

        return Instance("match", {
            "group": Native("group", group),
            "groups": Native("groups", lambda args, kwargs: groups[1:]),
        })  # fmt: skip

    return run


def _default_dict(interp: Interpreter, arguments: Arguments) -> Any:
    result = Dict()
    result.default_factory = arguments.positional[0] if arguments.positional else None
    return result


def _chain(interp: Interpreter, arguments: Arguments) -> Any:
    from tritonlint.source.access import iterate

    result = List()
    for value in arguments.positional:
        items = iterate(interp, value)
        if items is None:
            return builtin_calls.unknown(interp, arguments, "what is chained is not known")
        result.extend(items)
    return result


def _chain_iterable(interp: Interpreter, arguments: Arguments) -> Any:
    from tritonlint.source.interpreter import Arguments as New

    rows = builtin_calls.items_of(interp, arguments.positional[0])
    if rows is None:
        return builtin_calls.unknown(interp, arguments, "what is chained is not known")
    return _chain(interp, New(rows, {}, arguments.node))


def _copy(interp: Interpreter, arguments: Arguments) -> Any:
    from tritonlint.source.environment import copy_container
    from tritonlint.source.kernels import ConfigValue

    value = arguments.positional[0] if arguments.positional else None
    if isinstance(value, ConfigValue):
        return ConfigValue(
            copy_container(value.kwargs), dict(value.options), value.origin, dict(value.argument_origins), value.pre_hook,
            value.spread,
        )  # fmt: skip
    return copy_container(value)


def _field(interp: Interpreter, arguments: Arguments) -> Any:
    return Instance("dataclasses.field", dict(arguments.keywords))


def _namespace(interp: Interpreter, arguments: Arguments) -> Any:
    return Instance("namespace", dict(arguments.keywords))


def _combinations(interp: Interpreter, arguments: Arguments) -> Any:
    import itertools
    import math

    items = builtin_calls.items_of(interp, arguments.positional[0])
    count = arguments.positional[1] if len(arguments.positional) > 1 else None
    if items is None or not isinstance(count, int) or not 0 <= count <= len(items):
        return builtin_calls.unknown(interp, arguments, "what is combined is not known")
    if math.comb(len(items), count) > builtin_calls.MAX_PRODUCT:
        return builtin_calls.unknown(interp, arguments, "the combinations are too many")
    return List(itertools.combinations(items, count))


def _namedtuple(interp: Interpreter, arguments: Arguments) -> Any:
    names = arguments.positional[1] if len(arguments.positional) > 1 else ()
    fields = names.replace(",", " ").split() if isinstance(names, str) else list(names) if names else []

    def make(args: list[Any], kwargs: dict[str, Any]) -> Any:
        values = {**dict(zip(fields, args, strict=False)), **kwargs}
        return Instance("namedtuple", {**values, "__items__": tuple(values.get(name) for name in fields)})

    return Native("namedtuple", make)


def _true(interp: Interpreter, arguments: Arguments) -> Any:
    return True


def _false(interp: Interpreter, arguments: Arguments) -> Any:
    return False


_HANDLERS: dict[str, Any] = {
    "triton.cdiv": cdiv,
    "triton.next_power_of_2": _next_power,
    "triton.language.math.next_power_of_2": _next_power,
    "triton.prev_power_of_2": _previous_power,
    "triton.language.constexpr": lambda interp, a: a.positional[0],
    "triton.language.cdiv": cdiv,
    "os.environ.get": _environ_get,
    "os.getenv": _environ_get,
    "os.environ.setdefault": _environ_get,
    "torch.cuda.is_available": _true,
    "torch.cuda.device_count": lambda interp, a: 1,
    "torch.cuda.current_device": lambda interp, a: 0,
    "torch.cuda.get_device_capability": lambda interp, a: answers.capability(interp.platform),
    "torch.cuda.get_device_properties": _properties,
    "torch.cuda.get_device_name": _device_name,
    "torch.xpu.is_available": _false,
    "torch.npu.is_available": _false,
    "torch.backends.mps.is_available": _false,
    "torch.hpu.is_available": _false,
    "torch.compiler.is_compiling": _compiling,
    "triton.runtime.driver.get_current_target": _target,
    "triton.runtime.driver.get_current_device": lambda interp, a: 0,
    "triton.runtime.driver.utils.get_device_properties": _triton_properties,
    "triton.runtime.driver.get_active_torch_device": lambda interp, a: External("torch.device"),
    "triton.compiler.get_arch_default_num_warps": lambda interp, a: 4,
    "packaging.version.parse": _parse_version,
    "packaging.version.Version": _parse_version,
    "pkg_resources.parse_version": _parse_version,
    "torch.torch_version.TorchVersion": _parse_version,
    "importlib.metadata.version": _package_version,
    "importlib.util.find_spec": _find_spec,
    "importlib.util.module_from_spec": _module_from_spec,
    "importlib.abc.Loader.exec_module": lambda interp, a: None,
    "importlib.import_module": lambda interp, a: _import_module(interp, a),
    "re.match": _match("match"),
    "re.search": _match("search"),
    "re.fullmatch": _match("fullmatch"),
    "itertools.product": builtin_calls.product,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_iterable,
    "itertools.combinations": _combinations,
    "functools.partial": lambda interp, a: builtin_calls.partial(a),
    "functools.reduce": builtin_calls.reduced,
    "functools.lru_cache": lambda interp, a: Native("lru_cache", lambda args, kwargs: args[0]),
    "math.prod": lambda interp, a: _product_of(interp, a),
    "collections.defaultdict": _default_dict,
    "collections.OrderedDict": lambda interp, a: builtin_calls.construct(interp, "dict", a),
    "collections.namedtuple": _namedtuple,
    "copy.copy": _copy,
    "copy.deepcopy": _copy,
    "dataclasses.field": _field,
    "dataclasses.replace": lambda interp, a: _replace(interp, a),
    "types.SimpleNamespace": _namespace,
    "enum.auto": lambda interp, a: Instance("enum.auto"),
    "platform.system": lambda interp, a: "Linux",
    "platform.machine": lambda interp, a: "x86_64",
    "torch.set_default_dtype": lambda interp, a: None,
    "typing.cast": lambda interp, a: a.positional[1],
    "torch.utils._triton.has_triton": _true,
    "torch.utils._triton.has_triton_package": _true,
}  # fmt: skip


def _import_module(interp: Interpreter, arguments: Arguments) -> Any:
    from tritonlint.source.definitions import module_value

    name = arguments.positional[0] if arguments.positional else None
    return (
        module_value(interp, name)
        if isinstance(name, str) and not name.startswith(".")
        else builtin_calls.unknown(interp, arguments, "which module is imported is not known")
    )


def _product_of(interp: Interpreter, arguments: Arguments) -> Any:
    import ast

    items = builtin_calls.items_of(interp, arguments.positional[0])
    if items is None:
        return builtin_calls.unknown(interp, arguments, "what is multiplied is not known", low=0)
    result: Any = arguments.keywords.get("start", 1)
    for one in items:
        result = lift(lambda a, b: symbolic.binary(interp.symbol, ast.Mult(), a, b), result, one)
    return result


def _replace(interp: Interpreter, arguments: Arguments) -> Any:
    base = arguments.positional[0] if arguments.positional else None
    if isinstance(base, Instance):
        return Instance(base.cls, {**base.attributes, **arguments.keywords})
    return builtin_calls.unknown(interp, arguments, "what is replaced is not known")
