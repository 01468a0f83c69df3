"""estimate, configs, matrix, gpus and rule from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import tritonlint
from tests.samples import ADD, GEMM

TUNED = GEMM.replace(
    "@triton.jit\ndef gemm",
    """@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=4),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8},
                      num_warps=8, num_stages=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def gemm""",
)
FIELDS = {
    "shared_bytes", "shared_exact", "shared_lower_bound", "tensor_memory_columns", "registers",
    "registers_low", "registers_high", "spills", "threads", "warps", "tensor_cores", "ctas_per_sm",
    "occupancy", "limiter", "limits", "fits", "why_not", "waves", "flops", "bytes_min", "bytes_tiled",
    "bytes_dram", "time_ms", "bound", "certainty", "assumptions", "steps",
}  # fmt: skip
SETS = ["--set", "M=4096", "--set", "N=4096", "--set", "K=4096", "--grid", "1024"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernels")
    (path / "gemm.py").write_text(TUNED, encoding="utf-8")
    (path / "add.py").write_text(ADD, encoding="utf-8")
    return path


def test_an_estimate_has_the_promised_fields(folder: Path) -> None:
    done = tritonlint(
        "estimate", "gemm.py::gemm", "--gpu", "RTX 3070", *SETS, "--output-format", "json", cwd=folder
    )
    estimate = done.json
    assert done.status == 0 and set(estimate) == FIELDS
    assert estimate["limits"].keys() == {"threads", "registers", "shared memory", "blocks", "tensor memory"}
    assert estimate["waves"]["programs"] == 1024 and estimate["flops"] == 137_438_953_472
    assert estimate["shared_bytes"] == 65_536 and estimate["shared_exact"] is True


def test_the_textbook_says_what_the_teaching_material_says(folder: Path) -> None:
    """The seed of the project: a GEMM of 4096^3 on an RTX 3070."""
    done = tritonlint(
        "estimate", "gemm.py::gemm", "--gpu", "rtx3070", *SETS, "--model", "textbook",
        "--output-format", "json", cwd=folder,
    )  # fmt: skip
    estimate = done.json
    assert (estimate["shared_bytes"], estimate["registers"]) == (98_304, 168)
    assert estimate["limits"] == {
        "threads": 12, "registers": 3, "shared memory": 1, "blocks": 16, "tensor memory": None,
    }  # fmt: skip
    assert (estimate["limiter"], estimate["ctas_per_sm"]) == ("shared memory", 1)
    assert estimate["waves"] == {
        "programs": 1024, "per_wave": 46, "full": 22, "last": 0.26087, "efficiency": 0.967864,
    }  # fmt: skip
    assert estimate["bytes_min"] == 100_663_296 and estimate["bytes_tiled"] == 2_181_038_080
    assert (
        round(estimate["time_ms"]["compute"], 2) == 3.44 and round(estimate["time_ms"]["memory"], 2) == 4.87
    )
    assert estimate["bound"] == "memory"


def test_text_shows_steps_and_where_the_textbook_differs(folder: Path) -> None:
    done = tritonlint("estimate", "gemm.py::gemm", "--gpu", "rtx3070", *SETS, cwd=folder)
    assert "gemm on rtx3070, Triton " in done.out
    assert "waves: 1,024 programs / 46 per wave = 23 waves, last wave 12/46 = 26%" in done.out
    assert "the textbook model says 98,304 B of shared memory, not 65,536" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gemm.py::gem", "--gpu", "t4"], "has no kernel gem; did you mean gemm?"),
        (["none.py::gemm", "--gpu", "t4"], "none.py: cannot be read"),
        (["gemm.py::gemm"], "--gpu NAME is needed"),
        (["gemm.py", "--gpu", "t4"], "FILE::KERNEL"),
        (["gemm.py::gemm", "--gpu", "h10"], "unknown GPU 'h10'"),
        (["gemm.py::gemm", "--gpu", "t4", "--set", "BLOCK"], "NAME=VALUE"),
        (["gemm.py::gemm", "--gpu", "t4", "--set", "BLOK_M=1"], "did you mean BLOCK_M"),
        (["gemm.py::gemm", "--gpu", "t4", "--type", "a_ptr=half"], '"*fp16", "i32"'),
        (["gemm.py::gemm", "--gpu", "t4", "--num-warps", "3"], "a power of two"),
        (["gemm.py::gemm", "--gpu", "t4", "--num-stages", "-1"], "num_stages: 0 or more"),
        (["gemm.py::gemm", "--gpu", "h100", "--num-ctas", "3"], "num_ctas: a power of two"),
        (["gemm.py::gemm", "--gpu", "t4", "--maxnreg", "0"], "maxnreg: 1 or more"),
        (["gemm.py::gemm", "--gpu", "t4", "--grid", "0"], "grid: numbers from 1 on"),
        (["gemm.py::gemm", "--gpu", "t4", "--grid", "70000,70000"], "more than a launch can have"),
        (["gemm.py::gemm", "--gpu", "t4", "--set", "BLOCK_M=abc"], "BLOCK_M: 'abc' is of the wrong kind"),
        (["gemm.py::gemm", "--gpu", "t4", "--set", "BLOCK_M=null"], "BLOCK_M: None is of the wrong kind"),
        (["gemm.py::gemm", "--gpu", "t4", "--grid", "1,2,3,4"], "one to three"),
        (["add.py::add", "--gpu", "t4"], "BLOCK not given"),
    ],
)
def test_what_cannot_be_estimated_is_one_line(folder: Path, arguments: list[str], said: str) -> None:
    done = tritonlint("estimate", *arguments, cwd=folder)
    assert done.status == 2 and said in done.err, done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_batch_answers_in_order_and_never_stops(folder: Path, jobs: str) -> None:
    good = {"file": "add.py", "kernel": "add", "gpu": "h100", "constants": {"BLOCK": 1024}, "grid": [64]}
    lines = [
        json.dumps(good),
        "not json",
        "",
        "[]",
        json.dumps({**good, "gpu": "h10"}),
        json.dumps({**good, "constants": {"BLOCK": 1000}}),
        json.dumps({**good, "num_warps": "four"}),
        json.dumps({**good, "num_warps": 8}),
        json.dumps({**good, "grid": [0]}),
        json.dumps({**good, "maxnreg": 0}),
        json.dumps({**good, "num_stages": -1}),
        json.dumps({**good, "constants": {"BLOCK": "abc"}}),
    ]
    (folder / "jobs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = tritonlint("estimate", "--batch", "jobs.jsonl", "--jobs", jobs, cwd=folder)
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.status == 0 and len(answers) == len(lines)
    assert ["error" in answer for answer in answers] == [False, *6 * [True], False, *4 * [True]]
    assert answers[0]["threads"] == 128 and answers[7]["threads"] == 256
    assert set(answers[0]) == FIELDS


@pytest.mark.parametrize(
    ("constants", "error"),
    [
        ({}, ""),
        ({"ACT": None, "DT": "bf16", "BIAS": 1.5, "SHAPE": None}, ""),
        ({"BIAS": "q"}, "BIAS: 'q' is of the wrong kind for line 9: v += BIAS"),
        ({"DT": "nonsense"}, "DT: 'nonsense' is of the wrong kind for line 5: "),
        ({"BLOCK": "fp16"}, "BLOCK: fp16 is of the wrong kind for line 4: "),
    ],
)
def test_constants_are_of_any_kind_that_the_kernel_takes(
    tmp_path: Path, constants: dict[str, object], error: str
) -> None:
    (tmp_path / "k.py").write_text(
        """\
import triton, triton.language as tl
@triton.jit
def k(x, y, n, BLOCK: tl.constexpr, ACT: tl.constexpr, DT: tl.constexpr, BIAS: tl.constexpr, SHAPE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(DT)
    if ACT == "relu":
        v = tl.maximum(v, 0.0)
    if BIAS is not None:
        v += BIAS
    tl.store(y + at, v, mask=at < n)
""",
        encoding="utf-8",
    )
    given = {"BLOCK": 1024, "ACT": "relu", "DT": "fp32", "BIAS": None, "SHAPE": [1, 2], **constants}
    job = {"file": "k.py", "kernel": "k", "gpu": "h100", "constants": given}
    answer = tritonlint("estimate", "--batch", "-", cwd=tmp_path, stdin=json.dumps(job)).json
    assert answer["error"].startswith(error) if error else answer["shared_exact"], answer


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"constants": {"BLOCK": {"a": 1}}}, "constants: BLOCK: a number, text, "),
        ({"constants": {"BLOCK": [1, [{}]]}}, "constants: BLOCK: a number, text, "),
        ({"constants": {"BLOCK": [1, 2]}}, "BLOCK: (1, 2) is of the wrong kind for line "),
        ({"divisible_by_16": ["n", "m"]}, "add has no parameter m"),
        ({"file": "add\0.py"}, "'add\\x00.py': cannot be read: "),
    ],
)
def test_a_batch_refuses_what_means_nothing(folder: Path, changed: dict[str, object], error: str) -> None:
    job = {"file": "add.py", "kernel": "add", "gpu": "h100", "constants": {"BLOCK": 1024}, **changed}
    answer = tritonlint("estimate", "--batch", "-", cwd=folder, stdin=json.dumps(job)).json
    assert answer.get("error", "").startswith(error), answer


def test_a_batch_names_the_fields_that_it_does_not_know(folder: Path) -> None:
    job = {"file": "add.py", "kernel": "add", "gpu": "h100", "constants": {"BLOCK": 1024}}
    more = {**job, "num_warp": 8, "id": 3, "model": "compiler", "values": {"n": 4096}}
    answer = tritonlint("estimate", "--batch", "-", cwd=folder, stdin=json.dumps(more)).json
    first, second = answer["steps"][-2:]
    assert first.startswith("num_warp: no field of a job; did you mean num_warps") and second.startswith(
        "id: no "
    )
    assert answer["threads"] == 128


@pytest.mark.parametrize(
    ("gpu", "triton", "ctas", "said"),
    [
        ("a100", "3.9", 2, "num_ctas=2: clusters need sm_90 or newer"),
        ("a100", "3.3", 2, "num_ctas=2: clusters need sm_90 or newer"),
        ("a100", "3.2", 2, "num_ctas=2: clusters need sm_90 or newer"),
        ("mi300x", "3.9", 2, "num_ctas=2: clusters are not supported"),
        ("h100", "3.9", 32, "num_ctas=32: a cluster has at most 16"),
        ("mi300x", "3.4", 2, ""),
        ("a100", "2.1", 2, ""),
        ("a100", "3.9", 1, ""),
        ("h100", "3.9", 2, ""),
    ],
)
def test_a_cluster_that_is_refused_does_not_fit(
    folder: Path, gpu: str, triton: str, ctas: int, said: str
) -> None:
    """As the releases compile it; the launch of TL205."""
    job = {"file": "add.py", "kernel": "add", "constants": {"BLOCK": 1024}}
    line = json.dumps({**job, "gpu": gpu, "triton": triton, "num_ctas": ctas})
    answer = tritonlint("estimate", "--batch", "-", cwd=folder, stdin=line).json
    assert answer["fits"] is not bool(said)
    assert [one[: len(said)] for one in answer["why_not"]] == ([said] if said else [])


def test_configs_lists_what_lists_and_launches_resolve_to(folder: Path) -> None:
    done = tritonlint("configs", "gemm.py", "--output-format", "json", cwd=folder)
    (site,) = done.json["sites"]
    assert site["kind"] == "autotune" and site["kernel"] == "gemm" and site["resolved"] is True
    assert TUNED.splitlines()[site["line"] - 1].startswith("def gemm")
    assert site["configs"][1] == {
        "line": site["configs"][0]["line"] + 1,
        "kwargs": {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8},
        "num_warps": 8, "num_stages": 4, "num_ctas": 1, "maxnreg": None,
    }  # fmt: skip
    assert "BLOCK_N=256" in tritonlint("configs", ".", cwd=folder).out


def test_configs_names_every_value_that_a_launch_may_give(tmp_path: Path) -> None:
    source = """import triton
import triton.language as tl

@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def k(x, n, DIM: tl.constexpr, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK) + DIM, n)

def run(x, n):
    d = x.shape[1]
    assert d in {64, 128}
    k[(1,)](x, n, DIM=d, EVEN=True)
"""
    (tmp_path / "k.py").write_text(source, encoding="utf-8")
    _, launch = tritonlint("configs", "k.py", "--output-format", "json", cwd=tmp_path).json["sites"]
    assert launch["constants"] == {"DIM": {"one_of": [64, 128]}, "EVEN": True}
    assert launch["resolved"] is True


def test_places_in_a_notebook_name_the_cell(tmp_path: Path) -> None:
    cells = [
        "import triton\nimport triton.language as tl",
        "@triton.autotune(\n    [triton.Config({'BLOCK': 64})], key=['n'])\n@triton.jit\n"
        "def k(x, n, BLOCK: tl.constexpr):\n    tl.store(x + tl.arange(0, BLOCK), nowhere)",
    ]
    document = {
        "cells": [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    (tmp_path / "nb.ipynb").write_text(json.dumps(document), encoding="utf-8")
    (site,) = tritonlint("configs", "nb.ipynb", "--output-format", "json", cwd=tmp_path).json["sites"]
    assert (site["cell"], site["line"]) == (2, 4)
    assert (site["configs"][0]["cell"], site["configs"][0]["line"]) == (2, 2)
    text = tritonlint("configs", "nb.ipynb", cwd=tmp_path).out
    assert text.startswith("nb.ipynb:cell 2:4: k: 1 config\n") and "\n  cell 2:2: BLOCK=64" in text
    (row,) = tritonlint("matrix", "nb.ipynb", "--output-format", "json", cwd=tmp_path).json["rows"]
    assert (row["cell"], row["line"]) == (2, 2)
    steps = tritonlint("estimate", "nb.ipynb::k", "--gpu", "h100", "--set", "BLOCK=64", cwd=tmp_path).out
    assert "not exact: cell 2, line 5: " in steps


@pytest.mark.parametrize("command", ["configs", "matrix"])
def test_a_file_that_does_not_parse_is_named_beside_the_rest(tmp_path: Path, command: str) -> None:
    (tmp_path / "k.py").write_text(TUNED + "\n\ndef broken(:\n    pass\n", encoding="utf-8")
    done = tritonlint(command, "k.py", cwd=tmp_path)
    line = TUNED.count("\n") + 3
    assert done.status == 2 and done.err.startswith(f"k.py:{line}:12: error: ") and done.err.count("\n") == 1
    assert "gemm" in done.out


def test_matrix_in_three_formats(folder: Path) -> None:
    run = ["matrix", "gemm.py", "--gpu", "rtx3070", "--gpu", "h100"]
    found = tritonlint(*run, "--output-format", "json", cwd=folder).json
    assert found["gpus"] == ["rtx3070", "h100"] and len(found["rows"]) == 2
    cell = found["rows"][1]["cells"]["rtx3070"]
    assert cell["state"] == "no" and cell["over_by"] == 147_456 - 101_376
    assert found["rows"][1]["cells"]["h100"]["state"] == "fits"
    text = tritonlint(*run, cwd=folder).out
    assert "+46,080 B" in text and "\x1b[" not in text
    markdown = tritonlint(*run, "--output-format", "markdown", cwd=folder).out
    assert "| config | rtx3070 | h100 |\n|---|---|---|\n" in markdown and "x +46,080 B" in markdown


def test_gpus_show_their_sources(folder: Path) -> None:
    done = tritonlint("gpus", "NVIDIA_GeForce_RTX_4090", cwd=folder)
    assert done.status == 0 and "shared_bytes_per_cta" in done.out and "101,376  (" in done.out
    everything = tritonlint("gpus", "--output-format", "json", cwd=folder).json["gpus"]
    assert {"h100", "mi300x", "sm_90", "gfx942"} <= {gpu["name"] for gpu in everything}
    assert tritonlint("gpus", "h10", cwd=folder).status == 2


def test_rules_explain_themselves(folder: Path) -> None:
    by_code = tritonlint("rule", "tl101", cwd=folder).out
    assert by_code == tritonlint("rule", "shared-memory-exceeded", cwd=folder).out
    assert "Why" in by_code and "```" not in by_code
    assert tritonlint("rule", "TL101", "--output-format", "markdown", cwd=folder).out.startswith("# TL101 ")
    assert len(tritonlint("rule", "--output-format", "json", cwd=folder).json) > 40
    wrong = tritonlint("rule", "TL1O1", cwd=folder)
    assert wrong.status == 2 and "did you mean " in wrong.err and "TL101" in wrong.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shared-memory", "unknown rule 'shared-memory'; did you mean shared-memory-exceeded"),
        ("TL1", "TL1 is no single rule; it stands for TL101, TL102, "),
        ("nope", "unknown rule 'nope'; `tritonlint rule` lists the known ones"),
        ("", "unknown rule ''; `tritonlint rule` lists the known ones"),
    ],
)
def test_a_name_that_is_no_rule(folder: Path, name: str, said: str) -> None:
    done = tritonlint("rule", name, cwd=folder)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1


def test_an_estimate_takes_sizes_and_grid_from_the_launch_in_the_file() -> None:
    """The launch that the file assumes, under one of the configs of its list, named by --set."""
    root = Path(__file__).parents[2]
    sets = [
        part for pair in ("BLOCK_M=128", "BLOCK_N=128", "BLOCK_K=64", "GROUP_M=8") for part in ("--set", pair)
    ]
    done = tritonlint(
        "estimate", "examples/gemm.py::gemm", "--gpu", "rtx3070", *sets, "--num-stages", "3", cwd=root
    )
    assert (
        "waves: 1,024 programs / 46 per wave = 23 waves, last wave 12/46 = 26%, efficiency 96.8%" in done.out
    )
    other = tritonlint(
        "estimate", "examples/gemm.py::gemm", "--gpu", "rtx3070", *sets, "--set", "M=1024", cwd=root
    )
    assert "the grid is not known" in other.out


def test_what_tritonlint_wrote_is_no_tuned_file(tmp_path: Path) -> None:
    """A baseline and reports quote configs; none of them is a file of configs."""
    twice = TUNED.replace('"BLOCK_N": 256', '"BLOCK_N": 128').replace(
        "num_warps=8, num_stages=4", "num_warps=4"
    )
    (tmp_path / "gemm.py").write_text(twice, encoding="utf-8")
    tritonlint("gemm.py", "--write-baseline", "base.json", cwd=tmp_path)
    for name in ("json", "sarif"):
        tritonlint("gemm.py", "--output-format", name, "--output-file", f"{name}.json", cwd=tmp_path)
    listed = tritonlint("configs", "gemm.py", "--output-format", "json", cwd=tmp_path)
    (tmp_path / "sites.json").write_text(listed.out, encoding="utf-8")
    for name in ("base", "json", "sarif", "sites"):
        assert '"num_warps"' in (tmp_path / f"{name}.json").read_text(encoding="utf-8")
    again = tritonlint("configs", ".", "--output-format", "json", cwd=tmp_path)
    assert {site["path"] for site in again.json["sites"]} == {"./gemm.py"}
