import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

from rfbench import kernels
from rfbench.checking.samplers import MAPS, NEW_ROWS, ROWS
from rfbench.samplers import RKS, SES
from rfbench.samplers.pair_equations import all_pairs, some_pairs


def unit_features(feature_map, size, kernel="gaussian"):
    sampler = RKS(size, kernel=kernel, bandwidth=2.0, random_state=0, feature_map=feature_map)
    unit = sampler.fit(ROWS).feature_map_.times(np.sqrt(size))
    return unit, unit.transform(ROWS)


def design(features, size, pairs):
    """Return one row u_m(x_i) u_m(x_j) a pair, cos and sin products of a frequency added."""
    products = features[pairs[:, 0]] * features[pairs[:, 1]]
    return sum(products[:, start : start + size] for start in range(0, features.shape[1], size))


def every_pair(n):
    return np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "arc-cosine-1", "linear"])
@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("block", [1024, 17])
def test_equations_are_those_of_all_pairs(kernel, feature_map, block, monkeypatch):
    """Against all pairs of rows written out, to 1e-10 relative."""
    monkeypatch.setattr("rfbench.samplers.pair_equations.BLOCK_ROWS", block)
    unit, features = unit_features(feature_map, 6, kernel)
    target = kernels.make(kernel, 2.0)
    pairs = every_pair(len(ROWS))
    matrix, wanted = design(features, 6, pairs), target(ROWS, ROWS)[pairs[:, 0], pairs[:, 1]]
    for found in (all_pairs(unit, target, ROWS), some_pairs(unit, target, ROWS, pairs)):
        assert_allclose(found.gram, matrix.T @ matrix, rtol=1e-10, atol=1e-9)
        assert_allclose(found.moment, matrix.T @ wanted, rtol=1e-10, atol=1e-9)
        assert_allclose(found.square, wanted @ wanted, rtol=1e-10)
        beta = np.arange(6) / 10.0
        assert_allclose(found.error(beta), np.sum((wanted - matrix @ beta) ** 2), rtol=1e-8)


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("weights", ["nonnegative", "clipped"])
@pytest.mark.parametrize("penalty", [0.0, 1e-3, 0.3])
def test_exact_weights_are_explicit_least_squares(feature_map, weights, penalty):
    """Against lsq_linear of scipy over all pairs of rows, to 1e-8."""
    _, features = unit_features(feature_map, 8)
    pairs = every_pair(len(ROWS))
    matrix = design(features, 8, pairs)
    wanted = kernels.make("gaussian", 2.0)(ROWS, ROWS)[pairs[:, 0], pairs[:, 1]]
    shrinkage = np.sqrt(penalty * np.sum(matrix**2) / 8)
    stacked = np.vstack([matrix, shrinkage * np.eye(8)]), np.append(wanted, np.zeros(8))
    if weights == "clipped":
        beta = np.maximum(np.linalg.lstsq(*stacked, rcond=None)[0], 0.0)
    else:
        beta = lsq_linear(*stacked, bounds=(0.0, np.inf), method="bvls", tol=1e-14).x
    words = {"weights": weights, "penalty": penalty, "feature_map": feature_map}
    sampler = SES(8, equations="exact", bandwidth=2.0, random_state=0, **words).fit(ROWS)
    assert_allclose(sampler.beta_, beta, atol=1e-8)
    plain = RKS(8, bandwidth=2.0, random_state=0, feature_map=feature_map).fit(ROWS)
    factors = np.tile(np.sqrt(8 * beta), 2 if feature_map == "paired" else 1)
    expected = plain.transform(NEW_ROWS) * factors
    assert_allclose(sampler.transform(NEW_ROWS), expected, atol=1e-6)


def test_many_pairs_sketch_the_exact_weights():
    words = {"bandwidth": 2.0, "random_state": 0, "penalty": 1e-3}
    exact = SES(5, equations="exact", **words).fit(ROWS).beta_
    sketched = SES(5, pairs_per_feature=40_000, **words).fit(ROWS).beta_
    assert_allclose(sketched, exact, atol=0.01)


def test_penalty_is_chosen_on_held_out_pairs():
    few = SES(30, pairs_per_feature=2, bandwidth=2.0, random_state=0).fit(ROWS)
    many = SES(5, equations="exact", bandwidth=2.0, random_state=0).fit(ROWS)
    assert few.penalty_ > many.penalty_
