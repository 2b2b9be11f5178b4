r"""The compiled loops of `rfbench.compute.waves`, and how a cosine is computed.

A phase x is reduced to r = x - k pi in [-pi/2, pi/2], k = rint(x / pi), and

    cos x = (-1)^k (1 + r^2 C(r^2)),    sin x = (-1)^k r (1 + r^2 S(r^2)).

- k comes from adding and taking away 1.5 2^52 (1.5 2^23 in float32), which leaves its parity in
  the lowest bit of the sum: the sign costs one shift and one exclusive or.
- k pi is taken away in parts (Cody & Waite 1980). The parts before the last have so few bits (38;
  9 and 9 in float32) that k times them is exact for \|x\| < `LARGEST_PHASE`, with or without fused
  multiply-add.
- C and S minimise the largest absolute error of cos and sin over \|r\| <= pi/2 (1 + 2^-12): Remez
  exchange with 60 digits, then rounded. Their own error is 4e-18 (C) and 1.1e-16 (S), 2.4e-10 and
  4.6e-9 in float32.
- A phase that is not below `LARGEST_PHASE` in size, infinity and NaN among them, goes to the C
  library.

The loops have no branch and compile to vector instructions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rfbench.compute import compile_function

LARGEST_PHASE = 1e5
"""Phases of this size and beyond take the slow and safe way.

Up to 2^15 multiples of pi the 38 bits of `_PI_1` times k are exact in 53 bits (9 times k in 24, in
float32). Doubled, k may have 16 bits, and the reduction is no longer exact.
"""

# Values per chunk, 8 KiB of the 32 of an L1 cache with the offsets beside it. Chosen without a
# measurement of its own; doubled, it still fits.
_CHUNK = 1024

# By definition: 1 / pi; 1.5 2^52 (_ROUND; 1.5 2^23 in float32), at which the spacing of
# floating-point numbers is 1, so that adding it rounds to the nearest k; the parts of pi, of which
# _PI_1 has 38 bits and _PI_2 the rest (9 and 9 in float32, then the rest; Cody and Waite 1980).
_PER_PI = 1 / math.pi
_ROUND = 1.5 * 2.0**52
_PI_1 = float.fromhex("0x1.921fb5444p+1")
_PI_2 = 5.126688303189038e-12

# The same in float32, by definition; _ROUND_32, _PI_1_32, _PI_2_32 and _PI_3_32.
_PER_PI_32 = np.float32(1 / math.pi)
_ROUND_32 = np.float32(1.5 * 2.0**23)
_PI_1_32 = np.float32(float.fromhex("0x1.92p+1"))
_PI_2_32 = np.float32(float.fromhex("0x1.fbp-11"))
_PI_3_32 = np.float32(6.278329573009626e-07)

# By Remez exchange with 60 digits, see above: errors of 4e-18 (_C) and 1.1e-16 (_S), and 2.4e-10
# (_C_32) and 4.6e-9 (_S_32). `tests/compute/test_waves.py` compares with the C library. A
# coefficient that is doubled is a fault.
_C = (
    -0.49999999999999983,
    0.04166666666666436,
    -0.001388888888878535,
    2.4801587279094538e-05,
    -2.755731651999223e-07,
    2.0876567466195535e-09,
    -1.1463031931238947e-11,
    4.610212991788498e-14,
)
_S = (
    -0.16666666666665808,
    0.008333333333262673,
    -0.00019841269820042773,
    2.755731607090118e-06,
    -2.5051851123914e-08,
    1.6047289863484374e-10,
    -7.364510959154055e-13,
)
_C_32 = tuple(
    np.float32(c)
    for c in (
        -0.4999999954846643,
        0.04166664067790052,
        -0.0013888402806156016,
        2.476184813448315e-05,
        -2.607640098072232e-07,
    )
)
_S_32 = tuple(
    np.float32(c)
    for c in (
        -0.16666657078011735,
        0.008333016834809125,
        -0.00019806581966797261,
        2.599980800757257e-06,
    )
)
# By definition: the literal 1 would make the sum float64, and its vectors half as long.
_ONE_32 = np.float32(1)


@compile_function
def _reduce(x: Any) -> Any:
    """Return r and the sign bit of (-1)^k as an integer, x = k pi + r."""
    # k = rint(x / pi): the sum has the spacing 1, so that adding rounds, and subtracting gives k as
    # a number. The lowest bit of the sum is k's parity; shifted to the top it is the sign of
    # (-1)^k. `rint` and a conversion to integers would keep the loop from compiling to vectors.
    shifted = x * _PER_PI + _ROUND
    k = shifted - _ROUND
    sign = np.int64(np.float64(shifted).view(np.int64) << 63)
    return (x - k * _PI_1) - k * _PI_2, sign


@compile_function
def _reduce_32(x: Any) -> Any:
    shifted = x * _PER_PI_32 + _ROUND_32
    k = shifted - _ROUND_32
    sign = np.int32(np.float32(shifted).view(np.int32) << 31)
    return ((x - k * _PI_1_32) - k * _PI_2_32) - k * _PI_3_32, sign


@compile_function
def _signed(value: Any, sign: Any) -> Any:
    return np.int64(np.float64(value).view(np.int64) ^ sign).view(np.float64)


@compile_function
def _signed_32(value: Any, sign: Any) -> Any:
    return np.int32(np.float32(value).view(np.int32) ^ sign).view(np.float32)


@compile_function
def _even(u: Any) -> Any:
    # cos r = 1 + u C(u), u = r^2, by Horner's rule. The 1 is added last: its rounding is the only
    # one that counts, 1/2 of the last digit.
    p = _C[6] + u * _C[7]
    p = _C[4] + u * (_C[5] + u * p)
    p = _C[2] + u * (_C[3] + u * p)
    return 1.0 + u * (_C[0] + u * (_C[1] + u * p))


@compile_function
def _odd(u: Any) -> Any:
    # sin r / r = 1 + u S(u), in the same way; the factor r follows in the loop.
    p = _S[4] + u * (_S[5] + u * _S[6])
    p = _S[2] + u * (_S[3] + u * p)
    return 1.0 + u * (_S[0] + u * (_S[1] + u * p))


@compile_function
def _even_32(u: Any) -> Any:
    p = _C_32[2] + u * (_C_32[3] + u * _C_32[4])
    return _ONE_32 + u * (_C_32[0] + u * (_C_32[1] + u * p))


@compile_function
def _odd_32(u: Any) -> Any:
    return _ONE_32 + u * (_S_32[0] + u * (_S_32[1] + u * (_S_32[2] + u * _S_32[3])))


@compile_function
def _tile(offsets: Any) -> Any:
    """Repeat the offsets until a chunk of rows fills the vector units and stays in L1."""
    period = offsets.size
    if period >= _CHUNK:
        return offsets
    tile = np.empty(_CHUNK // period * period, offsets.dtype)
    for start in range(0, tile.size, period):
        tile[start : start + period] = offsets
    return tile


@compile_function
def cos(flat: Any, offsets: Any, scale: Any) -> None:
    """Do flat <- scale cos(flat + offsets), the offsets repeated; abs(scale) < `LARGEST_PHASE`."""
    # A row is often shorter than a vector loop needs to pay: rows are joined to chunks, and the
    # offsets repeated to their length, since an index modulo the row's length does not vectorise.
    tile = _tile(offsets)
    for start in range(0, flat.size, tile.size):
        chunk = flat[start : start + tile.size]
        unsafe = 0
        for j in range(chunk.size):
            x = chunk[j] + tile[j]
            r, sign = _reduce(x)
            # The sign goes into the scale by exclusive or: no branch, and no product.
            wave = _even(r * r) * _signed(scale, sign)
            far = not (abs(x) < LARGEST_PHASE)
            unsafe += far
            # The phase itself is left where it is too large, infinite or NaN, to be done again
            # below: k pi would not be exact there, and the polynomial is not bounded outside of its
            # range.
            chunk[j] = x if far else wave
        # Rare, and a branch of the whole chunk: a call of the C library in the loop above would
        # stop it from compiling to vectors. A wave is below the limit, so that none is done twice.
        if unsafe:
            for j in range(chunk.size):
                if not (abs(chunk[j]) < LARGEST_PHASE):
                    chunk[j] = scale * math.cos(chunk[j])


@compile_function
def cos_32(flat: Any, offsets: Any, scale: Any) -> None:
    """Do the same in float32."""
    tile = _tile(offsets)
    limit = np.float32(LARGEST_PHASE)
    for start in range(0, flat.size, tile.size):
        chunk = flat[start : start + tile.size]
        unsafe = np.int32(0)
        for j in range(chunk.size):
            x = chunk[j] + tile[j]
            r, sign = _reduce_32(x)
            wave = _even_32(r * r) * _signed_32(scale, sign)
            far = not (abs(x) < limit)
            unsafe = np.int32(unsafe + far)
            chunk[j] = x if far else wave
        if unsafe:
            for j in range(chunk.size):
                if not (abs(chunk[j]) < limit):
                    chunk[j] = scale * np.float32(math.cos(np.float64(chunk[j])))


@compile_function
def cos_sin(flat: Any, scale: Any, out: Any, width: int) -> None:
    """Write rows of `width` cosines and as many sines."""
    for i in range(flat.size // width):
        row = flat[i * width : (i + 1) * width]
        cosines = out[2 * i * width : (2 * i + 1) * width]
        sines = out[(2 * i + 1) * width : (2 * i + 2) * width]
        unsafe = 0
        for j in range(width):
            x = row[j]
            r, sign = _reduce(x)
            # One reduction serves both: cos and sin of x have the same sign (-1)^k.
            amplitude = _signed(scale, sign)
            cosines[j] = _even(r * r) * amplitude
            sines[j] = r * _odd(r * r) * amplitude
            unsafe += not (abs(x) < LARGEST_PHASE)
        if unsafe:
            for j in range(width):
                if not (abs(row[j]) < LARGEST_PHASE):
                    cosines[j] = scale * math.cos(row[j])
                    sines[j] = scale * math.sin(row[j])


@compile_function
def cos_sin_32(flat: Any, scale: Any, out: Any, width: int) -> None:
    """Do the same in float32."""
    limit = np.float32(LARGEST_PHASE)
    for i in range(flat.size // width):
        row = flat[i * width : (i + 1) * width]
        cosines = out[2 * i * width : (2 * i + 1) * width]
        sines = out[(2 * i + 1) * width : (2 * i + 2) * width]
        unsafe = np.int32(0)
        for j in range(width):
            x = row[j]
            r, sign = _reduce_32(x)
            amplitude = _signed_32(scale, sign)
            cosines[j] = _even_32(r * r) * amplitude
            sines[j] = r * _odd_32(r * r) * amplitude
            unsafe = np.int32(unsafe + (not (abs(x) < limit)))
        if unsafe:
            for j in range(width):
                if not (abs(row[j]) < limit):
                    cosines[j] = scale * np.float32(math.cos(np.float64(row[j])))
                    sines[j] = scale * np.float32(math.sin(np.float64(row[j])))


@compile_function
def arc_cosine(flat: Any, order: int, scale: Any) -> None:
    """Do flat <- scale flat^order H(flat)."""
    # H(0) = 1/2 as in Cho and Saul (2009): order 0 counts a row on the boundary half. Comparisons
    # are ordered so that NaN stays NaN.
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
