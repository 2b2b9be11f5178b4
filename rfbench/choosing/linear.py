"""The linear classifier of `choose`: logistic regression with a cross-validated penalty."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from rfbench.arrays import Array

# Values of C, the inverse strength of the penalty of the linear classifier. At 1e-4, all
# coefficients are nearly 0. At 1e4, there is hardly any penalty. The values were chosen without a
# measurement. With twice as many values, every fit of the linear model needs twice the time.
CS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
# The number of cells is the product of rows, columns and classes. Above MOST_CELLS cells, the
# solver gets at most CELL_ITERATIONS / cells iterations. At MOST_CELLS cells, a search over nine
# penalties in three folds needs about ten seconds (measured). No data set of rfbench has more
# cells.
MOST_CELLS, CELL_ITERATIONS = 20_000_000, 750_000_000
LEAST_PROBABILITY = 1e-15  # lower bound that keeps the log-loss finite, as in scikit-learn


class LogisticSearch(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression whose penalty is selected by cross-validation with the log-loss.

    Columns are standardized to mean 0 and standard deviation 1. Columns of zeros and ones are only
    centered, because dividing the indicator of a rare category by its small standard deviation
    would leave its coefficient almost without a penalty.

    Parameters
    ----------
    Cs : sequence of float, default=(1e-4, 1e-3, ..., 1e4)
        Inverse penalties, like `C` in `sklearn.linear_model.LogisticRegression`.
    n_folds : int, default=3
        Number of stratified folds.
    max_iter : int, default=300
        Number of iterations of the solver for each penalty. If rows x columns x classes is above
        `MOST_CELLS`, the number is at most `CELL_ITERATIONS` divided by that product, but at least
        three.
    random_state : int, default=0
        Seed for shuffling the folds.

    Attributes
    ----------
    C_ : float
        The inverse penalty with the smallest log-loss. If several are tied, the smallest of them.
    losses_ : ndarray of shape (len(Cs),)
        Mean log-loss over held-out rows for each inverse penalty, in increasing order of `Cs`.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_iter_ : ndarray of int
        Number of iterations of the final fit.
    """

    def __init__(
        self,
        Cs: Sequence[float] = CS,
        n_folds: int = 3,
        max_iter: int = 300,
        random_state: int = 0,
    ) -> None:
        self.Cs, self.n_folds = Cs, n_folds
        self.max_iter, self.random_state = max_iter, random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Select the penalty by cross-validation, and fit the model with the selected penalty.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Labels of at least two classes.

        Returns
        -------
        self : LogisticSearch
            The fitted model.

        Raises
        ------
        ValueError
            If there is only one class, or X contains values that are not finite.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("There is only one class, but logistic regression needs two.")
        indicator = ((X == 0) | (X == 1)).all(axis=0)
        deviation = X.std(axis=0)
        self._center = X.mean(axis=0)
        self._scale = np.where(indicator | (deviation == 0), 1.0, deviation)
        Z, cells = self._scaled(X), X.size * len(self.classes_)
        self._most = self.max_iter
        if cells > MOST_CELLS:
            self._most = min(self.max_iter, max(3, CELL_ITERATIONS // cells))
        values = sorted(self.Cs)
        with warnings.catch_warnings():
            # Hide the warnings about a class with fewer rows than folds, and about fits that stop
            # at the limit `max_iter`.
            warnings.simplefilter("ignore")
            self.losses_ = self._fold_losses(Z, codes, values)
            self.C_ = float(values[int(np.argmin(self.losses_))])
            self._model = self._estimator().set_params(C=self.C_).fit(Z, codes)
        self.n_iter_ = self._model.n_iter_
        return self

    def _fold_losses(self, Z: Array, codes: NDArray[Any], values: Sequence[float]) -> Array:
        """Return the log-loss of each inverse penalty in `values`, computed by cross-validation.

        Z contains the scaled training rows, and `codes` their class codes.
        """
        total, held_out = np.zeros(len(values)), 0
        n_folds = min(self.n_folds, int(np.bincount(codes).max()))
        if n_folds < 2:
            return total
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        for fit, held in folds.split(Z, codes):
            if len(np.unique(codes[fit])) < 2:
                continue
            model = self._estimator()
            held_out += len(held)
            # Start each fit from the solution for the previous value of C, the next stronger
            # penalty.
            for i, C in enumerate(values):
                model.set_params(C=C).fit(Z[fit], codes[fit])
                # If a class has no rows in the training folds, its probability is set to 0.
                p = np.zeros((len(held), len(self.classes_)))
                p[:, model.classes_] = model.predict_proba(Z[held])
                own = np.maximum(p[np.arange(len(held)), codes[held]], LEAST_PROBABILITY)
                total[i] -= np.log(own).sum()
        return total / max(1, held_out)

    def _estimator(self) -> LogisticRegression:
        return LogisticRegression(max_iter=self._most, warm_start=True)

    def _scaled(self, X: Array) -> Array:
        return np.asarray((X - self._center) / self._scale)

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, an array of shape (n, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self._model.predict_proba(self._scaled(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, an array of shape (n,)."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
