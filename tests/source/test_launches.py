"""Launches: which kernel, which grid, which values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tritonlint.launch_model import why_unknown
from tritonlint.source.sites import LaunchPlan
from tritonlint.source.values import Bounded, DType, Known, OneOf, Unknown

from .reading import H100, HEAD, KERNEL, MI300, known, launched, plans, reading


def only(plan: LaunchPlan) -> Any:
    assert len(plan.candidates) == 1, plan.candidates
    return plan.candidates[0]


KERNELS = {
    "the same module": "scale[(1,)](x, y, 5, BLOCK=64)",
    "an alias": "k = scale\n    k[(1,)](x, y, 5, BLOCK=64)",
    "a dict": "TABLE = {'a': scale}\n    TABLE['a'][(1,)](x, y, 5, BLOCK=64)",
    "wrap_triton": "from torch.library import wrap_triton\n    wrap_triton(scale)[(1,)](x, y, 5, BLOCK=64)",
    "run": "scale.run(x, y, 5, BLOCK=64, grid=(1,), warmup=False)",
    "warmup": "scale.warmup(x, y, 5, BLOCK=64, grid=(1,))",
    "a bound launcher": "go = scale[(1,)]\n    go(x, y, 5, BLOCK=64)",
    "partial": "import functools\n    functools.partial(scale[(1,)], BLOCK=64)(x, y, 5)",
    "an argument": "def launch(k, *args, **meta):\n        k[(1,)](*args, **meta)\n    launch(scale, x, y, 5, BLOCK=64)",
    "positional": "scale[(1,)](x, y, 5, 64)",
    "a dict splat": "META = dict(BLOCK=64)\n    scale[(1,)](x, y, 5, **META)",
    "a tuple splat": "ARGS = (x, y, 5)\n    scale[(1,)](*ARGS, BLOCK=64)",
    "by keyword": "scale[(1,)](x_ptr=x, y_ptr=y, n=5, BLOCK=64)",
    "a conditional kernel": "k = scale if x.is_cuda else None\n    k[(1,)](x, y, 5, BLOCK=64)",
}


@pytest.mark.parametrize("body", KERNELS.values(), ids=KERNELS.keys())
def test_ways_to_name_and_call_a_kernel(body: str) -> None:
    plan = launched(f"def f(x, y):\n    {body}\n")
    candidate = only(plan)
    assert plan.kernel.name == "scale"
    assert known(candidate.constants["BLOCK"]) == 64
    assert known(candidate.values["n"]) == 5
    assert [known(entry) for entry in candidate.grid] == [1]


def test_a_kernel_kept_in_an_object() -> None:
    plan = launched("""
    class Op:
        def __init__(self, block=64):
            self.kernel = scale
            self.block = 64
        def __call__(self, x, y):
            self.kernel[(1,)](x, y, 5, BLOCK=self.block)
    """)
    assert known(only(plan).constants["BLOCK"]) == 64


def test_a_kernel_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(HEAD + KERNEL)
    code = "from kernels import scale as go\nimport kernels\ndef f(x, y):\n    go[(1,)](x, y, 5, BLOCK=64)\n"
    code += "    kernels.scale[(2,)](x, y, 5, BLOCK=64)\n"
    found = plans(code, path=tmp_path / "main.py")
    assert [plan.kernel.name for plan in found] == ["scale", "scale"]
    assert all(plan.kernel.path.endswith("kernels.py") and plan.launch is not None for plan in found)


NOT_LAUNCHES = [
    "def f(handlers, name, x):\n    return handlers[name](x, x)\n",
    "from typing import Dict\ndef f(x):\n    return Dict[str, int](x)\n",
    "import subprocess\ndef f():\n    subprocess.run(['ls'], check=True)\n",
    "def f(x: 'scale[1](2)'):\n    return 'scale[(1,)](x)'\n",
]


@pytest.mark.parametrize("code", NOT_LAUNCHES)
def test_what_only_looks_like_a_launch(code: str) -> None:
    assert all(plan.launch is None for plan in plans(KERNEL + code))


def test_a_kernel_that_nothing_launches_still_has_a_plan() -> None:
    (plan,) = plans("@triton.autotune([triton.Config({'BLOCK': 64})], key=[])" + KERNEL)
    assert plan.launch is None
    assert known(plan.candidates[0].constants["BLOCK"]) == 64


# -- grids

GRIDS = {
    "a tuple": ("", "(triton.cdiv(1000, 64), 2)", "tuple", [16, 2]),
    "a name of a tuple": ("grid = (4, 5)", "grid", "name", [4, 5]),
    "a name of a lambda": ("grid = lambda meta: (triton.cdiv(1000, meta['BLOCK']),)", "grid", "lambda", [16]),
    "a def": (
        "def grid(META):\n        return (triton.cdiv(1000, META['BLOCK']), 1)",
        "grid",
        "def",
        [16, 1],
    ),
    "an inline lambda": ("", "lambda m: (m['n'],)", "lambda", [5]),
    "a list": ("", "[7]", "list", [7]),
    "cdiv by hand": ("", "((1000 + 64 - 1) // 64,)", "tuple", [16]),
    "a module constant": ("", "(N,)", "tuple", [70000]),
}


@pytest.mark.parametrize(("before", "grid", "form", "entries"), GRIDS.values(), ids=GRIDS.keys())
def test_grids(before: str, grid: str, form: str, entries: list[int]) -> None:
    plan = launched(
        f"N = 70_000\ndef f(x, y):\n    {before or 'pass'}\n    scale[{grid}](x, y, 5, BLOCK=64)\n"
    )
    assert plan.launch is not None and plan.launch.grid is not None
    assert plan.launch.grid.form == form
    assert [known(entry) for entry in only(plan).grid] == entries


def test_a_grid_per_candidate() -> None:
    plan = next(
        iter(
            plans("""
    @triton.autotune([triton.Config({'BLOCK': b}) for b in (64, 128, 256)], key=['n'])
    @triton.jit
    def scale(x_ptr, n, BLOCK: tl.constexpr):
        pass
    def f(x):
        scale[lambda meta: (triton.cdiv(1024, meta['BLOCK']),)](x, 1024)
    """)
        )
    )
    assert [known(candidate.grid[0]) for candidate in plan.candidates] == [16, 8, 4]  # type: ignore[index]
    assert plan.launch is not None and plan.launch.grid is not None
    assert set(plan.launch.grid.meta_keys) == {"BLOCK"}


@pytest.mark.parametrize(
    ("grid", "problem"),
    [("5", "not-a-tuple"), ("lambda meta: (meta['BLOKC'],)", "unknown-meta:BLOKC"), ("(5 / 2,)", "float")],
)
def test_grids_that_fail(grid: str, problem: str) -> None:
    assert only(launched(f"def f(x, y):\n    scale[{grid}](x, y, 5, BLOCK=64)\n")).grid_problem == problem


def test_a_meta_name_that_an_unknown_splat_may_give_is_no_problem() -> None:
    plan = launched("""
    def f(x, y, **config):
        scale[lambda meta: (triton.cdiv(1000, meta["BLOCK"]), 3)](x, y, 5, **config)
    """)
    assert only(plan).grid_problem == ""
    assert known(only(plan).grid[1]) == 3


def test_an_unknown_grid_is_no_problem() -> None:
    candidate = only(launched("def f(x, y, grid):\n    scale[grid](x, y, 5, BLOCK=64)\n"))
    assert candidate.grid is None and candidate.grid_problem == ""


# -- values


def block(body: str, signature: str = "x, y", platform: Any = H100) -> Any:
    text = "".join(f"    {line}\n" for line in body.splitlines())
    plan = launched(f"def f({signature}):\n{text}    scale[(1,)](x, y, 5, BLOCK=block)\n", platform)
    found = [candidate.constants["BLOCK"] for candidate in plan.candidates]
    return found[0] if len(found) == 1 else found


def test_values_bound_earlier() -> None:
    assert known(block("n = 100\nblock = triton.next_power_of_2(n)")) == 128
    assert known(block("if torch.version.hip:\n    block = 32\nelse:\n    block = 64", platform=MI300)) == 32


def test_a_bounded_size() -> None:
    found = block("n = x.shape[-1]\nblock = min(triton.next_power_of_2(n), 1024)")
    assert found == Bounded(1, 1024, True, 1, found.reason)


def test_a_size_out_of_a_finite_set() -> None:
    found = block("assert block in (16, 32)", "x, y, block")
    assert [known(one) for one in found] == [16, 32]
    found = block("if block not in [16, 32]:\n    raise ValueError", "x, y, block")
    assert [known(one) for one in found] == [16, 32]


def test_an_unknown_size_says_where_it_comes_from() -> None:
    found = block("", "x, y, block")
    assert isinstance(found, Unknown) and "block comes from the caller" in found.reason


def test_a_default_is_one_of_the_ways_to_call() -> None:
    plan = launched("def f(x, y, block=64):\n    scale[(1,)](x, y, 5, BLOCK=block)\n")
    assert known(only(plan).constants["BLOCK"]) == 64
    assert only(plan).assumptions == ("f() is called with the defaults of its parameters",)


@pytest.mark.parametrize("default", ["(64, 128)", "[64, 128]"])
def test_several_numbers_as_a_default(default: str) -> None:
    plan = launched(f"def f(x, y, blocks={default}):\n    scale[(1,)](x, y, 5, BLOCK=blocks[1])\n")
    assert known(only(plan).constants["BLOCK"]) == 128
    assert only(plan).assumptions == ("f() is called with the defaults of its parameters",)


def test_correlated_choices_make_one_candidate_each() -> None:
    plan = launched("""
    def f(x, y, big):
        if big:
            block, warps = 128, 8
        else:
            block, warps = 64, 4
        scale[(1,)](x, y, 5, BLOCK=block, num_warps=warps)
    """)
    pairs = [(known(one.constants["BLOCK"]), known(one.num_warps)) for one in plan.candidates]
    assert sorted(pairs) == [(64, 4), (128, 8)]


def test_the_same_condition_twice_is_decided_once() -> None:
    plan = launched("""
    def f(x, y):
        n = x.shape[0]
        block = 64 if n > 1000 else 32
        if n > 1000:
            scale[(1,)](x, y, 5, BLOCK=block)
    """)
    assert known(only(plan).constants["BLOCK"]) == 64


def test_a_splat_that_goes_with_one_of_two_kernels() -> None:
    found = plans(
        HEAD
        + """
@triton.jit
def tiled(x_ptr, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK) + BLOCK_K, 1.0)

@triton.jit
def looped(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

def f(x, n, k):
    block_k = triton.next_power_of_2(k)
    small = block_k * triton.next_power_of_2(n) <= 65536
    kernel = tiled if small else looped
    more = {"BLOCK_K": block_k} if small else {}
    kernel[(1,)](x, BLOCK=64, **more)
"""
    )
    launches = {plan.kernel.name: plan.launch for plan in found}
    assert launches["tiled"] is not None and "BLOCK_K" in launches["tiled"].arguments
    assert launches["looped"] is not None and not launches["looped"].options


def test_known_callers_in_the_file() -> None:
    """A helper that is only called with known values is seen with those."""
    plan = launched("""
    def _launch(x, y, block):
        scale[(1,)](x, y, 5, BLOCK=block)
    def small(x, y):
        _launch(x, y, 32)
    def large(x, y):
        _launch(x, y, 256)
    """)
    assert sorted(known(one.constants["BLOCK"]) for one in plan.candidates) == [32, 256]


def test_loops() -> None:
    plan = launched("""
    def f(x, y, n):
        for block in (32, 64):
            scale[(1,)](x, y, 5, BLOCK=block)
    """)
    assert sorted(known(one.constants["BLOCK"]) for one in plan.candidates) == [32, 64]
    plan = launched("def f(x, y, n):\n    for i in range(n):\n        scale[(1,)](x, y, i, BLOCK=64)\n")
    assert known(only(plan).constants["BLOCK"]) == 64


def test_a_call_that_cannot_be_evaluated_does_not_hide_the_launch() -> None:
    plan = launched("""
    def f(x, y):
        strange = [][3]
        block = 64
        scale[(1,)](x, strange, 5, BLOCK=block)
    """)
    assert known(only(plan).constants["BLOCK"]) == 64


def test_what_is_not_reached_is_not_launched() -> None:
    code = "def f(x, y):\n    if torch.version.hip:\n        raise NotImplementedError\n"
    code += "    scale[(1,)](x, y, 5, BLOCK=64)\n"
    assert [plan.launch is None for plan in plans(KERNEL + code, MI300)] == [True]
    assert [plan.launch is None for plan in plans(KERNEL + code, H100)] == [False]


# -- types


TYPES = {
    "empty": ("a = torch.empty((4, 4), dtype=torch.float16)", "*fp16"),
    "to": ("a = x.to(torch.bfloat16)", "*bf16"),
    "a method": ("a = x.half()", "*fp16"),
    "default dtype": ("a = torch.zeros(4)", "*fp32"),
    "empty_like": ("a = torch.empty_like(x.float())", "*fp32"),
    "kept by views": ("a = x.to(torch.int8).reshape(-1).contiguous()[2:]", "*i8"),
    "new_empty": ("a = x.double().new_empty((3,))", "*fp64"),
    "fp8": ("a = torch.empty(4, dtype=torch.float8_e4m3fn)", "*fp8e4nv"),
    "arithmetic": ("a = x.half() * 2 + x.half()", "*fp16"),
}


@pytest.mark.parametrize(("body", "expected"), TYPES.values(), ids=TYPES.keys())
def test_tensor_types(body: str, expected: str) -> None:
    plan = launched(f"def f(x, y):\n    {body}\n    scale[(1,)](a, y, 5, BLOCK=64)\n")
    assert only(plan).types["x_ptr"] == expected


@pytest.mark.parametrize(
    "types", ["{torch.float16, torch.float8_e4m3fnuz}", "(torch.float8_e4m3fnuz, torch.float16)"]
)
def test_one_of_several_types_is_no_type(types: str) -> None:
    plan = launched(f"""
    TYPES = {types}
    def f(x, dtype=torch.float16):
        assert dtype in TYPES
        scale[(1,)](x, torch.empty_like(x, dtype=dtype), 5, BLOCK=64)
    """)
    assert "y_ptr" not in only(plan).types


def test_a_shape_that_hangs_on_a_condition_is_not_one_of_them() -> None:
    plan = launched("""
    def f(x, big: bool):
        rows = 64 if big else 128
        y = torch.empty((rows, 2))
        scale[(1,)](x, y, 5, BLOCK=y.shape[0])
    """)
    assert sorted(known(one.constants["BLOCK"]) for one in plan.candidates) == [64, 128]


def test_calls_with_different_lists_are_different() -> None:
    plan = launched("""
    from elsewhere import wanted
    def f(x):
        first = 64 if wanted([1]) else 128
        second = 64 if wanted([2]) else 128
        scale[(1,)](x, x, 5, BLOCK=first + second)
    """)
    assert sorted(known(one.constants["BLOCK"]) for one in plan.candidates) == [128, 192, 256]


def test_what_is_made_of_itself_over_and_over_is_read_in_time() -> None:
    lines = "\n".join(
        "        x = x.join(x, [x], name=x)\n        n = max(n * n, n + 1) // n" for _ in range(60)
    )
    plan = launched(f"""
    def f(x, n):
{lines}
        scale[(1,)](x, x, n, BLOCK=64)
    """)
    assert known(only(plan).constants["BLOCK"]) == 64


def test_scalars_and_unknown_tensors() -> None:
    candidate = only(launched("def f(x: torch.Tensor, y):\n    scale[(1,)](x, y, 1 << 40, BLOCK=64)\n"))
    assert candidate.types == {"n": "i64"}


def test_descriptors() -> None:
    plan = launched("""
    from triton.tools.tensor_descriptor import TensorDescriptor
    def f(x, y):
        a = torch.empty((64, 64), dtype=torch.float16)
        d = TensorDescriptor.from_tensor(a, [32, 64])
        scale[(1,)](d, TensorDescriptor(a, [64, 64], [64, 1], block_shape=[16, 16]), 5, BLOCK=64)
    """)
    assert only(plan).types["x_ptr"] == "tensordesc<fp16[32,64]>"
    assert only(plan).types["y_ptr"] == "tensordesc<fp16[16,16]>"


def test_dtypes_as_constants() -> None:
    (plan,) = plans("""
    @triton.jit
    def cast(x, OUT: tl.constexpr, F: tl.constexpr = None):
        pass
    def f(x):
        cast[(1,)](x, OUT=tl.float16)
    """)
    assert known(only(plan).constants["OUT"]) == DType("fp16")
    assert known(only(plan).constants["F"]) is None


# -- heuristics and what is missing


def test_heuristics_see_the_config() -> None:
    (plan,) = plans("""
    @triton.autotune([triton.Config({'BLOCK': b}) for b in (64, 128)], key=[])
    @triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0, 'TWICE': lambda args: args['BLOCK'] * 2})
    @triton.jit
    def scale(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, TWICE: tl.constexpr):
        pass
    def f(x):
        scale[(1,)](x, 192)
    """)
    assert plan.heuristics == ("EVEN", "TWICE") and plan.missing == ()
    found = [(known(one.constants["EVEN"]), known(one.constants["TWICE"])) for one in plan.candidates]
    assert found == [(True, 128), (False, 256)]


def test_heuristics_set_options_too() -> None:
    """Over those of the config, as Triton passes them on."""
    (plan,) = plans("""
    @triton.autotune([triton.Config({'BLOCK': b}) for b in (64, 2048)], key=[])
    @triton.heuristics({'num_warps': lambda args: 2 if args['BLOCK'] < 1024 else 8, 'waves_per_eu': lambda args: 2})
    @triton.jit
    def scale(x, n, BLOCK: tl.constexpr):
        pass
    def f(x):
        scale[(1,)](x, 192)
    """)
    assert [known(one.num_warps) for one in plan.candidates] == [2, 8]
    assert all(one.extra == {"waves_per_eu": Known(2)} for one in plan.candidates)
    assert all("num_warps" not in {**one.constants, **one.values} for one in plan.candidates)


NAMED_LIKE_OPTIONS = """
    @triton.jit
    def scale(x, n, BLOCK: tl.constexpr, num_stages: tl.constexpr, num_warps: tl.constexpr = 1):
        pass
    def f(x):
        scale[(1,)](x, 192, BLOCK=64, num_stages=5, num_warps=8)
    def g(x):
        scale[(1,)](x, 192, 64, 5, 8)
"""


@pytest.mark.parametrize("triton", [(2, 3), (3, 0), (3, 9)])
def test_a_parameter_with_the_name_of_an_option(triton: tuple[int, int]) -> None:
    """`num_stages=` gives both since 3.0, and the option alone before; by position it is an argument like others."""
    by_name, by_position = plans(NAMED_LIKE_OPTIONS, replace(H100, triton=triton))
    assert by_name.missing == (("num_stages",) if triton < (3, 0) else ())
    assert by_position.missing == ()
    for plan, options in ((by_name, [8, 5]), (by_position, [4, 3])):
        candidate = only(plan)
        assert [known(candidate.num_warps), known(candidate.num_stages)] == options
    own = {name: known(value) for name, value in only(by_name).constants.items()}
    assert own == {
        "BLOCK": 64,
        **({"num_warps": 1} if triton < (3, 0) else {"num_stages": 5, "num_warps": 8}),
    }


@pytest.mark.parametrize("triton", [(2, 3), (3, 0), (3, 9)])
def test_options_of_a_config_for_parameters_of_their_names(triton: tuple[int, int]) -> None:
    tuned = NAMED_LIKE_OPTIONS.partition("def f")[0].replace(
        "    @triton.jit",
        "    @triton.autotune([triton.Config({'BLOCK': 64}, num_stages=s) for s in (2, 5)], key=[])\n    @triton.jit",
    )
    launch = "def f(x):\n        scale[(1,)](x, 192)\n"
    (plan,) = plans(tuned + launch, replace(H100, triton=triton))
    assert [known(one.num_stages) for one in plan.candidates] == [2, 5]
    if triton < (3, 0):
        assert plan.missing == ("num_stages",)
        return
    assert plan.missing == ()
    in_dict = tuned.replace("'BLOCK': 64}", "'BLOCK': 64, 'num_warps': 8, 'maxnreg': 128}")
    (again,) = plans(in_dict + launch, replace(H100, triton=triton))
    for one in (*plan.candidates, *again.candidates):  # what Config itself says stands over its dict
        assert known(one.num_warps) == known(one.constants["num_warps"]) == 4
    assert [known(one.constants["num_stages"]) for one in plan.candidates] == [2, 5]
    assert [known(one.maxnreg) for one in again.candidates] == [128, 128]


def test_a_heuristic_on_something_unknown() -> None:
    (plan,) = plans("""
    @triton.heuristics({'HAS': lambda args: args['b'] is not None})
    @triton.jit
    def scale(x, b, HAS: tl.constexpr):
        pass
    def f(x, b=None):
        scale[(1,)](x, b)
    """)
    assert only(plan).constants["HAS"] == OneOf((False, True))


def test_missing_and_unknown_names() -> None:
    plan = launched("def f(x, y):\n    scale[(1,)](x, y, 5, BLOK=64, num_warps=2, waves_per_eu=1)\n")
    assert plan.missing == ("BLOCK",) and plan.unknown == ("BLOK",)
    assert known(only(plan).num_warps) == 2
    assert set(only(plan).extra) == {"BLOK", "waves_per_eu"}


def test_what_a_generator_makes_of_unknown_values_may_give_what_is_missing() -> None:
    (plan,) = plans("""
    @triton.jit
    def scale(x, x_stride, y, y_stride, n, BLOCK: tl.constexpr):
        pass
    def with_strides(*tensors):
        for tensor in tensors:
            yield tensor
            yield from tensor.stride()
    def outer(x, y):
        def inner(grid, *tensors):
            scale[grid](*with_strides(*tensors), 5, 64)
        elsewhere(inner, x, y)
    """)
    assert plan.missing == ()


def test_an_unknown_splat_may_give_what_is_missing() -> None:
    plan = launched("def f(x, y, **meta):\n    scale[(1,)](x, y, 5, **meta)\n")
    assert plan.missing == () and plan.launch is not None and plan.launch.splat_unknown


def test_defaults_of_the_options() -> None:
    plan = launched("def f(x, y):\n    scale[(1,)](x, y, 5, BLOCK=64)\n", MI300)
    candidate = only(plan)
    assert [known(one) for one in (candidate.num_warps, candidate.num_stages, candidate.num_ctas)] == [
        4,
        2,
        1,
    ]


# -- assume


def test_assume_at_the_kernel_reaches_grid_and_block() -> None:
    code = """
    # tritonlint: assume x_ptr=*fp16, n=1000
    @triton.jit
    def scale(x_ptr, n, BLOCK: tl.constexpr):
        pass
    def f(x):
        n = x.numel()
        scale[(triton.cdiv(n, 64),)](x, n, BLOCK=triton.next_power_of_2(n))
    """
    (plan,) = plans(code)
    candidate = only(plan)
    assert candidate.types["x_ptr"] == "*fp16"
    assert known(candidate.values["n"]) == 1000 and known(candidate.constants["BLOCK"]) == 1024
    assert known(candidate.grid[0]) == 16


@pytest.mark.parametrize(
    "code",
    [
        "# tritonlint: assume n=1000\ndef f(x, y):\n    n = x.numel()\n    scale[(n,)](x, y, n, BLOCK=64)\n",
        "def f(x, y):\n    n = x.numel()\n    # tritonlint: assume n=1000\n    scale[(n,)](x, y, n, BLOCK=64)\n",
        "def f(x, y):\n    n = x.numel()\n    scale[(n,)](x, y, n, BLOCK=64)  # tritonlint: assume n=1000\n",
    ],
    ids=["the function", "above the launch", "on its line"],
)
def test_assume_elsewhere(code: str) -> None:
    assert known(only(launched(code)).grid[0]) == 1000


def test_assume_of_another_definition_does_not_hold() -> None:
    code = "# tritonlint: assume n=1000\ndef g():\n    pass\ndef f(x, y, n):\n    scale[(n,)](x, y, n, BLOCK=64)\n"
    assert not isinstance(only(launched(code)).grid[0], int)
    assert launched(code).assumed == {}


def test_assume_above_a_launch_that_is_the_first_statement() -> None:
    code = "def f(x, y):\n    # tritonlint: assume y_ptr=*fp16\n    scale[(8,)](x, y, 64, BLOCK=64)\n"
    assert only(launched(code)).types["y_ptr"] == "*fp16"


def test_assume_does_not_overrule_the_code() -> None:
    code = "def f(x, y):\n    # tritonlint: assume n=7, BLOCK=32\n    scale[(5,)](x, y, 5, BLOCK=64)\n"
    candidate = only(launched(code))
    assert known(candidate.values["n"]) == 5 and known(candidate.constants["BLOCK"]) == 64


def test_assumed_constants_of_an_unlaunched_kernel() -> None:
    (plan,) = plans("""
    # tritonlint: assume OUT=fp16, BLOCK=64, gpu=h100
    @triton.jit
    def cast(x, OUT: tl.constexpr, BLOCK: tl.constexpr):
        pass
    """)
    assert known(plan.candidates[0].constants["OUT"]) == DType("fp16")
    assert plan.assumed["gpu"] == "h100"


# -- the kernel's own names


def test_the_scope_of_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(HEAD + "LOG2E: tl.constexpr = tl.constexpr(1.44)\n" + KERNEL)
    code = """
    from helpers import LOG2E, scale
    import helpers
    from triton.language.extra import libdevice
    SIZE = 64
    @triton.jit
    def inner(x):
        return x
    @triton.jit
    def outer(x, BLOCK: tl.constexpr = 4):
        pass
    """
    found = {plan.kernel.name: plan.kernel for plan in plans(code, path=tmp_path / "main.py")}
    scope = found["outer"].scope
    assert scope.lookup("inner") is found["inner"]
    assert known(scope.lookup("SIZE")) == 64 and known(scope.lookup("LOG2E")) == 1.44
    assert scope.lookup("tl").dotted == "triton.language"
    assert scope.attribute(scope.lookup("tl"), "float16").value == DType("fp16")
    assert scope.lookup("libdevice").dotted == "triton.language.extra.libdevice"
    assert scope.lookup("scale").name == "scale"
    assert scope.attribute(scope.lookup("helpers"), "scale").name == "scale"
    assert scope.lookup("nothing") is None


def test_a_kernel_inside_a_function_sees_its_locals() -> None:
    found = plans("""
    def make(size: int):
        width = 32
        @triton.jit
        def inner(x, BLOCK: tl.constexpr):
            pass
        def launch(x):
            inner[(1,)](x, BLOCK=width)
        return launch
    """)
    (plan,) = found
    assert plan.launch is not None
    assert known(plan.kernel.scope.lookup("width")) == 32
    assert known(plan.candidates[0].constants["BLOCK"]) == 32


def test_parameters() -> None:
    (plan,) = plans("""
    @triton.jit(do_not_specialize=['n'], noinline=True)
    def k(x, n: tl.int64, A: tl.constexpr, B: "tl.constexpr" = 3, *, C: tl.constexpr[int] = None):
        pass
    """)
    kernel = plan.kernel
    assert [p.name for p in kernel.parameters if p.constexpr] == ["A", "B", "C"]
    assert known(kernel.parameters[3].default) == 3
    assert kernel.do_not_specialize == ("n",) and kernel.noinline


def test_nothing_raises_on_odd_code() -> None:
    for code in (
        "def f(*a, **k):\n    scale[a](*a, **k)\n",
        "def f(x):\n    scale[lambda m: m](x, scale, scale[(1,)], BLOCK=f)\n",
        "scale[(1,)]()\nscale[(1,)](1, 2, 3, 4, 5, 6, 7)\n",
        "class A:\n    k = scale\n    def f(self):\n        self.k[(1,)](self, *self, BLOCK=self.x.y.z)\n",
        "def f(x):\n    while x:\n        x = f(x)\n        scale[(x,)](x, x, x, BLOCK=x)\n",
        "async def f(x):\n    async with x as y:\n        await scale[(1,)](y, y, 1, BLOCK=[1])\n",
        "def f(x):\n    try:\n        raise x\n    except* E:\n        pass\n    scale[(1,)](x, x, 1, 1)\n",
        "f = lambda x: scale[(1,)](x, x, 1, BLOCK=1)\nf(1)\n",
    ):
        reading(KERNEL + code)


def test_kernels_and_functions_are_told_by_their_names() -> None:
    """Never by what Python shows of them: that names addresses, which no two runs have in common."""
    code = (
        KERNEL
        + """
@triton.jit
def gelu(x):
    return x

@triton.jit
def apply(p, ACT: tl.constexpr):
    tl.store(p, ACT(1.0))

def run(p, deep):
    apply[(1,)](p, ACT=gelu if deep else tl.exp)
"""
    )
    plan = next(plan for plan in plans(code) if plan.kernel.name == "apply")
    given = [one.constants["ACT"].value for one in plan.candidates]
    assert why_unknown(OneOf(tuple(given))) == "one of gelu, triton.language.exp"


_BRANCHES = """
if triton.__version__ >= "2.1.0":
    @triton.jit
    def copy(x, y, n, BLOCK: tl.constexpr):
        tl.store(y + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)))

    def run(x, y):
        copy[(1,)](x, y, 5, BLOCK=64)
else:
    @triton.jit
    def copy(x, y, scratch, n, BLOCK: tl.constexpr):
        tl.store(y + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)))

    def run(x, y):
        copy[(1,)](x, y, x, 5, 6, BLOCK=64)
"""


def test_a_function_of_the_branch_not_taken_has_not_the_kernel_of_the_other() -> None:
    (plan,) = plans(HEAD + _BRANCHES)
    assert list(plan.launch.arguments)[:3] == ["x", "y", "n"] if plan.launch else False


def test_a_function_of_the_branch_not_taken_that_uses_nothing_of_it_is_read() -> None:
    """A variable of the environment may be set."""
    choice = (
        'import os\nif os.environ.get("FAST"):\n    def run(x, y):\n        scale[(1,)](x, y, 5, BLOCK=64)\n'
        "else:\n    def run(x, y):\n        scale[(1,)](x, y, 5, BLOCK=32)\n"
    )
    assert len(plans(HEAD + KERNEL + choice)) == 2


RUN = """
def run(x, y, block):
    n = x.numel()
    scale[(1, triton.cdiv(n, block))](x, y, n, BLOCK=block)
"""


@pytest.mark.parametrize(
    "calls",
    [
        "x = torch.empty(1 << 20, device='cuda')\nrun(x, x, 4)\n",
        "if __name__ == '__main__':\n    x = torch.empty(1 << 20, device='cuda')\n    run(x, x, 4)\n",
        "if __name__ == '__main__':\n    for _ in range(2):\n        run(torch.empty(1 << 20), None, block=4)\n",
        "out = run(torch.empty(1 << 20), None, 4)\n",
    ],
)
def test_the_module_itself_hands_values_down(calls: str) -> None:
    plan = launched(RUN + calls)
    assert [candidate.grid for candidate in plan.candidates] == [(Known(1), Known(1 << 18))]
    assert only(plan).constants["BLOCK"] == Known(4)


def test_a_kernel_handed_down_by_the_module() -> None:
    plan = launched(
        "def run(kernel, x, meta):\n    kernel[(1,)](x, x, 5, **meta)\n\nrun(scale, 1.0, {'BLOCK': 64})\n"
    )
    assert only(plan).constants["BLOCK"] == Known(64)


def test_a_module_that_hands_nothing_down_is_not_run_for_it() -> None:
    code = RUN + "def main():\n    x = torch.empty(8)\n    run(x, x, 64)\n\nmain()\n"
    assert only(launched(code)).constants["BLOCK"] == Known(64)


def test_a_module_that_takes_too_long_to_run_is_no_problem() -> None:
    found = reading(KERNEL + RUN + "for i in range(10 ** 6):\n    run(i, i, 64)\n")
    assert not found.problems and any(plan.launch is not None for plan in found.plans)
