"""What keeps the model from being exact for a kernel: each such construct with its line, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from tritonlint.compiler.amd_instructions import wmma_version
from tritonlint.compiler.options import NOT_MODELLED, Options
from tritonlint.compiler.releases import Release
from tritonlint.compiler.scaled_dot import is_native
from tritonlint.compiler.target import Target
from tritonlint.kernel import ir

MODELLED = frozenset({
    "scf.for", "scf.if", "scf.while", "scf.yield", "scf.condition", "cf.cond_br", "cf.br", "tt.return",
    "tt.reduce.return", "tt.scan.return", "tt.make_range", "tt.get_program_id", "tt.get_num_programs",
    "tt.splat", "tt.unsplat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.join",
    "tt.split", "tt.cat", "tt.addptr", "tt.load", "tt.store", "tt.dot", "tt.reduce", "tt.scan",
    "tt.histogram", "tt.gather", "tt.atomic_rmw", "tt.atomic_cas", "tt.bitcast", "tt.fp_to_fp",
    "tt.int_to_ptr", "tt.ptr_to_int", "tt.clampf", "tt.mulhiui", "tt.precise_sqrt", "tt.precise_divf",
    "tt.extern_elementwise", "tt.elementwise_inline_asm", "tt.print", "tt.assert",
    "tt.make_tensor_descriptor", "tt.descriptor_load", "tt.descriptor_store", "tt.descriptor_reduce",
    "tt.descriptor_gather", "tt.descriptor_scatter", "gpu.barrier", "ttg.barrier", "tt.debug_barrier",
    "llvm.intr.assume", "ub.poison", "tt.poison", "tt.grid_dependency_wait",
    "tt.grid_dependency_launch_dependents",
})  # fmt: skip
"""Operations of a trace whose effect on shared memory is modelled, besides those of arith and math."""

_LOADS = frozenset({"tt.load", "tt.descriptor_load", "tt.descriptor_gather"})


def reasons_of(trace: ir.Trace, options: Options, target: Target, release: Release) -> tuple[str, ...]:
    """Why the answer for the trace may differ from the compiler's; () where it does not."""
    found: list[str] = []
    if not release.known:
        found.append(
            f"Triton {release.major}.{release.minor} is newer than the newest release that is modelled"
        )
    found += [f"line {gap.line}: {gap.construct}: {gap.reason}" for gap in trace.gaps]
    found += [f"line {error.line}: {error.message}" for error in trace.errors]
    if not modelled_machine(target, release):
        found.append(f"{target.arch} is not modelled in Triton {release.major}.{release.minor}")
    if target.is_amd and wmma_version(target.arch) not in (0, *release.amd_wmma_versions):
        found.append(f"{target.arch} is newer than Triton {release.major}.{release.minor}")
    if options.num_ctas > 1:
        found.append("clusters (num_ctas above 1) are not modelled to the byte")
    for name in NOT_MODELLED:
        if options.extra.get(name):
            found.append(f"the option {name} is not modelled")
    found += of_the_release(trace.function.body, target, release)
    operations = walk(trace.function.body)
    made = {result: op for op in operations for result in op.results}
    has_dot = any(op.name in ("tt.dot", "tt.dot_scaled") for op in operations)
    for op in operations:
        if has_dot and target.capability // 10 in (10, 11) and (op.attrs.get("loop_unroll_factor") or 1) > 1:
            found.append(
                f"line {op.line}: products of unrolled loops on tensor memory are not modelled to the byte"
            )
        if op.name == "tt.dot_scaled" and _is_modelled_scaled_dot(op, made, options, target, release):
            continue
        if not _is_modelled(op):
            found.append(f"line {op.line}: {op.name} is not modelled")
    return tuple(dict.fromkeys(found))


def modelled_machine(target: Target, release: Release) -> bool:
    """Tensor cores of before sm_80 are not, but for those of sm_75 in 3.0 to 3.2; since no release uses them any more,
    sm_70 and sm_75 are like any other."""
    if not target.is_nvidia or target.capability >= 80 or release.fma_before_ampere:
        return True
    return target.capability == 75 and "tensor cores of sm_75" not in release.unmodelled


def of_the_release(body: ir.Block, target: Target, release: Release) -> list[str]:
    """What one release or target does by rules that are not known to the byte, where the kernel has it: one
    sentence each."""
    operations = walk(body)
    found = _of_amd(operations, target, release) if target.is_amd else []
    dots = 0
    made = {result: op for op in operations for result in op.results}
    has_dot = any(op.name == "tt.dot" for op in made.values())
    for op in operations:
        what = ""
        if op.name in ("tt.dot", "tt.dot_scaled"):
            dots += 1
            elements = {value.type.element for value in op.operands[:2]}
            if dots > 1:
                what = "chained dots"
            if target.capability // 10 in (10, 11) and _goes_on_with_carried(op, made):
                found += _if_unmodelled(op, "accumulators of several products", release)
            elif any(element.startswith("fp8") for element in elements) and 90 <= target.capability < 100:
                what = "masked fp8 on wgmma"
            source = made.get(op.operands[0])
            if (
                elements >= {"fp8e4nv"}
                and target.capability >= 120
                and source
                and source.name == "tt.fp_to_fp"
            ):
                found += _if_unmodelled(op, "computed fp8 operands on sm_120", release)
            if target.capability == 75 and (
                elements != {"fp16"} or any(_is_widened(value, made) for value in op.operands[:2])
            ):
                what = "converted operands on sm_75"
            if target.capability >= 100 and "tcgen05" in release.unmodelled:
                what = "tcgen05"
        elif op.name == "tt.scan" and {"tt.trans", "tt.descriptor_store"} <= {
            other.name for other in operations
        }:
            what = "scans of transposed descriptor tiles"
        elif op.name == "tt.reduce" and has_dot:
            what = "reductions beside a dot"
        elif op.name == "scf.for" and _is_flattened_and_specialized(op):
            what = "flattened specialized loops with two stores"
        elif op.name == "tt.trans":
            source = made.get(op.operands[0])
            if source is not None and source.name == "tt.descriptor_load":
                what = "transposed descriptor tiles"
            elif has_dot or source is None or source.name != "tt.load" or not _is_stored(op, operations):
                what = "transposes"
        found += _if_unmodelled(op, what, release)
    return found


def _if_unmodelled(op: ir.Op, what: str, release: Release) -> list[str]:
    return [_not_modelled(op, what, release)] if what in release.unmodelled else []


def _not_modelled(op: ir.Op, what: str, release: Release) -> str:
    return f"line {op.line}: {what} in Triton {release.major}.{release.minor} are not modelled to the byte"


def _goes_on_with_carried(dot: ir.Op, made: Mapping[ir.Value, ir.Op]) -> bool:
    """Whether a product adds to another one, which adds to what a loop carries: both want one accumulator."""
    products, value = 1, dot.operands[2]
    while (op := made.get(value)) is not None:
        if op.name in ("tt.dot", "tt.dot_scaled"):
            products, value = products + 1, op.operands[2]
        elif op.name == "arith.addf":  # of a product that starts from zero
            parts = [made.get(operand) for operand in op.operands]
            places = [place for place, part in enumerate(parts) if part is not None and part.name == "tt.dot"]
            if len(places) != 1:
                return False
            products, value = products + 1, op.operands[1 - places[0]]
        else:
            return False
    return products > 1


def _is_widened(value: ir.Value, made: Mapping[ir.Value, ir.Op]) -> bool:
    """Whether an operand is computed from elements that are loaded as another type."""
    op = made.get(value)
    while op is not None and op.operands and op.name not in _LOADS:
        if ir.bits_of(op.operands[0].type.element) < 16:
            return True
        op = made.get(op.operands[0])
    return False


def _is_stored(op: ir.Op, operations: list[ir.Op]) -> bool:
    """Whether the result is stored as it is, and nothing else uses it."""
    users = [user for user in operations if op.results[0] in user.operands]
    return bool(users) and all(user.name == "tt.store" for user in users)


def _is_nest(loop: ir.Op) -> bool:
    return any(inner.name == "scf.for" for block in loop.blocks for inner in walk(block))


def _is_flattened_and_specialized(loop: ir.Op) -> bool:
    """A nest that becomes one loop for several groups of warps, and stores through descriptors at two places."""
    if not (loop.attrs.get("flatten") and loop.attrs.get("warp_specialize") and _is_nest(loop)):
        return False
    inner = [op for block in loop.blocks for op in walk(block)]
    return sum(op.name == "tt.descriptor_store" for op in inner) > 1


def _of_amd(operations: list[ir.Op], target: Target, release: Release) -> list[str]:
    """gfx1250 brings tiles of descriptors with its data mover, into rings of their own; and which offsets of its loads a
    flattened nest of loops carries, and which conversions go above a transpose, is not known of each release."""
    found: list[str] = []
    made = {result: op for op in operations for result in op.results}
    has_dot = any(op.name == "tt.dot" for op in operations)
    for op in operations:
        what = ""
        if op.name.startswith("tt.descriptor_"):
            if target.arch == "gfx1250":
                found.append(f"line {op.line}: tensor descriptors on gfx1250 are not modelled")
        elif op.name == "scf.for" and op.attrs.get("flatten") and release.amd_fuses_loops and _is_nest(op):
            what = "flattened loops on AMD"
        elif op.name == "scf.for" and _multiplies_what_stays(op, made):
            what = "operands that a loop does not change on AMD"
        elif op.name == "tt.trans" and has_dot and _is_only_use_of_load(op, made, operations):
            what = "loads that are only used transposed on AMD"
        found += _if_unmodelled(op, what, release)
    return found


def _multiplies_what_stays(loop: ir.Op, made: Mapping[ir.Value, ir.Op]) -> bool:
    """Whether a product of the loop reads an operand from outside of it."""
    inner = {op for block in loop.blocks for op in walk(block)}
    return any(
        op.name == "tt.dot"
        and any((source := made.get(value)) is not None and source not in inner for value in op.operands[:2])
        for op in inner
    )


def _is_only_use_of_load(trans: ir.Op, made: Mapping[ir.Value, ir.Op], operations: list[ir.Op]) -> bool:
    source = made.get(trans.operands[0])
    if source is None or source.name not in _LOADS:
        return False
    return sum(operand is trans.operands[0] for op in operations for operand in op.operands) == 1


def walk(block: ir.Block) -> list[ir.Op]:
    """All operations of a block, those inside others included, but not what combines elements."""
    found: list[ir.Op] = []
    stack = list(reversed(block.ops))
    while stack:
        op = stack.pop()
        found.append(op)
        if op.name in ("tt.reduce", "tt.scan", "tt.map_elementwise"):
            continue
        for inner in reversed(op.blocks):
            stack.extend(reversed(inner.ops))
    return found


def sure_loads(trace: ir.Trace) -> frozenset[tuple[int, str]] | None:
    """(line, path) of the loads of loops in which everything is traced and modelled; None for all of them.

    A gap counts as inside a loop up to the next operation behind it, since the last statements of a body may
    have left no operation.
    """
    unsure = [(gap.line, gap.path) for gap in trace.gaps]
    unsure += [(op.line, op.path) for op in walk(trace.function.body) if not _is_modelled(op)]
    if not unsure:
        return None
    if any(path for _, path in unsure):
        return frozenset()
    lines = [line for line, _ in unsure]
    sure: set[tuple[int, str]] = set()
    _collect(trace.function.body, 0, 1 << 60, lines, sure)
    return frozenset(sure)


def _collect(block: ir.Block, first: int, last: int, unsure: list[int], sure: set[tuple[int, str]]) -> None:
    """Add the loads of a block that stands in lines [first, last] to `sure`, unless an unsure line is
    there."""
    is_sure = first > 0 and not any(first <= line <= last for line in unsure)
    for position, op in enumerate(block.ops):
        if is_sure and op.name in _LOADS:
            sure.add((op.line, op.path))
        if op.name == "scf.for":
            after = [later.line for later in block.ops[position + 1 :] if later.line > op.line]
            for inner in op.blocks:
                _collect(inner, op.line, min([*after, last + 1]) - 1, unsure, sure)
        elif op.name in ("scf.if", "scf.while"):
            for inner in op.blocks:
                _collect(inner, first, last, unsure, sure)


def _is_modelled(op: ir.Op) -> bool:
    if op.name == "tt.call":
        callee = op.attrs.get("callee")
        return isinstance(callee, ir.Function) and _is_scalar(callee)
    return op.name in MODELLED or op.name.startswith(("arith.", "math."))


def _is_scalar(function: ir.Function) -> bool:
    """No tensor anywhere: such a function needs no shared memory of its own."""
    return all(not value.type.is_tensor for op in walk(function.body) for value in op.results)


def _is_modelled_scaled_dot(
    op: ir.Op, made: dict[ir.Value, ir.Op], options: Options, target: Target, release: Release
) -> bool:
    """Spelled out as a plain dot, on mma.sync, or on tensor memory with scales that are loaded as they are; not on
    AMD."""
    if not target.is_nvidia or release.version < (3, 4):
        return False
    shape = op.results[0].type.shape or ()
    native = is_native(op.attrs, shape, options.num_warps, target.capability, release)
    if not native or 120 <= target.capability < 130:
        return True
    sources = [_source_of_scales(made.get(scale), made) for scale in op.operands[3:5]]
    known = ("tt.load", "packed") if release.views_to_shared_linear else ("tt.load",)
    return release.scaled_tcgen05 and all(source in known for source in sources)


def _source_of_scales(op: ir.Op | None, made: dict[ir.Value, ir.Op]) -> str:
    """The operation that scales come from; "packed" where a descriptor loads them in the order of tensor memory."""
    views: list[tuple[str, tuple[int, ...]]] = []
    while op is not None and op.name in ("tt.reshape", "tt.trans"):
        views.append((op.name, tuple(op.attrs.get("order", ()))))
        op = made.get(op.operands[0])
    name = op.name if op is not None else ""
    if name == "tt.descriptor_load":
        in_order = [("tt.reshape", ()), ("tt.trans", (0, 3, 2, 1, 4)), ("tt.reshape", ())]
        return "packed" if views == in_order else ""
    return "" if views else name
