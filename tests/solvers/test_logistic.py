"""Logistic regression reaches its optimum, however many features there are."""

import numpy as np
import pytest
from scipy.special import logsumexp

from rfbench.samplers import RKS
from rfbench.solvers import LogisticClassifier, newton
from rfbench.solvers.newton import Multinomial, TwoClasses


def on_a_sphere(n=300, d=10, classes=2):
    """The label is the shell that a row lies in, the shells equally full."""
    X = np.random.default_rng(0).standard_normal((n, d))
    radius = np.linalg.norm(X, axis=1)
    return X, np.searchsorted(np.quantile(radius, np.arange(1, classes) / classes), radius)


def features_of(X, M):
    return RKS(M, bandwidth=3.0, random_state=0).fit(X).transform(X)


def objective(Z, y, alpha, theta, b):
    """The documented objective, and its gradient, from theta of shape (p, t)."""
    decisions = Z @ theta + b
    if theta.shape[1] == 1:
        decisions = np.column_stack([-decisions / 2, decisions / 2])
    logs = logsumexp(decisions, axis=1)
    excess = np.exp(decisions - logs[:, None])
    excess[np.arange(len(y)), y] -= 1.0
    if theta.shape[1] == 1:
        excess = excess[:, 1:]
    value = (logs - decisions[np.arange(len(y)), y]).sum() + alpha * (theta**2).sum() / 2
    return value, np.vstack([Z.T @ excess + alpha * theta, excess.sum(axis=0)])


def gap_bound(Z, y, alpha, solver):
    """Objective of a fit, and a bound on its distance to the optimum over theta: strong convexity.

    |g|^2 / (2 alpha), for the constant at its own optimum.
    """
    value, gradient = objective(Z, y, alpha, solver.coef_.T, solver.intercept_)
    assert not solver.intercept or np.abs(gradient[-1]).max() < 1e-6
    return value, (gradient[:-1] ** 2).sum() / (2 * alpha)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("M", [40, 299, 300, 301, 400])
@pytest.mark.parametrize("intercept", [True, False])
def test_logistic_objective_is_optimal_for_each_number_of_features(classes, M, intercept):
    X, y = on_a_sphere(classes=classes)
    Z, alpha = features_of(X, M), 1e-4
    solver = LogisticClassifier(alpha, intercept=intercept).fit(Z, y)
    assert solver.notes_ == []
    value, gap = gap_bound(Z, y, alpha, solver)
    assert gap < 1e-6 * value


@pytest.mark.parametrize("loss", [TwoClasses, Multinomial])
def test_loss_derivatives_equal_finite_differences(loss, rng):
    codes = np.array([0, 2, 1, 1, 0, 2])
    made = loss(2.0 * (codes[:, None] > 0) - 1) if loss is TwoClasses else loss(codes)
    t = 1 if loss is TwoClasses else 3
    at, v = rng.standard_normal((6, t)), rng.standard_normal((6, t))
    up, down = at + 1e-5 * v, at - 1e-5 * v
    slope = made.compute_derivatives(at)
    assert np.vdot(slope.gradient, v) == pytest.approx(
        (made.compute_value(up) - made.compute_value(down)) / 2e-5, rel=1e-7
    )
    np.testing.assert_allclose(
        slope.curvature(v),
        (made.compute_derivatives(up).gradient - made.compute_derivatives(down).gradient) / 2e-5,
        atol=1e-8,
    )
    traces = [
        sum(slope.curvature(np.outer(np.arange(6) == i, np.arange(t) == c))[i, c] for c in range(t))
        for i in range(6)
    ]
    np.testing.assert_allclose(slope.weights * max(t - 1, 1), traces, rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_looser_tolerance_gives_a_larger_duality_gap(classes):
    X, y = on_a_sphere(classes=classes)
    loose, tight = (LogisticClassifier(0.1, tol=tol).fit(X, y) for tol in (1e-3, 1e-8))
    assert loose.converged_
    assert tight.converged_
    assert 1e-4 >= loose.gap_ > 10 * tight.gap_


@pytest.mark.parametrize("classes", [2, 3])
def test_loose_fit_stops_on_gradient_norm_and_reports_the_duality_gap(classes):
    X, y = on_a_sphere(n=600, classes=classes)
    Z, alpha = features_of(X, 60), 0.1
    best = objective(Z, y, alpha, *fitted(Z, y, alpha, 1e-10))[0]
    gaps = []
    for tol in (3e-1, 1e-2, 1e-4):
        theta, b = fitted(Z, y, alpha, tol)
        value, gradient = objective(Z, y, alpha, theta, b)
        _, at_zero = objective(Z, y, alpha, 0 * theta, 0 * b)
        assert np.abs(gradient).max() <= tol * np.abs(at_zero).max()
        gap = LogisticClassifier(alpha, tol=tol).fit(Z, y).gap_
        assert (value - best) / value <= gap + 1e-12
        gaps.append(gap)
    assert gaps[0] > 1e-3 > gaps[-1]  # no bound of its own ends the steps


def fitted(Z, y, alpha, tol):
    solver = LogisticClassifier(alpha, tol=tol).fit(Z, y)
    return solver.coef_.T, solver.intercept_


@pytest.mark.parametrize("classes", [2, 3])
def test_loose_fit_computes_the_first_hessian_on_a_subset_of_rows(classes, monkeypatch):
    X, y = on_a_sphere(n=600, classes=classes)
    Z = features_of(X, 40)
    made = []
    real = newton.Newton._hessian

    def hessian(self, weights, every=1):
        made.append((every, real(self, weights, every), real(self, weights)))
        return made[-1][1]

    monkeypatch.setattr(newton.Newton, "_hessian", hessian)
    LogisticClassifier(0.1, tol=1e-8).fit(Z, y)
    assert {every for every, *_ in made} == {1}
    made.clear()
    LogisticClassifier(0.1, tol=1e-3).fit(Z, y)
    (every, part, whole), *later = made
    assert every == 600 // (newton.SAMPLED * 40)
    # The sums of the part stand for those of all rows.
    assert part[-1, -1] == pytest.approx(whole[-1, -1], rel=0.05)
    assert np.trace(part) == pytest.approx(np.trace(whole), rel=0.05)
    assert all(every == 1 for every, *_ in later)
    # Products with the part are counted over all steps: then the Hessian of all rows is made.
    made.clear()
    monkeypatch.setattr(newton, "PRODUCTS_PER_FACTORIZATION", 1)
    LogisticClassifier(0.1, tol=1e-4).fit(Z, y)
    assert [every for every, *_ in made][:2] == [600 // (newton.SAMPLED * 40), 1]


def test_nonfinite_hessian_stops_with_a_message():
    """Lifting its diagonal would never make it positive definite."""
    problem = newton.Newton(np.eye(3), newton.TwoClasses(np.ones(3)), intercept=False)
    problem.hessian = np.eye(3) + np.where(np.eye(3, k=1) + np.eye(3, k=-1) > 0, np.inf, 0.0)
    with pytest.raises(ValueError, match="not finite"):
        problem._factor(1.0)
