import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

from rfbench import kernels
from rfbench.checking.samplers import CHECK_ROWS, MAPS, NEW_ROWS
from rfbench.samplers import RKS, SES
from rfbench.samplers.base import make_streams
from rfbench.samplers.ses import make_pair_equations


def unit_features(feature_map, size, kernel="gaussian"):
    sampler = RKS(size, kernel=kernel, bandwidth=2.0, random_state=0, feature_map=feature_map)
    unit = sampler.fit(CHECK_ROWS).feature_map_.times(np.sqrt(size))
    return unit, unit.transform(CHECK_ROWS)


def design(features, size, pairs):
    """Return one row u_m(x_i) u_m(x_j) a pair, cos and sin products of a frequency added."""
    products = features[pairs[:, 0]] * features[pairs[:, 1]]
    return sum(products[:, start : start + size] for start in range(0, features.shape[1], size))


def every_pair(n):
    return np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "arc-cosine-1", "linear"])
@pytest.mark.parametrize("feature_map", MAPS)
def test_normal_equations_equal_sums_over_all_pairs_of_rows(kernel, feature_map):
    """Against all pairs of rows written out, to 1e-10 relative."""
    unit, features = unit_features(feature_map, 6, kernel)
    target = kernels.make(kernel, 2.0)
    pairs = every_pair(len(CHECK_ROWS))
    matrix, wanted = (
        design(features, 6, pairs),
        target(CHECK_ROWS, CHECK_ROWS)[pairs[:, 0], pairs[:, 1]],
    )
    found = make_pair_equations(unit, target, CHECK_ROWS, pairs)
    assert_allclose(found.gram, matrix.T @ matrix, rtol=1e-10, atol=1e-9)
    assert_allclose(found.moment, matrix.T @ wanted, rtol=1e-10, atol=1e-9)
    assert_allclose(found.square, wanted @ wanted, rtol=1e-10)
    beta = np.arange(6) / 10.0
    assert_allclose(found.compute_error(beta), np.sum((wanted - matrix @ beta) ** 2), rtol=1e-8)


def weights(matrix, wanted, penalty, scale):
    """Return non-negative least squares by lsq_linear of scipy."""
    size = matrix.shape[1]
    shrinkage = np.sqrt(penalty * scale)
    stacked = np.vstack([matrix, shrinkage * np.eye(size)]), np.append(wanted, np.zeros(size))
    return lsq_linear(*stacked, bounds=(0.0, np.inf), method="bvls", tol=1e-14).x


@pytest.mark.parametrize("feature_map", MAPS)
def test_frequency_weights_equal_least_squares_over_the_drawn_pairs(feature_map):
    """The penalty is the best of the grid on the first fifth of the pairs; to 1e-7."""
    _, features = unit_features(feature_map, 8)
    words = {"bandwidth": 2.0, "random_state": 0, "feature_map": feature_map}
    sampler = SES(8, pairs_per_feature=9, **words).fit(CHECK_ROWS)
    pairs = make_streams(0).rows.integers(0, len(CHECK_ROWS), size=(72, 2))
    matrix = design(features, 8, pairs)
    wanted = kernels.make("gaussian", 2.0)(CHECK_ROWS, CHECK_ROWS)[pairs[:, 0], pairs[:, 1]]
    held, rest, errors = slice(14), slice(14, None), {}
    for penalty in 10.0 ** np.arange(-6, 3):
        beta = weights(matrix[rest], wanted[rest], penalty, np.sum(matrix[rest] ** 2) / 8)
        errors[penalty] = np.sum((wanted[held] - matrix[held] @ beta) ** 2)
    assert_allclose(sampler.penalty_, min(errors, key=errors.get))
    beta = weights(matrix, wanted, sampler.penalty_, np.sum(matrix**2) / 8)
    assert_allclose(sampler.beta_, beta, atol=1e-7)
    plain = RKS(8, **words).fit(CHECK_ROWS)
    factors = np.tile(np.sqrt(8 * beta), 2 if feature_map == "paired" else 1)
    expected = plain.transform(NEW_ROWS) * factors
    assert_allclose(sampler.transform(NEW_ROWS), expected, atol=1e-5)
