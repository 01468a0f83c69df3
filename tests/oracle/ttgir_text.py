"""Writes encodings and one-operation modules as TritonGPU IR text, in the spelling of each release."""

from __future__ import annotations

from tritonlint.compiler.encodings import (
    AmdMfma,
    AmdWmma,
    Blocked,
    CtaLayout,
    Distributed,
    DotOperand,
    Linear,
    NvidiaMma,
    Slice,
)
from tritonlint.compiler.linear import unpack
from tritonlint.compiler.releases import Release

ELEMENTS = {
    "fp64": "f64", "fp32": "f32", "fp16": "f16", "bf16": "bf16", "i64": "i64", "i32": "i32", "i16": "i16",
    "i8": "i8", "i1": "i1", "fp8e5": "f8E5M2", "fp8e4nv": "f8E4M3FN",
}  # fmt: skip


def dialect(release: Release) -> str:
    return "ttg" if release.version >= (3, 3) else "triton_gpu"


def element_text(element: str) -> str:
    if element.startswith("*"):
        return f"!tt.ptr<{ELEMENTS[element[1:]]}>"
    return ELEMENTS[element]


def _list(values: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, values)) + "]"


def _cta_text(cta: CtaLayout | None, release: Release) -> str:
    if cta is None:
        return ""
    if release.version >= (3, 6):
        return ", CGALayout = [" + ", ".join(_list(basis) for basis in cta.bases) + "]"
    per_cga = [1] * cta.rank
    order: list[int] = []
    last = 0
    for basis in cta.bases:
        last = next((d for d, v in enumerate(basis) if v), last)
        per_cga[last] *= 2
        if last not in order:
            order.append(last)
    order += [d for d in range(cta.rank) if d not in order]
    return f", CTAsPerCGA = {_list(tuple(per_cga))}, CTASplitNum = {_list(cta.split)}, CTAOrder = {_list(tuple(order))}"


def encoding_text(encoding: Distributed, release: Release) -> str:
    """The attribute, written out in full."""
    name = dialect(release)
    if isinstance(encoding, Blocked):
        return (
            f"#{name}.blocked<{{sizePerThread = {_list(encoding.size_per_thread)}, "
            f"threadsPerWarp = {_list(encoding.threads_per_warp)}, "
            f"warpsPerCTA = {_list(encoding.warps_per_cta)}, order = {_list(encoding.order)}"
            f"{_cta_text(encoding.cta_layout, release)}}}>"
        )
    if isinstance(encoding, NvidiaMma):
        return (
            f"#{name}.nvidia_mma<{{versionMajor = {encoding.version}, versionMinor = 0, "
            f"warpsPerCTA = {_list(encoding.warps_per_cta)}{_cta_text(encoding.cta_layout, release)}, "
            f"instrShape = {_list(encoding.instr_shape)}}}>"
        )
    if isinstance(encoding, Slice):
        return f"#{name}.slice<{{dim = {encoding.dim}, parent = {encoding_text(encoding.parent, release)}}}>"
    if isinstance(encoding, DotOperand):
        width = f", kWidth = {encoding.k_width}" if encoding.k_width else ""
        return (
            f"#{name}.dot_op<{{opIdx = {encoding.op_idx}, "
            f"parent = {encoding_text(encoding.parent, release)}{width}}}>"
        )
    if isinstance(encoding, Linear):
        layout = encoding.layout
        parts = []
        for label, bases in zip(("register", "lane", "warp", "block"), layout.inputs, strict=True):
            parts.append(f"{label} = [" + ", ".join(_list(unpack(b, layout.shape)) for b in bases) + "]")
        return f"#{name}.linear<{{{', '.join(parts)}}}>"
    if isinstance(encoding, AmdMfma):
        shape = encoding.instr_shape if release.version >= (3, 6) else encoding.instr_shape[:2]
        version = (
            f"version = {encoding.version}"
            if release.version >= (3, 5)
            else f"versionMajor = {encoding.version}, versionMinor = 0"
        )
        return (
            f"#{name}.amd_mfma<{{{version}, warpsPerCTA = {_list(encoding.warps_per_cta)}, "
            f"instrShape = {_list(shape)}, isTransposed = {str(encoding.is_transposed).lower()}}}>"
        )
    assert isinstance(encoding, AmdWmma)
    transposed = f", isTranspose = {str(encoding.is_transposed).lower()}" if release.version >= (3, 3) else ""
    shape = f", instrShape = {_list(encoding.instr_shape)}" if release.version >= (3, 6) else ""
    if release.version >= (3, 7):
        warps: list[str] = []
        rank = len(encoding.warps_per_cta)
        for dim in reversed(range(rank)):
            step = 1
            while step < encoding.warps_per_cta[dim]:
                warps.append(_list(tuple(step if d == dim else 0 for d in range(rank))))
                step *= 2
        return (
            f"#{name}.amd_wmma<{{version = {encoding.version}"
            f"{transposed}, ctaLayout = {{warp = [{', '.join(warps)}]}}{shape}}}>"
        )
    return (
        f"#{name}.amd_wmma<{{version = {encoding.version}, "
        f"warpsPerCTA = {_list(encoding.warps_per_cta)}{shape}{transposed}}}>"
    )


def tensor_text(shape: tuple[int, ...], element: str, encoding: Distributed, release: Release) -> str:
    sizes = "x".join(map(str, shape))
    return f"tensor<{sizes}x{element_text(element)}, {encoding_text(encoding, release)}>"


def module_text(
    arguments: list[str], body: str, result: str, warps: int, arch: str, release: Release, ctas: int = 1
) -> str:
    """A module with one function; arguments are %0, %1, ... and the result is %r."""
    name = dialect(release)
    lanes = 64 if arch.startswith("gfx9") else 32
    target = f"cuda:{arch[3:]}" if arch.startswith("sm_") else f"hip:{arch}"
    parameters = ", ".join(f"%arg{i}: {text}" for i, text in enumerate(arguments))
    return (
        f'module attributes {{"{name}.num-ctas" = {ctas} : i32, "{name}.num-warps" = {warps} : i32, '
        f'{name}.target = "{target}", "{name}.threads-per-warp" = {lanes} : i32}} {{\n'
        f"  tt.func public @k({parameters}) -> {result} {{\n{body}\n    tt.return %r : {result}\n  }}\n}}\n"
    )


def conversion_text(
    source: Distributed,
    target: Distributed,
    shape: tuple[int, ...],
    element: str,
    warps: int,
    arch: str,
    release: Release,
    ctas: int = 1,
) -> str:
    """A module whose only operation is a layout conversion."""
    before = tensor_text(shape, element, source, release)
    after = tensor_text(shape, element, target, release)
    body = f"    %r = {dialect(release)}.convert_layout %arg0 : {before} -> {after}"
    return module_text([before], body, after, warps, arch, release, ctas)


def reduce_text(
    source: Distributed,
    shape: tuple[int, ...],
    axis: int,
    elements: tuple[str, ...],
    warps: int,
    arch: str,
    release: Release,
) -> str:
    """A module whose only operation is a reduction; its function returns nothing of use."""
    arguments = [tensor_text(shape, element, source, release) for element in elements]
    rest = shape[:axis] + shape[axis + 1 :]
    if rest:
        results = [tensor_text(rest, element, Slice(axis, source), release) for element in elements]
    else:
        results = [element_text(element) for element in elements]
    types = [element_text(element) for element in elements]
    left = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
    right = ", ".join(f"%b{i}: {t}" for i, t in enumerate(types))
    returned = ", ".join(f"%a{i}" for i in range(len(types)))
    body = (
        f'    %x:{len(types)} = "tt.reduce"({", ".join(f"%arg{i}" for i in range(len(types)))}) '
        f"<{{axis = {axis} : i32}}> ({{\n    ^bb0({left}, {right}):\n"
        f"      tt.reduce.return {returned} : {', '.join(types)}\n"
        f"    }}) : ({', '.join(arguments)}) -> ({', '.join(results)})"
    )
    return module_text(arguments, body, results[0], warps, arch, release).replace(
        "return %r ", "return %x#0 "
    )


def scan_text(
    source: Distributed,
    shape: tuple[int, ...],
    axis: int,
    elements: tuple[str, ...],
    warps: int,
    arch: str,
    release: Release,
) -> str:
    """A module whose only operation is a scan."""
    arguments = [tensor_text(shape, element, source, release) for element in elements]
    types = [element_text(element) for element in elements]
    left = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
    right = ", ".join(f"%b{i}: {t}" for i, t in enumerate(types))
    returned = ", ".join(f"%a{i}" for i in range(len(types)))
    reverse = ", reverse = false" if release.version >= (3, 0) else ""
    body = (
        f'    %x:{len(types)} = "tt.scan"({", ".join(f"%arg{i}" for i in range(len(types)))}) '
        f"<{{axis = {axis} : i32{reverse}}}> ({{\n    ^bb0({left}, {right}):\n"
        f"      tt.scan.return {returned} : {', '.join(types)}\n"
        f"    }}) : ({', '.join(arguments)}) -> ({', '.join(arguments)})"
    )
    return module_text(arguments, body, arguments[0], warps, arch, release).replace(
        "return %r ", "return %x#0 "
    )


def gather_text(
    source: Distributed,
    source_shape: tuple[int, ...],
    indices: Distributed,
    indices_shape: tuple[int, ...],
    axis: int,
    element: str,
    warps: int,
    arch: str,
    release: Release,
) -> str:
    """A module whose only operation is a gather."""
    a = tensor_text(source_shape, element, source, release)
    b = tensor_text(indices_shape, "i32", indices, release)
    c = tensor_text(indices_shape, element, indices, release)
    body = f"    %r = tt.gather %arg0[%arg1] {{axis = {axis} : i32}} : ({a}, {b}) -> {c}"
    return module_text([a, b], body, c, warps, arch, release)


def atomic_text(
    encoding: Distributed, shape: tuple[int, ...], element: str, warps: int, arch: str, release: Release
) -> str:
    """A module whose only operation is an atomic addition of a tensor."""
    pointers = tensor_text(shape, "*" + element, encoding, release)
    values = tensor_text(shape, element, encoding, release)
    operation = "fadd" if element.startswith("f") else "add"
    body = (
        f"    %r = tt.atomic_rmw {operation}, acq_rel, gpu, %arg0, %arg1 : ({pointers}, {values}) -> {values}"
    )
    return module_text([pointers, values], body, values, warps, arch, release)
