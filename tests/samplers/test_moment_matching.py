from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from rfbench import kernels
from rfbench.errors import MethodError
from rfbench.samplers import RKS, MomentMatching
from rfbench.testing.samplers import MAPS, ROWS

from .unbiased import estimates, points, z_scores


@pytest.mark.parametrize("d", [1, 2, 5, 40])
@pytest.mark.parametrize("feature_map", MAPS)
def test_second_moments_are_exact(d: int, feature_map: str) -> None:
    for m in (max(d + 1, 5 * d // 4), 3 * d + 4):
        words: dict[str, Any] = {"bandwidth": 2.0, "feature_map": feature_map, "random_state": 1}
        W = MomentMatching(m, **words).fit(np.zeros((3, d))).feature_map_.frequencies
        assert_allclose(W @ W.T / m * 4, np.eye(d), atol=1e-12)
        if feature_map == "offset":
            assert_allclose(W.mean(axis=1), 0.0, atol=1e-12)


def test_is_the_whitening_of_the_draw() -> None:
    words: dict[str, Any] = {"bandwidth": 1.0, "feature_map": "paired", "random_state": 3}
    plain = RKS(30, **words).fit(ROWS).feature_map_.frequencies.T
    root = linalg.sqrtm(plain.T @ plain / 30).real
    found = MomentMatching(30, **words).fit(ROWS).feature_map_.frequencies.T
    assert_allclose(found, plain @ np.linalg.inv(root), atol=1e-10)


def test_too_few_frequencies_are_refused_with_the_fewest_that_work() -> None:
    for d, least in ((1, 2), (4, 5), (16, 20), (100, 125)):
        rows = np.zeros((3, d))
        MomentMatching(least, bandwidth=1.0).fit(rows)
        with pytest.raises(MethodError, match=f" {least} "):
            MomentMatching(least - 1, bandwidth=1.0).fit(rows)


def test_bias_is_of_the_order_d_over_m() -> None:
    """It is there at M = 10 (so the check can see one), and gone at M = 640."""
    rows = points(5)
    exact = kernels.make("gaussian", 2.0)(rows, rows)

    def scores(m: int) -> Any:
        def make(seed: int) -> Any:
            return MomentMatching(m, bandwidth=2.0, feature_map="paired", random_state=seed)

        sample = estimates(make, rows, seeds=400)
        return np.abs(sample.mean(axis=0) - exact).max(), np.abs(z_scores(sample, exact)).max()

    (near, z), (far, _) = scores(10), scores(640)
    assert z > 5
    assert far < near / 16
    assert near < 0.1
