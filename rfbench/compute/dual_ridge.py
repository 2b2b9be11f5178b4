r"""Ridge regression in its dual form, an n x n system for n rows, with leave-one-out errors.

Let Z be the matrix of n rows and p features, with centered columns. Then :math:`\theta = Z^\top a`
with :math:`(Z Z^\top + \alpha I) a = y`, an n x n system instead of a p x p system.

The fit without row i is never computed. Let S be the matrix with the fitted values Sy. The error at
row i of the fit without row i is :math:`(y_i - (Sy)_i) / (1 - S_{ii})`, for the same penalty (Allen
1974; Golub, Heath and Wahba 1979). For a fold g the errors are the solution of a system
with the block :math:`I - S_{gg}`. One eigendecomposition gives S for every penalty.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import blas, lapack

from rfbench.arrays import Array
from rfbench.compute.products import matmul, multiply_row_without_blas
from rfbench.compute.ridge import RidgePath, describe_directions, solve_shifted_systems


def solve_dual(K: Array, Y: Array, alphas: Array, *, intercept: bool, noise: float) -> RidgePath:
    """Minimize |Y - K A - b|^2 + alpha A'KA for every alpha.

    If an intercept is fitted, each column of A sums to zero.

    Parameters
    ----------
    K : ndarray, shape (n, n)
        Kernel matrix: the products of the rows with each other, or their kernel values.
    Y : ndarray, shape (n, t)
    alphas : ndarray, shape (a,)
    intercept : bool
        Fit an unpenalized intercept b (by centering). If False, b is 0.
    noise : float
        Relative rounding error of K (see `rfbench.compute.ridge.solve_shifted_systems`).
    """
    means, column_means, mean = _means(K, Y, intercept)

    def load(work: Array) -> None:
        np.subtract(K.T, column_means, out=work)
        np.subtract(work, (column_means - mean)[:, None], out=work)

    largest = float(np.abs(K.diagonal()).max(initial=0.0))
    duals, notes = solve_shifted_systems(load, Y - means, alphas, noise, largest)
    if intercept:
        duals -= duals.mean(axis=1, keepdims=True)
    return RidgePath(duals, means - multiply_row_without_blas(column_means, duals), notes)


class KernelEigendecomposition:
    """Eigendecomposition of the kernel matrix K, which gives the ridge fits for all penalties.

    The arguments are as in `solve_dual`.
    """

    def __init__(self, K: Array, Y: Array, *, intercept: bool, noise: float) -> None:
        n = len(K)
        self.means, self.column_means, mean = _means(K, Y, intercept)
        self.Y, self.intercept, self.noise = Y, intercept, noise
        self.largest = float(np.abs(K.diagonal()).max(initial=0.0))
        work = np.asfortranarray(K.T - self.column_means)
        work -= (self.column_means - mean)[:, None]
        # A centered kernel matrix K has the eigenvalue 0 for the constant vector. This eigenvalue
        # is raised to the mean of all eigenvalues, because 0 could not be distinguished from a
        # rounding error. The methods of the class remove the effect of this change from
        # predictions.
        self.lift = float(np.trace(work)) / n if intercept else 0.0
        work += self.lift / n
        self.values, self.vectors = linalg.eigh(
            work, overwrite_a=True, check_finite=False, driver="evd"
        )
        np.maximum(self.values, 0.0, out=self.values)
        self.rhs = matmul(self.vectors.T, np.asarray(Y - self.means))

    def compute_path(self, alphas: Array) -> RidgePath:
        """Return the ridge fits of all rows, one per penalty."""
        inverse, dropped = invert_shifted_eigenvalues(self.values, alphas, self.noise, self.largest)
        duals = compute_weighted_products(self.vectors, inverse, self.rhs)
        if self.intercept:
            duals -= duals.mean(axis=1, keepdims=True)
        n = len(self.Y)
        notes = [[describe_directions(n - k, n)] if k else [] for k in dropped]
        return RidgePath(
            duals, self.means - multiply_row_without_blas(self.column_means, duals), notes
        )

    def is_accurate(self, alphas: Array) -> bool:
        """Return True if all penalties exceed the rounding error of K."""
        return bool((alphas > 4 * self.noise * (self.largest + self.values[-1] + alphas)).all())

    def predict_fold_left_out(self, rows: NDArray[np.intp], alphas: Array) -> Array:
        """Predict the rows of a fold by the fits without this fold, shape (a, rows, t).

        `is_accurate` has to be True for the penalties.
        """
        own = np.ascontiguousarray(self.vectors[rows])
        # Let S be the matrix that maps targets to fitted values. The weights are the eigenvalues of
        # I - S.
        weights = alphas[:, None] / (self.values + alphas[:, None])
        missed = compute_weighted_products(own, weights, self.rhs)
        constant = alphas / (self.lift + alphas) * self.intercept / len(self.Y)
        scaled = np.empty_like(own)
        for i, roots in enumerate(np.sqrt(weights)):
            block = blas.dsyrk(1.0, np.multiply(own, roots, out=scaled).T, trans=1, lower=1)
            block -= constant[i]
            missed[i] = lapack.dposv(block, missed[i], lower=1, overwrite_a=1)[1]
        return np.asarray(self.Y[rows] - missed)

    def predict_leave_one_out(self, alphas: Array) -> Array:
        """Return the leave-one-out prediction of each row for every penalty, shape (a, n, t).

        The prediction is not finite if the other rows do not determine the fit.
        """
        n = len(self.Y)
        rest, constant = np.empty((len(alphas), n)), np.empty(len(alphas))
        inverse, dropped = invert_shifted_eigenvalues(self.values, alphas, self.noise, self.largest)
        for i, alpha in enumerate(alphas):
            # The leave-one-out error of row i is ((I - S) y)_i / (I - S)_ii, where S maps targets
            # to fitted values. For alpha = 0, the numerator and the denominator would both be 0, so
            # both are divided by alpha. If eigenvectors were left out of the fit, I - S is 1 for
            # them, and a division is not needed.
            factor = alpha if alpha > 0 or dropped[i] else 1.0
            rest[i] = np.where(inverse[i] > 0, factor * inverse[i], 1.0)
            constant[i] = factor / (self.lift + alpha) if self.lift + alpha > 0 else 1.0
        own = matmul(self.vectors**2, rest.T)
        own -= constant * self.intercept / n
        missed = compute_weighted_products(self.vectors, rest, self.rhs)
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = missed / np.where(own > 0, own, 0.0).T[:, :, None]
        return np.asarray(self.Y - errors)


def compute_weighted_products(vectors: Array, weights: Array, rhs: Array) -> Array:
    """Return vectors @ (w[:, None] * rhs) for every row w of `weights`."""
    a, k = weights.shape
    flat = (weights[:, :, None] * rhs).transpose(1, 0, 2).reshape(k, -1)
    product = matmul(vectors, flat)
    return np.asarray(product.reshape(len(vectors), a, -1).transpose(1, 0, 2))


def _means(K: Array, Y: Array, intercept: bool) -> tuple[Array, Array, float]:
    if not intercept:
        return np.zeros(Y.shape[1]), np.zeros(len(K)), 0.0
    return Y.mean(axis=0), K.mean(axis=0), float(K.mean())


def invert_shifted_eigenvalues(
    eigenvalues: Array, alphas: Array, noise: float, largest: float
) -> tuple[Array, list[int]]:
    """Return 1 / (eigenvalues + alpha) for each alpha, and the number of omitted directions.

    If eigenvalue + alpha is as small as the rounding error, the direction is omitted, and the
    inverse is 0.
    """
    shifted = eigenvalues + alphas[:, None]
    least = noise * np.maximum(shifted.max(axis=1, initial=0.0), largest)
    kept = shifted > least[:, None]
    return np.where(kept, 1.0 / np.where(kept, shifted, 1.0), 0.0), list((~kept).sum(axis=1))
