"""Sizes and alignments of buffers."""

from __future__ import annotations

from tritonlint.compiler.encodings import NvmmaShared, PaddedShared, SwizzledShared, cta_layout
from tritonlint.compiler.releases import release
from tritonlint.compiler.shared_encodings import allocation_alignment, allocation_bytes

PLAIN = SwizzledShared(8, 1, 8, (1, 0))


def test_buffers_of_a_load_are_one_allocation() -> None:
    assert allocation_bytes((3, 128, 64), PLAIN, 16) == 3 * 128 * 64 * 2


def test_a_cluster_holds_its_part() -> None:
    cta = cta_layout((2, 1), (2, 1), (1, 0))
    assert allocation_bytes((128, 64), SwizzledShared(8, 1, 8, (1, 0), cta), 16) == 64 * 64 * 2


def test_padding_stands_between_rows_only() -> None:
    assert allocation_bytes((4, 64), PaddedShared(((64, 8),), (1, 0)), 16) == (4 * 64 + 3 * 8) * 2


def test_padded_fp4_is_twice_as_long() -> None:
    assert allocation_bytes((128, 64), NvmmaShared(128, False, 8, fp4_padded=True), 8) == 2 * 128 * 64


def test_alignment_by_release() -> None:
    tma = NvmmaShared(64, False, 16)
    assert allocation_alignment((8, 8), PLAIN, 16, release(3, 2)) == 8
    assert allocation_alignment((64, 64), PLAIN, 16, release(3, 2)) == 1024
    assert allocation_alignment((64, 64), PLAIN, 16, release(3, 3)) == 16
    assert allocation_alignment((64, 64), tma, 16, release(3, 3)) == 1024
    assert allocation_alignment((64, 64), tma, 16, release(3, 4)) == 512
