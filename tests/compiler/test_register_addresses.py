"""Addresses of one thread: which accesses a constant tells apart."""

from __future__ import annotations

import pytest

from tritonlint.compiler.encodings import Blocked
from tritonlint.compiler.graph import GBlock, GOp, GValue
from tritonlint.compiler.register_addresses import apart_of
from tritonlint.compiler.register_lives import words_of
from tritonlint.kernel.ir import Type

ROWS = Blocked((1, 4), (4, 8), (1, 1), (1, 0))  # 4 x 32 elements at a time


def pointers(row_step: str) -> GValue:
    """x + row * step + column, of 64 x 64 elements: `row_step` is an argument or a constant of the kernel."""
    body = GBlock([GValue(Type("*fp16", None)), GValue(Type("i32", None))])

    def op(name: str, *operands: GValue, shape: tuple[int, ...] | None, **attrs: object) -> GValue:
        element = "*fp16" if name == "tt.addptr" or operands[:1] == (body.args[0],) else "i32"
        result = GValue(Type(element, shape), ROWS if shape and len(shape) == 2 else None)
        GOp(name, list(operands), [result], dict(attrs)).append_to(body)
        return result

    row, column = (
        op(
            "tt.broadcast",
            op("tt.expand_dims", op("tt.make_range", shape=(64,)), shape=one, axis=axis),
            shape=(64, 64),
        )
        for axis, one in ((1, (64, 1)), (0, (1, 64)))
    )
    step = op("arith.constant", shape=None) if row_step == "constant" else body.args[1]
    down = op("arith.muli", row, op("tt.splat", step, shape=(64, 64)), shape=(64, 64))
    offset = op("arith.addi", down, column, shape=(64, 64))
    return op("tt.addptr", op("tt.splat", body.args[0], shape=(64, 64)), offset, shape=(64, 64))


@pytest.mark.parametrize(
    ("row_step", "apart"),
    [("argument", 16), ("constant", 1)],  # 64 rows, 4 at a time; the second half of a row is 64 bytes on
)
def test_only_what_an_argument_moves_has_an_address_of_its_own(row_step: str, apart: int) -> None:
    assert apart_of(pointers(row_step), {}) == apart


def test_read_offsets_have_an_address_for_each_access() -> None:
    where = GValue(Type("*fp16", (64, 64)), ROWS)
    GOp("tt.load", [GValue(Type("*i64", (64, 64)), ROWS)], [where])
    assert apart_of(where, {}) == 64 * 64 // 32 // 4


def test_copies_are_no_addresses_of_their_own() -> None:
    # A column in a layout in which a thread has 8 neighbours along the row: 64 rows, 16 at a time.
    layout = Blocked((1, 8), (4, 8), (4, 1), (1, 0))
    column = GValue(Type("*fp16", (64, 1)), layout)
    GOp("tt.load", [GValue(Type("*i64", (64, 1)), layout)], [column])
    assert apart_of(column, {}) == 4
    assert words_of(GValue(Type("fp32", (64, 1)), layout)) == 4
