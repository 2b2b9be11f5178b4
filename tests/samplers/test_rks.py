import numpy as np
import pytest

from rfbench.checking.samplers import CHECK_ROWS, CHECK_TARGET, NEW_ROWS
from rfbench.samplers import RKS
from rfbench.solvers import RidgeClassifier


@pytest.mark.parametrize("feature_map", ["offset", "paired"])
def test_penalty_divisor_scales_features_like_a_divided_ridge_penalty(feature_map):
    plain, divided = (
        RKS(8, penalty_divisor=c, bandwidth=2.0, feature_map=feature_map, random_state=0).fit(
            CHECK_ROWS
        )
        for c in (1.0, 16.0)
    )
    np.testing.assert_allclose(
        divided.transform(CHECK_ROWS), 4.0 * plain.transform(CHECK_ROWS), rtol=1e-12
    )
    y = CHECK_TARGET.astype(int)
    small = RidgeClassifier(0.5 / 16.0).fit(plain.transform(CHECK_ROWS), y)
    same = RidgeClassifier(0.5).fit(divided.transform(CHECK_ROWS), y)
    np.testing.assert_allclose(
        same.decision_function(divided.transform(NEW_ROWS)),
        small.decision_function(plain.transform(NEW_ROWS)),
        rtol=1e-7,
    )
