"""The names of the language: what `tl.NAME`, a method of a tensor or a Python builtin stands for in a kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tritonlint.kernel import (
    blockpointer,
    creation,
    descriptors,
    dots,
    dtypes,
    elementwise,
    hints,
    loops,
    memory,
    random,
    reductions,
    shaping,
)
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.values import Builtin, Module, Opaque, Record, Tensor, TensorType, Untraceable, known


def _constexpr(m: Machine, value: Any) -> Any:
    return value


def _static_length(m: Machine, value: Any) -> Any:
    if isinstance(value, Opaque):
        raise Untraceable(value.reason)
    return len(value)


def _python(name: str, function: Callable[..., Any]) -> Builtin:
    def call(m: Machine, *args: Any) -> Any:
        return function(*[known(a, f"the argument of {name}") for a in args])

    return Builtin(name, call)


def _isinstance(m: Machine, value: Any, kind: Any) -> Any:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if isinstance(value, Opaque):
        raise Untraceable(value.reason)
    if all(k is CONSTEXPR or k is TENSOR for k in kinds):
        return any(isinstance(value, Tensor) == (k is TENSOR) for k in kinds)
    raise Untraceable("isinstance")


def _getattr(m: Machine, value: Any, name: Any, default: Any = None) -> Any:
    from tritonlint.kernel.attributes import attribute

    try:
        return attribute(m, value, known(name, "the name"))
    except Untraceable:
        return default


def _hasattr(m: Machine, value: Any, name: Any) -> bool:
    from tritonlint.kernel.attributes import attribute

    if isinstance(value, Opaque):
        raise Untraceable(value.reason)
    try:
        attribute(m, value, known(name, "the name"))
    except Untraceable:
        return False
    return True


def next_power_of_2(m: Machine, n: Any) -> int:
    n = known(n, "the argument of next_power_of_2")
    return 1 << (int(n) - 1).bit_length() if n > 0 else 0


def _pointer_type(m: Machine, element: Any, *_: Any) -> Any:
    return dtypes.pointer_to(creation.dtype_of(element))


def _block_type(m: Machine, element: Any, shape: Any) -> TensorType:
    return TensorType(creation.dtype_of(element), creation.shape_of(m, shape))


def _int_dtype(m: Machine, bitwidth: Any, signed: Any) -> Any:
    found = dtypes.integer_dtype(known(bitwidth, "bitwidth"), bool(known(signed, "signed")))
    if found is None:
        raise Untraceable(f"an integer of {bitwidth} bits")
    return found


def _operator(op: str) -> Callable[..., Any]:
    import ast

    from tritonlint.kernel import semantic as s

    plain = {"add": ast.Add, "sub": ast.Sub, "mul": ast.Mult}[op]

    def function(m: Machine, x: Any, y: Any, sanitize_overflow: Any = True) -> Any:
        from tritonlint.kernel.expressions import operate

        if not isinstance(x, Tensor) and not isinstance(y, Tensor):
            x = s.to_tensor(m, x)
        return operate(m, plain, x, y)

    return function


CONSTEXPR = Builtin("constexpr", _constexpr)
TENSOR = Builtin("tensor", lambda m, x: x)

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "program_id": creation.program_id,
    "num_programs": creation.num_programs,
    "arange": creation.arange,
    "full": creation.full,
    "zeros": creation.zeros,
    "zeros_like": creation.zeros_like,
    "to_tensor": creation.to_tensor,
    "broadcast": shaping.broadcast,
    "broadcast_to": shaping.broadcast_to,
    "trans": shaping.trans,
    "permute": shaping.permute,
    "reshape": shaping.reshape,
    "view": shaping.view,
    "ravel": shaping.ravel,
    "item": shaping.item,
    "expand_dims": shaping.expand_dims,
    "join": shaping.join,
    "split": shaping.split,
    "cat": shaping.cat,
    "interleave": shaping.interleave,
    "squeeze": shaping.squeeze,
    "unsqueeze": shaping.unsqueeze,
    "cast": elementwise.cast,
    "where": elementwise.where,
    "maximum": reductions.maximum,
    "minimum": reductions.minimum,
    "clamp": reductions.clamp,
    "abs": elementwise.absolute,
    "exp": elementwise.exp,
    "exp2": elementwise.exp2,
    "log": elementwise.log,
    "log2": elementwise.log2,
    "cos": elementwise.cos,
    "sin": elementwise.sin,
    "sqrt": elementwise.sqrt,
    "sqrt_rn": elementwise.sqrt_rn,
    "rsqrt": elementwise.rsqrt,
    "erf": elementwise.erf,
    "floor": elementwise.floor,
    "ceil": elementwise.ceil,
    "fdiv": elementwise.fdiv,
    "div_rn": elementwise.div_rn,
    "umulhi": elementwise.umulhi,
    "fma": elementwise.fma,
    "sigmoid": elementwise.sigmoid,
    "softmax": reductions.softmax,
    "cdiv": elementwise.cdiv,
    "swizzle2d": elementwise.swizzle2d,
    "add": _operator("add"),
    "sub": _operator("sub"),
    "mul": _operator("mul"),
    "load": memory.load,
    "store": memory.store,
    "atomic_add": memory.atomic_add,
    "atomic_and": memory.atomic_and,
    "atomic_or": memory.atomic_or,
    "atomic_xor": memory.atomic_xor,
    "atomic_xchg": memory.atomic_xchg,
    "atomic_max": memory.atomic_max,
    "atomic_min": memory.atomic_min,
    "atomic_cas": memory.atomic_cas,
    "atomic_load": memory.atomic_load,
    "atomic_store": memory.atomic_store,
    "atomic_poll": memory.atomic_poll,
    "make_block_ptr": blockpointer.make_block_ptr,
    "advance": blockpointer.advance,
    "make_tensor_descriptor": descriptors.make_tensor_descriptor,
    "_experimental_make_tensor_descriptor": descriptors.make_tensor_descriptor,
    "load_tensor_descriptor": descriptors.load,
    "store_tensor_descriptor": descriptors.store,
    "dot": dots.dot,
    "dot_scaled": dots.dot_scaled,
    "reduce": reductions.reduce,
    "associative_scan": reductions.associative_scan,
    "max": reductions.max_,
    "min": reductions.min_,
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "sum": reductions.sum_,
    "xor_sum": reductions.xor_sum,
    "reduce_or": reductions.reduce_or,
    "cumsum": reductions.cumsum,
    "cumprod": reductions.cumprod,
    "sort": reductions.sort,
    "topk": reductions.topk,
    "bitonic_merge": reductions.bitonic_merge,
    "flip": reductions.flip,
    "histogram": reductions.histogram,
    "gather": reductions.gather,
    "philox": random.philox,
    "philox_impl": random.philox_impl,
    "rand": random.rand,
    "rand4x": random.rand4x,
    "randint": random.randint,
    "randint4x": random.randint4x,
    "randn": random.randn,
    "randn4x": random.randn4x,
    "uint_to_uniform_float": random.uint_to_uniform_float,
    "uint32_to_uniform_float": random.uint_to_uniform_float,
    "pair_uniform_to_normal": random.pair_uniform_to_normal,
    "multiple_of": hints.multiple_of,
    "max_contiguous": hints.max_contiguous,
    "max_constancy": hints.max_constancy,
    "assume": hints.assume,
    "debug_barrier": hints.debug_barrier,
    "device_print": hints.device_print,
    "device_assert": hints.device_assert,
    "static_assert": hints.static_assert,
    "static_print": hints.static_print,
    "expect_zero": hints.expect_zero,
    "inline_asm_elementwise": elementwise.inline_asm_elementwise,
    "range": loops.language_range,
    "static_range": loops.static_range,
    "condition": lambda m, arg1, disable_licm=False: arg1,
    "pointer_type": _pointer_type,
    "block_type": _block_type,
    "get_int_dtype": _int_dtype,
    "next_power_of_2": next_power_of_2,
    "_log2": lambda m, i: reductions.log2(known(i, "the argument of _log2")),
    "_is_power_of_two": lambda m, i: known(i, "the argument") > 0 and i & (i - 1) == 0,
    "_unwrap_if_constexpr": _constexpr,
}

LANGUAGE: dict[str, Any] = {name: Builtin(f"tl.{name}", function) for name, function in _FUNCTIONS.items()}
LANGUAGE.update(dtypes.LANGUAGE_NAMES)
LANGUAGE.update(
    {
        "constexpr": CONSTEXPR,
        "tensor": TENSOR,
        "dtype": Builtin("tl.dtype", lambda m, name: creation.dtype_of(name)),
        "tuple": Builtin("tl.tuple", lambda m, values: tuple(values)),
        "PropagateNan": Module("triton.language.PropagateNan"),
        "TRITON_MAX_TENSOR_NUMEL": 1_048_576,
        "pi32_t": dtypes.pointer_to(dtypes.INT32),
    }
)
"""triton.language"""

MEMBERS: dict[str, Builtin] = {
    name: LANGUAGE[name]
    for name in [
        "broadcast_to",
        "trans",
        "permute",
        "split",
        "view",
        "reshape",
        "expand_dims",
        "cast",
        "store",
        "load",
        "atomic_load",
        "atomic_store",
        "atomic_cas",
        "atomic_xchg",
        "atomic_add",
        "atomic_max",
        "atomic_min",
        "atomic_and",
        "atomic_or",
        "atomic_poll",
        "atomic_xor",
        "exp",
        "exp2",
        "log",
        "log2",
        "cos",
        "sin",
        "sqrt",
        "sqrt_rn",
        "rsqrt",
        "abs",
        "erf",
        "floor",
        "ceil",
        "reduce",
        "associative_scan",
        "gather",
        "histogram",
        "cdiv",
        "sigmoid",
        "softmax",
        "ravel",
        "max",
        "argmax",
        "min",
        "argmin",
        "sum",
        "xor_sum",
        "reduce_or",
        "cumsum",
        "cumprod",
        "sort",
        "flip",
        "advance",
        "item",
        "topk",
    ]
}
MEMBERS["to"] = LANGUAGE["cast"]
MEMBERS["logical_and"] = Builtin("logical_and", lambda m, x, y: _logical(m, "andi", x, y))
MEMBERS["logical_or"] = Builtin("logical_or", lambda m, x, y: _logical(m, "ori", x, y))
"""Methods of a tensor."""

DESCRIPTOR_MEMBERS: dict[str, Builtin] = {
    "load": Builtin("desc.load", descriptors.load),
    "store": Builtin("desc.store", descriptors.store),
    "gather": Builtin("desc.gather", descriptors.gather),
    "scatter": Builtin("desc.scatter", descriptors.scatter),
}
DESCRIPTOR_MEMBERS.update(
    {
        f"atomic_{kind}": Builtin(f"desc.atomic_{kind}", descriptors.reduce_into(kind))
        for kind in ("add", "min", "max", "and", "or", "xor")
    }
)
"""Methods of a tensor descriptor."""


def _logical(m: Machine, op: str, x: Any, y: Any) -> Any:
    from tritonlint.kernel import semantic as s

    return s.logical(m, op, x, y)


GLOBALS: dict[str, Any] = {
    "range": Builtin("range", loops.python_range),
    "len": Builtin("len", _static_length),
    "min": Builtin("min", elementwise.builtin_extreme("min")),
    "max": Builtin("max", elementwise.builtin_extreme("max")),
    "print": LANGUAGE["device_print"],
    "int": _python("int", int),
    "float": _python("float", float),
    "bool": _python("bool", bool),
    "str": _python("str", str),
    "abs": _python("abs", abs),
    "round": _python("round", round),
    "sum": _python("sum", sum),
    "tuple": _python("tuple", tuple),
    "list": _python("list", tuple),
    "isinstance": Builtin("isinstance", _isinstance),
    "getattr": Builtin("getattr", _getattr),
    "hasattr": Builtin("hasattr", _hasattr),
}
"""Python's own names that a kernel may use."""

_TRITON: dict[str, Any] = {
    "language": Module("triton.language"),
    "cdiv": LANGUAGE["cdiv"],
    "next_power_of_2": LANGUAGE["next_power_of_2"],
}

_MATH_NAMES = frozenset(
    [
        "umulhi",
        "exp",
        "exp2",
        "log",
        "log2",
        "cos",
        "sin",
        "sqrt",
        "sqrt_rn",
        "rsqrt",
        "abs",
        "fdiv",
        "div_rn",
        "erf",
        "floor",
        "ceil",
        "fma",
    ]
)
_MATH_ALIASES = {"max": "maximum", "min": "minimum", "fast_dividef": "fdiv"}
_EXTRA: dict[str, Any] = {
    "globaltimer": Builtin("globaltimer", hints.clock),
    "smid": Builtin("smid", hints.smid),
    "gdc_wait": Builtin("gdc_wait", hints.grid_dependency_wait),
    "gdc_launch_dependents": Builtin("gdc_launch_dependents", hints.grid_dependency_launch_dependents),
    "num_threads": None,
    "num_warps": None,
}


def resolve(dotted: str, release: tuple[int, int] = (3, 9)) -> Any:
    """The value of a dotted name that starts at a package: "triton.language.load". None where it is none of ours."""
    if dotted in ("triton", "triton.language", "triton.language.extra", "triton.language.math"):
        return Module(dotted)
    head, _, name = dotted.rpartition(".")
    if head == "triton":
        return _TRITON.get(name)
    if head.startswith("triton.language") or head.endswith(("libdevice", ".tldevice")):
        return _in_language(head, name, release)
    if name == "tl":
        return Module("triton.language")
    if name == "triton" and head:
        return Module("triton")
    if name in ("libdevice", "tldevice"):
        return Module("triton.language.extra.libdevice")
    if head == "math" and name in _PLAIN_MATH and release >= (3, 2):
        return Builtin(dotted, _plain_math(dotted, getattr(math, name)))
    if head in ("math", "numpy", "np"):
        value = getattr(math, name, None)
        return value if isinstance(value, float) else Module(head) if not head else None
    if dotted in ("torch", "math", "numpy"):
        return Module(dotted)
    if head == "torch":
        return _TORCH.get(name)
    return None


_PLAIN_MATH = frozenset(
    ("ceil", "cos", "exp", "fabs", "floor", "gcd", "isqrt", "lcm", "log", "log10", "log2", "pow", "sin", "sqrt", "tanh",
     "trunc")
)  # fmt: skip


def _plain_math(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python's `math`, which the front end (3.2 on) calls on the values of constants, and only those."""

    def call(m: Machine, *args: Any) -> Any:
        numbers = [known(one, f"an argument of {name}") for one in args]
        try:
            return function(*numbers)
        except (TypeError, ValueError, OverflowError) as error:
            raise Untraceable(f"{name}: {error}") from None

    return call


def _limits(m: Machine, dtype: Any) -> Record:
    """torch.finfo and torch.iinfo."""
    dt = creation.dtype_of(dtype)
    if dt.is_int:
        return Record.of((dt.lowest, dt.highest, dt.bits), ("min", "max", "bits"))
    found = _FLOAT_LIMITS.get(dt)
    if found is None:
        raise Untraceable(f"the limits of {dt.name}")
    largest, eps, tiny = found
    return Record.of((-largest, largest, eps, tiny, dt.bits), ("min", "max", "eps", "tiny", "bits"))


_FLOAT_LIMITS = {
    dtypes.FP16: (65504.0, 2.0**-10, 2.0**-14),
    dtypes.BF16: ((2 - 2.0**-7) * 2.0**127, 2.0**-7, 2.0**-126),
    dtypes.FP32: ((2 - 2.0**-23) * 2.0**127, 2.0**-23, 2.0**-126),
    dtypes.FP64: ((2 - 2.0**-52) * 2.0**1023, 2.0**-52, 2.0**-1022),
    dtypes.FP8E4NV: (448.0, 2.0**-3, 2.0**-6),
    dtypes.FP8E5: (57344.0, 2.0**-2, 2.0**-14),
}
_TORCH: dict[str, Any] = {"finfo": Builtin("torch.finfo", _limits), "iinfo": Builtin("torch.iinfo", _limits)}
_TORCH.update(
    {
        "float16": dtypes.FP16, "half": dtypes.FP16, "bfloat16": dtypes.BF16, "float32": dtypes.FP32,
        "float": dtypes.FP32, "float64": dtypes.FP64, "double": dtypes.FP64, "int8": dtypes.INT8,
        "uint8": dtypes.UINT8, "int16": dtypes.INT16,
        "int32": dtypes.INT32, "int64": dtypes.INT64, "bool": dtypes.INT1, "float8_e4m3fn": dtypes.FP8E4NV,
        "float8_e5m2": dtypes.FP8E5, "inf": math.inf, "nan": math.nan, "pi": math.pi,
    }
)  # fmt: skip


def _in_language(head: str, name: str, release: tuple[int, int]) -> Any:
    if head in (
        "triton.language",
        "triton.language.core",
        "triton.language.standard",
        "triton.language.random",
    ):
        if name in LANGUAGE:
            return LANGUAGE[name]
        if name in ("math", "extra", "libdevice", "core", "standard", "random", "target_info"):
            return Module(f"triton.language.{name}")
        return None
    last = head.rsplit(".", 1)[-1]
    if last == "PropagateNan":
        return "all" if name == "ALL" else "none"
    if last == "math":
        if release < (3, 0):
            return Builtin(f"libdevice.{name}", elementwise.library_function(name))
        if name in _MATH_NAMES:
            return LANGUAGE[name]
        alias = _MATH_ALIASES.get(name)
        if alias is not None:
            return LANGUAGE[alias]
        return Builtin(f"libdevice.{name}", elementwise.library_function(name))
    if last in ("libdevice", "tldevice"):
        return Builtin(f"libdevice.{name}", elementwise.library_function(name))
    if last in ("extra", "cuda", "hip"):
        if _EXTRA.get(name) is not None:
            return _EXTRA[name]
        return Module(f"{head}.{name}")
    return _EXTRA.get(name)
