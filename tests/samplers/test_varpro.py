from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from sklearn.linear_model import Ridge

from rfbench.checking.samplers import CHECK_ROWS, CHECK_TARGET, MAPS
from rfbench.samplers import VariableProjection
from rfbench.samplers.varpro import compute_held_out_loss, compute_reduced_loss, fit_ridge

from .candidates import TWO, drawn


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("targets", [CHECK_TARGET[:, None], TWO])
@pytest.mark.parametrize("alpha", [1e-3, 0.1])
def test_loss_and_gradient_equal_scikit_learn_and_finite_differences(feature_map, targets, alpha):
    """The loss to 1e-9, the gradient to 1e-5 relative."""
    first = drawn(feature_map, 6)
    shape, count = first.frequencies.shape, first.frequencies.size

    def both(point):
        offsets = point[count:] if feature_map == "offset" else None
        found = replace(first, frequencies=point[:count].reshape(shape), offsets=offsets)
        coef, intercept = fit_ridge(found, CHECK_ROWS, targets, alpha)
        loss, by_W, by_b = compute_reduced_loss(found, CHECK_ROWS, targets, alpha, coef, intercept)
        Z = found.transform(CHECK_ROWS)
        fit = Ridge(alpha * 60).fit(Z, targets)
        squares = np.sum((targets - fit.predict(Z).reshape(targets.shape)) ** 2) / 60
        assert_allclose(loss, (squares + alpha * np.sum(fit.coef_**2)) / 2, rtol=1e-9)
        assert_allclose(
            compute_held_out_loss(found, CHECK_ROWS, targets, coef, intercept), squares, rtol=1e-9
        )
        return loss, np.append(by_W.ravel(), by_b if feature_map == "offset" else [])

    start = first.frequencies.ravel()
    if feature_map == "offset":
        start = np.append(start, first.offsets)
    wrong = check_grad(lambda x: both(x)[0], lambda x: both(x)[1], start, epsilon=1e-6)
    assert wrong < 1e-5 * np.linalg.norm(both(start)[1])


@pytest.mark.parametrize("feature_map", MAPS)
def test_training_adapts_frequencies_to_a_single_sine_target(feature_map):
    """One wave: with 3 frequencies it cannot be hit at random, and is fitted when trained."""
    rows = np.random.default_rng(0).standard_normal((400, 4))
    target = np.sin(rows @ [1.5, -1.0, 0.0, 0.5])
    for seed in range(3):
        words = {"feature_map": feature_map, "bandwidth": 1.0, "random_state": seed}
        sampler = VariableProjection(3, alpha=1e-5, iterations=200, **words).fit(rows, target)
        assert sampler.losses_[0] > 0.2
        assert sampler.losses_.min() < 0.01


def test_returned_feature_map_has_the_smallest_validation_loss():
    rows = np.random.default_rng(0).standard_normal((400, 4))
    target = np.sin(rows @ [1.5, -1.0, 0.0, 0.5])
    sampler = VariableProjection(3, bandwidth=1.0, random_state=0).fit(rows, target)
    order = np.random.default_rng(0).spawn(5)[3].permutation(400)
    held, training = np.sort(order[:40]), np.sort(order[40:])
    Z = sampler.transform(rows)
    fit = Ridge(360 * 1e-3).fit(Z[training], target[training])
    found = np.mean((fit.predict(Z[held]) - target[held]) ** 2)
    assert_allclose(found, sampler.losses_.min(), rtol=1e-6)
