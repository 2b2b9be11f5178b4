"""Gradient boosting of scikit-learn, its parameters searched: what features are held against."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import KFold, ParameterSampler, cross_val_score
from sklearn.utils._param_validation import Interval

from rfbench.arrays import Array, Rows

# What is drawn from, each value as likely as any other; around scikit-learn's defaults.
GRID: dict[str, list[Any]] = {
    "learning_rate": [0.02, 0.05, 0.1, 0.2],
    "max_iter": [50, 100, 200, 300],
    "max_leaf_nodes": [7, 15, 31, 63],
    "min_samples_leaf": [5, 10, 20, 50],
    "l2_regularization": [0.0, 0.1, 1.0, 10.0],
}


class _SearchedBoosting(BaseEstimator):  # type: ignore[misc]
    """Base of both searches.

    Parameters
    ----------
    n_iter : int
        How many settings are tried; scikit-learn's defaults are the first.
    cv : int
        How many folds choose.
    random_state : int
        Of the settings drawn, the folds and the fits.

    Attributes
    ----------
    best_params_ : dict
    best_estimator_ : estimator
        With these, fitted on all rows.
    """

    boosting: ClassVar[type[Any]]
    scoring: ClassVar[str]
    revision: ClassVar[int] = 1
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_iter: int = 20, cv: int = 3, random_state: int = 0) -> None:
        self.n_iter, self.cv, self.random_state = n_iter, cv, random_state

    def settings(self) -> list[dict[str, Any]]:
        """Return the settings that are tried."""
        drawn = ParameterSampler(GRID, self.n_iter - 1, random_state=self.random_state)
        return [{}, *drawn]

    def fit(self, X: Rows, y: Any) -> Self:
        """Try every setting in the same folds, and fit the best on all rows."""
        folds = KFold(self.cv, shuffle=True, random_state=self.random_state)
        scores = []
        for setting in self.settings():
            model = self._model(setting)
            scores.append(cross_val_score(model, X, y, cv=folds, scoring=self.scoring).mean())
        best = max(range(len(scores)), key=scores.__getitem__)
        self.best_params_ = self.settings()[best]
        self.best_estimator_ = self._model(self.best_params_).fit(X, y)
        return self

    def predict(self, X: Rows) -> Array:
        """Return the predictions, shape (n,)."""
        return self.best_estimator_.predict(X)  # type: ignore[no-any-return]

    def _model(self, setting: dict[str, Any]) -> Any:
        return self.boosting(early_stopping=False, random_state=self.random_state, **setting)


class SearchedBoostingRegressor(RegressorMixin, _SearchedBoosting):  # type: ignore[misc]
    """Gradient boosting of regression trees, searched by the squared error; see its base."""

    boosting = HistGradientBoostingRegressor
    scoring = "neg_mean_squared_error"


class SearchedBoostingClassifier(ClassifierMixin, _SearchedBoosting):  # type: ignore[misc]
    """Gradient boosting of classification trees, searched by the error; see its base."""

    boosting = HistGradientBoostingClassifier
    scoring = "accuracy"
