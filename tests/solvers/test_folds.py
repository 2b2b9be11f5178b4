"""What chooses has not been seen by what is chosen: features and groups in folds."""

import inspect

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_classif
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Lasso, LassoCV, LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline

from rfbench import samplers
from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.registry import SAMPLERS
from rfbench.samplers import EERF, RKS
from rfbench.samplers.base import uses_target
from rfbench.solvers import ExternalSolver, RidgeClassifier, RidgeRegressor, make
from rfbench.solvers.boosting import SearchedBoostingRegressor
from rfbench.solvers.folds import assign_group_folds

ALPHAS = [1e-3, 1e-1, 1e1]


def noise(n=200, d=5, seed=0):
    draws = np.random.default_rng(seed)
    return draws.standard_normal((n, d)), draws.standard_normal(n)


def eerf(X, y):
    return EERF(20, pool_size=2000, score_rows=1.0, bandwidth=1.0, random_state=0).fit(X, y)


@pytest.mark.parametrize("name", SAMPLERS)
def test_sampler_declares_whether_it_uses_the_target(name):
    """Its features change with shuffled labels exactly if it says so."""
    X, y = noise(40)
    labels = (y > 0).astype(int)
    made = [
        samplers.make(name, n_components=6, bandwidth=1.0, random_state=0).fit(X, own).transform(X)
        for own in (labels, np.random.default_rng(1).permutation(labels))
    ]
    assert uses_target(SAMPLERS[name]) == (not np.array_equal(*made))


@pytest.mark.parametrize(
    ("transformer", "looks"),
    [
        (PCA(), False),
        (RBFSampler(), False),
        (LinearDiscriminantAnalysis(), True),
        (SelectKBest(f_classif), True),
        (SelectFromModel(Lasso()), True),
        (make_pipeline(PCA(), RBFSampler()), False),
        (make_pipeline(SelectKBest(f_classif), RBFSampler()), True),
        (EERF(), True),
        (RKS(), False),
        (None, False),
        (object(), False),
    ],
)
def test_external_transformer_declares_target_use_by_its_tag(transformer, looks):
    assert uses_target(transformer) is looks


def by_brute_force(X, y, folds, fit_features, loss):
    """Return the mean loss of each penalty: features and ridge regression without the fold."""
    total = np.zeros(len(ALPHAS))
    for g in np.unique(folds[folds >= 0]):
        held = folds == g
        features = fit_features(X[~held], y[~held])
        for i, alpha in enumerate(sorted(ALPHAS, reverse=True)):
            solver = loss.solver(alpha).fit(features.transform(X[~held]), y[~held])
            total[i] += loss(solver.predict(features.transform(X[held])), y[held])
    return total / np.count_nonzero(folds >= 0)


class Squares:
    solver, labels = RidgeRegressor, staticmethod(lambda y: y)

    def __call__(self, predicted, y):
        return float(np.sum((predicted - y) ** 2))


class Errors:
    solver, labels = RidgeClassifier, staticmethod(lambda y: np.digitize(y, [-0.5, 0.5]))

    def __call__(self, predicted, y):
        return int(np.sum(predicted != y))


@pytest.mark.parametrize("selection", ["cv4", "validation"])
@pytest.mark.parametrize("loss", [Squares(), Errors()])
def test_fold_loss_equals_refitting_features_without_the_fold(selection, loss):
    X, y = noise()
    y = loss.labels(0.2 * y + 2 * np.sin(X[:, 0]))
    clock = Clock()
    solver = loss.solver(ALPHAS, selection=selection, random_state=0)
    solver.fit(X, y, features=eerf(X, y), clock=clock)
    folds = solver._make_folds(selection, len(y))
    expected = by_brute_force(X, y, folds, eerf, loss)
    assert solver.selection_loss_ == pytest.approx(expected.min(), rel=1e-9)
    assert solver.alpha_ == sorted(ALPHAS, reverse=True)[int(expected.argmin())] < max(ALPHAS)
    assert solver.features_in_folds_ == "nested"
    weights = np.bincount(folds[folds >= 0])
    assert np.average(solver.fold_losses_, weights=weights) == pytest.approx(expected.min())
    assert clock.wall["pp"] == 0  # the fits of features in folds are time of training
    # The final fit is that of the chosen penalty on all rows.
    alone = loss.solver(solver.alpha_).fit(eerf(X, y).transform(X), y)
    np.testing.assert_allclose(solver.coef_, alone.coef_, rtol=1e-6, atol=1e-9)


def test_features_fitted_once_give_a_too_small_loss_on_noise():
    X, y = noise()
    fits = {
        how: RidgeRegressor(ALPHAS, selection="cv5", random_state=0).fit(
            X, y, features=eerf(X, y), features_in_folds=how
        )
        for how in ("nested", "once")
    }
    assert fits["once"].features_in_folds_ == "once"
    assert fits["once"].selection_loss_ < 0.9 * np.var(y) < fits["nested"].selection_loss_
    with pytest.raises(MethodError, match="'twice'"):
        RidgeRegressor(ALPHAS).fit(X, y, features=eerf(X, y), features_in_folds="twice")


@pytest.mark.parametrize("name", ["logistic", "svm"])
def test_each_solver_supports_features_fitted_inside_the_folds(name):
    X, y = noise(120)
    y = (y > 0).astype(int)
    solver = make(name, alphas=ALPHAS, selection="cv3", random_state=0).fit(
        X, y, features=eerf(X, y)
    )
    wrong = 0
    folds = solver._make_folds("cv3", len(y))
    for g in range(3):
        held = folds == g
        features = eerf(X[~held], y[~held])
        alone = make(name, alphas=solver.alpha_, selection="fixed", random_state=0)
        alone.fit(X[~held], y[~held], features=features)
        wrong += int(np.sum(alone.predict(X[held]) != y[held]))
    assert solver.selection_loss_ == pytest.approx(wrong / len(y), abs=1.5 / len(y))


def grouped(n=120, k=12, seed=0):
    """Rows of groups that say the target: neighbours of a row are of its group."""
    draws = np.random.default_rng(seed)
    groups = draws.integers(0, k, n)
    X = draws.standard_normal((k, 4))[groups] + 0.1 * draws.standard_normal((n, 4))
    return X, groups, draws.integers(0, 2, k)[groups]


@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize("count", [2, 5])
def test_folds_do_not_split_groups(codes, count):
    _, groups, y = grouped()
    folds = assign_group_folds(groups * 7 - 3, y if codes else None, count, seed=0)
    assert set(folds) == set(range(count))
    for group in np.unique(groups):
        assert len(set(folds[groups == group])) == 1
    assert np.bincount(folds).min() > 0.4 * len(y) / count
    np.testing.assert_array_equal(
        folds, assign_group_folds(groups * 7 - 3, y if codes else None, count, 0)
    )


def test_folds_contain_all_classes_if_possible():
    y = np.repeat([0, 1], [90, 30])
    groups = np.arange(120) // 5  # each of one class
    for seed in range(5):
        folds = assign_group_folds(groups, y, 3, seed)
        assert [np.bincount(y[folds == g]).tolist() for g in range(3)] == 3 * [[30, 10]]


def test_fewer_groups_than_folds_reduce_the_folds_and_one_group_is_rejected():
    X, groups, y = grouped(k=3, seed=3)
    solver = RidgeClassifier(ALPHAS, selection="cv5", random_state=0).fit(X, y, groups=groups)
    assert len(solver.fold_losses_) == 3
    assert "3 folds, because the training rows have 3 groups" in solver.notes_
    with pytest.raises(MethodError, match="only one group"):
        RidgeClassifier(ALPHAS, selection="cv5").fit(X, y, groups=np.zeros(len(y)))
    RidgeClassifier(1.0).fit(X, y, groups=np.zeros(len(y)))  # nothing is chosen


@pytest.mark.parametrize(
    "estimator",
    [RidgeCV(ALPHAS), LassoCV(alphas=ALPHAS, cv=3), SearchedBoostingRegressor(n_iter=1, trees=5)],
)
def test_folds_of_an_external_estimator_do_not_split_groups(estimator):
    X, groups, y = grouped()
    ExternalSolver(estimator, classification=True).fit(X, y, groups=groups)
    assert len(estimator.cv) in (3, 5)
    for rest, held in estimator.cv:
        assert not set(groups[rest]) & set(groups[held])
        assert len(rest) + len(held) == len(y)


def test_early_stopping_of_boosting_uses_whole_groups(monkeypatch):
    X, groups, y = grouped()
    seen = {}
    fit = HistGradientBoostingClassifier.fit

    def noted(self, X, y, **other):
        seen.update(other, X=X)
        return fit(self, X, y, **other)

    noted.__signature__ = inspect.signature(fit)
    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", noted)
    told = "X_val" in inspect.signature(fit).parameters  # from scikit-learn 1.7 on
    for stops in (True, False):
        seen.clear()
        boosting = HistGradientBoostingClassifier(early_stopping=stops, max_iter=3)
        ExternalSolver(boosting, classification=True).fit(X, y, groups=groups)
        assert ("X_val" in seen) is (stops and told)
        if stops and told:
            own, other = (
                {int(np.flatnonzero((X == row).all(axis=1))[0]) for row in rows}
                for rows in (seen["X"], seen["X_val"])
            )
            assert not set(groups[list(own)]) & set(groups[list(other)])


def test_cross_validating_estimator_on_target_based_features_gets_a_note():
    X, y = noise()
    for estimator, says in ((RidgeCV(ALPHAS), True), (Lasso(), False)):
        solver = ExternalSolver(estimator, classification=False).fit(X, y, features=eerf(X, y))
        assert (solver.features_in_folds_ == "once") is says
        assert bool(solver.notes_) is says
    labels = (y > 0).astype(int)
    external = ExternalSolver(LogisticRegression(), classification=True)
    assert not external.fit(X, labels, features=eerf(X, labels)).notes_


def test_large_row_in_one_fold_does_not_affect_other_folds():
    """The equations of the other folds are sums: a difference would lose them to rounding."""
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 20))
    y = X[:, 0] + random.standard_normal(300) > 0
    X[7] *= 1e9
    fold = RidgeClassifier(random_state=0)._make_folds("cv5", len(y))
    held = fold == fold[7]
    for alpha in (0.1, 1.0, 10.0, 100.0):
        one = RidgeClassifier([alpha, 2 * alpha], selection="cv5", random_state=0).fit(X, y)
        refit = RidgeClassifier([one.alpha_]).fit(X[~held], y[~held])
        wrong = np.mean(refit.predict(X[held]) != y[held])
        np.testing.assert_allclose(one.fold_losses_[fold[7]], wrong, atol=1e-12)
