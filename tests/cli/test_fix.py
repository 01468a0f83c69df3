"""--fix, --unsafe-fixes and --diff: what is written, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import tritonlint
from tests.cli.test_check import DUPLICATE

CRLF = DUPLICATE.replace("\n", "\r\n")


def test_a_fix_is_applied_and_the_file_linted_again(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbf" + CRLF.encode())
    path.chmod(0o640)
    done = tritonlint("a.py", "--fix", "--output-format", "concise", cwd=tmp_path)
    assert done.status == 0, done.out
    assert "1 fix applied in 1 file." in done.err
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf") and data.count(b"\r\n") == data.count(b"\n")
    assert data.count(b'{"BLOCK": 256}') == 1 and b'{"BLOCK": 512}' in data
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_diff_changes_nothing_and_tells_by_its_status(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(DUPLICATE, encoding="utf-8")
    done = tritonlint("a.py", "--diff", cwd=tmp_path)
    assert done.status == 1
    assert "--- a.py\n+++ a.py\n" in done.out
    assert '-        triton.Config({"BLOCK": 256}, num_warps=4),\n' in done.out
    assert path.read_text(encoding="utf-8") == DUPLICATE


def test_a_file_with_bytes_that_cannot_be_decoded_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    data = DUPLICATE.encode() + b"# \xff\n"
    path.write_bytes(data)
    tritonlint("a.py", "--fix", cwd=tmp_path)
    assert path.read_bytes() == data


def test_standard_input_comes_back_mended(tmp_path: Path) -> None:
    done = tritonlint("-", "--fix", cwd=tmp_path, stdin=DUPLICATE)
    assert done.out.count('{"BLOCK": 256}') == 1 and done.out.startswith("import triton\n")
    assert "TL305" in done.err


def test_a_tuned_file_is_mended_and_stays_json(tmp_path: Path) -> None:
    entry = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 16}
    before = {"1": entry | {"num_warps": 8, "num_stages": 4}, "2": entry | {"num_stages": 4, "num_warps": 8}}
    path = tmp_path / "E=64,N=1024,device_name=NVIDIA_GeForce_RTX_4090.json"
    path.write_text(json.dumps(before, indent=4), encoding="utf-8")
    assert "--fix mends 2" in tritonlint(path.name, cwd=tmp_path).out
    done = tritonlint(path.name, "--fix", cwd=tmp_path)
    assert done.status == 0, done.out
    assert "2 fixes applied in 1 file." in done.err
    text = path.read_text(encoding="utf-8")
    assert text == json.dumps(before, indent=4).replace('"num_stages": 4', '"num_stages": 2')
