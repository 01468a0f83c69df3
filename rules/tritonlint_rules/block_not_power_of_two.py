"""TL201: a tile size that is no power of two."""

from __future__ import annotations

from collections.abc import Iterable

from tritonlint.finding import Finding
from tritonlint.kernel.ir import CompileError
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import findings
from tritonlint_rules.support.errors import names_of_values, refusals
from tritonlint_rules.support.survey import Entry

CODE, NAME = "TL201", "block-not-power-of-two"


def check(context: Context) -> Iterable[Finding]:
    drafts = refusals(context, ("block-not-power-of-two",), _message, _help, needs_types=False)
    return findings(CODE, NAME, context, drafts)


def _size(error: CompileError) -> int | None:
    sizes = [value for value in _numbers(error) if value < 1 or value & (value - 1)]
    return sizes[0] if sizes else None


def _numbers(error: CompileError) -> list[int]:
    found: list[int] = []
    for key in ("size", "length", "value", "shape"):
        value = error.values.get(key)
        if isinstance(value, int):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += [item for item in value if isinstance(item, int)]
    if isinstance(error.values.get("start"), int) and isinstance(error.values.get("end"), int):
        found.append(error.values["end"] - error.values["start"])
    return found


def _message(entry: Entry, error: CompileError) -> str:
    size = _size(error)
    if size is None:
        return error.message
    return f"a tile of {size}{names_of_values(entry, (size,))} is not a power of two"


def _help(entry: Entry, error: CompileError) -> str | None:
    size = _size(error)
    if size is None or size < 1:
        return None
    above = 1 << size.bit_length()
    return f"{above // 2} and {above} are; with {above}, mask what lies beyond {size}"


_ODD = samples.launched_scale("BLOCK=1000", "(triton.cdiv(n, 1000),)")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "`tl.arange`, `tl.zeros`, `tl.full` or a reshape makes a tile with a dimension that is no power "
        "of two."
    ),
    why=(
        "A tile is spread over lanes, warps and registers by linear maps over bits; each of its sizes has "
        "to be a power of two. The compiler refuses anything else (`arange's range must be a power of "
        "2`), and the autotuner does not catch that error: tuning stops at the first such config."
    ),
    example="```python\npaged[(n,)](q, k, v, TILE=48)  # a cache block of 48 tokens\n```",
    better=(
        "```python\npaged[(n,)](q, k, v, TILE=triton.next_power_of_2(48))  # and a mask for the last 16\n```"
    ),
    when_not="Sizes that reach the kernel as ordinary arguments, and loop steps, may be any number.",
    source="Triton's front end, read and tried in 2.1 to 3.9.",
    check=check,
    valid=(
        samples.miss(samples.launched_scale("BLOCK=1024"), "a power of two"),
        samples.miss(
            samples.launched_scale("BLOCK=triton.next_power_of_2(1000)"), "rounded up before it gets there"
        ),
        samples.miss(
            samples.launched_scale("BLOCK=size").replace("def run(x, y, n)", "def run(x, y, n, size)"),
            "the size comes from the caller",
        ),
        samples.miss(
            samples.file(
                "@triton.jit\ndef fill(x_ptr, n, STEP: tl.constexpr):\n"
                "    for start in range(0, n, STEP):\n"
                "        tl.store(x_ptr + start, 0.0)\n\n\n"
                "def run(x, n):\n    fill[(1,)](x, n, STEP=100)\n"
            ),
            "a loop step may be any number",
        ),
    ),
    invalid=(
        samples.hit(_ODD, "scale[(", "1000", severity="error"),
        samples.hit(
            samples.tuned_scale([samples.block(1024), samples.block(768)]), "768", "768", severity="error"
        ),
        samples.hit(
            _ODD.replace("import triton.language as tl", "from triton import language as T").replace(
                "tl.", "T."
            ),
            "scale[(",
            "1000",
            why="triton.language under another name",
        ),
        samples.hit(
            _ODD.replace("BLOCK=1000", "BLOCK=SIZE").replace("def run", "SIZE = 1000\n\n\ndef run"),
            "scale[(",
            "1000",
            why="the size is a constant of the module",
        ),
    ),
)
