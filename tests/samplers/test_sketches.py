"""Sketches of dot-product kernels against brute force and closed forms of their variances."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import hadamard

from rfbench import kernels
from rfbench.errors import MethodError
from rfbench.samplers import MaclaurinFeatures, PolynomialSketch, PowerSketch
from rfbench.samplers.allocation import (
    MomentsOfPairs,
    allocate_features_to_degrees,
    compute_pair_moments,
    tabulate_variances,
)
from rfbench.samplers.sketches import (
    CompressedSketch,
    HadamardRows,
    TreeSketch,
    Way,
    draw_degrees,
    draw_sketch,
)

from .unbiased import assert_mean, estimates, points

ROWS = np.random.default_rng(0).standard_normal((2, 4))
x, y = ROWS


def features_of(way, degree, D, rows, seed, tree=False):
    generator = np.random.default_rng(seed)
    return draw_sketch(way, degree, rows.shape[1], D, generator, tree).features(rows)


def product(features):
    return features[0] @ features[1].conj()


def test_subsampled_hadamard_projection_equals_the_matrix_product():
    signs = np.array([[1, -1, 1, 1], [1j, 1, -1, -1j]])
    chosen = np.array([6, 0, 3])
    W = np.vstack([hadamard(4) * each for each in signs])[chosen]
    assert_allclose(HadamardRows(signs, chosen).project(ROWS), ROWS @ W.T, atol=1e-12)
    assert_allclose(HadamardRows(signs, chosen).project(ROWS * 1j), 1j * ROWS @ W.T, atol=1e-12)


@pytest.mark.parametrize("full_cov", [False, True])
@pytest.mark.parametrize("is_complex", [False, True])
def test_projection_rows_are_orthogonal_within_a_hadamard_block(is_complex, full_cov):
    W = Way("srht", is_complex, full_cov).draw(np.random.default_rng(0), 4, 8).matrix
    own = np.abs(W.T @ W.conj())
    if full_cov:  # the two blocks have the same signs, so each row occurs twice
        assert sorted(own.sum(axis=1)) == [8.0] * 8
    else:
        assert_allclose(own[:4, :4], 4 * np.eye(4), atol=1e-12)
        assert_allclose(own[4:, 4:], 4 * np.eye(4), atol=1e-12)
    assert set(np.unique(W)) == ({1, -1, 1j, -1j} if is_complex else {1, -1})


def test_dense_hadamard_projection_equals_the_fast_transform(monkeypatch):
    rows = np.random.default_rng(1).standard_normal((3, 8))
    dense = features_of(Way("srht", True), 3, 11, rows, 5)
    monkeypatch.setattr("rfbench.samplers.sketches.MOST_DENSE_COLUMNS", 1)
    assert_allclose(features_of(Way("srht", True), 3, 11, rows, 5), dense, atol=1e-10)


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("projection", ["gaussian", "rademacher", "srht"])
def test_sketch_variance_for_one_degree_equals_its_closed_form(projection, is_complex):
    """To 4 standard errors of 20,000 draws of 6 features, and Q, g, N of one pair of rows.

    The variance is that of the complex estimate, its imaginary part included.
    """
    way, degree, D = Way(projection, is_complex), 2, 6
    drawn = np.array([product(features_of(way, degree, D, ROWS, seed)) for seed in range(6000)])
    squared = np.abs(drawn - (x @ y) ** degree) ** 2
    moments = compute_pair_moments(
        ROWS, np.ones(degree + 1), lambda g: g, projection, is_complex=is_complex
    )
    V, C = moments.variance[degree - 1], moments.covariance[degree - 1]
    expected = V / D + (4 * 3 + 2 * 1) * C / D**2  # pairs within the block of four, and of two
    assert abs(squared.mean() - expected) < 4 * squared.std() / 6000**0.5


def test_variances_of_incomplete_blocks_equal_closed_form():
    """Incomplete blocks count exactly up to d features, unless features correlate positively."""
    moments = MomentsOfPairs(np.array([2.0, 2.0]), np.array([-0.5, 0.5]), np.zeros(2))
    negative, positive = tabulate_variances(moments, 4, 6)
    assert_allclose(positive, (2 + 3 * 0.5) / np.arange(1, 7))
    exact = [2.0 / k - 0.5 * k * (k - 1) / k**2 for k in range(1, 5)]
    assert_allclose(negative, [*exact, (2 - 1.5) / 5, (2 - 1.5) / 6])


def test_variance_of_a_count_sketch_is_below_the_bound_of_the_authors():
    """The exact variance of a product of count sketches is at most (N^n + g^2n) / D."""
    way = Way("countsketch")
    drawn = [product(features_of(way, 2, 6, ROWS, seed)) for seed in range(2000)]
    moments = compute_pair_moments(ROWS, np.ones(3), lambda g: g, "countsketch")
    assert np.var(drawn) < 1.5 * tabulate_variances(moments, 4, 6)[1, 5]
    g, N = x @ y, (x @ x) * (y @ y)
    assert_allclose(moments.variance, [N + g**2, N**2 + g**4])


def test_truncation_error_equals_the_mean_over_all_pairs_of_rows():
    a = 1.0 / np.cumprod([1.0, 1, 2, 3])
    moments = compute_pair_moments(ROWS, a, np.exp, "rademacher", decays=True)
    g = ROWS @ ROWS.T
    decay = np.exp(-np.add.outer(*[np.sum(ROWS**2, axis=1)] * 2) / 2)
    for m in (1, 2, 3):
        series = sum(a[n] * g**n for n in range(m + 1))
        assert_allclose(moments.truncation[m - 1], np.mean((decay * (np.exp(g) - series)) ** 2))


def brute_force_allocation(weighted, truncation, total, least):
    best = None
    for m in range(min(least, len(weighted), total), min(len(weighted), total) + 1):
        for counts in itertools.product(range(1, total + 1), repeat=m):
            if sum(counts) == total:
                score = sum(weighted[n][k - 1] for n, k in enumerate(counts)) + truncation[m - 1]
                if best is None or score < best[0]:
                    best = score, list(counts)
    return best


def test_feature_allocation_to_degrees_equals_brute_force():
    """Variances V / D are convex, so that one feature at a time is optimal."""
    generator = np.random.default_rng(3)
    for _ in range(10):
        V, T = generator.uniform(0.1, 3, 3), np.sort(generator.uniform(0, 0.4, 3))[::-1]
        moments = MomentsOfPairs(V, np.zeros(3), T)
        a = generator.uniform(0.2, 1, 4)
        found = allocate_features_to_degrees(moments, a, 4, [4, 9, 5], 2)
        for total, counts in found.items():
            weighted = tabulate_variances(moments, 4, total) * a[1:, None] ** 2
            score, _ = brute_force_allocation(weighted, T, total, 2)
            own = sum(weighted[n][k - 1] for n, k in enumerate(counts)) + T[len(counts) - 1]
            assert sum(counts) == total
            assert_allclose(own, score, rtol=1e-12)


def test_linear_term_gets_enough_features_to_be_exact():
    """With TensorSRHT the variance of the linear term is 0 with d features."""
    rows = np.random.default_rng(0).standard_normal((30, 4))
    a = kernels.make("softmax").coefficients(4)
    moments = compute_pair_moments(rows, a, np.exp, "srht")
    assert abs(tabulate_variances(moments, 4, 9)[0, 3]) < 1e-10
    assert allocate_features_to_degrees(moments, a, 4, [200])[200][0] >= 4


@pytest.mark.parametrize("total", [0, 1, 2])
def test_maclaurin_sampler_allocates_all_requested_features(total):
    M = total + 1
    sampler = MaclaurinFeatures(M, bandwidth=2.0, random_state=0).fit(points(3))
    assert sum(sampler.degrees_) == total
    assert sampler.transform(points(3)).shape == (5, M)


@pytest.mark.parametrize("limit", [None, 3])
def test_degrees_are_drawn_with_their_probabilities(limit):
    counts, weights = draw_degrees(np.random.default_rng(0), 40_000, limit)
    q = 0.5 ** np.arange(1, len(counts) + 1)
    q /= 1.0 if limit is None else q.sum()
    assert np.abs(np.array(counts) / 40_000 - q).max() < 0.01
    assert_allclose(weights * q * 40_000, counts)


def test_tree_sketch_of_degree_five_equals_its_formula():
    """The three leaves beyond five are ones, and their products are projected, too."""
    sketch = draw_sketch(Way("gaussian"), 5, 4, 3, np.random.default_rng(0), True)
    assert isinstance(sketch, TreeSketch)
    u = [ROWS @ leaf.matrix for leaf in sketch.leaves]
    one, (P, Q), (R,) = (
        np.ones((2, 3)),
        *[[each.matrix / 3**0.5 for each in level] for level in sketch.levels[1:]],
    )
    A, B, C, E = [each.matrix / 3**0.5 for each in sketch.levels[0]]
    left, right = (
        ((u[0] * u[1]) @ A * ((u[2] * u[3]) @ B)) @ P,
        (((u[4] * one) @ C) * (one @ E)) @ Q,
    )
    assert_allclose(sketch.features(ROWS), (left * right) @ R / 3**0.5, rtol=1e-12)


def test_full_hadamard_compression_preserves_inner_products():
    inner = draw_sketch(Way("rademacher", True), 2, 4, 8, np.random.default_rng(0))
    signs = np.where(np.arange(16) % 3, 1.0, -1.0)[None]
    wide = inner.features(ROWS)
    Z = CompressedSketch(inner, HadamardRows(signs, np.arange(16))).features(ROWS)
    assert_allclose(Z @ Z.T, (wide @ wide.conj().T).real, rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"projection": "gaussian"},
        {"projection": "srht", "is_complex": True},
        {"projection": "srht", "full_cov": True},
        {"projection": "srht", "tree": True},
        {"projection": "countsketch"},
        {"expanded": 32, "is_complex": True},
    ],
    ids=str,
)
def test_mean_of_sketch_estimates_equals_the_polynomial_kernel(options):
    name = "polynomial[degree=3, bias=0.5]"
    rows = 0.7 * points(3)

    def make(seed):
        return PolynomialSketch(12, kernel=name, bandwidth=2.0, random_state=seed, **options)

    products = rows @ rows.T / 4
    assert_mean(estimates(make, rows), (products + 0.5) ** 3, wrong=[(products + 0.5) ** 2])


@pytest.mark.parametrize("kernel", ["gaussian", "gaussian-unhalved", "softmax", "polynomial"])
def test_maclaurin_features_with_random_degrees_are_unbiased(kernel):
    rows = 0.7 * points(3)

    def make(seed):
        return MaclaurinFeatures(
            12, kernel=kernel, bandwidth=2.0, degrees="random", random_state=seed
        )

    assert_mean(estimates(make, rows), kernels.make(kernel, 2.0)(rows, rows))


def test_power_sketch_mean_equals_the_power_approximation_of_the_kernel():
    rows = 0.7 * points(3)
    squares = np.sum(rows**2, axis=1)
    expected = (1 + rows @ rows.T / 12) ** 3 * np.exp(-np.add.outer(squares, squares) / 8)

    def make(seed):
        return PowerSketch(12, bandwidth=2.0, power=3, random_state=seed)

    assert_mean(estimates(make, rows), expected)


def test_complex_features_with_odd_M_have_a_column_of_zeros():
    sketch = PolynomialSketch(
        7, kernel="polynomial", bandwidth=2.0, is_complex=True, random_state=0
    )
    Z = sketch.fit(points(3)).transform(points(3))
    assert Z.shape == (5, 7)
    assert not Z[:, 6].any()
    assert Z[:, :6].any(axis=0).all()


def test_complex_count_sketches_are_rejected():
    with pytest.raises(MethodError, match="is_complex"):
        PolynomialSketch(8, projection="countsketch", is_complex=True).fit(ROWS)
