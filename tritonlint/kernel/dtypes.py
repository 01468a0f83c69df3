"""Triton's element types as the front end sees them: with a sign, which TTIR (`ir.Type.element`) no longer has."""

from __future__ import annotations

from typing import Final

BOOLEAN: Final = 0
INTEGRAL: Final = 1
FLOATING: Final = 2


class DType:
    """An element type. There is one object of each, so that `is` compares them.

    `name` is Triton's own ("int32", "fp16", "pointer<fp16>"); `element` that of `ir.Type` ("i32", "fp16", "*fp16").
    `kind` is BOOLEAN, INTEGRAL or FLOATING, in the order of promotion; -1 for a pointer.
    """

    __slots__ = (
        "bits",
        "element",
        "is_fp8",
        "is_pointer",
        "kind",
        "mantissa",
        "name",
        "pointee",
        "signed",
        "standard",
    )

    def __init__(
        self, name: str, element: str, bits: int, kind: int, signed: bool = False, mantissa: int = 0
    ) -> None:
        self.name = name
        self.element = element
        self.bits = bits
        self.kind = kind
        self.signed = signed  # a signed integer; int1 counts as unsigned
        self.mantissa = mantissa
        self.is_fp8 = name.startswith("fp8")
        self.standard = kind == FLOATING and not self.is_fp8
        self.is_pointer = False
        self.pointee: DType | None = None

    @property
    def is_float(self) -> bool:
        return self.kind == FLOATING

    @property
    def is_int(self) -> bool:
        """An integer, of which int1 is one."""
        return self.kind == INTEGRAL or self.kind == BOOLEAN

    @property
    def lowest(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1

    def __repr__(self) -> str:
        return self.name


def _integer(name: str, bits: int, signed: bool) -> DType:
    return DType(name, f"i{bits}", bits, BOOLEAN if bits == 1 else INTEGRAL, signed)


INT1 = _integer("int1", 1, False)
INT8 = _integer("int8", 8, True)
INT16 = _integer("int16", 16, True)
INT32 = _integer("int32", 32, True)
INT64 = _integer("int64", 64, True)
UINT8 = _integer("uint8", 8, False)
UINT16 = _integer("uint16", 16, False)
UINT32 = _integer("uint32", 32, False)
UINT64 = _integer("uint64", 64, False)
FP8E4B15 = DType("fp8e4b15", "fp8e4b15", 8, FLOATING, mantissa=3)
FP8E4NV = DType("fp8e4nv", "fp8e4nv", 8, FLOATING, mantissa=3)
FP8E4B8 = DType("fp8e4b8", "fp8e4b8", 8, FLOATING, mantissa=3)
FP8E5 = DType("fp8e5", "fp8e5", 8, FLOATING, mantissa=2)
FP8E5B16 = DType("fp8e5b16", "fp8e5b16", 8, FLOATING, mantissa=2)
FP16 = DType("fp16", "fp16", 16, FLOATING, mantissa=10)
BF16 = DType("bf16", "bf16", 16, FLOATING, mantissa=7)
FP32 = DType("fp32", "fp32", 32, FLOATING, mantissa=23)
FP64 = DType("fp64", "fp64", 64, FLOATING, mantissa=52)
VOID = DType("void", "void", 0, -1)

_ALL = (
    INT1, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64,
    FP8E4B15, FP8E4NV, FP8E4B8, FP8E5, FP8E5B16, FP16, BF16, FP32, FP64, VOID,
)  # fmt: skip

_BY_NAME: dict[str, DType] = {t.name: t for t in _ALL}
_BY_NAME.update({f"i{t.bits}": t for t in _ALL if t.is_int and (t.signed or t.bits == 1)})
_BY_NAME.update({f"u{t.bits}": t for t in _ALL if t.is_int and not t.signed})
_BY_NAME.update(
    float16=FP16, bfloat16=BF16, float32=FP32, float64=FP64, half=FP16, float=FP32, double=FP64, bool=INT1,
    float8e5=FP8E5, float8e5b16=FP8E5B16, float8e4nv=FP8E4NV, float8e4b8=FP8E4B8, float8e4b15=FP8E4B15,
    fp8e4=FP8E4NV, float8e4=FP8E4NV, B=INT1, u1=INT1,
)  # fmt: skip

LANGUAGE_NAMES: dict[str, DType] = {
    n: _BY_NAME[n]
    for n in [
        "int1",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "void",
        "float8e5",
        "float8e5b16",
        "float8e4nv",
        "float8e4b8",
        "float8e4b15",
        "float8e4",
    ]
}
"""What the module triton.language calls them."""

_POINTERS: dict[DType, DType] = {}


def pointer_to(pointee: DType) -> DType:
    """The type of a pointer to `pointee`."""
    found = _POINTERS.get(pointee)
    if found is None:
        found = DType(f"pointer<{pointee.name}>", f"*{pointee.element}", 64, -1)
        found.is_pointer = True
        found.pointee = pointee
        _POINTERS[pointee] = found
    return found


def dtype_named(name: str) -> DType | None:
    """A type by any of its spellings: "i32", "int32", "*fp16", "*k8"... None for one that Triton does not have."""
    if name.startswith("*"):
        inner = dtype_named(name[1:].removeprefix("k") if name.startswith("*k") else name[1:])
        return None if inner is None else pointer_to(inner)
    return _BY_NAME.get(name)


def integer_dtype(bits: int, signed: bool) -> DType | None:
    """The integer type of so many bits, None where there is none."""
    return INT1 if bits == 1 else _BY_NAME.get(f"i{bits}" if signed else f"u{bits}")


def promote_integers(a: DType, b: DType) -> DType:
    """C's usual arithmetic conversions, as Triton applies them to two integer types."""
    if a.signed == b.signed:
        return a if a.bits > b.bits else b
    if not a.signed:
        return a if a.bits >= b.bits else b
    return b if b.bits >= a.bits else a
