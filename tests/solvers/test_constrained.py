import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.special import expit

from rfbench.solvers import ConstrainedClassifier, ConstrainedRegressor


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.5, 2.0, 6.0, 1e3])
def test_least_squares_in_a_box_equals_scipy(regression, intercept, C):
    X, y = regression
    solver = ConstrainedRegressor(C, intercept=intercept, normalised=False).fit(X, y)
    Z = np.column_stack([X, np.ones(len(X))]) if intercept else X
    limit = np.full(Z.shape[1], C / 5)
    limit[5:] = np.inf
    found = lsq_linear(Z, y, (-limit, limit), method="bvls", tol=1e-14)
    np.testing.assert_allclose(solver.coef_[0], found.x[:5], atol=1e-7)
    assert np.abs(solver.coef_).max() <= C / 5


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_wider_box_fits_no_worse_and_the_optimality_conditions_hold(binary, loss):
    X, y = binary
    signs, losses = 2.0 * y - 1, []
    for C in (0.1, 0.5, 1.0, 4.0, 20.0):
        solver = ConstrainedClassifier(C, loss=loss, normalised=False).fit(X, y)
        f = solver.decisions(X)[:, 0]
        if loss == "squared":
            losses.append(np.sum((f - signs) ** 2))
            pull = f - signs
        else:
            losses.append(np.logaddexp(0, -signs * f).sum())
            pull = -signs * expit(-signs * f)
        gradient, theta = X.T @ pull, solver.coef_[0]
        scale = np.abs(X.T @ signs).max()
        inside = np.abs(theta) < C / 4 * (1 - 1e-12)
        assert np.abs(gradient[inside]).max(initial=0.0) < 1e-6 * scale
        assert (gradient[~inside] * theta[~inside] <= 0).all()
        assert abs(pull.sum()) < 1e-6 * scale
        assert solver.notes_ == [f"bound C = {C:g}"]
    assert (np.diff(losses) <= 1e-9).all()


def test_the_bound_is_for_features_without_their_factor(regression):
    X, y = regression
    given = ConstrainedRegressor(1.0, normalised=False).fit(X, y)
    carrying = ConstrainedRegressor(1.0).fit(X / np.sqrt(5), y)
    np.testing.assert_allclose(carrying.predict(X / np.sqrt(5)), given.predict(X), rtol=1e-6)
    assert np.abs(carrying.coef_).max() == pytest.approx(1 / np.sqrt(5))


def test_selection_takes_a_bound(several):
    X, y = several
    solver = ConstrainedClassifier([0.01, 1.0, 100.0], selection="test", loss="squared")
    solver.fit(X, y, evaluation=(X, y))
    errors = [1 - ConstrainedClassifier(C).fit(X, y).score(X, y) for C in (0.01, 1.0, 100.0)]
    assert solver.bound_ == (0.01, 1.0, 100.0)[int(np.argmin(errors))]
    assert np.isnan(solver.alpha_)


def test_more_columns_than_rows_stay_in_the_box(rng):
    X, y = rng.standard_normal((10, 30)), rng.standard_normal(10)
    solver = ConstrainedRegressor(30.0, normalised=False).fit(X, y)
    assert np.abs(solver.coef_).max() <= 1.0
    assert np.abs(solver.predict(X) - y).max() < 1e-5


def test_columns_far_from_zero(regression):
    X, y = regression
    far, near = (ConstrainedRegressor(0.5).fit(X + shift, y) for shift in (1e8, 0.0))
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
