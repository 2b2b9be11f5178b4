import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import approx_fprime

from rfbench.checking.samplers import CHECK_ROWS, NEW_ROWS
from rfbench.samplers import ORF, RKS, OptimalPositiveFeatures, PositiveFeatures, SimRF
from rfbench.samplers.declaration import GAUSSIAN

from .unbiased import points

BASES = {"rks": RKS, "orf": ORF, "simrf": SimRF}
BOTH = (PositiveFeatures, OptimalPositiveFeatures)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kernel", GAUSSIAN)
@pytest.mark.parametrize("sampler", BOTH)
def test_features_equal_the_formula(sampler, kernel, base):
    """To 1e-12 relative."""
    words = {"kernel": kernel, "bandwidth": 2.0, "random_state": 0}
    fitted = sampler(7, base=base, **words).fit(CHECK_ROWS)
    W = BASES[base](7, feature_map="paired", **words).fit(CHECK_ROWS).feature_map_.frequencies
    s = 2.0 if kernel == "gaussian" else 2.0**0.5  # where the kernel is exp(-|x - y|^2 / 2 s^2)
    A = getattr(fitted, "curvature_", 0.0)
    rows = NEW_ROWS - CHECK_ROWS.mean(axis=0)
    squares = np.sum(rows**2, axis=1, keepdims=True)
    root, D = np.sqrt(1 - 4 * A), (1 - 4 * A) ** (5 / 4)
    expected = D * np.exp(A * s**2 * np.sum(W**2, axis=0) + root * rows @ W - squares / s**2)
    assert_allclose(fitted.transform(NEW_ROWS), expected / 7**0.5, rtol=1e-12)


@pytest.mark.parametrize("sampler", BOTH)
def test_shift_of_the_origin_does_not_change_features(sampler):
    """Ten bandwidths from it, columns without centring are constant: all 0."""
    here, there = (
        sampler(30, bandwidth=2.0, random_state=0)
        .fit(CHECK_ROWS + shift)
        .transform(NEW_ROWS + shift)
        for shift in (0.0, 20.0)
    )
    assert_allclose(there, here, rtol=1e-9)
    assert np.std(there, axis=0).min() > 1e-3 * np.abs(there).max()
    sparse_rows, sparse_new = sparse.csr_array(CHECK_ROWS + 20.0), sparse.csr_array(NEW_ROWS + 20.0)
    found = sampler(30, bandwidth=2.0, random_state=0).fit(sparse_rows).transform(sparse_new)
    assert_allclose(found, there, rtol=1e-9)


def test_curvature_minimises_the_variance():
    """The second moment of a product of features, (1-4A)^d (1-8A)^(-d/2) exp(...), at phi."""
    rows = points(5)
    sampler = OptimalPositiveFeatures(4, bandwidth=2.0, random_state=0).fit(rows)
    rows = rows - rows.mean(axis=0)
    sums = rows[:, None] + rows[None]
    phi = np.mean(np.sum(sums**2, axis=2)) / (2.0**2 * 5)

    def logarithm(A):
        A = A[0]
        return np.log(1 - 4 * A) - 0.5 * np.log(1 - 8 * A) + 2 * phi * (1 - 4 * A) / (1 - 8 * A)

    def slope(A):
        return approx_fprime(np.atleast_1d(A), logarithm, 1e-6)

    step = 1e-3
    curvature = (slope(sampler.curvature_ + step) - slope(sampler.curvature_ - step)) / (2 * step)
    assert curvature > 0
    assert abs(slope(sampler.curvature_)) < 1e-4 * curvature
