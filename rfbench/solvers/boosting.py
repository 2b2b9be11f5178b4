"""Gradient boosting of scikit-learn with a parameter search, as a baseline for random features."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, ParameterSampler
from sklearn.utils._param_validation import Interval

from rfbench.arrays import Array, Rows

# Possible values of each parameter of boosting. The random search draws each value with equal
# probability. The values include smaller and larger values than the defaults of scikit-learn.
BOOSTING_GRID: dict[str, list[Any]] = {
    "learning_rate": [0.02, 0.05, 0.1, 0.2],
    "max_iter": [50, 100, 200, 300],
    "max_leaf_nodes": [7, 15, 31, 63],
    "min_samples_leaf": [5, 10, 20, 50],
    "l2_regularization": [0.0, 0.1, 1.0, 10.0],
}
TREES = "max_iter"
# A fit stops if this number of consecutive trees has not reduced the loss on the held-out rows. It
# is twice the default of scikit-learn, because with a small learning rate each tree reduces the
# loss only a little.
ROUNDS_WITHOUT_GAIN = 20


class _SearchedBoosting(BaseEstimator):  # type: ignore[misc]
    """Base class of gradient boosting with a random search over its parameters.

    Parameters
    ----------
    n_iter : int
        Number of parameter settings to try. The first setting is scikit-learn's default.
    cv : int or list of pairs of arrays
        Number of folds, or for each fold the indices of the training rows and of the held-out rows.
    trees : int
        Maximum number of trees. In cross-validation, a fit stops early if the loss on the held-out
        rows no longer decreases. The final fit has the mean number of trees over the folds. If
        `trees` is 0, fits do not stop early, and the number of trees is drawn from `BOOSTING_GRID`.
    random_state : int
        Random seed of the drawn settings, the folds and the fits.

    Attributes
    ----------
    best_params_ : dict
        The selected setting, with its number of trees as ``max_iter``.
    at_edge_ : list of str
        Names of the parameters whose selected value is the smallest or the largest value tried.
    best_estimator_ : estimator
        An estimator with the selected setting, fitted on all rows.
    """

    boosting: ClassVar[type[Any]]
    scoring: ClassVar[str]
    revision: ClassVar[int] = 1
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "cv": [Interval(Integral, 2, None, closed="left"), list],
        "trees": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self, n_iter: int = 20, cv: Any = 3, random_state: int = 0, trees: int = 0
    ) -> None:
        self.n_iter, self.cv, self.random_state, self.trees = n_iter, cv, random_state, trees

    def settings(self) -> list[dict[str, Any]]:
        """Return the list of parameter settings that the random search tries."""
        grid = {k: v for k, v in BOOSTING_GRID.items() if not self.trees or k != TREES}
        drawn = ParameterSampler(grid, self.n_iter - 1, random_state=self.random_state)
        return [{}, *drawn]

    def fit(self, X: Rows, y: Any) -> Self:
        """Select a parameter setting by cross-validation, and fit this setting on all rows X."""
        y = np.asarray(y)
        folds = self.cv
        if isinstance(folds, Integral):
            shuffled = KFold(int(folds), shuffle=True, random_state=self.random_state)
            folds = list(shuffled.split(X))
        score, settings = get_scorer(self.scoring), self.settings()
        scores, trees = np.zeros((2, len(settings), len(folds)))
        for i, setting in enumerate(settings):
            for k, (train, held_out) in enumerate(folds):
                model = self._fitted(setting, X[train], y[train], X[held_out], y[held_out])
                scores[i, k] = score(model, X[held_out], y[held_out])
                trees[i, k] = model.n_iter_
        best = int(scores.mean(axis=1).argmax())
        self.best_params_ = dict(settings[best])
        if self.trees:
            self.best_params_[TREES] = round(trees[best].mean())
        self.best_estimator_ = self._model(self.best_params_).fit(X, y)
        tried = {**BOOSTING_GRID, TREES: [1, self.trees]} if self.trees else BOOSTING_GRID
        self.at_edge_ = sorted(
            name
            for name, value in self.best_params_.items()
            if not min(tried[name]) < value < max(tried[name])
        )
        return self

    def _fitted(self, setting: dict[str, Any], X: Rows, y: Any, X_val: Rows, y_val: Any) -> Any:
        """Return a boosting model with the parameters `setting` that is fitted on X and y.

        If `trees` is above 0, the loss on X_val and y_val determines the number of trees.
        """
        if not self.trees:
            return self._model(setting).fit(X, y)
        stopping = {
            "early_stopping": True,
            "n_iter_no_change": ROUNDS_WITHOUT_GAIN,
            TREES: self.trees,
        }
        return self._model(setting).set_params(**stopping).fit(X, y, X_val=X_val, y_val=y_val)

    def predict(self, X: Rows) -> Array:
        """Return the predictions for the rows X, shape (n,)."""
        return self.best_estimator_.predict(X)  # type: ignore[no-any-return]

    def _model(self, setting: dict[str, Any]) -> Any:
        return self.boosting(early_stopping=False, random_state=self.random_state, **setting)


class SearchedBoostingRegressor(RegressorMixin, _SearchedBoosting):  # type: ignore[misc]
    """Gradient boosting for regression, whose parameters are selected by the squared error."""

    boosting = HistGradientBoostingRegressor
    scoring = "neg_mean_squared_error"


class SearchedBoostingClassifier(ClassifierMixin, _SearchedBoosting):  # type: ignore[misc]
    """Gradient boosting for classification, whose parameters are selected by the error rate."""

    boosting = HistGradientBoostingClassifier
    scoring = "accuracy"
