"""torch tensors as the launches need them: dtype, and shape where the code shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonlint.source import symbolic
from tritonlint.source.dtypes import CONVERSIONS, DTYPES
from tritonlint.source.guards import Choice, lift
from tritonlint.source.objects import MISSING, External, Symbol, Tensor, TypeValue
from tritonlint.source.values import DType

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Arguments, Interpreter

_MAKERS = frozenset({"empty", "zeros", "ones", "full", "randn", "rand", "randint", "arange", "tensor", "empty_strided",
                     "linspace", "eye", "randperm", "as_tensor", "scalar_tensor"})  # fmt: skip
_LIKE = frozenset({"empty_like", "zeros_like", "ones_like", "full_like", "randn_like", "rand_like"})
_KEEPING = frozenset({
    "contiguous", "clone", "detach", "cpu", "cuda", "requires_grad_", "zero_", "fill_", "copy_", "mul_", "add_",
    "pin_memory", "abs", "neg", "relu", "exp", "sigmoid", "tanh", "clamp", "clamp_", "masked_fill", "masked_fill_",
    "sub_", "div_",
})  # fmt: skip
_RESHAPING = frozenset({
    "view", "reshape", "flatten", "transpose", "permute", "t", "squeeze", "unsqueeze", "expand", "repeat", "unflatten",
    "narrow", "select", "index_select", "expand_as", "view_as", "reshape_as", "swapaxes", "movedim", "flip", "roll",
    "as_strided", "repeat_interleave", "gather", "swapdims", "mT", "slice", "contiguous_", "ravel", "unfold", "T",
})  # fmt: skip
_INTEGERS = frozenset({"argsort", "argmax", "argmin", "nonzero", "count_nonzero"})


def dtype_of(interp: Interpreter, value: Any) -> Any:
    """The dtype of a tensor value."""
    if isinstance(value, Tensor):
        return value.dtype
    return interp.symbol(
        symbolic.grow("dtype", symbolic.key_of(value)), "the dtype of a tensor is not known", kind="dtype"
    )


def shape_value(value: Any) -> tuple[Any, ...] | None:
    if isinstance(value, (tuple, list)):
        return tuple(value)
    if isinstance(value, (int, Symbol)):
        return (value,) if isinstance(value, int) or value.kind == "int" else None
    return None


def call_torch(interp: Interpreter, name: str, arguments: Arguments) -> Any:
    """torch.NAME(...); MISSING where nothing is known of it."""
    from tritonlint.source.calls import call_key

    last = name.rpartition(".")[2]
    key = call_key(External(f"torch.{name}"), arguments)
    values, keywords = arguments.positional, arguments.keywords
    if last in _LIKE:
        base = values[0] if values else keywords.get("input")
        return lift(lambda one, dtype: _like(interp, key, one, dtype), base, keywords.get("dtype"))
    if last in _MAKERS and name == last:
        return _make(interp, key, last, values, keywords)
    if name in ("numel",) and values:
        return lift(lambda one: size_of(interp, one), values[0])
    if name in _KEEPING | _RESHAPING and values:
        return lift(lambda one: _derived(interp, one, name, key), values[0])
    if name in ("cat", "stack", "concat") and values:
        first = values[0][0] if isinstance(values[0], (list, tuple)) and values[0] else None
        return Tensor(key, dtype_of(interp, first)) if first is not None else MISSING
    if (
        name == "finfo"
        or name == "iinfo"
        or name == "device"
        or name.startswith(("ops.", "library.", "distributed"))
    ):
        return MISSING
    if name in ("matmul", "mm", "bmm") and values:
        return Tensor(key, dtype_of(interp, values[0]))
    return MISSING


def _like(interp: Interpreter, key: Any, base: Any, dtype: Any) -> Any:
    shape = base.shape if isinstance(base, Tensor) else None
    return Tensor(key, dtype if dtype is not None else dtype_of(interp, base), shape, True)


def _make(interp: Interpreter, key: Any, name: str, values: list[Any], keywords: dict[str, Any]) -> Any:
    dtype = keywords.get("dtype")
    if dtype is None:
        if name in ("randint", "randperm"):
            dtype = DType("i64")
        elif name in ("empty", "zeros", "ones", "randn", "rand", "empty_strided", "linspace", "eye"):
            dtype = DType("fp32")
        else:
            dtype = interp.symbol(
                symbolic.grow("dtype", key), "the dtype of a new tensor is not known", kind="dtype"
            )
    if name in ("tensor", "as_tensor", "arange", "linspace", "eye", "randperm", "scalar_tensor"):
        return Tensor(key, dtype, None, True)
    wanted = keywords.get("size", keywords.get("shape"))
    if wanted is None:
        sizes = values[2:3] if name == "randint" and len(values) > 2 else values
        if name in ("full", "randint", "empty_strided") or (
            sizes and isinstance(sizes[0], (tuple, list, Choice, Symbol))
        ):
            wanted = sizes[0] if sizes else None
            if len(sizes) > 1 and name not in ("full", "randint", "empty_strided"):
                wanted = tuple(sizes)
        else:
            wanted = tuple(sizes)
    if isinstance(wanted, Choice):
        return Tensor(key, dtype, None, True)
    return Tensor(key, dtype, shape_value(wanted), name != "empty_strided")


def _derived(interp: Interpreter, base: Any, name: str, key: Any) -> Any:
    if isinstance(base, Tensor):
        return Tensor(
            key, base.dtype, base.shape if name in _KEEPING else None, base.dense and name in _KEEPING
        )
    if isinstance(base, Symbol):
        return Tensor(key, dtype_of(interp, base), None, name in ("contiguous", "clone"))
    return MISSING


def size_of(interp: Interpreter, value: Any) -> Any:
    """value.numel()"""
    import ast

    if isinstance(value, Tensor) and value.shape is not None:
        total: Any = 1
        for size in value.shape:
            total = lift(lambda a, b: symbolic.binary(interp.symbol, ast.Mult(), a, b), total, size)
        return total
    return interp.symbol(
        symbolic.grow("numel", symbolic.key_of(value)), "the number of elements is not known", 0, kind="int"
    )


def call_tensor(interp: Interpreter, base: Any, name: str, arguments: Arguments) -> Any:
    """A method of a tensor (or of an unknown value that is used like one); MISSING where it is none of them."""
    base_key = symbolic.key_of(base)
    values, keywords = arguments.positional, arguments.keywords
    if name == "numel" or name == "nelement":
        return size_of(interp, base)
    if name == "size":
        index = values[0] if values else keywords.get("dim")
        return shape_item(interp, base, index) if index is not None else shape_of(interp, base)
    if name == "stride":
        return _stride(interp, base, values[0] if values else keywords.get("dim", MISSING))
    if name in ("dim", "ndimension"):
        return rank_of(interp, base)
    if name == "element_size":
        dtype = dtype_of(interp, base)
        if isinstance(dtype, DType):
            return max(_bits(dtype.name) // 8, 1)
        return interp.symbol(
            symbolic.grow("element_size", base_key), "the dtype is not known", 1, 8, True, kind="int"
        )
    if name == "is_contiguous":
        if isinstance(base, Tensor) and base.dense:
            return True
        return interp.symbol(
            symbolic.grow("is_contiguous", base_key),
            "whether it is contiguous is not known",
            0,
            1,
            kind="bool",
        )
    if name == "data_ptr" or name == "item" or name == "tolist":
        kind = "int" if name == "data_ptr" else ""
        return interp.symbol(symbolic.grow(name, base_key), "the content of a tensor is not known", kind=kind)
    key = symbolic.grow(
        "method", name, base_key, *(symbolic.key_of(one) for one in values if not isinstance(one, Choice))
    )
    if name in CONVERSIONS and not values:
        return Tensor(key, DType(CONVERSIONS[name]), base.shape if isinstance(base, Tensor) else None)
    if name in (
        "to",
        "type",
        "type_as",
        "view",
        "new_empty",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_tensor",
    ):
        return _converted(interp, base, name, key, values, keywords)
    if name in _KEEPING or name in _RESHAPING:
        return _derived(interp, base, name, key)
    if name in _INTEGERS:
        return Tensor(key, DType("i64"))
    if name in ("get_device",):
        return 0
    return MISSING


def _converted(
    interp: Interpreter, base: Any, name: str, key: Any, values: list[Any], keywords: dict[str, Any]
) -> Any:
    dtype = keywords.get("dtype")
    for one in values:
        if (
            isinstance(one, DType)
            or (isinstance(one, Symbol) and one.kind == "dtype")
            or (isinstance(one, Choice) and all(isinstance(inner, DType) for _, inner in one.alternatives))
        ):
            dtype = one
        elif isinstance(one, Tensor) and name in ("to", "type_as"):
            dtype = one.dtype
        elif isinstance(one, TypeValue) and one.name in DTYPES:
            dtype = DType(DTYPES[one.name])
    if name in ("new_empty", "new_zeros", "new_ones", "new_full"):
        first = values[0] if values else keywords.get("size")
        shape = shape_value(first) if isinstance(first, (tuple, list)) else shape_value(tuple(values))
        return Tensor(key, dtype if dtype is not None else dtype_of(interp, base), shape, True)
    if name == "to" and dtype is None and any(isinstance(one, Symbol) and one.kind == "" for one in values):
        unknown = interp.symbol(
            symbolic.grow("dtype", key), "what it is converted to is not known", kind="dtype"
        )
        maybe_device = keywords or len(values) > 1
        dtype = None if maybe_device else unknown
    kept = isinstance(base, Tensor) and name != "view"
    return Tensor(
        key,
        dtype if dtype is not None else dtype_of(interp, base),
        base.shape if kept else None,
        kept and base.dense,
    )


def shape_of(interp: Interpreter, base: Any) -> Any:
    if isinstance(base, Tensor) and base.shape is not None:
        return base.shape
    return interp.symbol(
        symbolic.grow("shape", symbolic.key_of(base)), "the shape of a tensor is not known", kind="shape"
    )


def shape_item(interp: Interpreter, base: Any, index: Any) -> Any:
    shape = base.shape if isinstance(base, Tensor) else None
    if shape is not None and isinstance(index, int) and -len(shape) <= index < len(shape):
        return shape[index]
    key = symbolic.grow("dim", symbolic.key_of(base), symbolic.key_of(index))
    return interp.symbol(key, "the shape of a tensor is not known", low=0, kind="int")


def rank_of(interp: Interpreter, base: Any) -> Any:
    if isinstance(base, Tensor) and base.shape is not None:
        return len(base.shape)
    return interp.symbol(
        symbolic.grow("rank", symbolic.key_of(base)), "the rank of a tensor is not known", 0, kind="int"
    )


def _stride(interp: Interpreter, base: Any, index: Any) -> Any:
    import ast

    if isinstance(base, Tensor) and base.dense and base.shape is not None:
        if index is MISSING:
            return tuple(_stride(interp, base, place) for place in range(len(base.shape)))
        if isinstance(index, int) and -len(base.shape) <= index < len(base.shape):
            place = index % len(base.shape)
            total: Any = 1
            for size in base.shape[place + 1 :]:
                total = lift(lambda a, b: symbolic.binary(interp.symbol, ast.Mult(), a, b), total, size)
            return total
    if index is MISSING:
        return interp.symbol(
            symbolic.grow("strides", symbolic.key_of(base)),
            "the strides of a tensor are not known",
            kind="shape",
        )
    key = symbolic.grow("stride", symbolic.key_of(base), symbolic.key_of(index))
    return interp.symbol(key, "the strides of a tensor are not known", low=0, kind="int")


def _bits(name: str) -> int:
    digits = "".join(char for char in name.replace("fp8", "8 ").split(" ")[0] if char.isdigit())
    return int(digits or 8)


def attribute_of(interp: Interpreter, base: Any, name: str) -> Any:
    """A tensor's plain attributes; MISSING where it is none of them."""
    key = symbolic.key_of(base)
    if name == "shape":
        return shape_of(interp, base)
    if name == "dtype":
        return dtype_of(interp, base)
    if name == "ndim":
        return rank_of(interp, base)
    if name in ("T", "mT", "H"):
        return Tensor(symbolic.grow("T", key), dtype_of(interp, base))
    if name in ("data", "grad", "real"):
        return Tensor(
            symbolic.grow(name, key), dtype_of(interp, base), base.shape if isinstance(base, Tensor) else None
        )
    if name == "is_cuda":
        return True
    if name == "itemsize":
        return call_tensor(interp, base, "element_size", _no_arguments())
    return MISSING


def _no_arguments() -> Arguments:
    from tritonlint.source.interpreter import Arguments as New

    return New([], {})
