"""The closed form of the leave-one-out error is that of n refits."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeCV

from rfbench import solvers
from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.samplers import EERF, RKS
from rfbench.solvers import (
    KernelRidgeClassifier,
    KernelRidgeRegressor,
    RidgeClassifier,
    RidgeRegressor,
)
from rfbench.solvers.design import Design
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


def losses_of(solver, X, y):
    fits = solver._fits(Design(X), solver._targets(y), None, Clock())
    return fits.held_loss.sum(axis=0) / len(y)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("convention", ["absolute", "per-sample"])
@pytest.mark.parametrize("shape", [(16, 3), (16, 15), (16, 16), (12, 40)], ids=str)
@pytest.mark.parametrize("kind", ["real", "several", "two", "four"])
def test_it_is_n_refits(kind, shape, convention, intercept):
    X, y = problem(*shape, kind)
    numeric = kind in ("real", "several")
    words = {"intercept": intercept, "alpha_convention": convention}
    cls = RidgeRegressor if numeric else RidgeClassifier
    solver = cls(ALPHAS, selection="loo", **words)
    expected = refits(lambda alpha: cls(alpha, **words), X, y, numeric)
    np.testing.assert_allclose(losses_of(solver, X, y), expected, rtol=1e-9)
    solver.fit(X, y)
    best = int(np.argmin(expected))
    assert solver.alpha_ == ALPHAS[best]
    assert solver.selection_loss_ == pytest.approx(expected[best], rel=1e-9)
    alone = cls(solver.alpha_, **words).fit(X, y)
    np.testing.assert_allclose(solver.decisions(X), alone.decisions(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["real", "several", "four"])
@pytest.mark.parametrize("convention", ["absolute", "per-sample"])
def test_of_a_kernel_it_is_n_refits(kind, intercept, convention):
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


@pytest.mark.parametrize("shape", [(60, 8), (30, 80)], ids=str)
def test_it_chooses_what_scikit_learn_chooses(shape):
    X, y = problem(*shape, "real")
    theirs = RidgeCV(ALPHAS).fit(X, y)
    ours = RidgeRegressor(ALPHAS, selection="loo").fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.selection_loss_ == pytest.approx(-theirs.best_score_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_[0], theirs.coef_, atol=1e-8)


@pytest.mark.parametrize("n_components", [20, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_features_of_any_rows(n_components, dtype, container):
    X, y = problem(50, 4, "real")
    features = RKS(n_components, bandwidth=3.0, random_state=0).fit(X.astype(dtype))
    Z = features.transform(X.astype(dtype)).astype(float)
    solver = RidgeRegressor(ALPHAS, selection="loo")
    solver.fit(container(X.astype(dtype)), y, features=features)
    expected = refits(RidgeRegressor, Z, y, numeric=True)
    tolerance = 1e-4 if dtype == np.float32 else 1e-9
    assert solver.alpha_ == ALPHAS[int(np.argmin(expected))]
    assert solver.selection_loss_ == pytest.approx(min(expected), rel=tolerance)


def test_blocks_of_rows_make_no_difference(monkeypatch):
    X, y = problem(50, 8, "several")
    whole = RidgeRegressor(ALPHAS, selection="loo").fit(X, y)
    monkeypatch.setattr("rfbench.solvers.design.BLOCK_BYTES", 1)
    streamed = RidgeRegressor(ALPHAS, selection="loo").fit(X, y)
    assert streamed.selection_loss_ == pytest.approx(whole.selection_loss_, rel=1e-12)


def test_no_penalty_and_more_columns_than_rows_have_a_limit():
    X, y = problem(12, 40, "real")
    solver = RidgeRegressor(0.0, selection="loo").fit(X, y)
    tiny = RidgeRegressor(1e-9, selection="loo").fit(X, y)
    assert solver.selection_loss_ == pytest.approx(tiny.selection_loss_, rel=1e-6)


def test_a_row_that_alone_holds_a_column_cannot_be_left_out_without_a_penalty():
    X, y = problem(20, 4, "real")
    X[:, 3] = 0.0
    X[7, 3] = 1e4
    assert RidgeRegressor(0.0, selection="loo").fit(X, y).selection_loss_ == np.inf
    assert RidgeRegressor([0.0, 1.0], selection="loo").fit(X, y).alpha_ == 1.0


def test_features_fitted_to_the_target_are_refused():
    X, y = problem(40, 4, "two")
    features = EERF(10, pool_size=20, bandwidth=2.0, random_state=0).fit(X, y)
    with pytest.raises(MethodError, match="'loo'.*target"):
        RidgeClassifier(ALPHAS, selection="loo").fit(X, y, features=features)
    foreign = LinearDiscriminantAnalysis().fit(X, y)
    with pytest.raises(MethodError, match="'loo'.*target"):
        RidgeClassifier(ALPHAS, selection="loo").fit(X, y, features=foreign)


@pytest.mark.parametrize("name", ["logistic", "svm", "joint"])
def test_others_have_no_closed_form(name):
    with pytest.raises(MethodError, match="no leave-one-out error in closed form"):
        solvers.make(name, selection="loo").check_parameters()


def test_pairs_of_classes_are_refused():
    X, y = problem(40, 4, "four")
    with pytest.raises(MethodError, match="one-vs-one"):
        RidgeClassifier(ALPHAS, selection="loo", multiclass="one-vs-one").fit(X, y)
