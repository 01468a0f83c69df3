"""One compile with the Triton that is installed here, through the interface of its generation (3.0 and newer)."""

from __future__ import annotations

import base64
import contextlib
import importlib
import importlib.metadata
import re
import sys
import types
from collections.abc import Mapping
from typing import Any

from .driver import target_of
from .importing import kernel_of

_DTYPES = {
    "fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "fp8e4b8": "float8e4b8", "fp8e4b15": "float8e4b15",
    "fp8e5b16": "float8e5b16", "bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "fp64": "float64",
    "i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip


class Refused(Exception):
    """What a launch would be refused for, in words for the user."""


def release() -> tuple[int, int]:
    """(3, 9)"""
    match = re.match(r"(\d+)\.(\d+)", importlib.import_module("triton").__version__)
    assert match is not None
    return int(match[1]), int(match[2])


def answer(job: Mapping[str, Any], module: types.ModuleType, gpu: Mapping[str, Any]) -> dict[str, Any]:
    """What the compiler makes of a job: shared memory, tensor memory, warps, and the code (a cubin, or the metadata
    of AMD's assembly) in which the registers stand. Raises what the compiler raises."""
    triton: Any = importlib.import_module("triton")
    source_of: Any = importlib.import_module("triton.compiler").ASTSource
    target = target_of(gpu)
    backend = _backend(triton, target)
    function = kernel_of(module, job["kernel"], job["first_line"], job["last_line"])
    names = list(function.arg_names)
    constants = {name: constant(value, module) for name, value in job["constants"].items() if name in names}
    for parameter in function.params:
        if parameter.is_constexpr and parameter.name not in constants and parameter.has_default:
            constants[parameter.name] = parameter.default
    signature = {n: "constexpr" if n in constants else job["types"].get(n) for n in names}
    untold = [name for name, text in signature.items() if text is None]
    if untold:
        raise Refused(f"the type of {untold[0]} is not known; --type {untold[0]}=... tells it")
    _check_options(backend, target, job["options"], names)
    aligned = [index for index, name in enumerate(names) if name in job["aligned"]]
    source = _source(source_of, function, names, signature, constants, aligned, target)
    kernel = triton.compile(source, target=target, options=dict(job["options"]))
    return _described(kernel)


def _backend(triton: Any, target: Any) -> Any:
    for entry in triton.backends.backends.values():
        if entry.compiler.supports_target(target):
            if target.backend == "hip":
                # Linking needs a ROCm linker in older releases; the assembly says all that is asked here.
                entry.compiler.make_hsaco = staticmethod(lambda *_, **__: b"")
                if hasattr(entry.compiler, "path_to_rocm_lld"):
                    entry.compiler.path_to_rocm_lld = staticmethod(lambda *_, **__: "/bin/true")
            return entry.compiler
    raise Refused(f"Triton {triton.__version__} has no backend for {target.arch}")


def _check_options(backend: Any, target: Any, options: Mapping[str, Any], names: list[str]) -> None:
    """The launcher's own check: a keyword is an option of the backend or a parameter. `triton.compile` leaves out what
    it does not know."""
    known = vars(backend(target).parse_options({}))
    for name in options:
        if name not in known and name not in names:
            raise Refused(f"the launcher does not know the keyword {name}")


def _source(
    source_of: Any,
    function: Any,
    names: list[str],
    signature: dict[str, Any],
    constants: dict[str, Any],
    aligned: list[int],
    target: Any,
) -> Any:
    if release() >= (3, 3):
        attributes = {(index,): [["tt.divisibility", 16]] for index in aligned}
        keyed = {(names.index(name),): value for name, value in constants.items()}
        return source_of(function, signature, keyed, attributes)
    typed = {name: text for name, text in signature.items() if text != "constexpr"}
    if release() == (3, 2):
        kind = "AttrsDescriptor" if target.backend == "cuda" else "HIPAttrsDescriptor"
        properties = {"tt.divisibility": tuple(aligned), "tt.equal_to": ()}
        descriptor = importlib.import_module("triton.backends.compiler").AttrsDescriptor
        hints = descriptor.from_dict({"cls": kind, "arg_properties": properties})
        return source_of(function, typed, constants, hints)
    descriptor = importlib.import_module("triton.compiler.compiler").AttrsDescriptor
    return source_of(
        function,
        {names.index(name): text for name, text in typed.items()},
        {names.index(name): value for name, value in constants.items()},
        descriptor(divisible_by_16=tuple(aligned), equal_to_1=()),
    )


def _described(kernel: Any) -> dict[str, Any]:
    metadata = kernel.metadata
    told = metadata._asdict() if hasattr(metadata, "_asdict") else dict(vars(metadata))
    result: dict[str, Any] = {
        "shared_bytes": told["shared"],
        "tensor_memory_columns": told.get("tmem_size") or 0,
        "warps": told["num_warps"],
    }
    code = kernel.asm
    if "cubin" in code:
        result["cubin"] = base64.b64encode(code["cubin"]).decode("ascii")
    elif "amdgcn" in code:
        text = code["amdgcn"]
        result["amdgcn"] = text[max(text.rfind("; Kernel info:"), text.rfind(".amdgpu_metadata"), 0) - 4000 :]
    return result


def constant(value: Any, module: types.ModuleType) -> Any:
    """A compile-time value from its JSON (jobs.encoded)."""
    if not isinstance(value, dict):
        return value
    language: Any = importlib.import_module("triton.language")
    if "dtype" in value:
        return getattr(language, _DTYPES[value["dtype"]])
    if "tuple" in value:
        return tuple(constant(entry, module) for entry in value["tuple"])
    if "function" in value:
        named = getattr(module, value["function"], None)
        if named is None:
            raise Refused(f"the module has no {value['function']}")
        return named
    raise Refused(f"a constant cannot be rebuilt: {value}")


def installed() -> dict[str, Any]:
    """What the parent asks first: {"triton": "3.9.0"}, or {"missing": why}."""
    try:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            told = importlib.metadata.version("triton")
            if told.startswith(("0.", "1.", "2.")):  # importing these may need what is not there
                return {"triton": told, "python": sys.version.split()[0]}
        triton: Any = importlib.import_module("triton")
        return {"triton": triton.__version__, "python": sys.version.split()[0]}
    except BaseException as error:
        return {"missing": f"{type(error).__name__}: {error}", "python": sys.version.split()[0]}
