import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

from rfbench import memory
from rfbench.errors import MethodError
from rfbench.samplers import RKS
from rfbench.samplers.lkrf import compute_chi_square_weights
from rfbench.solvers import JointClassifier
from rfbench.solvers.joint import compute_lower_bound, find_best_intercept, solve_saddle


def sphere(n, N, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(np.linalg.norm(X, axis=1) > np.sqrt(d), 1.0, -1.0)
    phi = np.sqrt(2) * np.cos(X @ rng.standard_normal((d, N)) + rng.uniform(0, 2 * np.pi, N))
    return phi, y


def solve(phi, y, C, rho, tol=1e-6, intercept=True):
    return solve_saddle(y[:, None] * phi, y, C, rho, intercept=intercept, tol=tol, max_iter=200)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "N"), [(60, 90), (90, 30)])
def test_primal_and_dual_solutions_are_feasible_and_bound_the_optimum(n, N, intercept):
    phi, y = sphere(n, N)
    C, rho = 2.0, 8.0
    found = solve(phi, y, C, rho, intercept=intercept)
    q, a = found.q, found.a
    assert q.min() >= 0
    assert q.sum() == pytest.approx(1.0)
    assert N * q @ q - 1 <= rho * (1 + 1e-9)
    assert a.min() >= 0
    assert a.max() <= C
    assert not intercept or abs(y @ a) < 1e-8 * C
    A = y[:, None] * phi
    assert found.lower == pytest.approx(compute_lower_bound(A, a, rho))
    slack = np.maximum(0, 1 - y * (phi @ found.weights + found.b))
    assert found.upper == pytest.approx(found.weights**2 @ (1 / q) / 2 + C * slack.sum())
    if intercept:
        machine = SVC(C=C, kernel="precomputed", tol=1e-10).fit((phi * q) @ phi.T, y)
        dual = np.zeros(n)
        dual[machine.support_] = np.abs(machine.dual_coef_[0])
        value = dual.sum() - q @ (A.T @ dual) ** 2 / 2
        assert found.lower <= value * (1 + 1e-6)
        assert value <= found.upper * (1 + 1e-6)


@pytest.mark.parametrize("rho", [1.0, 20.0])
def test_optimum_equals_that_of_a_general_convex_solver(rho):
    phi, y = sphere(14, 6, d=2, seed=3)
    A, C = y[:, None] * phi, 1.5
    constraint = {"type": "eq", "fun": lambda a: y @ a, "jac": lambda a: y}

    def negative(a):
        return -compute_lower_bound(A, a, rho)

    def slope(a):
        g = A.T @ a
        return A @ (compute_chi_square_weights(g**2, rho) * g) - 1

    general = minimize(
        negative,
        np.full(14, 0.1),
        jac=slope,
        bounds=[(0, C)] * 14,
        constraints=[constraint],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert solve(phi, y, C, rho, tol=1e-8).lower == pytest.approx(-general.fun, rel=1e-5)


def test_fitted_intercept_minimizes_the_hinge_loss(rng):
    values, y = rng.standard_normal(31), np.where(rng.random(31) < 0.3, 1.0, -1.0)
    b = find_best_intercept(values, y, 0.0)

    def hinge(b):
        return np.maximum(0, 1 - y * (values + b)).sum()

    assert hinge(b) <= min(hinge(t) for t in np.linspace(-5, 5, 2001)) + 1e-12


def test_tiny_divergence_ball_gives_the_svm_with_uniform_weights():
    phi, y = sphere(80, 40)
    found = solve(phi, y, 1.0, 1e-9, tol=1e-7)
    machine = SVC(C=1.0, kernel="precomputed", tol=1e-10).fit(phi @ phi.T / 40, y)
    decisions = phi @ found.weights + found.b
    np.testing.assert_allclose(decisions, machine.decision_function(phi @ phi.T / 40), atol=1e-3)


def test_classifier_learns_the_kernel_of_the_labels():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1100, 7))
    y = np.linalg.norm(X, axis=1) > np.sqrt(7)
    pool = RKS(600, bandwidth=1.0, random_state=0).fit(X)
    uniform, learned = (
        JointClassifier(0.1, rho=rho).fit(X[:600], y[:600], features=pool) for rho in (1e-6, 30.0)
    )
    assert learned.score(X[600:], y[600:]) > uniform.score(X[600:], y[600:]) + 0.02
    assert 600 * np.sum(learned.kernel_weights_**2) - 1 <= 30 * (1 + 1e-9)
    assert learned.notes_[0].startswith("relative duality gap")
    Z = pool.transform(X[600:610])
    np.testing.assert_allclose(
        learned.compute_decisions(X[600:610])[:, 0], Z @ learned.coef_[0] + learned.intercept_[0]
    )


def test_multiclass_or_too_large_problem_raises_method_error(several, binary, monkeypatch):
    with pytest.raises(MethodError, match="two classes, but there are 4"):
        JointClassifier().fit(*several)
    monkeypatch.setattr(memory, "count_free_bytes", lambda: 1e4)
    with pytest.raises(MethodError, match="The matrix of 4 features of 80 rows"):
        JointClassifier().fit(*binary)
