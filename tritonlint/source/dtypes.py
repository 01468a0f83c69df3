"""Dtype names of torch and triton.language, in Triton's signature spelling."""

from __future__ import annotations

DTYPES = {
    "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float32": "fp32", "float": "fp32", "float64": "fp64",
    "double": "fp64", "int1": "i1", "bool": "i1", "int8": "i8", "short": "i16", "int16": "i16", "int32": "i32",
    "int": "i32", "int64": "i64", "long": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float8e4nv": "fp8e4nv", "float8_e4m3fn": "fp8e4nv", "float8e5": "fp8e5", "float8_e5m2": "fp8e5",
    "float8e4b8": "fp8e4b8", "float8_e4m3fnuz": "fp8e4b8", "float8e5b16": "fp8e5b16", "float8_e5m2fnuz": "fp8e5b16",
    "float8e4b15": "fp8e4b15", "float8_e8m0fnu": "u8",
}  # fmt: skip

# Methods of a tensor that convert it.
CONVERSIONS = {
    "float": "fp32", "half": "fp16", "bfloat16": "bf16", "double": "fp64", "int": "i32", "long": "i64", "short": "i16",
    "char": "i8", "byte": "u8", "bool": "i1",
}  # fmt: skip
