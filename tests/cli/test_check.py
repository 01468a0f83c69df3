"""`tritonlint check` from outside: exit statuses, paths, selections, formats."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import tritonlint

BROKEN = "import triton\n\n\ndef f(:\n    pass\n"  # TL901, error
DUPLICATE = """\
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 256}, num_warps=4),
        triton.Config({"BLOCK": 256}, num_warps=4),
        triton.Config({"BLOCK": 512}, num_warps=4),
    ],
    key=["n"],
)
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offs < n
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=inside) * 2.0, mask=inside)
"""  # TL305, warning
CLEAN = "import os\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "duplicate.py").write_text(DUPLICATE, encoding="utf-8")
    (tmp_path / "clean.py").write_text(CLEAN, encoding="utf-8")
    return tmp_path


def test_nothing_found_is_status_0(folder: Path) -> None:
    done = tritonlint("clean.py", cwd=folder)
    assert done.status == 0
    assert "no findings. 1 file read, 0 with Triton." in done.out


def test_a_finding_is_status_1_and_check_is_the_default_command(folder: Path) -> None:
    short = tritonlint("broken.py", "--output-format", "concise", cwd=folder)
    long = tritonlint("check", "broken.py", "--output-format", "concise", cwd=folder)
    assert short.status == long.status == 1
    assert short.out == long.out
    assert short.out.startswith("broken.py:4:7: error TL901 ")


def test_options_may_come_before_the_path(folder: Path) -> None:
    assert tritonlint("--gpu", "h100", "broken.py", cwd=folder).status == 1


def test_fail_on_decides_about_the_status(folder: Path) -> None:
    statuses = {
        level: tritonlint("duplicate.py", "--fail-on", level, cwd=folder).status
        for level in ("error", "warning", "never")
    }
    assert statuses == {"error": 0, "warning": 1, "never": 0}


def test_severity_decides_what_is_shown_and_counts(folder: Path) -> None:
    done = tritonlint("duplicate.py", "--severity", "error", "--output-format", "json", cwd=folder)
    assert done.status == 0 and done.codes == []


def test_a_named_path_that_is_not_there_is_status_2_and_the_rest_is_linted(folder: Path) -> None:
    done = tritonlint("none.py", "broken.py", "--output-format", "json", cwd=folder)
    assert done.status == 2
    assert done.codes == ["TL901"]
    assert "none.py: error: no such file or folder" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check",), "no path given"),
        (("clean.py", "--gpu", "h10"), "unknown GPU 'h10'; near: h100"),
        (("clean.py", "--triton", "1.0"), "unknown Triton release '1.0'"),
        (("clean.py", "--output-format", "xml"), "'xml' is not one of"),
        (("clean.py", "--no-such-option"), "No such option"),
        (("duplicate.py", "--select", "TL999"), "unknown rule 'TL999'"),
        (("duplicate.py", "--ignore", "duplicate-confg"), "did you mean duplicate-config"),
        (("-", "clean.py"), "cannot be combined"),
        (("clean.py", "--output-file", "no/such/folder/x"), "cannot be written"),
        (("clean.py", "--baseline", "none.json"), "none.json: cannot be read"),
        (("clean.py", "--baseline", "clean.py"), "is damaged: not JSON"),
        (("clean.py", "--since", "main"), "git"),
        (("clean.py", "--write-baseline", "b.json", "--since", "main"), "not with --since"),
        (("clean.py", "--config", "none.toml"), "cannot be read"),
    ],
)
def test_wrong_arguments_are_one_line_and_status_2(
    folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = tritonlint(*arguments, cwd=folder)
    assert done.status == 2, done.out + done.err
    assert said.lower() in done.err.lower()
    assert "Traceback" not in done.err
    assert not (folder / "b.json").exists()


def test_without_arguments_the_help_is_shown_and_status_2(folder: Path) -> None:
    done = tritonlint(cwd=folder)
    assert (done.status, done.out) == (2, "")
    assert done.err == tritonlint("--help", cwd=folder).out


def test_wrong_settings_are_one_line_and_status_2(folder: Path) -> None:
    (folder / "tritonlint.toml").write_text("gpu = ['t4']\n", encoding="utf-8")
    done = tritonlint("broken.py", cwd=folder)
    assert done.status == 2
    assert done.err.strip().endswith("tritonlint.toml:1: gpu: unknown setting; did you mean gpus?")
    assert done.out == ""


def test_select_and_ignore_take_codes_families_and_names(folder: Path) -> None:
    def codes(*arguments: str) -> list[str]:
        return tritonlint(
            "broken.py", "duplicate.py", "--output-format", "json", *arguments, cwd=folder
        ).codes

    assert codes() == ["TL901", "TL305"]
    assert codes("--select", "TL9") == ["TL901"]
    assert codes("--select", "duplicate-config,TL101") == ["TL305"]
    assert codes("--ignore", "TL3") == ["TL901"]
    assert codes("--select", "TL305", "--ignore", "TL3") == ["TL305"]


def test_standard_input_takes_a_name(folder: Path) -> None:
    done = tritonlint("-", "--stdin-filename", "k.py", "--output-format", "json", cwd=folder, stdin=BROKEN)
    assert done.status == 1
    assert done.json["findings"][0]["path"] == "k.py"


def test_json_is_as_promised(folder: Path) -> None:
    done = tritonlint("duplicate.py", "--gpu", "RTX 4090", "--output-format", "json", cwd=folder)
    report = done.json
    assert report["version"] == 1
    assert report["targets"] == ["rtx4090"]
    (finding,) = report["findings"]
    assert set(finding) == {
        "code", "name", "severity", "certainty", "message", "path", "range", "kernel", "gpus", "triton",
        "config", "estimate", "assumptions", "related", "help", "fixes",
    }  # fmt: skip
    assert finding["code"] == "TL305" and finding["name"] == "duplicate-config"
    assert finding["severity"] == "warning"
    assert finding["range"]["start"]["line"] in (7, 8)
    assert finding["kernel"] == "scale"
    summary = report["summary"]
    assert (summary["files"], summary["files_with_triton"], summary["warning"]) == (1, 1, 1)


def test_full_shows_the_source_and_carets(folder: Path) -> None:
    done = tritonlint("duplicate.py", cwd=folder)
    assert "warning[TL305]: " in done.out
    assert ' | triton.Config({"BLOCK": 256}, num_warps=4)' in done.out
    assert "^^^^^^" in done.out
    assert "Checked for a100, h100, rtx4090 (default), Triton " in done.out
    assert "\x1b[" not in done.out


def test_colour_can_be_forced_and_refused(folder: Path) -> None:
    assert "\x1b[" in tritonlint("broken.py", cwd=folder, env={"FORCE_COLOR": "1"}).out
    both = {"FORCE_COLOR": "1", "NO_COLOR": "1"}
    assert "\x1b[" not in tritonlint("broken.py", cwd=folder, env=both).out


def test_an_output_file_is_written_whole(folder: Path) -> None:
    done = tritonlint("broken.py", "--output-format", "json", "--output-file", "out.json", cwd=folder)
    assert done.status == 1 and done.out == ""
    assert json.loads((folder / "out.json").read_text(encoding="utf-8"))["findings"]
    assert [path.name for path in folder.iterdir() if path.name.endswith(".tmp")] == []


def test_statistics_count_rules(folder: Path) -> None:
    done = tritonlint(".", "--statistics", cwd=folder)
    assert "1  TL305 duplicate-config (warning)" in done.out
    assert "1  TL901 syntax-error (error)" in done.out


def test_suppressions_hide_and_are_counted(folder: Path) -> None:
    text = DUPLICATE.replace("num_warps=4),", "num_warps=4),  # tritonlint: ignore[TL305] on purpose")
    (folder / "duplicate.py").write_text(text, encoding="utf-8")
    done = tritonlint("duplicate.py", "--ignore", "TL903", "--output-format", "json", cwd=folder)
    assert done.status == 0
    assert done.json["summary"]["suppressed"] == 1


def test_reasons_can_be_required(folder: Path) -> None:
    text = DUPLICATE.replace("num_warps=4),", "num_warps=4),  # tritonlint: ignore[TL305]")
    (folder / "duplicate.py").write_text(text, encoding="utf-8")
    (folder / "tritonlint.toml").write_text("require-reasons = true\nignore = ['TL903']\n", encoding="utf-8")
    assert tritonlint("duplicate.py", "--output-format", "json", cwd=folder).codes == ["TL305"]


def test_settings_change_severities_and_files(folder: Path) -> None:
    (folder / "tritonlint.toml").write_text(
        'gpus = ["t4"]\nexclude = ["broken.py"]\n[severity]\nTL305 = "error"\n', encoding="utf-8"
    )
    done = tritonlint(".", "broken.py", "--output-format", "json", cwd=folder)
    assert [(one["code"], one["severity"]) for one in done.json["findings"]] == [("TL305", "error")]
    assert done.json["targets"] == ["t4"]
    assert {entry["reason"] for entry in done.json["summary"]["skipped"]} == {"excluded by settings"}


def test_per_file_ignores(folder: Path) -> None:
    (folder / "tritonlint.toml").write_text('[per-file-ignores]\n"dup*.py" = ["TL3"]\n', encoding="utf-8")
    assert tritonlint(".", "--output-format", "json", cwd=folder).codes == ["TL901"]


def test_overrides_choose_gpus_and_rules_by_path(folder: Path) -> None:
    (folder / "amd").mkdir()
    (folder / "amd" / "copy.py").write_text(DUPLICATE, encoding="utf-8")
    (folder / "tritonlint.toml").write_text(
        'gpus = ["t4"]\n[[overrides]]\npaths = ["amd/"]\ngpus = ["mi300x"]\nignore = ["TL3"]\n',
        encoding="utf-8",
    )
    done = tritonlint(".", "--output-format", "json", cwd=folder)
    assert [Path(one["path"]).name for one in done.json["findings"]] == ["broken.py", "duplicate.py"]
    assert sorted(done.json["targets"]) == ["mi300x", "t4"]


def test_bad_files_each_get_their_line_and_the_rest_is_linted(folder: Path) -> None:
    (folder / "bytes.py").write_bytes(b"import triton\nx = '\xff\xfe'\n")
    (folder / "null.py").write_bytes(b"import triton\n\0\n")
    (folder / "empty.py").write_bytes(b"")
    (folder / "cut.ipynb").write_text('{"cells": [triton', encoding="utf-8")
    with open(folder / "large.py", "wb") as file:
        file.truncate(50 * 1024 * 1024)
    os.symlink("nowhere.py", folder / "dangling.py")
    done = tritonlint(".", "--output-format", "json", cwd=folder)
    by_path = {finding["path"]: finding["code"] for finding in done.json["findings"]}
    assert {Path(path).name for path in by_path} == {
        "broken.py", "bytes.py", "null.py", "cut.ipynb", "duplicate.py",
    }  # fmt: skip
    assert done.status == 1
    assert {Path(entry["path"]).name for entry in done.json["summary"]["skipped"]} == {"large.py"}
    assert "dangling.py: error: a link that leads nowhere" in done.err


def test_a_pipe_that_closes_early_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m tritonlint broken.py duplicate.py | head -n 1"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr and "error: tritonlint failed" not in done.stderr


def test_workers_give_the_same_in_the_same_order(folder: Path) -> None:
    for number in range(6):
        (folder / f"k{number}.py").write_text(DUPLICATE.replace("scale", f"scale{number}"), encoding="utf-8")
    one = tritonlint(".", "--output-format", "json", "--jobs", "1", cwd=folder)
    two = tritonlint(".", "--output-format", "json", "--jobs", "2", cwd=folder)
    assert one.json["findings"] == two.json["findings"]
    assert len(one.json["findings"]) == 8


def test_show_settings_says_where_each_comes_from(folder: Path) -> None:
    (folder / "tritonlint.toml").write_text('triton = "3.4"\n', encoding="utf-8")
    done = tritonlint("broken.py", "--show-settings", "--select", "TL1", cwd=folder)
    assert done.status == 0
    assert f'triton = "3.4"  # {folder / "tritonlint.toml"}:1' in done.out
    assert 'select = ["TL1"]  # command line' in done.out


def test_show_files(folder: Path) -> None:
    done = tritonlint(".", "--show-files", cwd=folder)
    assert [Path(line).name for line in done.out.splitlines()] == ["broken.py", "clean.py", "duplicate.py"]


def _notebook(*cells: str) -> str:
    first = {"cell_type": "markdown", "source": ["# Triton"]}
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": [first, *code], "metadata": {}}, indent=1)


def test_a_finding_in_a_notebook_stands_in_its_cell(tmp_path: Path) -> None:
    head, body = DUPLICATE.split("\n\n\n")
    (tmp_path / "nb.ipynb").write_text(_notebook(head, body), encoding="utf-8")
    concise = tritonlint("nb.ipynb", "--output-format", "concise", cwd=tmp_path)
    assert concise.out.startswith("nb.ipynb:cell 3:4:9: warning TL305 ")
    assert "--fix mends" not in concise.out
    assert "1 fix in notebooks to be made by hand: --fix does not write notebooks." in concise.out
    full = tritonlint("nb.ipynb", cwd=tmp_path)
    assert "--> nb.ipynb:cell 3:4:9\n" in full.out
    assert '4 | triton.Config({"BLOCK": 256}, num_warps=4),\n' in full.out
    assert "see: nb.ipynb:cell 3:3:9: " in full.out
    (finding,) = tritonlint("nb.ipynb", "--output-format", "json", cwd=tmp_path).json["findings"]
    assert (finding["path"], finding["cell"]) == ("nb.ipynb", 3)
    assert finding["range"]["start"] == {"line": 4, "column": 9}
    (edit,) = finding["fixes"][0]["edits"]
    assert edit["cell"] == 3 and edit["range"]["start"]["line"] == 4
    github = tritonlint("nb.ipynb", "--output-format", "github", cwd=tmp_path)
    assert "::cell 3, line 4: " in github.out
    (result,) = tritonlint("nb.ipynb", "--output-format", "sarif", cwd=tmp_path).json["runs"][0]["results"]
    assert result["message"]["text"].startswith("cell 3, line 4: ") and "fixes" not in result
    assert result["relatedLocations"][0]["message"]["text"].startswith("cell 3, line 3: ")


def test_fix_leaves_notebooks_alone(tmp_path: Path) -> None:
    text = _notebook(DUPLICATE)
    (tmp_path / "nb.ipynb").write_text(text, encoding="utf-8")
    done = tritonlint("nb.ipynb", "--fix", cwd=tmp_path)
    assert done.status == 1 and "--fix does not write notebooks" in done.out
    assert (tmp_path / "nb.ipynb").read_text(encoding="utf-8") == text
    piped = tritonlint("-", "--fix", "--stdin-filename", "nb.ipynb", cwd=tmp_path, stdin=text)
    assert piped.status == 2 and piped.out == ""


@pytest.mark.parametrize("name", ["E=1,N=1,device_name=NVIDIA_A100.json", "cut.ipynb"])
def test_a_file_that_is_no_json_is_said_by_its_name(name: str, tmp_path: Path) -> None:
    """Nothing in what is left of it speaks of Triton; a JSON file of another name is none of our business."""
    for other in (name, "package.json"):
        (tmp_path / other).write_text('{"cells": [1,', encoding="utf-8")
    done = tritonlint(".", "--output-format", "json", cwd=tmp_path)
    assert [(f["code"], Path(f["path"]).name) for f in done.json["findings"]] == [("TL901", name)]
    for text in ('{"cells": []}', "{}"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert tritonlint(name, cwd=tmp_path).status == 0


def test_a_named_path_that_is_not_read_is_named_with_the_reason(folder: Path) -> None:
    (folder / "tritonlint.toml").write_text('exclude = ["broken.py"]\n', encoding="utf-8")
    with open(folder / "large.py", "wb") as file:
        file.truncate(17 * 1024 * 1024)
    done = tritonlint("broken.py", "large.py", cwd=folder)
    assert done.status == 0
    line = "Not read, though named: broken.py (excluded by settings), large.py (larger than 16 MB).\n"
    assert line in done.out
    assert "though named" not in tritonlint(".", cwd=folder).out
    for number in range(5):
        (folder / f"f{number}").mkdir()
        (folder / f"f{number}" / "broken.py").write_text(BROKEN, encoding="utf-8")
    many = [f"f{number}/broken.py" for number in range(5)]
    assert " and 1 more.\n" in tritonlint("./broken.py", *many, cwd=folder).out
