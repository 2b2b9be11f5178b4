"""The closed form of the leave-one-out error is that of n refits."""

import numpy as np
import pytest

from rfbench import solvers
from rfbench.errors import MethodError
from rfbench.solvers import KernelRidgeClassifier, KernelRidgeRegressor
from tests.support.problems import problem

ALPHAS = [100.0, 3.0, 0.2, 0.01]


def refits(make, X, y, numeric):
    """Return the loss of each penalty, by n refits."""
    losses = []
    for alpha in ALPHAS:
        total = 0.0
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            predicted = make(alpha).fit(X[rest], y[rest]).predict(X[i : i + 1])[0]
            total += np.mean((predicted - y[i]) ** 2) if numeric else float(predicted != y[i])
        losses.append(total / len(y))
    return losses


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["real", "several", "four"])
@pytest.mark.parametrize("convention", ["absolute", "per-sample"])
def test_leave_one_out_error_of_a_kernel_is_that_of_n_refits(kind, intercept, convention):
    X, y = problem(14, 3, kind)
    numeric = kind in ("real", "several")
    cls = KernelRidgeRegressor if numeric else KernelRidgeClassifier
    words = {"bandwidth": 2.0, "intercept": intercept, "alpha_convention": convention}
    solver = cls(ALPHAS, selection="loo", **words).fit(X, y)
    expected = refits(lambda alpha: cls(alpha, **words), X, y, numeric)
    assert solver.selection_loss_ == pytest.approx(min(expected), rel=1e-9)
    assert solver.alpha_ == ALPHAS[int(np.argmin(expected))]
    alone = cls(solver.alpha_, **words).fit(X, y)
    np.testing.assert_allclose(solver.decisions(X), alone.decisions(X), rtol=1e-8, atol=1e-10)


def test_no_penalty_has_a_limit():
    X, y = problem(12, 4, "real")
    solver = KernelRidgeRegressor(0.0, selection="loo", bandwidth=1.0).fit(X, y)
    tiny = KernelRidgeRegressor(1e-9, selection="loo", bandwidth=1.0).fit(X, y)
    assert solver.selection_loss_ == pytest.approx(tiny.selection_loss_, rel=1e-6)


@pytest.mark.parametrize("name", ["ridge", "logistic", "svm", "joint"])
def test_others_have_no_closed_form(name):
    with pytest.raises(MethodError, match="no leave-one-out error in closed form"):
        solvers.make(name, selection="loo").check_parameters()
