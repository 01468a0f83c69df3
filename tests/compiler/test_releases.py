"""The table of releases."""

from __future__ import annotations

from tritonlint.compiler.releases import newest, parse_release, release, releases


def test_rows_are_in_order_and_known() -> None:
    versions = [row.version for row in releases()]
    assert versions == sorted(versions)
    assert versions[0] == (2, 1)
    assert all(row.known for row in releases())


def test_a_newer_release_is_taken_for_the_newest_and_says_so() -> None:
    row = release(9, 9)
    assert not row.known
    assert row.conversion == newest().conversion
    assert row.version == (9, 9)


def test_an_older_release_is_taken_for_the_oldest() -> None:
    assert not release(1, 0).known
    assert release(1, 0).reduce_scratch == release(2, 1).reduce_scratch


def test_spellings() -> None:
    assert parse_release("3.9") == release(3, 9)
    assert parse_release("v3.9.0+git1234") == release(3, 9)
    assert parse_release("new") is None
    assert parse_release("3") is None


def test_a_field_holds_until_a_row_changes_it() -> None:
    assert [release(3, m).wgmma_n_multiple for m in (5, 6, 7, 8)] == [8, 16, 16, 8]
    assert release(3, 4).conversion == "padded"
    assert release(3, 5).conversion == release(3, 9).conversion == "swizzled"
