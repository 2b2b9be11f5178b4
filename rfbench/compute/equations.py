r"""Normal equations: sums over rows that least squares needs, and how they combine.

With features Z (n x p), targets Y (n x t) and weights w,

    gram = Z'WZ,   moment = Z'WY,   column_sums = Z'w.

Where an intercept is fitted, Z stands for the features less one fixed row, their `shift`, near
their means: a column whose mean is 1e8 times its standard deviation loses nothing by centring then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rfbench.arrays import Array

_SUMS = ("gram", "moment", "column_sums", "target_sums", "target_squares", "n")


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """All that least squares needs to know of (weighted) rows of features and targets.

    Attributes
    ----------
    gram : ndarray, shape (p, p)
        Z'WZ, both triangles filled.
    moment : ndarray, shape (p, t)
        Z'WY.
    column_sums : ndarray, shape (p,)
        Z'w.
    target_sums : ndarray, shape (t,)
        Y'w.
    target_squares : ndarray, shape (t,)
        Sum of w y^2 for every target.
    n : float
        Number of rows, or the sum of their weights.
    shift : ndarray, shape (p,)
        What was taken from each row of features; zero where no intercept is fitted. Equations
        that are added have the same one.
    eps : float
        Relative rounding error of the features.
    """

    gram: Array
    moment: Array
    column_sums: Array
    target_sums: Array
    target_squares: Array
    n: float
    shift: Array
    eps: float

    def __add__(self, other: NormalEquations) -> NormalEquations:
        sums: dict[str, Any] = {n: getattr(self, n) + getattr(other, n) for n in _SUMS}
        return replace(self, **sums)

    def emptied(self) -> NormalEquations:
        """Return the equations of no rows, for the same columns."""
        nothing: dict[str, Any] = {name: 0.0 * np.zeros_like(getattr(self, name)) for name in _SUMS}
        return replace(self, **nothing)

    def subset(
        self, columns: npt.NDArray[np.intp], scale: float | npt.NDArray[np.floating[Any]] = 1.0
    ) -> NormalEquations:
        """Return a copy of the equations of some of the columns, rescaled.

        Parameters
        ----------
        columns : integer array, shape (p',)
            The columns to keep, in the order wanted.
        scale : float or ndarray, shape (p',)
            Factor of every kept column, for instance sqrt(M / M') when features carry 1/sqrt(M).
        """
        sums = self.column_sums[columns]
        factor = np.broadcast_to(np.asarray(scale, np.float64), sums.shape)
        return replace(
            self,
            gram=self.gram[np.ix_(columns, columns)] * np.outer(factor, factor),
            moment=self.moment[columns] * factor[:, None],
            column_sums=sums * factor,
            shift=self.shift[columns] * factor,
        )

    def intercepts(self, coef: Array) -> Array:
        """Return the best intercepts of coefficients, (..., p, t): the means of the residuals."""
        fitted = self.column_sums @ coef
        best: Array = (self.target_sums - fitted) / self.n - self.shift @ coef
        return best

    def mean_squared_norm(self) -> float:
        """Return the mean squared norm of a row of features, the shift included."""
        shifted = self.gram.trace() + 2 * (self.shift @ self.column_sums)
        return float(shifted / self.n + self.shift @ self.shift)
