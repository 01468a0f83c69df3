"""Encodings of a product from TTIR up to the pipeliner: which tensor cores, through which memory."""

import pytest

from tests.compiler.ttir_text import named, product
from tritonlint.compiler.coalesce import Coalescing
from tritonlint.compiler.encodings import Blocked, DotOperand, NvidiaMma, NvmmaShared
from tritonlint.compiler.graph import Graph
from tritonlint.compiler.layout_pipeline import clean_ttir, layout_passes
from tritonlint.compiler.options import Options
from tritonlint.compiler.releases import release
from tritonlint.compiler.target import Target


def assigned(graph: Graph, arch: str, version: tuple[int, int] = (3, 9), warps: int = 4) -> Graph:
    target, known = Target(arch), release(*version)
    clean_ttir(graph, target, known)
    layout_passes(
        graph,
        Options(num_warps=warps),
        target,
        known,
        lambda g: Coalescing(g, target, known).coalesced_layout,
    )
    return graph


@pytest.mark.parametrize(("warps", "along"), [(4, (2, 2)), (8, (2, 4))])
def test_ampere_multiplies_with_mma_sync(warps: int, along: tuple[int, int]) -> None:
    """A square tile on sm_80: warps in both directions, operands in registers of the tensor core."""
    graph = assigned(product(), "sm_80", warps=warps)
    (dot,) = named(graph, "tt.dot")
    encoding = dot.results[0].encoding
    assert isinstance(encoding, NvidiaMma)
    assert (encoding.version, encoding.warps_per_cta) == (2, along)
    assert dot.operands[0].encoding == DotOperand(0, encoding, 2)
    assert dot.operands[1].encoding == DotOperand(1, encoding, 2)


def test_the_accumulator_is_converted_once_behind_the_loop() -> None:
    """The loop carries the accumulator in the tensor core's encoding; only the store needs another one."""
    graph = assigned(product(out="f32"), "sm_80")
    (loop,) = named(graph, "scf.for")
    assert isinstance(loop.results[0].encoding, NvidiaMma)
    inside = [op for op in named(graph, "ttg.convert_layout") if op.is_inside(loop)]
    assert {type(op.results[0].encoding) for op in inside} == {DotOperand}
    behind = [op for op in named(graph, "ttg.convert_layout") if not op.is_inside(loop)]
    assert len(behind) <= 1


def test_hopper_reads_operands_from_shared_memory() -> None:
    """wgmma takes both operands from shared memory, with the widest swizzle for 128-byte rows."""
    graph = assigned(product(), "sm_90")
    (dot,) = named(graph, "ttng.warp_group_dot")
    assert [operand.memory for operand in dot.operands[:2]] == ["shared", "shared"]
    for operand in dot.operands[:2]:
        assert isinstance(operand.encoding, NvmmaShared)
        assert operand.encoding.swizzling_byte_width == 128
    encoding = dot.results[0].encoding
    assert isinstance(encoding, NvidiaMma)
    assert (encoding.version, encoding.instr_shape) == (3, (16, 128, 16))


def test_blackwell_accumulates_in_tensor_memory() -> None:
    """tcgen05 keeps its accumulator in tensor memory; consumer Blackwell has no tensor memory."""
    graph = assigned(product(), "sm_100")
    (mma,) = named(graph, "ttng.tc_gen5_mma")
    assert mma.operands[2].memory == "tensor"
    assert not named(assigned(product(), "sm_120"), "ttng.tc_gen5_mma")


@pytest.mark.parametrize(("arch", "m"), [("sm_90", 32), ("sm_100", 32)])
def test_a_tile_too_low_for_a_warp_group_runs_on_mma_sync(arch: str, m: int) -> None:
    """Fewer than 64 rows leave wgmma and tcgen05 unused."""
    graph = assigned(product(m=m), arch)
    (dot,) = named(graph, "tt.dot")
    encoding = dot.results[0].encoding
    assert isinstance(encoding, NvidiaMma)
    assert encoding.version == 2


def test_double_precision_stays_off_tensor_cores_where_they_are_slow() -> None:
    """fp64 products on sm_86 are done by fused multiply-adds, in a blocked encoding, and say why."""
    graph = assigned(product(m=32, n=32, k=16, element="f64", out="f64"), "sm_86")
    (dot,) = named(graph, "tt.dot")
    assert isinstance(dot.results[0].encoding, Blocked)
    assert dot.attrs["why"]


def test_loads_take_sixteen_bytes_of_a_row() -> None:
    """The rows are in one piece and aligned, so that each thread loads eight fp16."""
    graph = assigned(product(), "sm_80")
    for load in named(graph, "tt.load"):
        encoding = load.results[0].encoding
        assert isinstance(encoding, Blocked)
        assert encoding.size_per_thread == (1, 8)
        assert encoding.order == (1, 0)


@pytest.mark.parametrize("version", [(2, 1), (2, 3), (3, 0), (3, 2), (3, 3), (3, 4), (3, 6), (3, 9)])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_every_release_gives_each_tensor_an_encoding(version: tuple[int, int], arch: str) -> None:
    """After the passes no tensor is left without an encoding, and no operand without its operation."""
    graph = assigned(product(), arch, version)
    ops = set(graph.all_ops())
    for op in ops:
        for value in op.results:
            assert not value.is_tensor or value.encoding is not None
        for operand in op.operands:
            assert operand.op is None or operand.op in ops
