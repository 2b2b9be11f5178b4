"""The Nystroem method: kernel evaluations at some of the training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.kernels import Kernel
from rfbench.parameters import estimator, number, one_of, parameter
from rfbench.samplers.base import Streams
from rfbench.samplers.feature_map import FittedMap
from rfbench.samplers.pool import SCORE_ROWS, ScoredFeatures
from rfbench.samplers.projected import row_blocks

UNIFORM, RIDGE_LEVERAGE = "uniform", "ridge-leverage"
FLOOR = 1e-12
DIAGONAL_ROWS = 128


@dataclass(frozen=True)
class NystroemMap(FittedMap):
    """Kernel evaluations at the landmarks times a matrix; in float64, a block of rows at a time.

    Attributes
    ----------
    kernel : Kernel
    landmarks : array or CSR matrix of shape (m, d)
    matrix : array of shape (m, m)
    """

    kernel: Kernel
    landmarks: Rows
    matrix: Array

    @property
    def n_columns(self) -> int:
        """Number of real columns, m."""
        return int(self.matrix.shape[1])

    def astype(self, dtype: Any) -> NystroemMap:
        """Return the map with its landmarks in another floating-point type."""
        return replace(self, landmarks=self.landmarks.astype(dtype, copy=False))

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Write the features of the rows, shape (n, d), into `out`, shape (n, m)."""
        for block in row_blocks(rows.shape[0], self.landmarks.shape[0]):
            out[block] = self.kernel(rows[block], self.landmarks) @ self.matrix


@estimator
class Nystroem(ScoredFeatures):
    r"""Features :math:`k(x, x_S) K_{SS}^{-1/2}` of m landmarks S among the training rows.

    Their inner products are :math:`K_{nS} K_{SS}^{+} K_{Sn}`. Eigenvalues of :math:`K_{SS}` below
    1e-12 of the largest are left out of the inverse root.

    Parameters
    ----------
    n_components : int
        m, the number of landmarks and of columns. Beyond n landmarks, rows are taken again, which
        adds columns but changes no inner product.
    landmarks : {'uniform', 'ridge-leverage'}
        Rows drawn without replacement, uniformly or with probabilities in proportion to
        approximate ridge leverage scores (a choice; one level of Musco & Musco's recursion): from
        a uniform sample T of rows,
        :math:`l_i = (k_{ii} - k_{iT} (K_{TT} + |T| \alpha I)^{-1} k_{Ti}) / (n \alpha)`, which is
        the diagonal of :math:`K (K + n \alpha I)^{-1}` where T is all rows. Costs O(n |T|^2).
    alpha : float
        The penalty of the ridge leverage score, in the convention n alpha.
    score_rows : int or float
        Size of T, as a number or a fraction of the rows.
    feature_map : {'offset', 'paired'}
        Without effect: there are no frequencies.

    Attributes
    ----------
    landmark_rows_ : array of shape (n_components,)
        Numbers of the training rows.
    scores_ : array of shape (n,)
        The approximate ridge leverage scores, where they were asked for.

    References
    ----------
    Williams and Seeger, Using the Nystroem Method to Speed Up Kernel Machines, NIPS 2001. Musco
    and Musco, Recursive Sampling for the Nystroem Method, NIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import Nystroem
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> Nystroem(10, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    landmarks: str = parameter(UNIFORM, one_of(UNIFORM, RIDGE_LEVERAGE))
    alpha: float = parameter(1e-3, number(above=0))
    score_rows: int | float = parameter(1000, SCORE_ROWS)

    def planned_columns(self) -> int:
        """Return m."""
        return self.n_components

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> NystroemMap:
        n = X.shape[0]
        p = None
        if self.landmarks == RIDGE_LEVERAGE:
            sample, _ = self.scoring_rows(X, np.empty((n, 0)), random)
            self.scores_ = ridge_leverage_of_rows(self.kernel_, X, sample, self.alpha)
            p = self.scores_ / self.scores_.sum()
        different = random.selection.choice(n, size=min(self.n_components, n), replace=False, p=p)
        self.landmark_rows_ = np.resize(different, self.n_components)
        landmarks = X[self.landmark_rows_]
        return NystroemMap(self.kernel_, landmarks, _inverse_root(self.kernel_, landmarks))


def ridge_leverage_of_rows(kernel: Kernel, X: Rows, sample: Rows, alpha: float) -> Array:
    """Return the ridge leverage scores of the rows X as a sample of them shows them, shape (n,).

    Scores below machine epsilon are raised to it, so that every row can be drawn.
    """
    n, size = X.shape[0], sample.shape[0]
    shifted = kernel(sample, sample)
    shifted[np.diag_indices_from(shifted)] += size * alpha
    factor = linalg.cho_factor(shifted, lower=True, overwrite_a=True)
    explained = np.empty(n)
    for block in row_blocks(n, size):
        seen = kernel(X[block], sample)
        explained[block] = np.einsum("ij,ji->i", seen, linalg.cho_solve(factor, seen.T))
    scores = (_diagonal(kernel, X) - explained) / (n * alpha)
    return np.asarray(np.maximum(scores, np.finfo(float).eps))


def _diagonal(kernel: Kernel, X: Rows) -> Array:
    starts = range(0, X.shape[0], DIAGONAL_ROWS)
    blocks = (X[start : start + DIAGONAL_ROWS] for start in starts)
    return np.concatenate([np.diag(kernel(block, block)) for block in blocks])


def _inverse_root(kernel: Kernel, landmarks: Rows) -> Array:
    eigenvalues, vectors = linalg.eigh(kernel(landmarks, landmarks))
    kept = eigenvalues > FLOOR * eigenvalues[-1]
    basis = vectors[:, kept]
    return np.asarray((basis / np.sqrt(eigenvalues[kept])) @ basis.T)
