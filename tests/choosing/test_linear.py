"""Logistic regression with a searched penalty."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import check_estimator

from rfbench.choosing import linear
from rfbench.choosing.linear import CS, LogisticSearch


def words(seed, n=240):
    """Rare and frequent indicators, whose effect on the class is small."""
    random = np.random.default_rng(seed)
    levels = [0.45, 0.3, 0.13, 0.06, 0.04, 0.02]
    codes = pd.DataFrame({f"w{j}": random.choice(6, n, p=levels) for j in range(12)})
    score = sum((codes[f"w{j}"] == 0) * (1.5 if j < 4 else 0.3) for j in range(12))
    y = random.random(n) < 1 / (1 + np.exp(-(score - score.mean())))
    return pd.get_dummies(codes.astype(str)).to_numpy(float), np.where(y, "yes", "no")


def test_logistic_fit_on_a_large_table_limits_its_iterations(monkeypatch):
    X, y = words(0)
    whole = LogisticSearch(Cs=(1e4,)).fit(X, y)
    assert whole.n_iter_.max() > 4
    monkeypatch.setattr(linear, "MOST_CELLS", 2 * X.size - 1)
    monkeypatch.setattr(linear, "CELL_ITERATIONS", 8 * X.size)
    assert LogisticSearch(Cs=(1e4,)).fit(X, y).n_iter_.max() == 4
    monkeypatch.setattr(linear, "MOST_CELLS", 2 * X.size)
    assert (LogisticSearch(Cs=(1e4,)).fit(X, y).n_iter_ == whole.n_iter_).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_logistic_search_passes_the_scikit_learn_checks():
    check_estimator(LogisticSearch(Cs=(0.1, 1.0)))


def test_selected_penalty_has_the_smallest_cross_validation_loss():
    X, y = words(0)
    found = LogisticSearch(Cs=(0.01, 1.0, 100.0)).fit(X, y)
    losses = np.zeros(3)
    for fit, held in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        centered = X - X.mean(axis=0)
        for i, C in enumerate((0.01, 1.0, 100.0)):
            model = LogisticRegression(C=C, max_iter=2000, tol=1e-8).fit(centered[fit], y[fit])
            losses[i] += log_loss(y[held], model.predict_proba(centered[held]), normalize=False)
    np.testing.assert_allclose(found.losses_, losses / len(y), rtol=1e-2)  # solvers stop early
    assert found.C_ == (0.01, 1.0, 100.0)[losses.argmin()]


def test_indicator_columns_are_not_divided_by_their_standard_deviation():
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(5, 3, 200), random.random(200) < 0.02, np.ones(200)])
    found = LogisticSearch(Cs=(1.0,)).fit(X, random.integers(2, size=200))
    np.testing.assert_allclose(found._scale, [X[:, 0].std(), 1, 1])


@pytest.mark.parametrize("seed", range(3))
def test_searched_penalty_beats_the_constant_model_on_sparse_text(seed):
    (X, y), (X_new, y_new) = words(seed, 150), words(100 + seed, 2000)
    columns = min(X.shape[1], X_new.shape[1])
    X, X_new = X[:, :columns], X_new[:, :columns]
    share = (y == "yes").mean()
    constant = log_loss(y_new, np.full(len(y_new), share), labels=["no", "yes"])
    searched = log_loss(y_new, LogisticSearch().fit(X, y).predict_proba(X_new))
    weak = LogisticSearch(Cs=(1e4,)).fit(X, y)
    assert searched < constant < log_loss(y_new, weak.predict_proba(X_new))


def test_class_with_one_row_is_supported_in_cross_validation():
    X = np.random.default_rng(0).standard_normal((30, 2))
    y = np.array(["a", "b"] * 14 + ["a", "rare"])
    found = LogisticSearch().fit(X, y)
    assert found.predict_proba(X).shape == (30, 3)
    assert np.isfinite(found.losses_).all()
    assert found.C_ in CS
