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

    def sizes_of(found):
        coef = Ridge(60 * 0.01).fit(found.transform(ROWS), TWO).coef_
        parts = coef.reshape(2, -1, 6)  # targets, columns of a frequency, frequencies
        return np.sqrt(np.sum(parts**2, axis=(0, 1)))

    found = drawn(feature_map, 6)
    sizes, shares = sizes_of(found), []
    for sweep in range(5):
        walk = 0.3 / 2.0 * generator.standard_normal((6, 5)).T
        tried = replace(found, frequencies=found.frequencies + walk)
        other = sizes_of(tried)
        taken = (other / sizes) ** gamma > generator.uniform(size=6)
        found = replace(found, frequencies=np.where(taken, tried.frequencies, found.frequencies))
        sizes = sizes_of(found) if sweep in (1, 3) else np.where(taken, other, sizes)
        shares.append(taken.mean())
    words = {"feature_map": feature_map, "bandwidth": 2.0, "random_state": 0, "alpha": 0.01}
    sampler = ARFF(6, sweeps=5, step=0.3, refit=2, exponent=exponent, **words).fit(ROWS, TWO)
    assert 0 < sum(shares) < 5
    assert_allclose(sampler.accepted_, shares)
    assert_allclose(sampler.transform(NEW_ROWS), found.transform(NEW_ROWS), atol=1e-9)


@pytest.mark.parametrize("feature_map", MAPS)
def test_the_walk_finds_the_waves_of_the_target(feature_map):
    """Two waves that are faster than the kernel's: random frequencies miss them."""
    rows, new = np.random.default_rng(0).standard_normal((2, 600, 2))

    def target(X):
        return np.sin(X @ [3.0, 0.0]) + np.cos(X @ [0.0, 3.0])

    for seed in range(3):
        words = {"feature_map": feature_map, "bandwidth": 1.0, "random_state": seed}
        errors = []
        for sampler in (RKS(12, **words), ARFF(12, sweeps=300, step=0.3, **words)):
            Z = sampler.fit(rows, target(rows)).transform(rows)
            fit = Ridge(1e-3).fit(Z, target(rows))
            errors.append(np.mean((fit.predict(sampler.transform(new)) - target(new)) ** 2))
        assert errors[1] < 0.1 * errors[0]
