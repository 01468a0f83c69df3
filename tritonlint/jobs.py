"""A job: which launch to estimate, as JSON gives it or the command line does."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tritonlint.source.values import DType

DTYPES = frozenset(
    (
        "fp8e4nv", "fp8e5", "fp8e4b8", "fp8e4b15", "fp8e5b16", "bf16", "fp16", "fp32", "fp64",
        "i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
    )
)  # fmt: skip
SIGNATURE_BOOLEAN = "u1"  # what a signature of Triton 3.4 and later calls i1
MOST_PROGRAMS = 2**31 - 1  # of a launch; more, and nothing runs
_TYPE = re.compile(r"\**(k?)([a-z0-9]+)|tensordesc<.+>|constexpr")
FIELDS = (
    "file", "kernel", "types", "constants", "divisible_by_16", "num_warps", "num_stages", "num_ctas",
    "maxnreg", "grid", "gpu", "triton", "values", "model",
)  # fmt: skip


class JobError(ValueError):
    """A job that cannot be understood; `str()` says which field and what is allowed."""


@dataclass(frozen=True, slots=True)
class Job:
    """None means: not given. `divisible_by_16` None: every integer and pointer is, as a default."""

    file: str
    kernel: str
    gpu: str
    types: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)  # run-time integers that are known
    divisible_by_16: frozenset[str] | None = None
    num_warps: int | None = None
    num_stages: int | None = None
    num_ctas: int | None = None
    maxnreg: int | None = None
    grid: tuple[int, ...] | None = None
    triton: str | None = None
    model: Literal["compiler", "textbook"] = "compiler"
    # The stride of an innermost dimension is 1 where nothing tells it. A job that names its constants names
    # those strides, too.
    unit_strides: bool = True
    unknown_fields: tuple[str, ...] = ()  # of the JSON; passed over, and named in the steps


def job_of(data: Any) -> Job:
    """A job from decoded JSON. Raises JobError. Fields that are not known are kept by name only."""
    if not isinstance(data, dict):
        raise JobError("a job is a JSON object")
    missing = [name for name in ("file", "kernel", "gpu") if not isinstance(data.get(name), str)]
    if missing:
        raise JobError(f"{', '.join(missing)}: text is needed")
    constants = _table(data, "constants")
    divisible = data.get("divisible_by_16")
    if divisible is not None and not (
        isinstance(divisible, list) and all(isinstance(name, str) for name in divisible)
    ):
        raise JobError("divisible_by_16: a list of argument names is needed")
    types = _table(data, "types")
    for name, text in types.items():
        check_type(name, text)
    triton = data.get("triton")
    if triton is not None and not isinstance(triton, str):
        raise JobError('triton: text such as "3.9" is needed')
    model = data.get("model", "compiler")
    if model not in ("compiler", "textbook"):
        raise JobError('model: "compiler" or "textbook" is needed')
    return Job(
        file=data["file"],
        kernel=data["kernel"],
        gpu=data["gpu"],
        types={name: text.strip() for name, text in types.items()},
        constants={name: _constant(name, value) for name, value in constants.items()},
        values={name: value for name, value in _table(data, "values").items() if isinstance(value, int)},
        divisible_by_16=None if divisible is None else frozenset(divisible),
        num_warps=_integer(data, "num_warps"),
        num_stages=_integer(data, "num_stages"),
        num_ctas=_integer(data, "num_ctas"),
        maxnreg=_integer(data, "maxnreg"),
        grid=_grid(data.get("grid")),
        triton=triton,
        model=model,
        unit_strides=not constants,
        unknown_fields=tuple(name for name in data if name not in FIELDS),
    )


def constant(value: Any) -> Any:
    """A JSON value as a compile-time value: the name of a dtype is the dtype."""
    if isinstance(value, str) and value in DTYPES:
        return DType(value)
    if isinstance(value, list):
        return tuple(constant(entry) for entry in value)
    return value


def _constant(name: str, value: Any) -> Any:
    """The same for a constant of that name. Raises JobError for an object, in a list too."""
    parts = [value]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            raise JobError(
                f"constants: {name}: a number, text, true, false, null or a list of these is needed, not an object"
            )
        if isinstance(part, list):
            parts += part
    return constant(value)


def check_type(name: str, text: Any) -> str:
    """The type of an argument. Raises JobError."""
    match = _TYPE.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None or (match[2] and match[2] not in DTYPES and match[2] != SIGNATURE_BOOLEAN):
        raise JobError(f'type of {name}: "*fp16", "i32", "fp32" or "tensordesc<...>" is needed, not {text!r}')
    return str(text).strip()


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise JobError(f"{name}: an object is needed, name to value")
    return value


def _integer(data: Mapping[str, Any], name: str) -> int | None:
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise JobError(f"{name}: a whole number is needed, not {value!r}")
    return value


def _grid(value: Any) -> tuple[int, ...] | None:
    if value is None:
        return None
    entries = value if isinstance(value, list) else [value]
    if not 1 <= len(entries) <= 3 or not all(
        isinstance(entry, int) and not isinstance(entry, bool) for entry in entries
    ):
        raise JobError("grid: one to three whole numbers are needed")
    if min(entries) < 1:
        raise JobError(f"grid: numbers from 1 on are needed, not {min(entries)}")
    if math.prod(entries) > MOST_PROGRAMS:
        raise JobError(
            f"grid: {math.prod(entries):,} programs are more than a launch can have, {MOST_PROGRAMS:,}"
        )
    return tuple(entries)
