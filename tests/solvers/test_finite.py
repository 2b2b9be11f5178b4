"""Features that are not finite, on the ways that the solvers' contract does not go."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from rfbench.errors import MethodError
from rfbench.solvers import ExternalSolver
from rfbench.solvers.design import Design
from tests.solvers.contract import Spoilt


def test_external_estimator_gets_finite_features(regression):
    X, y = regression
    X[57, 0] = 101.0
    with pytest.raises(MethodError, match="not finite"):
        ExternalSolver(LinearRegression(), classification=False).fit(X, y, features=Spoilt(np.nan))


def test_large_features_with_overflowing_sum_are_finite():
    X = np.full((70, 3), 1.5e308)
    assert np.isfinite(Design(X).compute_matrix()).all()
