from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from rfbench.samplers import ARFF, RKS
from rfbench.samplers.base import streams
from rfbench.testing.samplers import MAPS, NEW_ROWS, ROWS

from .candidates import TWO, drawn


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize(("exponent", "gamma"), [(None, 13.0), (2.0, 2.0)])
def test_sweeps_are_the_explicit_recursion(feature_map, exponent, gamma):
    generator = streams(0).selection
    order = generator.permutation(60)
    held, training = np.sort(order[:6]), np.sort(order[6:])

    def fitted(features):
        model = Ridge(54 * 0.01).fit(features.transform(ROWS[training]), TWO[training])
        residual = TWO[held] - model.predict(features.transform(ROWS[held]))
        parts = model.coef_.reshape(2, -1, 6)  # targets, columns of a frequency, frequencies
        return np.sqrt(np.sum(parts**2, axis=(0, 1))), np.sum(residual**2) / 6

    now = drawn(feature_map, 6)
    sizes, loss = fitted(now)
    shares, stops = [], [(loss, now)]
    for sweep in range(5):
        walk = 0.3 / 2.0 * generator.standard_normal((6, 5)).T
        tried = replace(now, frequencies=now.frequencies + walk)
        proposed, _ = fitted(tried)
        taken = (proposed / sizes) ** gamma > generator.uniform(size=6)
        now = replace(now, frequencies=np.where(taken, tried.frequencies, now.frequencies))
        sizes = np.where(taken, proposed, sizes)
        if sweep in (1, 3, 4):
            sizes, loss = fitted(now)
            stops.append((loss, now))
        shares.append(taken.mean())
    args = {"feature_map": feature_map, "bandwidth": 2.0, "random_state": 0, "alpha": 0.01}
    sampler = ARFF(6, sweeps=5, step=0.3, refit=2, exponent=exponent, **args).fit(ROWS, TWO)
    assert 0 < sum(shares) < 5
    assert_allclose(sampler.accepted_, shares)
    assert_allclose(sampler.losses_, [loss for loss, _ in stops])
    best = min(stops, key=lambda stop: stop[0])[1]
    assert_allclose(sampler.transform(NEW_ROWS), best.transform(NEW_ROWS), atol=1e-9)


ROWS_2D, NEW_2D = np.random.default_rng(0).standard_normal((2, 600, 2))


def two_waves(X):
    """Return two waves that are faster than the kernel's: random frequencies miss them."""
    return np.sin(X @ [3.0, 0.0]) + np.cos(X @ [0.0, 3.0])


def error(sampler):
    """Return the squared error of new rows."""
    Z = sampler.fit(ROWS_2D, two_waves(ROWS_2D)).transform(ROWS_2D)
    fit = Ridge(1e-3).fit(Z, two_waves(ROWS_2D))
    return np.mean((fit.predict(sampler.transform(NEW_2D)) - two_waves(NEW_2D)) ** 2)


@pytest.mark.parametrize("feature_map", MAPS)
def test_the_walk_finds_the_waves_of_the_target(feature_map):
    for seed in range(3):
        words = {"feature_map": feature_map, "bandwidth": 1.0, "random_state": seed}
        assert error(ARFF(12, sweeps=300, step=0.3, **words)) < 0.1 * error(RKS(12, **words))


def test_the_default_step_is_long_enough():
    """With steps of 0.1 the geometric mean over six seeds is 0.58 of random kitchen sinks."""
    ratios = [
        error(ARFF(12, bandwidth=1.0, random_state=seed))
        / error(RKS(12, bandwidth=1.0, random_state=seed))
        for seed in range(6)
    ]
    assert np.exp(np.mean(np.log(ratios))) < 0.3
