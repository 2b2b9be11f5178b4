import math

import numpy as np
import pytest

from rfbench.compute import waves

BOUND = {np.float64: 1e-15, np.float32: 2e-7}
TYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])
QUARTERS = np.arange(-60_000, 60_000) * (math.pi / 2)


def phases(name, dtype, rng):
    values = {
        "small": rng.uniform(-10, 10, 200_000),
        "wide": rng.uniform(-1e5, 1e5, 200_000),
        "quarters": np.concatenate([QUARTERS, np.nextafter(QUARTERS, 0)]),
        "limit": 1e5 + np.arange(-500, 500) * 1e-2,
        "huge": 10.0 ** rng.uniform(5, 300 if dtype == np.float64 else 38, 2_000),
        "tiny": 10.0 ** rng.uniform(-320 if dtype == np.float64 else -44, -3, 2_000),
    }
    return np.ascontiguousarray(values[name], dtype).reshape(40, -1)


def cosine(phase, offsets=None, scale=1.0):
    result = phase.copy()
    waves.cos_inplace(result, offsets, scale)
    return result


def pair(phase, scale=1.0):
    out = np.empty((phase.shape[0], 2 * phase.shape[1]), phase.dtype)
    waves.cos_sin(phase, scale, out)
    return np.hsplit(out, 2)


@TYPES
@pytest.mark.parametrize("name", ["small", "wide", "quarters", "limit", "huge", "tiny"])
def test_cosine_and_sine_errors_stay_below_the_bound(name, dtype, rng):
    phase = phases(name, dtype, rng)
    wide = np.longdouble if name != "huge" else np.float64
    cos, sin = np.cos(phase.astype(wide)), np.sin(phase.astype(wide))
    cosines, sines = pair(phase)
    assert abs(cosine(phase) - cos).max() < BOUND[dtype]
    assert abs(cosines - cos).max() < BOUND[dtype]
    assert abs(sines - sin).max() < BOUND[dtype]


@TYPES
@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8, 31, 33, 100, 257, 1023, 1024, 1025, 3000])
@pytest.mark.parametrize("rows", [1, 5])
def test_cosine_and_sine_are_accurate_for_all_array_shapes(rows, columns, dtype, rng):
    phase = rng.uniform(-30, 30, (rows, columns)).astype(dtype)
    offsets = rng.uniform(0, 2 * np.pi, columns).astype(dtype)
    expected = 0.3 * np.cos((phase + offsets).astype(np.longdouble))
    assert abs(cosine(phase, offsets, 0.3) - expected).max() < BOUND[dtype]
    cosines, sines = pair(phase, 0.3)
    assert abs(cosines - 0.3 * np.cos(phase.astype(np.longdouble))).max() < BOUND[dtype]
    assert abs(sines - 0.3 * np.sin(phase.astype(np.longdouble))).max() < BOUND[dtype]


@TYPES
def test_cosine_and_sine_of_zero_are_exact(dtype):
    zeros = np.array([[0.0, -0.0]], dtype)
    assert (cosine(zeros) == 1).all()
    sines = pair(zeros)[1]
    assert (sines == 0).all()
    assert np.signbit(sines).tolist() == [[False, True]]


@TYPES
def test_nan_and_infinity_give_nan_without_affecting_neighbours(dtype):
    phase = np.ones((3, 50), dtype)
    phase[1, 7], phase[2, 3], phase[0, 49] = np.nan, np.inf, -np.inf
    bad = ~np.isfinite(phase)
    for result, good in zip(
        [cosine(phase), *pair(phase)], [math.cos(1), math.cos(1), math.sin(1)], strict=True
    ):
        assert np.isnan(result[bad]).all()
        np.testing.assert_allclose(result[~bad], good, atol=BOUND[dtype])


@TYPES
@pytest.mark.parametrize("scale", [1e6, 99_999.9999])  # float32 rounds the second to the limit
def test_scaled_cosine_is_accurate_beyond_the_phase_limit(dtype, scale):
    phase = np.array([[0.0, 0.5, 3e5, np.nan]], dtype)
    result = cosine(phase, None, scale)
    np.testing.assert_allclose(result, scale * np.cos(phase.astype(float)), rtol=1e-6)


@TYPES
@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_empty_array_is_accepted(shape, dtype):
    phase = np.empty(shape, dtype)
    waves.cos_inplace(phase, np.zeros(shape[1], dtype), 1.0)
    waves.cos_sin(phase, 1.0, np.empty((shape[0], 2 * shape[1]), dtype))
    waves.arc_cosine_inplace(phase, 1, 1.0)


def test_offsets_may_be_read_only_or_strided(rng):
    phase = rng.uniform(-3, 3, (4, 20))
    offsets = rng.uniform(0, 6, 40)[::2]
    frozen = offsets.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(cosine(phase, offsets), cosine(phase, frozen))


@TYPES
@pytest.mark.parametrize("order", [0, 1, 2])
def test_arc_cosine_features_equal_the_formula(order, dtype, rng):
    phase = rng.standard_normal((7, 33)).astype(dtype)
    phase[0, :5] = 0.0, -0.0, np.inf, -np.inf, np.nan
    x = phase.astype(float)
    expected = np.heaviside(x, 0.5) if order == 0 else np.maximum(x, 0) ** order
    waves.arc_cosine_inplace(phase, order, 0.25)
    np.testing.assert_allclose(phase, 0.25 * expected, rtol=4 * np.finfo(dtype).eps)


def frozen(a):
    a.flags.writeable = False
    return a


@pytest.mark.parametrize(
    "out",
    [
        np.empty((3, 6)),
        np.empty((3, 8), np.float32),
        np.empty((3, 16))[:, :8],
        np.broadcast_to(np.empty(8), (3, 8)),
    ],
)
def test_unsuitable_output_array_is_rejected(out):
    with pytest.raises(ValueError, match="not a writeable, C-contiguous float64 array of shape"):
        waves.cos_sin(np.zeros((3, 4)), 1.0, out)


def test_warm_up_compiles_all_numba_signatures():
    from rfbench.compute import wave_kernels as kernels

    waves.warm_up()
    known = [len(k.signatures) for k in (kernels.cos, kernels.cos_sin, kernels.arc_cosine)]
    cosine(np.zeros((3, 5)), frozen(np.zeros(5)))
    pair(np.zeros((3, 5)))
    waves.arc_cosine_inplace(np.zeros((3, 5)), 2, 1)
    assert known == [len(k.signatures) for k in (kernels.cos, kernels.cos_sin, kernels.arc_cosine)]
