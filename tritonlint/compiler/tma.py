"""Loads and stores through tensor descriptors: staging of stores in loops, and what becomes of the rest.

A store (or reduction, or scatter) goes through a tile in shared memory. In a loop with more than one stage
that tile is allocated once, before the loop, for all stores of one shape and type (TMAStoresPipeline.cpp);
anywhere else, and for loads that are not pipelined, it is allocated on the spot (TMALowering.cpp).
"""

from __future__ import annotations

from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.pipeline_build import barrier_encoding, memory_value, read_from
from tritonlint.compiler.pipeline_latency import num_stages_of
from tritonlint.compiler.pipeline_loads import TMA_LOADS, descriptor_encoding
from tritonlint.compiler.releases import Release

TMA_STORES = frozenset({"tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter"})
_ATOMICS = frozenset({"tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_poll"})


def pipeline_stores(graph: Graph, release: Release, num_stages: int) -> None:
    """Move the staging tiles of stores out of the loops that are pipelined."""
    loops = [op for op in graph.walk_post() if op.name == "scf.for" and num_stages_of(op, num_stages) > 1]
    if release.tma_stores_in_while and num_stages > 1:
        loops += [op for op in graph.walk_post() if op.name == "scf.while"]
    inner = ("scf.for", "scf.while") if release.tma_stores_in_while else ("scf.for",)
    for loop in loops:
        _pipeline_stores_of(loop, inner)


def _stores_of(loop: GOp, inner: tuple[str, ...]) -> list[GOp]:
    """The stores of a loop that stand in no loop inside it, of the kinds named."""
    found: list[GOp] = []
    stack = list(reversed(loop.blocks[-1].ops))
    while stack:
        op = stack.pop()
        if op.name in TMA_STORES:
            found.append(op)
        elif op.name not in inner:
            for block in reversed(op.blocks):
                stack.extend(reversed(block.ops))
    return found


def _orders_memory(loop: GOp) -> bool:
    """Whether an atomic of the loop acquires or releases. As in the compiler, the last one met decides unless
    an earlier one already did."""
    return any(op.name in _ATOMICS and op.attrs.get("sem", "acq_rel") != "relaxed" for op in loop.walk())


def stored_value(op: GOp) -> GValue:
    """The tensor that a descriptor store writes."""
    return op.operands[1]


def _pipeline_stores_of(loop: GOp, inner: tuple[str, ...]) -> None:
    stores = _stores_of(loop, inner)
    if not stores or _orders_memory(loop):
        return
    tiles: dict[tuple[tuple[int, ...], str], GValue] = {}
    for store in stores:
        value = stored_value(store)
        key = (value.shape, value.type.element)
        if key not in tiles:
            tile = memory_value(value.shape, value.type.element, descriptor_encoding(store))
            alloc = GOp("ttg.local_alloc", (), [tile], {"role": "store"}, line=store.line, path=store.path)
            alloc.insert_before(loop)
            tiles[key] = tile
        tile = tiles[key]
        _before(store, "ttng.tma_store_wait")
        _before(store, "ttg.local_store", value, tile)
        _before(store, "ttng.async_tma_copy_local_to_global", *store.operands[:1], tile)
        store.erase()
    for tile in reversed(list(tiles.values())):
        GOp("ttg.local_dealloc", (tile,), line=loop.line, path=loop.path).insert_after(loop)


def lower_descriptors(graph: Graph, release: Release) -> None:
    """Loads and stores that are left get their tile, and loads a barrier, where they stand; descriptors that are made
    in the kernel are written to memory from here on."""
    for op in list(graph.walk()):
        if op.name == "tt.make_tensor_descriptor":
            op.name = "ttng.tensormap_create"
        if op.name in TMA_LOADS:
            _lower_load(op, graph.num_ctas)
        elif op.name in TMA_STORES:
            _lower_store(op, release.stores_loaded_tiles)


def _lower_load(load: GOp, num_ctas: int) -> None:
    result = load.result
    encoding = descriptor_encoding(load)
    tile = memory_value(result.shape, result.type.element, encoding)
    GOp("ttg.local_alloc", (), [tile], {"role": "operand"}, line=load.line, path=load.path).insert_before(
        load
    )
    barrier = memory_value((num_ctas,), "i64", barrier_encoding(num_ctas))
    GOp("ttg.local_alloc", (), [barrier], {"role": "barrier"}, line=load.line, path=load.path).insert_before(
        load
    )
    _before(load, "ttng.init_barrier", barrier)
    _before(load, "ttng.barrier_expect", barrier)
    name = (
        "ttng.async_tma_gather"
        if load.name == "tt.descriptor_gather"
        else "ttng.async_tma_copy_global_to_local"
    )
    _before(load, name, *load.operands, barrier, tile)
    _before(load, "ttng.wait_barrier", barrier)
    _before(load, "ttng.inval_barrier", barrier)
    read_from(load, tile)
    load.erase()


def _lower_store(store: GOp, from_loads: bool) -> None:
    value = stored_value(store)
    encoding = descriptor_encoding(store)
    loaded = value.op.operands[0] if value.op is not None and value.op.name == "ttg.local_load" else None
    if from_loads and loaded is not None and loaded.encoding == encoding and loaded.shape == value.shape:
        tile = loaded  # it lies in memory as the store wants it
    else:
        tile = memory_value(value.shape, value.type.element, encoding, mutable=False)
        GOp(
            "ttg.local_alloc", (value,), [tile], {"role": "store"}, line=store.line, path=store.path
        ).insert_before(store)
    _before(store, "ttng.async_tma_copy_local_to_global", *store.operands[:1], tile)
    _before(store, "ttng.tma_store_wait")
    store.erase()


def _before(point: GOp, name: str, *operands: GValue) -> None:
    GOp(name, operands, line=point.line, path=point.path).insert_before(point)
