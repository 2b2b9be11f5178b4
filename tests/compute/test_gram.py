from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from rfbench.compute import gram, waves

N, D, P, T = 211, 4, 9, 3
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D))
Y = RNG.standard_normal((N, T)) + 2
W = RNG.standard_normal((D, P))
B = RNG.uniform(0, 6, P)
WEIGHTS = RNG.uniform(0, 2, N)
CODES = RNG.integers(0, 5, N)
Z = np.cos(X @ W + B)
PARTS = ("gram", "moment", "column_sums", "target_sums", "target_squares", "n")


def accumulate(*arguments, block_rows=None, **words):
    """Sum the equations over blocks of so many rows."""
    sum_up = gram.accumulate_parts if "parts" in words else gram.accumulate_normal_equations
    if block_rows is None:
        return sum_up(*arguments, **words)
    with patch.object(gram, "choose_block_rows", lambda *_: block_rows):
        return sum_up(*arguments, **words)


def wave(rows, out):
    out[:] = rows @ W.astype(out.dtype)
    waves.cos_inplace(out, B, 1.0)


def direct(z=Z, y=Y, w=None):
    w = np.ones(len(z)) if w is None else w
    zw, yw = z * w[:, None], y * w[:, None]
    return dict(
        zip(
            PARTS, (zw.T @ z, zw.T @ y, zw.sum(0), yw.sum(0), (yw * y).sum(0), w.sum()), strict=True
        )
    )


def check(equations, expected, **bounds):
    bounds = bounds or {"rtol": 1e-12, "atol": 1e-11}
    for name in PARTS:
        np.testing.assert_allclose(getattr(equations, name), expected[name], **bounds)
    np.testing.assert_array_equal(equations.gram, equations.gram.T)


@given(
    st.integers(0, 40),
    st.integers(1, 6),
    st.integers(0, 3),
    st.integers(1, 45),
    st.integers(1, 4),
    st.booleans(),
)
@settings(max_examples=50)
def test_normal_equations_equal_direct_sums_for_any_shape(n, p, t, block_rows, n_parts, ordered):
    rng = np.random.default_rng(n)
    z, y = rng.standard_normal((n, p)), rng.standard_normal((n, t))
    codes = rng.integers(0, n_parts, n)
    if ordered:
        codes.sort()
    parts = accumulate(np.positive, z, y, p, parts=codes, block_rows=block_rows)
    for code, part in enumerate(parts):
        check(part, direct(z[codes == code], y[codes == code]))
    check(accumulate(np.positive, z, y, p, block_rows=block_rows), direct(z, y))


def test_sparse_rows_give_the_same_normal_equations(rng):
    rare = sparse.random_array((N, D), density=0.3, rng=rng, format="csr")
    seen = []

    def transform(rows, out):
        seen.append(type(rows))
        wave(rows, out)

    dense = accumulate(wave, rare.toarray(), Y, P)
    check(accumulate(transform, rare, Y, P, block_rows=50), vars(dense))
    parts = accumulate(transform, rare, Y, P, block_rows=50, parts=CODES)
    check(sum(parts[1:], start=parts[0]), vars(dense))
    assert set(seen) == {sparse.csr_array}


def test_memory_map_is_read_in_blocks(tmp_path):
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    sizes = []

    def transform(rows, out):
        sizes.append(len(rows))
        assert rows.dtype == np.float64
        assert rows.flags.c_contiguous
        wave(rows, out)

    expected = accumulate(wave, X.astype(np.float32).astype(float), Y, P)
    check(accumulate(transform, mapped, Y, P, block_rows=40), vars(expected))
    assert max(sizes) == 40


def test_normal_equations_are_updated_without_a_second_matrix(rng):
    import tracemalloc

    p = 1000
    z = rng.standard_normal((500, p))
    accumulate(np.positive, z, z[:, 0], p)
    tracemalloc.start()
    accumulate(np.positive, z, z[:, 0], p, block_rows=50)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * p * p * 1.9


def test_float32_gram_matrix_equals_float64_gram_matrix(rng):
    n, p = 40_000, 300
    x, w = rng.standard_normal((n, 3)), rng.standard_normal((3, p))

    def transform(rows, out):
        np.matmul(rows, w.astype(out.dtype), out=out)
        waves.cos_inplace(out, None, (2 / p) ** 0.5)

    double = accumulate(transform, x, x, p)
    single = accumulate(transform, x, x, p, dtype=np.float32)
    assert single.gram.dtype == np.float64
    assert abs(single.gram - double.gram).max() < 1e-6 * double.gram.max()
    np.testing.assert_array_equal(single.gram, single.gram.T)
    np.testing.assert_allclose(single.moment, double.moment, atol=n * 1e-7)
    assert single.n == n
    np.testing.assert_allclose(single.target_squares, double.target_squares, rtol=1e-12)


def test_sum_of_equations_of_all_parts_equals_direct_sums():
    parts = accumulate(wave, X, Y, P, parts=CODES)
    check(sum(parts[1:], start=parts[0].make_zero_equations()) + parts[0], direct())


@pytest.mark.parametrize("columns", [np.arange(4), np.array([7, 0, 3])])
@pytest.mark.parametrize("scale", [1.0, 1.5, "vector"])
def test_equations_of_selected_columns_equal_direct_sums(columns, scale, rng):
    z = Z[:, columns]
    scale = rng.uniform(0.5, 2, z.shape[1]) if scale == "vector" else scale
    part = accumulate(wave, X, Y, P, weights=WEIGHTS).select_columns(columns, scale)
    check(part, direct(z * scale, w=WEIGHTS))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("block_rows", [None, 7])
def test_centered_sums_equal_sums_of_shifted_features(dtype, weights, block_rows):
    parts = accumulate(
        wave, X, Y, P, weights=weights, parts=CODES, block_rows=block_rows, dtype=dtype,
        center=True,
    )  # fmt: skip
    bounds = {} if dtype == "float64" else {"rtol": 1e-5, "atol": 1e-4}
    shift = parts[0].shift
    assert shift.any()
    for code, part in enumerate(parts):
        np.testing.assert_array_equal(part.shift, shift)
        assert part.eps == np.finfo(dtype).eps
        mine = CODES == code
        check(
            part, direct(Z[mine] - shift, Y[mine], None if weights is None else weights[mine]),
            **bounds,
        )  # fmt: skip
    total = sum(parts[1:], start=parts[0]).select_columns(np.arange(1, 5), 2.0)
    w = np.ones(N) if weights is None else weights
    norm = float(np.average((4 * Z[:, 1:5] ** 2).sum(1), weights=w))
    assert total.compute_mean_squared_norm() == pytest.approx(norm, rel=1e-5)
    coef = np.arange(8.0).reshape(4, 2)
    y = total.target_sums[:2] / total.n
    expected = y - np.average(2 * Z[:, 1:5], axis=0, weights=w) @ coef
    picked = total.compute_intercepts(np.pad(coef, ((0, 0), (0, 1))))[:2]
    np.testing.assert_allclose(picked, expected, rtol=1e-5)
