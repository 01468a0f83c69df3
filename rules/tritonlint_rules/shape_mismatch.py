"""TL210: shapes that the compiler's front end does not take."""

from __future__ import annotations

from collections.abc import Iterable

from tritonlint.finding import Finding
from tritonlint.kernel.ir import CompileError
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import findings
from tritonlint_rules.support.errors import refused_statements

CODE, NAME = "TL210", "shape-mismatch"


def check(context: Context) -> Iterable[Finding]:
    if context.plan.launch is None and context.plan.tuning is None:
        return ()  # what calls it may give it constants
    return findings(
        CODE, NAME, context, refused_statements(context, ("shape", "arange-bounds"), _message, _help)
    )


def _message(error: CompileError) -> str:
    return f"{error.message}: it does not compile"


def _help(error: CompileError) -> str | None:
    if "compile-time" in error.message:
        return "a parameter `tl.constexpr`, a power of 2 that the launch or the configs give; a mask for what lies beyond"
    if error.message.startswith("the loop-carried variable"):
        return "let it begin with the shape that it ends with, `tl.zeros((BLOCK,), tl.float32)`"
    return None


_DOT = samples.HEAD + (
    "# tritonlint: assume a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp32\n"
    "@triton.jit\n"
    "def product(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):\n"
    "    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)\n"
    "    a = tl.load(a_ptr + i[:, None] * K + k[None, :])\n"
    "    b = tl.load(b_ptr + k[:, None] * N + j[None, :])\n"
    "    tl.store(c_ptr + i[:, None] * N + j[None, :], tl.dot(a, b))\n\n\n"
    "def run(a, b, c):\n"
    "    product[(1,)](a, b, c, M=16, N=64, K=32)\n"
)
_SUM = samples.launched_scale().replace(
    "    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=live) * 2.0, mask=live)\n",
    "    total = tl.zeros((BLOCK,), tl.float32)\n"
    "    for start in range(0, n, BLOCK):\n"
    "        total += tl.load(x_ptr + start + i)\n"
    "    tl.store(y_ptr + i, total, mask=live)\n",
)
_MASKED = _DOT.replace("k[None, :])", "k[None, :], mask=(k < 20)[None, :])")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "Tiles that do not go together: an operation or a mask whose shapes do not broadcast, a `tl.dot` whose inner "
        "dimensions differ, a store of another shape than its pointer, a reshape into another number of elements; and a "
        "`tl.arange` whose bounds are no compile-time values or leave nothing; a name that is of one shape before a "
        "loop or an `if` and of another behind it; a tensor with an index."
    ),
    why=(
        "Shapes are types in Triton: the front end refuses the kernel, whatever the data. The autotuner does not catch "
        "that, so that one such config stops the program."
    ),
    example="```python\nx = tl.load(x_ptr + i[:, None] * K + k[None, :], mask=(k < n)[:, None])  # 16 x 32, 32 x 1\n```",
    better="```python\nx = tl.load(x_ptr + i[:, None] * K + k[None, :], mask=(k < n)[None, :])\n```",
    when_not="Never: the kernel does not compile with these values.",
    source="Triton's front end, read in 2.1 to 3.9.",
    check=check,
    valid=(
        samples.miss(_DOT, "all goes together"),
        samples.miss(_MASKED, "a mask over the second dimension"),
        samples.miss(_SUM, "a sum that begins as a tile"),
        samples.miss(
            _SUM.replace(
                "total = tl.zeros((BLOCK,), tl.float32)", "total = tl.zeros((BLOCK,), tl.float32) + n[0]"
            ),
            "an argument of which nobody says the type may be a tuple",
        ),
        samples.miss(_DOT.replace("tl.dot(a, b)", "tl.dot(a, b.trans().trans())"), "transposed twice"),
        samples.miss(
            _DOT.replace("K: tl.constexpr", "K").partition("def run")[0],
            "nothing launches it: what calls it may give it a constant",
        ),
    ),
    invalid=(
        samples.hit(
            _SUM.replace("tl.zeros((BLOCK,), tl.float32)", "0.0"),
            "total += tl",
            "loop-carried variable total",
        ),
        samples.hit(
            _DOT.replace("tl.dot(a, b)", "tl.dot(a, b.trans())"), "tl.store(", "inner dimensions 32 and 64"
        ),
        samples.hit(_MASKED.replace("(k < 20)[None, :]", "(k < 20)[:, None]"), "a = tl.load", "16 and 32"),
        samples.hit(_DOT.replace("j[None, :], tl.dot", "i[None, :], tl.dot"), "tl.store(", "16 and 64"),
        samples.hit(
            _DOT.replace("K: tl.constexpr", "K").replace("M: tl", "M:  tl"),
            "i, j, k = ",
            "compile-time",
            severity="error",
        ),
    ),
)
