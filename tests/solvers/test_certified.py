"""What is proven of a fit holds: on ill-conditioned problems, against other people's solvers."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from rfbench import solvers
from rfbench.solvers.fits import LinearPath, join_paths
from tests.support.nightly import at_night


def problem(seed):
    """Return features whose singular values span 2 to 8 powers of ten, a number, and signs."""
    generator = np.random.default_rng(seed)
    n, p = int(generator.integers(40, 120)), int(generator.integers(5, 60))
    turn, _ = np.linalg.qr(generator.standard_normal((p, p)))
    spread = np.logspace(0, -generator.uniform(2, 8), p)
    Z = (generator.standard_normal((n, p)) * spread) @ turn + 0.3 * generator.standard_normal(p)
    f = Z @ generator.standard_normal(p) * 2 + 0.5 * generator.standard_normal(n)
    return Z, f, np.where(f > np.median(f), 1.0, -1.0)


def svm_value(Z, y, alpha, theta, b):
    slack = np.maximum(0.0, 1.0 - y * (Z @ theta + b))
    return (slack**2).sum() + alpha * (theta @ theta + b * b) / 2


def svm(Z, f, y, seed):
    alpha = 10.0 ** (1 - seed % 5)
    solver = solvers.make("svm", alphas=alpha).fit(Z, y)
    rival = LinearSVC(C=1 / alpha, dual=True, tol=1e-10, max_iter=3000, random_state=0).fit(Z, y)
    ends = ((model.coef_[0], float(np.ravel(model.intercept_)[0])) for model in (solver, rival))
    return solver, *(svm_value(Z, y, alpha, *end) for end in ends)


def logistic(Z, f, y, seed):
    alpha = 10.0 ** (1 - seed % 7)
    solver = solvers.make("logistic", alphas=alpha).fit(Z, y)
    rival = LogisticRegression(C=1 / alpha, solver="newton-cholesky", tol=1e-12).fit(Z, y)

    def value(coef, decisions):
        return np.logaddexp(0, -y * decisions).sum() + alpha * (coef**2).sum() / 2

    ends = (
        value(solver.coef_, solver.compute_decisions(Z)[:, 0]),
        value(rival.coef_, rival.decision_function(Z)),
    )
    return solver, *ends


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")  # the rival
@pytest.mark.parametrize("seeds", [range(10), *at_night(range(10, 50))], ids=str)
@pytest.mark.parametrize("fit", [svm, logistic])
def test_duality_gap_bounds_the_distance_to_the_optimum(fit, seeds):
    for seed in seeds:
        solver, value, rival = fit(*problem(seed), seed)
        assert solver.converged_
        assert solver.gap_ <= 1e-4
        assert value - rival <= solver.gap_ * value + 1e-9 * value, seed


@pytest.mark.parametrize("name", ["svm", "logistic", "joint"])
def test_unconverged_fits_and_folds_are_reported(name):
    Z, _, y = problem(3)
    words = {"alphas": [0.01, 0.1], "selection": "cv3", "random_state": 0}
    whole = solvers.make(name, **words).fit(Z, y)
    short = solvers.make(name, max_iter=1, **words).fit(Z, y)
    assert whole.converged_ is True
    assert whole.gap_folds_ <= 1e-4
    assert not any("chose" in note for note in whole.notes_)
    assert short.converged_ is False
    assert short.gap_folds_ > 1e-4
    assert any("of the fits that select" in note for note in short.notes_)


def test_fit_is_converged_only_if_each_decision_column_is():
    def path(*converged):
        a = len(converged)
        zeros = np.zeros((a, 1, 1))
        return LinearPath(
            zeros, intercepts=zeros[:, 0], notes=[[]] * a, converged=np.array(converged)
        )

    joined = join_paths([path(True, True, False), None, path(True, False, False)])
    assert joined.converged.tolist() == [True, False, False]


@pytest.mark.parametrize("name", ["ridge", "kernel-ridge"])
def test_closed_form_solvers_have_no_convergence_status(name):
    assert solvers.make(name).fit(*problem(3)[::2]).converged_ is None
