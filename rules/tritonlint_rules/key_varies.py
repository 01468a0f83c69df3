"""TL311: a key that has another value with nearly every call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding, Severity
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import LaunchPlan
from tritonlint.source.values import Known
from tritonlint_rules.support import samples
from tritonlint_rules.support.callers import argument, call_at, enclosing, expanded
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.names import named, parameter_names
from tritonlint_rules.support.places import of_tuning

CODE, NAME = "TL311", "key-varies"
# What grows with the text or the batch, by the names that it goes by.
_LENGTH = re.compile(
    r"(num|n|total|tot)_?(tokens?|tok)$|^tokens$|seq_?lens?$|seqlens?_?|(kv|q|k|ctx|context)_?len(gth)?$",
    re.IGNORECASE,
)
_BUCKET = re.compile(r"next_power_of_2|bit_length|bucket|round|log2")
_PIECES = re.compile(r"cdiv|//")


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    plan = context.plan
    tuning = plan.tuning
    if tuning is None or not tuning.key or len(tuning.configs) == 1:
        return
    names = parameter_names(plan)
    for name in tuning.key:
        if name not in names:
            continue
        origin = _origin(context, plan, name)
        reason = _reason(plan, name, origin)
        if reason is None:
            continue
        length = _LENGTH.search(name) is not None and origin is not None and _pieces(origin) is None
        severity: Severity = "warning" if length else "info"
        yield Draft(
            place=of_tuning(plan, tuning),
            severity=severity,
            certainty="likely",
            message=(
                f"key {name} {reason}: each new value tunes {plan.kernel.name} again, "
                f"{len(tuning.configs)} configs"
            ),
            related=named(plan, tuning, "key", [name]),
            help=f"leave {name} out of the key, or pass a rounded size (triton.next_power_of_2) for it",
        )


def _origin(context: Context, plan: LaunchPlan, name: str) -> ast.expr | None:
    """The launch's expression for an argument, with the names of its function replaced; None where it is
    not seen."""
    launch = plan.launch
    if launch is None or (launch.path and launch.path != context.path):
        return None
    given = launch.arguments.get(name)
    if given is None or isinstance(given.value, Known):
        return None
    call = call_at(context.source, launch.span.line, launch.span.column)
    function = enclosing(context.source, launch.span.line)
    if call is None or function is None:
        return None
    passed = argument(call, parameter_names(plan), name)
    return expanded(function, passed, launch.span.line) if passed is not None else None


def _reason(plan: LaunchPlan, name: str, origin: ast.expr | None) -> str | None:
    if origin is None:
        fixed = name in plan.assumed or (
            plan.launch is not None
            and name in plan.launch.arguments
            and isinstance(plan.launch.arguments[name].value, Known)
        )
        return (
            "is a length, which changes with nearly every call"
            if _LENGTH.search(name) and not fixed
            else None
        )
    text = ast.unparse(origin)
    if _BUCKET.search(text):
        return None
    whole = _pieces(origin)
    if whole is not None:
        many = len(_sizes(whole)) > 1 or re.search(r"\.(numel|nelement)\(\)", ast.unparse(whole))
        return "counts the pieces of all elements, a few more with each longer input" if many else None
    if _PIECES.search(text):
        return None
    if re.search(r"\.(numel|nelement)\(\)", text):
        return "is a number of elements, which changes whenever any size does"
    sizes = _sizes(origin)
    if isinstance(origin, ast.BinOp) and len(sizes) > 1:
        return f"is a product of sizes ({' * '.join(sizes[:3])}), which changes whenever one of them does"
    if _LENGTH.search(name) and not isinstance(origin, ast.Constant):
        return "is a length, which changes with nearly every call"
    return None


def _pieces(node: ast.expr) -> ast.expr | None:
    """What is divided, in `cdiv(n, 1024)` and `n // 1024`: their number grows with n, if slower."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        return node.left
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and name.rpartition(".")[2] == "cdiv" and len(node.args) == 2:
        return node.args[0]
    return None


def _sizes(node: ast.expr) -> list[str]:
    """The factors of a product that are sizes of a tensor, but for its last dimension (that of the model)."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_sizes(node.left), *_sizes(node.right)]
    text = ast.unparse(node)
    match = re.fullmatch(r".*\.(shape\[(?P<at>-?\d+)\]|size\((?P<of>-?\d+)\))", text)
    if match is None:
        return []
    return [] if (match["at"] or match["of"]) == "-1" else [text]


_GATE = samples.HEAD + (
    "# tritonlint: assume x_ptr=*fp32, y_ptr=*fp32\n"
    + samples.autotune([samples.block(256), samples.block(1024)], 'key=["num_tokens"]')
    + "@triton.jit\n"
    "def gate(x_ptr, y_ptr, num_tokens, dim, BLOCK: tl.constexpr):\n"
    "    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)\n"
    "    x = tl.load(x_ptr + tl.program_id(0) * dim + i, mask=i < dim)\n"
    "    tl.store(y_ptr + tl.program_id(0) * dim + i, x * tl.sigmoid(x), mask=i < dim)\n\n\n"
    "def run(x, y):\n"
    "    batch, length, dim = x.shape\n"
    "    num_tokens = batch * length\n"
    '    gate[lambda meta: (num_tokens, triton.cdiv(dim, meta["BLOCK"]))](x, y, num_tokens, dim)\n'
)

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="warning",
    what=(
        "An autotune key that counts tokens, elements or a sequence: a number that is new with nearly "
        "every call."
    ),
    why=(
        "For each new combination of key values the tuner compiles and times the whole list again, "
        "seconds to minutes, in the middle of serving or training. A key should hold what decides which "
        "config is best and takes few values: the model's dimensions, not the batch's."
    ),
    example='```python\n@triton.autotune(configs, key=["num_tokens"])  # num_tokens = batch * seq_len\n```',
    better=(
        "```python\n"
        '@triton.autotune(configs, key=["dim"])\n'
        "```\n"
        'or a bucket: `key=["tokens_rounded"]` with `triton.next_power_of_2`.'
    ),
    when_not="Training with fixed shapes: the number is the same with every call.",
    source="Triton's tuner; flash-linear-attention issue 533 reports the effect.",
    check=check,
    valid=(
        samples.miss(_GATE.replace('key=["num_tokens"]', 'key=["dim"]'), "the model's dimension"),
        samples.miss(_GATE.replace("batch * length", "length // 1024"), "pieces of one size"),
        samples.miss(
            _GATE.replace(
                "num_tokens = batch * length", "num_tokens = triton.next_power_of_2(batch * length)"
            ),
            "rounded: few values",
        ),
        samples.miss(
            samples.tuned_gemm(
                [samples.config("64x64x32"), samples.config("128x64x32")], 'key=["M", "N", "K"]', sizes="K=64"
            ),
            "sizes that the caller passes on",
        ),
    ),
    invalid=(
        samples.hit(_GATE, "@triton.autotune", "num_tokens", severity="warning"),
        samples.hit(
            _GATE.replace("batch * length", "triton.cdiv(batch * length, 1024)"),
            "@triton.autotune",
            "pieces",
            severity="info",
        ),
        samples.hit(
            _GATE.replace("batch * length", "x.numel()").replace("num_tokens", "count"),
            "@triton.autotune",
            "elements",
            severity="info",
        ),
        samples.hit(
            _GATE.replace("import triton\n", "import triton as tt\n")
            .replace("triton.", "tt.")
            .replace("import tt.language as tl", "import triton.language as tl"),
            "@tt.autotune",
            "num_tokens",
            why="triton under another name",
        ),
    ),
)
