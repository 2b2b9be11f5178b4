from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from rfbench.samplers import RFMFeatures
from rfbench.samplers.rfm import gradient_outer_product
from rfbench.testing.samplers import MAPS, NEW_ROWS, ROWS, TARGET

from .candidates import TWO, drawn


def finite_differences(found, targets, alpha):
    """Return the average outer product of the gradients of a ridge fit of scikit-learn."""
    fit = Ridge(alpha * len(ROWS)).fit(found.transform(ROWS), targets)
    gradients = np.empty((*ROWS.shape, targets.shape[1]))
    for j in range(5):
        step = np.zeros(5)
        step[j] = 1e-5
        ends = [fit.predict(found.transform(ROWS + sign * step)) for sign in (1, -1)]
        gradients[:, j] = ((ends[0] - ends[1]) / 2e-5).reshape(len(ROWS), -1)
    return np.einsum("ijk,ilk->jl", gradients, gradients) / len(ROWS)


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("targets", [TARGET[:, None], TWO])
def test_outer_product_is_that_of_finite_differences(feature_map, targets):
    found = drawn(feature_map, 12)
    for alpha in (1e-3, 0.1):
        G = gradient_outer_product(found, ROWS, targets, alpha)
        assert_allclose(G, finite_differences(found, targets, alpha), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("metric", ["full", "diagonal"])
def test_rounds_are_the_explicit_recursion(feature_map, metric):
    first = found = drawn(feature_map, 12)
    for _ in range(3):
        G = gradient_outer_product(found, ROWS, TWO, 0.01)
        G = np.diag(np.diag(G)) if metric == "diagonal" else G
        A = 5 * G / np.trace(G) + 1e-6 * np.eye(5)
        found = replace(first, frequencies=np.linalg.cholesky(A) @ first.frequencies)
    words = {"rounds": 3, "metric": metric, "alpha": 0.01, "feature_map": feature_map}
    sampler = RFMFeatures(12, bandwidth=2.0, random_state=0, **words).fit(ROWS, TWO)
    assert_allclose(sampler.metric_, A, rtol=1e-9, atol=1e-12)
    assert_allclose(sampler.transform(NEW_ROWS), found.transform(NEW_ROWS), atol=1e-9)


def test_a_constant_target_leaves_the_features_as_drawn():
    sampler = RFMFeatures(12, bandwidth=2.0, random_state=0).fit(ROWS, np.zeros(60))
    assert_allclose(
        sampler.transform(NEW_ROWS), drawn("offset", 12).transform(NEW_ROWS), atol=1e-12
    )
    assert "does not vary" in sampler.notes_[0]
