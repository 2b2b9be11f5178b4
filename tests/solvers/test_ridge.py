import numpy as np
import pytest
from sklearn import linear_model
from sklearn.base import clone

from rfbench.clock import Clock
from rfbench.samplers import RKS
from rfbench.solvers import RidgeClassifier, RidgeRegressor, base
from rfbench.solvers.coding import Coding, Targets
from rfbench.solvers.design import Design

ALPHAS = np.logspace(-4, 3, 8)


def held_out_folds(solver, n):
    return solver._make_folds(solver.resolve_selection(), n)


@pytest.mark.parametrize("intercept", [True, False])
def test_model_equals_scikit_learn(regression, several, intercept):
    X, y = regression
    theirs = linear_model.Ridge(2.0, fit_intercept=intercept).fit(X, y)
    ours = RidgeRegressor(2.0, intercept=intercept).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    X, y = several
    rival = linear_model.RidgeClassifier(2.0, fit_intercept=intercept).fit(X, y)
    classifier = RidgeClassifier(2.0, intercept=intercept).fit(X, y)
    np.testing.assert_allclose(
        classifier.compute_decisions(X), rival.decision_function(X), atol=1e-9
    )
    assert (classifier.predict(X) == rival.predict(X)).all()


@pytest.mark.parametrize("convention", ["absolute", "per-sample"])
@pytest.mark.parametrize("selection", ["cv4", "validation"])
@pytest.mark.parametrize("case", ["regression", "binary", "one-vs-rest", "one-vs-one"])
def test_selection_equals_refitting_each_fold(request, case, selection, convention):
    X, y = request.getfixturevalue("several" if case.startswith("one") else case)
    shared = {"alpha_convention": convention}
    if case.startswith("one"):
        shared["multiclass"] = case
    cls = RidgeRegressor if case == "regression" else RidgeClassifier
    solver = cls(ALPHAS, selection=selection, random_state=3, **shared).fit(X, y)
    folds = held_out_folds(solver, len(X))
    errors = np.zeros(len(ALPHAS))
    for g in range(folds.max() + 1):
        held = folds == g
        for i, alpha in enumerate(sorted(ALPHAS)[::-1]):
            refitted = cls(alpha, **shared).fit(X[~held], y[~held])
            predicted = refitted.predict(X[held])
            wrong = (predicted - y[held]) ** 2 if case == "regression" else predicted != y[held]
            errors[i] += wrong.sum()
    assert solver.alpha_ == sorted(ALPHAS)[::-1][int(np.argmin(errors))]
    np.testing.assert_allclose(
        solver.coef_, cls(solver.alpha_, **shared).fit(X, y).coef_, rtol=1e-8
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_one_vs_one_equals_separate_fits_of_pairs(several, intercept):
    X, y = several
    solver = RidgeClassifier(0.5, multiclass="one-vs-one", intercept=intercept).fit(X, y)
    pairs = Coding(4, "one-vs-one").pairs
    assert solver.coef_.shape == (6, 3)
    for column, (i, j) in enumerate(pairs):
        rows = (y == i) | (y == j)
        pair = RidgeClassifier(0.5, intercept=intercept).fit(X[rows], y[rows])
        np.testing.assert_allclose(solver.coef_[column], pair.coef_[0], rtol=1e-9)
        np.testing.assert_allclose(solver.intercept_[column], pair.intercept_[0], atol=1e-12)


def test_per_sample_penalty_of_one_vs_one_uses_the_rows_of_the_pair(several):
    X, y = several
    solver = RidgeClassifier(0.01, multiclass="one-vs-one", alpha_convention="per-sample").fit(X, y)
    rows = y < 2
    pair = RidgeClassifier(0.01 * rows.sum()).fit(X[rows], y[rows])
    np.testing.assert_allclose(solver.coef_[0], pair.coef_[0], rtol=1e-9)


def test_fold_loss_in_float32_equals_the_loss_computed_from_its_rows():
    grid = [10.0**e for e in range(-8, 5)]
    for seed in range(5):
        generator = np.random.default_rng(seed)
        X = generator.standard_normal((400, 3)).astype(np.float32)
        y = np.sin(X @ generator.standard_normal(3)) + 0.05 * generator.standard_normal(400)
        design = Design(X, RKS(300, bandwidth=5.0, random_state=seed).fit(X))
        solver = RidgeRegressor(grid)
        fits = solver._fits(design, Targets(y[:, None]), np.arange(400) % 2, Clock())
        direct = sum(
            ((part.compute_decisions(design)[:, g::2, 0] - y[g::2]) ** 2).sum(axis=1)
            for g, part in enumerate(fits.partial)
        )
        np.testing.assert_allclose(fits.held_loss.sum(axis=0), direct, rtol=0.05)


@pytest.mark.parametrize("multiclass", ["one-vs-rest", "one-vs-one"])
def test_fold_losses_computed_in_blocks_are_unchanged(several, multiclass, monkeypatch):
    X, y = several
    solver = RidgeClassifier([0.1, 10.0], multiclass=multiclass, selection="cv5", random_state=0)
    whole = clone(solver).fit(X, y)
    asked = []
    real = base.Solver._summed_losses
    monkeypatch.setattr(base, "DECISIONS", 7 * 2 * whole.intercept_.size)
    monkeypatch.setattr(
        base.Solver,
        "_summed_losses",
        lambda self, decisions, truth: asked.append(len(truth)) or real(self, decisions, truth),
    )
    np.testing.assert_array_equal(solver.fit(X, y).fold_losses_, whole.fold_losses_)
    assert max(asked) == 7
    assert sum(asked) == len(y)
