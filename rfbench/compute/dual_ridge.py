r"""Ridge regression in its dual form, an n x n system for n rows, with leave-one-out errors.

Let Z be the matrix of n rows and p centered features. The ridge coefficients of the features are
:math:`\theta = Z^\top a`, where a solves :math:`(Z Z^\top + \alpha I) a = y`. The dual form is an
n x n system instead of a p x p system.

Leave-one-out errors are computed without fitting again. Let S be the matrix with the fitted values
Sy. The error at row i of the fit without row i is :math:`(y_i - (Sy)_i) / (1 - S_{ii})`, for the
same penalty (Allen 1974; Golub, Heath and Wahba 1979). For a fold g, the errors of the fit without
this fold are the solution of a linear system with the block :math:`I - S_{gg}`. One
eigendecomposition gives S for every penalty.
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
    """Fit kernel ridge regression with the kernel matrix K and the targets Y, for each penalty.

    For each penalty alpha, the coefficients A and the intercept b minimize |Y - K A - b|^2 + alpha
    A'KA. If an intercept is fitted, each column of A sums to zero.

    Parameters
    ----------
    K : ndarray, shape (n, n)
        Kernel matrix: the products of the rows with each other, or their kernel values.
    Y : ndarray, shape (n, t)
        The t target columns.
    alphas : ndarray, shape (a,)
        The penalties.
    intercept : bool
        Fit an unpenalized intercept b (by centering). If False, b is 0.
    noise : float
        Relative rounding error of K, which decides if a direction of K is treated as 0.
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
    """Kernel ridge regression for many penalties, from one eigendecomposition of the kernel matrix.

    K is the kernel matrix, and Y contains the targets. If `intercept` is True, an unpenalized
    intercept is fitted. `noise` is the relative rounding error of K.
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
        """Return the ridge fit on all rows for each of the penalties `alphas`."""
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
        """Return True if all penalties are larger than the rounding error of the kernel matrix."""
        return bool((alphas > 4 * self.noise * (self.largest + self.values[-1] + alphas)).all())

    def predict_fold_left_out(self, rows: NDArray[np.intp], alphas: Array) -> Array:
        """Return the predictions for the given rows from fits without these rows.

        `rows` contains the row indices of one fold of a cross-validation. There is one fit for each
        of the a penalties, so that the result has the shape (a, number of rows, t) for t targets.
        The method `is_accurate` has to return True for the penalties.
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
        """Return the prediction for each row from a fit without this row, for each penalty.

        The result has the shape (a, n, t) for a penalties, n rows and t targets. A prediction is
        not finite if the other rows do not determine the fit.
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
    """Return the matrix product ``vectors @ (w[:, None] * rhs)`` for each row w of `weights`."""
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
    """Return 1 / (eigenvalues + alpha) for each penalty alpha, with 0 for very small sums.

    The sum of an eigenvalue and a penalty is very small if it does not exceed the rounding error,
    which is computed from `noise` and `largest`. The second result is the number of such sums for
    each penalty.
    """
    shifted = eigenvalues + alphas[:, None]
    least = noise * np.maximum(shifted.max(axis=1, initial=0.0), largest)
    kept = shifted > least[:, None]
    return np.where(kept, 1.0 / np.where(kept, shifted, 1.0), 0.0), list((~kept).sum(axis=1))
