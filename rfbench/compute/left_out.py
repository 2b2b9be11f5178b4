r"""Ridge regression from one eigendecomposition of the columns, with leave-one-out errors.

The module is for data with fewer columns than rows. For more columns than rows, see
`rfbench.compute.dual_ridge.KernelEigendecomposition`.

The Gram matrix of the centered features is :math:`G = V \Lambda V^\top`. For the penalty
:math:`\alpha`, the leverage of a row :math:`z` is :math:`h = \sum_k (V^\top z)_k^2 / (\lambda_k +
\alpha)`, plus 1/n if an intercept is fitted. The leverage is the weight of the row's target in its
own fitted value. The leave-one-out error of the row is its error in the fit of all rows, divided by
:math:`1 - h`.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from rfbench.arrays import Array, FloatArray
from rfbench.compute.dual_ridge import compute_weighted_products, invert_shifted_eigenvalues
from rfbench.compute.products import matmul
from rfbench.compute.ridge import (
    NormalEquations,
    RidgePath,
    check_finite_equations,
    describe_directions,
    estimate_gram_rounding_error,
)


class GramEigendecomposition:
    """Ridge regression for many penalties, from one eigendecomposition of the normal equations.

    Parameters
    ----------
    equations : NormalEquations
        Normal equations of all rows, without weights.
    intercept : bool
        Fit an unpenalized intercept (by centering). If False, the intercept is 0.
    """

    def __init__(self, equations: NormalEquations, *, intercept: bool) -> None:
        check_finite_equations(equations)
        self.equations, self.intercept = equations, intercept
        means = equations.column_sums / equations.n * intercept
        work = np.asfortranarray(equations.gram.T).copy(order="F")
        moment = equations.moment
        if intercept:
            blas.dsyr(-1 / equations.n, equations.column_sums, lower=1, a=work, overwrite_a=1)
            moment = moment - np.outer(means, equations.target_sums)
        self.center = equations.shift + means
        self.target_means = equations.target_sums / equations.n * intercept
        self.noise = estimate_gram_rounding_error(equations)
        self.largest = float(equations.gram.diagonal().max(initial=0.0))
        self.values, self.vectors = linalg.eigh(
            work, overwrite_a=True, check_finite=False, driver="evd"
        )
        np.maximum(self.values, 0.0, out=self.values)
        self.rhs = matmul(self.vectors.T, moment)

    def compute_path(self, alphas: Array) -> RidgePath:
        """Return the ridge fit on all rows for each of the penalties `alphas`."""
        inverse, dropped = invert_shifted_eigenvalues(self.values, alphas, self.noise, self.largest)
        coef = compute_weighted_products(self.vectors, inverse, self.rhs)
        constants = np.zeros((len(alphas), self.rhs.shape[1]))
        offset = self.equations.compute_intercepts(coef) if self.intercept else constants
        p = len(self.values)
        notes = [[describe_directions(p - k, p)] if k else [] for k in dropped]
        return RidgePath(coef, offset, notes)

    def predict_leave_one_out(self, features: FloatArray, targets: Array, alphas: Array) -> Array:
        """Return the prediction for each row from a fit without this row, for each penalty.

        The result has the shape (a, n, t) for a penalties, n rows and t targets. A prediction is
        not finite if the other rows do not determine the fit.

        Parameters
        ----------
        features : array of shape (n, p)
            Features of n of the rows on which the fits are based. The array is overwritten.
        targets : array of shape (n, t)
            Targets of the n rows.
        alphas : array of shape (a,)
            The penalties.
        """
        inverse, _ = invert_shifted_eigenvalues(self.values, alphas, self.noise, self.largest)
        features -= self.center.astype(features.dtype)
        turned = matmul(features, self.vectors.astype(features.dtype, copy=False))
        turned = turned.astype(np.float64, copy=False)
        fitted = compute_weighted_products(turned, inverse, self.rhs) + self.target_means
        np.square(turned, out=turned)
        left = 1.0 - matmul(turned, inverse.T) - self.intercept / self.equations.n
        # `left` is 1 - h, where h is the leverage of a row. If the fit is not determined without
        # the row, 1 - h is only a rounding error and is set to 0, so that the prediction is not
        # finite.
        left = np.where(left > self.noise, left, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(targets - (targets - fitted) / left.T[:, :, None])
