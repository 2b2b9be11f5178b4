"""Samplers that promise less variance than independent frequencies have it."""

import numpy as np
import pytest

from rfbench import samplers
from tests.support.nightly import at_night

from .unbiased import estimates, points


@pytest.mark.parametrize(
    "case",
    [("orf", {}), ("qmc", {"sequence": "sobol"}), *at_night(("qmc", {"sequence": "halton"}))],
)
def test_orf_and_qmc_have_smaller_variance_than_independent_frequencies(case):
    name, options = case

    def spread(method, **options):
        def make(seed):
            words = {"feature_map": "paired", "bandwidth": 2.0, "random_state": seed, **options}
            return samplers.make(method, n_components=60, **words)

        return estimates(make, points(5)).var(axis=0)[~np.eye(5, dtype=bool)].mean()

    assert spread(name, **options) < 0.8 * spread("rks")
