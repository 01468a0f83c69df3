"""TL402: a grid that counts in other tiles than the kernel works in."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tritonlint.finding import Finding, Severity
from tritonlint.kernel.ir import Function, Value
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import Candidate, LaunchPlan
from tritonlint.source.values import Known
from tritonlint_rules.support import samples
from tritonlint_rules.support.callers import assigned, call_at, enclosing, plain_number, returned
from tritonlint_rules.support.drafts import Draft, config_values, findings, known_int
from tritonlint_rules.support.endings import ends
from tritonlint_rules.support.grids import known_grid
from tritonlint_rules.support.memory import operations
from tritonlint_rules.support.places import of_grid
from tritonlint_rules.support.survey import Entry, all_entries, by_config, list_certainty, lower

CODE, NAME = "TL402", "grid-block-mismatch"
_AXES = {"x": 0, "y": 1, "z": 2}


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


_Count = int | str  # by what the grid divides a size: a number, or the name of a tile of the config


@dataclass(frozen=True, slots=True)
class _Mismatch:
    axis: int
    counted: int  # elements for one program, by the grid
    worked: int  # elements from one program to the next, in the kernel
    entry: Entry


@dataclass(frozen=True, slots=True)
class _Short:
    """A known grid whose tiles end before the size up to which the kernel stores."""

    axis: int
    programs: int
    tile: int
    size: int
    entry: Entry


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        if not listed or listed[0].plan.launch is None:
            continue
        counted = _counted(context, listed[0].plan)
        groups = by_config(listed)
        firsts = [group[0] for group in groups]
        wrong = [found for entry in firsts for found in _of_entry(entry, counted)] if any(counted) else []
        short = [found for entry in firsts for found in _short(context, entry)]
        if wrong:
            yield _draft(wrong, len(groups))
        elif short:
            yield _short_draft(short, len(groups))


def _draft(wrong: list[_Mismatch], of: int) -> Draft:
    missed = [found for found in wrong if found.counted > found.worked]
    first = (missed or wrong)[0]
    severity: Severity = "error" if missed else "warning"
    name = "xyz"[first.axis]
    counts = f"grid axis {name} counts {first.counted} elements a program"
    what = f"{counts}, the kernel takes {first.worked} a program"
    if missed:
        share = 1 - first.worked / first.counted
        then = f"{round(100 * share)}% of the elements are never touched"
    else:
        then = f"{first.counted and first.worked // first.counted}x the programs that are needed"
    configs = len({id(found.entry) for found in wrong})
    where = f" in {configs} of {of} configs" if of > 1 else ""
    entry = first.entry
    return Draft(
        place=of_grid(entry.plan),
        severity=severity,
        certainty=lower("likely" if entry.of.candidate.assumptions else "proven", list_certainty(entry)),
        message=f"{what}{where}: {then}",
        gpu=entry.gpu,
        config=config_values(entry.of.candidate) if of > 1 else None,
        help=(
            'a grid that reads the tile from the config, `lambda meta: (triton.cdiv(n, meta["BLOCK"]),)`, '
            "always agrees"
        ),
    )


def _short(context: Context, entry: Entry) -> Iterator[_Short]:
    trace, grid = entry.of.trace, known_grid(entry.of.candidate)
    launch = entry.plan.launch
    if trace is None or trace.errors or grid is None or launch is None:
        return
    call = call_at(context.source, launch.span.line, launch.span.column)
    if call is None or not isinstance(call.func, ast.Subscript):
        return  # `warmup` only compiles
    for axis, tile, bound in ends(trace.function):
        known = (
            bound if isinstance(bound, int) else known_int(entry.of.candidate.values.get(bound, Known(None)))
        )
        programs = grid[axis] if axis < len(grid) else 1
        if known is not None and 0 < programs * tile < known:
            yield _Short(axis, programs, tile, known, entry)


def _short_draft(short: list[_Short], of: int) -> Draft:
    first = max(short, key=lambda found: found.size - found.programs * found.tile)
    reached = first.programs * first.tile
    entry = first.entry
    configs = len({id(found.entry) for found in short})
    where = f" in {configs} of {of} configs" if of > 1 else ""
    return Draft(
        place=of_grid(entry.plan),
        severity="error",
        certainty=lower("likely" if entry.of.candidate.assumptions else "proven", list_certainty(entry)),
        message=(
            f"grid axis {'xyz'[first.axis]} has {first.programs} programs of {first.tile} elements, which end at "
            f"{reached}{where}: {first.size - reached} of {first.size} elements are never touched"
        ),
        gpu=entry.gpu,
        config=config_values(entry.of.candidate) if of > 1 else None,
        help=f"triton.cdiv({first.size}, {first.tile}) is {-(-first.size // first.tile)}",
    )


def _of_entry(entry: Entry, counted: list[_Count | None]) -> Iterator[_Mismatch]:
    trace = entry.of.trace
    if trace is None or trace.errors:
        return
    strides = _strides(trace.function)
    numbers = [_number(count, entry.of.candidate) if count is not None else None for count in counted]
    agreeing = {
        count
        for axis, (count, number) in enumerate(zip(counted, numbers, strict=True))
        if number is not None and number == strides.get(axis)
    }
    for axis, worked in strides.items():
        count = counted[axis] if axis < len(counted) else None
        number = numbers[axis] if axis < len(numbers) else None
        if count is None or number is None or worked <= 1 or number == worked:
            continue
        # A tile of the config may count something else than what is worked on (values that are packed), unless it is
        # that of another axis.
        if isinstance(count, int) or count in agreeing:
            yield _Mismatch(axis, number, worked, entry)


def _number(count: _Count, candidate: Candidate) -> int | None:
    if isinstance(count, int):
        return count
    return known_int(candidate.constants[count]) if count in candidate.constants else None


def _counted(context: Context, plan: LaunchPlan) -> list[_Count | None]:
    """For each axis, by what the grid divides a size: `cdiv(n, 128)`, `n // 128`, `(n + 127) // 128`, `cdiv(n,
    meta["BLOCK"])`. None where that is neither a number that stands in the file nor a tile of the config: what the kernel
    is given as well cannot disagree."""
    launch = plan.launch
    if launch is None or (launch.path and launch.path != context.path):
        return []
    line = launch.span.line
    call = call_at(context.source, line, launch.span.column)
    if call is None or not isinstance(call.func, ast.Subscript):
        return []
    grid: ast.expr | None = call.func.slice
    function = enclosing(context.source, line)
    if isinstance(grid, ast.Name) and function is not None:
        grid = assigned(function, grid.id, line) or returned(context.source, function, grid.id)
    if isinstance(grid, ast.Lambda):
        grid = grid.body
    if not isinstance(grid, ast.Tuple):
        return []
    return [_divisor(context.source, function, axis, line) for axis in grid.elts]


def _divisor(
    source: str,
    function: ast.FunctionDef | ast.AsyncFunctionDef | None,
    node: ast.expr,
    line: int,
) -> _Count | None:
    divisor: ast.expr | None = None
    if isinstance(node, ast.Name) and function is not None:
        node = assigned(function, node.id, line) or node
    if isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("cdiv", "ceil_div", "ceildiv"):
            divisor = node.args[1]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        divisor = node.right
    if isinstance(divisor, ast.Subscript) and isinstance(divisor.slice, ast.Constant):
        return divisor.slice.value if isinstance(divisor.slice.value, str) else None
    number = plain_number(source, function, divisor, line) if divisor is not None else None
    return number if number is not None and number > 0 else None


def _strides(function: Function) -> dict[int, int]:
    """For each axis, what a program's number is multiplied by, where that is one constant and the number is
    used for nothing else. A kernel that also asks for the number of programs strides over the rest
    itself."""
    made = {result: op for op in operations(function.body) for result in op.results}
    uses: dict[Value, list[tuple[str, int | None]]] = {}
    numbers: dict[Value, int] = {}
    asked: set[int] = set()
    for op in operations(function.body):
        if op.name == "tt.get_program_id":
            numbers[op.results[0]] = _axis(op.attrs.get("axis"))
        elif op.name == "tt.get_num_programs":
            asked.add(_axis(op.attrs.get("axis")))
    for op in operations(function.body):
        for place, operand in enumerate(op.operands):
            if operand in numbers:
                factor = None
                if op.name == "arith.muli":
                    other = made.get(op.operands[1 - place])
                    value = (
                        other.attrs.get("value")
                        if other is not None and other.name.endswith("constant")
                        else None
                    )
                    factor = value if isinstance(value, int) else None
                uses.setdefault(operand, []).append((op.name, factor))
    by_axis: dict[int, set[int | None]] = {}
    for value, axis in numbers.items():
        by_axis.setdefault(axis, set()).update(factor for _, factor in uses.get(value, ()))
    return {
        axis: factor
        for axis, factors in by_axis.items()
        if len(factors) == 1 and axis not in asked and (factor := next(iter(factors))) is not None
    }


def _axis(value: object) -> int:
    return value if isinstance(value, int) else _AXES.get(str(value), -1)


_FIXED = samples.tuned_scale(
    [samples.block(128), samples.block(1024)],
    launch="def run(x, y, n):\n    scale[(triton.cdiv(n, 128),)](x, y, n)\n",
)


def _rounded_down(size: int) -> str:
    code = samples.launched_scale("BLOCK=1024", "(n // 1024,)")
    return code.replace("def run(x, y, n):\n", f"def run(x, y):\n    n = {size}\n")


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "The grid divides a size by one number, and the kernel's programs are another number of elements "
        "apart; or a grid of known numbers ends before the size that the kernel is told."
    ),
    why=(
        "With a grid that counts larger tiles than the kernel takes, part of the data is never touched, "
        "with no error: the output keeps what was in its memory. With smaller ones, programs are started "
        "that find nothing to do."
    ),
    example="```python\n# configs of 128 to 1024\npermute[(triton.cdiv(n, 128),)](x, y, n)\n```",
    better='```python\npermute[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n)\n```',
    when_not="A kernel that strides over the rest by the number of programs is not judged.",
    source="What the kernel's program number is multiplied by, found by tracing.",
    check=check,
    valid=(
        samples.miss(samples.launched_scale("BLOCK=1024", "(triton.cdiv(n, 1024),)"), "they agree"),
        samples.miss(_rounded_down(102_400), "nothing is left over"),
        samples.miss(
            samples.tuned_scale([samples.block(128), samples.block(1024)]), "the grid reads the config"
        ),
        samples.miss(
            samples.launched_scale("BLOCK=512", "(triton.cdiv(n, 1024),)").replace(
                "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n",
                "    i = tl.program_id(0) * 2 * BLOCK + tl.arange(0, BLOCK)\n",
            ),
            "1,024 elements from one program to the next",
        ),
    ),
    invalid=(
        samples.hit(_FIXED, "scale[(", "8x", severity="warning"),
        samples.hit(
            samples.launched_scale("BLOCK=512", "(triton.cdiv(n, 1024),)"), "scale[(", "50%", severity="error"
        ),
        samples.hit(
            _rounded_down(100_000),
            "scale[(",
            "672 of",
            severity="error",
            why="rounded down",
        ),
        samples.hit(
            samples.launched_scale("BLOCK=512", "((n + 1023) // 1024,)")
            .replace("import triton\n", "import triton as tt\n")
            .replace("@triton.jit", "@tt.jit"),
            "scale[(",
            "50%",
            why="written out, and triton under another name",
        ),
    ),
)
