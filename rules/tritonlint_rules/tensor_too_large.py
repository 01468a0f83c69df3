"""TL202: a tile with more elements than Triton takes."""

from __future__ import annotations

from collections.abc import Iterable

from tritonlint.finding import Finding
from tritonlint.kernel.ir import CompileError
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import findings
from tritonlint_rules.support.errors import names_of_values, refusals
from tritonlint_rules.support.say import shape_text
from tritonlint_rules.support.survey import Entry

CODE, NAME = "TL202", "tensor-too-large"


def check(context: Context) -> Iterable[Finding]:
    limit = 1048576 if context.triton >= (2, 2) else 131072

    def message(entry: Entry, error: CompileError) -> str:
        shape = _shape(error)
        if not shape:
            return error.message
        count = 1
        for size in shape:
            count *= size
        names = names_of_values(entry, shape)
        if len(shape) > 1:
            return (
                f"a tile of {shape_text(shape)}{names} has {count:,} elements, Triton takes at most {limit:,}"
            )
        return f"a tile of {count:,} elements{names}: Triton takes at most {limit:,}"

    drafts = refusals(context, ("tensor-too-large",), message, _help, needs_types=False)
    return findings(CODE, NAME, context, drafts)


def _shape(error: CompileError) -> tuple[int, ...]:
    value = error.values.get("shape")
    if isinstance(value, (tuple, list)) and all(isinstance(size, int) for size in value):
        return tuple(value)
    for key in ("elements", "numel", "size", "length"):
        number = error.values.get(key)
        if isinstance(number, int):
            return (number,)
    return ()


def _help(entry: Entry, error: CompileError) -> str:
    return "a loop over smaller tiles, or more programs"


_ONE = samples.HEAD + (
    "# tritonlint: assume x_ptr=*fp32, out_ptr=*fp32\n"
    "@triton.jit\n"
    "def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
    "    i = tl.arange(0, BLOCK)\n"
    "    tl.store(out_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))\n\n\n"
    "def run(x, out, n):\n"
    "    total[(1,)](x, out, n, BLOCK=2097152)\n"
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="A tile of more than 1,048,576 elements (131,072 in Triton 2.1).",
    why=(
        "Every element of a tile is in registers of one program; the compiler refuses more than 2^20 "
        "(`numel exceeds triton maximum tensor numel`). The autotuner does not catch the error: tuning "
        "stops there."
    ),
    example="```python\ntotal[(1,)](x, out, n, BLOCK=triton.next_power_of_2(n))  # n = 1,300,000\n```",
    better="```python\ntotal[(1,)](x, out, n, BLOCK=4096)  # and a loop over n in the kernel\n```",
    when_not="Never.",
    source="Triton's front end, read and tried in 2.1 to 3.9.",
    check=check,
    valid=(
        samples.miss(_ONE.replace("2097152", "1048576"), "exactly the most"),
        samples.miss(_ONE.replace("2097152", "triton.next_power_of_2(n)"), "n is not known"),
        samples.miss(_ONE.replace("2097152", "131072"), "the most in 2.1", triton="2.1"),
    ),
    invalid=(
        samples.hit(_ONE, "total[(1,)]", "2,097,152", severity="error"),
        samples.hit(_ONE.replace("2097152", "262144"), "total[(1,)]", "131,072", triton="2.1"),
        samples.hit(
            _ONE.replace("2097152", "tt.next_power_of_2(1_300_000)").replace(
                "import triton\n", "import triton\nimport triton as tt\n"
            ),
            "total[(1,)]",
            "2,097,152",
            why="computed, and triton under another name",
        ),
    ),
)
