"""The whole compiler model, from source to bytes, against what real releases said."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tritonlint.compiler.compile import compiled
from tritonlint.compiler.compiled import Compiled
from tritonlint.compiler.modelled import of_the_release
from tritonlint.compiler.options import Options
from tritonlint.compiler.releases import Release, parse_release
from tritonlint.compiler.target import Target
from tritonlint.kernel import ir
from tritonlint.kernel.trace import ArgumentSpec, trace
from tritonlint.source import parse_file, plans, read
from tritonlint.source.sites import KernelSource, Platform

DATA = Path(__file__).parent.parent / "data"
ROWS = [json.loads(line) for line in (DATA / "compiled_rows.jsonl").read_text().splitlines()]
MECHANISMS = [json.loads(line) for line in (DATA / "mechanism_rows.jsonl").read_text().splitlines()]


@cache
def kernels(arch: str, version: tuple[int, int]) -> dict[str, KernelSource]:
    files = [DATA / "compiled_kernels.py", DATA / "mechanism_kernels.py"]
    found = [plan for file in files for plan in plans(parse_file(read(file)), Platform(arch, version))]
    return {plan.kernel.name: plan.kernel for plan in found}


def launched(row: dict[str, Any], **changes: Any) -> tuple[ir.Trace, Options, Target, Release]:
    """What the compiler model is asked for a row."""
    release = parse_release(row["v"])
    assert release is not None
    target = Target(row["arch"] if "arch" in row else f"sm_{row['cc']}")
    kernel = kernels(target.arch, release.version)[row["kernel"]]
    names = [a.arg for a in (*kernel.node.args.args, *kernel.node.args.kwonlyargs)]
    types = {name: row["types"].get(name, "i32") for name in names if name not in row["consts"]}
    arguments = {name: ArgumentSpec(t, t == "i32" or t[0] == "*") for name, t in types.items()}
    constants = {
        name: value[1:-1] if isinstance(value, str) and value[0] == "'" else value
        for name, value in row["consts"].items()
    }
    traced = trace(kernel, arguments, constants, target=target, release=release.version)
    opts = {**row["opts"], **changes}
    known = {name: opts.pop(name) for name in ("num_warps", "num_stages", "num_ctas") if name in opts}
    return traced, Options(**known, extra=opts), target, release


def answer(row: dict[str, Any], **changes: Any) -> Compiled:
    return compiled(*launched(row, **changes))


def name_of(row: dict[str, Any]) -> str:
    return f"{row['v']}-{row.get('cc') or row['arch']}-{row['kernel']}"


@pytest.mark.parametrize("row", ROWS[::4], ids=name_of)
def test_bytes_are_those_of_the_real_release(row: dict[str, Any]) -> None:
    """Shared memory to the byte, tensor memory and warps; a claim to be exact; a bound that holds."""
    found = answer(row)
    assert found.shared_bytes == row["shared"]
    assert found.shared_lower_bound <= row["shared"]
    if "num_warps_out" in row:
        assert found.warps == row["num_warps_out"]
    if row.get("tmem") is not None and found.shared_exact:
        assert found.tensor_memory_columns == row["tmem"]


@pytest.mark.parametrize("row", MECHANISMS, ids=name_of)
def test_each_mechanism_is_exact(row: dict[str, Any]) -> None:
    """Kernels that come out wrong without one mechanism: to the byte, and claimed to be."""
    found = answer(row)
    assert (found.shared_bytes, found.shared_exact, found.reasons) == (row["shared"], True, ())
    assert found.warps == row["num_warps_out"]
    assert found.tensor_memory_columns == (row.get("tmem") or 0)


PRODUCT = next(row for row in ROWS if row["kernel"] == "mmc" and row["v"] == "3.9.0" and row.get("cc") == 80)


def test_parts_name_the_buffers_and_the_epilogue() -> None:
    """The parts add up: the rings of the loop live at the peak, the conversion of the epilogue after them."""
    found = answer(PRODUCT, num_stages=4)
    rings = [part for part in found.parts if part.kind == "buffer"]
    assert len(rings) == 2
    assert all(part.label.startswith("3 buffers x ") and part.line > 0 for part in rings)
    assert sum(part.shared_bytes for part in found.parts if part.live_at_peak) <= found.shared_bytes


def test_facts_of_dots_and_loads() -> None:
    """The dot's tile and tensor cores, and the buffers of both loads of the loop."""
    found = answer(PRODUCT, num_stages=3)
    (dot,) = found.dots
    consts = PRODUCT["consts"]
    assert (dot.m, dot.n, dot.k) == (consts["BM"], consts["BN"], consts["BK"])
    assert dot.tensor_cores == found.tensor_cores == "mma_v2"
    assert dot.in_loop
    assert [load.buffers for load in found.loads if load.in_loop] == [2, 2]


def test_num_stages_moves_only_the_rings() -> None:
    """More stages cost one more pair of tiles each."""
    totals = [answer(PRODUCT, num_stages=stages).shared_bytes for stages in (3, 4, 5)]
    assert totals[2] - totals[1] == totals[1] - totals[0] > 0


@pytest.mark.parametrize(
    ("capability", "ctas", "tile", "warps", "shared", "columns"),
    [
        (90, 2, (128, 128, 64), 4, 73728, 0),
        (90, 4, (128, 128, 64), 4, 49152, 0),
        (90, 2, (64, 64, 64), 4, 36864, 0),
        (100, 2, (128, 128, 64), 4, 73744, 64),
        (100, 4, (64, 256, 32), 4, 24592, 64),
    ],
)
def test_a_cluster_shares_a_product(
    capability: int, ctas: int, tile: tuple[int, int, int], warps: int, shared: int, columns: int
) -> None:
    """What Triton 3.9.0 needs for a CTA's part of the tile; nothing is claimed."""
    consts = {**PRODUCT["consts"], **dict(zip(("BM", "BN", "BK"), tile, strict=True))}
    row = {**PRODUCT, "cc": capability, "consts": consts, "opts": {"num_warps": warps, "num_stages": 3}}
    found = answer(row, num_ctas=ctas)
    assert (found.shared_bytes, found.tensor_memory_columns) == (shared, columns)
    assert not found.shared_exact


def test_an_unknown_operation_takes_the_claim_away() -> None:
    """What the model does not know makes the answer inexact, with the line; it does not raise."""
    odd = ir.Op("tt.unheard_of", line=7)
    function = ir.Function("odd", (), ir.Block((), (odd, ir.Op("tt.return"))))
    found = compiled(ir.Trace(function), Options(), Target("sm_90"), (3, 9))
    assert not found.shared_exact
    assert found.shared_lower_bound == 0
    assert "line 7" in found.reasons[0]


def test_a_gap_takes_the_claim_away() -> None:
    """A trace with a gap is never exact."""
    function = ir.Function("gap", (), ir.Block((), (ir.Op("tt.return"),)))
    found = compiled(
        ir.Trace(function, (ir.Gap(3, "f(x)", "f is not known"),)), Options(), Target("sm_90"), (3, 9)
    )
    assert not found.shared_exact
    assert found.reasons == ("line 3: f(x): f is not known",)


def test_nonsense_gives_an_answer() -> None:
    """A graph that makes no sense ends in an inexact answer, not in an exception."""
    stray = ir.Value(ir.Type("fp32", (4,)))
    broken = ir.Op("tt.store", (stray,), (), {}, line=2)
    function = ir.Function("broken", (), ir.Block((), (broken,)))
    found = compiled(ir.Trace(function), Options(), Target("sm_80"), (3, 9))
    assert not found.shared_exact
    assert found.shared_lower_bound == 0


def test_a_release_of_the_future_is_not_exact() -> None:
    """The newest known rules stand in for a newer release, without the claim."""
    function = ir.Function("empty", (), ir.Block((), (ir.Op("tt.return"),)))
    found = compiled(ir.Trace(function), Options(), Target("sm_90"), (9, 0))
    assert not found.shared_exact
    assert "newer" in found.reasons[0]


@pytest.mark.parametrize(
    ("arch", "release", "flatten", "reasons"),
    [
        ("gfx942", "3.6", False, []),
        (
            "gfx942",
            "3.6",
            True,
            ["line 2: flattened loops on AMD in Triton 3.6 are not modelled to the byte"],
        ),
        ("gfx942", "3.9", True, []),
        ("gfx942", "3.3", True, []),
        ("sm_80", "3.9", True, []),
        ("gfx1250", "3.9", False, ["line 4: tensor descriptors on gfx1250 are not modelled"]),
    ],
)
def test_what_is_not_claimed_on_amd(arch: str, release: str, flatten: bool, reasons: list[str]) -> None:
    """On gfx1250 the data mover brings tiles of descriptors; a flattened nest carries offsets of its loads."""
    tile = ir.Value(ir.Type("fp16", (16, 16)))
    load = ir.Op("tt.descriptor_load", (ir.Value(ir.Type("fp16", (16, 16))),), (tile,), {}, line=4)
    inner = ir.Op("scf.for", (), (), {}, (ir.Block((), (load,)),), line=3)
    outer = ir.Op("scf.for", (), (), {"flatten": flatten}, (ir.Block((), (inner,)),), line=2)
    row = parse_release(release)
    assert row is not None
    assert of_the_release(ir.Block((), (outer,)), Target(arch), row) == reasons


@pytest.mark.parametrize(
    ("release", "uses", "claimed"), [("3.4", 1, False), ("3.4", 2, True), ("3.5", 1, True), ("3.9", 1, True)]
)
def test_loads_that_are_only_used_transposed_on_amd(release: str, uses: int, claimed: bool) -> None:
    """Which conversions go above such a transpose is not known of the releases before 3.5."""
    tile, turned = ir.Value(ir.Type("fp16", (16, 16))), ir.Value(ir.Type("fp16", (16, 16)))
    load = ir.Op("tt.load", (), (tile,), {}, line=2)
    trans = ir.Op("tt.trans", (tile,), (turned,), {"order": (1, 0)}, line=3)
    dot = ir.Op("tt.dot", (turned, tile if uses == 2 else turned, turned), (ir.Value(tile.type),), {})
    row = parse_release(release)
    assert row is not None
    assert (not of_the_release(ir.Block((), (load, trans, dot)), Target("gfx942"), row)) is claimed


def test_loads_carried_in_registers_between_chained_products_on_amd_are_not_claimed() -> None:
    """Four stages and two chained products have a schedule of their own, which is not replayed."""
    row = {
        "v": "3.9.0", "kernel": "packed_keys", "arch": "gfx942", "consts": {"BM": 64, "BN": 64, "D": 64},
        "types": {"q_ptr": "*bf16", "k_ptr": "*i8", "s_ptr": "*fp32", "v_ptr": "*bf16", "o_ptr": "*fp32"},
        "opts": {"num_warps": 4, "num_stages": 4},
    }  # fmt: skip
    found = answer(row)
    assert not found.shared_exact
    assert 0 < found.shared_lower_bound <= 20480
    assert any("a load that is pipelined in registers" in reason for reason in found.reasons)


@pytest.mark.parametrize(
    ("release", "consts", "warps", "stages", "shared", "claimed"),
    [
        ("3.9.0", {"BL": 64, "BC": 32, "TAPS": 3}, 8, 3, None, True),
        ("3.8.0", {"BL": 128, "BC": 16, "TAPS": 3}, 4, 2, 16912, False),
        ("3.7.1", {"BL": 128, "BC": 32, "TAPS": 3}, 8, 3, 39440, False),
        ("3.5.1", {"BL": 128, "BC": 16, "TAPS": 3}, 4, 2, 16912, False),
        ("3.8.0", {"BL": 128, "BC": 16, "TAPS": 1}, 4, 2, None, True),
    ],
)
def test_products_that_go_on_in_a_carried_accumulator_are_claimed_from_3_9_on(
    release: str, consts: dict[str, int], warps: int, stages: int, shared: int | None, claimed: bool
) -> None:
    """The numbers are the compiler's; before 3.9 not all such loops come out right."""
    types = {"x_ptr": "*fp16", "w_ptr": "*fp16", "o_ptr": "*fp32"}
    options = {"num_warps": warps, "num_stages": stages}
    found = answer(
        {
            "v": release,
            "kernel": "taps",
            "cc": 100,
            "consts": {"BO": 32, **consts},
            "types": types,
            "opts": options,
        }
    )
    assert found.shared_exact == claimed
    if shared is not None:
        assert found.shared_bytes == shared


def test_products_on_an_architecture_newer_than_the_release_are_not_claimed() -> None:
    """Triton 3.1 knows no matrix instructions of gfx1201: the operands are widened to fp32 (32,768 bytes)."""
    row = {
        "v": "3.1.0", "kernel": "mmc", "arch": "gfx1201",
        "consts": {"BM": 128, "BN": 128, "BK": 64, "OUT": "tl.float16", "ACC": "tl.float32"},
        "types": {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16"}, "opts": {"num_warps": 4, "num_stages": 2},
    }  # fmt: skip
    found = answer(row)
    assert (found.shared_bytes, found.shared_exact) == (32768, False)


def test_an_unrolled_loop_without_end_is_answered() -> None:
    """The tracer stops at its budget; what it has made by then is too much for the passes, and says so."""
    source = (
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef long(x, B: tl.constexpr):\n"
        "    for i in tl.static_range(10**9):\n        tl.store(x + i + tl.arange(0, B), 1.0)\n"
    )
    (plan,) = plans(parse_file(read("long.py", source)), Platform("sm_90", (3, 9)))
    traced = trace(
        plan.kernel, {"x": ArgumentSpec("*fp32", True)}, {"B": 128}, target=Target("sm_90"), release=(3, 9)
    )
    found = compiled(traced, Options(), Target("sm_90"), (3, 9))
    assert not found.shared_exact and found.shared_lower_bound == 0
    assert any("too many" in reason for reason in found.reasons)


def test_a_kernel_that_wants_too_many_columns_is_a_trap() -> None:
    """Nothing of it is lowered, so nothing spills; one that takes all columns is a kernel like others."""
    over, within = (row for row in MECHANISMS if row["kernel"] == "three_products" and row["v"] == "3.9.0")
    found = answer(over)
    assert (found.tensor_memory_columns, found.registers, found.registers_high, found.spills) == (
        784,
        4,
        4,
        "no",
    )
    real = answer(within)
    assert real.tensor_memory_columns == 512
    assert real.registers is not None and real.registers > 100
