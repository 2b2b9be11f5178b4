"""Fits with a loose tolerance: products with the Hessian in float32, the gradient in float64."""

import numpy as np
import pytest

from rfbench.errors import MethodError
from rfbench.solvers import LogisticClassifier, RidgeRegressor, newton
from rfbench.solvers.design import Design
from rfbench.solvers.joint import JointClassifier
from rfbench.solvers.svm import SVMClassifier


def make_rows(n=300, p=12):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, p))
    return Z, (Z[:, 0] + rng.standard_normal(n) > 0).astype(int)


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("intercept", [True, False])
def test_relative_gradient_is_within_the_tolerance_of_a_loose_fit(tol, intercept) -> None:
    Z, y = make_rows()
    model = LogisticClassifier(0.5, tol=tol, intercept=intercept).fit(Z, y)

    def gradient(coefficients, constant):
        rest = 1 / (1 + np.exp(-(Z @ coefficients + constant))) - y
        back = Z.T @ rest + 0.5 * coefficients
        return np.abs(np.append(back, rest.sum() * intercept)).max()

    here = gradient(model.coef_[0], float(np.squeeze(model.intercept_)))
    assert here <= 1.001 * tol * gradient(np.zeros(Z.shape[1]), 0.0)
    assert model.gap_ is not None


@pytest.mark.parametrize(("tol", "expected"), [(1e-3, {"float32", "float64"}), (1e-8, {"float64"})])
def test_logistic_fits_use_float32_only_for_loose_tolerances(tol, expected, monkeypatch) -> None:
    seen = set()
    original = newton.matmul

    def matmul(a, b):
        seen.add(str(b.dtype))
        return original(a, b)

    monkeypatch.setattr(newton, "matmul", matmul)
    Z, y = make_rows()
    LogisticClassifier(0.5, tol=tol).fit(Z, y)
    assert seen == expected


def test_loose_fit_takes_inexact_newton_steps(monkeypatch) -> None:
    shares = []
    original = newton.Newton._step

    def step(self, slope, gradient, alpha, precondition, share):
        shares.append(share)
        return original(self, slope, gradient, alpha, precondition, share)

    monkeypatch.setattr(newton.Newton, "_step", step)
    Z, y = make_rows()
    LogisticClassifier(0.5, tol=1e-2).fit(Z, y)
    assert set(shares) == {0.1}
    shares.clear()
    LogisticClassifier(0.5, tol=1e-8).fit(Z, y)
    assert min(shares) < 0.01


def test_input_matrix_is_not_copied_or_modified() -> None:
    Z, y = make_rows()
    assert Design(Z).compute_matrix(copy=False) is Z
    assert Design(Z).compute_matrix() is not Z
    before = Z.copy()
    solvers = (LogisticClassifier, SVMClassifier, JointClassifier, RidgeRegressor)
    for solver in solvers:
        solver(1.0).fit(Z, y)
        assert np.array_equal(Z, before), solver
    few = Z[:5].copy()
    RidgeRegressor(1.0).fit(few, y[:5])  # more columns than rows: the mean is subtracted in place
    assert np.array_equal(few, before[:5])


def test_nonfinite_input_is_rejected_if_it_is_not_copied() -> None:
    Z, _ = make_rows()
    Z[3, 2] = np.nan
    with pytest.raises(MethodError, match="not finite"):
        Design(Z).compute_matrix(copy=False)
