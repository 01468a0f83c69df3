"""TL203: a dot below the smallest size that the compiler takes."""

from __future__ import annotations

from collections.abc import Iterable

from tritonlint.finding import Finding
from tritonlint.kernel.ir import CompileError
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import findings
from tritonlint_rules.support.errors import names_of_values, refusals
from tritonlint_rules.support.survey import Entry

CODE, NAME = "TL203", "dot-too-small"


def check(context: Context) -> Iterable[Finding]:
    major, minor = context.triton

    def message(entry: Entry, error: CompileError) -> str:
        sizes = _sizes(error)
        least = _least(error)
        if sizes is None or least is None:
            return error.message
        names = "".join(
            names_of_values(entry, (size,))
            for size in dict.fromkeys(have for have, want in zip(sizes, least, strict=True) if have < want)
        )
        dtype = error.values.get("dtype")
        of_type = f" of {dtype}" if isinstance(dtype, str) else ""
        return (
            f"a dot{of_type} of M={sizes[0]}, N={sizes[1]}, K={sizes[2]}{names}: Triton {major}.{minor} "
            f"takes M >= {least[0]}, N >= {least[1]}, K >= {least[2]} on {entry.gpu.arch}"
        )

    return findings(
        CODE, NAME, context, refusals(context, ("dot-too-small",), message, _help, needs_types=True)
    )


def _sizes(error: CompileError) -> tuple[int, int, int] | None:
    return _three(error, ("m", "n", "k"), ("sizes", "shape", "size"))


def _least(error: CompileError) -> tuple[int, int, int] | None:
    return _three(error, ("min_m", "min_n", "min_k"), ("minimum", "least", "min"))


def _three(
    error: CompileError, single: tuple[str, str, str], together: tuple[str, ...]
) -> tuple[int, int, int] | None:
    values = error.values
    separate = [values.get(name) for name in single]
    if all(isinstance(value, int) for value in separate):
        return (int(separate[0] or 0), int(separate[1] or 0), int(separate[2] or 0))
    for name in together:
        value = values.get(name)
        if isinstance(value, (tuple, list)) and len(value) == 3:
            return (int(value[0]), int(value[1]), int(value[2]))
    return None


def _help(entry: Entry, error: CompileError) -> str:
    return "pad the tile with zeros to that size, or multiply and `tl.sum` where it is that small"


_DOT = samples.HEAD + (
    "# tritonlint: assume a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp32\n"
    "@triton.jit\n"
    "def small(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):\n"
    "    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)\n"
    "    a = tl.load(a_ptr + i[:, None] * K + k[None, :])\n"
    "    b = tl.load(b_ptr + k[:, None] * N + j[None, :])\n"
    "    tl.store(c_ptr + i[:, None] * N + j[None, :], tl.dot(a, b))\n\n\n"
    "def run(a, b, c):\n"
    "    small[(1,)](a, b, c, M=16, N=16, K=8)\n"
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="`tl.dot` with M, N or K below what the release takes for that type on that GPU.",
    why=(
        "A tensor-core instruction has a fixed shape. NVIDIA: M and N at least 16 up to Triton 3.4 and 1 "
        "from 3.5 on; K at least 16 for 16-bit types, 32 for 8-bit ones; from 3.8 on 8 for 32-bit and 4 "
        "for 64-bit. AMD takes any size from 3.3 on. It is a compile error, which the autotuner does not "
        "catch."
    ),
    example="```python\ntl.dot(a, b)  # a is 16 x 8\n```",
    better="```python\ntl.sum(a[:, :, None] * b[None, :, :], axis=1)  # for a K that small\n```",
    when_not="Never: the kernel does not compile.",
    source="Triton's front end, all releases from 2.1 to 3.9 read, seven sizes of each type compiled.",
    check=check,
    valid=(
        samples.miss(_DOT.replace("K=8", "K=16"), "exactly the least"),
        samples.miss(_DOT, "any size on AMD", gpu="mi300x"),
        samples.miss(
            _DOT.replace("a_ptr=*fp16, b_ptr=*fp16, ", ""), "of fp32 it compiles, and nobody says the type"
        ),
        samples.miss(_DOT.replace("N=16, K=8", "N=8, K=16"), "N of 8 is taken from 3.5 on"),
    ),
    invalid=(
        samples.hit(_DOT, "small[(1,)]", "K=8", severity="error"),
        samples.hit(
            _DOT.replace("N=16, K=8", "N=8, K=16").replace("a_ptr=*fp16, b_ptr=*fp16, ", ""),
            "small[(1,)]",
            "N=8",
            triton="3.4",
            why="whatever the type",
        ),
        samples.hit(
            _DOT.replace("tl.", "L.").replace(
                "import triton.language as tl", "from triton import language as L"
            ),
            "small[(1,)]",
            "K=8",
            why="triton.language under another name",
        ),
    ),
)
