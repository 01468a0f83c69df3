"""What is found in a file by way of another that launches its kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonlint.finding import Finding
from tritonlint.lint import FileResult
from tritonlint.lint_many import Report, lint_paths
from tritonlint.other_files import said_once
from tritonlint.settings import Resolver
from tritonlint.span import Span

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


@pytest.mark.parametrize(
    ("within", "path", "other"),
    [
        ("", "pkg/first.py", "pkg/kernels.py"),
        ("tools", "../pkg/first.py", "../pkg/kernels.py"),
        ("pkg", "first.py", "kernels.py"),
    ],
)
def test_what_is_related_in_another_file_is_named_like_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, within: str, path: str, other: str
) -> None:
    for name in ("pkg", "tools"):
        (tmp_path / name).mkdir()
    (tmp_path / "pkg" / "kernels.py").write_text(
        KERNELS.replace("@triton.autotune(configs=BLOCKS, key=[])\n", "")
    )
    launch = LAUNCH.format("").replace("x.numel())\n", "x.numel(), BLOCK=1 << 21)\n")
    (tmp_path / "pkg" / "first.py").write_text(launch)
    monkeypatch.chdir(tmp_path / within)
    report = lint_paths([path], Resolver(isolated=True), gpus=["h100"], triton="3.9", least="warning", jobs=1)
    (finding,) = report.findings
    assert (finding.code, finding.path) == ("TL202", path)
    assert [one.path for one in finding.related] == [str(Path(other))]


def test_absolute_paths_stay(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "launch.py").write_text(LAUNCH.format(""))
    report = lint_paths(
        [str(tmp_path)], Resolver(isolated=True), gpus=["h100"], triton="3.9", least="warning", jobs=1
    )
    assert [finding.path for finding in report.findings] == [str(tmp_path / "kernels.py")]


def linted(folder: Path, paths: list[str], settings: str = "") -> Report:
    """Of `paths` below a folder in which launch.py launches the kernel of kernels.py."""
    (folder / "launch.py").write_text(LAUNCH.format(""))
    if not (folder / "kernels.py").exists():
        (folder / "kernels.py").write_text(KERNELS)
    (folder / "tritonlint.toml").write_text(settings)
    named = [str(folder / path) for path in paths]
    return lint_paths(named, Resolver(), gpus=["h100"], triton="3.9", least="warning", jobs=1)


@pytest.mark.parametrize("paths", [["."], ["launch.py"]])
@pytest.mark.parametrize("rule", ["[TL305]", ""])
def test_the_comments_of_its_own_file_hide_it(tmp_path: Path, paths: list[str], rule: str) -> None:
    commented = KERNELS.replace(
        '"BLOCK": 256})]', f'"BLOCK": 256}})]  # tritonlint: ignore{rule} - on purpose'
    )
    (tmp_path / "kernels.py").write_text(commented)
    report = linted(tmp_path, paths)
    assert report.findings == ()
    assert [entry.finding.code for entry in report.suppressed] == ["TL305"]


def test_the_comments_of_the_linted_file_do_not(tmp_path: Path) -> None:
    launch = LAUNCH.format("").replace("y):", "y):  # tritonlint: ignore[TL305]")
    assert launch[: launch.index("TL305")].count("\n") == KERNELS[: KERNELS.index("BLOCKS =")].count("\n")
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "launch.py").write_text(launch)
    found = lint_paths(
        [str(tmp_path / "launch.py")], Resolver(isolated=True), gpus=["h100"], triton="3.9", jobs=1
    ).findings
    assert [(one.code, Path(one.path).name) for one in found if one.severity != "info"] == [
        ("TL305", "kernels.py"), ("TL903", "launch.py")
    ]  # fmt: skip


@pytest.mark.parametrize("paths", [["."], ["launch.py"]])
@pytest.mark.parametrize(
    "settings", ['exclude = ["kernels.py"]', '[per-file-ignores]\n"kernels.py" = ["TL305"]']
)
def test_the_settings_of_its_own_file_hold(tmp_path: Path, paths: list[str], settings: str) -> None:
    assert linted(tmp_path, paths, settings).findings == ()
    other = settings.replace("kernels.py", "launch.py")
    assert len(linted(tmp_path, ["kernels.py"], other).findings) == 1


def test_a_comment_that_hides_what_a_launch_elsewhere_brings_is_used(tmp_path: Path) -> None:
    """The file alone has nothing for it to hide."""
    kernels, launch = str(tmp_path / "kernels.py"), str(tmp_path / "launch.py")
    Path(kernels).write_text("BLOCKS = []  # tritonlint: ignore[TL101]\n")

    def at(code: str, column: int, end: int) -> Finding:
        return Finding(code, code, "warning", "proven", "x", kernels, Span(1, column, 1, end))

    results = [FileResult(kernels, (at("TL903", 14, 41),)), FileResult(launch, (at("TL101", 1, 12),))]
    said = said_once(results, [kernels, launch], Resolver(isolated=True))
    assert said.shown == ()
    assert [entry.finding.code for entry in said.hidden] == ["TL101"]
    assert said_once(results[:1], [kernels], Resolver(isolated=True)).shown == results[0].findings


def test_places_that_only_the_own_file_knows_to_the_column_are_one(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS.replace('{"BLOCK": 512})', '{"BLOCK": 512}, num_warps=64)'))
    found = linted(tmp_path, ["."]).findings
    assert sorted(one.code for one in found) == ["TL102", "TL305"]


def test_a_file_that_is_gone_hides_nothing(tmp_path: Path) -> None:
    place = str(tmp_path / "gone.py")
    finding = Finding(
        code="TL305", name="duplicate-config", severity="warning", certainty="proven", path=place,
        span=Span(1, 1, 1, 2), message="m",
    )  # fmt: skip
    said = said_once([FileResult("a.py", (finding,))], ["a.py"], Resolver())
    assert [one.code for one in said.shown] == ["TL305"] and not said.hidden
