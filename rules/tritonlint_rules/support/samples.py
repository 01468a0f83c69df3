"""Small whole files for the rules' examples. Each function gives one kernel with its configs and its
launch."""

from __future__ import annotations

from collections.abc import Sequence

from tritonlint.finding import Severity
from tritonlint.rule import Case

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"

_GEMM = """\
@triton.jit
def gemm(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    deep = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * K + (k + deep)[None, :])
        b = tl.load(b_ptr + (k + deep)[:, None] * N + cols[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc.to(c_ptr.dtype.element_ty))


"""

_SCALE = """\
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=live) * 2.0, mask=live)


"""

_TUNED_GEMM_LAUNCH = """\
def matmul(a, b, c, M, N, K):
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))
    gemm[grid](a, b, c, M, N, K)
"""

_TUNED_SCALE_LAUNCH = """\
def run(x, y, n):
    scale[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n)
"""


def autotune(configs: Sequence[str], arguments: str = "key=[]") -> str:
    """The decorator; the first config stands on its third line."""
    lines = "".join(f"        {config},\n" for config in configs)
    return f"@triton.autotune(\n    configs=[\n{lines}    ],\n    {arguments},\n)\n"


def config(tile: str, options: str = "") -> str:
    """`triton.Config` of a product: "128x64x32" is BLOCK_M, BLOCK_N, BLOCK_K."""
    m, n, k = tile.split("x")
    more = f", {options}" if options else ""
    return f'triton.Config({{"BLOCK_M": {m}, "BLOCK_N": {n}, "BLOCK_K": {k}}}{more})'


def block(size: int | str, options: str = "") -> str:
    """`triton.Config` of an elementwise kernel."""
    return f'triton.Config({{"BLOCK": {size}}}{", " + options if options else ""})'


def tuned_gemm(
    configs: Sequence[str],
    arguments: str = 'key=["N", "K"]',
    types: str = "*fp16",
    sizes: str = "M=4096, N=4096, K=4096",
    head: str = HEAD,
) -> str:
    assume = f"# tritonlint: assume a_ptr={types}, b_ptr={types}, c_ptr={types}, {sizes}\n"
    return head + assume + autotune(configs, arguments) + _GEMM + _TUNED_GEMM_LAUNCH


def launched_gemm(
    tile: str,
    options: str = "",
    types: str = "*fp16",
    sizes: str = "M=4096, N=4096, K=4096",
    head: str = HEAD,
) -> str:
    m, n, k = tile.split("x")
    assume = f"# tritonlint: assume a_ptr={types}, b_ptr={types}, c_ptr={types}, {sizes}\n"
    more = f", {options}" if options else ""
    return (
        f"{head}{assume}{_GEMM}def matmul(a, b, c, M, N, K):\n"
        f"    grid = (triton.cdiv(M, {m}), triton.cdiv(N, {n}))\n"
        f"    gemm[grid](a, b, c, M, N, K, BLOCK_M={m}, BLOCK_N={n}, BLOCK_K={k}{more})\n"
    )


def tuned_scale(
    configs: Sequence[str], arguments: str = "key=[]", launch: str = _TUNED_SCALE_LAUNCH, head: str = HEAD
) -> str:
    assume = "# tritonlint: assume x_ptr=*fp32, y_ptr=*fp32\n"
    return head + assume + autotune(configs, arguments) + _SCALE + launch


def launched_scale(
    arguments: str = "BLOCK=1024",
    grid: str = "(triton.cdiv(n, 1024),)",
    head: str = HEAD,
    before: str = "",
) -> str:
    """`before` is code between the kernel and the function that launches it."""
    assume = "# tritonlint: assume x_ptr=*fp32, y_ptr=*fp32\n"
    return f"{head}{assume}{_SCALE}{before}def run(x, y, n):\n    scale[{grid}](x, y, n, {arguments})\n"


def file(body: str) -> str:
    return HEAD + body


def hit(
    code: str,
    at: str,
    contains: str = "",
    gpu: str = "a100",
    triton: str = "3.9",
    severity: Severity | None = None,
    why: str = "",
) -> Case:
    """An invalid case: the finding starts on the first line that holds `at`."""
    lines = code.split("\n")
    line = next(number for number, text in enumerate(lines, 1) if at in text)
    return Case(code, gpu, triton, line, contains, severity, why)


def miss(code: str, why: str, gpu: str = "a100", triton: str = "3.9") -> Case:
    """A valid case, and what it comes near to."""
    return Case(code, gpu, triton, why=why)
