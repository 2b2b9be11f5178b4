"""The system of the rows gives the fit of the system of the columns, and its losses."""

import itertools

import numpy as np
import pytest

from rfbench.clock import Clock
from rfbench.samplers import RKS
from rfbench.solvers import RidgeClassifier, RidgeRegressor
from rfbench.solvers.design import Design
from rfbench.solvers.fits import fit_from_gram
from tests.support.nightly import nightly
from tests.support.problems import problem

ALPHAS = [0.3, 3.0, 30.0]


def by_columns(solver, X, y):
    """Return the fits from Gram matrices of the columns."""
    targets = solver._targets(y)
    folds = solver._make_folds(solver.resolve_selection(), len(X))
    fits = fit_from_gram(Design(X), targets, folds, Clock(), solver._solve, solver.intercept)
    if fits.held_loss is None and folds is not None:
        loss = 0.0
        for g, path in enumerate(fits.partial):
            rows = np.flatnonzero(folds == g)
            loss += solver._losses(
                path.compute_decisions(Design(X[rows])), targets.truth[rows]
            ) * len(rows)
        return fits.path, loss
    return fits.path, None if fits.held_loss is None else fits.held_loss.sum(axis=0)


# By day each value of every parameter, with each kind of target and each selection.
BY_DAY = [
    ((24, 24), "absolute", True),
    ((24, 25), "per-sample", False),
    ((30, 90), "absolute", False),
    ((9, 400), "per-sample", True),
]
SHAPES = [shape for shape, _, _ in BY_DAY]
EVERY = itertools.product(SHAPES, ["absolute", "per-sample"], [True, False])


@pytest.mark.parametrize(
    ("shape", "convention", "intercept"),
    [*BY_DAY, *(pytest.param(*case, marks=nightly) for case in EVERY if case not in BY_DAY)],
    ids=str,
)
@pytest.mark.parametrize("selection", ["cv3", "validation", "test"])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("real", {}),
        ("several", {}),
        ("two", {}),
        ("four", {}),
        ("four", {"multiclass": "one-vs-one"}),
    ],
    ids=str,
)
def test_dual_ridge_equals_primal_ridge(kind, options, shape, selection, convention, intercept):
    X, y = problem(*shape, kind)
    cls = RidgeRegressor if kind in ("real", "several") else RidgeClassifier
    words = {"intercept": intercept, "alpha_convention": convention, "random_state": 0, **options}
    solver = cls(ALPHAS, selection=selection, **words)
    solver.fit(X, y, evaluation=(X[::2], y[::2]))
    path, loss = by_columns(solver, X, y)
    best = list(solver.make_grid()).index(solver.alpha_)
    if loss is not None:
        assert best == int(np.argmin(loss))
        rows = len(X) if selection == "cv3" else round(0.2 * len(X))
        assert solver.selection_loss_ == pytest.approx(loss[best] / rows, rel=1e-10)
    scale = np.abs(path.coefficients[best]).max()
    np.testing.assert_allclose(solver.coef_.T, path.coefficients[best], rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(solver.intercept_, path.intercepts[best], atol=1e-10)


@pytest.mark.parametrize("n_components", [100, 300])
def test_float32_and_sparse_rows_give_the_same_coefficients(n_components):
    from scipy import sparse

    X, y = problem(60, 5, "real")
    X = X.astype(np.float32)
    features = RKS(n_components, bandwidth=3.0, random_state=0).fit(X)
    dense = RidgeRegressor(ALPHAS, random_state=0).fit(X, y, features=features)
    thin = RidgeRegressor(ALPHAS, random_state=0).fit(sparse.csr_array(X), y, features=features)
    double = RidgeRegressor(ALPHAS, random_state=0).fit(features.transform(X).astype(float), y)
    scale = np.abs(double.coef_).max()
    np.testing.assert_allclose(dense.coef_, double.coef_, rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(thin.coef_, double.coef_, rtol=0, atol=1e-4 * scale)


@pytest.mark.parametrize("least", [0.0, 1e-12])
def test_penalties_near_machine_precision_are_solved_fold_by_fold(least, monkeypatch):
    X, y = problem(30, 90, "real")
    X[1] = X[0]  # a direction of no length
    fitted = RidgeRegressor([least, 1.0], random_state=0).fit(X, y)
    monkeypatch.setattr("rfbench.solvers.ridge.FEWEST_FOLDS", 99)
    alone = RidgeRegressor([least, 1.0], random_state=0).fit(X, y)
    np.testing.assert_array_equal(fitted.fold_losses_, alone.fold_losses_)
    np.testing.assert_array_equal(fitted.coef_, alone.coef_)


def test_dual_ridge_does_not_compute_the_gram_matrix_of_the_columns(monkeypatch):
    def refuse(*_):
        raise AssertionError("a p x p matrix")

    monkeypatch.setattr(Design, "accumulate_equations", refuse)
    X, y = problem(30, 90, "four")
    RidgeClassifier(ALPHAS, random_state=0).fit(X, y)
    RidgeClassifier(ALPHAS, multiclass="one-vs-one", random_state=0).fit(X, y)
    with pytest.raises(AssertionError, match="p x p"):
        RidgeClassifier(ALPHAS, random_state=0).fit(X[:, :29], y)
