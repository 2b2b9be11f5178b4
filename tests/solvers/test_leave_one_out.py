"""The closed form of the leave-one-out error is that of n refits."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from rfbench import solvers
from rfbench.errors import MethodError
from rfbench.samplers import EERF, RKS
from rfbench.solvers import (
    KernelRidgeClassifier,
    KernelRidgeRegressor,
    RidgeClassifier,
    RidgeRegressor,
    design,
)
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
def test_kernel_leave_one_out_error_equals_that_of_n_refits(kind, intercept, convention):
    X, y = problem(14, 3, kind)
    numeric = kind in ("real", "several")
    cls = KernelRidgeRegressor if numeric else KernelRidgeClassifier
    words = {"bandwidth": 2.0, "intercept": intercept, "alpha_convention": convention}
    solver = cls(ALPHAS, selection="loo", **words).fit(X, y)
    expected = refits(lambda alpha: cls(alpha, **words), X, y, numeric)
    assert solver.selection_loss_ == pytest.approx(min(expected), rel=1e-9)
    assert solver.alpha_ == ALPHAS[int(np.argmin(expected))]
    alone = cls(solver.alpha_, **words).fit(X, y)
    np.testing.assert_allclose(
        solver.compute_decisions(X), alone.compute_decisions(X), rtol=1e-8, atol=1e-10
    )


def test_leave_one_out_loss_is_continuous_at_zero_penalty():
    X, y = problem(12, 4, "real")
    solver = KernelRidgeRegressor(0.0, selection="loo", bandwidth=1.0).fit(X, y)
    tiny = KernelRidgeRegressor(1e-9, selection="loo", bandwidth=1.0).fit(X, y)
    assert solver.selection_loss_ == pytest.approx(tiny.selection_loss_, rel=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["real", "several", "two", "four"])
@pytest.mark.parametrize("shape", [(14, 30), (14, 14), (15, 14), (40, 5)])
def test_ridge_leave_one_out_error_equals_that_of_n_refits(shape, kind, intercept):
    X, y = problem(*shape, kind)
    X, numeric = X + 3.0, kind in ("real", "several")
    cls = RidgeRegressor if numeric else RidgeClassifier
    words = {"intercept": intercept, "alpha_convention": "per-sample"}
    solver = cls(ALPHAS, selection="loo", **words).fit(X, y)
    expected = refits(lambda alpha: cls(alpha, **words), X, y, numeric)
    assert solver.selection_loss_ == pytest.approx(min(expected), rel=1e-9)
    assert solver.alpha_ == ALPHAS[int(np.argmin(expected))]
    alone = cls(solver.alpha_, **words).fit(X, y)
    np.testing.assert_allclose(
        solver.compute_decisions(X), alone.compute_decisions(X), rtol=1e-8, atol=1e-10
    )
    assert solver.alpha_scale_free_ == pytest.approx(alone.alpha_scale_free_, rel=1e-12)


@pytest.mark.parametrize("M", [30, 200])
def test_leave_one_out_in_blocks_equals_scikit_learn(M, monkeypatch):
    # Few rows per block, so that the second pass has several.
    monkeypatch.setattr(design, "choose_block_rows", lambda *of: 16)
    X, y = problem(100, 4, "real")
    features = RKS(M, bandwidth=2.0, random_state=0).fit(X)
    own = RidgeRegressor(ALPHAS, selection="loo").fit(X, y, features=features)
    theirs = RidgeCV(ALPHAS).fit(features.transform(X), y)
    assert own.alpha_ == theirs.alpha_
    assert own.selection_loss_ == pytest.approx(-theirs.best_score_, rel=1e-9)
    np.testing.assert_allclose(own.predict(X), theirs.predict(features.transform(X)), rtol=1e-8)


@pytest.mark.parametrize("M", [30, 200])
def test_leave_one_out_in_float32_equals_float64(M):
    X, y = problem(100, 4, "real")
    both = []
    for dtype in (np.float64, np.float32):
        features = RKS(M, bandwidth=2.0, random_state=0).fit(X.astype(dtype))
        both.append(
            RidgeRegressor(ALPHAS, selection="loo").fit(X.astype(dtype), y, features=features)
        )
    assert both[0].alpha_ == both[1].alpha_
    # Allowed: 100 times the rounding of float32.
    assert both[1].selection_loss_ == pytest.approx(both[0].selection_loss_, rel=1.2e-5)


@pytest.mark.parametrize("shape", [(20, 6), (6, 20)])
def test_zero_penalty_is_not_selected_if_a_row_has_leverage_one(shape):
    X, y = problem(*shape, "real")
    X[:, -1] = 0.0
    X[0] = 0.0
    X[0, -1] = 1.0  # the only row with this column: without a penalty it is fitted exactly
    solver = RidgeRegressor([0.0, 1.0], selection="loo", intercept=False).fit(X, y)
    assert solver.alpha_ == 1.0
    assert np.isfinite(solver.selection_loss_)


def test_one_vs_one_rejects_leave_one_out():
    solver = RidgeClassifier(ALPHAS, selection="loo", multiclass="one-vs-one")
    with pytest.raises(MethodError, match="multiclass is one-vs-one"):
        solver.check_parameters()


def test_features_fitted_on_the_target_reject_leave_one_out():
    X, y = problem(30, 3, "real")
    features = EERF(5, pool_size=20, bandwidth=2.0, random_state=0).fit(X, y)
    with pytest.raises(MethodError, match="the features use the target"):
        RidgeRegressor(ALPHAS, selection="loo").fit(X, y, features=features)


@pytest.mark.parametrize("name", ["logistic", "svm", "joint"])
def test_leave_one_out_is_rejected_for_solvers_without_closed_form(name):
    with pytest.raises(MethodError, match="does not have a leave-one-out error in closed form"):
        solvers.make(name, selection="loo").check_parameters()
