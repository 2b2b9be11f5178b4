from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rfbench.errors import MethodError
from rfbench.samplers.lkrf import compute_chi_square_weights, compute_penalized_weights
from tests.support.nightly import NIGHTLY

RADII = (1e-3, 0.1, 0.5, 2.0, 10.0)


def divergence(q):
    return np.mean((len(q) * q) ** 2) - 1.0


def simplex(point):
    """Return the nearest distribution, by bisection on the threshold."""
    low, high = point.min() - 1.0, point.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(point - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(point - high, 0.0)


def in_sixty_digits(v, rho):
    """Return the exact solution: every support size is tried, in decimal arithmetic."""
    n = len(v)
    order = np.argsort(-v, kind="stable")
    with localcontext() as context:
        context.prec = 60
        ranked = [Decimal(float(v[i])) for i in order]
        best, weights = None, None
        for k in range(1, n + 1):
            mean = sum(ranked[:k]) / k
            squares = sum((value - mean) ** 2 for value in ranked[:k])
            room = (1 + Decimal(rho)) / n - Decimal(1) / k
            if room < 0 or squares == 0:
                continue
            slope = (room / squares).sqrt()
            q = [Decimal(1) / k + slope * (value - mean) for value in ranked[:k]]
            gain = sum(a * b for a, b in zip(q, ranked, strict=False))
            if q[-1] >= 0 and (best is None or gain > best):
                best, weights = gain, q
        found = np.zeros(n)
        found[order[: len(weights)]] = [float(value) for value in weights]
    return found


def scores(n, seed=0):
    return np.random.default_rng(seed).chisquare(1, size=n)


@pytest.mark.parametrize("rho", RADII)
@pytest.mark.parametrize(
    ("offset", "step"), [(0.0, 1.0), (1.0, 1e-12), (1e6, 1e-6), (1e12, 0.01), (-1e9, 1e-3)]
)
def test_chi_square_weights_of_nearly_tied_scores_are_accurate(offset, step, rho):
    for seed in range(5):
        v = offset + step * scores(30, seed)
        assert len(np.unique(v)) > 10
        assert_allclose(compute_chi_square_weights(v, rho), in_sixty_digits(v, rho), atol=1e-12)


def test_chi_square_weights_of_degenerate_inputs_equal_their_limits():
    solve = compute_chi_square_weights
    v = np.array([3.0, 1.0, 3.0, 2.0])
    for rho in (0.0, -1.0):
        assert_array_equal(solve(v, rho), np.full(4, 0.25))
    assert_array_equal(solve(np.full(4, 7.0), 2.0), np.full(4, 0.25))
    assert_array_equal(solve(v, 1e6), [0.5, 0.0, 0.5, 0.0])
    assert_array_equal(solve(v, np.inf), [0.5, 0.0, 0.5, 0.0])
    assert_array_equal(solve(np.array([2.0]), 5.0), [1.0])
    for bad in ([np.nan, 1.0], [np.inf, 1.0], []):
        with pytest.raises(MethodError, match="are not valid"):
            solve(np.array(bad), 1.0)
    with pytest.raises(MethodError, match="nan"):
        solve(v, np.nan)


vectors = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=40)


@settings(deadline=None, max_examples=300 if NIGHTLY else 60)
@given(vectors, st.floats(1e-6, 50.0))
def test_chi_square_weights_satisfy_the_kkt_conditions(values, rho):
    v = np.array(values)
    q, n = compute_chi_square_weights(v, rho), len(v)
    assert q.shape == (n,)
    assert (q >= 0).all()
    assert_allclose(q.sum(), 1.0, rtol=1e-12)
    assert divergence(q) <= rho + 1e-8 * (1 + rho)
    assert np.count_nonzero(q) >= n / (1 + rho) * (1 - 1e-9)
    assert (np.diff(q[np.argsort(-v, kind="stable")]) <= 1e-12).all()
    support = np.ptp(v[q > 0])
    if divergence(q) < rho * (1 - 1e-6) and np.ptp(v) > 0:
        assert_allclose(v[q > 0], v.max())
    elif support > 1e-9 * max(np.ptp(v), 1e-300):
        # v_i = tau + c q_i on the support and v_i <= tau off it.
        first, last = np.argmax(v), np.flatnonzero(q > 0)[np.argmin(v[q > 0])]
        slope = (v[first] - v[last]) / (q[first] - q[last])
        threshold = v[first] - slope * q[first]
        assert_allclose(v[q > 0], (threshold + slope * q)[q > 0], atol=1e-6 * support)
        assert (v[q == 0] <= threshold + 1e-6 * support).all()


@pytest.mark.parametrize("penalty", [1e-5, 1e-2, 0.3, 1.0, 10.0, 1e5])
def test_penalized_weights_are_the_optimal_distribution(penalty):
    v = scores(12)
    q = compute_penalized_weights(v, penalty)
    assert_allclose(q.sum(), 1.0, rtol=1e-12)
    assert_allclose(compute_penalized_weights(7.0 * v, penalty), q, atol=1e-9)
    assert_allclose(q, simplex(1 / 12 + v / v.max() / (2 * penalty * 12)), atol=1e-9)

    def value(p):
        return p @ v / v.max() - penalty * divergence(p)

    generator = np.random.default_rng(0)
    for other in (*generator.dirichlet(np.ones(12), size=200), *np.eye(12), np.full(12, 1 / 12)):
        assert value(q) >= value(other) - 1e-9 * penalty
        nearby = 0.999 * q + 0.001 * other
        assert value(q) >= value(nearby) - 1e-9 * penalty
    # The ball that touches this distribution has the same solution.
    if 1e-6 < divergence(q) and np.count_nonzero(q) > 1:
        assert_allclose(compute_chi_square_weights(v, divergence(q)), q, atol=1e-7)
