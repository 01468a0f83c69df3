"""Autotune lists in the forms in which people write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tritonlint.source.sites import Platform
from tritonlint.span import Span

from .reading import A100, H100, HEAD, KERNEL, MI300, plans, tuned, values

C = "triton.Config"


def blocks(code: str, platform: Platform = H100) -> list[Any]:
    site = tuned(code, platform)
    assert site.resolved, site.reason
    assert not site.alternatives
    return values(site)


EXACT = {
    "a literal list": (
        "@triton.autotune(configs=[triton.Config({'BLOCK': 64}), triton.Config({'BLOCK': 128})], key=['n'])",
        [64, 128],
    ),
    "positional arguments": (
        "@triton.autotune([triton.Config({'BLOCK': 64}, 8, 2)], ['n'])",
        [64],
    ),
    "a comprehension with a filter": (
        "@triton.autotune([triton.Config({'BLOCK': b}) for b in [32, 64, 128] if b > 32], key=[])",
        [64, 128],
    ),
    "a product": (
        """
        import itertools
        @triton.autotune([triton.Config({'BLOCK': a * b}) for a, b in itertools.product([1, 2], (64, 128))], key=[])
        """,
        [64, 128, 128, 256],
    ),
    "a function with loops and a continue": (
        """
        def get():
            found = []
            for block in range(5, 9):
                for warps in (4, 8):
                    if block == 6 and warps == 4:
                        continue
                    if block > 7:
                        break
                    found.append(triton.Config({'BLOCK': 2 ** block}, num_warps=warps))
            return found
        @triton.autotune(configs=get(), key=[])
        """,
        [32, 32, 64, 128, 128],
    ),
    "a rebound name": (
        """
        configs = [triton.Config({'BLOCK': 1})]
        configs = [triton.Config({'BLOCK': 64})]
        @triton.autotune(configs=configs, key=[])
        """,
        [64],
    ),
    "append, extend and += at module level": (
        """
        configs = []
        for block in (64, 128):
            configs.append(triton.Config({'BLOCK': block}))
        configs.extend([triton.Config({'BLOCK': 256})])
        configs += [triton.Config({'BLOCK': 512})]
        @triton.autotune(configs=configs, key=[])
        """,
        [64, 128, 256, 512],
    ),
    "a second-stage filter with a function": (
        """
        def keep(config):
            return config.kwargs['BLOCK'] * config.num_warps <= 512
        every = [triton.Config({'BLOCK': b}, num_warps=w) for b in (64, 128) for w in (4, 8)]
        @triton.autotune(configs=list(filter(keep, every)), key=[])
        """,
        [64, 64, 128],
    ),
    "dicts joined": (
        """
        BASE = {'BLOCK': 64}
        @triton.autotune([triton.Config({**BASE, 'BLOCK': 256}), triton.Config(BASE | {'BLOCK': 128})], key=[])
        """,
        [256, 128],
    ),
    "keywords splatted": (
        """
        ARGS = dict(kwargs={'BLOCK': 64}, num_warps=8)
        @triton.autotune([triton.Config(**ARGS)], key=[])
        """,
        [64],
    ),
    "enums, dataclasses and methods": (
        """
        import enum, dataclasses
        class Size(enum.IntEnum):
            SMALL = 64
            LARGE = 256
        @dataclasses.dataclass
        class Space:
            first: int
            second: int = 512
            def sizes(self, *, extra=()):
                return [self.first, self.second, *extra]
        @triton.autotune(
            [triton.Config({'BLOCK': int(s)}) for s in Space(Size.SMALL.value).sizes(extra=[Size.LARGE])], key=[])
        """,
        [64, 512, 256],
    ),
    "partial, lambda, zip, enumerate, sorted, slices": (
        """
        import functools
        make = functools.partial(triton.Config, num_warps=8)
        pairs = sorted(zip([3, 1, 2], 'cab'), key=lambda pair: -pair[0])
        @triton.autotune([make({'BLOCK': 32 << n}) for n, _ in enumerate(pairs[1:])], key=[])
        """,
        [32, 64],
    ),
    "numbers": (
        """
        import math
        from math import log2
        @triton.autotune([triton.Config({'BLOCK': n}) for n in (
            triton.next_power_of_2(33), triton.cdiv(100, 64), max(1, 2), min([4, 5]), sum([1, 2]), len('abc'),
            math.ceil(1.5), int(log2(16)), 7 // 2, -(-7 // 2), 1 if 2 > 1 else 0)], key=[])
        """,
        [64, 2, 2, 4, 3, 3, 2, 4, 3, 4, 1],
    ),
    "environment variables by default": (
        """
        import os
        N = int(os.environ.get('BLOCK', '64'))
        M = 128 if os.getenv('LARGE') else 32
        QUICK = 'QUICK' in os.environ
        @triton.autotune([triton.Config({'BLOCK': b}) for b in (N, M)], key=[])
        """,
        [64, 32],
    ),
    "while, early returns, try": (
        """
        def steps(top):
            if top < 0:
                return []
            found, n = [], 16
            while n < top:
                found.append(n)
                n *= 2
            try:
                found.append({'a': 1}['b'])
            except KeyError:
                found.append(7)
            return found
        @triton.autotune([triton.Config({'BLOCK': b}) for b in steps(64) + steps(-1)], key=[])
        """,
        [16, 32, 7],
    ),
    "a generator": (
        """
        def every():
            for b in (16, 32):
                yield triton.Config({'BLOCK': b})
        @triton.autotune(list(every()), key=[])
        """,
        [16, 32],
    ),
    "itertools.chain and a set": (
        """
        from itertools import chain
        ODD = {3, 5}
        ODD.add(7)
        @triton.autotune([triton.Config({'BLOCK': b}) for b in chain(sorted(ODD), range(2))], key=[])
        """,
        [3, 5, 7, 0, 1],
    ),
    "f-strings as keys": (
        "@triton.autotune([triton.Config({f'{w}LOCK': 64}) for w in 'B'], key=[])",
        [64],
    ),
    "a name defined after its use in a function": (
        """
        def get():
            return [triton.Config({'BLOCK': SIZE})]
        SIZE = 64
        @triton.autotune(get(), key=[])
        """,
        [64],
    ),
    "match": (
        """
        def size(kind):
            match kind:
                case 'small' | 'tiny':
                    return 32
                case _:
                    return 64
        @triton.autotune([triton.Config({'BLOCK': size(k)}) for k in ('tiny', 'big')], key=[])
        """,
        [32, 64],
    ),
}


@pytest.mark.parametrize(("code", "expected"), EXACT.values(), ids=EXACT.keys())
def test_lists_that_resolve_exactly(code: str, expected: list[int]) -> None:
    assert blocks(code) == expected


PLATFORMS = {
    "is_hip": (
        "def is_hip():\n    return triton.runtime.driver.active.get_current_target().backend == 'hip'\n",
        "is_hip()",
    ),
    "torch.version.hip": ("HIP = torch.version.hip is not None\n", "HIP"),
    "an unread helper": ("from somewhere import is_hip\n", "is_hip()"),
    "a platform object": ("from vllm.platforms import current_platform\n", "current_platform.is_rocm()"),
    "not cuda": ("", "not torch.version.cuda"),
}


@pytest.mark.parametrize(("before", "test"), PLATFORMS.values(), ids=PLATFORMS.keys())
def test_conditions_on_the_vendor(before: str, test: str) -> None:
    code = f"{before}@triton.autotune([triton.Config({{'BLOCK': 64 if {test} else 128}})], key=[])"
    assert blocks(code, MI300) == [64]
    assert blocks(code, H100) == [128]


@pytest.mark.parametrize(
    ("test", "on_h100", "on_a100"),
    [
        ("torch.cuda.get_device_capability() >= (9, 0)", True, False),
        ("torch.cuda.get_device_capability()[0] == 8", False, True),
        ("torch.cuda.get_device_properties(0).multi_processor_count > 120", True, False),
        (
            "triton.runtime.driver.active.utils.get_device_properties(0)['max_shared_mem'] > 200000",
            True,
            False,
        ),
        ("'H100' in torch.cuda.get_device_name()", True, False),
        ("current_platform.has_device_capability(90)", True, False),
    ],
)
def test_conditions_on_the_device(test: str, on_h100: bool, on_a100: bool) -> None:
    code = (
        "from vllm.platforms import current_platform\n"
        f"@triton.autotune([triton.Config({{'BLOCK': 64 if {test} else 128}})], key=[])"
    )
    assert blocks(code, H100) == [64 if on_h100 else 128]
    assert blocks(code, A100) == [64 if on_a100 else 128]


def test_conditions_on_the_release() -> None:
    code = """
    from packaging import version
    NEW = version.parse(triton.__version__) >= version.parse('3.3.0')
    @triton.autotune([triton.Config({'BLOCK': 64 if NEW else 32})], key=[])
    """
    assert blocks(code) == [64]
    assert blocks(code, Platform("sm_90", (3, 2))) == [32]


def test_defaults_follow_the_release() -> None:
    code = "@triton.autotune([triton.Config({'BLOCK': 64})], key=[])"
    assert tuned(code).configs[0].num_stages == 3
    assert tuned(code, Platform("sm_90", (3, 2))).configs[0].num_stages == 2
    assert tuned(code).configs[0].given == frozenset()


# -- what cannot be decided


def test_both_branches_of_an_undecided_condition() -> None:
    site = tuned("""
    from somewhere import big
    if big():
        configs = [triton.Config({'BLOCK': 64})]
    else:
        configs = [triton.Config({'BLOCK': 128})]
    @triton.autotune(configs, key=[])
    """)
    assert site.resolved and site.alternatives
    assert values(site) == [64, 128]


def test_values_of_one_condition_stay_together() -> None:
    """`a, b = (1, 2) if big else (3, 4)` is two pairs, not four."""
    site = tuned("""
    from somewhere import big
    block, warps = (64, 4) if big else (128, 8)
    @triton.autotune([triton.Config({'BLOCK': block}, num_warps=warps)], key=[])
    """)
    assert site.alternatives
    assert [(c.kwargs["BLOCK"], c.num_warps) for c in site.configs] == [(64, 4), (128, 8)]


def test_a_conditional_append_is_an_alternative() -> None:
    site = tuned("""
    from somewhere import big
    configs = [triton.Config({'BLOCK': 64})]
    if big:
        configs.append(triton.Config({'BLOCK': 128}))
    @triton.autotune(configs, key=[])
    """)
    assert site.alternatives and values(site) == [64, 128]


def test_many_undecided_conditions_stay_linear() -> None:
    tests = "\n".join(
        f"if flag({n}):\n    configs.append(triton.Config({{'BLOCK': {n}}}))" for n in range(40)
    )
    site = tuned("from somewhere import flag\nconfigs = []\n" + tests + "\n@triton.autotune(configs, key=[])")
    assert site.alternatives and values(site) == list(range(40))


@pytest.mark.parametrize(
    "code",
    [
        "from somewhere import configs\n@triton.autotune(configs, key=[])",
        "from somewhere import block\n@triton.autotune([triton.Config({'BLOCK': block})], key=[])",
        "@triton.autotune([triton.Config({'BLOCK': b}) for b in unknown], key=[])",
        "@triton.autotune([triton.Config({'BLOCK': 64}), *more], key=[])",
        "def f():\n    return f()\n@triton.autotune(f(), key=[])",
        "@triton.autotune(3, key=[])",
    ],
)
def test_what_is_not_known_is_said(code: str) -> None:
    site = tuned(code)
    assert not site.resolved
    assert site.reason


def test_the_known_part_of_a_list_is_kept() -> None:
    site = tuned("""
    from somewhere import block
    @triton.autotune([triton.Config({'BLOCK': 64}), triton.Config({'BLOCK': block})], key=[])
    """)
    assert not site.resolved and "block" in site.reason.lower()
    assert values(site)[0] == 64


def test_a_list_that_costs_too_much_says_so() -> None:
    code = """
    def get():
        found = []
        for a in range(1000):
            for b in range(1000):
                if a * b == 7:
                    found.append(triton.Config({'BLOCK': a}))
        return found
    @triton.autotune(get(), key=[])
    @triton.jit
    def f(x, BLOCK: tl.constexpr):
        pass
    """
    (plan,) = plans(code)
    assert plan.tuning is not None and "too many steps" in (plan.tuning.reason or "")


# -- tuners


TUNERS = {
    "an alias of the module": ("import triton as T\n@T.autotune(configs=[T.Config({'BLOCK': 64})], key=[])"),
    "names of it": (
        "from triton import Config as C, autotune as tune\n@tune(configs=[C({'BLOCK': 64})], key=[])"
    ),
    "a re-export": (
        "from package.triton_utils import triton, tl\n@triton.autotune([triton.Config({'BLOCK': 64})], key=[])"
    ),
    "an own wrapper": (
        "def tune(key):\n    return triton.autotune(configs=[triton.Config({'BLOCK': 64})], key=key)\n@tune(key=[])"
    ),
    "an own decorator over a subclass": (
        "class Tuner(triton.runtime.Autotuner):\n"
        "    def __init__(self, fn, names, configs, key, **kwargs):\n"
        "        super().__init__(fn, names, configs, key, None, None, **kwargs)\n"
        "def tune(configs, key=None):\n"
        "    def decorator(fn):\n"
        "        return Tuner(fn, fn.arg_names, configs, key or [])\n"
        "    return decorator\n"
        "@tune(configs=[triton.Config({'BLOCK': 64})])"
    ),
    "an unread decorator that is given configs": (
        "from somewhere import cached_autotune\n"
        "@cached_autotune(configs=[triton.Config({'BLOCK': 64})], key=[])"
    ),
    "stacked with others": (
        "from somewhere import libentry\n"
        "@libentry()\n@triton.autotune([triton.Config({'BLOCK': 64})], key=[])\n"
        "@triton.heuristics({'EVEN': lambda args: args['n'] % 2 == 0})"
    ),
}


@pytest.mark.parametrize("code", TUNERS.values(), ids=TUNERS.keys())
def test_ways_to_tune(code: str) -> None:
    assert blocks(code) == [64]


def test_a_kernel_tuned_by_a_call() -> None:
    code = KERNEL + "tuned = triton.autotune([triton.Config({'BLOCK': 64})], key=['n'])(scale)\n"
    (plan,) = plans(code)
    assert plan.tuning is not None and values(plan.tuning) == [64]


def test_key_hooks_and_other_arguments() -> None:
    code = """
    def prune(configs, named_args, **kwargs):
        return configs
    @triton.autotune([triton.Config({'BLOCK': 64}, pre_hook=lambda args: None)], key=['n', 'm'],
                     restore_value=['x_ptr'], reset_to_zero=['y_ptr'],
                     prune_configs_by={'early_config_prune': prune}, cache_results=True)
    """
    site = tuned(code)
    assert site.key == ("n", "m") and site.restore_value == ("x_ptr",) and site.reset_to_zero == ("y_ptr",)
    assert site.prune == "early_config_prune" and site.prune_hook.name == "prune"
    assert site.extra == frozenset({"cache_results"})
    assert site.configs[0].pre_hook
    assert {"key", "configs", "key:n", "key:m"} <= set(site.argument_spans)


# -- places


def test_where_a_config_and_its_arguments_stand() -> None:
    code = "@triton.autotune([triton.Config({'BLOCK': 64}, num_warps=8)], key=[])"
    site = tuned(code)
    first = HEAD.count("\n") + 1
    (config,) = site.configs

    def place(text: str) -> Span:
        start = code.index(text) + 1
        return Span(first, start, first, start + len(text))

    assert config.span == place("triton.Config({'BLOCK': 64}, num_warps=8)")
    assert config.argument_spans["BLOCK"] == place("64")
    assert config.argument_spans["num_warps"] == place("8")
    assert config.given == frozenset({"num_warps"})


def test_a_comprehension_is_the_spread_of_its_configs() -> None:
    site = tuned("@triton.autotune([triton.Config({'BLOCK': b}) for b in (1, 2)], key=[])")
    assert {config.spread for config in site.configs} == {Span(4, 18, 4, 63)}
    assert len({config.span for config in site.configs}) == 1


def test_a_dict_is_where_its_values_stand() -> None:
    site = tuned("BASE = {'BLOCK': 64}\n@triton.autotune([triton.Config(BASE)], key=[])")
    assert site.configs[0].argument_spans["BLOCK"].line == 4


# -- files


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root.joinpath(*name.split("__"))
        path = path.with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in path.relative_to(root).parents:
            if str(folder) != ".":
                (root / folder / "__init__.py").touch()
        path.write_text(text)


def test_configs_of_other_files_of_the_package(tmp_path: Path) -> None:
    write(
        tmp_path,
        pack__sizes="SIZES = [64, 128]\ndef keep(n):\n    return n > 64\n",
        pack__lists="import triton\nfrom .sizes import SIZES, keep\nfrom . import sizes as s\n"
        "configs = [triton.Config({'BLOCK': n}) for n in SIZES if keep(n)]\nAGAIN = s.SIZES\n",
        pack__ops__kernels="",
    )
    code = "from ..lists import configs\n@triton.autotune(configs, key=[])" + KERNEL
    (plan,) = plans(code, path=tmp_path / "pack" / "ops" / "kernels.py")
    assert plan.tuning is not None and plan.tuning.resolved
    assert values(plan.tuning) == [128]
    assert plan.tuning.configs[0].path.endswith("lists.py")


def test_configs_of_installed_siblings(tmp_path: Path) -> None:
    write(tmp_path, other__config="def sizes():\n    return [32]\n", pack__kernels="")
    code = (
        "from other.config import sizes\n"
        "@triton.autotune([triton.Config({'BLOCK': n}) for n in sizes()], key=[])" + KERNEL
    )
    (plan,) = plans(code, path=tmp_path / "pack" / "kernels.py")
    assert plan.tuning is not None and values(plan.tuning) == [32]


def test_circular_imports_and_stars(tmp_path: Path) -> None:
    write(
        tmp_path,
        pack__a="from .b import B\nA = 64\n",
        pack__b="from .a import A\nB = A * 2\n",
        pack__star="from .b import *\n",
        pack__kernels="",
    )
    code = "from .star import B\n@triton.autotune([triton.Config({'BLOCK': B})], key=[])" + KERNEL
    (plan,) = plans(code, path=tmp_path / "pack" / "kernels.py")
    assert plan.tuning is not None and values(plan.tuning) == [128]


def test_nothing_is_executed(tmp_path: Path) -> None:
    write(tmp_path, pack__bad="raise SystemExit(open('/nonexistent'))\n", pack__kernels="")
    code = (
        "from . import bad\nimport pack.bad\n@triton.autotune([triton.Config({'BLOCK': bad.N})], key=[])"
        + KERNEL
    )
    (plan,) = plans(code, path=tmp_path / "pack" / "kernels.py")
    assert plan.tuning is not None and not plan.tuning.resolved


@pytest.mark.parametrize(
    ("configs", "reason"),
    [
        ("[triton.Config({'BLOCK': 1 // 0})]", "what stands there raises ZeroDivisionError: "),
        ("[1 // 0]", "what stands there raises ZeroDivisionError: "),
        ("FAILS", "the statement that binds FAILS raises ZeroDivisionError: "),
        ("[triton.Config({'BLOCK': i}) for i in range(19_000)]", "they take too many steps to evaluate"),
        ("LONG", "the statement that binds LONG takes too many steps to evaluate"),
        ("[triton.Config({'BLOCK': 64})] * 10**8", "what stands there raises "),
        (
            "[triton.Config({'BLOCK': i}) for i in range(10**8)]",
            "it runs over 100,000,000 items, and no more than 20,000 ",
        ),
    ],
)
def test_a_list_that_cannot_be_built_is_there_with_the_reason(configs: str, reason: str) -> None:
    code = "FAILS = [1 // 0]\nLONG = [triton.Config({'BLOCK': i}) for i in range(19_000)]\n"
    (plan,) = plans(f"{code}\n@triton.autotune({configs}, key=['n'])" + KERNEL)
    assert plan.tuning is not None
    assert not plan.tuning.resolved and plan.tuning.key == ("n",)
    assert plan.tuning.reason is not None and plan.tuning.reason.startswith(reason)
