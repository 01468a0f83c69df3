"""What is found in a file by way of another that launches its kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonlint.lint_many import lint_paths
from tritonlint.settings import Resolver

KERNELS = """
import triton
import triton.language as tl


BLOCKS = [triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 256})]


@triton.autotune(configs=BLOCKS, key=[])
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)
"""
LAUNCH = """
import triton
from {}kernels import scale


def run(x, y):
    scale[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
"""


@pytest.mark.parametrize("paths", [["pkg"], ["pkg/first.py", "pkg/second.py"], ["pkg/first.py"]])
def test_it_is_said_once_under_the_name_that_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str]
) -> None:
    folder = tmp_path / "pkg"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "kernels.py").write_text(KERNELS)
    for name in ("first", "second"):
        (folder / f"{name}.py").write_text(LAUNCH.format("."))
    monkeypatch.chdir(tmp_path)
    report = lint_paths(paths, Resolver(isolated=True), gpus=["h100"], triton="3.9", least="warning", jobs=1)
    (finding,) = report.findings
    assert (finding.code, finding.path) == ("TL305", str(Path("pkg", "kernels.py")))
    assert {one.path for one in finding.related} <= {finding.path}


def test_absolute_paths_stay(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "launch.py").write_text(LAUNCH.format(""))
    report = lint_paths(
        [str(tmp_path)], Resolver(isolated=True), gpus=["h100"], triton="3.9", least="warning", jobs=1
    )
    assert [finding.path for finding in report.findings] == [str(tmp_path / "kernels.py")]
