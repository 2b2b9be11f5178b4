import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, cross_val_score

from rfbench.solvers.boosting import (
    BOOSTING_GRID,
    SearchedBoostingClassifier,
    SearchedBoostingRegressor,
)


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(150, 3))
    return X, np.sin(2 * X[:, 0]) + 0.3 * generator.normal(size=150)


def test_boosting_search_losses_equal_scikit_learn_cross_validation(rows):
    """And scikit-learn's defaults are the first one tried."""
    search = SearchedBoostingRegressor(n_iter=3, cv=3, random_state=1).fit(*rows)
    assert search.settings()[0] == {}
    assert len(search.settings()) == 3
    folds = KFold(3, shuffle=True, random_state=1)
    losses = []
    for setting in search.settings():
        model = HistGradientBoostingRegressor(early_stopping=False, random_state=1, **setting)
        scores = cross_val_score(model, *rows, cv=folds, scoring="neg_mean_squared_error")
        losses.append(-scores.mean())
    assert search.best_params_ == search.settings()[int(np.argmin(losses))]
    expected = HistGradientBoostingRegressor(
        early_stopping=False, random_state=1, **search.best_params_
    ).fit(*rows)
    np.testing.assert_array_equal(search.predict(rows[0]), expected.predict(rows[0]))


def test_number_of_trees_is_chosen_by_early_stopping_in_the_folds(rows):
    """By the trees of scikit-learn's own fits, each stopped by the rows held out of its fold."""
    X, y = rows
    search = SearchedBoostingRegressor(n_iter=4, cv=3, random_state=1, trees=200).fit(X, y)
    assert all("max_iter" not in setting for setting in search.settings())
    losses, trees = [], []
    for setting in search.settings():
        each = []
        for train, held in KFold(3, shuffle=True, random_state=1).split(X):
            model = HistGradientBoostingRegressor(
                max_iter=200, early_stopping=True, n_iter_no_change=20, random_state=1, **setting
            ).fit(X[train], y[train], X_val=X[held], y_val=y[held])
            each.append((np.mean((model.predict(X[held]) - y[held]) ** 2), model.n_iter_))
        losses.append(np.mean([loss for loss, _ in each]))
        trees.append(round(np.mean([n for _, n in each])))
    best = int(np.argmin(losses))
    assert search.best_params_ == {**search.settings()[best], "max_iter": trees[best]}
    assert search.best_estimator_.n_iter_ == trees[best] < 200
    ends = {"max_iter": [1, 200]} | {
        k: (min(v), max(v)) for k, v in BOOSTING_GRID.items() if k != "max_iter"
    }
    assert search.at_edge_ == sorted(k for k, v in search.best_params_.items() if v in ends[k])
    few = SearchedBoostingRegressor(n_iter=1, cv=2, trees=2).fit(X, y)
    assert (few.best_params_, few.at_edge_) == ({"max_iter": 2}, ["max_iter"])


def test_classes_are_predicted_in_their_original_form(rows):
    X, y = rows
    labels = np.where(y > 0, 5, 2)
    search = clone(SearchedBoostingClassifier(n_iter=2, cv=2)).fit(X, labels)
    assert set(search.predict(X)) == {2, 5}
    assert np.mean(search.predict(X) == labels) > 0.9
