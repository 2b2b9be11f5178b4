"""Least squares over pairs of rows: how well weighted features reproduce a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from rfbench.arrays import Array, Rows
from rfbench.kernels import Kernel
from rfbench.samplers.feature_map import PAIRED, FeatureMap

BLOCK_PAIRS = 128


@dataclass(frozen=True)
class PairEquations:
    r"""Normal equations of :math:`|t - A\beta|^2`, a row of A and an element of t for each pair.

    The pair (i, j) has the row :math:`u_m(x_i) u_m(x_j)` and the element :math:`k(x_i, x_j)`.

    Attributes
    ----------
    gram : array of shape (M, M)
        A'A.
    moment : array of shape (M,)
        A't.
    square : float
        t't.
    """

    gram: Array
    moment: Array
    square: float

    def plus(self, other: PairEquations) -> PairEquations:
        """Return the equations of both sets of pairs."""
        return PairEquations(
            self.gram + other.gram, self.moment + other.moment, self.square + other.square
        )

    def less(self, other: PairEquations) -> PairEquations:
        """Return the equations without a part of the pairs."""
        return PairEquations(
            self.gram - other.gram, self.moment - other.moment, self.square - other.square
        )

    def error(self, beta: Array) -> float:
        """Return the sum of squares that the weights leave."""
        return float(beta @ (self.gram @ beta) - 2.0 * (beta @ self.moment) + self.square)

    def solver(self) -> Callable[[float], Array]:
        """Return the function from the penalty to the weights; one eigendecomposition for all.

        The penalty is relative to the mean diagonal element of A'A. `scipy.optimize.nnls` is
        handed a square root of the normal equations, M x M.
        """
        values, vectors = np.linalg.eigh(self.gram)
        projected = vectors.T @ self.moment
        scale = float(np.trace(self.gram)) / len(values)

        def solve(penalty: float) -> Array:
            shifted = np.maximum(values, 0.0) + penalty * scale
            present = shifted > len(values) * np.finfo(np.float64).eps * shifted.max()
            roots = np.sqrt(np.where(present, shifted, 1.0))
            image = np.where(present, projected / roots, 0.0)
            factor = np.where(present, roots, 0.0)[:, None] * vectors.T
            return np.asarray(nnls(factor, image, maxiter=30 * len(values))[0])

        return solve


def some_pairs(unit: FeatureMap, kernel: Kernel, X: Rows, pairs: NDArray[np.intp]) -> PairEquations:
    """Return the equations of given pairs of row numbers, shape (r, 2)."""
    m = unit.n_frequencies
    gram, moment, square = np.zeros((m, m)), np.zeros(m), 0.0
    for start in range(0, len(pairs), BLOCK_PAIRS):
        first, second = (X[pairs[start : start + BLOCK_PAIRS, side]] for side in (0, 1))
        products = _features(unit, first) * _features(unit, second)
        if unit.layout == PAIRED:
            products = products[:, :m] + products[:, m:]
        wanted = np.diag(kernel(first, second))
        gram += products.T @ products
        moment += products.T @ wanted
        square += float(wanted @ wanted)
    return PairEquations(gram, moment, square)


def _features(unit: FeatureMap, rows: Rows) -> Array:
    return np.asarray(unit.transform(rows.astype(np.float64, copy=False)), dtype=np.float64)
