"""The readers of other programs' files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.facts.texts import LINE, NSIGHT, add_ttir, cache_entry, parsed_line
from tritonlint.facts.reading import FactsError, read_facts
from tritonlint.facts.record import Numbers
from tritonlint.facts.ttir import read_ttir


@pytest.mark.parametrize("names", [True, False])
def test_the_text_of_a_kernel(names: bool) -> None:
    text = read_ttir(add_ttir(64, names=names))
    assert text is not None
    assert text.kernel == "add"
    assert [name for name, _, _ in text.arguments] == (
        ["x_ptr", "y_ptr", "out_ptr", "n"] if names else [""] * 4
    )
    assert {(kind, divisible) for _, kind, divisible in text.arguments} == {("*fp32", True), ("i32", True)}
    assert text.shapes == {"64"}
    assert (text.file, text.line) == ("/project/add.py", LINE)
    assert read_ttir("module {}") is None


def test_arguments_of_every_kind() -> None:
    text = read_ttir(
        "module { tt.func public @f(%arg0: !tt.tensordesc<tensor<128x64xf16>>, %arg1: f32, %arg2: !tt.ptr<f8E5M2, 1>,"
        " %arg3: i64 {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) attributes {noinline = false} {"
    )
    assert text is not None
    assert [kind for _, kind, _ in text.arguments] == ["tensordesc<fp16[128,64]>", "fp32", "*fp8e5", "i64"]
    assert [divisible for _, _, divisible in text.arguments] == [False, False, False, True]


def test_a_cache_folder_of_triton(tmp_path: Path) -> None:
    cache_entry(tmp_path, "AAA", add_ttir(), registers=40, spill_words=3, shared=1024, num_warps=8)
    cache_entry(tmp_path, "BBB", add_ttir(), target={"backend": "hip", "arch": "gfx942", "warp_size": 64})
    (tmp_path / "BBB" / "add.cubin").unlink()
    (tmp_path / "BBB" / "add.amdgcn").write_text(".vgpr_count: 60\n.vgpr_spill_count: 0\n", encoding="utf-8")
    cache_entry(tmp_path, "CCC", add_ttir())
    (tmp_path / "CCC" / "add.json").write_text("{", encoding="utf-8")
    (tmp_path / "lock").write_text("", encoding="utf-8")
    book = read_facts([str(tmp_path)])
    assert book.kernels == {"add"}
    first, second = sorted(book.of("add"), key=lambda fact: fact.origin)
    assert first.numbers == Numbers(1024, 40, 3, 0, 8)
    assert (first.arch, first.triton, first.line) == ("sm_90", (3, 9), LINE)
    assert (second.arch, second.numbers.registers) == ("gfx942", 60)
    assert book.of("other") == ()


@pytest.mark.parametrize("name", ["log.ndjson", "log.ndjson.gz", "log.bin.ndjson", "log.bin.ndjson.gz"])
def test_logs_of_tritonparse(tmp_path: Path, name: str) -> None:
    lines = [
        '{"event_type": "launch", "payload": {"name": "add"}}',
        "cut sho",
        '{"event_type": "compilation", "payload": {}}',
        parsed_line({"4": 128}, shared=2048),
    ]
    data = "\n".join(lines).encode()
    if "bin" in name:  # every line packed by itself
        data = b"".join(gzip.compress(line.encode() + b"\n") for line in lines)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    for path in (tmp_path, tmp_path / name):
        (fact,) = read_facts([str(path)]).of("add")
        assert fact.constants == {"BLOCK": 128}
        assert (fact.numbers.shared_bytes, fact.numbers.registers, fact.rung) == (2048, None, "compiled")
        assert (fact.file, fact.line) == ("/project/add.py", LINE)


def test_raw_pages_of_nsight_compute(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(NSIGHT, encoding="utf-8")
    book = read_facts([str(path)])
    assert book.kernels == {"add", "void other"}
    (fact,) = book.of("add")
    assert fact.numbers == Numbers(98_304, 22, None, None, None, 16, 1.2055)
    assert (fact.rung, fact.arch, fact.grid, fact.threads) == ("measured", "sm_90", (4, 1, 1), 128)
    assert fact.origin.endswith("launch 0")


def in_another_locale(text: str) -> str:
    """As Nsight writes it where the comma stands before the decimals."""
    return text.replace("1,205.50", "1.205,50").replace("98.304", "98,304").replace('"3.00"', '"3,00"')


def rounded(text: str) -> str:
    """As older releases write it."""
    return text.replace('"98.304"', '"98.30"')


@pytest.mark.parametrize(
    ("change", "shared", "time"),
    [
        (in_another_locale, 98_304, 1.2055),
        (lambda text: in_another_locale(text).replace("1.205,50", "1\u00a0205,50"), 98_304, 1.2055),
        (rounded, None, 1.2055),
        (lambda text: text.replace("Kbyte/block", "byte/block").replace("98.304", "98,304"), 98_304, 1.2055),
        (lambda text: text.replace('"98.304"', '""').replace("usecond", "fortnight"), None, None),
        (lambda text: "the program prints\n" + text.replace('"0","1234"', 'so does it here\n"0","1234"'), 98_304, 1.2055),
    ],
)  # fmt: skip
def test_numbers_as_nsight_compute_writes_them(
    tmp_path: Path, change: Callable[[str], str], shared: int | None, time: float | None
) -> None:
    """Locales, units, and a size of which the last digits are not there."""
    path = tmp_path / "run.csv"
    path.write_text(change(NSIGHT), encoding="utf-8")
    (fact,) = read_facts([str(path)]).of("add")
    assert (fact.numbers.shared_bytes, fact.numbers.registers, fact.numbers.time_ms) == (shared, 22, time)


def test_a_page_that_powershell_redirected(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(NSIGHT, encoding="utf-16")
    assert read_facts([str(path)]).of("add")[0].numbers.registers == 22


def test_launches_of_one_kernel_are_facts_each(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(NSIGHT.replace('"void other(float*)"', '"add(float *)"'), encoding="utf-8")
    facts = read_facts([str(path)]).of("add")
    assert [(fact.grid, fact.threads, fact.numbers.registers) for fact in facts] == [
        ((4, 1, 1), 128, 22),
        ((8, 2, 1), 256, 40),
    ]


def test_registers_of_amd_code_in_a_log(tmp_path: Path) -> None:
    line = json.loads(parsed_line({"4": 128}, shared=0))
    line["payload"]["file_path"] = {}
    line["payload"]["file_content"]["add.amdgcn"] = ".vgpr_count: 60\n.vgpr_spill_count: 2\n"
    (tmp_path / "log.ndjson").write_text(json.dumps(line), encoding="utf-8")
    (fact,) = read_facts([str(tmp_path)]).of("add")
    assert (fact.numbers.registers, fact.numbers.spills) == (60, 2)


def test_the_report_of_verify(tmp_path: Path) -> None:
    job = {
        "constants": {"T": {"dtype": "fp16"}, "S": {"tuple": [1, 2]}},
        "types": {"x": "*fp16"},
        "aligned": ["x"],
    }
    row = {
        "kernel": "add",
        "arch": "sm_90",
        "job": {**job, "options": {"num_warps": 4, "num_stages": 3, "num_ctas": 1}},
        "compiled": {"shared_bytes": 1, "registers": 2, "spills": 3, "tensor_memory_columns": 0, "warps": 4},
    }
    report = {"triton": "3.9.0", "rows": [row, {**row, "compiled": None}]}
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    (fact,) = read_facts([str(path)]).of("add")
    assert fact.numbers == Numbers(1, 2, 3, 0, 4)
    assert fact.constants == {"T": "fp16", "S": [1, 2]}
    assert fact.arguments == (("x", "*fp16", True),)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "", "no facts; what is read is a folder of Triton's cache"),
        ("a.csv", "a,b\n", "no column Kernel Name"),
        ("a.csv", '"ID","Kernel Name","Metric Name"\n', "`--page raw` is needed"),
        ("a.json", "[]", "no facts"),
        ("a.json", "{", "Expecting"),
        ("a.ndjson.zst", "\x28\u00b5\x2f\u00fd", "unpack it first"),
    ],
)
def test_files_of_another_kind_are_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="latin-1")
    with pytest.raises(FactsError) as error:
        read_facts([str(path)])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_paths_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "no.csv", tmp_path / "no"):
        with pytest.raises(FactsError, match="cannot be read: No such file"):
            read_facts([str(path)])
    with pytest.raises(FactsError, match="no facts in this folder"):
        read_facts([str(tmp_path)])
