import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, cross_val_score

from rfbench import plugins
from rfbench.solvers.boosting import SearchedBoostingClassifier, SearchedBoostingRegressor


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(150, 3))
    return X, np.sin(2 * X[:, 0]) + 0.3 * generator.normal(size=150)


def test_the_best_setting_is_that_of_scikit_learns_own_folds(rows):
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


def test_classes_are_predicted_as_they_were_given(rows):
    X, y = rows
    labels = np.where(y > 0, 5, 2)
    search = clone(SearchedBoostingClassifier(n_iter=2, cv=2)).fit(X, labels)
    assert set(search.predict(X)) == {2, 5}
    assert np.mean(search.predict(X) == labels) > 0.9


def test_its_identity_is_its_revision_and_not_the_version_of_a_package():
    path = "rfbench.solvers.boosting.SearchedBoostingRegressor"
    assert plugins.identity(path) == "rfbench revision 1"
