r"""Normal equations: sums over rows that least squares needs, and how they combine.

With features Z (n x p), targets Y (n x t) and weights w,

    gram = Z'WZ,   moment = Z'WY,   column_sums = Z'w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


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
    """

    gram: Array
    moment: Array
    column_sums: Array
    target_sums: Array
    target_squares: Array
    n: float

    def __add__(self, other: NormalEquations) -> NormalEquations:
        return NormalEquations(
            self.gram + other.gram,
            self.moment + other.moment,
            self.column_sums + other.column_sums,
            self.target_sums + other.target_sums,
            self.target_squares + other.target_squares,
            self.n + other.n,
        )

    def __sub__(self, other: NormalEquations) -> NormalEquations:
        return NormalEquations(
            self.gram - other.gram,
            self.moment - other.moment,
            self.column_sums - other.column_sums,
            self.target_sums - other.target_sums,
            self.target_squares - other.target_squares,
            self.n - other.n,
        )

    def subset(
        self,
        columns: slice | npt.NDArray[np.integer[Any]],
        scale: float | npt.NDArray[np.floating[Any]] = 1.0,
    ) -> NormalEquations:
        """Return the equations of some of the columns, rescaled.

        Parameters
        ----------
        columns : slice or integer array, shape (p',)
            The columns to keep, in the order wanted.
        scale : float or ndarray, shape (p',)
            Factor of every kept column, for instance sqrt(M / M') when features carry 1/sqrt(M).

        Returns
        -------
        NormalEquations
            D P'gramP D and so on, P the selection and D the scale; a copy of that block alone.
        """
        picked = columns if isinstance(columns, slice) else np.asarray(columns)
        block = (picked, picked) if isinstance(picked, slice) else np.ix_(picked, picked)
        sums = self.column_sums[picked]
        factor = np.broadcast_to(np.asarray(scale, np.float64), sums.shape)
        return NormalEquations(
            self.gram[block] * np.outer(factor, factor),
            self.moment[picked] * factor[:, None],
            sums * factor,
            self.target_sums,
            self.target_squares,
            self.n,
        )

    def centred(self) -> tuple[Array, Array]:
        """Return gram and moment of features and targets less their (weighted) means."""
        means = self.column_sums / self.n
        return (
            self.gram - np.outer(means, self.column_sums),
            self.moment - np.outer(means, self.target_sums),
        )
