"""The models of the JSON report: real reports meet them, and the shipped schema is theirs."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from tests.cli.running import tritonlint
from tritonlint.output.report_model import Report, json_schema

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "tritonlint" / "schema" / "report.schema.json"


def test_the_shipped_schema_is_that_of_the_models() -> None:
    """To write it again: `json.dumps(json_schema(), indent=2)` and a line end."""
    assert json.loads(SHIPPED.read_text(encoding="utf-8")) == json_schema()


def test_real_reports_meet_models_and_schema(tmp_path: Path) -> None:
    """With estimates, fixes, related places, files that cannot be read and files that were left out."""
    (tmp_path / "tritonlint.toml").write_text("exclude = ['left_out.py']\n", encoding="utf-8")
    (tmp_path / "left_out.py").write_text("", encoding="utf-8")
    (tmp_path / "broken.py").write_text("import triton\ndef f(:\n", encoding="utf-8")
    (tmp_path / "nowhere.py").symlink_to("no such file")
    done = tritonlint(
        str(ROOT / "examples"), ".", "--gpu", "rtx3070", "--severity", "info", "--output-format", "json",
        cwd=tmp_path,
    )  # fmt: skip
    jsonschema.Draft202012Validator(json_schema()).validate(done.json)
    report = Report.model_validate_json(done.out, strict=True)
    assert any(finding.estimate is not None for finding in report.findings)
    assert any(fix.edits for finding in report.findings for fix in finding.fixes)
    assert any(finding.related for finding in report.findings)
    assert [entry.path for entry in report.summary.problems] == ["./nowhere.py"]
    assert [entry.path for entry in report.summary.skipped] == ["./left_out.py"]
