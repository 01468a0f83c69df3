"""What differs between Triton releases: one row a release, one named field a difference.

Nothing else in the compiler model asks for a version number. To add a release, add a row to `_CHANGES` that
says what changed since the one before it. Where a row does not name a field, the release does as the one
before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal


# Compared by identity: each release is one object, and a hash over all fields would cost more than what is cached.
@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """One Triton release, by (major, minor). The values of the fields are those of 2.1, the oldest one
    known."""

    major: int = 2
    minor: int = 1
    unmodelled: tuple[str, ...] = (  # see modelled.py
        "chained dots", "transposes", "masked fp8 on wgmma", "reductions beside a dot", "tensor cores of sm_75",
    )  # fmt: skip
    known: bool = True  # False: newer than the newest row, which is used in its place

    # Launch and config defaults.
    config_num_stages: int = 2  # triton.Config(num_stages=)
    nvidia_num_stages: int = 3  # a launch without num_stages
    amd_num_stages: int = 0
    max_tensor_elements: int = 131072

    # Smallest dot: (M, N) and, for K, the smallest by bits of the operand element.
    min_dot_mn: int = 16
    min_dot_k: tuple[tuple[int, int], ...] = ((8, 32), (16, 16), (32, 16), (64, 16))

    # Layout conversions.
    conversion: Literal["padded", "swizzled"] = "padded"
    conversion_by_shuffle: bool = False  # inside a warp, without shared memory
    shuffle_from_own_warp: bool = False  # also where warps of the source hold copies
    linear_layouts: bool = False  # what a conversion needs is decided on linear layouts
    conversion_pairs_copies: bool = False  # the n-th copy of one side stands for the n-th of the other
    wgmma_to_operand_bits: tuple[int, ...] = ()  # a wgmma result becomes operand A in registers
    operand_through_buffer_nvidia: bool = True  # an operand that is not one yet goes through its own buffer
    operand_through_buffer_amd: bool = True

    # The padded scheme (padded.py).
    padded_tile: Literal["encoding", "linear"] = "encoding"
    padded_order: Literal["other_side", "threads", "registers"] = "other_side"
    padded_inner_is_last: bool = False  # else dimension 0 counts as the slow one
    padded_unique_contiguity: bool = False  # contiguity ends with the tensor
    padded_clamped: bool = False  # a vector is at most 16 bytes
    padded_skips_unit_dims: bool = False  # no padding where all other dimensions are 1

    # The swizzled scheme (swizzle.py).
    swizzle_conflicts_linear: bool = False  # bank conflicts are counted, not their logarithm
    swizzle_trims_to_word: bool = False  # a vector filled up with warp bases stops at 32 bits
    swizzle_keeps_wide_rounds: bool = False  # two rounds of a matrix-instruction pair are not split off
    swizzle_per_cta: bool = False  # the scratch is that of one CTA of the cluster
    swizzle_counts_banks: bool = False  # by AMD architecture
    swizzle_tries_lane_orders: bool = False  # AMD: wide reads may also be served in the lanes' own order

    # The axis analysis (axis_rules.py).
    axis_expands_divisibility: bool = (
        False  # a new dimension inherits the divisor of numbers that do not count up
    )
    axis_drops_divisor_of_runs: bool = False  # multiplying a row that counts up
    axis_loads_keep_constancy: bool = False
    axis_subtraction_descends: bool = False  # a number minus a row that counts up is no row
    axis_divides_divisors: bool = False  # dividing by a power of two
    axis_remainder_needs_constant: bool = False
    axis_constants_fill_shape: bool = False
    axis_joins_by_contiguity: bool = False
    axis_follows_views: bool = False  # transpositions
    axis_follows_reshape: bool = False
    axis_clamps_sums: bool = (
        False  # a row that an addition cuts starts inside: its divisor is at most its length
    )
    axis_clamps: bool = False  # the same for selections and casts of pointers
    axis_global_divisibility: bool = False

    # What is known of addresses (axis.py), and how wide an access is (coalesce.py).
    atomics_have_own_width: bool = False
    coalesces_last_dim_first: bool = False  # where no dimension is more contiguous than another

    # Scratch of single operations.
    reduce_scratch: Literal["by_axis_kind", "per_warp", "swizzled"] = "by_axis_kind"
    scan_free_in_one_warp: bool = False
    linear_scan: bool = False  # sizes are read from the linear layout
    scan_drops_copies: bool = False  # registers that hold copies do not count
    atomic_scalar_always: bool = True  # a scalar atomic takes an element even if its result is not used
    atomic_tensor: bool = False  # a tensor whose result is held in copies takes its own size
    atomic_shuffles: bool = False  # copies inside a warp are shuffled
    histogram: bool = False
    gather: bool = False

    # Tensor cores.
    mma_before_ampere: bool = True  # mma_v1 on sm_70, m16n8k8 on sm_75
    wgmma: bool = False
    wgmma_n_multiple: int = 8
    tcgen05: bool = False
    tcgen05_n_multiple: int = 8

    # Assignment of layouts.
    free_converts_cost_nothing: bool = False  # a conversion inside threads costs nothing
    remat_counts_registers: bool = False  # repeated arithmetic counts by registers of the new encoding
    hoists_into_conditionals: bool = False  # conversions move into branches
    slices_pass_equal_layouts: bool = False  # what made a value that has the wanted encoding is repeated too
    remat_until_stable: bool = False  # rematerialization runs until nothing changes
    operand_hoisting: Literal["stepwise", "nvidia", "all"] = (
        "stepwise"  # conversions to dot operands move to loads
    )
    operand_slices_end_at_broadcasts: bool = False  # of what has the wanted layout by another name
    leaves_out_trivial_converts: bool = False  # hoisting inserts no conversion between equal layouts
    mma_v2_balanced_warps: bool = False  # warps of mma.sync balance the repetitions along M and N
    wgmma_left_in_registers: bool = False  # operand A that is not loaded goes to wgmma from registers at once
    wgmma_min_k: bool = False  # wgmma needs K of at least one instruction
    tcgen05_takes_widened: bool = (
        True  # products of any input precision, if operands were loaded narrower than fp32
    )
    tcgen05_min_k: bool = False  # tcgen05 needs K of at least one instruction
    tcgen05_int8: bool = False  # int8 products on sm_100 run on tcgen05
    fp64_mma: bool = False  # fp64 products run on tensor cores where they are fast
    fma_before_ampere: bool = False  # no tensor cores below sm_80
    casts_tell_loaded_bits: bool = (
        True  # operands were as wide as before their casts, else as they were loaded
    )
    join_widens_k: bool = False  # operands joined from halves are loaded as half the width
    join_checks_packing: bool = False  # only joins that pack neighbours count as halves
    views_to_shared_linear: bool = False  # views of operands in memory given by bases become views of memory
    locality_keeps_order: bool = False  # thread-local reductions keep the order of elements
    bf16_splits: bool = False  # input precisions bf16x3 and bf16x6
    reordering_reshapes_are_anchors: bool = True  # a reshape that may reorder keeps its encoding
    efficient_reshapes_block: bool = False  # encodings do not spread through reshapes that are tuned
    reshapes_expand_slices: bool = False  # a slice that is reshaped to have its dimension back is expanded
    hoisting_takes_existing: bool = False  # a conversion to an operand is replaced by one that exists
    coalesces_descriptors: bool = False  # descriptor loads and stores get wide rows too
    reorders_broadcasts: bool = False  # elementwise operations move before broadcasts
    cluster_layouts_first: bool = (
        False  # conversions are removed once before clusters are planned for locality
    )
    splits_joined_tmem_stores: bool = False  # stores of joined halves to tensor memory are split
    existing_values: Literal["when_rewriting", "followed", "end_slices", "left_out"] = (
        "when_rewriting"  # what a slice backwards does at a value that exists in the encoding it needs
    )
    hoisting_is_weighed: bool = False  # conversions move above an extension only where that is cheaper
    remat_follows_regions: bool = (
        False  # values that only feed carried values of the slice count as used in it
    )
    hoists_invariants_of_ttir: Literal["everywhere", "amd"] = "everywhere"  # before layouts are assigned
    hoists_loads: bool = False  # loads that do not change leave loops that write nothing
    views_are_blocked: bool = True  # reshapes, joins and splits pass on blocked encodings only
    cat_keeps_elements: bool = (
        False  # a concatenation takes only layouts with as many different elements a thread
    )
    folds_float_conversions: bool = False  # conversions of constants between float types are folded
    folds_into_tmem_stores: bool = (
        False  # a store to tensor memory takes what a conversion before it converts
    )
    scales_masked_by_nan: bool = (
        True  # products are replaced by NaN where a scale is NaN, instead of in the scale itself
    )
    scales_converted_first: bool = False  # scales of spelled out dots are converted before they are repeated
    scaled_tcgen05: bool = False  # scaled products on tensor memory are as in 3.6 and newer
    scaled_mma_v2: bool = False  # sm_120 multiplies scaled operands with mma.sync

    # Software pipelining.
    pipeliner: Literal["all_stages", "dot_chain", "levels", "latencies"] = "all_stages"
    print_stops_pipelining: bool = False
    loop_stages_reach_all_loads: bool = False  # tl.range(num_stages=) also reaches loads that feed no dot
    levels_from_each_dot: bool = False  # loads are looked for anew from every dot of the loop
    drops_deep_levels: bool = False  # loads of level num_stages - 1 and more are not pipelined
    carried_share_cluster: bool = True  # carried values of all users go to one cluster
    pipelines_scalar_loads: bool = False  # of 32 bits and more
    pipeline_roots: tuple[str, ...] = ()  # operations besides dots from which loads are looked for
    pipeline_extra_buffer: Literal["matrix_layout", "wgmma"] = "matrix_layout"  # which loads get one more
    operands_by_lanes: bool = False  # layouts whose lanes lie as in an operand count as operands
    wgmma_waits: bool = False  # waits for wgmma hold the memory that products read
    wgmma_in_two_pieces: bool = False  # a product with A in registers is cut in two, else by instruction
    late_use_needs_buffer: bool = False  # a use in a later cluster counts as one stage later
    tma_stage_multiple: bool = False  # a descriptor load's stage must be a multiple of 128 bytes
    tcgen05_flag_through_loop: bool = (
        False  # the use flag of an accumulator is followed into the next iteration
    )
    tcgen05_checks_cycles: bool = False  # products that wait for each other are not pipelined
    tmem_forwards_before_hoisting: bool = False  # an accumulator that continues another one is that one
    tcgen05_left_in_tmem: bool = True  # left operands that are computed go through tensor memory
    tcgen05_waits_for_late: bool = True  # products whose operands are computed in the loop are pipelined
    tmem_operand_bits: tuple[int, ...] = (8, 16, 32)  # of left operands in tensor memory
    tma_stores_in_while: bool = (
        False  # staging tiles of descriptor stores leave while loops, and no loop around them
    )
    peels_tcgen05_epilogue: bool = False  # the last iteration of a loop that waits for tcgen05 is peeled

    # Matrix instructions of AMD.
    amd_chain: Literal["any", "head_tail"] = "any"  # any other dot nearby counts as chained
    amd_chains_across_iterations: bool = False  # a chain may close through the loop's carried values
    amd_transposed: Literal["chained", "always", "not_fp8", "not_broadcast"] = "chained"  # mfma results
    amd_xf32: bool = False  # tf32 products on gfx942
    amd_wide_instructions: bool = False  # gfx950's own, twice as deep, and those that take scales
    amd_tiles_per_warp: bool = False  # small chained tiles on gfx950
    amd_transposed_operands: bool = (
        False  # a chained dot with a transposed operand B reads it in other pieces
    )
    amd_wmma_versions: tuple[int, ...] = (1,)
    amd_wmma_transposed: bool = False
    amd_dot_products: bool = (
        False  # dot product instructions of 16-bit operands, where no matrix instruction fits
    )
    amd_hoists_conversions: bool = False  # of operands, out of loops
    amd_sinks_conversions: bool = False  # behind deallocations
    amd_fuses_loops: bool = False
    amd_splits_f32: bool = False  # fp32 products by input precision
    amd_transposes_in_threads: tuple[str, ...] = ()  # architectures that turn operands over in registers

    # Software pipelining on AMD.
    amd_pipeliner: Literal["registers", "streams"] = "registers"
    amd_async_copy: tuple[str, ...] = ()  # architectures whose loads are copied straight to LDS
    amd_small_loads: tuple[str, ...] = ()  # architectures that pipeline loads of less than 32 bits too
    amd_chained_dots: bool = False  # four stages and two chained dots have a schedule of their own
    amd_reaches_all_loads: bool = True  # tl.range(num_stages=) also reaches loads that feed no dot
    amd_matches_alloc: bool = False  # only an allocation in the buffers' own encoding is replaced by them
    amd_widest_vector: bool = False  # users that differ in the vector only share buffers
    amd_linear_operands: tuple[
        str, ...
    ] = ()  # instructions whose operands count before they are packed or turned
    amd_hints_dots: bool = False  # hints behind the dots of loops keep equal reads apart
    amd_bypasses_lds: bool = False  # operands that lie in memory as their dot wants them stay in registers
    amd_padded_copies: bool = False  # padded buffers on gfx950 and gfx1250

    warp_specialization: bool = False  # tl.range(warp_specialize=)
    specializes_nests: bool = False  # of loops, in which the inner one multiplies
    specialized_stages_of_launch: bool = False  # rings of specialized loops ignore tl.range(num_stages=)
    barriers_have_cta_dimension: bool = False  # a ring of barriers has one more dimension
    one_accumulator_has_one_barrier: bool = True  # of a specialized loop, if it is not doubled

    tells_memories_apart: bool = False  # a write to one memory does not part equal reads of another

    # After the pipeliner.
    transposes_in_memory: bool = True  # tt.trans is a view of a tile in shared memory
    prefetches_on: Literal["", "everywhere", "ampere"] = (
        ""  # targets on which pipelined operands are prefetched
    )
    reads_stay_behind_writes: bool = False  # operand B is not read after A if something is written in between
    allocs_stay_behind_writes: bool = False  # memory for a loaded tile is not taken before a write in between
    tmem_registers_in_any_order: bool = False  # of left operands that go to tensor memory as they are
    sinks_tmem_loads: bool = False  # reads of tensor memory sink to their uses
    tmem_sinks_allocs: bool = False  # an accumulator that each iteration begins anew is taken in the loop
    hoists_accumulators_twice: bool = False  # accumulators leave loops once more behind the pipeliner
    lowers_tma_before_layouts: bool = False  # descriptor accesses get their tiles before conversions go
    stores_loaded_tiles: bool = False  # through descriptors, from the memory that they were loaded to

    # Allocation of shared memory.
    allocation_alignment: Literal["none", "by_size", "by_encoding"] = "none"
    nvmma_alignment_by_swizzle: bool = False  # else 1024
    allocation_largest_first: bool = False
    allocation_legacy_offsets: bool = True  # the repair step bumps by colour times neighbour

    @property
    def version(self) -> tuple[int, int]:
        return (self.major, self.minor)


# (major, minor, what is not as in the release before).
_CHANGES: tuple[tuple[int, int, dict[str, Any]], ...] = (
    (2, 1, {}),
    (2, 2, {
        "unmodelled": ("transposes", "masked fp8 on wgmma", "tensor cores of sm_75"),
        "allocation_alignment": "by_size",
        "scan_free_in_one_warp": True,
        "max_tensor_elements": 1048576,
        "reduce_scratch": "per_warp",
        "wgmma_to_operand_bits": (16,),
        "padded_unique_contiguity": True,
        "wgmma": True,
        "pipeliner": "dot_chain",
    }),
    (2, 3, {}),
    (3, 0, {
        "unmodelled": ("masked fp8 on wgmma", "converted operands on sm_75"),
        "transposes_in_memory": False,
        "axis_expands_divisibility": True,
        "axis_drops_divisor_of_runs": True,
        "axis_loads_keep_constancy": True,
        "reorders_broadcasts": True,
        "wgmma_to_operand_bits": (8, 16),
        "padded_inner_is_last": True,
        "histogram": True,
        "pipeliner": "levels",
        "loop_stages_reach_all_loads": True,
    }),
    (3, 1, {}),
    (3, 2, {
        "unmodelled": (
            "masked fp8 on wgmma",
            "converted operands on sm_75",
            "operands that a loop does not change on AMD",
        ),
        "amd_wmma_versions": (1, 2),
        "axis_subtraction_descends": True,
        "amd_transposed": "always",
        "wgmma_min_k": True,
        "amd_num_stages": 2,
        "min_dot_k": ((8, 16), (16, 16), (32, 16), (64, 16)),
        "linear_layouts": True,
        "conversion_pairs_copies": True,
        "atomic_scalar_always": False,
        "padded_order": "threads",
        "padded_skips_unit_dims": True,
        "allocation_legacy_offsets": False,
        "levels_from_each_dot": True,
        "drops_deep_levels": True,
        "amd_dot_products": True,
        "amd_pipeliner": "streams",
        "amd_hints_dots": True,
    }),
    (3, 3, {
        "hoists_invariants_of_ttir": "amd",
        "views_are_blocked": False,
        "amd_hints_dots": False,
        "unmodelled": ("tcgen05", "transposed descriptor tiles", "loads that are only used transposed on AMD"),
        "tcgen05_left_in_tmem": False,
        "tcgen05_waits_for_late": False,
        "operand_hoisting": "nvidia",
        "folds_float_conversions": True,
        "existing_values": "followed",
        "amd_hoists_conversions": True,
        "wgmma_left_in_registers": True,
        "amd_chain": "head_tail",
        "amd_transposed": "not_fp8",
        "amd_xf32": True,
        "amd_wide_instructions": True,
        "fma_before_ampere": True,
        "mma_v2_balanced_warps": True,
        "hoists_into_conditionals": True,
        "config_num_stages": 3,
        "min_dot_k": ((8, 32), (16, 16), (32, 16), (64, 16)),
        "conversion_by_shuffle": True,
        "conversion_pairs_copies": False,
        "linear_scan": True,
        "wgmma_to_operand_bits": (8,),
        "operand_through_buffer_nvidia": False,
        "padded_tile": "linear",
        "padded_order": "registers",
        "padded_clamped": True,
        "gather": True,
        "casts_tell_loaded_bits": False,
        "join_widens_k": True,
        "mma_before_ampere": False,
        "tcgen05": True,
        "pipeliner": "latencies",
        "loop_stages_reach_all_loads": False,
        "allocation_alignment": "by_encoding",
        "allocation_largest_first": True,
    }),
    (3, 4, {
        "hoists_loads": True,
        "unmodelled": (
            "flattened loops on AMD",
            "loads that are only used transposed on AMD",
            "accumulators of several products",
            "computed fp8 operands on sm_120",
            "scans of transposed descriptor tiles",
        ),
        "sinks_tmem_loads": True,
        "tcgen05_left_in_tmem": True,
        "tcgen05_waits_for_late": True,
        "operand_hoisting": "all",
        "warp_specialization": True,
        "operands_by_lanes": True,
        "splits_joined_tmem_stores": True,
        "nvmma_alignment_by_swizzle": True,
        "amd_fuses_loops": True,
        "amd_transposes_in_threads": ("gfx942",),
        "axis_divides_divisors": True,
        "operand_through_buffer_amd": False,
        "pipeline_roots": ("ttng.tmem_store",),
        "pipeline_extra_buffer": "wgmma",
        "peels_tcgen05_epilogue": True,
        "wgmma_waits": True,
        "carried_share_cluster": False,
    }),
    (3, 5, {
        "unmodelled": (
            "flattened loops on AMD",
            "flattened specialized loops with two stores",
            "accumulators of several products",
        ),
        "tmem_operand_bits": (16, 32),
        "slices_pass_equal_layouts": True,
        "folds_into_tmem_stores": True,
        "barriers_have_cta_dimension": True,
        "axis_remainder_needs_constant": True,
        "coalesces_descriptors": True,
        "amd_transposed": "not_broadcast",
        "amd_tiles_per_warp": True,
        "amd_transposed_operands": True,
        "hoists_accumulators_twice": True,
        "tcgen05_min_k": True,
        "min_dot_mn": 1,
        "conversion": "swizzled",
        "atomic_tensor": True,
        "loop_stages_reach_all_loads": True,
        "pipelines_scalar_loads": True,
        "amd_chained_dots": True,
        "amd_small_loads": ("gfx950",),
        "amd_matches_alloc": True,
        "amd_linear_operands": ("mfma",),
    }),
    (3, 6, {
        "reads_stay_behind_writes": True,
        "unmodelled": ("flattened loops on AMD", "accumulators of several products"),
        "tmem_registers_in_any_order": True,
        "one_accumulator_has_one_barrier": False,
        "specializes_nests": True,
        "specialized_stages_of_launch": True,
        "scaled_mma_v2": True,
        "scaled_tcgen05": True,
        "amd_splits_f32": True,
        "axis_constants_fill_shape": True,
        "axis_joins_by_contiguity": True,
        "axis_follows_views": True,
        "amd_transposed_operands": False,
        "lowers_tma_before_layouts": True,
        "stores_loaded_tiles": True,
        "amd_wmma_transposed": True,
        "amd_bypasses_lds": True,
        "amd_widest_vector": True,
        "bf16_splits": True,
        "fp64_mma": True,
        "remat_until_stable": True,
        "swizzle_conflicts_linear": True,
        "swizzle_trims_to_word": True,
        "swizzle_keeps_wide_rounds": True,
        "wgmma_n_multiple": 16,
        "tcgen05_n_multiple": 16,
        "late_use_needs_buffer": True,
        "amd_small_loads": ("gfx950", "gfx11", "gfx120"),
    }),
    (3, 7, {
        "amd_wmma_versions": (1, 2, 3),
        "axis_clamps_sums": True,
        "wgmma_in_two_pieces": True,
        "prefetches_on": "everywhere",
        "scan_drops_copies": True,
        "hoisting_is_weighed": True,
        "existing_values": "end_slices",
        "coalesces_last_dim_first": True,
        "amd_sinks_conversions": True,
        "tcgen05_n_multiple": 8,
        "print_stops_pipelining": True,
        "tcgen05_flag_through_loop": True,
    }),
    (3, 8, {
        "unmodelled": ("accumulators of several products",),
        "cat_keeps_elements": True,
        "tcgen05_takes_widened": False,
        "tmem_operand_bits": (8, 16, 32),
        "slices_pass_equal_layouts": False,
        "tmem_sinks_allocs": True,
        "prefetches_on": "ampere",
        "scales_converted_first": True,
        "remat_follows_regions": True,
        "existing_values": "left_out",
        "tells_memories_apart": True,
        "atomics_have_own_width": True,
        "axis_follows_reshape": True,
        "axis_clamps": True,
        "axis_global_divisibility": True,
        "amd_chains_across_iterations": True,
        "amd_transposes_in_threads": ("gfx942", "gfx110", "gfx115", "gfx120"),
        "efficient_reshapes_block": True,
        "tcgen05_int8": True,
        "remat_counts_registers": True,
        "free_converts_cost_nothing": True,
        "min_dot_k": ((8, 32), (16, 16), (32, 8), (64, 4)),
        "swizzle_per_cta": True,
        "swizzle_counts_banks": True,
        "reduce_scratch": "swizzled",
        "wgmma_n_multiple": 8,
        "tma_stage_multiple": True,
        "tcgen05_checks_cycles": True,
        "amd_linear_operands": ("mfma", "wmma"),
        "amd_async_copy": ("gfx950", "gfx1250"),
        "amd_padded_copies": True,
        "amd_small_loads": ("gfx950", "gfx11", "gfx12"),
    }),
    (3, 9, {
        "unmodelled": (),
        "scales_masked_by_nan": False,
        "late_use_needs_buffer": False,
        "cluster_layouts_first": True,
        "hoisting_takes_existing": True,
        "reshapes_expand_slices": True,
        "reordering_reshapes_are_anchors": False,
        "allocs_stay_behind_writes": True,
        "atomic_shuffles": True,
        "swizzle_tries_lane_orders": True,
        "locality_keeps_order": True,
        "views_to_shared_linear": True,
        "join_checks_packing": True,
        "leaves_out_trivial_converts": True,
        "operand_slices_end_at_broadcasts": True,
        "shuffle_from_own_warp": True,
        "tma_stores_in_while": True,
        "tmem_forwards_before_hoisting": True,
    }),
)  # fmt: skip


def _rows() -> tuple[Release, ...]:
    rows: list[Release] = []
    for major, minor, changes in _CHANGES:
        before = rows[-1] if rows else Release()
        rows.append(replace(before, major=major, minor=minor, **changes))
    return tuple(rows)


_ROWS = _rows()


def releases() -> tuple[Release, ...]:
    """Every release known, oldest first."""
    return _ROWS


@lru_cache(maxsize=64)
def release(major: int, minor: int) -> Release:
    """The row of a release. A newer one than the newest row gets that row with `known` False; a version
    between two rows, or older than the first, gets the nearest older row (the first), also with `known`
    False."""
    best = _ROWS[0]
    for row in _ROWS:
        if row.version == (major, minor):
            return row
        if row.version < (major, minor):
            best = row
    return replace(best, major=major, minor=minor, known=False)


def newest() -> Release:
    """The newest release known."""
    return _ROWS[-1]


def parse_release(text: str) -> Release | None:
    """The release that "3.9", "3.9.0" or "3.9.0+git" names; None if the text names none."""
    parts = text.strip().removeprefix("v").split(".")
    if len(parts) < 2:
        return None
    digits = ["".join(c for c in part if c.isdigit()) if i < 2 else part for i, part in enumerate(parts)]
    if not (digits[0] and digits[1]):
        return None
    return release(int(digits[0]), int(digits[1]))
