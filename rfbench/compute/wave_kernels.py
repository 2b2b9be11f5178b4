r"""Compiled loops that compute the cosine and the sine of arrays by polynomials.

An angle x is reduced to r = x - k pi in [-pi/2, pi/2], with k = rint(x / pi). Then

    cos x = (-1)^k (1 + r^2 C(r^2)),    sin x = (-1)^k r (1 + r^2 S(r^2)).

- k is computed by adding and subtracting 1.5 2^52 (1.5 2^23 in float32). The lowest bit of the sum
  is the parity of k. The sign therefore needs one shift and one exclusive or.
- k pi is subtracted in parts (Cody & Waite 1980). All parts except the last have few bits (38; 9
  and 9 in float32), so that k times a part is exact for \|x\| < `LARGEST_PHASE`, with or without
  fused multiply-add.
- The polynomials C and S minimize the largest absolute error of cos and sin over \|r\| <= pi/2
  (1 + 2^-12). They are from a Remez exchange with 60 digits, and then rounded. Their errors are
  4e-18 (C) and 1.1e-16 (S), in float32 2.4e-10 and 4.6e-9.
- For angles with an absolute value of `LARGEST_PHASE` or more, infinity and NaN, the functions of
  the C library are used.

The first loop of each function has no branch, so that it compiles to vector instructions.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rfbench.compute import compile_for_types, compile_function

LARGEST_PHASE = 1e5
"""Phases with an absolute value of at least LARGEST_PHASE are computed by the slower C library.

For k up to 2^15, the product of k and the first part of pi, which has 38 bits, is exact in 53 bits.
In float32, the product of k and 9 bits is exact in 24 bits. With twice the limit, k may have 16
bits, and the reduction is no longer exact.
"""

# Number of values that are processed as one chunk. A chunk in float64 needs 8 KiB, and the L1 cache
# has 32 KiB. The value was chosen without a measurement. A chunk of twice the size would also fit
# into the cache.
_CHUNK = 1024


class _Numbers(NamedTuple):
    """Constants for the computation of cosines and sines in one floating-point type."""

    per_pi: Any
    rounding: Any  # large number that is added and subtracted to round to an integer
    limit: Any
    pi: tuple[Any, ...]  # numbers whose exact sum is pi
    # The fields `cosine` and `sine` contain the coefficients of two polynomials C and S, from the
    # highest power to the lowest. With u = r^2, the cosine of r is 1 + u * C(u) and the sine of r
    # is r * (1 + u * S(u)).
    cosine: tuple[Any, ...]
    sine: tuple[Any, ...]

    def cast(self, kind: Any) -> _Numbers:
        """Return the same constants, converted to the floating-point type `kind`."""
        plain = (kind(number) for number in self[:3])
        return _Numbers(*plain, *(tuple(map(kind, numbers)) for numbers in self[3:]))


# Constants for the cosine in float64. `per_pi` is 1 / pi. `rounding` is 1.5 * 2^52 by definition.
# Floating-point numbers of this size have the spacing 1, so adding this number rounds to an
# integer. `pi` is divided into two numbers. The first has only 38 bits, so that its products with
# integers are exact (Cody and Waite 1980). The polynomial coefficients are from a Remez exchange
# with 60 digits (see the module docstring). The errors of the cosine and the sine are 4e-18 and
# 1.1e-16, and in float32 2.4e-10 and 4.6e-9. `tests/compute/test_waves.py` compares the results
# with the C library. If any of these numbers is doubled, the results are wrong.
_DOUBLE = _Numbers(
    per_pi=1 / math.pi,
    rounding=1.5 * 2.0**52,
    limit=LARGEST_PHASE,
    pi=(float.fromhex("0x1.921fb5444p+1"), 5.126688303189038e-12),
    cosine=(
        4.610212991788498e-14,
        -1.1463031931238947e-11,
        2.0876567466195535e-09,
        -2.755731651999223e-07,
        2.4801587279094538e-05,
        -0.001388888888878535,
        0.04166666666666436,
        -0.49999999999999983,
        1.0,
    ),
    sine=(
        -7.364510959154055e-13,
        1.6047289863484374e-10,
        -2.5051851123914e-08,
        2.755731607090118e-06,
        -0.00019841269820042773,
        0.008333333333262673,
        -0.16666666666665808,
        1.0,
    ),
)
# Constants for the cosine in float32, by definition with the same meaning as in _DOUBLE. `pi` is
# divided into three numbers, and the first two have 9 bits. The polynomial coefficients are from a
# Remez exchange.
_SINGLE = _DOUBLE._replace(
    rounding=1.5 * 2.0**23,
    pi=(float.fromhex("0x1.92p+1"), float.fromhex("0x1.fbp-11"), 6.278329573009626e-07),
    cosine=(
        -2.607640098072232e-07,
        2.476184813448315e-05,
        -0.0013888402806156016,
        0.04166664067790052,
        -0.4999999954846643,
        1.0,
    ),
    sine=(
        2.599980800757257e-06,
        -0.00019806581966797261,
        0.008333016834809125,
        -0.16666657078011735,
        1.0,
    ),
).cast(np.float32)


def _numbers(x: Any) -> Any:
    """Return the constants for the floating-point type of x.

    numba selects the constants when it compiles the caller.
    """


@compile_for_types(_numbers)
def _numbers_of_type(x: Any) -> Any:
    numbers = _SINGLE if x.bitwidth == 32 else _DOUBLE

    def known(x: Any) -> _Numbers:
        return numbers

    return known


def _signed(x: Any, shifted: Any) -> Any:
    """Return -x if the lowest bit of the number `shifted` is 1, and x otherwise."""


@compile_for_types(_signed)
def _signed_of_type(x: Any, shifted: Any) -> Any:
    kinds: tuple[Any, Any] = (np.int32, np.float32)
    (integer, number), last = kinds if x.bitwidth == 32 else (np.int64, np.float64), x.bitwidth - 1

    def signed(x: Any, shifted: Any) -> Any:
        sign = integer(number(shifted).view(integer) << last)
        return integer(number(x).view(integer) ^ sign).view(number)

    return signed


@compile_function
def _reduce(x: Any, scale: Any, numbers: Any) -> Any:
    """Return r and the factor (-1)^k scale, where x = k pi + r with an integer k.

    k is the integer nearest to x / pi. `numbers` are the constants for the type of x.
    """
    # Compute k, the integer nearest to x / pi, and the sign (-1)^k. The sum below is so large that
    # floating-point numbers of its size have the spacing 1, so the addition rounds. The subtraction
    # then gives k. The lowest bit of the sum is 1 if k is odd, and is moved to the sign bit.
    # Compilation with fast-math would cancel the addition and the subtraction. `rint` or a
    # conversion to an integer would prevent vectorization of the loop.
    shifted = x * numbers.per_pi + numbers.rounding
    k = shifted - numbers.rounding
    for part in numbers.pi:
        x = x - k * part
    return x, _signed(scale, shifted)


@compile_function
def _polynomial(u: Any, coefficients: Any) -> Any:
    total = coefficients[0]
    for c in coefficients[1:]:
        total = c + u * total
    return total


@compile_function
def _is_far(x: Any, numbers: Any) -> Any:
    # "not <" is used instead of ">=", so that NaN counts as a large phase.
    return not (abs(x) < numbers.limit)


@compile_function
def _tile(offsets: Any) -> Any:
    """Return the offsets of a row, repeated for as many rows as are processed at once.

    If the row is longer than the values that are processed at once, the offsets are not repeated.
    """
    period = offsets.size
    if period >= _CHUNK:
        return offsets
    tile = np.empty(_CHUNK // period * period, offsets.dtype)
    for start in range(0, tile.size, period):
        tile[start : start + period] = offsets
    return tile


@compile_function
def cos(flat: Any, offsets: Any, scale: Any) -> None:
    """Replace the array `flat` by scale * cos(flat + offsets).

    `flat` contains the values of several rows, one row after another. The same offsets are added to
    each row. The absolute value of `scale` has to be below `LARGEST_PHASE`.
    """
    # Rows are often too short for a vectorized loop. Several rows are therefore processed as one
    # chunk, with repeated offsets. An index modulo the row length would prevent vectorization.
    tile, numbers = _tile(offsets), _numbers(scale)
    for start in range(0, flat.size, tile.size):
        chunk = flat[start : start + tile.size]
        unsafe = np.int32(0)
        for j in range(chunk.size):
            x = chunk[j] + tile[j]
            r, amplitude = _reduce(x, scale, numbers)
            wave = _polynomial(r * r, numbers.cosine) * amplitude
            far = _is_far(x, numbers)
            unsafe = np.int32(unsafe + far)
            chunk[j] = x if far else wave
        if unsafe:
            for j in range(chunk.size):
                if _is_far(chunk[j], numbers):
                    # The cosine is rounded to the dtype of the array before the multiplication by
                    # the scale, as in the first loop.
                    chunk[j] = math.cos(np.float64(chunk[j]))
                    chunk[j] *= scale


@compile_function
def cos_sin(flat: Any, scale: Any, out: Any, width: int) -> None:
    """Write scale * cos(x) and scale * sin(x) of the values x of each row to `out`.

    `flat` contains rows of `width` values, one row after another. A row of `out` has `width`
    cosines, followed by `width` sines.
    """
    numbers = _numbers(scale)
    for i in range(flat.size // width):
        row = flat[i * width : (i + 1) * width]
        cosines = out[2 * i * width : (2 * i + 1) * width]
        sines = out[(2 * i + 1) * width : (2 * i + 2) * width]
        unsafe = np.int32(0)
        for j in range(width):
            x = row[j]
            r, amplitude = _reduce(x, scale, numbers)
            cosines[j] = _polynomial(r * r, numbers.cosine) * amplitude
            sines[j] = r * _polynomial(r * r, numbers.sine) * amplitude
            unsafe = np.int32(unsafe + _is_far(x, numbers))
        if unsafe:
            for j in range(width):
                if _is_far(row[j], numbers):
                    cosines[j] = math.cos(np.float64(row[j]))
                    sines[j] = math.sin(np.float64(row[j]))
                    cosines[j] *= scale
                    sines[j] *= scale


@compile_function
def arc_cosine(flat: Any, order: int, scale: Any) -> None:
    """Replace each value x of the array `flat` by scale * x^order * H(x).

    The step function H is 0 below 0, 1/2 at 0, and 1 above 0.
    """
    # The step function has the value 1/2 at 0, as in Cho and Saul (2009). For NaN, all comparisons
    # below are False, so that NaN is not replaced.
    zero, half = scale * 0, scale / 2
    if order == 0:
        for j in range(flat.size):
            x = flat[j]
            flat[j] = scale if x > 0 else zero if x < 0 else half if x == 0 else x
    elif order == 1:
        for j in range(flat.size):
            x = flat[j]
            flat[j] = zero if x < 0 else scale * x
    else:
        for j in range(flat.size):
            x = flat[j]
            flat[j] = zero if x < 0 else scale * x * x
