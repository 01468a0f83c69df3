"""The setting `config-functions`."""

from __future__ import annotations

import json
from pathlib import Path

from tritonlint.source import parse_file, read, read_plans
from tritonlint.source.hooks import hooks_from

from .reading import H100, HEAD, KERNEL

CODE = """
from somewhere import get_tuned_config
@triton.autotune(configs=get_tuned_config("mm"), key=["n"])"""


def test_a_file_stands_for_a_function(tmp_path: Path) -> None:
    data = {"mm": [{"BLOCK": 64, "num_warps": 8}], "add": [{"BLOCK": 1024, "num_warps": 4}]}
    (tmp_path / "tuned.json").write_text(json.dumps(data))
    hooks = hooks_from(("somewhere.get_tuned_config:tuned.json",), tmp_path)
    (plan,) = read_plans(parse_file(read("a.py", HEAD + CODE + KERNEL)), H100, hooks=hooks).plans
    assert plan.tuning is not None and plan.tuning.resolved
    assert [(dict(one.kwargs), one.num_warps) for one in plan.tuning.configs] == [({"BLOCK": 64}, 8)]
    assert plan.tuning.configs[0].path.endswith("tuned.json")


def test_a_bare_name_says_that_only_a_run_knows() -> None:
    hooks = hooks_from(("get_tuned_config",))
    (plan,) = read_plans(parse_file(read("a.py", HEAD + CODE + KERNEL)), H100, hooks=hooks).plans
    assert plan.tuning is not None and not plan.tuning.resolved
    assert "only a run knows" in (plan.tuning.reason or "")


def test_a_named_decorator_tunes() -> None:
    code = "from somewhere import best_of\nLIST = unknown()\n@best_of(configs=LIST, key=['n'])" + KERNEL
    bare = read_plans(parse_file(read("a.py", HEAD + code)), H100).plans
    assert bare[0].tuning is None
    hooked = read_plans(parse_file(read("a.py", HEAD + code)), H100, hooks=hooks_from(("best_of",))).plans
    assert hooked[0].tuning is not None and not hooked[0].tuning.resolved
    assert hooked[0].tuning.key == ("n",)


def test_a_missing_file_is_a_reason(tmp_path: Path) -> None:
    hooks = hooks_from(("get_tuned_config:none.json",), tmp_path)
    (plan,) = read_plans(parse_file(read("a.py", HEAD + CODE + KERNEL)), H100, hooks=hooks).plans
    assert plan.tuning is not None and "holds no configs" in (plan.tuning.reason or "")


def test_yaml_stands_for_a_function_too(tmp_path: Path) -> None:
    text = """\
mm:
- META:
    BLOCK: 64
  num_warps: 8
- {META: {BLOCK: 128}, num_warps: 4, num_stages: 2}
add:
- BLOCK: 1024
  num_warps: 4
"""
    (tmp_path / "tuned.yaml").write_text(text)
    hooks = hooks_from(("get_tuned_config:tuned.yaml",), tmp_path)
    (plan,) = read_plans(parse_file(read("a.py", HEAD + CODE + KERNEL)), H100, hooks=hooks).plans
    assert plan.tuning is not None and plan.tuning.resolved
    found = plan.tuning.configs
    assert [(dict(one.kwargs), one.num_warps) for one in found] == [({"BLOCK": 64}, 8), ({"BLOCK": 128}, 4)]
    assert [one.span.line for one in found] == [2, 5]


def test_yaml_that_is_broken_or_holds_no_config_leaves_the_list_unknown(tmp_path: Path) -> None:
    for number, text in enumerate(
        ("a: [1, 2", "", "mm: !!python/object:os.system {num_warps: x}", "- " * 3000)
    ):
        (tmp_path / f"{number}.yaml").write_text(text)
        hooks = hooks_from((f"get_tuned_config:{number}.yaml",), tmp_path)
        (plan,) = read_plans(parse_file(read("a.py", HEAD + CODE + KERNEL)), H100, hooks=hooks).plans
        assert plan.tuning is not None and not plan.tuning.resolved
        assert "holds no configs" in (plan.tuning.reason or "")
