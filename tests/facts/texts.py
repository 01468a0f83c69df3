"""Files as Triton, tritonparse and Nsight Compute write them, cut to what is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.facts.test_cubin import attribute, elf, symbols
from tests.samples import ADD

LINE = ADD.splitlines().index("@triton.jit") + 1


def add_ttir(block: int = 128, line: int = LINE, file: str = "/project/add.py", names: bool = True) -> str:
    """The text of samples.ADD as Triton prints it; older releases give the arguments no names."""
    tile = f"tensor<{block}x"
    a = [f'"{name}"(#loc)' if names else "#loc" for name in ("x_ptr", "y_ptr", "out_ptr", "n")]
    pointer, divisible = "!tt.ptr<f32>", "{tt.divisibility = 16 : i32}"
    return f"""\
#loc = loc("{file}":{line}:0)
#loc1 = loc(unknown)
module {{
  tt.func public @add(%arg0: {pointer} {divisible} loc({a[0]}), %arg1: {pointer} {divisible} loc({a[1]}), \
%arg2: {pointer} {divisible} loc({a[2]}), %arg3: i32 {divisible} loc({a[3]})) attributes {{noinline = false}} {{
    %c = arith.constant {block} : i32 loc(#loc1)
    %0 = tt.get_program_id x : i32 loc(#loc2)
    %1 = arith.muli %0, %c : i32 loc(#loc3)
    %2 = tt.make_range {{end = {block} : i32, start = 0 : i32}} : {tile}i32> loc(#loc4)
    %3 = tt.splat %1 : i32 -> {tile}i32> loc(#loc5)
    %4 = arith.addi %3, %2 : {tile}i32> loc(#loc5)
    %5 = tt.splat %arg3 : i32 -> {tile}i32> loc(#loc6)
    %6 = arith.cmpi slt, %4, %5 : {tile}i32> loc(#loc6)
    %7 = tt.splat %arg0 : {pointer} -> {tile}{pointer}> loc(#loc7)
    %8 = tt.addptr %7, %4 : {tile}{pointer}>, {tile}i32> loc(#loc7)
    %9 = tt.load %8, %6 : {tile}{pointer}> loc(#loc8)
    tt.return loc(#loc14)
  }} loc(#loc)
}} loc(#loc)
#loc2 = loc("{file}":{line + 2}:25)
"""


def metadata(**changes: Any) -> dict[str, Any]:
    return {
        "name": "add",
        "target": {"backend": "cuda", "arch": 90, "warp_size": 32},
        "num_warps": 4,
        "num_stages": 3,
        "num_ctas": 1,
        "shared": 0,
        "tmem_size": 0,
        "triton_version": "3.9.0",
        **changes,
    }


def cubin(registers: int, spill_words: int = 0) -> bytes:
    info = attribute(0x2F, 1, registers) + attribute(0x11, 1, 4 * spill_words)
    return elf({".nv.info": info, ".text.add": b"code", **symbols("helper", "add")})


def cache_entry(
    folder: Path, name: str, text: str, registers: int = 22, spill_words: int = 0, **changes: Any
) -> None:
    """One compile of `add` in a cache folder of Triton."""
    place = folder / name
    place.mkdir(parents=True)
    (place / "add.json").write_text(json.dumps(metadata(**changes)), encoding="utf-8")
    (place / "__grp__add.json").write_text('{"child_paths": {}}', encoding="utf-8")
    (place / "add.ttir").write_text(text, encoding="utf-8")
    (place / "add.cubin").write_bytes(cubin(registers, spill_words))


def parsed_line(constants: dict[str, Any] | None = None, **changes: Any) -> str:
    """A line of tritonparse."""
    event = {
        "event_type": "compilation",
        "pid": 1,
        "payload": {
            "metadata": {
                **metadata(**changes),
                "src_constants": {f"({index},)": value for index, value in (constants or {"4": 128}).items()},
            },
            "file_path": {"add.cubin": "/nowhere/add.cubin"},
            "file_content": {"add.ttir": add_ttir()},
            "python_source": {
                "file_path": "/project/add.py",
                "start_line": LINE,
                "code": "\n".join(ADD.splitlines()[LINE - 1 :]),
            },
        },
    }
    return json.dumps(event)


NSIGHT = """\
==PROF== Connected to process 1234 (/usr/bin/python3)
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",\
"gpu__time_duration.sum","launch__occupancy_limit_blocks","launch__occupancy_limit_registers",\
"launch__occupancy_limit_shared_mem","launch__occupancy_limit_warps","launch__registers_per_thread",\
"launch__shared_mem_per_block_dynamic"
"","","","","","","","","","","","usecond","block","block","block","block","register/thread","Kbyte/block"
"0","1234","python3","127.0.0.1","add","1","7","(128, 1, 1)","(4, 1, 1)","0","9.0","1,205.50","32","21","16","16",\
"22","98.304"
"1","1234","python3","127.0.0.1","void other(float*)","1","7","(256, 1, 1)","(8, 2, 1)","0","9.0","3.00","32","8",\
"8","8","40","0"
==PROF== Disconnected from process 1234
"""
