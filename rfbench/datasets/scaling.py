"""Scalings that are robust to outliers and skewed columns, as scikit-learn transformers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rfbench.arrays import Array, Rows
from rfbench.rows import RowSource

# Maximum number of rows from which the parameters of a scaling are computed. With 100,000 rows, the
# rank of a quantile has a standard error of at most 1 / sqrt(4 * 100,000) = 0.0016. With twice as
# many rows, the standard error is at most 0.0011.
MOST_ROWS = 100_000
# Largest absolute value of a scaled number. By definition of float64, the square of 1e100 is
# finite. With twice the exponent, the square of 1e200 is not finite.
FAR = 1e100
# Bound on the absolute value of a scaled column, in standard deviations, from section 3 of
# Holzmueller, Grinsztajn and Steinwart (2024). With twice this value, an outlier is twice as far
# from all other rows.
BOUND = 3.0
# A column with two values is divided by its standard deviation, but at least by this value times
# the distance between the two values. The standard deviation is 0.3 if a tenth of the rows have the
# rare value. With twice this value, 0.6, all columns with two values are shrunk, because their
# largest possible standard deviation is 0.5.
LEAST_DEVIATION = 0.3


class _Bounded(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of scalings that bound the values of each column, then standardize the column.

    A standardized column has mean 0 and standard deviation 1. A column that is constant in the
    training set becomes 0. A column with two values is divided by at least 0.3 times their
    distance, so that a rare 1 among zeros is not far from all other rows.
    """

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Learn the scaling from rows of shape (n, d), a dense array or rows on disk (`RowSource`).

        If there are more than 100,000 rows, 100,000 evenly spaced rows are used. Raise ValueError
        if a value is not finite, or if the rows are sparse.
        """
        if len(X) > MOST_ROWS or isinstance(X, RowSource):
            X = X[np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(np.int64)]
        X = validate_data(self, X, dtype=np.float64)
        self._learn(X)
        Z = self._bounded(X)
        low, high = Z.min(axis=0), Z.max(axis=0)
        two_values = ((low == Z) | (high == Z)).all(axis=0)
        deviation = Z.std(axis=0)
        least = np.where(two_values, LEAST_DEVIATION * (high - low), 0.0)
        constant = (X.min(axis=0) == X.max(axis=0)) | (deviation == 0)
        self.mean_ = Z.mean(axis=0)
        self.scale_ = np.where(constant, np.inf, np.maximum(deviation, least))
        return self

    def transform(self, X: Rows) -> Array:
        """Return the scaled rows as a float64 array of shape (n, d)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray((self._bounded(X) - self.mean_) / self.scale_)

    @abstractmethod
    def _learn(self, X: Array) -> None:
        """Compute the parameters of the map to bounded values from the rows X."""

    @abstractmethod
    def _bounded(self, X: Array) -> Array:
        """Return the rows X with bounded values, before they are standardized."""


class RankScaler(_Bounded):
    """Map each column to a normal distribution by ranks, clipped at 3 standard deviations.

    The map interpolates linearly between 1,000 quantiles. Values outside the range of the training
    set are clipped. Then each column is scaled to mean 0 and standard deviation 1.

    >>> RankScaler().fit_transform([[1.0], [2.0], [1000.0]]).round(3).tolist()
    [[-1.225], [0.0], [1.225]]
    """

    def _learn(self, X: Array) -> None:
        from sklearn.preprocessing import QuantileTransformer

        self.quantiles_ = QuantileTransformer(
            n_quantiles=min(1000, len(X)), output_distribution="normal", subsample=None
        ).fit(X)

    def _bounded(self, X: Array) -> Array:
        return np.asarray(np.clip(self.quantiles_.transform(X), -BOUND, BOUND))


class SmoothClipScaler(_Bounded):
    """Map each value x to z = (x - median) / IQR, and then to z / sqrt(1 + (z / 3)^2).

    The median and the IQR, the distance between the quartiles, are computed per column. If the IQR
    is 0, half the range is used instead. Small z hardly change, and no result exceeds 3. Then each
    column is scaled to mean 0 and standard deviation 1. See Holzmueller, Grinsztajn and Steinwart,
    "Better by default" (NeurIPS 2024), section 3.

    >>> Z = SmoothClipScaler().fit([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> (Z.width_.tolist(), Z.transform([[2.0], [1e9]]).round(3).tolist())
    ([2.0], [[0.0], [4.436]])
    """

    def _learn(self, X: Array) -> None:
        low, lower, median, upper, high = np.quantile(X, [0, 0.25, 0.5, 0.75, 1], axis=0)
        width: NDArray[Any] = np.where(upper > lower, upper - lower, (high - low) / 2)
        self.median_ = median
        self.width_ = np.where(width > 0, width, np.inf)

    def _bounded(self, X: Array) -> Array:
        # If a column is almost constant in the training set, the division may overflow to infinity,
        # which is then limited to FAR.
        with np.errstate(over="ignore"):
            z = np.clip((X - self.median_) / self.width_, -FAR, FAR)
        return np.asarray(z / np.sqrt(1 + (z / BOUND) ** 2))
