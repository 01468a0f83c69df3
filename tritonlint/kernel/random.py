"""tl.rand and its kin: Philox, unrolled."""

from __future__ import annotations

from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.elementwise import cos, log, sin, sqrt, umulhi
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.reductions import maximum
from tritonlint.kernel.shaping import tensor_of
from tritonlint.kernel.values import Tensor, known

_ROUNDS = 10
_KEYS_32 = (0x9E3779B9, 0xBB67AE85, 0xD2511F53, 0xCD9E8D57)
_KEYS_64 = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B, 0xD2E7470EE14C6C93, 0xCA5A826395121157)


def philox_impl(
    m: Machine, c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: Any = _ROUNDS
) -> tuple[Any, ...]:
    wide = isinstance(c0, Tensor) and c0.dt.bits == 64
    key_a, key_b, numbers_a, numbers_b = _KEYS_64 if wide else _KEYS_32
    dt = d.UINT64 if wide else d.UINT32
    # The round numbers are assigned to names first, which makes run-time constants of them.
    round_a = s.constant(m, numbers_a, s.number_dtype(numbers_a))
    round_b = s.constant(m, numbers_b, s.number_dtype(numbers_b))
    for _ in range(known(n_rounds, "n_rounds")):
        m.spend()
        old0, old2 = c0, c2
        c0 = s.bitwise(m, "xori", s.bitwise(m, "xori", umulhi(m, round_b, old2), c1), k0)
        c2 = s.bitwise(m, "xori", s.bitwise(m, "xori", umulhi(m, round_a, old0), c3), k1)
        c1 = s.mul(m, round_b, old2)
        c3 = s.mul(m, round_a, old0)
        k0 = s.add(m, k0, s.constant(m, key_a, dt) if m.release < (3, 2) else key_a)
        k1 = s.add(m, k1, s.constant(m, key_b, dt) if m.release < (3, 2) else key_b)
    return c0, c1, c2, c3


def philox(
    m: Machine, seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: Any = _ROUNDS
) -> tuple[Any, ...]:
    key = s.cast(m, tensor_of(m, seed), d.UINT64)
    counters = [tensor_of(m, c) for c in (c0, c1, c2, c3)]
    if counters[0].dt.bits == 64:
        high = s.splat(m, s.constant(m, 0, d.UINT64), (1,))
        c0, c1, c2, c3 = (s.bitcast(m, c, d.UINT64) for c in counters)
        return philox_impl(m, c0, c1, c2, c3, key, high, n_rounds)
    high = s.cast(m, s.bitwise(m, "andi", s.bitwise(m, "shrui", key, 32), 0xFFFFFFFF), d.UINT32)
    low = s.cast(m, s.bitwise(m, "andi", key, 0xFFFFFFFF), d.UINT32)
    c0, c1, c2, c3 = (s.bitcast(m, c, d.UINT32) for c in counters)
    return philox_impl(m, c0, c1, c2, c3, low, high, n_rounds)


def randint4x(m: Machine, seed: Any, offset: Any, n_rounds: Any = _ROUNDS) -> tuple[Any, ...]:
    x = tensor_of(m, offset)
    if m.release >= (3, 4):
        low = s.cast(m, x, d.UINT32)
        zero = s.mul(m, low, 0)
        high = s.cast(m, s.shift_right(m, x, 32), d.UINT32) if x.dt.bits > 32 else zero
        return philox(m, seed, low, high, zero, zero, n_rounds)
    zero = s.mul(m, x, 0)
    return philox(m, seed, x, zero, zero, zero, n_rounds)


def randint(m: Machine, seed: Any, offset: Any, n_rounds: Any = _ROUNDS) -> Any:
    return randint4x(m, seed, offset, n_rounds)[0]


def uint_to_uniform_float(m: Machine, x: Any) -> Tensor:
    x = tensor_of(m, x)
    wide = x.dt.bits == 64
    x = s.bitcast(m, x, d.INT64 if wide else d.INT32)
    scale = s.constant(m, 1.0842020432385337e-19 if wide else 4.6566127342e-10, d.FP32)
    x = s.where(
        m, s.compare(m, "lt", x, 0), s.sub(m, s.minus(m, x), 1) if m.release < (3, 8) else s.invert(m, x), x
    )
    return s.mul(m, x, scale)


def rand(m: Machine, seed: Any, offset: Any, n_rounds: Any = _ROUNDS) -> Tensor:
    return uint_to_uniform_float(m, randint(m, seed, offset, n_rounds))


def rand4x(m: Machine, seed: Any, offsets: Any, n_rounds: Any = _ROUNDS) -> tuple[Tensor, ...]:
    return tuple([uint_to_uniform_float(m, i) for i in randint4x(m, seed, offsets, n_rounds)])


def pair_uniform_to_normal(m: Machine, u1: Any, u2: Any) -> tuple[Tensor, Tensor]:
    u1 = maximum(m, 1.0e-7, u1)
    th = s.mul(m, 6.283185307179586, u2)
    r = sqrt(m, s.mul(m, -2.0, log(m, u1)))
    return s.mul(m, r, cos(m, th)), s.mul(m, r, sin(m, th))


def randn(m: Machine, seed: Any, offset: Any, n_rounds: Any = _ROUNDS) -> Tensor:
    i1, i2, _, _ = randint4x(m, seed, offset, n_rounds)
    return pair_uniform_to_normal(m, uint_to_uniform_float(m, i1), uint_to_uniform_float(m, i2))[0]


def randn4x(m: Machine, seed: Any, offset: Any, n_rounds: Any = _ROUNDS) -> tuple[Tensor, ...]:
    u1, u2, u3, u4 = rand4x(m, seed, offset, n_rounds)
    return (*pair_uniform_to_normal(m, u1, u2), *pair_uniform_to_normal(m, u3, u4))
